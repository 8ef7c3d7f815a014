"""Coordinates of constant screws, of the first and of the second kind."""

from __future__ import annotations

import attrs

from mbkit.joints.motions.motion import Motion
from mbkit.spatial.arrays import FloatArray


@attrs.frozen(eq=False)
class ScrewCoordinates(Motion):
    """A position for each of n constant screws; v is dq/dt.

    Notes
    -----
    Sources: Mueller 2018 (Screw and Lie group theory in multibody kinematics), remark 4.
    """

    screws: FloatArray  # (n, 6): x_k, angular first
    position_units: tuple[str, ...]  # A unit for each position

    @property
    def num_positions(self) -> int:  # type: ignore[override]
        """The number of screws."""
        return len(self.screws)

    @property
    def num_velocities(self) -> int:  # type: ignore[override]
        """The number of screws."""
        return len(self.screws)

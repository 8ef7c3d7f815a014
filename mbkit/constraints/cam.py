"""A cam: one joint follows a table over another."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.constraints.fields import fault, table
from mbkit.constraints.pairs import JointPairConstraint
from mbkit.constraints.spline import check_table, spline
from mbkit.forces.kernels import Addressed
from mbkit.spatial.arrays import FloatArray

#: How far the ends of a periodic profile may be apart, in parts of its lift.
_SAME = 1e-9


@final
@attrs.frozen
class Cam(JointPairConstraint):
    """A cam and its follower, which never lifts off: q_driven by a table over q_driver.

    Between the points the follower moves on a cubic spline, with a continuous acceleration.

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    driver, driven : str
        Names of the joints, of one position each.
    positions : ndarray, shape (k,)
        Of the driver: four or more, increasing. [rad], [m]
    lift : ndarray, shape (k,)
        Of the driven joint there. [m], [rad]
    periodic : bool, default False
        Whether the profile repeats, as that of a cam that turns on does; its last lift must be its
        first. Else the driver must stay between the first position and the last.

    Raises
    ------
    ConstraintError, ShapeError, GeometryError
        If the table is none, or both joints are the same.

    Examples
    --------
    >>> import numpy as np
    >>> import mbkit as mb
    >>> angle = np.linspace(0.0, 2 * np.pi, 25)
    >>> profile = mb.Cam("profile", "shaft", "valve", positions=angle,
    ...                  lift=0.01 * (1 - np.cos(angle)), periodic=True)
    >>> mb.testing.check_constraint(profile).holds
    True
    """

    positions: FloatArray = table()
    lift: FloatArray = table()
    periodic: bool = False

    without_value = "The driver is outside of the positions of its table."

    def __attrs_post_init__(self) -> None:
        JointPairConstraint.__attrs_post_init__(self)
        check_table(self, "positions", "lift")
        gap = abs(self.lift[0] - self.lift[-1])
        if self.periodic and gap > _SAME * np.ptp(self.lift):
            raise fault(
                self, "lift", "must end where it begins if it is periodic, got "
                f"{self.lift[0]:g} and {self.lift[-1]:g}.",
            )  # fmt: skip

    def kernel(self) -> Addressed:
        """Return the compiled function."""
        from mbkit.kernels.constraints.kinds import coupling

        return coupling.cam

    def parameters(self) -> FloatArray:
        """Return the spline."""
        lift = np.array(self.lift)
        if self.periodic:
            lift[-1] = lift[0]
        return spline(self.positions, lift, periodic=self.periodic)

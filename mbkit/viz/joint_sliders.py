"""Coordinates of joints that are moved by hand, with the loops kept closed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, final

import attrs
import numpy as np

from mbkit.errors import MbkitError
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.systems import System


@final
@attrs.frozen
class Slider:
    """One coordinate of a joint: a position, or an entry of its step from the reference.

    The latter where positions do not add, as those of quaternions.
    """

    name: str
    joint: str
    entry: int  # in q, or in steps on the configuration group
    is_position: bool
    lower: float
    upper: float
    unit: str


def sliders_of(system: System, size: float) -> tuple[Slider, ...]:
    """Return a slider for each coordinate that can be moved: all but those of prescribed joints.

    Ranges are the limits of joints; without them a turn either way, or a length `size`. [m]
    """
    found = []
    for name in system.joint_names:
        if name in system.prescribed_joints:
            continue
        places, steps = system.position_slice(name), system.step_slice(name)
        joint = system.arrays.tree_joints.get(name)
        width = places.stop - places.start
        if joint is None or not width:
            continue
        adds = joint.positions_add
        # steps of joints in space are rotations first
        units = system.position_units[places] if adds else ("rad",) * 3 + ("m",) * 3
        count = width if adds else steps.stop - steps.start
        for k in range(count):
            lower, upper = system.position_limits[places.start + k] if adds else (-np.inf, np.inf)
            reach = np.pi if units[k] == "rad" else size
            entry = (places if adds else steps).start + k
            middle = system.reference_configuration()[entry] if adds else 0.0
            label = system.position_names[entry] if adds else f"{name}[{k}]"
            found.append(
                Slider(
                    label, name, entry, adds,
                    float(lower if np.isfinite(lower) else np.round(middle - reach, 3)),
                    float(upper if np.isfinite(upper) else np.round(middle + reach, 3)), units[k],
                )
            )  # fmt: skip
    return tuple(found)


@final
class Posture:
    """A configuration that is changed coordinate by coordinate; its loops stay closed.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        The configuration.
    message : str
        Why it could not follow the last time; empty if it could.
    """

    def __init__(self, system: System, q: FloatArray, sliders: Iterable[Slider]) -> None:
        self.system, self.sliders = system, tuple(sliders)
        self._reference = system.reference_configuration()
        self.q, self.message = q, ""

    @property
    def gap(self) -> float:
        """Largest entry of the residual of the constraints. [m], [rad] times a length."""
        if not self.system.num_position_constraints:
            return 0.0
        return float(np.abs(self.system.constraint_residual(self.q)).max())

    def values(self) -> list[float]:
        """Return the values of all sliders at the configuration."""
        step = self.system.difference(self._reference, self.q)
        return [
            float(self.q[each.entry] if each.is_position else step[each.entry])
            for each in self.sliders
        ]

    def move(self, number: int, value: float) -> None:
        """Set the coordinate of a slider, by its number; the others follow as the loops say.

        The way there is gone in small steps, on the branch on which the mechanism is; where it
        ends, the coordinate stays behind, and `message` says so.
        """
        slider, system = self.sliders[number], self.system
        if slider.is_position:
            wanted = self.q.copy()
            wanted[slider.entry] = value
        else:
            step = system.difference(self._reference, self.q)
            step[slider.entry] = value
            places = system.position_slice(slider.joint)
            wanted = self.q.copy()
            wanted[places] = system.retract(self._reference, step)[places]
        self.message = ""
        if not system.num_position_constraints:
            self.q = wanted
            return
        fixed = slider.name if slider.is_position else slider.joint
        try:
            self.q = system.close_loops(wanted, fixed=[fixed], branch=self.q)
        except MbkitError as error:
            q = getattr(error, "q", None)
            if q is not None and np.isfinite(q).all() and self._is_closed(q):
                self.q = np.asarray(q)
            self.message = f"{slider.name} cannot go to {value:.4g} {slider.unit}".rstrip()

    def _is_closed(self, q: FloatArray) -> bool:
        residual = self.system.constraint_residual(q)
        return bool(np.abs(residual).max(initial=0.0) <= max(self.gap, 1e-10))

"""Coordinates of joints that are moved by hand, with the loops kept closed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, final

import attrs
import numpy as np

from mbkit.errors import ConstraintError, MbkitError, listed
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.systems import System

#: How far prescribed joints go in a step to another time, in radians or parts of the length; the
#: instants between at which their way is looked at, the most steps, and the shortest of them, in
#: parts of the first, where the branch ends.
_FAR, _SAMPLES, _MOST_STEPS, _SHORTEST = 0.1, 64, 400, 1.0 / 64.0


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
        places, steps = system.position_slice(name), system.tangent_slice(name)
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


def last_time(system: System, t_end: float) -> float:
    """Return until when prescribed joints are seen: `t_end`, or where a table of a motion ends.

    Zero where no joint is prescribed. [s].
    """
    tables = [motion.written for motion in system.motions.values()]
    ends = [each["times"][-1] for each in tables if isinstance(each, Mapping)]
    return min([t_end, *ends]) if system.prescribed_joints else 0.0


@final
class Posture:
    """A configuration that is changed coordinate by coordinate; its loops stay closed.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        The configuration.
    t : float
        Time at which prescribed joints stand. [s]
    message : str
        Why it could not follow the last time; empty if it could.
    """

    def __init__(self, system: System, q: FloatArray, sliders: Iterable[Slider]) -> None:
        self.system, self.sliders = system, tuple(sliders)
        self._reference = system.reference_configuration()
        self.q, self.t, self.message = q, 0.0, ""

    @property
    def gap(self) -> float:
        """Largest entry of the residual of the constraints. [m], [rad] times a length."""
        if not self.system.num_position_constraints:
            return 0.0
        return float(np.abs(self.system.constraint_residual(self.q, self.t)).max())

    def values(self) -> list[float]:
        """Return the values of all sliders at the configuration."""
        step = self.system.difference(self._reference, self.q)
        return [
            float(self.q[each.entry] if each.is_position else step[each.entry])
            for each in self.sliders
        ]

    def move(self, number: int, value: float) -> None:
        """Set the coordinate of a slider, by its number; the others follow by the loops.

        The way there is gone in small steps, on the branch on which the mechanism is; where it
        ends, the coordinate stays behind, and `message` reports it.
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
            self.q = system.close_loops(wanted, fixed=[fixed], branch=self.q, t=self.t)
        except MbkitError as error:
            q = getattr(error, "q", None)
            if q is not None and np.isfinite(q).all() and self._is_closed(q):
                self.q = np.asarray(q)
            self.message = f"{slider.name} cannot go to {value:.4g} {slider.unit}".rstrip()

    def move_to(self, t: float) -> None:
        """Go to a time: prescribed joints take their positions, and the others follow by the loops.

        In steps in which they go a little way; where the branch ends, `t` stays behind, and
        `message` reports it.
        """
        self.message = ""
        try:
            step = (t - self.t) / self._count_of_steps(t)
            shortest = _SHORTEST * abs(step)
            while self.t != t:
                try:
                    self._step_to(t if abs(t - self.t) <= 1.01 * abs(step) else self.t + step)
                except ConstraintError:
                    step *= 0.5
                    if abs(step) < shortest:
                        raise
        except Exception as error:  # functions of the user raise what they like
            driven = listed(self.system.prescribed_joints)
            why = "" if isinstance(error, ConstraintError) else f": {error}"
            self.message = f"{driven} cannot go on from t = {self.t:.4g} s to {t:.4g} s{why}"

    def _step_to(self, t: float) -> None:
        """Go to a time, near enough for the loops to follow."""
        there = self.system.prescribed_state(t, self.q)[0]
        if self.system.num_position_constraints:
            there = self.system.close_loops(there, branch=self.q, t=t)
        self.q, self.t = there, float(t)

    def _count_of_steps(self, t: float) -> int:
        """Return in how many steps to go to a time, so that no prescribed joint goes far in one."""
        system = self.system
        times = np.linspace(self.t, t, _SAMPLES + 1)
        q = system.prescribed_state(times, np.broadcast_to(self.q, (len(times), system.nq)))[0]
        lengths = np.where(
            np.array(system.position_units) == "m", system.arrays.closure.length, 1.0
        )
        far = (np.abs(np.diff(q, axis=0)) / lengths).sum(axis=0)
        return min(max(int(np.ceil(far.max(initial=0.0) / _FAR)), 1), _MOST_STEPS)

    def _is_closed(self, q: FloatArray) -> bool:
        residual = self.system.constraint_residual(q, self.t)
        return bool(np.abs(residual).max(initial=0.0) <= max(self.gap, 1e-10))

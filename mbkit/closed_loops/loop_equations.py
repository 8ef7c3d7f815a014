"""The loops of a system as equations, with the velocities that may move to close them.

Their formulas stand in the kernels, beginning with `mbkit.kernels.constraints.kinds.loop_joint`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.errors import (
    ConstraintError,
    NameUnknownError,
    UsageError,
    check_kind,
    no_coordinates,
    several,
    suggestion,
)
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import velocity_scales
from mbkit.systems.memory.body_tree import Integers

if TYPE_CHECKING:
    from mbkit.systems import System

#: Step for differences of the residual: error and rounding are both about 1e-10.
_DIFFERENCE = 1e-5


@final
@attrs.frozen(eq=False)
class Loops:
    """Position-level constraints in parts of the length of a system, and its free velocities.

    Attributes
    ----------
    system : System
        The closed mechanism.
    t : float
        Time, for constraints that depend on it. [s]
    rows : ndarray of int, shape (m,)
        Rows of the Jacobian, one for each row of the residual in use.
    position_rows : ndarray of int, shape (m,)
        These rows of the residual.
    free : ndarray of int, shape (n,)
        The entries of v along which the system may move.
    turns : ndarray of bool, shape (nv,)
        Whether a velocity rotates a body.
    scales : ndarray, shape (nv,)
        Scales of velocities: 1 for rotations, the length for translations, so that a unit moves the
        mechanism by about its length.
    """

    system: System
    t: float
    rows: Integers
    position_rows: Integers
    free: Integers
    turns: Any
    scales: FloatArray

    @classmethod
    def of(cls, system: System, fixed: Any, t: float) -> Loops:
        """Return the loops of a system at time t [s]; fixed velocities must not move."""
        rows = position_rows(system)
        free = np.flatnonzero(~fixed)
        scales = velocity_scales(system)
        return cls(system, t, rows, np.arange(len(rows)), free, system.arrays.turning, scales)

    @property
    def length(self) -> float:
        """Length of the system, the unit of its residuals, in metres."""
        return float(self.system.arrays.closure.length)

    def residual(self, q: FloatArray) -> FloatArray:
        """Return how far the loops are open (..., m), in parts of the length."""
        found = self.system.constraint_residual(q, self.t)[..., self.position_rows]
        return np.asarray(found / self.length)

    def jacobian(self, q: FloatArray) -> FloatArray:
        """Return the derivative (m, n) of the residual by scaled steps, exact where it is zero."""
        return self.velocity_jacobian(q)[self.rows]

    def velocity_jacobian(self, q: FloatArray) -> FloatArray:
        """Return the same with all rows of velocity level, (num_velocity_constraints, n)."""
        A = self.system.constraint_jacobian(q, self.t)[:, self.free]
        return np.asarray(A * self.scales[self.free] / self.length)

    def differences(self, q: FloatArray) -> FloatArray:
        """Return the derivative (m, n) of the residual by differences, good anywhere."""
        step = _DIFFERENCE * np.eye(len(self.free))
        ahead, behind = (self.residual(self.moved(q, each)) for each in (step, -step))
        return np.asarray((ahead - behind).T / (2.0 * _DIFFERENCE))

    def moved(self, q: FloatArray, y: FloatArray) -> FloatArray:
        """Return the configurations at the ends of scaled steps (..., n)."""
        v = np.zeros((*y.shape[:-1], self.system.nv))
        v[..., self.free] = y * self.scales[self.free]
        if self.system.ndx != self.system.nv:
            v = self.system.rates(q, v)
        return self.system.retract(q, v)

    def size(self, step: FloatArray) -> float:
        """Return the most that a step (ndx,) moves a joint, in radians or lengths."""
        holonomic = self.system.ndx == self.system.nv
        return float(np.abs(step / self.scales if holonomic else step).max(initial=0.0))

    def only(self, constraint: int) -> Loops:
        """Return the same with the rows of one constraint alone."""
        own = self.system.arrays.closure.constraints[constraint]
        first, count = int(own["first_position_row"]), int(own["num_position_rows"])
        chosen = np.arange(first, first + count)
        return attrs.evolve(self, rows=position_rows(self.system)[chosen], position_rows=chosen)


def position_rows(system: System) -> Integers:
    """Return which rows of the Jacobian are the rates of the rows of the residual."""
    constraints = system.arrays.closure.constraints
    if constraints is None:
        return np.zeros(0, dtype=np.int64)
    parts = [
        int(each["first_row"]) + np.arange(int(each["num_position_rows"])) for each in constraints
    ]
    return np.concatenate(parts)


#: Gaps up to this, in parts of the length, are those of a configuration that was meant closed.
_NEARLY = 1e-6


def check_closed(system: System, q: FloatArray, t: float, who: str) -> None:
    """Raise ConstraintError, which begins with `who`, where a configuration leaves loops open."""
    if not system.num_position_constraints:
        return
    length = system.arrays.closure.length
    gaps = np.abs(system.constraint_residual(q, t))
    worst = int(np.argmax(gaps))
    if gaps[worst] > _NEARLY * length:
        raise ConstraintError(
            f"{who}: q leaves loops open: '{system.arrays.closure.position_row_names[worst]}' by "
            f"{gaps[worst]:.3g} m, where angles count by {length:.3g} m. "
            f"{closing_advice(system, q, t)}."
        )


def closing_advice(system: System, q: FloatArray, t: float, at: str = "") -> str:
    """Return how to close the loops at q, or that they cannot be; `at` names the time t.

    A joint that alone was moved is kept fixed: the step to closed loops is shared by all joints
    else. Prescribed joints leave it no freedom, perhaps.
    """
    anything: Any = system
    try:
        anything.close_loops(q, t=t)
    except ConstraintError as error:
        return f"They cannot be closed from there. {error}".rstrip(".")
    moved = ~np.isclose(q, system.reference_configuration(), rtol=0.0, atol=_NEARLY)
    names = [name for name in system.joint_names if moved[system.position_slice(name)].any()]
    if len(names) != 1 or system.prescribed_joints:
        return f"Close them first: q = system.close_loops(q{at})"
    call = f"system.close_loops(q, fixed=[{names[0]!r}]{at})"
    return f"Close them first: q = {call}, which moves the other joints"


def checked_fixed(system: System, fixed: Any, who: str) -> Any:
    """Return which velocities must not move (nv,), those of prescribed joints included.

    `fixed` names joints, or single positions, such as "joint[1]", where these are simply added.
    Messages begin with `who`.
    """
    names = [fixed] if isinstance(fixed, str) else fixed
    if not (several(names) and not isinstance(names, dict)):
        raise UsageError(f"{who}: fixed must be names of joints or positions, got {fixed!r}.")
    mask = np.zeros(system.nv, dtype=bool)
    for name in (*names, *system.prescribed_joints):
        mask[checked_entries(system, name, who)] = True
    return mask


def checked_entries(system: System, name: Any, who: str) -> Any:
    """Return the velocities of a joint, or the one of a position."""
    check_kind(f"{who}: the name of a joint or position", name, str, "text")
    if name in system.arrays.closure.names[: system.arrays.closure.num_joints]:
        raise UsageError(f"{who}: {no_coordinates(name, system.remedy)}")
    if name in system.joint_names:
        return system.velocity_slice(name)
    if name in system.velocity_names:
        joint = name.rpartition("[")[0]
        if not system.arrays.tree_joints[joint].positions_add:
            raise UsageError(
                f"{who}: the positions of joint '{joint}' are not added but composed, so that one "
                f"of them cannot be held; name the whole joint: '{joint}'."
            )
        return system.velocity_names.index(name)
    known = dict.fromkeys((*system.joint_names, *system.velocity_names))
    raise NameUnknownError(
        f"System '{system.name}' has no joint or position {name!r}; {suggestion(name, known)}"
    )

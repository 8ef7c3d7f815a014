"""Linear models of systems at a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import (
    ConstraintError,
    ShapeError,
    SingularMassMatrixError,
    UsageError,
    listed,
)
from mbkit.linear_analysis.signals import INPUTS, OUTPUTS, input_forces, output_rows, signals_of
from mbkit.linear_analysis.small_motions import (
    BALANCED,
    SmallMotions,
    State,
    check_holonomic,
    freedoms_around,
    holds,
    unbalanced,
)
from mbkit.linear_models.equilibrium import Equilibrium
from mbkit.linear_models.linear_model import STEADY, LinearModel
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import names_of, vector_of

if TYPE_CHECKING:
    from mbkit.systems import System
    from mbkit.systems.calls.arguments import Configuration


def linearize(
    system: System,
    q: Configuration | Equilibrium | None,
    v: Configuration | None,
    inputs: Any,
    outputs: Any,
    *,
    tau: ArrayLike | Mapping[str, ArrayLike] | None,
    independent: Sequence[str] | None,
    t: float,
) -> LinearModel:
    """See `System.linearize`."""
    check_holonomic(system, "linearize")
    if q is None:
        q = system.equilibrium(tau=tau, t=t)
    if isinstance(q, Equilibrium):
        found = _checked_equilibrium(system, q, t)
        q, tau, t = found.q, found.tau if tau is None else tau, found.t
    by_name = isinstance(q, Mapping)
    at = system.close_loops(q, t=t) if by_name else system.checked("q", q, finite=True)
    moving = np.zeros(system.nv) if v is None else system.checked("v", v, finite=True)
    applied = applied_efforts(system, tau)
    if system.prescribed_joints:
        at, moving, _ = system.prescribed_state(t, at, moving)
    system.check_motion(at, moving, None, t)
    held = holds(system)
    free = [name for name in system.joint_names if name not in system.prescribed_joints]
    given = signals_of(system, free if inputs is None else inputs, INPUTS, "inputs")
    wanted = signals_of(system, free if outputs is None else outputs, OUTPUTS, "outputs")
    state = State.of(system, at, moving, applied, t)
    motions = SmallMotions.of(state, held, independent)
    _check_regular(motions, held)
    parts = [np.zeros((system.nv, 0)), *(input_forces(state, each) for each in given)]
    forces = np.hstack(parts)
    F = motions.H.T @ forces
    nothing = [np.zeros((0, system.nv))] * 4
    rows = [nothing, *(output_rows(motions, held, each) for each in wanted)]
    by_x, by_w, by_a, by_f = (np.vstack(each) for each in zip(*rows, strict=True))
    A, B = _first_order(motions, F)
    m = len(motions.independent)
    C = np.hstack(
        [
            by_x @ motions.H + by_w @ motions.P + by_a @ motions.Q,
            by_w @ motions.H + by_a @ motions.R,
        ]
    )
    C += by_a @ motions.H @ A[m:]
    is_equilibrium, note = _state_note(state, held)
    names = motions.names
    return LinearModel(
        system.name,
        (*(f"{name}.q" for name in names), *(f"{name}.v" for name in names)),
        tuple(label for each in given for label in each.labels),
        tuple(label for each in wanted for label in each.labels),
        A, B, C, by_a @ motions.H @ B[m:] + by_f @ forces, F, is_equilibrium, note, motions.form,
    )  # fmt: skip


def _checked_equilibrium(system: System, found: Equilibrium, t: float) -> Equilibrium:
    """Return an equilibrium; UsageError where it is none, or not that of a system at a time."""
    if not found.found:
        raise UsageError(
            f"linearize: no equilibrium of '{found.name}' was found: {found.reason}. For small "
            f"motions around another state, give its q."
        )
    if found.position_names != system.position_names:
        raise UsageError(
            f"linearize: the equilibrium has the positions {listed(found.position_names)}, and "
            f"system '{system.name}' has {listed(system.position_names)}; find the equilibrium of "
            f"this system: system.equilibrium()."
        )
    if t not in (0.0, found.t):
        raise UsageError(
            f"linearize: the equilibrium is one at t = {found.t:.9g}, got t = {t:.9g}; leave t "
            f"out, or look for an equilibrium at that time: system.equilibrium(t={t:.9g})."
        )
    return found


def applied_efforts(system: System, tau: ArrayLike | Mapping[str, ArrayLike] | None) -> FloatArray:
    """Return generalized forces (nv,), given by name or as an array."""
    if tau is None:
        return np.zeros(system.nv)
    if not isinstance(tau, Mapping):
        return system.checked("tau", tau, finite=True)
    applied = vector_of(system, tau, "tau")[1]
    if applied.ndim != 1:
        raise ShapeError(
            f"tau must be of one state here, got numbers of shape {applied.shape[:-1]}."
        )
    return system.checked("tau", applied, finite=True)


def _check_regular(motions: SmallMotions, held: list[int]) -> None:
    """Raise ConstraintError in a singular configuration."""
    m, around = len(motions.independent), freedoms_around(motions, held)
    if around < m:
        raise ConstraintError(
            f"System '{motions.state.system.name}' is in a singular configuration: it has {m} "
            f"freedoms here and {around} around it, so that its motions are no linear space. "
            f"Linearize beside it, on the branch that is meant: system.close_loops(q, fixed=...); "
            f"system.diagnose(q) shows the branches."
        )


def _first_order(motions: SmallMotions, F: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return A and B."""
    from scipy.linalg import cho_factor, cho_solve

    m = len(motions.independent)
    try:
        factor = cho_factor(motions.M) if m else None
    except np.linalg.LinAlgError:
        raise SingularMassMatrixError(
            f"System '{motions.state.system.name}' has no mass along some motion of "
            f"{listed(list(motions.names))}; give the bodies that it moves inertia."
        ) from None
    right = np.hstack([-motions.K, -motions.D, F])
    solved = cho_solve(factor, right) if m else right
    upper = np.hstack([motions.E, np.eye(m)])
    return np.vstack([upper, solved[:, : 2 * m]]) + 0.0, np.vstack(
        [np.zeros(F.shape), solved[:, 2 * m :]]
    )


def _state_note(state: State, held: list[int]) -> tuple[bool, str]:
    """Return whether the state is an equilibrium, and its kind in words."""
    system = state.system
    left, size, _ = unbalanced(state, held)
    still = "at rest" if not state.v.any() else "in motion"
    if state.vdot[held].any():
        return False, f"{still}, no equilibrium: prescribed joints accelerate"
    left[held] = 0.0
    compared = np.abs(left) / np.where(system.arrays.turning, system.arrays.closure.length, 1.0)
    balanced = bool(compared.max(initial=0.0) <= BALANCED * size)
    worst = int(np.argmax(compared)) if len(compared) else 0
    if balanced:
        if not state.v.any():
            return True, "at an equilibrium"
        return False, f"{STEADY}, no equilibrium: the forces balance, but v is not zero"
    name = names_of(system, [worst])[0]
    unit = "N m" if system.arrays.turning[worst] else "N"
    return False, (
        f"{still}, no equilibrium: '{name}' is left with {-left[worst]:.4g} {unit}, and accelerates"
    )

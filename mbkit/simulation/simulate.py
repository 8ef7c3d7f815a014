"""The function that runs a simulation."""

from __future__ import annotations

import importlib.metadata
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NotFiniteError, UsageError
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas
from mbkit.integrators.integrator import Advance, Problem, Rows
from mbkit.results import Result
from mbkit.simulation.progress import ProgressDisplay
from mbkit.simulation.python_force import PythonForce
from mbkit.systems import System
from mbkit.systems.failures import failure
from mbkit.systems.workspace import Workspace

__all__ = ["simulate"]

Forces = ArrayLike | Callable[[float, Any, Any], ArrayLike]

#: Seconds of compiled work between two looks at signals and progress.
CHUNK = 0.1

#: Stands for a status where the user has pressed Ctrl-C.
INTERRUPTED = -1


def simulate(
    system: System,
    t_span: tuple[float, float],
    h: float,
    *,
    integrator: Integrator | None = None,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: Forces | None = None,
    save_every: int = 1,
    progress: bool = True,
) -> Result:
    """Integrate the equations of motion of a system with a fixed step.

    Parameters
    ----------
    system : System
        What moves.
    t_span : tuple of two floats
        Start and end. [s]
    h : float
        Step; the span must be a whole number of steps. [s]
    integrator : Integrator, optional
        `RungeKuttaMuntheKaas` of order 4 if left out.
    q : array_like, shape (nq,), optional
        Configuration at the start; the reference configuration if left out.
    v : array_like, shape (nv,), optional
        Velocity at the start; zero if left out.
    tau : array_like, shape (nv,), or callable, optional
        Generalized forces, constant or as ``tau(t, q, v)``; zero if left out. [N m], [N]
    save_every : int
        Steps between saved states; the first and the last state are always saved.
    progress : bool
        Whether to show progress on the standard error stream, from two seconds on.

    Returns
    -------
    Result
        States, energies, and all that is needed to know where they came from. After Ctrl-C it holds
        what was computed, and ``completed`` is false.

    Raises
    ------
    UsageError
        If the span, the step or `save_every` is impossible.
    NotFiniteError
        If a value became infinite or not a number. The message has time, step and joint; the
        exception's ``result`` holds what was computed. So does any exception that a joint or a
        force raises.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    >>> ball = mech.add_body(mb.Body("ball", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> fall = mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
    >>> run = mb.simulate(mech.assemble(), t_span=(0.0, 1.0), h=0.1)
    >>> round(float(run.q[-1, 0]), 9)
    -4.905
    """
    integrator = RungeKuttaMuntheKaas() if integrator is None else integrator
    steps = _number_of_steps(t_span, h)
    if isinstance(save_every, bool) or not isinstance(save_every, int) or save_every < 1:
        raise UsageError(
            f"save_every must be a whole number of steps, at least 1; got {save_every!r}."
        )
    q_start, v_start = _start(system, q, v)
    workspace = Workspace(
        system.arrays,
        system.representation.kernel("forward_dynamics", "forward_dynamics_of").address,
    )
    force = _install_forces(system, workspace, tau)
    problem = Problem(
        space=workspace.address, nq=system.nq, nv=system.nv, t0=float(t_span[0]), h=float(h),
        q=q_start.copy(), v=v_start.copy(), q_stage=q_start.copy(), v_stage=v_start.copy(),
        save_every=save_every,
    )  # fmt: skip
    rows = _rows(problem, steps)
    advance = integrator.prepare(problem)
    began = time.perf_counter()
    taken, written, state = _run(problem, advance, steps, rows, t_span, progress)
    error: BaseException | None = None
    if state == INTERRUPTED:
        error = KeyboardInterrupt()
    elif state != 0:
        error = _explain(system, state, workspace, force, problem, taken)
    if taken % save_every != 0 and rows.t[written - 1] != problem.t0 + taken * problem.h:
        # the last state, which is no multiple of save_every
        rows.t[written] = problem.t0 + taken * problem.h
        rows.q[written], rows.v[written] = problem.q, problem.v
        written += 1
    options = {
        "integrator": repr(integrator), "h": problem.h, "t_span": [float(t) for t in t_span],
        "save_every": save_every, "steps": steps, "steps_taken": taken,
        "tau": "none" if tau is None else "callable" if callable(tau) else "constant",
        "wall_time": time.perf_counter() - began,
    }  # fmt: skip
    result = _result(system, Rows(*(part[:written] for part in rows)), error, options)
    if error is None or isinstance(error, KeyboardInterrupt):
        return result
    error.result = result  # type: ignore[attr-defined]
    error.add_note("What was computed until then is in this exception's attribute 'result'.")
    raise error


def _number_of_steps(t_span: tuple[float, float], h: float) -> int:
    try:
        start, end = (float(t) for t in t_span)
        h = float(h)
    except (TypeError, ValueError):
        raise UsageError(
            f"t_span must be two times and h a number; got t_span={t_span!r}, h={h!r}."
        ) from None
    if not (np.isfinite([start, end, h]).all() and h > 0.0 and end > start):
        raise UsageError(
            f"t_span must go forward in time and h must be positive; got t_span=({start}, {end}), "
            f"h={h}."
        )
    steps = round((end - start) / h)
    if steps < 1 or abs(steps * h - (end - start)) > 1e-6 * h:
        fitting = (end - start) / max(1, round((end - start) / h))
        raise UsageError(
            f"The span {end - start:g} s must be a whole number of steps h; got h={h:g} s. "
            f"Use for example h={fitting!r}."
        )
    return steps


def _start(system: System, q: ArrayLike | None, v: ArrayLike | None) -> tuple[Any, Any]:
    """Return checked copies of the initial state; evaluating it once finds bad quaternions."""
    q_start = system.reference_configuration() if q is None else system.checked("q", q)
    v_start = np.zeros(system.nv) if v is None else system.checked("v", v)
    for name, value, labels in (
        ("q", q_start, system.position_names),
        ("v", v_start, system.velocity_names),
    ):
        bad = np.flatnonzero(~np.isfinite(value))
        if bad.size:
            raise NotFiniteError(
                f"The initial {name} of '{labels[bad[0]]}' is {value[bad[0]]}; it must be finite."
            )
    system.energies(q_start[None], v_start[None])
    return q_start, v_start


def _install_forces(system: System, workspace: Workspace, tau: Forces | None) -> PythonForce | None:
    if callable(tau):
        force = PythonForce(tau, system.nq, system.nv)
        force.install(workspace)
        return force
    if tau is not None:
        workspace.tau[:] = system.checked("tau", tau)
        if not np.isfinite(workspace.tau).all():
            raise NotFiniteError(f"The forces tau must be finite; got {workspace.tau}.")
    return None


def _rows(problem: Problem, steps: int) -> Rows:
    # The start, the multiples of save_every, and perhaps the end. Memory that is never written
    # to is never taken from the machine.
    count = 2 + steps // problem.save_every
    rows = Rows(np.empty(count), np.empty((count, problem.nq)), np.empty((count, problem.nv)))
    rows.t[0], rows.q[0], rows.v[0] = problem.t0, problem.q, problem.v
    return rows


def _run(
    problem: Problem,
    advance: Advance,
    steps: int,
    rows: Rows,
    t_span: tuple[float, float],
    progress: bool,
) -> tuple[int, int, int]:
    """Take all steps in chunks of about CHUNK seconds; stop at Ctrl-C or a failure."""
    # What is reached is replaced as a whole: Ctrl-C may come between any two statements, when the
    # state has moved on and the counts have not, and must find what belongs together.
    reached = (0, 1, problem.q.copy(), problem.v.copy())
    chunk = 1
    with ProgressDisplay(*t_span, enabled=progress) as display:
        try:
            while reached[0] < steps:
                taken, written, *_ = reached
                began = time.perf_counter()
                rest = Rows(*(part[written:] for part in rows))
                size = min(chunk, steps - taken)
                state, done, saved = advance(taken, size, rest)
                reached = (taken + done, written + saved, problem.q.copy(), problem.v.copy())
                if state != 0:
                    return *reached[:2], state
                spent = time.perf_counter() - began
                chunk = max(1, min(4 * chunk, int(size * CHUNK / max(spent, 1e-9))))
                display.update(problem.t0 + reached[0] * problem.h)
        except KeyboardInterrupt:
            problem.q[:], problem.v[:] = reached[2:]
            return *reached[:2], INTERRUPTED
    return *reached[:2], 0


def _explain(
    system: System,
    state: int,
    workspace: Workspace,
    force: PythonForce | None,
    problem: Problem,
    taken: int,
) -> BaseException:
    """Return the exception behind a status: of a force, of a joint, or of the numbers."""
    t = problem.t0 + taken * problem.h
    if force is not None and force.error is not None:
        error = force.error
        error.add_note(f"Raised by the forces tau(t, q, v), in the step from t = {t:.9g} s.")
    else:
        values = {
            "t": t, "q": problem.q_stage, "v": problem.v_stage, "tau": workspace.tau
        }  # fmt: skip
        error = failure(system.evaluator, state, workspace, values)
    if isinstance(error, NotFiniteError):
        error = NotFiniteError(
            f"The simulation stopped at t = {t:.9g} s, in step {taken + 1}: {error} A smaller h "
            f"helps where the motion is sound."
        )
    return error


def _result(
    system: System, rows: Rows, error: BaseException | None, options: dict[str, Any]
) -> Result:
    t, q, v = rows
    kinetic, potential = system.energies(q, v)
    for array in (t, q, v, kinetic, potential):
        array.setflags(write=False)  # or the result would copy them
    if error is None:
        message = f"Completed: {options['steps_taken']} steps."
    elif isinstance(error, KeyboardInterrupt):
        message = f"Interrupted by the user after t = {t[-1]:.9g} s."
    else:
        message = f"{type(error).__name__}: {error}"
    return Result(
        t=t, q=q, v=v, kinetic_energy=kinetic, potential_energy=potential,
        body_names=system.body_names, joint_names=system.joint_names,
        position_names=system.position_names, velocity_names=system.velocity_names,
        position_units=system.position_units, model=system.model_text, options=options,
        versions=_versions(), completed=error is None, message=message,
    )  # fmt: skip


def _versions() -> dict[str, str]:
    names = ("mbkit", "numpy", "numba")
    versions = {name: importlib.metadata.version(name) for name in names}
    return {"python": platform.python_version(), **versions}

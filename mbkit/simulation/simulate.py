"""The function that runs a simulation."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NotFiniteError, UsageError
from mbkit.forces import Force
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas
from mbkit.integrators.integrator import Advance, Problem, Rows
from mbkit.results import Result
from mbkit.simulation.chunks import INTERRUPTED, run_chunks
from mbkit.simulation.progress import ProgressDisplay
from mbkit.simulation.python_force import PythonForce
from mbkit.simulation.start import (
    SAVED,
    check_finite,
    check_kept_whole,
    checked_notes,
    empty_rows,
    initial_state,
    number_of_steps,
    saving_interval,
)
from mbkit.systems import System
from mbkit.systems.callbacks import taken_error
from mbkit.systems.evaluations import FORWARD_DYNAMICS
from mbkit.systems.failures import failure
from mbkit.systems.workspace import Workspace

__all__ = ["simulate"]

Forces = ArrayLike | Callable[[float, Any, Any], ArrayLike]


def simulate(
    system: System,
    t_span: tuple[float, float],
    h: float,
    *,
    integrator: Integrator | None = None,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: Forces | None = None,
    forces: Iterable[Force] = (),
    save_every: int = 1,
    output: str | os.PathLike[str] | None = None,
    save: Sequence[str] = SAVED,
    dtype: str = "float64",
    progress: bool = True,
    notes: Mapping[str, Any] | None = None,
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
        Generalized forces, constant or as ``tau(t, q, v)``; zero if left out. They are added to the
        forces of the system. [N m], [N]
    forces : iterable of Force, optional
        Further forces, for this run; see `System.with_forces`.
    save_every : int
        Steps between saved states; the first and the last state are always saved.
    output : str or path, optional
        A new directory, to which the run is written while it goes, for `resume` to continue it
        whatever happens; see docs/long-runs.md. Memory then stays flat: the arrays of the result
        stay in the file ``result.nc`` of the directory, and are read where they are looked at.
    save : sequence of str
        What is written to `output`: any of "q", "v" and "energies" (all of them). What is not is
        not a number in the result.
    dtype : {"float64", "float32"}
        Of positions and velocities written to `output`; it is computed in float64 all the same.
    progress : bool
        Whether to show progress on the standard error stream, from two seconds on.
    notes : mapping, optional
        What the result shall say of itself, in ``options["notes"]``: texts, numbers, lists and
        mappings of them.

    Returns
    -------
    Result
        States, energies, and all that is needed to know where they came from. After Ctrl-C it holds
        what was computed, and ``completed`` is false.

    Raises
    ------
    UsageError
        If the span, the step or `save_every` is impossible, or `output` is used already.
    ResultFileError
        If `output` cannot be written to, or its disk has no room, before the run or during it; the
        message says what was kept.
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
    integrator = _checked(system, RungeKuttaMuntheKaas() if integrator is None else integrator)
    run = prepare(
        system, integrator, t_span, h, q=q, v=v, tau=tau, forces=forces, save_every=save_every
    )
    if notes is not None:
        run.options["notes"] = checked_notes(notes)
    system, problem, steps = run.system, run.problem, run.steps
    if output is not None:
        from mbkit.simulation.long_run import begin

        return begin(run, output, save=save, dtype=dtype, progress=progress)
    check_kept_whole(save, dtype)
    rows = empty_rows(steps, problem.save_every, system.nq, system.nv)
    rows.t[0], rows.q[0], rows.v[0], rows.work[0] = problem.t0, problem.q, problem.v, 0.0
    began = time.perf_counter()
    with ProgressDisplay(*t_span, enabled=progress) as display:
        taken, written, state = run_chunks(problem, run.advance, steps, rows, display)
    wall_time = time.perf_counter() - began
    error: BaseException | None = None
    if state == INTERRUPTED:
        error = KeyboardInterrupt()
    elif state != 0:
        error = explain(system, state, run.workspace, run.force, problem, taken)
    if taken % problem.save_every != 0:
        # the last state, which is no multiple of save_every
        rows.t[written] = problem.t0 + taken * problem.h
        rows.q[written], rows.v[written] = problem.q, problem.v
        rows.work[written] = problem.work
        written += 1
    options = {**run.options, "steps_taken": taken, "wall_time": wall_time}
    result, error = _result(system, Rows(*(part[:written] for part in rows)), error, options)
    if error is None or isinstance(error, KeyboardInterrupt):
        return result
    error.result = result  # type: ignore[attr-defined]
    error.add_note("What was computed until then is in this exception's attribute 'result'.")
    raise error


@attrs.frozen(eq=False)
class Prepared:
    """A run whose arguments are checked, before its first step."""

    system: System
    integrator: Integrator
    tau: Any
    problem: Problem
    advance: Advance
    steps: int
    workspace: Workspace
    force: PythonForce | None
    options: dict[str, Any]


def prepare(
    system: System,
    integrator: Integrator,
    t_span: tuple[float, float],
    h: float,
    *,
    q: ArrayLike | None,
    v: ArrayLike | None,
    tau: Forces | None,
    forces: Iterable[Force],
    save_every: int,
) -> Prepared:
    """Check the arguments of `simulate`, and return what its loop needs."""
    further = tuple(forces)
    if further:
        system = system.with_forces(further)
    steps = number_of_steps(t_span, h)
    save_every = saving_interval(save_every)
    q_start, v_start = initial_state(system, q, v)
    workspace = Workspace(
        system.arrays,
        system.evaluator.function(FORWARD_DYNAMICS),
    )
    force = _install_forces(system, workspace, tau)
    problem = Problem(
        space=workspace.address, nq=system.nq, nv=system.nv, t0=float(t_span[0]), h=float(h),
        q=q_start.copy(), v=v_start.copy(), work=np.zeros(2),
        q_stage=q_start.copy(), v_stage=v_start.copy(),
        save_every=save_every,
    )  # fmt: skip
    options = {
        "integrator": _described(integrator), "representation": system.representation.name,
        "h": problem.h, "t_span": [float(t) for t in t_span],
        "save_every": save_every, "steps": steps,
        "tau": "none" if tau is None else "callable" if callable(tau) else "constant",
        "forces": [_described(force) for force in further],
    }  # fmt: skip
    return Prepared(
        system, integrator, tau, problem, integrator.prepare(problem), steps, workspace, force,
        options,
    )  # fmt: skip


def _described(thing: Any) -> str:
    """Return the text of an object; not its address, which is another one in each process."""
    kind: Any = type(thing)
    if kind.__repr__ is not object.__repr__:
        return repr(thing)
    name = getattr(thing, "name", None)
    return f"{kind.__qualname__}({'' if name is None else repr(name)})"


def _checked(system: System, integrator: Integrator) -> Integrator:
    if not isinstance(system, System):
        raise UsageError(
            f"simulate needs an mbkit.System, got {system!r}; a mechanism becomes one by "
            f"mechanism.assemble()."
        )
    if not isinstance(integrator, Integrator):
        raise UsageError(
            f"The integrator must be an mbkit.Integrator, got {integrator!r}; for example "
            f"mbkit.RungeKuttaMuntheKaas(tableau=mbkit.tableaus.RK4)."
        )
    return integrator


def _install_forces(system: System, workspace: Workspace, tau: Forces | None) -> PythonForce | None:
    if callable(tau):
        force = PythonForce(tau, system.nq, system.nv)
        force.install(workspace)
        return force
    if tau is not None:
        workspace.tau[:] = system.checked("tau", tau)
        check_finite("force tau", workspace.tau, system.velocity_names)
    return None


def explain(
    system: System,
    state: int,
    workspace: Workspace,
    force: PythonForce | None,
    problem: Problem,
    taken: int,
) -> BaseException:
    """Return the exception behind a status: of a force, of a joint, or of the numbers."""
    from mbkit.kernels.status import CALLBACK_FAILED, unpack

    t = problem.t0 + taken * problem.h
    if force is not None and unpack(state)[0] == CALLBACK_FAILED:
        error = taken_error(force)
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
) -> tuple[Result, BaseException | None]:
    """Return the result, and the first thing that went wrong: energies may fail as well."""
    t, q, v, work = rows
    dissipated, supplied = work.T.copy()
    kinetic, potential, failed = energies(system, rows)
    error = failed if error is None else error
    for array in (t, q, v, kinetic, potential, dissipated, supplied):
        array.setflags(write=False)  # or the result would copy them
    if error is None:
        message = f"Completed: {options['steps_taken']} steps."
    elif isinstance(error, KeyboardInterrupt):
        message = f"Interrupted by the user after t = {t[-1]:.9g} s."
    else:
        message = f"{type(error).__name__}: {error}"
    result = Result(
        t=t, q=q, v=v, kinetic_energy=kinetic, potential_energy=potential,
        dissipated_energy=dissipated, supplied_energy=supplied,
        body_names=system.body_names, joint_names=system.joint_names,
        position_names=system.position_names, velocity_names=system.velocity_names,
        position_units=system.position_units, model=system.model_text, options=options,
        versions=versions(), completed=error is None, message=message,
    )  # fmt: skip
    return result, error


def energies(system: System, rows: Rows) -> tuple[Any, Any, BaseException | None]:
    """Return the energies of all rows, not a number where a joint fails, and the first failure."""
    try:
        kinetic, potential = _both_energies(system, rows.t, rows.q, rows.v)
    except BaseException as error:
        kinetic, potential = np.full(rows.t.size, np.nan), np.full(rows.t.size, np.nan)
        with contextlib.suppress(BaseException):
            for row in range(rows.t.size):
                one = slice(row, row + 1)
                kinetic[one], potential[one] = _both_energies(
                    system, rows.t[one], rows.q[one], rows.v[one]
                )
        return kinetic, potential, error
    bad = np.flatnonzero(~np.isfinite(kinetic + potential))
    if bad.size:
        fastest = system.velocity_names[int(np.abs(rows.v[bad[0]]).argmax())]
        return kinetic, potential, NotFiniteError(
            f"The energy at t = {rows.t[bad[0]]:.9g} s is too large for a number; '{fastest}' is "
            f"the fastest then. Start slower, or use a smaller h."
        )  # fmt: skip
    return kinetic, potential, None


def _both_energies(system: System, t: Any, q: Any, v: Any) -> tuple[Any, Any]:
    """Return kinetic energy, and potential energy of gravity and of all forces."""
    kinetic, potential = system.energies(q, v)
    if system.force_names:
        potential = potential + system.force_potentials(q, t).sum(axis=-1)
    return kinetic, potential


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions on which the bits of a result depend."""
    names = ("mbkit", "numpy", "numba")
    versions = {name: importlib.metadata.version(name) for name in names}
    return {"python": platform.python_version(), **versions}

"""A run before its first step: its arguments checked, its memory there."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import LockedMechanismWarning, UsageError, check_kind, several
from mbkit.events import Event
from mbkit.forces import Force
from mbkit.integrators import Integrator
from mbkit.integrators.integrator import Problem
from mbkit.lie.arrays import as_floats
from mbkit.simulation import momenta as momentum_runs
from mbkit.simulation.consistent_states import check_constraints, check_joints
from mbkit.simulation.held_efforts import EffortsInSteps, Held, Stretch
from mbkit.simulation.monitors.jumps import Jumps
from mbkit.simulation.monitors.limit_monitors import OfLimits
from mbkit.simulation.monitors.locked import check_velocity_kept, locked
from mbkit.simulation.monitors.open_loops import OpenLoops
from mbkit.simulation.monitors.searched_joints import SearchedJoints
from mbkit.simulation.monitors.singular_start import SingularStart, evaluate_start
from mbkit.simulation.monitors.stiffness import Stiffness
from mbkit.simulation.options import options_of
from mbkit.simulation.potential_forces import check_forces
from mbkit.simulation.python_force import WHAT, PythonForce, check_takes_states
from mbkit.simulation.stabilisation import (
    BY_INTEGRATOR,
    PROJECTION,
    Baumgarte,
    Stabilisation,
    described,
)
from mbkit.simulation.start import check_finite, initial_state, number_of_steps, saving_interval
from mbkit.simulation.start_by_name import Start
from mbkit.simulation.step_sizes import check_step_size, default_integrator
from mbkit.simulation.stepping.course import Course
from mbkit.simulation.stepping.event_watch import Watch, checked_events
from mbkit.simulation.stepping.output_times import OutputTimes
from mbkit.simulation.watched_states import Samples
from mbkit.solvers import ConstraintSolver
from mbkit.sparsity.step_blocks import step_blocks
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.evaluations import INVERSE_DYNAMICS, MASS_MATRIX
from mbkit.systems.calls.failures import failure
from mbkit.systems.forms.momentum_form import MomentaInLoops
from mbkit.systems.memory.prescribed_motions import Drive
from mbkit.systems.memory.workspace import Workspace

if TYPE_CHECKING:
    from mbkit.simulation.outputs.by_name import Output

__all__ = [
    "GeneralizedForces",
    "Prepared",
    "StateByName",
    "checked_parts",
    "prepare",
    "versions",
    "with_options",
]

#: A vector, or numbers by the names of joints.
StateByName = ArrayLike | Mapping[str, ArrayLike]
GeneralizedForces = ArrayLike | EffortsInSteps | Callable[[float, Any, Any], ArrayLike]


@attrs.frozen(eq=False)
class Prepared:
    """A run whose arguments are checked, before its first step.

    `start` is the state at the start, `given` the q and v of the caller that led to it; None
    where the run goes on from another one's end. `momenta`
    are those of a run in them, where v of the problem and its rows stands for them. `outputs` are
    recorded besides.
    """

    system: System
    integrator: Integrator
    tau: Any
    problem: Problem
    course: Course
    steps: int
    workspace: Workspace
    force: PythonForce | None
    drive: Drive | None
    options: dict[str, Any]
    start: tuple[Any, Any] | None
    given: tuple[Any, Any] | None = None
    momenta: MomentaInLoops | None = None
    held: Held | None = None
    outputs: tuple[Output, ...] = ()


def prepare(
    system: System,
    integrator: Integrator,
    t_span: tuple[float, float],
    h: float | None,
    *,
    q: StateByName | None,
    v: StateByName | None,
    tau: GeneralizedForces | None,
    forces: Iterable[Force],
    events: Iterable[Event],
    save_every: int,
    save_at: ArrayLike | None,
    stabilisation: Stabilisation,
    continued: bool = False,
    in_momenta: bool = False,
    constraint_solver: ConstraintSolver | None,
) -> Prepared:
    """Check the arguments of `simulate`, and return the data of its loop.

    The state of a run that is continued is put into the problem afterwards, and is not looked at.
    """
    system, further = with_options(system, forces, constraint_solver)
    t_span, h, steps = number_of_steps(t_span, h)
    times, save_every = _output_times(save_at, saving_interval(save_every), t_span, h, steps)
    watched = checked_events(events, system)
    q_start, v_start, solved = _checked_start(
        system, integrator, float(t_span[0]), tau, None if continued else (q, v)
    )
    keeping = _keeping(integrator, stabilisation)
    workspace = _workspace(system)
    force = _install_forces(system, workspace, tau)
    drive = _install_drive(system, integrator, workspace)
    problem = _problem(
        workspace, system, (q_start, v_start), t0=float(t_span[0]), h=float(h),
        save_every=save_every, tau=_tau(tau, workspace),
        multipliers=np.full(_num_multipliers(system, integrator), np.nan),
    )  # fmt: skip
    momenta = momentum_runs.install(system, workspace, problem, force) if in_momenta else None
    stretch = Stretch(t_span, steps, problem, workspace.tau, momenta)
    held = tau.held(stretch) if isinstance(tau, EffortsInSteps) else None
    found, singular = ((), None) if continued else _close(system, problem, workspace, t_span)
    if system.num_velocity_constraints and not integrator.keeps_constraints:
        workspace.stabilise(**_law(stabilisation))
    options = options_of(
        system, integrator, t_span, problem,
        steps=steps, tau=tau, forces=further, events=watched, times=times, keeping=keeping,
    )  # fmt: skip
    options |= {"solved": solved} if any(solved.values()) else {}
    watch = Watch(watched, system, workspace, momenta) if watched else None
    samples = Samples(problem, steps, momenta) if save_every > 1 else None  # rows may be few
    stiffness = Stiffness.of(system, integrator, problem, momenta, tau=force is not None)
    loops, searched = OpenLoops.of(system, integrator), SearchedJoints.of(system)
    limits = OfLimits.of(system, watched, momenta)
    _hear_efforts(limits, problem.t0, held or force, workspace)
    looking = _jumps(drive, integrator), stiffness, *limits, loops, searched, singular
    monitors = tuple(each for each in looking if each is not None)
    course = Course(system, integrator, problem, watch, times, samples, found, held, monitors)
    return Prepared(
        system, integrator, tau, problem, course, steps, workspace, force, drive, options,
        start=None if continued else (q_start, v_start), given=None if continued else (q, v),
        momenta=momenta, held=held,
    )  # fmt: skip


def _workspace(system: System) -> Workspace:
    """Return memory for the equations of motion of a run."""
    workspace = Workspace(system.arrays, system.evaluator)
    workspace.record[0]["forward_dynamics"] = system.evaluator.function(system.equations)
    workspace.stabilise(project=True)
    return workspace


def _checked_start(
    system: System, integrator: Integrator, t: float, tau: Any, given: tuple[Any, Any] | None
) -> Start:
    """Return the start of a run, which its integrator takes; without a state given, of another."""
    start = (
        Start(*system.start_of_tree(t), {}) if given is None else initial_state(system, t, *given)
    )
    check_joints(system, integrator)
    check_forces(system, integrator, tau, t, start.q)
    if given is not None:
        check_constraints(system, integrator, t, start.q, start.v)
    return start


def with_options(
    system: System, forces: Iterable[Force], constraint_solver: ConstraintSolver | None
) -> tuple[System, tuple[Force, ...]]:
    """Return the system with further forces and another solver, and these forces."""
    if not several(forces):
        raise UsageError(f"forces must be a list of forces, got {forces!r}.")
    further = tuple(forces)
    if further:
        system = system.with_forces(further)
    if constraint_solver is None:
        return system, further
    words = "an mbkit.ConstraintSolver"
    check_kind("constraint_solver", constraint_solver, ConstraintSolver, words)
    if constraint_solver == system.constraint_solver:
        return system, further
    return system.with_constraint_solver(constraint_solver), further


def _problem(
    workspace: Workspace, system: System, start: tuple[Floats, Floats], **options: Any
) -> Problem:
    """Return the problem for an integrator, with copies of the state at the start."""
    q, v = start
    return Problem(
        space=workspace.address,
        nq=system.nq, nv=system.nv, ndx=system.ndx,
        num_rows=len(system.arrays.bodies),
        q=q.copy(), v=v.copy(), work=np.zeros(2),
        q_stage=q.copy(), v_stage=v.copy(),
        equations=system,
        provide=functools.partial(_provide, system, workspace),
        blocks=functools.cache(
            lambda stabilised: step_blocks(system.arrays, stabilised=stabilised)
        ),
        **options,
    )  # fmt: skip


def _provide(system: System, workspace: Workspace, name: str) -> None:
    what = {each.function: each for each in (INVERSE_DYNAMICS, MASS_MATRIX)}[name]
    workspace.record[0][name] = system.evaluator.function(what)


def _num_multipliers(system: System, integrator: Integrator) -> int:
    return system.num_velocity_constraints if integrator.gives_multipliers else 0


def _keeping(integrator: Integrator, stabilisation: Stabilisation) -> Mapping[str, Any]:
    """Return how loops are kept closed, as options have it; UsageError where two would do it."""
    if not integrator.keeps_constraints:
        return described(stabilisation)
    if not (stabilisation is None or stabilisation is PROJECTION):
        raise UsageError(
            f"{type(integrator).__name__} keeps the constraints itself, and stabilisation="
            f"{stabilisation!r} was given; leave it out."
        )
    return BY_INTEGRATOR


def _law(stabilisation: Stabilisation) -> dict[str, Any]:
    """Return it for kernels: whether to project, and the stiffness and damping of the pull."""
    if isinstance(stabilisation, Baumgarte):
        omega, zeta = stabilisation.frequency, stabilisation.damping_ratio
        return {"project": False, "stiffness": omega * omega, "damping": 2.0 * zeta * omega}
    return {"project": stabilisation is not None}


def _close(
    system: System, problem: Problem, workspace: Workspace, t_span: tuple[float, float]
) -> tuple[tuple[str, ...], SingularStart | None]:
    """Remove the residuals of the constraints from the initial state, and evaluate it once.

    Return the warnings for the result, and the finding on whether the state is singular.
    """
    if not system.num_velocity_constraints:
        return (), None
    given = problem.v.copy()
    status = problem.close(problem.t0, problem.q, problem.v)
    if status != 0:
        raise failure(system.evaluator, status, workspace, {"q": problem.q, "v": problem.v})
    problem.q_stage[:], problem.v_stage[:] = problem.q, problem.v
    check_velocity_kept(system, problem.q, given, problem.v, problem.t0)
    evaluate_start(system, problem.t0, problem.q, problem.v)
    assert workspace.closure is not None
    kept = workspace.closure.kept[: system.num_velocity_constraints]
    singular = SingularStart(system, problem.t0, problem.q, int(np.count_nonzero(kept)))
    text = locked(system, t_span, problem.q, kept)
    if not text:
        return (), singular
    warnings.warn(text, LockedMechanismWarning, stacklevel=4)
    return (text,), singular


def _output_times(
    save_at: ArrayLike | None, save_every: int, t_span: tuple[float, float], h: float, steps: int
) -> tuple[OutputTimes | None, int]:
    """Return the output times, where there are some of their own, and the steps between rows.

    Where there are, more than all steps: rows are written at those times alone.
    """
    if save_at is None:
        return None, save_every
    if save_every != 1:
        raise UsageError(
            f"save_every={save_every} and save_at were both given; leave one of them out."
        )
    span = float(t_span[0]), float(t_span[1])
    return OutputTimes.checked(save_at, span, float(h), steps), steps + 1


def _install_drive(system: System, integrator: Integrator, workspace: Workspace) -> Drive | None:
    """Let the equations of motion move the prescribed joints, where there are some."""
    if not system.motions:
        return None
    if not (integrator.looks and integrator.takes_prescribed_joints):
        raise UsageError(
            f"{type(integrator).__name__} does not take prescribed joints, and system "
            f"'{system.name}' has {', '.join(map(repr, system.motions))}; use for example "
            f"mbkit.RungeKuttaMuntheKaas(), or let it ask Problem.look at the end of its steps, "
            f"and say looks = True."
        )
    drive = Drive(system)
    drive.install(workspace)
    return drive


def _jumps(drive: Drive | None, integrator: Integrator) -> Jumps | None:
    """Have prescribed motions checked as the equations of motion evaluate them."""
    if drive is None:
        return None
    jumps = Jumps(drive.motions, adaptive=integrator.adaptive)
    drive.listener = jumps.hear
    return jumps


def _hear_efforts(
    limits: OfLimits, t0: float, source: PythonForce | Held | None, workspace: Workspace
) -> None:
    """Have the efforts of a run checked as the equations of motion evaluate them."""
    if isinstance(source, PythonForce):
        source.listener = limits.efforts.hear
    elif source is not None:
        limits.efforts.held = source
    else:
        limits.efforts.hear(t0, workspace.tau)


def checked_parts(system: System, integrator: Integrator | None, h: float | None) -> Integrator:
    """Return the integrator; UsageError where it or the system is of another kind.

    It is that of runs with steps of one size, or, without h, of their own.
    """
    if not isinstance(system, System):
        raise UsageError(
            f"simulate needs an mbkit.System, got {system!r}; a mechanism becomes one by "
            f"mechanism.assemble()."
        )
    integrator = default_integrator(h) if integrator is None else integrator
    remedy = "for example mbkit.RungeKuttaMuntheKaas(tableau=mbkit.tableaus.RK4)"
    check_kind("The integrator", integrator, Integrator, "an mbkit.Integrator", remedy)
    check_step_size(integrator, h)
    return integrator


def _tau(tau: GeneralizedForces | None, workspace: Workspace) -> Callable[[float, Any, Any], Any]:
    """Return the forces of a run as a function, whatever was given."""
    if callable(tau) and not isinstance(tau, EffortsInSteps):
        return lambda t, q, v: as_floats(tau(t, q.copy(), v.copy()), WHAT)
    return lambda t, q, v: workspace.tau


def _install_forces(
    system: System, workspace: Workspace, tau: GeneralizedForces | None
) -> PythonForce | None:
    if isinstance(tau, type):
        raise UsageError(f"tau must be a function tau(t, q, v) or an array, got {tau!r}.")
    if isinstance(tau, EffortsInSteps):
        return None
    if callable(tau):
        check_takes_states(tau, "The forces tau")
        force = PythonForce(tau, system.nq, system.nv)
        force.install(workspace)
        return force
    if tau is not None:
        workspace.tau[:] = system.checked("tau", tau)
        check_finite("force tau", workspace.tau, system.velocity_names)
    return None


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions on which the bits of a result depend."""
    names = ("mbkit", "numpy", "scipy", "numba")
    versions = {name: importlib.metadata.version(name) for name in names}
    return {"python": platform.python_version(), **versions}

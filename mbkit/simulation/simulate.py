"""The function that runs a simulation."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Never

import attrs
from numpy.typing import ArrayLike

from mbkit.errors import UsageError, suggestion
from mbkit.events import Event
from mbkit.forces import Force
from mbkit.integrators import Integrator
from mbkit.results import Result
from mbkit.simulation.ensembles.ensemble import check_in_memory, fixed, run_ensemble
from mbkit.simulation.ensembles.members import Members, has_samples, with_all_forces
from mbkit.simulation.in_memory import run_in_memory
from mbkit.simulation.long_runs.long_run import begin
from mbkit.simulation.momenta import check_run
from mbkit.simulation.outputs.by_name import Outputs, checked_outputs
from mbkit.simulation.preparation import GeneralizedForces, StateByName, checked_parts, prepare
from mbkit.simulation.sampled_control import Sampled
from mbkit.simulation.stabilisation import PROJECTION, Stabilisation
from mbkit.simulation.start import (
    SAVED,
    check_kept_whole,
    checked_notes,
    number_of_steps,
    saving_interval,
)
from mbkit.solvers import ConstraintSolver
from mbkit.systems import MomentumForm, System

__all__ = ["simulate"]


def simulate(
    system: System | MomentumForm,
    t_span: tuple[float, float],
    h: float | None = None,
    *,
    integrator: Integrator | None = None,
    q: StateByName | None = None,
    v: StateByName | None = None,
    tau: GeneralizedForces | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    forces: Iterable[Force] = (),
    events: Iterable[Event] = (),
    save_every: int = 1,
    save_at: ArrayLike | None = None,
    stabilisation: Stabilisation = PROJECTION,
    constraint_solver: ConstraintSolver | None = None,
    outputs: Outputs | None = None,
    output: str | os.PathLike[str] | None = None,
    save: Sequence[str] = SAVED,
    dtype: str = "float64",
    progress: bool = True,
    notes: Mapping[str, Any] | None = None,
    **others: Never,
) -> Result:
    """Integrate the equations of motion of a system, in steps of one size or by a tolerance.

    Parameters
    ----------
    system : System or MomentumForm
        The system; with a `MomentumForm` the run is in momenta.
    t_span : tuple of two floats
        Start and end. [s]
    h : float, optional
        Step; the span must be a whole number of steps. If left out, the integrator chooses its
        steps by a tolerance, and 1001 states are saved, evenly spaced in time; the result's
        ``options["h"]`` is their distance, and no step is longer. [s]
    integrator : Integrator, optional
        If left out, `RungeKuttaMuntheKaas` of order 4, and without h that of order 5 by Dormand and
        Prince, with ``rtol=1e-8``. Without h an integrator must have a tolerance itself.
    q : array_like, shape (nq,) or (..., nq), or mapping of str to array_like, optional
        Configuration at the start, or positions by the names of joints, such as ``{"main": 0.5}``.
        Joints not named start at the reference configuration, and loops are closed from there;
        the result's ``options["solved"]`` list the joints that were moved for it. A vector must
        close the loops itself. Leading axes of q, v, tau and parameters, which broadcast,
        make an ensemble: a run for each sample, on all cores.
    v : array_like, shape (nv,) or (..., nv), or mapping of str to array_like, optional
        Velocity at the start, likewise; at rest if left out, but with that of prescribed joints.
    tau : array_like, shape (nv,) or (..., nv), or callable, optional
        Generalized forces, constant, as `PiecewiseEfforts`, as a controller that is `Sampled`, or
        as ``tau(t, q, v)``; zero if left out. They are added to the forces of the system.
        [N m], [N]
    parameters : mapping of str to array_like, optional
        Other values of parameters, by the names of `System.parameters`, with leading axes for an
        ensemble.
    forces : iterable of Force, optional
        Further forces, for this run; see `System.with_forces`.
    events : iterable of Event, optional
        Events to look for, with their effects; the result's ``events`` lists those that occurred.
    save_every : int
        Steps between saved states, without h thousandths of the span; the first and
        the last state are always saved.
    save_at : array_like, shape (k,), optional
        Times of the saved states, increasing, in any distance; instead of `save_every`. The state
        at a time between two steps is that of a step of the integrator to it: as exact as those at
        their ends, for the price of one step. [s]
    stabilisation : Projection, Baumgarte or None
        How the loops of a closed mechanism are kept closed: by `Projection` after each step if left
        out. With None they drift open. To be left out for an integrator that keeps them closed
        itself.
    constraint_solver : ConstraintSolver, optional
        How the multipliers of constraints are found; that of the system if left out. The result
        has it in ``options["constraint_solver"]``.
    outputs : sequence of str, or mapping of str to str or callable, optional
        Further quantities of the result, by name: ``"hand.position"`` and other quantities of
        bodies, frames and joints, or functions of t, q and v; see docs/results.md.
    output : str or path, optional
        A new directory, to which the run is written while it goes, for `resume` to continue it
        whatever happens; see docs/long-runs.md. Memory then stays flat: the arrays of the result
        stay in the file ``result.nc`` of the directory, and are read where they are looked at.
    save : sequence of str
        The quantities written to `output`: any of "q", "v", "energies" and "constraints", the
        multipliers and residuals of constraints; all of them if left out. Others are NaN in the
        result.
    dtype : {"float64", "float32"}
        Of positions and velocities written to `output`; it is computed in float64 all the same.
    progress : bool
        Whether to show progress on the standard error stream, from two seconds on.
    notes : mapping, optional
        Notes that the result stores, in ``options["notes"]``: texts, numbers, lists and
        mappings of them.
    **others
        None: names that are not those above are refused.

    Returns
    -------
    Result
        States, energies, and all that is needed to know where they came from. After Ctrl-C it holds
        the rows before, and ``completed`` is false. Where q, v, tau or parameters have leading
        axes it is an `Ensemble`: it marks runs that fail, and a warning is issued for them. See
        docs/ensembles.md.

    Raises
    ------
    UsageError
        If the span, the step or `save_every` is impossible, or `output` is used already or named as
        a file is.
    ResultFileError
        If `output` cannot be written to, or its disk has no room, before the run or during it; the
        message names the parts kept.
    EventError
        If events follow each other without end.
    ConstraintError
        If the initial state leaves loops open, or they cannot be closed after a step.
    ConvergenceError
        If an implicit integrator could not solve the equations of a step.
    NotFiniteError
        If a value became infinite or not a number. The message has time, step and joint; the
        exception's ``result`` holds the run until then. So does any exception that a joint or a
        force raises.

    Warns
    -----
    EnergyBalanceWarning
        After the run, if the error of its energy balance exceeds a hundredth of the peak kinetic
        energy; see docs/integrators.md. It stands in the result's ``warnings``.
    FailedRunsWarning
        Of an ensemble, after its runs, if some of them ended by an error.
    StiffnessWarning
        Once, if steps of adaptive size are kept small by the stability of an explicit method, and
        not by accuracy; likewise.
    JumpWarning
        Once, if a prescribed motion jumps, has a kink, or is faster than the steps; likewise.
    LimitsNotAppliedWarning
        Once, if a joint passes a limit of its position, has no `LimitStop`, and no event watches
        it; likewise. `Mechanism.add_limit_stops` adds stops. Once too if a joint is faster at a
        saved state than the limit of its velocity, unless an event watches the velocity, and once
        if `tau` of a joint is greater than the limit of its effort.
    LockedMechanismWarning
        If the constraints leave no motion at the start; it names the loops that hold the mechanism,
        and stands in the result's ``warnings``.
    RedundantConstraintsWarning
        Once a system, if some of its constraints depend on others; see `System.diagnose`.
    LargeStepWarning
        Once, if a body in absolute coordinates turns by more than half of the range of its local
        coordinates in a step.
    SingularityWarning
        Once a joint, if it comes near a singular configuration; see docs/joints.md. Once, if loops
        are singular at the start, where branches of the motion meet; see docs/closed-loops.md.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    >>> ball = mech.add_body(mb.Body("ball", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> fall = mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
    >>> run = mb.simulate(mech.assemble(), t_span=(0.0, 1.0), h=0.1)
    >>> round(float(run.q[-1, 0]), 9)
    -4.905

    With steps of adaptive size:

    >>> run = mb.simulate(mech.assemble(), t_span=(0.0, 1.0))
    >>> len(run.t), round(float(run.q[-1, 0]), 9)
    (1001, -4.905)
    """
    if others:
        raise _unknown(next(iter(others)))
    system, integrator, in_momenta = _parts(system, integrator, h, output)
    if h is None and isinstance(tau, Sampled):
        t_span, _, _ = number_of_steps(t_span, None)
        h, save_every = tau.grid(t_span, saving_interval(save_every) if save_at is None else 1)
    elif isinstance(tau, Sampled):
        tau.check_step(t_span, h)
    about: dict[str, Any] = {"form": "momentum"} if in_momenta else {}
    about |= {} if notes is None else {"notes": checked_notes(notes)}
    recorded = checked_outputs(system, outputs)
    if recorded:
        about["output_units"] = {each.label: each.units(system) for each in recorded}
    common: dict[str, Any] = {
        "events": events, "save_every": save_every, "save_at": save_at,
        "stabilisation": stabilisation, "in_momenta": in_momenta,
    }  # fmt: skip
    if has_samples(q, v, tau, parameters):
        system, about["forces"] = with_all_forces(system, forces, constraint_solver)
        forces, constraint_solver = (), None
        members = Members.of(system, parameters, q=q, v=v, tau=tau)
        if members.axes:
            check_in_memory(output, save, dtype)
            common = fixed(common, integrator, t_span, h)
            ensemble: Any = run_ensemble(members, common, about, recorded, progress=progress)
            return ensemble  # type: ignore[no-any-return]
        system = members.system_of(0)
    run = prepare(
        system, integrator, t_span, h, q=q, v=v, tau=tau, forces=forces,
        constraint_solver=constraint_solver, **common,
    )  # fmt: skip
    run = attrs.evolve(run, outputs=recorded)
    run.options.update(about)
    if output is not None:
        return begin(run, output, save=save, dtype=dtype, progress=progress)
    check_kept_whole(save, dtype)
    return run_in_memory(run, progress=progress)


def _unknown(name: str) -> UsageError:
    """Return the error for an argument that `simulate` does not have."""
    if name in ("rtol", "atol", "method"):
        rule = (
            "is of the integrator: integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, "
            "rtol=1e-10) without h, or another one of docs/integrators.md"
        )
        return UsageError(f"simulate has no argument {name!r}, which {rule}.")
    known = [each for each in inspect.signature(simulate).parameters if each != "others"]
    return UsageError(f"simulate has no argument {name!r}; {suggestion(name, known)}")


def _parts(
    system: System | MomentumForm, integrator: Integrator | None, h: float | None, output: Any
) -> tuple[System, Integrator, bool]:
    """Return the system and the integrator of a run, and whether it is one in momenta."""
    if not isinstance(system, MomentumForm):
        return system, checked_parts(system, integrator, h), False
    integrator = checked_parts(system.system, integrator, h)
    check_run(system, integrator, output)
    return system.system, integrator, True

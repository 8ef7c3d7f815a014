"""Runs in momenta: inputs of an integrator, and its results as velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbkit.errors import UsageError
from mbkit.integrators import Integrator
from mbkit.integrators.integrator import Problem, Rows
from mbkit.simulation.python_force import PythonForce
from mbkit.systems import MomentumForm, System
from mbkit.systems.forms.momentum_form import MomentaInLoops

if TYPE_CHECKING:
    from mbkit.systems.memory.workspace import Workspace


def check_run(form: MomentumForm, integrator: Any, output: Any) -> None:
    """Raise UsageError where a run of a momentum form has arguments that it cannot take."""
    name, remedy = form.system.name, "simulate the system itself"
    if isinstance(integrator, Integrator) and not integrator.takes_momenta:
        raise UsageError(
            f"{type(integrator).__name__} does not take the momentum form of system '{name}'; use "
            f"an explicit method, such as mbkit.RungeKuttaMuntheKaas(), let it say "
            f"takes_momenta = True where it takes all rates from its problem, or {remedy}."
        )
    if output is not None:
        raise UsageError(
            f"output is for runs that can be resumed, and the momentum form of system '{name}' "
            f"cannot; leave it out, and save the result by run.save(path), or {remedy}."
        )


def install(
    system: System, workspace: Workspace, problem: Problem, force: PythonForce | None
) -> MomentaInLoops:
    """Let a problem be that of momenta, its v those of the velocity that it has."""
    momenta = MomentaInLoops(system.evaluator, workspace)
    problem.momenta = True
    problem.v = momenta.of_velocity(problem.q, problem.v)
    problem.v_stage[:] = problem.v
    if force is not None:
        function = force.function
        force.function = lambda t, q, z: function(t, q, momenta.velocity(q, z))
    return momenta


def with_velocities(momenta: MomentaInLoops | None, rows: Rows) -> Rows:
    """Return the rows of a run with velocities, which they have but where it was in momenta."""
    if momenta is None or rows.t.size == 0:
        return rows
    return rows._replace(v=momenta.velocities(rows.q, rows.v))

"""A variational method on the group: RATTLE.

The step is `mbkit.kernels.time_loops.rattlie`; its Newton iteration and the terms of its equations
are in `mbkit.kernels.variational_integrators`.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.checks import check_multipliers
from mbkit.integrators.integrator import Advance, Integrator, Problem
from mbkit.integrators.newton_record import Newton
from mbkit.integrators.step_memory import REMEDY, Record
from mbkit.memory import check_memory

#: How far a way back may be from a step back.
_SYMMETRIC = 1e-12


@final
@attrs.frozen
class RATTLie(Integrator):
    """The variational method RATTLE on the group, for long conservative motions.

    The step follows from a discrete principle of least action: it is symplectic and symmetric, and
    the energy errs by O(h^2) and does not drift, however long the run. Momenta that belong to
    symmetries stay. Constraints hold in positions and in velocities. The mass matrix may depend on
    the configuration.

    Forces must have a potential and depend on positions alone; constant efforts of joints are taken
    too. Prescribed joints, rolling joints and rolling constraints are refused. Multipliers are the
    mean of those of both steps that meet at a moment, which is of second order; each alone is of
    first.

    References
    ----------
    .. [1] H. C. Andersen, "Rattle: a 'velocity' version of the Shake algorithm for molecular
       dynamics calculations", J. Comput. Phys. 52 (1983) 24-34.
    .. [2] J. E. Marsden, M. West, "Discrete mechanics and variational integrators", Acta Numerica
       10 (2001) 357-514.
    .. [3] S. Hante, M. Arnold, "RATTLie: A variational Lie group integration scheme for constrained
       mechanical systems", J. Comput. Appl. Math. 387 (2021) 112492.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("top", gravity=(0, 0, -9.81))
    >>> wheel = mb.SpatialInertia.cylinder(1.0, radius=0.3, length=0.1)
    >>> top = mech.add_body(mb.Body("top", wheel))
    >>> tip = mech.add_joint(mb.SphericalJoint("tip", point=(0, 0, -0.4)), mech.world, top)
    >>> run = mb.simulate(
    ...     mech.assemble(), (0, 10), 2e-3, v=[0.1, 0, 9], integrator=mb.RATTLie(), progress=False
    ... )
    >>> bool(abs(run.energy_drift).max() < 1e-4)
    True
    """

    order = 2
    looks = True
    takes_constraints = True
    keeps_constraints = True
    gives_multipliers = True
    takes_prescribed_joints = False
    takes_nonholonomic_joints = False
    takes_forces_of_velocity = False

    def prepare(self, problem: Problem) -> Advance:
        """Return the function that takes steps of the problem."""
        from mbkit.integrators.compiled import advance_by
        from mbkit.kernels.time_loops.rattlie import advance

        _check(problem)
        problem.provide("inverse_dynamics")
        problem.provide("mass_matrix")
        check_multipliers(self, problem)
        return advance_by(problem, advance, _step_memory(problem))


def _step_memory(problem: Problem) -> Record:
    """Return the record of the memory of a step; the problem's `newton` is set."""
    from mbkit.kernels.constraints.evaluate import constraint_state
    from mbkit.kernels.constraints.jacobian import constraint_jacobian
    from mbkit.kernels.derivatives.inverse_dynamics import inverse_dynamics_derivatives
    from mbkit.kernels.forces.force_pass import generalized_forces
    from mbkit.kernels.recursions.mass_action import mass_action
    from mbkit.kernels.time_loops import rattlie as step
    from mbkit.kernels.variational_integrators import newton, terms
    from mbkit.kernels.variational_integrators.layout import MOST, VARIATIONAL, sizes

    n, m = problem.nv, problem.equations.num_velocity_constraints
    numbers = sizes(problem.nq, n, m)
    check_memory(
        sum(numbers.values()),
        f"A step of RATTLie of {n} velocities and {m} rows of constraints", REMEDY,
    )  # fmt: skip
    problem.newton = record = Newton.empty(MOST, n + m, problem.newton)
    functions: dict[str, Any] = {
        "generalized_forces": generalized_forces, "mass_action": mass_action,
        "dynamics_derivatives": inverse_dynamics_derivatives,
        "look_around": terms.look_around, "equations": newton.residual,
        "newton_matrix": newton.newton_matrix, "factorised": newton.factorised,
        "solve_for": newton.solve_for, "newton": newton.newton, "arrive": step.arrive,
    }  # fmt: skip
    if m:
        functions |= {
            "constraint_state": constraint_state, "constraint_jacobian": constraint_jacobian
        }  # fmt: skip
    memory = Record(
        VARIATIONAL, nq=problem.nq, n=n, m=m,
        floats=numbers, integers={"order": n + 1, "row_order": m, "column_order": m},
        **{name: function.address for name, function in functions.items()},
        q=problem.q, v=problem.v, work=problem.work, multipliers=problem.multipliers,
        q_stage=problem.q_stage, v_stage=problem.v_stage,
        history=record.history, residual=record.residual, count=record.count, total=record.total,
    )  # fmt: skip
    memory["effort"][:] = _efforts(problem.equations, n)
    memory["reach"][:] = _reach(problem.equations)
    return memory


def _check(problem: Problem) -> None:
    """Raise where the discrete equations are not those of the system."""
    system = problem.equations
    if system.num_position_constraints != system.num_velocity_constraints:
        raise UsageError(
            f"RATTLie takes constraints of positions, and {_name(system)} has "
            f"{system.num_velocity_constraints - system.num_position_constraints} of velocities "
            f"alone, {_rolling(system)}; use mbkit.RungeKuttaMuntheKaas()."
        )
    x = 0.1 * np.cos(1.0 + np.arange(problem.ndx))
    limit = _SYMMETRIC * (1.0 + np.abs(problem.q).max(initial=0.0))
    back = np.asarray(system.difference(system.retract(problem.q, x), problem.q))
    if not np.abs(back + x).max(initial=0.0) <= limit:
        at = int(np.argmax(np.abs(back + x)))
        raise UsageError(
            f"RATTLie needs joints whose steps back are the way back, retract(retract(q, x), -x) = "
            f"q, and {_name(system)} has one that misses it by {abs(back[at] + x[at]):.1e} in "
            f"{_velocity(system, at)}; let its retract be symmetric, as the exponential is."
        )


def _efforts(system: Any, n: int) -> Any:
    """Return the constant efforts of joints (n,), whose work is summed in each step."""
    efforts = np.zeros(n)
    for force in getattr(system, "forces", ()):
        effort = constant_effort(system, force)
        if effort is not None:
            efforts[system.velocity_slice(force.joint)] += effort
    return efforts


def _reach(system: Any) -> float:
    """Return how far from the origin bodies are where all joints are at rest. [m]."""
    if not hasattr(system, "poses"):
        return 0.0
    poses = np.asarray(system.poses(system.reference_configuration()))
    return float(np.abs(poses[:, :3, 3]).max(initial=0.0))


def _name(system: Any) -> str:
    name = getattr(system, "name", None)
    return "the system" if name is None else f"system '{name}'"


def _velocity(system: Any, at: int) -> str:
    names = getattr(system, "velocity_names", None)
    return f"entry {at}" if names is None else f"'{names[at]}'"


def _rolling(system: Any) -> str:
    """Return the names of the rows that have no residual."""
    names = getattr(system, "constraint_names", ())
    positions = getattr(getattr(system, "arrays", None), "closure", None)
    if not positions:
        return "which are not integrable"
    left = [name for name in names if name not in positions.position_row_names]
    return f"such as '{left[0]}'" if left else "which are not integrable"


def constant_effort(system: Any, force: Any) -> float | None:
    """Return the effort of a force that is constant along a coordinate that adds; None for others.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("wheel")
    >>> wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> axle = mech.add_joint(mb.RevoluteJoint("axle"), mech.world, wheel)
    >>> motor = mech.add_force(mb.JointEffort("motor", "axle", effort=2.0))
    >>> constant_effort(mech.assemble(), motor)
    2.0
    """
    effort = getattr(force, "constant_effort", None)
    if effort is None:
        return None
    at_q, at_x = system.position_slice(force.joint), system.tangent_slice(force.joint)
    if at_q.stop - at_q.start != 1 or at_x.stop - at_x.start != 1:
        return None
    q, x = system.reference_configuration(), np.zeros(system.ndx)
    x[at_x] = 0.5
    moved = system.retract(q, x)[at_q] - q[at_q]
    return float(effort) if abs(moved[0] - 0.5) < 1e-12 else None

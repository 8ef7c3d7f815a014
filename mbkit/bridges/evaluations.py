"""Quantities of a system on other numbers: one table of names, arguments and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from mbkit.bridges import (
    body_terms,
    closed_dynamics,
    closed_kinematics,
    dynamics_terms,
    joint_reactions,
    terms,
)
from mbkit.errors import UsageError, check_kind
from mbkit.systems import System


@attrs.frozen
class Asked:
    """A quantity of a system, computed on traced numbers."""

    # names of the vectors that it depends on, besides parameters and time
    arguments: tuple[str, ...]
    # ``compute(trace, ..., **options)``, with the vectors but for q and v, returns an array of
    # numbers, or several by name
    compute: Callable[..., Any]
    # further arguments that are required, by the names of System's, and optional ones
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    # of quantities of any order: by how much the number of rates v, vdot, ... that they depend on
    # is larger than the order, and the arguments after these
    rates: tuple[int, str] | None = None


@attrs.frozen
class Derived:
    """Partial derivatives of a quantity, by CasADi."""

    # the quantity; where it is a name, one of the table
    of: Asked | str
    # the inputs by which each output is differentiated, one after the other
    by: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    # whether along steps of `System.retract`, or along motions of constant velocity
    along_velocities: bool = False


#: Options of a quantity at a frame, of one of all bodies, and of loaded bodies.
_FRAME = ("frame", "relative_to", "representation")
_FORM = ("representation",)
_LOADS = ("wrenches",)

EVALUATIONS: dict[str, Asked | Derived] = {
    # configurations
    "retract": Asked(("q", "dx"), terms.retract),
    "dexp": Asked(("dx", "rate"), terms.dexp),
    "dexp_inv": Asked(("dx", "rate"), terms.dexp_inv),
    "rates": Asked(("q", "v"), terms.rates),
    "position_rates": Asked(("q", "v"), terms.position_rates),
    "prescribed_state": Asked(("q", "v"), dynamics_terms.prescribed_state),
    # motion of bodies
    "poses": Asked(("q",), body_terms.poses),
    "twists": Asked(("q", "v"), body_terms.twists, takes=_FORM),
    "accelerations": Asked(("q", "v", "vdot"), body_terms.accelerations, takes=_FORM),
    "jerks": Asked(("q", "v", "vdot", "vddot"), body_terms.jerks, takes=_FORM),
    "body_derivatives": Asked(
        ("q",), body_terms.body_derivatives, ("order",), _FORM, rates=(1, "")
    ),
    "pose": Asked(("q",), body_terms.pose, ("body",), ("frame", "relative_to")),
    "twist": Asked(
        ("q", "v"), body_terms.twist, ("body",), (*_FRAME, "measured_in", "resolved_in")
    ),
    "acceleration": Asked(("q", "v", "vdot"), body_terms.acceleration, ("body",), _FRAME),
    "jacobian": Asked(("q",), body_terms.jacobian, ("body",), _FRAME),
    "jacobian_rate": Asked(
        ("q",), body_terms.jacobian_rate, ("body",), ("frame", "representation", "order"),
        rates=(0, ""),
    ),
    "jacobian_derivatives": Derived(
        "jacobian", needs=("body",), takes=("frame", "representation", "order"),
        along_velocities=True,
    ),
    "motion_subspaces": Asked(("q",), body_terms.motion_subspaces),
    "motion_subspace_rates": Asked(
        ("q",), body_terms.motion_subspace_rates, takes=("order",), rates=(0, "")
    ),
    "geometric_regressor": Asked(
        ("q",), body_terms.geometric_regressor, ("body",), ("frame", "representation")
    ),
    # energy and momentum
    "kinetic_energy": Asked(
        ("q", "v"), lambda trace: dynamics_terms.energies(trace, trace.v)["kinetic"]
    ),
    "potential_energy": Asked(("q",), lambda trace: dynamics_terms.energies(trace)["potential"]),
    "energies": Asked(("q", "v"), lambda trace: dynamics_terms.energies(trace, trace.v)),
    "momentum": Asked(("q", "v"), body_terms.momentum),
    "mass_action": Asked(("q", "x"), dynamics_terms.mass_action),
    "centre_of_mass": Asked(("q",), body_terms.centre_of_mass),
    "centre_of_mass_velocity": Asked(("q", "v"), body_terms.centre_of_mass_velocity),
    "centre_of_mass_acceleration": Asked(
        ("q", "v", "vdot"), body_terms.centre_of_mass_acceleration
    ),
    # Hamilton's equations, as `MomentumForm` has them
    "momenta": Asked(("q", "v"), lambda trace: dynamics_terms.mass_action(trace, trace.v)),
    "velocities": Asked(("q", "p"), dynamics_terms.velocities),
    "canonical_forward_dynamics": Asked(
        ("q", "p", "tau"), dynamics_terms.canonical_forward_dynamics
    ),
    # dynamics
    "forward_dynamics": Asked(
        ("q", "v", "tau"), dynamics_terms.forward_dynamics, takes=_LOADS
    ),
    "solve_dynamics": Asked(("q", "v", "tau"), closed_dynamics.solve_dynamics, takes=_LOADS),
    "inverse_dynamics": Asked(("q", "v", "vdot"), terms.inverse_dynamics, takes=_LOADS),
    "inverse_dynamics_rate": Asked(
        ("q", "v", "vdot", "vddot"), dynamics_terms.inverse_dynamics_rate
    ),
    "inverse_dynamics_second_rate": Asked(
        ("q", "v", "vdot", "vddot", "vdddot"), dynamics_terms.inverse_dynamics_rate
    ),
    "closed_inverse_dynamics": Asked(
        ("q", "v", "vdot", "tau"), closed_dynamics.inverse_dynamics_of_actuators, ("actuated",),
        ("minimise", *_LOADS),
    ),
    "hybrid_dynamics": Asked(
        ("q", "v", "tau", "vdot"), dynamics_terms.hybrid_dynamics, ("prescribed",), _LOADS
    ),
    "driving_efforts": Asked(("q", "v", "tau"), dynamics_terms.driving_efforts),
    "reaction": Asked(
        ("q", "v", "tau"), joint_reactions.reaction, ("joint",),
        ("on", "at", "expressed_in", "with_effort", "minimum_norm", "vdot", *_LOADS),
    ),
    # terms of the equations of motion
    "mass_matrix": Asked(("q",), terms.mass_matrix),
    "inverse_mass_matrix": Asked(("q",), dynamics_terms.inverse_mass_matrix),
    "mass_matrix_rate": Asked(("q", "v"), dynamics_terms.mass_matrix_rate),
    "mass_matrix_derivatives": Derived("mass_matrix", takes=("order",)),
    "inverse_mass_matrix_derivatives": Derived("inverse_mass_matrix", takes=("order",)),
    "bias_force": Asked(("q", "v"), terms.bias_force),
    "coriolis_matrix": Asked(("q", "v"), dynamics_terms.coriolis_matrix),
    "christoffel": Asked(("q",), dynamics_terms.christoffel),
    "inertial_regressor": Asked(("q", "v", "vdot"), dynamics_terms.inertial_regressor),
    "generalized_forces": Asked(("q", "v"), terms.applied_forces),
    "force_powers": Asked(("q", "v"), dynamics_terms.force_powers),
    "force_potentials": Asked(("q",), dynamics_terms.force_potentials),
    # constraints
    "constraint_residual": Asked(("q",), closed_kinematics.constraint_residual),
    "constraint_velocity": Asked(("q", "v"), closed_kinematics.constraint_velocity),
    "constraint_acceleration": Asked(("q", "v", "vdot"), closed_kinematics.constraint_acceleration),
    "constraint_bias": Asked(("q", "v"), closed_kinematics.constraint_bias),
    "constraint_jacobian": Asked(("q",), closed_kinematics.constraint_jacobian),
    "constraint_sizes": Asked(("q", "v"), closed_kinematics.constraint_sizes),
    "constraint_jacobian_velocity_derivative": Derived(
        Asked(("q", "v"), closed_kinematics.constraint_jacobian_velocity),
        {"constraint_jacobian_velocity_derivative": ("q",)},
    ),
    "constraint_force_derivative": Derived(
        Asked(("q", "multipliers"), closed_kinematics.constraint_force),
        {"constraint_force_derivative": ("q",)},
    ),
    "consistent_velocity": Asked(
        ("q", "v"), closed_kinematics.consistent_velocity, takes=("fixed",)
    ),
    "constrained_jacobian": Asked(
        ("q",), closed_kinematics.constrained_jacobian, ("independent",)
    ),
    "dependent_velocity": Asked(
        ("q", "v_independent"), closed_kinematics.dependent_velocity, ("independent",)
    ),
    "dependent_acceleration": Asked(
        ("q", "v", "vdot_independent"), closed_kinematics.dependent_acceleration, ("independent",)
    ),
    "dependent_jerk": Asked(
        ("q", "v", "vdot", "vddot_independent"), closed_kinematics.dependent_jerk, ("independent",)
    ),
    "dependent_rates": Asked(
        ("q",), closed_kinematics.dependent_rates, ("independent", "order"),
        rates=(1, "_independent"),
    ),
    # derivatives along steps of `System.retract`, by velocities, accelerations and efforts
    "inverse_dynamics_derivatives": Derived(
        "inverse_dynamics", {"d_q": ("q",), "d_v": ("v",)}, takes=_LOADS
    ),
    "inverse_dynamics_second_derivatives": Derived(
        "inverse_dynamics",
        {"d_qq": ("q", "q"), "d_vv": ("v", "v"), "d_qv": ("q", "v"), "d_mass": ("vdot", "q")},
        takes=_LOADS,
    ),
    "forward_dynamics_derivatives": Derived(
        "forward_dynamics", {"d_q": ("q",), "d_v": ("v",), "d_tau": ("tau",)}, takes=_LOADS
    ),
    "force_derivatives": Derived("generalized_forces", {"d_q": ("q",), "d_v": ("v",)}),
    "derivatives": Derived("", needs=("of", "by")),
}  # fmt: skip

_SEARCHES = "searches, with as many steps as it takes, which no expression has"

#: Methods of `System` that are no functions of CasADi: why, and the alternative.
REFUSED = {
    "assembly_modes": f"{_SEARCHES}; give the configurations that System.assembly_modes finds",
    "base_parameters": "finds ranks; take 'inertial_regressor' and the columns that "
    "System.base_parameters names",
    "close_loops": f"{_SEARCHES}; let casadi.rootfinder solve 'constraint_residual', whose "
    "derivative is 'constraint_jacobian'",
    "closed_motion": f"{_SEARCHES}; take 'dependent_rates' at configurations with closed loops",
    "diagnose": "finds ranks; call System.diagnose",
    "difference": "has logarithms that jump where a turn is by pi; let casadi.rootfinder solve "
    "'retract', or call System.difference",
    "equilibrium": f"{_SEARCHES}; let casadi.rootfinder or an optimiser solve 'inverse_dynamics' "
    "at rest",
    "geometric_base_parameters": "finds ranks; take 'geometric_regressor' and the columns that "
    "System.geometric_base_parameters names",
    "inverse_kinematics": f"{_SEARCHES}; let casadi.rootfinder or an optimiser solve 'pose', whose "
    "derivative is 'jacobian'",
    "linearize": "is no array; its matrices are derivatives of dynamics, "
    "'forward_dynamics_derivatives', with 'constrained_jacobian' in closed mechanisms",
    "mass_factor": "is no array; take 'mass_matrix' and casadi.ldl",
    "newton_euler": "is no array; take 'mass_matrix', 'coriolis_matrix' and 'bias_force'",
    "state_of": f"{_SEARCHES}; take 'poses' and 'twists' of the other system",
    "system_jacobian": "is no array; take 'jacobian' of each body",
}


def check_system(what: str, system: System, *, dynamic: bool, of_trees: bool = True) -> None:
    """Raise unless a system can be handed on: its class, its constraints, its drives."""
    check_kind(
        f"{what}: system", system, System, "an mbkit.System, what Mechanism.assemble returns"
    )
    if not dynamic:
        return
    if of_trees and system.arrays.closure:
        raise UsageError(
            f"{what}: system '{system.name}' has constraints ({system.constraint_names[0]!r} is "
            f"one), and this is of trees. Take the terms of its equations, such as 'mass_matrix' "
            f"and 'bias_force', which are those of the tree."
        )
    if system.motions:
        raise UsageError(
            f"{what}: joint {system.prescribed_joints[0]!r} of system '{system.name}' moves as it "
            f"is prescribed; leave it free, and prescribe its acceleration where you use the "
            f"function."
        )

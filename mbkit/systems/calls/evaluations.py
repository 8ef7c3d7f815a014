"""Evaluations of a system, as data: a compiled function, its arguments, its result."""

from __future__ import annotations

import attrs


@attrs.frozen(eq=False)
class Evaluation:
    """A function of the form of `mbkit.kernels.evaluation_form`, with its arguments and result.

    Attributes
    ----------
    function : str
        Its name.
    arguments : tuple of str
        Meaning of its vectors q, v and x; "" for one that it does not read.
    result : str
        Name of its result; `Arguments.shape` has the shape.
    module : str
        Its module below `mbkit.kernels`. "" for functions of each representation, such as
        `mbkit.kernels.hybrid.algorithms`: its recursions, with its operators.
    in_lanes : bool
        Whether batches compute several samples at once, where its function is one of mbkit's.
    changes_joints : bool
        Whether it needs changes of motion subspaces: see `Workspace.let_joints_change`.
    """

    function: str
    arguments: tuple[str, str, str]
    result: str
    module: str = ""
    in_lanes: bool = False
    changes_joints: bool = attrs.field(init=False)

    @changes_joints.default
    def _changes_joints(self) -> bool:
        return self.module.startswith(("derivatives.", "momentum."))


INVERSE_DYNAMICS = Evaluation("inverse_dynamics", ("q", "v", "vdot"), "tau", in_lanes=True)
FORWARD_DYNAMICS = Evaluation("forward_dynamics", ("q", "v", "tau"), "vdot", in_lanes=True)
HYBRID_DYNAMICS = Evaluation("hybrid_dynamics", ("q", "v", "known"), "found", in_lanes=True)
INVERSE_DYNAMICS_DERIVATIVES = Evaluation(
    "inverse_dynamics_derivatives", ("q", "v", "vdot"), "derivatives",
    "derivatives.inverse_dynamics", in_lanes=True,
)  # fmt: skip
FORWARD_DYNAMICS_DERIVATIVES = Evaluation(
    "forward_dynamics_derivatives", ("q", "v", "tau"), "derivatives of accelerations",
    "derivatives.forward_dynamics", in_lanes=True,
)  # fmt: skip
HYBRID_DYNAMICS_DERIVATIVES = Evaluation(
    "hybrid_dynamics_derivatives", ("q", "v", "known"), "derivatives of accelerations",
    "derivatives.forward_dynamics", in_lanes=True,
)  # fmt: skip
INVERSE_DYNAMICS_SECOND_DERIVATIVES = Evaluation(
    "inverse_dynamics_second_derivatives", ("q", "v", "vdot"), "second derivatives",
    "derivatives.second_order.inverse_dynamics", in_lanes=True,
)  # fmt: skip
MASS_MATRIX_DERIVATIVES = Evaluation(
    "mass_matrix_derivatives", ("q", "", ""), "mass matrix derivatives",
    "derivatives.mass_matrix", in_lanes=True,
)  # fmt: skip
INERTIAL_REGRESSOR = Evaluation(
    "inertial_regressor", ("q", "v", "vdot"), "regressor",
    "derivatives.inertial_regressor", in_lanes=True,
)  # fmt: skip
CORIOLIS_MATRIX = Evaluation(
    "coriolis_matrix", ("q", "v", ""), "M", "derivatives.coriolis_matrix", in_lanes=True
)
CANONICAL_FORWARD_DYNAMICS = Evaluation(
    "canonical_forward_dynamics", ("q", "p", "tau"), "v and pdot", "momentum.canonical",
    in_lanes=True,
)  # fmt: skip
MOMENTA_IN_WORLD = Evaluation(
    "momenta_in_world", ("q", "p", ""), "p", "momentum.canonical", in_lanes=True
)
MASS_MATRIX = Evaluation("mass_matrix", ("q", "", ""), "M", in_lanes=True)
MASS_ACTION = Evaluation(
    "mass_action", ("q", "x", ""), "tau", "recursions.mass_action", in_lanes=True
)
TWISTS = Evaluation("twists", ("q", "v", ""), "twists", in_lanes=True)
ACCELERATIONS = Evaluation("accelerations", ("q", "v", "vdot"), "twists", in_lanes=True)
JACOBIAN = Evaluation("jacobian", ("q", "", ""), "jacobian", in_lanes=True)
APPLY_WRENCHES = Evaluation("apply_wrenches", ("q", "", "wrenches"), "")

BODY_DERIVATIVES = Evaluation(
    "body_derivatives", ("q", "", "series"), "body derivatives", "higher_orders.motion",
    in_lanes=True,
)  # fmt: skip
JERKS = Evaluation("jerks", ("q", "", "series"), "twists", "higher_orders.jerks", in_lanes=True)
JACOBIAN_RATE = Evaluation(
    "jacobian_rate", ("q", "", "series"), "jacobian", "higher_orders.motion", in_lanes=True
)
MOTION_SUBSPACE_RATES = Evaluation(
    "motion_subspace_rates",
    ("q", "", "series"),
    "motion subspaces",
    module="higher_orders.subspaces",
    in_lanes=True,
)
INVERSE_DYNAMICS_RATE = Evaluation(
    "inverse_dynamics_rate", ("q", "", "series"), "tau", "higher_orders.inverse_dynamics",
    in_lanes=True,
)  # fmt: skip
MOTION_SUBSPACES = Evaluation(
    "motion_subspaces", ("q", "", ""), "motion subspaces", "recursions.motion_subspaces",
    in_lanes=True,
)  # fmt: skip
POSES = Evaluation("poses", ("q", "", ""), "poses", "recursions.poses")
RETRACT = Evaluation("retract", ("q", "dx", ""), "q", "configuration")
DIFFERENCE = Evaluation("difference", ("q0", "q1", ""), "dx", "configuration")
DEXP = Evaluation("dexp", ("dx", "rate", ""), "dx", module="configuration")
DEXP_INV = Evaluation("dexp_inv", ("dx", "rate", ""), "dx", module="configuration")
RATES = Evaluation("rates", ("q", "v", ""), "dx", "configuration")
ENERGIES = Evaluation("energies", ("q", "v", ""), "energies", "recursions.energy", in_lanes=True)
MOMENTUM = Evaluation("momentum", ("q", "v", ""), "momentum", "recursions.energy", in_lanes=True)

GENERALIZED_FORCES = Evaluation(
    "generalized_forces", ("q", "v", "t"), "tau", "forces.force_pass", in_lanes=True
)
FORCE_DERIVATIVES = Evaluation(
    "force_derivatives", ("q", "v", "t"), "derivatives", "derivatives.forces", in_lanes=True
)
FORCE_POWERS = Evaluation(
    "force_powers", ("q", "v", "t"), "powers", "forces.force_pass", in_lanes=True
)
FORCE_POTENTIALS = Evaluation(
    "force_potentials", ("q", "", "t"), "potentials", "forces.force_pass", in_lanes=True
)
FORCE_WRENCHES = Evaluation(
    "force_wrenches", ("q", "v", "t"), "force wrenches", "forces.wrenches", in_lanes=True
)

CONSTRAINED_DYNAMICS = Evaluation(
    "constrained_dynamics",
    ("q", "v", "tau"),
    "vdot",
    "constraints.solve.dynamics",
    in_lanes=True,
)
SOLVED_DYNAMICS = Evaluation(
    "solved_dynamics",
    ("q", "v", "tau, t and pull"),
    "solution",
    "constraints.solve.dynamics",
    in_lanes=True,
)
# of the states that a result has: see `LEAST_STATES` of `mbkit.systems.calls.lanes`
STORED_DYNAMICS = attrs.evolve(SOLVED_DYNAMICS, in_lanes=False)
CONSTRAINT_STATE = Evaluation(
    "constraint_state",
    ("q", "v", "vdot and t"),
    "constraint state",
    "constraints.evaluate",
    in_lanes=True,
)
STORED_CONSTRAINT_STATE = attrs.evolve(CONSTRAINT_STATE, in_lanes=False)
CONSTRAINT_VELOCITY_DERIVATIVE = Evaluation(
    "velocity_derivative", ("q", "v", "t"), "constraint velocity derivative",
    "derivatives.constraints", in_lanes=True,
)  # fmt: skip
CONSTRAINT_FORCE_DERIVATIVE = Evaluation(
    "force_derivative", ("q", "multipliers", "t"), "constraint force derivative",
    "derivatives.constraints", in_lanes=True,
)  # fmt: skip
CONSTRAINT_JACOBIAN = Evaluation(
    "constraint_jacobian", ("q", "", "t"), "constraint jacobian", "constraints.jacobian",
    in_lanes=True,
)  # fmt: skip
CONSTRAINT_SIZES = Evaluation(
    "constraint_sizes", ("q", "v", "t"), "constraint sizes", "constraints.jacobian", in_lanes=True
)
CLOSED_HYBRID_DYNAMICS = Evaluation(
    "closed_hybrid_dynamics",
    ("q", "v", "known, t and pull"),
    "closed hybrid",
    "constraints.solve.dynamics",
    in_lanes=True,
)
MINIMUM_NORM_MULTIPLIERS = Evaluation(
    "minimum_norm_multipliers", ("q", "", "multipliers and t"), "multipliers",
    module="constraints.solve.minimum_norm_multipliers",
)  # fmt: skip
CONSTRAINT_WRENCHES = Evaluation(
    "constraint_wrenches",
    ("q", "", "multipliers and t"),
    "site wrenches",
    "constraints.wrenches",
    in_lanes=True,
)

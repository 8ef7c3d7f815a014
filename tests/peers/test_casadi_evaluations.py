"""Every evaluation of a tree as a function of CasADi, against the system itself."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import mbkit as mb
from mbkit.bridges.evaluations import EVALUATIONS, REFUSED
from mbkit.lie.arrays import hat
from mbkit.representations.arguments import blocks
from tests.joints.pose_only import AxisJoint, FreeTwin
from tests.reference.user_joints import BallJoint, EllipseJoint
from tests.trees import MAKERS, random_inertia, random_mechanism, random_pose, random_state

casadi = pytest.importorskip("casadi")

REPRESENTATIONS = (mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed())

#: Trees that have every joint together, each in one representation.
KINDS = [tuple(MAKERS)[k::6] for k in range(6)]

FRAME = random_pose(np.random.default_rng(3))


def in_a_row(array):
    """Return an array as a matrix: of more than two axes the matrices of the last two in a row."""
    array = np.asarray(array, dtype=float)
    if array.ndim < 2:
        return array.reshape(-1, 1)
    return np.hstack(array.reshape(-1, *array.shape[-2:])) if array.ndim > 2 else array


def assert_same(found, expected, tolerance=1e-12):
    found, expected = found.full(), in_a_row(expected)
    assert found.shape == expected.shape
    size = max(1.0, np.abs(expected).max(initial=0.0))
    assert np.abs(found - expected).max(initial=0.0) <= tolerance * size


def assert_computes(system, given, evaluation, expected, tolerance=1e-12, **options):
    """Assert that a function gives what is expected, for its inputs by name."""
    function = mb.casadi_function(system, evaluation, **options)
    found = function(*(given[name] for name in function.name_in()))
    found = found if isinstance(found, tuple) else (found,)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for each, right in zip(found, expected, strict=True):
        assert_same(each, right, tolerance)


def inputs_of(rng, system):
    """Return a state, and other vectors, by the names that functions have for them."""
    state = random_state(rng, system)
    given = {"q": state.q, "v": state.v, "vdot": state.vdot, "tau": state.tau, "t": 0.41}
    others = rng.normal(size=(4, system.nv))
    given |= dict(zip(("vddot", "vdddot", "x", "p"), others, strict=True))
    steps = 0.3 * rng.normal(size=(2, system.ndx))
    return given | {"dx": steps[0], "rate": steps[1], "v3": given["vdddot"]}


@functools.cache
def tree(k):
    """Return the k-th tree, bodies with named frames, and a state of it."""
    rng = np.random.default_rng(40 + k)
    mechanism = random_mechanism(rng, len(KINDS[k]) + 1, KINDS[k])
    mechanism.add_frame("body1", "tool", FRAME)
    mechanism.add_force(mb.Drag("drag", "body1", linear=0.1, quadratic=0.3))
    mechanism.add_force(mb.SpringDamper("rope", "body0", "body1", stiffness=10.0, damping=1.0))
    wrenches = rng.normal(size=(5, 6))
    mechanism.add_force(mb.BodyWrench("pull", "body1", wrenches, times=np.arange(5) * 0.2))
    system = mechanism.assemble(mb.RelativeCoordinates(REPRESENTATIONS[k % 4]))
    return system, inputs_of(rng, system)


def by_methods(*names):
    """Return a case that has the value of the method of the same name, of arguments by name."""

    def value(system, given, evaluation, options):
        timed = {"t": given["t"]} if "t" in names else {}
        vectors = [given[name] for name in names if name != "t"]
        body = [options[name] for name in ("body",) if name in options]
        rest = {name: x for name, x in options.items() if name not in ("body", "order")}
        return getattr(system, evaluation)(*body, *vectors, **timed, **rest)

    return value


def of(value):
    """Return a case with a value of system and inputs."""
    return lambda system, given, *_: value(system, given)


def potential(system, given):
    q = given["q"]
    return system.potential_energy(q) + system.force_potentials(q, given["t"]).sum()


def total(system, given):
    return system.momentum(given["q"], given["v"])


TOOL = {"body": "tool", "frame": FRAME, "relative_to": "body2"}
NAMED = {"body": "body1", "frame": FRAME, "measured_in": "body2", "resolved_in": "tool"}
OTHER = {"representation": mb.Mixed()}
MOTION = ("q", "v", "vdot")

#: Evaluations, with options, and what they must be.
CASES = [
    ("retract", {}, by_methods("q", "dx")),
    ("dexp", {}, by_methods("dx", "rate")),
    ("dexp_inv", {}, by_methods("dx", "rate")),
    ("rates", {}, by_methods("q", "v")),
    ("position_rates", {}, by_methods("q", "v")),
    ("poses", {}, by_methods("q")),
    ("twists", OTHER, by_methods("q", "v")),
    ("accelerations", OTHER, by_methods(*MOTION)),
    ("jerks", OTHER, by_methods(*MOTION, "vddot")),
    (
        "body_derivatives",
        OTHER | {"order": 2},
        of(lambda s, g: np.vstack(
            s.body_derivatives(g["q"], [g["v"], g["vdot"], g["vddot"]], **OTHER)
        )),
    ),
    ("pose", TOOL, by_methods("q")),
    ("twist", TOOL, by_methods("q", "v")),
    ("twist", NAMED, by_methods("q", "v")),
    ("acceleration", TOOL | OTHER, by_methods(*MOTION)),
    ("jacobian", TOOL | OTHER, by_methods("q")),
    ("jacobian_rate", {"body": "tool", "order": 2} | OTHER, by_methods(*MOTION)),
    ("jacobian_rate", {"body": "body1"} | OTHER, by_methods("q", "v")),
    (
        "jacobian_derivatives",
        {"body": "tool", "order": 2},
        of(lambda s, g: s.jacobian_derivatives("tool", g["q"], 2)),
    ),
    ("motion_subspaces", {}, by_methods("q")),
    ("motion_subspace_rates", {"order": 2}, by_methods(*MOTION)),
    ("geometric_regressor", {"body": "tool"} | OTHER, by_methods("q")),
    ("kinetic_energy", {}, by_methods("q", "v")),
    ("potential_energy", {}, of(potential)),
    ("energies", {}, of(lambda s, g: (s.kinetic_energy(g["q"], g["v"]), potential(s, g)))),
    ("momentum", {}, of(total)),
    ("mass_action", {}, by_methods("q", "x")),
    ("centre_of_mass", {}, by_methods("q")),
    ("centre_of_mass_velocity", {}, of(lambda s, g: total(s, g)[3:] / s.mass)),
    ("momenta", {}, of(lambda s, g: mb.MomentumForm(s).momenta(g["q"], g["v"]))),
    ("velocities", {}, of(lambda s, g: mb.MomentumForm(s).velocities(g["q"], g["p"]))),
    (
        "canonical_forward_dynamics",
        {},
        of(lambda s, g: mb.MomentumForm(s).canonical_forward_dynamics(
            g["q"], g["p"], g["tau"], t=g["t"]
        )),
    ),
    ("forward_dynamics", {}, by_methods("q", "v", "tau", "t")),
    ("inverse_dynamics", {}, by_methods(*MOTION, "t")),
    ("inverse_dynamics_rate", {}, by_methods(*MOTION, "vddot", "t")),
    ("mass_matrix", {}, by_methods("q")),
    ("inverse_mass_matrix", {}, of(lambda s, g: np.linalg.inv(s.mass_matrix(g["q"])))),
    ("mass_matrix_rate", {}, by_methods("q", "v")),
    ("bias_force", {}, by_methods("q", "v")),
    ("coriolis_matrix", {}, by_methods("q", "v")),
    ("christoffel", {}, by_methods("q")),
    ("inertial_regressor", {}, by_methods(*MOTION)),
    ("generalized_forces", {}, by_methods("q", "v", "t")),
    ("force_powers", {}, by_methods("q", "v", "t")),
    ("force_potentials", {}, by_methods("q", "t")),
]  # fmt: skip


@pytest.mark.some(6)
@pytest.mark.parametrize("k", range(len(KINDS)))
@pytest.mark.parametrize(
    ("evaluation", "options", "value"),
    CASES,
    ids=[f"{name}{n}" for n, (name, *_) in enumerate(CASES)],
)
def test_values(evaluation, options, value, k):
    """Of every joint, in four representations, with forces that depend on time."""
    system, given = tree(k)
    expected = value(system, given, evaluation, options)
    assert_computes(system, given, evaluation, expected, **options)


DERIVATIVES = [
    ("inverse_dynamics_derivatives", {}, by_methods(*MOTION, "t")),
    ("forward_dynamics_derivatives", {}, by_methods("q", "v", "tau", "t")),
    ("force_derivatives", {}, by_methods("q", "v", "t")),
    ("mass_matrix_derivatives", {}, by_methods("q")),
    (
        "mass_matrix_derivatives",
        {"order": 2},
        of(lambda s, g: s.mass_matrix_derivatives(g["q"], 2)),
    ),
    ("inverse_mass_matrix_derivatives", {}, by_methods("q")),
]  # fmt: skip


@pytest.mark.some(6)
@pytest.mark.parametrize("k", range(len(KINDS)))
@pytest.mark.parametrize(
    ("evaluation", "options", "value"),
    DERIVATIVES,
    ids=[f"{name}{n}" for n, (name, *_) in enumerate(DERIVATIVES)],
)
def test_derivatives(evaluation, options, value, k):
    system, given = tree(k)
    expected = value(system, given, evaluation, options)
    assert_computes(system, given, evaluation, expected, 1e-10, **options)


@pytest.mark.some(6)
@pytest.mark.parametrize("k", range(len(KINDS)))
def test_second_rates_and_derivatives_of_efforts(k):
    """Without forces, which the system differentiates by differences here."""
    system, given = tree(k)
    bare = system.without_forces()
    motion = [given[name] for name in MOTION]
    rate = bare.inverse_dynamics_second_rate(*motion, given["vddot"], given["vdddot"])
    assert_computes(bare, given, "inverse_dynamics_second_rate", rate)
    second = bare.inverse_dynamics_second_derivatives(*motion)
    assert_computes(bare, given, "inverse_dynamics_second_derivatives", second, 1e-10)


def test_second_rates_of_forces():
    """Of a spring, x'' k, and of the time of a table, beside those of the bodies."""
    mech = mb.Mechanism("mass", gravity=(0, 0, 0))
    mass = mech.add_body(mb.Body("mass", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, mass)
    mech.add_force(mb.JointSpring("spring", "slide", stiffness=100.0))
    mech.add_force(mb.ForceFunction("drive", lambda t, q, v: [t**3 + v[0]], joints="slide"))
    function = mb.casadi_function(mech.assemble(), "inverse_dynamics_second_rate")
    assert function.name_in() == ["q", "v", "vdot", "vddot", "vdddot", "t"]
    found = float(function(0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    assert found == pytest.approx(2.0 * 0.5 + 100.0 * 0.3 - 6.0 * 0.6 - 0.4, abs=1e-12)


def test_accelerations_of_the_centre_of_mass():
    """Newton's law: what the joint to the world bears holds all bodies, and moves their centre."""
    system, given = tree(0)
    motion = [given[name] for name in MOTION]
    function = mb.casadi_function(system, "centre_of_mass_acceleration")
    found = function(*motion).full().ravel()
    inertias = system.inertias.masses[1:], system.inertias.coms[1:]
    bodies = zip(system.body_names[1:], *inertias, strict=True)
    expected = sum(
        m * system.acceleration(
            name, *motion, frame=mb.spatial.translation(c), representation=mb.Hybrid()
        )[3:]
        for name, m, c in bodies
    )  # fmt: skip
    assert np.allclose(found, expected / system.mass, rtol=1e-12, atol=1e-12)


class OwnAxes(mb.Representation):
    """A user's: mixed twists, of which no kernel of higher orders knows."""

    name = "own axes"
    kernel_package = "mbkit.kernels.mixed"

    def twist_map(self, C):
        return blocks(np.eye(3), np.asarray(C)[..., :3, :3])

    def twist_map_rate(self, C, V_b):
        return blocks(np.zeros((3, 3)), np.asarray(C)[..., :3, :3] @ hat(V_b[..., :3]))


@pytest.mark.parametrize(
    ("evaluation", "options", "arguments"),
    [
        ("jerks", {}, (*MOTION, "vddot")),
        ("body_derivatives", {"order": 2}, (*MOTION, "vddot")),
        ("jacobian_rate", {"body": "body2"}, ("q", "v")),
        ("jacobian_rate", {"body": "body2", "order": 2}, MOTION),
    ],
)
def test_higher_orders_in_a_representation_of_a_user(evaluation, options, arguments):
    """As in its twin among the four, of which kernels know the series."""
    mechanism = random_mechanism(np.random.default_rng(5), len(KINDS[1]) + 1, KINDS[1])
    twin, own = (
        mechanism.assemble(mb.RelativeCoordinates(form)) for form in (mb.Mixed(), OwnAxes())
    )
    given = inputs_of(np.random.default_rng(6), twin)
    motion = [given[name] for name in arguments]
    if evaluation == "body_derivatives":
        expected = np.vstack(twin.body_derivatives(motion[0], motion[1:]))
    else:
        body = [options["body"]] if "body" in options else []
        expected = getattr(twin, evaluation)(*body, *motion)
    assert_computes(own, given, evaluation, expected, **options)
    chosen = {"representation": OwnAxes(), **options}
    other = mechanism.assemble(mb.RelativeCoordinates(mb.Spatial()))
    assert_computes(other, given, evaluation, expected, 1e-11, **chosen)


#: Evaluations that need the derivatives of motion subspaces, or series.
OF_PYTHON = (
    "coriolis_matrix", "christoffel", "canonical_forward_dynamics", "inverse_dynamics_rate",
    "mass_matrix_derivatives", "motion_subspace_rates", "retract", "dexp", "dexp_inv",
)  # fmt: skip


@pytest.mark.some(7)
@pytest.mark.parametrize("evaluation", OF_PYTHON)
def test_joints_in_python(evaluation):
    rng = np.random.default_rng(5)
    mechanism = mb.Mechanism("own")
    parent = mechanism.world
    for joint in (
        FreeTwin("free"), AxisJoint("axis", (1, 2, 3), (0.1, 0.2, 0.3), shift=0.1),
        EllipseJoint("ellipse", 0.3, 0.5), BallJoint("ball"),
    ):  # fmt: skip
        body = mechanism.add_body(mb.Body(f"of {joint.name}", random_inertia(rng)))
        mechanism.add_joint(joint, parent, body)
        parent = body
    system = mechanism.assemble()
    given = inputs_of(rng, system)
    value = next(value for name, _, value in [*CASES, *DERIVATIVES] if name == evaluation)
    options = {"order": 1} if evaluation == "motion_subspace_rates" else {}
    expected = (
        system.motion_subspace_rates(given["q"], given["v"])
        if options
        else value(system, given, evaluation, {})
    )
    assert_computes(system, given, evaluation, expected, 1e-10, **options)


PARAMETRISED = (
    ("inertial_regressor", {}), ("christoffel", {}), ("centre_of_mass", {}),
    ("canonical_forward_dynamics", {}), ("inverse_dynamics_derivatives", {}),
    ("geometric_regressor", {"body": "body3"}), ("twist", TOOL), ("momenta", {}),
    ("motion_subspaces", {}),
)  # fmt: skip


@pytest.mark.some(9)
@pytest.mark.parametrize(("evaluation", "options"), PARAMETRISED)
def test_parameters_stay_free(evaluation, options):
    """Inertias, gravity, the place of a joint: as of a system that has been changed."""
    system, given = tree(2)
    rng = np.random.default_rng(12)
    place = next(f"joints.{name}.S_pred" for name in system.joint_names)
    values = {
        "bodies.body1.mass": 2.3, "bodies.body1.com": rng.normal(size=3),
        "gravity": rng.normal(size=3), place: random_pose(rng),
    }  # fmt: skip
    changed = system.with_parameters(values)
    names = {path: f"p{k}" for k, path in enumerate(values)}
    given = given | {names[path]: value for path, value in values.items()}
    reference = mb.casadi_function(changed, evaluation, **options)
    expected = reference(*(given[name] for name in reference.name_in()))
    expected = expected if isinstance(expected, tuple) else (expected,)
    full = tuple(each.full() for each in expected)
    assert_computes(system, given, evaluation, full, 1e-11, parameters=names, **options)


def test_derivatives_by_anything():
    """By the state, efforts, time and parameters, as `System.derivatives`."""
    system, given = tree(5)
    place = f"joints.{system.joint_names[0]}.S_pred"
    moment = "bodies.body1.moment_about_com"
    free = ["bodies.body1.mass", moment, place, "forces.rope.stiffness"]
    by = ["q", "v", "tau", "t", *free]
    function = mb.casadi_function(system, "derivatives", of="forward_dynamics", by=by,
                                  parameters=free)  # fmt: skip
    assert function.name_out()[:2] == ["forward_dynamics_by_q", "forward_dynamics_by_v"]
    values = [given[name] for name in ("q", "v", "tau")]
    parameters = [system.parameters[name] for name in free]
    found = function(*values, *parameters, given["t"])
    expected = system.derivatives("forward_dynamics", *values, by=by, t=given["t"])
    for name, each in zip(by, found, strict=True):
        assert_same(each, expected[name], 1e-10)


def test_the_table_is_complete():
    """Each method of the system that returns numbers of a state is there, or refused by name."""
    others = {  # what is no function of the state, or of another system
        "body_index", "checked", "configuration", "draw", "in_single_precision", "joint_slice",
        "known", "position_slice", "reference_configuration", "solve_hybrid", "solved",
        "start_of_tree", "tangent_slice", "time_to_lock", "velocity", "velocity_slice",
        "with_constraint_solver", "with_forces", "with_locked", "with_parameters",
        "without_forces", "prescribed_rows", "check_motion",
    }  # fmt: skip
    methods = {
        name
        for name, method in vars(mb.System).items()
        if callable(method) and not name.startswith("_")
    }
    assert methods - {*EVALUATIONS} - {*REFUSED} - others == set()
    tested = {name for name, *_ in [*CASES, *DERIVATIVES]}
    assert len(tested) > 40
    assert not {*EVALUATIONS} & {*REFUSED}


@pytest.mark.parametrize("evaluation", ["close_loops", "equilibrium", "mass_factor", "difference"])
def test_what_searches_is_refused_with_a_remedy(evaluation):
    system, _ = tree(0)
    with pytest.raises(mb.UsageError, match=f"'{evaluation}' .*(casadi|take|let)"):
        mb.casadi_function(system, evaluation)


@pytest.mark.parametrize(
    ("evaluation", "options", "match"),
    [
        ("inertial_regressor", {"frame": FRAME}, "takes no frame"),
        ("dependent_rates", {"order": 1}, "needs joints, or single velocities"),
        ("derivatives", {"of": "poses"}, "needs the inputs"),
        ("derivatives", {"of": "poses", "by": ["p"]}, "no input 'p'"),
        ("derivatives", {"of": "christoffels", "by": ["q"]}, "of must be"),
        ("mass_matrix_derivatives", {"order": 0}, "order must be a whole number, 1 to 4"),
        ("driving_efforts", {}, "no prescribed joint"),
        ("prescribed_state", {}, "no prescribed joint"),
        ("constraint_velocity", {}, "no constraints"),
    ],
)
def test_options_are_those_of_the_evaluation(evaluation, options, match):
    system, _ = tree(0)
    with pytest.raises(mb.MbkitError, match=match):
        mb.casadi_function(system, evaluation, **options)

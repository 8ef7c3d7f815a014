"""Derivatives of dynamics by state, time and parameters: against complex steps and differences."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import bricard, four_bar, spatial_slider_crank, stewart_platform
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SE3
from tests.closed_loops.planar_four_bar import PlanarFourBar, Rod
from tests.constraints.examples import EXAMPLES
from tests.constraints.test_built_in import _mechanism
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.trees import random_inertia, random_mechanism, random_state

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


def assert_close(found, expected, tolerance=1e-10, size=0.0):
    """Compare to a part of the largest entry, or of what the derivatives are of."""
    size = max(size, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * size)


def by_differences(function, moves):
    """Return the derivatives of function(*argument) along moves, by differences of parts of it."""
    size = np.abs(function(*moves[0](0.0))).max()

    def rate(move):
        def part(e):
            return np.asarray(function(*move(e))) / size

        try:
            return derivative(part)
        except mb.ParameterError:  # the parameter has its least value
            return derivative(part, 1)

    return size * np.stack([rate(move) for move in moves], -1)


#: Symmetric matrices along which moments of inertia are moved.
SYMMETRIC = [
    0.1 * np.array(each).reshape((3, 3))
    for each in ([1, 0, 0, 0, 1, 0, 0, 0, 1], [0, 1, 0, 1, 0, 0, 0, 0, 0],
                 [0, 0, 1, 0, 1, 2, 1, 2, 0])
]  # fmt: skip


def moves_of(system, name, state):
    """Return how an input is moved along each of its entries: a number to a system and a state."""
    q, v, x, t = state
    if name == "q":
        steps = np.eye(system.ndx)
        return [lambda e, s=s: (system, system.retract(q, e * s), v, x, t) for s in steps]
    if name == "v":
        return [lambda e, s=s: (system, q, v + e * s, x, t) for s in np.eye(system.nv)]
    if name in ("tau", "vdot"):
        return [lambda e, s=s: (system, q, v, x + e * s, t) for s in np.eye(system.nv)]
    if name == "t":
        return [lambda e: (system, q, v, x, t + e)]
    value = np.asarray(system.parameters[name])
    if value.shape == (4, 4):
        values = [lambda e, s=s: value @ SE3.exp(e * s) for s in np.eye(6)]
    elif name.endswith("moment_about_com"):
        size = np.abs(value).max()
        values = [lambda e, s=s: value + size * e * s for s in SYMMETRIC]
    else:
        units = np.eye(value.size).reshape((-1, *value.shape))
        values = [lambda e, s=s: value + e * s for s in units]
    return [lambda e, m=m: (system.with_parameters({name: m(e)}), *state) for m in values]


def flat(system, found, name):
    """Return a derivative with one axis for what `moves_of` moves."""
    if name.endswith("moment_about_com"):
        size = np.abs(system.parameters[name]).max()
        return np.stack([size * (found * s).sum((-2, -1)) for s in SYMMETRIC], -1)
    return found.reshape((len(found), -1))


def accelerations(system, q, v, tau, t):
    """Accelerations and multipliers, with the mechanism's forces."""
    given = tau + system.generalized_forces(q, v, t)
    return np.concatenate(system.without_forces().solve_dynamics(q, v, given, t=t))


def check(system, state, by, tolerance=1e-10):
    """Compare all derivatives of forward dynamics with differences of its results."""
    q, v, tau, t = state
    found = system.derivatives("forward_dynamics", q, v, tau, by=by, t=t)
    for name in by:
        both = np.concatenate([found.vdot[name], found.multipliers[name]])
        expected = by_differences(accelerations, moves_of(system, name, state))
        size = np.abs(found.values["vdot"]).max()
        assert_close(flat(system, both, name), expected, tolerance, size)


# ------------------------------------------------------------------------- closed mechanisms


def test_a_planar_linkage_against_complex_steps():
    """Twelve rows of which most depend on others; Eksergian's equation for the crank."""
    lengths = four_bar.CRANK, four_bar.COUPLER, four_bar.ROCKER
    system = four_bar.build().assemble()
    rods = [
        Rod(length, *(float(x) for x in (system.parameters[f"bodies.{n}.mass"],
                                         system.parameters[f"bodies.{n}.moment_about_com"][2, 2])))
        for n, length in zip(("crank", "coupler", "rocker"), lengths, strict=True)
    ]  # fmt: skip
    linkage = PlanarFourBar(four_bar.GROUND, *rods)
    a, w, effort, h = four_bar.START, four_bar.RATE, 0.7, 1e-30

    def slope(function, x):
        return function(x + 1j * h).imag / h

    def acceleration(linkage, a, w, effort):
        J = linkage.reduced_inertia(a).real
        pull = 0.5 * slope(linkage.reduced_inertia, a) * w**2 + slope(linkage.potential_energy, a)
        return (effort - pull) / J

    q, v = system.reference_configuration(), four_bar.initial_velocity(system, w)
    crank = system.velocity_slice("A").start
    tau = effort * np.eye(system.nv)[crank]
    by = ("q", "v", "tau", "t", "bodies.coupler.mass", "gravity")
    found = system.derivatives("forward_dynamics", q, v, tau, by=by)
    size = acceleration(linkage, a, w, effort)
    assert_close(found.values["vdot"][crank], size, 1e-12)
    assert_close(found["tau"][crank, crank], 1.0 / linkage.reduced_inertia(a), 1e-12)
    assert not found["t"].any()
    # along the motion with a constant rate of the crank, on which the other velocities change
    turning = system.dependent_acceleration(q, v, {"A": 0.0})
    along = (found["q"] @ v + found["v"] @ turning) / w
    assert_close(along[crank], derivative(lambda e: acceleration(linkage, a + e, w, effort)), 1e-10)
    assert_close(
        found["v"][crank] @ v / w, -slope(linkage.reduced_inertia, a) * w
        / linkage.reduced_inertia(a), 1e-11,
    )  # fmt: skip

    def heavier(mass):
        rod = attrs.evolve(rods[1], mass=rods[1].mass + mass)
        return acceleration(attrs.evolve(linkage, coupler=rod), a, w, effort)

    assert_close(found["bodies.coupler.mass"][crank], derivative(heavier))
    # gravity is along -y
    rate = -slope(linkage.potential_energy, a) / linkage.gravity / linkage.reduced_inertia(a)
    assert_close(found["gravity"][crank, 1], -rate, 1e-11)
    # the effort that turns the crank with a given acceleration: hybrid dynamics
    driven = system.derivatives(
        "hybrid_dynamics", q, v, vdot=2.0 * np.eye(system.nv)[crank], prescribed=["A"],
        by=("vdot", "v", "bodies.coupler.mass"),
    )  # fmt: skip
    J = linkage.reduced_inertia(a)
    assert_close(driven.tau["vdot"][crank, crank], J, 1e-12)
    assert_close(driven.tau["v"][crank] @ v / w, slope(linkage.reduced_inertia, a) * w, 1e-11)

    def driving(mass):
        rod = attrs.evolve(rods[1], mass=rods[1].mass + mass)
        heavier = attrs.evolve(linkage, coupler=rod)
        needed = 0.5 * slope(heavier.reduced_inertia, a) * w**2
        needed += slope(heavier.potential_energy, a)
        return needed + 2.0 * heavier.reduced_inertia(a)

    assert_close(driven.tau["bodies.coupler.mass"][crank], derivative(driving))


MECHANISMS = {
    "slider-crank": (
        spatial_slider_crank,
        ("bodies.rod.moment_about_com", "bodies.rod.com", "joints.cross.S_pred",
         "joints.pivot.axis", "joints.ball.S_succ"),
    ),
    "stewart": (
        stewart_platform,
        ("gravity", "bodies.platform.mass", "joints.leg1.axis", "joints.foot2.S_pred"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("slider-crank", False), pytest.param("slider-crank", True, marks=pytest.mark.long),
     pytest.param("stewart", True, marks=pytest.mark.long)],
)  # fmt: skip
def test_closed_mechanisms(name, parameters):
    """Without redundant rows: along all steps and parameters, with a spring."""
    example, more = MECHANISMS[name]
    mech = example.build()
    joints = [n for n, edge in mech.joints.items() if edge.joint.num_velocities == 1]
    mech.add_force(mb.JointSpring("spring", joints[0], stiffness=7.0, rest=0.2))
    system = mech.assemble()
    rng = np.random.default_rng(5)
    q = system.reference_configuration()
    A = system.constraint_jacobian(q)
    assert np.linalg.matrix_rank(A) == len(A)
    v = np.linalg.svd(A)[2][len(A) :].T @ rng.normal(size=system.nv - len(A))
    state = q, v, rng.normal(size=system.nv), 0.3
    by = ("forces.spring.stiffness", *more) if parameters else ("q", "v", "tau", "t")
    check(system, state, by)


@pytest.fixture(scope="module")
def loaded():
    """A tree of joints with several velocities under forces of every kind, and a state of it."""
    rng = np.random.default_rng(6)
    mech, single = tree(rng, 8)
    for force in every_force(rng, mech, (single * 4)[:4]):
        mech.add_force(force)
    system = mech.assemble()
    state = random_state(rng, system)
    return mech, system, state


#: One number of each kind, of a tree that is made anew.
SOME = (
    "gravity", "bodies.body6.mass", "bodies.body2.com", "bodies.body7.moment_about_com",
    "joints.joint2.S_pred", "joints.joint4.S_succ",
    "joints.joint0.axis", "joints.joint6.point", "forces.pair.stiffness", "forces.drag.point",
    "forces.mount.damping", "forces.spline.effort",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.some(4)
@each_representation
def test_trees(loaded, representation):
    """Forward dynamics of joints with several velocities, under forces of every kind."""
    mech, _, state = loaded
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    check(system, (state.q, state.v, state.tau, 0.45), ("q", "v", "tau", "t"))


@pytest.mark.long
@pytest.mark.parametrize("name", SOME)
def test_parameters_of_trees(loaded, name):
    _, system, state = loaded
    check(system, (state.q, state.v, state.tau, 0.45), (name,))


@pytest.mark.long
@pytest.mark.some(3)
@pytest.mark.parametrize("axis", [(0.3, -0.5, 0.7), (0.2, 0.6, -1.3), (0.0, 0.0, -1.0)])
def test_axes_whose_frames_matter(axis):
    """Coordinates in a plane and about a shaft turn with the frame on the axis."""
    mech, parent = mb.Mechanism("axes", gravity=(1.0, 2.0, 3.0)), "world"
    rng = np.random.default_rng(9)
    point = {"axis": axis, "point": (0.1, -0.2, 0.3)}
    for joint in (
        mb.PlanarJoint("planar", **point), mb.ConstantVelocityJoint("shaft", **point),
        mb.SchoenfliesJoint("scara", **point), mb.HelicalPlanarJoint("nut", pitch=0.2, **point),
        mb.CylindricalJoint("rod", **point),
    ):  # fmt: skip
        body = mech.add_body(mb.Body(f"of {joint.name}", random_inertia(rng)))
        mech.add_joint(joint, parent, body)
        parent = body
    system = mech.assemble()
    state = random_state(rng, system)
    names = [n for n in system.parameters if n.endswith(".axis")]
    check(system, (state.q, state.v, state.tau, 0.0), names)


@pytest.mark.long
def test_where_efforts_balance():
    """Without forces and efforts nothing is left of M vdot + b: its rounding is no size."""
    rng = np.random.default_rng(8)
    system = random_mechanism(rng, 4, ("helical", "universal")).assemble()
    state = random_state(rng, system)
    names = [n for n in system.parameters if n.endswith(("pitch", "axis1", "com"))]
    check(system, (state.q, state.v, np.zeros(system.nv), 0.0), names[:4])
    rest = system.derivatives("forward_dynamics", state.q, 0.0 * state.v, by=names)
    assert all(np.isfinite(rest[name]).all() for name in names)


@pytest.mark.long
def test_inverse_and_hybrid_dynamics(loaded):
    """Hybrid dynamics between: of no joint it is forward dynamics, of all inverse dynamics."""
    _, system, state = loaded
    q, v, vdot, tau, t = state.q, state.v, state.vdot, state.tau, 0.45
    by = ("q", "v", "t", "bodies.body6.mass", "joints.joint2.S_pred")
    inverse = system.derivatives("inverse_dynamics", q, v, vdot=vdot, by=(*by, "vdot"), t=t)
    all_joints = {"prescribed": system.joint_names, "vdot": vdot, "t": t}
    hybrid = system.derivatives("hybrid_dynamics", q, v, by=(*by, "vdot"), **all_joints)
    forward = system.derivatives("forward_dynamics", q, v, tau, by=(*by, "tau"), t=t)
    none = system.derivatives("hybrid_dynamics", q, v, tau, by=(*by, "tau"), t=t)
    for name in by:
        assert_close(hybrid.tau[name], inverse[name], 1e-12)
        assert_close(none.vdot[name], forward[name], 1e-12)
        assert not (hybrid.vdot[name].any())
        assert not (none.tau[name].any())
    assert_close(inverse["vdot"], system.mass_matrix(q), 1e-14)
    assert f"tau         by q {inverse['q'].shape}, v {inverse['v'].shape}" in repr(inverse)
    some = system.joint_names[1:4]
    found = system.derivatives(
        "hybrid_dynamics", q, v, tau, vdot=vdot, prescribed=some, by=(*by, "tau", "vdot"), t=t
    )

    def both(system, q, v, x, t):
        vdot, tau = np.split(x, 2)
        return np.concatenate(
            system.hybrid_dynamics(q, v, tau=tau, vdot=vdot, prescribed=some, t=t)
        )

    full = q, v, np.concatenate([vdot, tau]), t
    for name in by:
        given = np.concatenate([found.vdot[name], found.tau[name]])
        expected = by_differences(both, moves_of(system, name, full))
        assert_close(flat(system, given, name), expected, 1e-10, np.abs(expected).max())
    given = np.block(
        [[found.vdot["vdot"], found.vdot["tau"]], [found.tau["vdot"], found.tau["tau"]]]
    )
    steps = np.eye(2 * system.nv)
    linear = [both(system, q, v, full[2] + s, t) - both(system, q, v, full[2], t) for s in steps]
    assert_close(given, np.transpose(linear), 1e-10)


# ------------------------------------------------------- redundant rows, absolute coordinates

#: What differences leave along curves that are closed anew at each place, in absolute coordinates.
NUMERIC = 1e-9


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("example", "coordinates"),
    [
        (bricard, mb.RelativeCoordinates()),
        (four_bar, mb.AbsoluteCoordinates()),
        pytest.param(stewart_platform, mb.AbsoluteCoordinates(), marks=pytest.mark.long),
    ],
    ids=["bricard", "four-bar, absolute", "stewart, absolute"],
)
def test_along_motions_that_keep_the_loops_closed(example, coordinates):
    """Accelerations and multipliers of least norm along a curve on the constraints."""
    system = example.build().assemble(coordinates)
    rng = np.random.default_rng(1)
    q, tau = system.reference_configuration(), rng.normal(size=system.nv)
    A = system.constraint_jacobian(q)
    rank = np.linalg.matrix_rank(A, tol=1e-9)

    def allowed(q):
        return np.linalg.svd(system.constraint_jacobian(q))[2][rank:].T

    v, w = (allowed(q) @ rng.normal(size=system.nv - rank) for _ in range(2))
    mass = [name for name in system.parameters if name.endswith("mass")][1]

    def there(e):
        near = system.close_loops(system.retract(q, e * w))
        N = allowed(near)
        return near, N @ (N.T @ v)

    found = system.derivatives("forward_dynamics", q, v, tau, by=("q", "v", mass))
    values = accelerations(system, q, v, tau, 0.0)
    size = np.abs(values).max()
    dx = derivative(lambda e: system.difference(q, there(e)[0]))
    dv = derivative(lambda e: there(e)[1])
    along = [each["q"] @ dx + each["v"] @ dv for each in (found.vdot, found.multipliers)]
    expected = derivative(lambda e: accelerations(system, *there(e), tau, 0.0) / size) * size
    assert_close(np.concatenate(along), expected, NUMERIC, size)
    m = system.parameters[mass]
    heavier = derivative(
        lambda e: accelerations(system.with_parameters({mass: m + m * e}), q, v, tau, 0.0) / size
    )
    assert_close(m * numbers_of(found, mass), size * heavier, NUMERIC, size)


def numbers_of(found, name):
    return np.concatenate([found.vdot[name], found.multipliers[name]])


# ------------------------------------------------------------------------------------- calls


def test_prescribed_joints_in_batches():
    """A pendulum on a driven rail: l a'' = -(x'' cos a + g sin a) with x = sin 3t."""
    mech = mb.Mechanism("driven", gravity=(0, 0, -10.0))
    mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(2.0, (0, 0, -0.5))))
    rail = mb.PrismaticJoint("rail", axis=(1, 0, 0))
    mech.add_joint(rail.prescribe(lambda t: np.sin(3.0 * t)), mech.world, "cart")
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, -1, 0)), "cart", "bob")
    system = mech.assemble()
    t, a = np.linspace(0.0, 1.0, 4), np.array([[0.3], [-1.2]])
    q = np.stack(np.broadcast_arrays(7.0, a), axis=-1)
    by = ("q", "v", "tau", "t", "bodies.bob.mass", "bodies.bob.com")
    found = system.derivatives("forward_dynamics", q, [0.0, 2.0], by=by, t=t)
    expected = (-9.0 * np.sin(3.0 * t) * np.sin(a) - 10.0 * np.cos(a)) / 0.5
    assert found["q"].shape == (2, 4, 2, 2)
    assert found["bodies.bob.mass"].shape == found["t"].shape == (2, 4, 2)
    assert_close(found["q"][..., 1, 1], expected, 1e-13)
    rates = np.stack(np.broadcast_arrays(-27.0 * np.cos(3.0 * t), 54.0 * np.cos(3 * t) * np.cos(a)))
    assert_close(np.moveaxis(found["t"], -1, 0), rates, 1e-13)
    for name in ("q", "tau"):
        assert not (found[name][..., 0].any())
        assert not (found[name][..., 0, :].any())
    down = -found.values["vdot"][..., 1] / -0.5
    assert_close(found["bodies.bob.com"][..., 1, 2], down, 1e-11)
    assert_close(found["bodies.bob.mass"], np.zeros((2, 4, 2)), 1e-11, 1.0)


def test_failed_samples_are_nan(loaded):
    _, system, state = loaded
    q = np.stack([state.q, np.full(system.nq, np.nan)])
    found = system.derivatives("forward_dynamics", q, state.v, by="q", on_error="nan")
    assert np.isfinite(found["q"][0]).all()
    assert np.isnan(found["q"][1]).all()


@pytest.mark.long
@pytest.mark.parametrize(
    "constraint", [EXAMPLES[k] for k in (0, 2, 7, 12, 14)], ids=lambda each: each.name
)
def test_parameters_of_constraints(constraint):
    """Rows, rates and biases of all kinds, at a state that need not satisfy them."""
    system = _mechanism(constraint).assemble(mb.RelativeCoordinates(length=0.7))
    rng = np.random.default_rng(7)
    q = system.retract(system.reference_configuration(), 0.5 * rng.normal(size=system.nv))
    own = [
        name for name, value in system.parameters.items()
        if name.startswith("constraints.") and 0 < np.size(value) < 4
        and np.asarray(value).dtype.kind == "f"
    ]  # fmt: skip
    check(system, (q, *rng.normal(size=(2, system.nv)), 0.4), ("q", "v", "t", *own))


@pytest.mark.compiled  # by dual numbers
def test_where_rows_jump_accelerations_do_not():
    """The plane's own directions are chosen by its normal, along z in another way than beside."""
    ball = next(each for each in EXAMPLES if each.name == "ball on the ground")
    system, name = _mechanism(ball).assemble(), "constraints.ball on the ground.normal"
    q, v = system.reference_configuration(), np.arange(1.0, system.nv + 1.0)
    found = system.derivatives("forward_dynamics", q, v, by=name)[name]
    normal, h = np.asarray(system.parameters[name]), 1e-5
    for k, unit in enumerate(np.eye(3)):
        ahead, behind = (
            system.with_parameters({name: normal + e * unit}).forward_dynamics(q, v)
            for e in (h, -h)
        )
        difference = (ahead - behind) / (2.0 * h)
        assert np.abs(found[..., k] - difference).max() < 1e-9 * np.abs(found).max()


def test_entries_that_belong_together_have_no_derivatives_of_their_own():
    """The lift of a cam that turns round ends where it begins."""
    cam = next(each for each in EXAMPLES if each.name == "cam")
    system = _mechanism(cam).assemble()
    q, v = system.reference_configuration(), np.ones(system.nv)
    with pytest.raises(mb.UsageError, match=r"by 'constraints.cam.lift'.*end where it begins"):
        system.derivatives("forward_dynamics", q, v, by="constraints.cam.lift")


@attrs.frozen
class Ramp(mb.Constraint):
    """The origin of a body stays on z = grade x; slopes from `steep` on are driven up twice."""

    name: str
    body: str
    slope: float
    steep: float = 0.2
    along: np.ndarray = attrs.field(factory=lambda: np.array([0.6, 0.8]))

    num_rows = 1

    @along.validator
    def _check(self, _, value):
        if abs(float(value @ value) - 1.0) > 1e-12:
            raise mb.ConstraintError(f"along must have length one, got {value}.")

    @property
    def bodies(self):
        return (self.body,)

    def residual(self, t, q, poses):
        grade = 2.0 * self.slope if self.slope >= self.steep else self.slope
        x, y, z = poses[0][:3, 3]
        return np.array([z - grade * (self.along[0] * x + self.along[1] * y)])


class WrittenRamp(Ramp):
    """The same with all that could be derived, which takes most of the time of differences."""

    def rows(self, t, q, poses):
        grade = 2.0 * self.slope if self.slope >= self.steep else self.slope
        wrenches = np.zeros((1, 1, 6))
        wrenches[0, 0, 3:] = [-grade * self.along[0], -grade * self.along[1], 1.0]
        return wrenches, np.zeros((1, 0))

    def rate(self, t, q, poses):
        return np.zeros(1)

    def bias(self, t, q, v, poses, twists):
        return np.zeros(1)


def on_a_ramp(slope, kind=Ramp):
    """A point mass that falls on it, and the name of the slope."""
    mech = mb.Mechanism("ramp", gravity=(0, 0, -10.0))
    bead = mech.add_body(mb.Body("bead", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.TranslationalJoint("anywhere"), mech.world, bead)
    mech.add_constraint(kind("ramp", "bead", slope))
    return mech.assemble(), "constraints.ramp.slope"


@pytest.mark.some(2)
@pytest.mark.parametrize(("slope", "grade", "rate"), [(0.1, 0.1, 1.0), (0.3, 0.6, 2.0)])
def test_a_ramp_by_its_slope(slope, grade, rate):
    """Of a particle on a ramp, of which the constraint is in Python: z'' = -g s^2 / (1 + s^2)."""
    system, name = on_a_ramp(slope)
    found = system.derivatives("forward_dynamics", np.zeros(3), np.zeros(3), by=name)
    assert_close(found.values["vdot"][2], -10.0 * grade**2 / (1.0 + grade**2), 1e-12)
    expected = -10.0 * rate * 2.0 * grade / (1.0 + grade**2) ** 2
    assert_close(found[name][2], expected, 1e-9)


def test_there_is_no_derivative_where_rows_of_a_constraint_jump():
    """The grade is 0.2 on one side, 0.4 on the other; beside, there is one on its side alone."""
    system, name = on_a_ramp(0.2, WrittenRamp)
    state = np.zeros(3), np.zeros(3)
    with pytest.raises(
        mb.UsageError,
        match=f"There is no derivative by '{name}' at this value: the equations jump.*by 1e-6",
    ):
        system.derivatives("forward_dynamics", *state, by=name)
    for step, grade, rate in ((1e-6, 0.4, 2.0), (-1e-6, 0.2, 1.0)):  # as the message says
        beside = system.with_parameters({name: 0.2 + step})
        found = beside.derivatives("forward_dynamics", *state, by=name)[name]
        grade += rate * step
        assert_close(found[2], -20.0 * grade * rate / (1.0 + grade**2) ** 2, 1e-8)


def test_there_is_no_derivative_by_entries_that_a_constraint_refuses():
    system, _ = on_a_ramp(0.1)
    with pytest.raises(
        mb.UsageError,
        match=r"There is no derivative by 'constraints.ramp.along': values beside .*length one",
    ):
        system.derivatives(
            "forward_dynamics", np.zeros(3), np.zeros(3), by="constraints.ramp.along"
        )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("forward_dynamic", {}), mb.NameUnknownError, "did you mean 'forward_dynamics'"),
        (("forward_dynamics", {"by": "x"}), mb.NameUnknownError, "derivatives of forward_dynamics"),
        (("forward_dynamics", {"vdot": 1.0}), mb.UsageError, "take no vdot"),
        (("inverse_dynamics", {}), mb.UsageError, "give vdot="),
        (("forward_dynamics", {"by": "forces.field.bodies"}), mb.NameUnknownError, "forces.field"),
    ],
)
def test_errors_say_what_to_give(loaded, arguments, error, message):
    _, system, state = loaded
    of, given = arguments
    with pytest.raises(error, match=message):
        system.derivatives(of, state.q, state.v, **given)

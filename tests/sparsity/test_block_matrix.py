"""Newton's matrix by blocks against the dense one, on the same steps of the same systems."""

import itertools

import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators import generalized_alpha, step_memory
from mbkit.kernels.compile import UNCOMPILED
from mbkit.sparsity import step_blocks
from mbkit.spatial import rotation, translation

H = 1e-3
STEPS = 2 if UNCOMPILED else 6
#: Where forces are differentiated by differences: later it is rounding that says when the matrix
#: is made anew.
FEW = 2
METHODS = {
    "alpha, index 2": mb.GeneralizedAlpha(),
    "alpha, index 3": mb.GeneralizedAlpha(formulation="index3"),
    "differences, index 2": mb.BLieDF(2),
    "differences, index 3": mb.BLieDF(2, formulation="index3"),
}


@pytest.fixture(autouse=True)
def blocks_of_small_systems(monkeypatch):
    """They need not spare anything."""
    monkeypatch.setattr(step_blocks, "SPARED", -np.inf)


def chain(count=4):
    """Bars on hinges of random axes, that fall to the side."""
    rng = np.random.default_rng(3)
    mech = mb.Mechanism("chain", gravity=(30.0, 20.0, -9.81))
    for k in range(count):
        bar = mb.SpatialInertia.box(1.0 + k, size=(0.05, 0.1, 0.2))
        mech.add_body(mb.Body(f"bar{k}", bar, translation((0.01, 0, -0.2 * k - 0.1))))
        hinge = mb.RevoluteJoint(f"hinge{k}", axis=rng.normal(size=3), point=(0, 0, -0.2 * k))
        mech.add_joint(hinge, f"bar{k - 1}" if k else "world", f"bar{k}")
    return mech


def ladder(windows=2):
    """Four-bars below each other: three rows of each are redundant."""
    mech = mb.Mechanism("ladder", gravity=(20.0, 0.0, -9.81))
    bar = mb.SpatialInertia.box(1.0, size=(1.0, 0.05, 0.05))
    upright = rotation((0, 1, 0), np.pi / 2)
    above = "world"
    for k in range(windows):
        mech.add_body(mb.Body(f"rung{k}", bar, translation((0.5, 0, -k - 1))))
        for x in (0, 1):
            mech.add_body(mb.Body(f"rod{k}{x}", bar, translation((x, 0, -k - 0.5)) @ upright))
            for end, (a, b) in enumerate(((above, f"rod{k}{x}"), (f"rod{k}{x}", f"rung{k}"))):
                hinge = mb.RevoluteJoint(f"{k}{x}{end}", axis=(0, 1, 0), point=(x, 0, -k - end))
                mech.add_joint(hinge, a, b)
        above = f"rung{k}"
    return mech


def with_forces():
    """A chain with forces on one body, between bodies, and of the user's own."""
    mech = chain()
    points = {"point_a": (0.0, 0.1, 0.0), "point_b": (0.05, 0.0, 0.0)}
    mech.add_force(mb.SpringDamper("k", "bar0", "bar3", 300.0, damping=20.0, **points))
    mech.add_force(mb.Bushing("b", "bar1", "bar2", stiffness=[50.0] * 6, damping=[3.0] * 6))
    mech.add_force(mb.Drag("drag", "bar2", linear=2.0, angular=0.1))
    mech.add_force(mb.UniformField("wind", (1.0, 2.0, 3.0)))
    mech.add_force(Stirrer("stirrer", bodies=["bar1"]))
    return mech


class Stirrer(mb.Force):
    """A couple of a body's own that its velocity and place change."""

    acts_on = "bodies"

    def __init__(self, name, bodies):
        """Take the name of one body."""
        self.name, self.bodies, self.joints = name, tuple(bodies), ("hinge1",)

    def evaluate(self, t, q, v, poses, twists, out):
        """Write the wrench."""
        out[0] = 0.0
        out[0, :3] = -np.sin(poses[0, :3, 3]) - 0.3 * twists[0, :3] ** 3 + np.cos(q[0])


def driven():
    """A chain with a joint that is moved, one with a spring, and constraints of other kinds."""
    mech = chain(5)
    slide = mb.PrismaticJoint("slide", axis=(0, 0, 1)).prescribe(
        lambda t: 0.2 * (1 - np.cos(9 * t))
    )
    mech.add_body(mb.Body("car", mb.SpatialInertia.box(2.0, size=(0.3, 0.2, 0.1))))
    mech.add_joint(slide, "world", "car")
    mech.add_force(mb.JointSpring("spring", "hinge2", stiffness=40.0))
    ends = {"point_a": (0.0, 0.5, 0.0), "point_b": (0.0, 0.0, -0.1)}
    length = float(np.linalg.norm(np.array([0.0, 0.5, 0.0]) - np.array([0.01, 0.0, -0.4])))
    mech.add_constraint(mb.Distance("rod", "car", "bar1", length=length, **ends))
    return mech


def row(count=6):
    """Pendulums beside each other, two and two on a spring: a tree whose branches are many."""
    mech = mb.Mechanism("row", gravity=(1.0, 0.0, -9.81))
    bar = mb.SpatialInertia.box(1.0, size=(0.05, 0.05, 0.4))
    for k in range(count):
        for n, above in enumerate(("world", f"upper{k}")):
            name = ("upper", "lower")[n] + str(k)
            mech.add_body(mb.Body(name, bar, translation((k, 0, -0.4 * n - 0.2))))
            axis = (0.1 * n, 1.0, 0.0)
            mech.add_joint(mb.RevoluteJoint(name, axis=axis, point=(k, 0, -0.4 * n)), above, name)
        if k % 2:
            mech.add_force(
                mb.SpringDamper(f"k{k}", f"lower{k - 1}", f"upper{k}", 90.0, damping=5.0)
            )
    return mech


MAPS = [
    mb.AbsoluteCoordinates(orientation, local, trivialised)
    for orientation, (local, trivialised) in zip(
        itertools.cycle((mb.UnitQuaternion(), mb.RotationVector(), mb.EulerAngles("xyz"))),
        itertools.product(
            (mb.ScrewCoordinates(), mb.RotationVectorPosition(), mb.ExtendedRodrigues()),
            ("left", "right"),
        ),
        strict=False,
    )
]


def taken_steps(monkeypatch, system, method, part, steps=STEPS):
    """Return a run, the memory of its steps, with blocks up to that part of the dense matrix."""
    made = []

    class Kept(step_memory.StepMemory):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            made.append(self)

    for module in (generalized_alpha, mb.integrators.bliedf):
        monkeypatch.setattr(module, "StepMemory", Kept)
    monkeypatch.setattr(step_blocks, "LARGEST_PART", part)
    steps += not isinstance(method, mb.GeneralizedAlpha)
    run = mb.simulate(system, (0.0, steps * H), H, integrator=method, progress=False)
    return run, made[-1]


def from_factor(F, pivots):
    """P^T L U of a factor in one array."""
    S = (np.tril(F, -1) + np.eye(len(F))) @ np.triu(F)
    for k in range(len(F) - 1, -1, -1):
        S[[k, pivots[k]]] = S[[pivots[k], k]]
    return S


def dense_matrix(step):
    """S of a dense factor."""
    n = int(step["n"])
    return from_factor(step["matrix"][: n * n].reshape(n, n), step["pivots"])


def expanded(step):
    """S of a factor by blocks: what each elimination has subtracted is added again."""
    n = int(step["n"])
    nodes, unknowns, numbers = step["nodes"], step["order"], step["matrix"]
    S = np.zeros((n, n))
    parts = []
    for node in nodes:
        first, count, width = (int(node[name]) for name in ("first", "count", "width"))
        near = slice(int(node["first_neighbour"]), None)
        others = step["neighbours"][near][: int(node["num_neighbours"])]
        own = unknowns[first : first + count]
        right = [k for o in nodes[others] for k in unknowns[o["first"] : o["first"] + o["count"]]]
        rows = numbers[node["right"] :][: count * (count + width)].reshape(count, -1)
        below = numbers[node["below"] :][: width * count].reshape(width, count)
        parts.append((own, right, rows, below, step["pivots"][first : first + count]))
    for own, right, rows, below, pivots in reversed(parts):
        count = len(own)
        D = from_factor(rows[:, :count], pivots)
        S[np.ix_(right, right)] += below @ rows[:, count:]
        S[np.ix_(own, right)] = D @ rows[:, count:]
        S[np.ix_(right, own)] = below
        S[np.ix_(own, own)] = D
    return S


def assert_same(monkeypatch, system, method, *, rounding=1e-12, steps=STEPS):
    """Assert that both matrices are one, and that steps are the same with both."""
    run, step = taken_steps(monkeypatch, system, method, np.inf, steps)
    other, dense = taken_steps(monkeypatch, system, method, 0.0, steps)
    assert step["solve"] != 0
    assert dense["solve"] == 0
    S = dense_matrix(dense)
    np.testing.assert_allclose(expanded(step), S, atol=rounding * np.abs(S).max())
    (iterations, made), (wanted, wanted_made) = step["total"], dense["total"]
    assert made == wanted_made
    assert abs(iterations - wanted) <= 2  # where corrections are rounding they may go on
    np.testing.assert_allclose(run.q, other.q, atol=1e-10)
    np.testing.assert_allclose(run.v, other.v, atol=1e-8)


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("mechanism", [chain, ladder, with_forces, driven])
def test_blocks_are_those_of_the_dense_matrix(monkeypatch, mechanism, method):
    """With redundant rows, forces between bodies, joints that are moved, other constraints."""
    system = mechanism().assemble(mb.AbsoluteCoordinates())
    differences = mechanism in (with_forces, driven)  # whose rounding depends on the columns
    if differences:
        assert_same(monkeypatch, system, method, rounding=1e-8, steps=FEW)
    else:
        assert_same(monkeypatch, system, method)


@pytest.mark.parametrize("coordinates", MAPS, ids=str)
def test_all_maps_and_representations(monkeypatch, coordinates):
    """The velocities of a body are body-fixed, spatial, hybrid or mixed twists."""
    system = chain(3).assemble(coordinates)
    assert_same(monkeypatch, system, METHODS["alpha, index 2"])
    assert_same(monkeypatch, system, METHODS["differences, index 2"])


def test_trees_of_many_branches(monkeypatch):
    """In relative coordinates too: a row is coupled with those inward of it, and by forces."""
    system = row().assemble()
    monkeypatch.setattr(step_blocks, "LARGEST_PART", 0.5)
    assert step_blocks.step_blocks(system.arrays, stabilised=False).num_columns < system.nv
    assert_same(monkeypatch, system, METHODS["alpha, index 3"], rounding=1e-8)


def test_columns_are_shared_by_bodies_that_no_row_knows_both_of():
    """A chain needs three bodies' columns, however long; a chain of joints all of them."""
    for count in (20, 40):
        system = chain(count).assemble(mb.AbsoluteCoordinates())
        blocks = step_blocks.step_blocks(system.arrays, stabilised=True)
        assert blocks.num_columns == 18
        assert blocks.num_entries < 800 * count
    assert step_blocks.step_blocks(chain(40).assemble().arrays, stabilised=True) is None


def test_a_force_that_knows_all_keeps_the_matrix_dense():
    """A force in Python on bodies that names no joints is given the whole state."""
    mech = chain(30)
    force = Stirrer("stirrer", ["bar1"])
    force.joints = ()
    mech.add_force(force)
    system = mech.assemble(mb.AbsoluteCoordinates())
    assert step_blocks.step_blocks(system.arrays, stabilised=True) is None


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.skipif(UNCOMPILED, reason="many rows")
def test_least_multipliers_of_many_redundant_rows():
    """By sweeps over the factor, and by singular values."""
    from mbkit.systems.calls.evaluations import MINIMUM_NORM_MULTIPLIERS

    system = ladder(20).assemble(mb.AbsoluteCoordinates())
    q = system.reference_configuration()
    A = system.constraint_jacobian(q)
    given = np.random.default_rng(0).normal(size=len(A))
    zero = system.evaluator.zero
    found = system.evaluator.compute(MINIMUM_NORM_MULTIPLIERS, q, zero, np.append(given, 0.0))
    least = np.linalg.lstsq(A.T, A.T @ given, rcond=1e-9)[0]
    np.testing.assert_allclose(found, least, atol=1e-9)


@pytest.mark.some(2)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_outputs_within_steps_leave_columns_where_they_are(method):
    """A step to such a time has a memory of its own, which is gone when the run goes on."""
    system = chain().assemble(mb.AbsoluteCoordinates())
    options = {"t_span": (0.0, STEPS * H), "h": H, "integrator": method, "progress": False}
    plain = mb.simulate(system, **options)
    between = np.arange(1, STEPS) * H + 0.3 * H
    run = mb.simulate(system, **options, save_at=[*between, STEPS * H])
    np.testing.assert_array_equal(run.q[-1], plain.q[-1])
    np.testing.assert_array_equal(run.v[-1], plain.v[-1])

"""Strategies for the multipliers: all against dense linear algebra, and against each other."""

import warnings

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.solvers import automatic_solver, described, from_description
from tests.constraints.loops import LOOP_KINDS, closed, closed_chain, consistent, random_loops
from tests.constraints.test_runs import Trouble, consistent_with, effort, four_bar
from tests.every_representation import each_representation

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


@attrs.frozen
class Pseudoinverse(mb.DenseSolver):
    """A strategy of somebody else."""

    cutoff: float = 1e-9

    def solve(self, rows, target):
        inverse = np.linalg.pinv(rows, rcond=self.cutoff)
        return -inverse.T @ (inverse @ target)


STRATEGIES = (
    mb.SchurComplement(), mb.MinimumNorm(), mb.NullSpace(), Pseudoinverse(),
)  # fmt: skip
each_strategy = pytest.mark.parametrize("solver", STRATEGIES, ids=lambda s: type(s).__name__)


def kkt(system, q, v, tau, wrenches=None):
    """vdot and the minimum-norm multipliers, from M, A and b by singular values."""
    A, M = system.constraint_jacobian(q), system.mass_matrix(q)
    free = np.linalg.solve(M, tau - system.bias_force(q, v))
    root = np.linalg.inv(np.linalg.cholesky(M))
    scaled = np.linalg.pinv(A @ root.T, rcond=1e-9)
    change = -root.T @ scaled @ (A @ free + system.constraint_bias(q, v))
    return free + change, np.linalg.pinv(A.T, rcond=1e-9) @ (M @ change)


def check(system, q, v, solver, tolerance=1e-9):
    tau = np.random.default_rng(8).normal(size=system.nv)
    vdot, multipliers = system.solve_dynamics(q, v, tau, solver=solver)
    wanted = kkt(system, q, v, tau)
    size = np.abs(wanted[0]).max()
    np.testing.assert_allclose(vdot, wanted[0], rtol=0, atol=tolerance * size)
    bound = tolerance * np.abs(wanted[1]).max()
    np.testing.assert_allclose(multipliers, wanted[1], rtol=0, atol=bound)


def doubled(rng, representation=None, loops=3):
    """A random mechanism with each of its loops closed by two joints of the same rows."""
    kinds = tuple(rng.choice(("revolute", "spherical", "universal", "cylindrical"), loops))
    mech, q, names = random_loops(rng, 9, kinds, ("revolute", "free", "spherical", "universal"))
    more = []
    for name in names:
        edge = mech.joints[name]
        twin = attrs.evolve(edge.joint, name=f"{name} again")
        mech.add_joint(twin, edge.predecessor, edge.successor, frames=(edge.S_pred, edge.S_succ))
        more.append(twin.name)
    return closed(mech, (*names, *more), representation), q


@pytest.mark.some(8)
@each_representation
@each_strategy
def test_random_loops(solver, representation):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        kinds = tuple(rng.choice(LOOP_KINDS, 2))
        mech, q, loops = random_loops(rng, 6, kinds)
        system = closed(mech, loops, representation)
        check(system, q, consistent(system, q, rng.normal(size=system.nv)), solver)


@pytest.mark.some(2)
@each_strategy
@pytest.mark.parametrize("loops", [2, 7])
def test_redundant_loops(solver, loops):
    """In one block, and in many that are coupled: what is redundant lies in other blocks."""
    for seed in range(3):
        rng = np.random.default_rng(100 + seed)
        system, q = doubled(rng, loops=loops)
        assert loops == 2 or len(system.arrays.closure.blocks) > 1
        check(system, q, consistent(system, q, rng.normal(size=system.nv)), solver, 1e-8)


def row_of_parallelograms(count):
    """Rods a metre long, upright at q = 0; see `exact`."""
    mech = mb.Mechanism("row", gravity=(0.0, -9.81, 0.0))
    rod = mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.diag([1.0, 1.0, 1.0]) / 12.0)
    at = mb.spatial.translation
    for k in range(count + 1):
        mech.add_body(mb.Body(f"rod{k}", rod, at((k, 0.5, 0))))
        hinge = mb.RevoluteJoint(f"ground{k}", (0, 0, -1), (k, 0, 0))
        mech.add_joint(hinge, "world", f"rod{k}")
        if k:
            mech.add_body(mb.Body(f"bar{k}", rod, at((k - 0.5, 1, 0))))
            ends = (("left", k - 1, f"rod{k - 1}", f"bar{k}"), ("right", k, f"bar{k}", f"rod{k}"))
            for side, x, before, after in ends:
                hinge = mb.RevoluteJoint(f"{side}{k}", (0, 0, -1), (x, 1, 0))
                mech.add_joint(hinge, before, after)
    return mech


def turned(system, value):
    """Rods that turn by value, bars that do not."""
    signs = {"ground": 1.0, "left": -1.0, "right": 1.0}
    return np.array([value * signs[name.rstrip("0123456789")] for name in system.velocity_names])


def exact(system, count, angle):
    """The accelerations from Lagrange's equation of one freedom."""
    kappa = 1.5 * 9.81 * (3 * count + 1) / (4 * count + 1)
    return turned(system, kappa * np.sin(angle))


@pytest.mark.some(9)
@pytest.mark.parametrize("count", [1, 4, 8])
@pytest.mark.parametrize("off", [1e-1, 1e-3, 1e-5, 1e-7])
@each_strategy
def test_near_a_change_point(solver, off, count):
    """Rods level, `off` rad from it: one singular value is about `off`.

    By the rule of rank they see a redundant row from 1e-6 on; asked for, they tell less. What
    squares is as exact, refined.
    """
    if not isinstance(solver, Pseudoinverse):
        solver = attrs.evolve(solver, tolerance=1e-8)
    system = row_of_parallelograms(count).assemble()
    angle = np.pi / 2 - off
    vdot, _ = system.solve_dynamics(turned(system, angle), turned(system, 3.0), solver=solver)
    true = exact(system, count, angle)
    assert np.abs(vdot - true).max() < max(1e-11, 3e-14 / off) * np.abs(true).max()


@pytest.mark.some(2)
@each_strategy
def test_runs_move_alike_and_say_how(solver):
    mech, q = closed_chain()
    system = closed(mech, ("last",))
    v = consistent(system, q, np.random.default_rng(3).normal(size=system.nv))
    runs = [
        mb.simulate(system, (0.0, 0.2), 1e-3, q=q, v=v, constraint_solver=each, save_every=20)
        for each in (None, solver)
    ]
    np.testing.assert_allclose(runs[1].q, runs[0].q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(runs[1].multipliers, runs[0].multipliers, rtol=1e-6, atol=1e-6)
    assert runs[1].residuals[:, :2].max() < 1e-11
    chosen = type(system.constraint_solver).__name__
    assert runs[0].options["constraint_solver"]["kind"] == chosen
    assert runs[1].options["constraint_solver"]["kind"].endswith(type(solver).__name__)


@pytest.mark.some(2)
@each_strategy
def test_driven_joints(solver):
    """What drives supply against the constraints is what the energy gains."""
    system = four_bar(lambda t: 0.3 * np.sin(t)).assemble(mb.RelativeCoordinates())
    v = consistent_with(system, 0.3)
    run = mb.simulate(system, (0.0, 0.3), 1e-3, v=v, constraint_solver=solver)
    assert run.residuals[:, :2].max() < 1e-11
    assert np.abs(run.energy_balance).max() < 1e-9


@pytest.mark.some(4)
@each_strategy
def test_resumed_bit_for_bit(solver, tmp_path):
    """However often it is interrupted, and redundant: nothing is kept between evaluations."""
    system = four_bar().assemble()
    v = consistent_with(system, 2.0)
    given = {"v": v, "tau": effort, "progress": False, "constraint_solver": solver}
    whole = mb.simulate(system, (0.0, 0.2), 1e-3, **given)
    Trouble.at = 0.1
    part = mb.simulate(system, (0.0, 0.2), 1e-3, output=tmp_path / "run", **given)
    Trouble.at = np.inf
    assert 0 < part.t[-1] < 0.2
    if isinstance(solver, Pseudoinverse):
        with pytest.raises(mb.UsageError, match="which no file can hold"):
            mb.resume(tmp_path / "run", tau=effort, progress=False)
        again = {"system": system.with_constraint_solver(solver)}
    else:
        again = {}
    run = mb.resume(tmp_path / "run", tau=effort, progress=False, **again)
    assert run.completed
    for name in ("t", "q", "v", "multipliers", "residuals"):
        np.testing.assert_array_equal(getattr(run, name), getattr(whole, name), err_msg=name)


def test_warned_of_once():
    q = np.zeros(3)
    for solver in (mb.SchurComplement(), mb.MinimumNorm(), mb.NullSpace()):
        system = four_bar().assemble(mb.RelativeCoordinates(loop_joints=("D",)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            system.solve_dynamics(q, q, solver=solver)
            system.solve_dynamics(q, q + 0.0, solver=solver)
            if solver == mb.NullSpace():
                system.evaluator.warned.clear()
                caught.clear()
                mb.simulate(system, (0.0, 0.01), 0.01)
        (warning,) = caught
        assert "has 3 redundant constraints: 'D[" in str(warning.message)
        assert "That is normal for planar mechanisms" in str(warning.message)
        assert warning.filename == __file__


def test_chosen_by_size_and_rank():
    assert isinstance(automatic_solver(3, 5), mb.MinimumNorm)
    assert isinstance(automatic_solver(20, 5), mb.SchurComplement)
    assert isinstance(automatic_solver(500, 1000), mb.SchurComplement)
    system = four_bar().assemble()
    assert system.constraint_solver == automatic_solver(system.nv, system.num_velocity_constraints)
    other = system.with_constraint_solver(mb.NullSpace())
    damper = mb.JointDamper("oil", "A", damping=0.5)
    for each in (
        other,
        other.with_forces([damper]),
        other.with_parameters({"bodies.crank.mass": 2.0}),
    ):
        assert each.constraint_solver == mb.NullSpace()
    assert other.with_constraint_solver(None).constraint_solver == system.constraint_solver
    assert mb.Mechanism("nothing").assemble().constraint_solver is None


@pytest.mark.parametrize("solver", STRATEGIES[:-1], ids=lambda s: type(s).__name__)
def test_described(solver):
    about = described(solver)
    assert from_description(about) == solver
    assert from_description(described(Pseudoinverse())) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mb.SchurComplement(tolerance=0.0), "tolerance must be a number between 0 and 1"),
        (lambda: four_bar().assemble().with_constraint_solver("lu"), "must be an mbkit.Constr"),
    ],
)
def test_bad_numbers_are_refused(make, message):
    with pytest.raises(mb.UsageError, match=message):
        make()


@attrs.frozen
class Failing(mb.DenseSolver):
    """Raises, or returns something else."""

    shape: int = 0

    def solve(self, rows, target):
        if self.shape:
            return np.zeros(self.shape)
        raise ValueError("no idea")


def test_what_goes_wrong_in_python_is_told():
    system = four_bar().assemble()
    q = np.zeros(3)
    with pytest.raises(ValueError, match="no idea") as caught:
        system.solve_dynamics(q, q, solver=Failing())
    assert "constraint solver Failing" in caught.value.__notes__[0]
    with pytest.raises(
        mb.ShapeError, match=r"one multiplier a row, shape \(5,\), got shape \(2,\)"
    ):
        system.solve_dynamics(q, q, solver=Failing(2))
    with pytest.raises(ValueError, match="no idea"):
        mb.simulate(system, (0.0, 0.1), 1e-2, constraint_solver=Failing())

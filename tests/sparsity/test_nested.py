"""Nested loops: local elimination at their bases, against all at once and dense strategies."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

import mbkit as mb
from benchmarks.absolute import hanging_ladder, rimmed_wheel, row_of_four_bars
from mbkit.sparsity import nesting, patterns
from mbkit.sparsity.blocks import ONE_BLOCK
from mbkit.sparsity.elimination_order import minimum_degree
from mbkit.sparsity.supports import supports_of
from mbkit.systems.memory.workspace import Workspace
from tests.constraints.driven import driven
from tests.constraints.loops import LOOP_KINDS, consistent, random_loops
from tests.every_representation import each_representation
from tests.sparsity.test_large import numbers, state

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


def is_nested(system: mb.System) -> bool:
    return system.arrays.closure.propagations is not None


@pytest.fixture
def both_ways(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what assembles a mechanism with loops eliminated at their bases, and all at once."""

    def made(mech: mb.Mechanism, **options: Any) -> tuple[mb.System, mb.System]:
        coordinates = mb.RelativeCoordinates(**options)
        with monkeypatch.context() as patch:
            patch.setattr(nesting, "ONE_BLOCK", 0)
            patch.setattr(nesting, "_least_cost_of_all_at_once", lambda *_: np.inf)
            own = mech.assemble(coordinates).with_constraint_solver(mb.SchurComplement())
        with monkeypatch.context() as patch:
            patch.setattr(patterns, "nested_pattern", lambda *_: None)
            other = mech.assemble(coordinates).with_constraint_solver(mb.SchurComplement())
        assert is_nested(own)
        assert not is_nested(other)
        return own, other

    return made


def bound_of(system: mb.System, q: Any, rank: int, digits: float = 100.0) -> float:
    """Return the rounding of a factor of A M^-1 A^T: the square of the condition of A M^-1/2."""
    L = np.linalg.cholesky(system.mass_matrix(q))
    sizes = np.linalg.svd(np.linalg.solve(L, system.constraint_jacobian(q).T), compute_uv=False)
    return float(digits * np.finfo(float).eps * (sizes[0] / sizes[rank - 1]) ** 2)


def compare(own: mb.System, other: mb.System, q: Any, v: Any, tau: Any) -> None:
    """Rank, accelerations, minimum-norm multipliers; the first also by orthogonal factors."""
    vdot, multipliers, kept = own.solved(q, v, tau)
    expected, expected_multipliers, expected_kept = other.solved(q, v, tau)
    dense = other.with_constraint_solver(mb.MinimumNorm())
    exact, exact_multipliers, exact_kept = dense.solved(q, v, tau)
    rank = int(exact_kept.sum())
    assert kept.sum() == expected_kept.sum() == rank
    bound = bound_of(other, q, rank)
    for wanted, least in ((expected, expected_multipliers), (exact, exact_multipliers)):
        assert np.abs(vdot - wanted).max() < bound * np.abs(wanted).max()
        assert np.abs(multipliers - least).max() < bound * np.abs(least).max()


def moved(system: mb.System, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return where a mechanism is after a short run, how it moves there, and efforts."""
    q, v, tau = state(system, seed)
    run = mb.simulate(system, (0.0, 0.05), 5e-3, q=q, v=v, progress=False)
    return run.q[-1], run.v[-1], tau


# ------------------------------------------------------------------ the same as all at once


def doubled(both_ways: Any, representation: Any, seed: int) -> tuple[Any, Any, Any, Any, Any]:
    """Return a mechanism, both ways, each of whose loops is closed twice; and q, v and efforts."""
    rng = np.random.default_rng(seed)
    mech, q, names = random_loops(rng, 14, tuple(rng.choice(LOOP_KINDS, 5)))
    more = []
    for name in names:
        edge = mech.joints[name]
        joint = attrs.evolve(edge.joint, name=f"{name} again")
        mech.add_joint(joint, edge.predecessor, edge.successor, frames=(edge.S_pred, edge.S_succ))
        more.append(joint.name)
    own, other = both_ways(mech, representation=representation, loop_joints=[*names, *more])
    v = consistent(own, q, rng.normal(size=own.nv))
    return own, other, q, v, rng.normal(size=own.nv)


@pytest.mark.some(4)
@each_representation
@pytest.mark.parametrize("seed", [10, 12, 16, 26, 32])  # most of their loops have bodies for bases
def test_random_loops_that_are_doubled(both_ways: Any, representation: Any, seed: int) -> None:
    """All joints, in random frames, and each loop closed twice: half of its rows are redundant."""
    compare(*doubled(both_ways, representation, seed))


@pytest.mark.some(3)
@each_representation
def test_minimum_norm_multipliers_do_not_grow_from_rounding(
    both_ways: Any, representation: Any
) -> None:
    """Efforts that differ by rounding have the same multipliers; some had multipliers of 1e25 N."""
    own, _, q, v, tau = doubled(both_ways, representation, 32)
    sizes = [np.abs(own.solved(q, v, tau * (1.0 + k * 1e-15))[1]).max() for k in range(20)]
    assert max(sizes) - min(sizes) < 1e-9 * max(sizes)


@pytest.mark.some(2)
@each_representation
def test_ladders(both_ways: Any, representation: Any) -> None:
    own, other = both_ways(hanging_ladder(9), representation=representation)
    assert len({*own.arrays.closure.blocks["base_row"].tolist()}) == 9
    q, v, tau = moved(other)
    compare(own, other, q, v, tau)


@pytest.mark.some(2)
@each_representation
@pytest.mark.parametrize("joint", [mb.FixedJoint("again"), mb.RevoluteJoint("again")], ids=repr)
def test_a_body_that_floats_holds_another_twice(
    both_ways: Any, representation: Any, joint: mb.Joint
) -> None:
    """Its rows move nothing; they are in nobody's way."""
    mech = hanging_ladder(6)
    inertia = mb.SpatialInertia.box(1.0, size=(0.3, 0.2, 0.1))
    box, lid = mech.add_body(mb.Body("box", inertia)), mech.add_body(mb.Body("lid", inertia))
    mech.add_joint(mb.FreeJoint("flight"), mech.world, box)
    mech.add_joint(mb.FixedJoint("screwed"), box, lid)
    mech.add_joint(joint, box, lid)
    own, other = both_ways(mech, representation=representation)
    compare(own, other, *state(other, 0))


def test_rims(both_ways: Any) -> None:
    """All loops have the hub for their base, and each shares a spoke with the next."""
    own, other = both_ways(rimmed_wheel(12))
    blocks = own.arrays.closure.blocks
    assert len({*blocks["base_row"].tolist()}) == 1
    assert blocks["num_neighbours"].max() == 1
    compare(own, other, *moved(other))


def braced_ladder(windows: int, seed: int = 0) -> mb.Mechanism:
    """Return a ladder with joints, couplings and distances across its windows, and to the world."""
    rng = np.random.default_rng(seed)
    mech = hanging_ladder(windows)
    mech.add_constraint(mb.GearRatio("gear", "top left1", "top left4", ratio=0.7))
    mech.add_constraint(mb.GearRatio("pair", "foot left2", "top left3", ratio=-1.3))
    mech.add_constraint(mb.Distance("rope", "rung1", "left5", length=np.hypot(0.5, 3.5)))
    mech.add_constraint(mb.PointOnPlane("floor", f"rung{windows - 1}", "world", normal=(1, 0, 0)))
    for k in range(3):
        a, b = rng.choice(windows, 2, replace=False)
        ball = mb.SphericalJoint(f"ball{k}", point=rng.normal(size=3))
        slide = mb.CylindricalJoint(f"slide{k}", axis=(0, 1, 0), point=rng.normal(size=3))
        link = mech.add_body(mb.Body(f"link{k}", mb.SpatialInertia.sphere(0.5, radius=0.2)))
        mech.add_joint(ball, f"left{a}", link)
        mech.add_joint(slide, link, f"right{b}")
    return mech


@pytest.mark.some(4)
@each_representation
def test_loops_and_constraints_that_pass_other_bases(both_ways: Any, representation: Any) -> None:
    own, other = both_ways(braced_ladder(8), representation=representation)
    assert own.arrays.closure.blocks["num_neighbours"].max() > 1
    q, v, tau = state(other)
    compare(own, other, q, v, tau)


@pytest.mark.some(2)
@pytest.mark.parametrize("gap", [0.0, 1e-8, 1e-6, 1e-5])
def test_ranks_where_loops_are_open(both_ways: Any, gap: float) -> None:
    """As inside of a step: rows that depend on others then do so by the gap alone."""
    for mech, redundant in ((hanging_ladder(9), 27), (rimmed_wheel(9), 24)):
        own, other = both_ways(mech)
        q, v, tau = moved(own)
        rng = np.random.default_rng(4)
        q = own.retract(q, gap * rng.normal(size=own.nv))
        kept = own.solved(q, v, tau)[2]
        assert kept.sum() == other.solved(q, v, tau)[2].sum()
        assert kept.sum() == len(kept) - redundant


def test_absolute_coordinates_move_as_much() -> None:
    mech = hanging_ladder(12)
    own, absolute = mech.assemble(), mech.assemble(mb.AbsoluteCoordinates())
    assert is_nested(own)
    q, v, _ = moved(own)
    vdot = own.forward_dynamics(q, v)
    there = absolute.state_of(own, q, v)
    expected = absolute.accelerations(*there, absolute.forward_dynamics(*there))
    assert np.abs(own.accelerations(q, v, vdot) - expected).max() < 1e-9 * np.abs(expected).max()


# ------------------------------------------------------------------------------- given motions


@pytest.mark.some(2)
@each_representation
def test_some_accelerations_are_given(both_ways: Any, representation: Any) -> None:
    own, other = both_ways(hanging_ladder(8), representation=representation)
    q, v, tau = moved(other)
    vdot = np.random.default_rng(3).normal(size=own.nv)
    names = ["top left0", "foot left3", "top right6"]
    (found, efforts), (expected, wanted) = (
        each.hybrid_dynamics(q, v, tau=tau, vdot=vdot, prescribed=names) for each in (own, other)
    )
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
    assert np.abs(efforts - wanted).max() < 1e-10 * np.abs(wanted).max()


def test_joints_are_driven(both_ways: Any) -> None:
    mech = driven(hanging_ladder(8), "top left4", lambda t: 0.1 * np.sin(5.0 * t))
    systems = both_ways(mech)
    q0 = systems[0].reference_configuration()
    q, v = systems[0].close_loops(q0, np.zeros(systems[0].nv), t=0.0)
    runs = [mb.simulate(each, (0.0, 0.2), 5e-3, q=q, v=v, progress=False) for each in systems]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-10
    assert np.abs(runs[0].q[-1]).max() > 1e-3


# ----------------------------------------------------------------------------------------- runs


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "integrator",
    [
        mb.RungeKuttaMuntheKaas(), mb.CommutatorFree(mb.COMMUTATOR_FREE4), mb.GeneralizedAlpha(),
        mb.BLieDF(), mb.RATTLie(),
    ],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
def test_runs(both_ways: Any, integrator: mb.Integrator) -> None:
    systems = both_ways(hanging_ladder(8))
    q, v, _ = state(systems[1], 2)
    own, other = (
        mb.simulate(each, (0.0, 0.05), 5e-3, q=q, v=v, integrator=integrator, progress=False)
        for each in systems
    )
    assert own.residuals is not None
    assert np.abs(own.q - other.q).max() < 1e-9
    assert np.abs(own.v - other.v).max() < 1e-8 * np.abs(other.v).max()
    size = np.abs(other.multipliers).max()
    assert np.abs(own.multipliers - other.multipliers).max() < 1e-6 * size


def test_stabilised_instead_of_projected(both_ways: Any) -> None:
    systems = both_ways(hanging_ladder(8))
    q, v, _ = state(systems[1], 2)
    own, other = (
        mb.simulate(
            each, (0.0, 0.05), 2e-3, q=q, v=v, stabilisation=mb.Baumgarte(50.0), progress=False
        )
        for each in systems
    )
    assert np.abs(own.q - other.q).max() < 1e-10


def test_a_run_that_is_cut_in_two_is_the_same() -> None:
    """Nothing is kept from one evaluation to the next."""
    system = hanging_ladder(9).assemble()
    assert is_nested(system)
    q, v, _ = state(system)
    whole = mb.simulate(system, (0.0, 0.04), 5e-3, q=q, v=v, progress=False)
    first = mb.simulate(system, (0.0, 0.02), 5e-3, q=q, v=v, progress=False)
    vdot = system.forward_dynamics(whole.q[4], whole.v[4])
    system.forward_dynamics(whole.q[-1], whole.v[-1])
    assert (first.q[-1] == whole.q[4]).all()
    assert (system.forward_dynamics(whole.q[4], whole.v[4]) == vdot).all()


# --------------------------------------------------------------------------------------- choice


def test_it_is_chosen_where_loops_are_nested() -> None:
    assert is_nested(hanging_ladder(8).assemble())
    assert is_nested(rimmed_wheel(12).assemble())
    assert not is_nested(row_of_four_bars(40).assemble())  # they stand on the world
    assert not is_nested(hanging_ladder(ONE_BLOCK // 5).assemble())  # one block is cheaper
    assert not is_nested(hanging_ladder(8).assemble(mb.AbsoluteCoordinates()))


def test_other_strategies_eliminate_all_at_once() -> None:
    system = hanging_ladder(9).assemble()
    q, v, tau = moved(system)
    exact, multipliers = system.solve_dynamics(q, v, tau)
    for solver in (mb.MinimumNorm(), mb.NullSpace()):
        vdot, found = system.solve_dynamics(q, v, tau, solver=solver)
        assert np.abs(vdot - exact).max() < 1e-9 * np.abs(exact).max()
        assert np.abs(found - multipliers).max() < 1e-9 * np.abs(multipliers).max()
    chosen = system.with_constraint_solver(mb.NullSpace())
    memory = Workspace(chosen.arrays, chosen.evaluator).closure
    assert memory is not None
    assert memory.record[0]["propagations"] == 0


def test_numbers_may_be_changed() -> None:
    system = hanging_ladder(9).assemble()
    other = system.with_parameters({"bodies.rung3.mass": 4.0})
    assert is_nested(other)
    q, v, tau = moved(other)
    exact, _ = other.solve_dynamics(q, v, tau, solver=mb.MinimumNorm())
    assert np.abs(other.forward_dynamics(q, v, tau) - exact).max() < 1e-9 * np.abs(exact).max()


# --------------------------------------------------------------------------------------- growth


@pytest.mark.some(2)
@pytest.mark.parametrize("make", [hanging_ladder, rimmed_wheel])
def test_what_is_stored_grows_as_the_windows_do(make: Any) -> None:
    small, middle, large = (numbers(make(count).assemble()) for count in (10, 20, 40))
    for name, count in large.items():
        first, second = middle[name] - small[name], count - middle[name]
        assert second <= 2.0 * first * 1.02 + 8, name


def test_windows_of_a_ladder_are_not_coupled() -> None:
    blocks = hanging_ladder(20).assemble().arrays.closure.blocks
    assert blocks["num_neighbours"].max() == 0
    assert blocks["num_pairs"].max() == 1


def test_bases() -> None:
    """Of a loop the body on which all of it hangs; of what is no joint of two bodies, the world."""
    system = braced_ladder(8).assemble()
    closure = system.arrays.closure
    parent = system.arrays.bodies["parent"].tolist()
    row = {name: k for k, name in enumerate(system.arrays.joint_names)}
    nothing: list[list[int]] = [[] for _ in closure.names]
    gear = closure.names.index("gear")
    nothing[gear] = [row["top left1"], row["top left4"]]
    supports = supports_of(closure.constraints, closure.sites, nothing, parent, nested=True)
    bases = dict(zip(closure.names, [each.base for each in supports], strict=True))
    assert bases["rope"] == bases["floor"] == 0
    assert bases["gear"] == parent[row["top left1"]] != 0
    assert bases["foot right3"] == parent[row["top left3"]] == row["foot left2"]
    for support in supports_of(closure.constraints, closure.sites, nothing, parent, nested=False):
        assert support.base == 0


def test_turns_come_before_degrees() -> None:
    """A star: its hub has the most neighbours, and goes first where it is told to."""
    pairs = [(0, 1), (0, 2), (0, 3)]
    assert minimum_degree(4, pairs)[0] == [1, 2, 0, 3]
    assert minimum_degree(4, pairs, turns=[-1, 0, 0, 0])[0] == [0, 1, 2, 3]

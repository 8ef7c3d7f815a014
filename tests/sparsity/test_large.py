"""Many bodies and loops: what is stored and computed grows as they do, and stays what it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mbkit as mb
from benchmarks.absolute import (
    absolute,
    hanging_chain,
    hanging_ladder,
    rimmed_wheel,
    row_of_four_bars,
    wheel,
)
from mbkit.joints.absolute.local_coordinates import LocalCoordinates
from mbkit.sparsity.elimination_order import MANY, early_constraints, minimum_degree
from mbkit.spatial import translation
from mbkit.systems.memory.workspace import Workspace

Make = Callable[[int], mb.Mechanism]
FAMILIES: list[Make] = [hanging_chain, row_of_four_bars, hanging_ladder, wheel, rimmed_wheel]

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


def state(system: mb.System, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the reference configuration, a velocity that closes the loops, and efforts."""
    rng = np.random.default_rng(seed)
    q = system.reference_configuration()
    _, v = system.close_loops(q, rng.normal(size=system.nv))
    return q, v, rng.normal(size=system.nv)


# ------------------------------------------------------------------------------------- growth


def numbers(system: mb.System) -> dict[str, int]:
    """Return how much is stored and how many products are taken."""
    closure = system.arrays.closure
    blocks = closure.blocks
    workspace = Workspace(system.arrays, system.evaluator)
    assert workspace.closure is not None
    memory = {**vars(workspace), **workspace.closure.numbers}
    return {
        "matrix": closure.num_gram,
        "pairs": len(closure.pairs),
        "response": closure.num_response,
        "couplings": int(blocks["num_neighbours"].sum()),
        "updates": int(blocks["num_updates"].sum()),
        "bytes": sum(each.nbytes for each in memory.values() if isinstance(each, np.ndarray)),
    }


@pytest.mark.long
@pytest.mark.parametrize("make", FAMILIES)
def test_what_is_stored_grows_as_the_bodies_do(make: Make) -> None:
    """From 40 to 80 as from 20 to 40, but for what any size has."""
    small, middle, large = (numbers(absolute(make(count))) for count in (20, 40, 80))
    for name, count in large.items():
        first, second = middle[name] - small[name], count - middle[name]
        assert second <= 2.0 * first * 1.02 + 8, name


def test_a_row_of_four_bars_in_relative_coordinates_grows_as_its_windows_do() -> None:
    small, large = (numbers(row_of_four_bars(count).assemble()) for count in (20, 40))
    assert all(large[name] <= 2.1 * small[name] for name in large)


def test_the_widest_coupling_of_a_chain_is_one() -> None:
    blocks = absolute(hanging_chain(50)).arrays.closure.blocks
    assert blocks["num_neighbours"].max() == 1


def test_spokes_are_coupled_with_their_hub_alone() -> None:
    closure = absolute(wheel(3 * MANY)).arrays.closure
    assert closure.num_unknowns == closure.num_rows + 6
    assert closure.blocks["num_neighbours"].max() == 1
    assert absolute(wheel(MANY - 3)).arrays.closure.num_unknowns == 5 * (MANY - 2)


@pytest.mark.long
def test_a_thousand_bodies_take_a_step() -> None:
    system = absolute(hanging_chain(1000))
    run = mb.simulate(system, (0.0, 2e-3), 1e-3, progress=False)
    assert run.residuals is not None
    assert run.residuals[:, 0].max() < 1e-12
    assert abs(run.energy_drift[-1]) < 1e-9 * np.abs(run.potential_energy).max()


# --------------------------------------------------------------------------------- correctness


@pytest.mark.some(3)
@pytest.mark.parametrize("make", FAMILIES)
def test_motion_and_least_multipliers_are_those_of_dense_strategies(make: Make) -> None:
    system = absolute(make(MANY + 2))
    q, v, tau = state(system)
    exact, multipliers = system.solve_dynamics(q, v, tau, solver=mb.MinimumNorm())
    bound = 1e-10
    for solver in (mb.SchurComplement(), mb.NullSpace()):
        vdot, found = system.solve_dynamics(q, v, tau, solver=solver)
        # gravity is among what constraints take away, also where little moves
        assert np.abs(vdot - exact).max() < bound * (9.81 + np.abs(exact).max())
        assert np.abs(found - multipliers).max() < bound * np.abs(multipliers).max()


@pytest.mark.some(2)
@pytest.mark.parametrize("make", FAMILIES)
def test_they_balance(make: Make) -> None:
    """M vdot + b = tau + A^T lambda, A vdot + c = 0, with the dense matrices."""
    system = absolute(make(MANY + 1))
    q, v, tau = state(system, 1)
    vdot, multipliers = system.solve_dynamics(q, v, tau)
    A = system.constraint_jacobian(q)
    left = system.inverse_dynamics(q, v, vdot) - tau - A.T @ multipliers
    assert np.abs(left).max() < 1e-11 * np.abs(A.T @ multipliers).max()
    off = np.abs(system.constraint_acceleration(q, v, vdot))
    assert off.max() < 1e-10 * system.constraint_sizes(q, vdot).max()


def hub_with_loops(seed: int) -> mb.Mechanism:
    """Return a hub with parallel hinges to many bodies, some of which close loops: redundant rows.

    Loops go through the hub, past it, through the ground, and between the same two bodies twice.
    """
    rng = np.random.default_rng(seed)
    mech = mb.Mechanism(f"hub {seed}", gravity=(0, 0, -9.81))
    inertia = mb.SpatialInertia.box(1.0, size=(0.3, 0.2, 0.1))
    count = MANY + 4
    for k in range(count + 1):
        mech.add_body(mb.Body(f"b{k}", inertia, translation(rng.normal(size=3))))
    planar = rng.random() < 0.5

    def join(name: str, a: str, b: str) -> None:
        axis = (0, 1, 0) if planar or rng.random() < 0.5 else rng.normal(size=3)
        point = rng.normal(size=3)
        kinds = (mb.RevoluteJoint(name, axis, point), mb.SphericalJoint(name, point))
        mech.add_joint(kinds[int(rng.random() < 0.3)], a, b)

    for k in range(1, count + 1):
        join(f"root{k}", "b0", f"b{k}")
    for k in range(1, int(rng.integers(2, 6))):
        join(f"rim{k}", f"b{k}", f"b{k + 1}")
    join("ground", "world", f"b{int(rng.integers(0, count + 1))}")
    if rng.random() < 0.5:
        join("again", "b1", "b2")
        join("to the ground", "b3", "world")
    return mech


@pytest.mark.some(12)
@pytest.mark.parametrize("seed", range(24))
def test_a_hub_finds_the_rank_and_the_motion_of_the_dense_strategy(seed: int) -> None:
    system = absolute(hub_with_loops(seed))
    assert system.num_velocity_constraints < system.arrays.closure.num_unknowns
    rng = np.random.default_rng(seed)
    q, v, tau = system.reference_configuration(), np.zeros(system.nv), rng.normal(size=system.nv)
    dense = system.with_constraint_solver(mb.MinimumNorm())
    exact, multipliers, kept = dense.solved(q, v, tau)
    vdot, found, own = system.solved(q, v, tau)
    assert own.sum() == kept.sum()
    # a factor of A M^-1 A^T has the square of the condition of A M^-1/2
    L = np.linalg.cholesky(system.mass_matrix(q))
    sizes = np.linalg.svd(np.linalg.solve(L, system.constraint_jacobian(q).T), compute_uv=False)
    bound = 100.0 * np.finfo(float).eps * (sizes[0] / sizes[int(kept.sum()) - 1]) ** 2
    assert np.abs(vdot - exact).max() < bound * np.abs(exact).max()
    assert np.abs(found - multipliers).max() < bound * np.abs(multipliers).max()


def test_the_velocities_of_a_hub_may_be_prescribed() -> None:
    """Hybrid dynamics: then no body floats whose velocities are given."""
    system = absolute(wheel(MANY + 2, axle=False))
    assert system.arrays.closure.num_unknowns > system.num_velocity_constraints
    q, v, tau = state(system)
    exact, _ = system.solve_dynamics(q, v, tau)
    vdot, efforts = system.hybrid_dynamics(q, v, tau=tau, vdot=exact, prescribed=["hub (free)"])
    assert np.abs(vdot - exact).max() < 1e-10 * np.abs(exact).max()
    assert np.abs(efforts - tau).max() < 1e-10 * np.abs(exact).max()


def test_the_bars_of_a_rim_are_not_coupled_across_the_wheel() -> None:
    """Loops of one hub go before it: each is coupled with the next one and with the hub."""
    closure = absolute(rimmed_wheel(3 * MANY)).arrays.closure
    assert closure.num_unknowns == closure.num_rows + 6
    assert closure.blocks["num_neighbours"].max() <= 4


def test_nothing_waits_without_hubs_and_loops_through_two_of_them_wait() -> None:
    """A body between two hubs: the second joint goes last."""
    order, later = minimum_degree(
        4, [(0, 3), (1, 3), (0, 2), (1, 2)], frozenset({3}), frozenset({0, 1})
    )
    assert order.index(2) == 3
    assert later[2] == []
    rows = np.zeros(5, dtype=[("floating", np.int64)])
    rows["floating"][1:] = 1
    between = [(3, 1), (3, 2), (1, 2), (2, 4)]
    assert early_constraints(between, [3, 4], rows) == {0, 1, 2}
    assert early_constraints([(3, 1), (1, 0)], [3], rows) == {1}
    assert early_constraints([(3, 1), (3, 2), (1, 2), (3, 1)], [3], rows) == {0, 1, 2, 3}


# ------------------------------------------------------------------------------ floating bodies


def cloud(free: Callable[[str], mb.Joint]) -> mb.Mechanism:
    """Return bodies that fly, pulled by springs, one of which carries another."""
    rng = np.random.default_rng(5)
    mech = mb.Mechanism("cloud", gravity=(0.5, -1.0, -9.81))
    for k in range(4):
        moment = np.diag([0.3, 0.4, 0.5]) + 0.02 * np.ones((3, 3))
        inertia = mb.SpatialInertia.from_com(1.0 + k, rng.normal(size=3), moment)
        mech.add_body(mb.Body(f"b{k}", inertia, translation(rng.normal(size=3))))
        if k < 3:
            mech.add_joint(free(f"f{k}"), "world", f"b{k}")
    mech.add_joint(mb.RevoluteJoint("h", axis=(0.2, 1, 0), point=(1, 2, 3)), "b2", "b3")
    mech.add_force(
        mb.SpringDamper("s", "b0", "b1", stiffness=7.0, damping=0.3, rest_length=0.2,
                        point_a=(0.1, 0.2, 0.3), point_b=(0.0, 0.1, 0.0))
    )  # fmt: skip
    return mech


def test_free_bodies_float_and_those_that_carry_others_do_not() -> None:
    floating = cloud(mb.FreeJoint).assemble().arrays.bodies["floating"]
    assert (floating[1:] != 0).sum() == 2
    rates = cloud(lambda name: mb.FreeJoint(name, coordinates="first kind")).assemble()
    assert not rates.arrays.bodies["floating"].any()
    hybrid = cloud(mb.FreeJoint).assemble(mb.RelativeCoordinates(representation=mb.Hybrid()))
    assert not hybrid.arrays.bodies["floating"].any()


class OwnRepresentation(mb.Representation):
    """A user's: body-fixed twists by another class."""

    name = "body_fixed"
    kernel_package = "mbkit.kernels.body_fixed"

    def twist_map(self, C: Any) -> Any:
        return mb.BodyFixed().twist_map(C)

    def twist_map_rate(self, C: Any, V_b: Any) -> Any:
        return mb.BodyFixed().twist_map_rate(C, V_b)


def test_bodies_float_in_a_representation_of_a_user() -> None:
    systems = [
        cloud(mb.FreeJoint).assemble(mb.RelativeCoordinates(representation=each))
        for each in (mb.BodyFixed(), OwnRepresentation())
    ]
    floating = systems[1].arrays.bodies["floating"]
    assert (floating[1:] != 0).sum() == 2
    q = systems[0].reference_configuration()
    v, tau = np.random.default_rng(2).normal(size=(2, systems[0].nv))
    expected, found = (each.forward_dynamics(q, v, tau) for each in systems)
    np.testing.assert_array_equal(found, expected)


def test_a_body_without_inertia_about_an_axis_does_not_float() -> None:
    mech = mb.Mechanism("needle")
    needle = mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.diag([1.0, 1.0, 0.0]))
    mech.add_body(mb.Body("needle", needle))
    mech.add_joint(mb.FreeJoint("flight"), "world", "needle")
    with pytest.raises(mb.InertiaError):
        mech.assemble()


@pytest.mark.parametrize("seed", range(4))
def test_floating_bodies_move_as_by_elimination(seed: int) -> None:
    """The same mechanism in a representation in which no body floats."""
    rng = np.random.default_rng(seed)
    system = cloud(mb.FreeJoint).assemble()
    other = cloud(mb.FreeJoint).assemble(mb.RelativeCoordinates(representation=mb.Hybrid()))
    q = system.retract(system.reference_configuration(), rng.normal(size=system.nv))
    v, tau = rng.normal(size=(2, system.nv))
    wrenches = {f"b{k}": rng.normal(size=6) for k in range(4)}
    at_world = {name: (np.asarray(W)) for name, W in wrenches.items()}
    vdot = system.forward_dynamics(q, v, tau, at_world)
    assert np.allclose(system.inverse_dynamics(q, v, vdot, at_world), tau, rtol=0, atol=1e-10)
    assert np.allclose(
        system.forward_dynamics(q, v, tau), other.forward_dynamics(q, v, tau), rtol=0, atol=1e-10
    )
    run, same = (
        mb.simulate(each, (0.0, 0.1), 1e-3, q=q, v=v, tau=tau, progress=False)
        for each in (system, other)
    )
    assert np.abs(run.q[-1] - same.q[-1]).max() < 1e-11


@pytest.mark.some(2)
@pytest.mark.parametrize("trivialised", ["left", "right"])
@pytest.mark.parametrize(
    "local",
    [
        mb.ScrewCoordinates(), mb.RotationVectorPosition(), mb.ExtendedRodrigues(),
        mb.WienerMilenkovicPosition(),
    ],
)  # fmt: skip
def test_absolute_joints_float_in_the_representation_that_their_velocities_are(
    local: LocalCoordinates, trivialised: str
) -> None:
    def free(name: str) -> mb.Joint:
        return mb.AbsoluteJoint(name, local=local, trivialised=trivialised)

    own = local.representation(trivialised)
    systems = [
        cloud(free).assemble(mb.RelativeCoordinates(representation=each))
        for each in (own, mb.BodyFixed(), mb.Mixed(), mb.Hybrid(), mb.Spatial())
    ]
    for system in systems:
        floats = int((system.arrays.bodies["floating"] != 0).sum())
        assert floats == (2 if system.representation.name == own.name else 0)
    rng = np.random.default_rng(3)
    q = systems[0].retract(systems[0].reference_configuration(), rng.normal(size=systems[0].nv))
    v, tau = rng.normal(size=(2, systems[0].nv))
    wrenches = {f"b{k}": rng.normal(size=6) for k in range(4)}
    vdot = systems[0].forward_dynamics(q, v, tau)
    back = systems[0].inverse_dynamics(
        q, v, systems[0].forward_dynamics(q, v, tau, wrenches), wrenches
    )
    assert np.abs(back - tau).max() < 1e-10
    runs = [mb.simulate(s, (0, 0.05), 1e-3, q=q, v=v, tau=tau, progress=False) for s in systems]
    for system, run in zip(systems[1:], runs[1:], strict=True):
        assert np.abs(system.forward_dynamics(q, v, tau) - vdot).max() < 1e-10 * np.abs(vdot).max()
        assert np.abs(run.q[-1] - runs[0].q[-1]).max() < 1e-10


@pytest.mark.some(2)
@pytest.mark.parametrize("trivialised", ["left", "right"])
@pytest.mark.parametrize("local", [mb.ScrewCoordinates(), mb.RotationVectorPosition()])
def test_constraints_on_absolute_joints_are_solved_as_by_elimination(
    local: LocalCoordinates, trivialised: str
) -> None:
    """In the representation in which bodies float, and in one in which they do not."""
    mech = hanging_chain(12)
    joints = list(mech.joints)
    for name in list(mech.bodies):
        free = mb.AbsoluteJoint(f"{name} (free)", local=local, trivialised=trivialised)
        mech.add_joint(free, "world", name)
    own = local.representation(trivialised)
    other = mb.Mixed() if own.name != "mixed" else mb.Hybrid()
    first, second = (
        mech.assemble(mb.RelativeCoordinates(representation=each, loop_joints=joints))
        for each in (own, other)
    )
    assert (first.arrays.bodies["floating"][1:] != 0).all()
    assert not second.arrays.bodies["floating"].any()
    q, v, tau = state(second)
    expected, multipliers = second.solve_dynamics(q, v, tau)
    for solver in (mb.SchurComplement(), mb.MinimumNorm(), mb.NullSpace()):
        vdot, found = first.solve_dynamics(q, v, tau, solver=solver)
        assert np.abs(vdot - expected).max() < 1e-9 * np.abs(expected).max()
        assert np.abs(found - multipliers).max() < 1e-9 * np.abs(multipliers).max()
    runs = [
        mb.simulate(each, (0, 0.02), 1e-3, q=q, v=v, progress=False) for each in (first, second)
    ]
    assert np.abs(runs[0].q[-1] - runs[1].q[-1]).max() < 1e-9


# -------------------------------------------------------------------------------- sizes, frames


@pytest.mark.parametrize("coordinates", ["absolute", "relative"])
def test_sizes_are_those_of_the_jacobian(coordinates: str) -> None:
    mech = row_of_four_bars(3)
    if coordinates == "relative":
        mech.add_constraint(mb.GearRatio("gears", "ground0", "ground1", ratio=-2.0))
    system = absolute(mech) if coordinates == "absolute" else mech.assemble()
    rng = np.random.default_rng(2)
    q = system.retract(system.reference_configuration(), rng.normal(size=system.ndx))
    x = rng.normal(size=(3, system.nv))
    exact = np.abs(x) @ np.abs(system.constraint_jacobian(q)).T
    assert np.allclose(system.constraint_sizes(q, x), exact, rtol=1e-13, atol=1e-13)


def test_multipliers_do_not_depend_on_where_the_world_has_its_origin() -> None:
    """Also the least ones, of redundant hinges that are given in the world."""

    def multipliers(shift: float) -> np.ndarray:
        mech = mb.Mechanism("doubled")
        rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
        mech.add_body(mb.Body("rod", rod, translation((0.5 + shift, 2 * shift, -shift))))
        for name, y in (("a", 0.1), ("b", -0.1), ("c", 0.2)):
            point = (shift, y + 2 * shift, -shift)
            mech.add_joint(mb.RevoluteJoint(name, axis=(0, 1, 0), point=point), "world", "rod")
        system = mech.assemble(mb.RelativeCoordinates(loop_joints=["b", "c"], length=1.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return system.solve_dynamics([0.0], [1.0])[1]

    assert np.allclose(multipliers(0.0), multipliers(100.0), rtol=0, atol=1e-9)


@pytest.mark.long
def test_far_from_the_origin_equations_are_met_as_well() -> None:
    """Hinges of a chain of 1000 bars are up to 200 m away; moments are taken beside the bars."""
    system = absolute(hanging_chain(1000))
    q, v = system.reference_configuration(), np.zeros(system.nv)
    vdot, _ = system.solve_dynamics(q, v)
    left = np.abs(system.constraint_acceleration(q, v, vdot)).reshape(-1, 5)
    assert left[:, 2:].max() < 1e-9
    assert left[:, :2].max() < 1e-9 * system.arrays.closure.length

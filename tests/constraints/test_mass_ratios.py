"""Every strategy is as right as its page says, or refuses: against 60 digits, whatever the masses.

The page is docs/constraint-solvers.md. M, A and right sides are those of the system in doubles.
"""

from __future__ import annotations

import functools
from typing import Any

import attrs
import gmpy2
import numpy as np
import pytest
import scipy.linalg

import mbkit as mb
from tests.at_each import at_each
from tests.constraints.closed_mechanisms import assembled, four_bar
from tests.constraints.loops import random_loops
from tests.constraints.test_solvers import doubled
from tests.trees import Generator

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

#: Errors by the largest acceleration, where rounding of forces moves no light body by more.
BOUNDS: dict[Any, float] = {
    mb.SchurComplement(): 1e-10,
    mb.MinimumNorm(): 1e-10,
    mb.NullSpace(): 1e-10,
}
each_solver = pytest.mark.parametrize("solver", BOUNDS, ids=lambda s: type(s).__name__)

#: Where it does, by the ratio of inertias, and what is refused.
ROUNDING, REFUSED = 1e-15, 1e-5

#: Ratios of inertias that a strategy solves for at least, and those that it cannot.
SOLVED = {"SchurComplement": 1e14, "MinimumNorm": 1e16, "NullSpace": 1e16}

#: The same where rows are more than are compared with each other.
SOLVED_OF_MANY = 1e11


# ------------------------------------------------------------------------------------- reference


def solved(K: Any, right: Any) -> Any:
    """Return x with K x = right, by elimination with pivots; entries are numbers of 60 digits."""
    K, x, n = K.copy(), right.copy(), len(right)
    for j in range(n):
        best = j + max(range(n - j), key=lambda i: abs(K[j + i, j]))
        K[[j, best]], x[[j, best]] = K[[best, j]], x[[best, j]]
        for i in range(j + 1, n):
            if K[i, j] != 0:
                part = K[i, j] / K[j, j]
                K[i, j:] -= part * K[j, j:]
                x[i] -= part * x[j]
    for j in range(n - 1, -1, -1):
        x[j] = (x[j] - sum(K[j, j + 1 :] * x[j + 1 :])) / K[j, j]
    return x


def accelerations(system: mb.System, q: Any, tau: Any) -> Any:
    """Return vdot at rest from [M, -A^T; A, 0], with as many rows of A as are independent."""
    A, n = system.constraint_jacobian(q), system.nv
    v = np.zeros(n)
    _, R, order = scipy.linalg.qr(A.T, pivoting=True, mode="economic")
    sizes = np.abs(np.diag(R))
    rows = np.sort(order[: int((sizes > 1e-9 * sizes[0]).sum())])
    exact = np.vectorize(lambda x: gmpy2.mpfr(float(x)), otypes=[object])
    with gmpy2.context(precision=200):
        K = exact(np.zeros((n + len(rows), n + len(rows))))
        K[:n, :n], K[:n, n:], K[n:, :n] = exact(system.mass_matrix(q)), -exact(A[rows].T), A[rows]
        K[n:, :n] = exact(A[rows])
        force = exact(tau) - exact(system.bias_force(q, v))
        x = solved(K, np.concatenate([force, -exact(system.constraint_bias(q, v)[rows])]))
    return np.array([float(each) for each in x[:n]])


def bound(solver: Any, ratio: float) -> float:
    """Return what the page promises."""
    return min(max(BOUNDS[solver], ROUNDING * ratio), REFUSED)


def error(system: mb.System, q: Any, tau: Any, solver: Any, exact: Any) -> float:
    """Return that of vdot by its largest entry, which both ways to it have in common."""
    one = system.with_constraint_solver(solver)
    vdot, _ = one.solve_dynamics(q, np.zeros(system.nv), tau)
    assert np.array_equal(vdot, one.forward_dynamics(q, np.zeros(system.nv), tau))
    return float(np.abs(vdot - exact).max() / np.abs(exact).max())


# ---------------------------------------------------------------------------------------- chains

PATTERNS = {
    "light between heavy": lambda r: (1.0, 1.0 / r, 1.0, 1.0),
    "alternating": lambda r: (1.0, 1.0 / r, 1.0, 1.0 / r),
    "heavy tip": lambda r: (1.0, 1.0, 1.0, r),
    "light tip": lambda r: (1.0, 1.0, 1.0, 1.0 / r),
}


def chain(masses: tuple[float, ...], joint: str, fall: float = 9.81) -> mb.Mechanism:
    """Return rods of one metre, each on the one before, in all directions or in a plane."""
    rng = np.random.default_rng(0)
    mech = mb.Mechanism("chain", gravity=(0.0, 0.0, -fall))
    end, before = np.zeros(3), "world"
    for k, mass in enumerate(masses):
        along = rng.normal(size=3) if joint == "ball" else np.array([1.0, 0.0, rng.normal()])
        along /= np.linalg.norm(along)
        across = np.cross(along, (0.1, 1.0, 0.0) if joint == "ball" else (0.0, 1.0, 0.0))
        across /= np.linalg.norm(across)
        pose = np.eye(4)
        pose[:3, :3] = np.c_[along, -np.cross(along, across), across]
        pose[:3, 3] = end + along / 2.0
        inertia = mb.SpatialInertia.from_com(mass, (0, 0, 0), mass * np.diag([0.02, 0.09, 0.1]))
        mech.add_body(mb.Body(f"rod{k}", inertia, pose))
        made: Any = mb.SphericalJoint(f"joint{k}", tuple(end))
        if joint == "hinge":
            made = mb.RevoluteJoint(f"joint{k}", (0, 1, 0), tuple(end))
        mech.add_joint(made, before, f"rod{k}")
        before, end = f"rod{k}", end + along
    return mech


@functools.cache
def posed(pattern: str, joint: str, ratio: float) -> Any:
    system = chain(PATTERNS[pattern](ratio), joint).assemble(mb.AbsoluteCoordinates())
    q, tau = system.reference_configuration(), np.zeros(system.nv)
    return system, q, tau, accelerations(system, q, tau)


@pytest.mark.some(4)
@each_solver
@at_each("ratio", {each: each for each in (1.0, 1e3, 1e7, 1e11, 1e13, 1e15, 1e17, 1e20)})
@pytest.mark.parametrize("joint", ["hinge", "ball"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_chains(pattern: str, joint: str, ratio: float, solver: Any) -> None:
    system, q, tau, exact = posed(pattern, joint, ratio)
    try:
        found = error(system, q, tau, solver, exact)
    except mb.ConstraintError as refused:
        message = str(refused)
        assert "contradict each other: no acceleration" not in message
        assert "Inertias differ by a ratio of" in message
        assert "least beyond joint 'rod1 (free)'" in message
        assert pattern not in ("heavy tip", "light tip")
        if "rounding of the forces" in message:  # of a rod that turns about its own axis
            assert joint == "ball"
            assert "accelerates joint 'rod" in message
            assert ratio > 1e9
        else:
            assert "constraint 'joint" in message
            assert ratio > SOLVED[type(solver).__name__]
    else:
        assert found < bound(solver, ratio if joint == "ball" else 1.0)


@pytest.mark.some(3)
@each_solver
@pytest.mark.parametrize("ratio", [1.0, 1e8, 1e11, 1e14, 1e18])
def test_chains_of_many_rows(ratio: float, solver: Any) -> None:
    """More than are compared with each other: what is left of a row decides, masses and all."""
    masses = (1.0, 1.0 / ratio, 1.0, 1.0, 1.0 / ratio, 1.0)
    system = chain(masses, "hinge").assemble(mb.AbsoluteCoordinates())
    q, tau = system.reference_configuration(), np.zeros(system.nv)
    try:
        found = error(system, q, tau, solver, accelerations(system, q, tau))
    except mb.ConstraintError as refused:
        message = str(refused)
        assert "finds no accelerations that satisfy the constraint 'joint" in message
        assert ratio > SOLVED_OF_MANY
    else:
        assert found < BOUNDS[solver]


@each_solver
@pytest.mark.parametrize("pattern", ["light between heavy", "alternating"])
def test_forward_dynamics_alone_refuses(pattern: str, solver: Any) -> None:
    system, q, tau, _ = posed(pattern, "hinge", 1e20)
    system = system.with_constraint_solver(solver)
    with pytest.raises(mb.ConstraintError, match=r"Inertias differ .* the solver loses the row"):
        system.forward_dynamics(q, tau)
    assert np.isnan(system.forward_dynamics(q, tau, on_error="nan")).all()


@each_solver
def test_balance_is_no_error(solver: Any) -> None:
    """Without loads all that is left is rounding, of nothing."""
    mech = chain(PATTERNS["light between heavy"](1e14), "hinge", fall=0.0)
    system = mech.assemble(mb.AbsoluteCoordinates())
    vdot, _ = system.solve_dynamics(
        system.reference_configuration(), np.zeros(system.nv), solver=solver
    )
    assert np.abs(vdot).max() < 1e-12


@each_solver
def test_runs_say_it(solver: Any) -> None:
    """Where the first evaluation refuses, a run does not start."""
    system = posed("light between heavy", "hinge", 1e20)[0]
    with pytest.raises(mb.ConstraintError, match="Inertias differ by a ratio of"):
        mb.simulate(system, (0.0, 1e-2), 1e-3, constraint_solver=solver, progress=False)


@pytest.mark.some(4)
@each_solver
@pytest.mark.parametrize("ratio", [1e4, 1e8])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_chains_in_relative_coordinates(pattern: str, ratio: float, solver: Any) -> None:
    """The recursions lose the ratio: a light body carries what is heavy, and gives way."""
    mech = chain(PATTERNS[pattern](ratio), "hinge")
    tip = mech.bodies["rod3"].pose[:3] @ (0.5, 0.0, 0.0, 1.0)
    mech.add_joint(mb.RevoluteJoint("last", (0, 1, 0), tip), "rod3", "world")
    absolute = mech.assemble(mb.AbsoluteCoordinates())
    exact = accelerations(absolute, absolute.reference_configuration(), np.zeros(absolute.nv))
    turning = exact.reshape(-1, 6)[:, 1]  # all hinges are along the bodies' y axes
    system = mech.assemble()
    q, v = system.reference_configuration(), np.zeros(system.nv)
    system = system.with_constraint_solver(solver)
    A = system.accelerations(q, v, system.forward_dynamics(q, v))
    assert np.abs(A[1:, 1] - turning).max() < 1e-14 * ratio * np.abs(turning).max()


# --------------------------------------------------------------------------- random mechanisms


def mechanism(rng: Generator, decades: float) -> Any:
    """Return a system in absolute coordinates, and where its loops close; one loop is doubled."""
    kinds = tuple(rng.choice(("revolute", "spherical", "universal"), int(rng.integers(1, 3))))
    tree = ("revolute", "spherical", "universal")
    mech, q, names = random_loops(rng, int(rng.integers(4, 8)), kinds, tree)
    edge = mech.joints[names[0]]
    twin = attrs.evolve(edge.joint, name="again")
    mech.add_joint(twin, edge.predecessor, edge.successor, frames=(edge.S_pred, edge.S_succ))
    relative = mech.assemble(mb.RelativeCoordinates(loop_joints=(*names, "again")))
    factors = 10.0 ** rng.uniform(-decades / 2.0, decades / 2.0, len(mech.bodies))
    numbers = {}
    for factor, (name, body) in zip(factors, mech.bodies.items(), strict=True):
        inertia = body.inertia
        numbers[f"bodies.{name}.mass"] = factor * inertia.mass
        numbers[f"bodies.{name}.moment_about_com"] = factor * inertia.moment_about_com
    system = mech.assemble(mb.AbsoluteCoordinates()).with_parameters(numbers)
    return system, system.state_of(relative, q)[0]


@functools.cache
def random_posed(seed: int, decades: float) -> Any:
    rng = np.random.default_rng(seed)
    while True:
        system, q = mechanism(rng, decades)
        sizes = np.linalg.svd(system.constraint_jacobian(q), compute_uv=False)
        sizes = sizes[sizes > 1e-9 * sizes[0]]
        if len(sizes) < system.nv and sizes[-1] > 1e-2 * sizes[0]:
            tau = rng.normal(size=system.nv)
            return system, q, tau, accelerations(system, q, tau)


@pytest.mark.some(6)
@each_solver
@pytest.mark.parametrize("decades", [0.0, 6.0, 10.0, 14.0])
@pytest.mark.parametrize(
    "seed", [0, 1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)]
)
def test_random_mechanisms_with_redundant_loops(seed: int, decades: float, solver: Any) -> None:
    system, q, tau, exact = random_posed(seed, decades)
    ratio = system.arrays.inertia_spread.ratio
    try:
        found = error(system, q, tau, solver, exact)
    except mb.ConstraintError as refused:
        message = str(refused)
        assert "Inertias differ by a ratio of" in message
        assert ratio > 1e9
    else:
        assert found < bound(solver, ratio)


@pytest.mark.some(3)
@pytest.mark.parametrize("seed", [2, 5, 33, 347, 354, 366])
def test_random_mechanisms_in_relative_coordinates(seed: int) -> None:
    """Those of 400 in which a factor alone is off most, by up to 2e-9."""
    rng = np.random.default_rng(seed)
    system, q = doubled(rng, loops=int(rng.integers(2, 8)))
    tau = rng.normal(size=system.nv)
    exact = accelerations(system, q, tau)
    for solver, most in BOUNDS.items():
        assert error(system, q, tau, solver, exact) < most


# ------------------------------------------------------------------------------- contradictions


@each_solver
def test_what_contradicts_is_told_from_what_is_hard(solver: Any) -> None:
    """A prescribed point that is pulled away from where a rod of the same length holds it."""
    mech = chain((1.0,), "hinge")
    tip = mech.bodies["rod0"].pose[:3] @ (0.5, 0.0, 0.0, 1.0)
    away = mb.PrescribedPoint("away", "rod0", lambda t: tip * (1.0 + t * t), point=(0.5, 0, 0))
    mech.add_constraint(away)
    system = mech.assemble()
    with pytest.raises(mb.ConstraintError, match="constraints contradict each other"):
        system.solve_dynamics(np.zeros(1), np.zeros(1), solver=solver)


@pytest.mark.parametrize(
    "solver", [mb.MinimumNorm(0.5), mb.NullSpace(0.5), mb.SchurComplement(0.5)]
)
def test_rows_that_a_tolerance_loses_contradict_nothing(solver: Any) -> None:
    system = assembled(four_bar())
    q = system.reference_configuration()
    v = system.consistent_velocity({"A": 3.0}, q)
    system.solve_dynamics(q, v)
    with pytest.raises(mb.ConstraintError, match="though there are accelerations that satisfy"):
        system.solve_dynamics(q, v, solver=solver)


# ------------------------------------------------------------------------------------- inertias


def spread(*bodies: mb.Body, cut: str = "joint") -> Any:
    mech = mb.Mechanism("bodies")
    for k, body in enumerate(bodies):
        mech.add_body(body)
        mech.add_joint(mb.RevoluteJoint(f"hinge{k}", (0, 0, 1), (0, 0, 0)), "world", body.name)
    return mech.assemble(mb.RelativeCoordinates(body_frames=cut)).arrays


def sphere(name: str, mass: float, radius: float, place: float = 0.0) -> mb.Body:
    inertia = mb.SpatialInertia.from_com(mass, (place, 0, 0), 0.4 * mass * radius**2 * np.eye(3))
    return mb.Body(name, inertia)


@pytest.mark.parametrize("cut", ["joint", "world"])
def test_spread_is_of_masses_and_of_central_moments(cut: str) -> None:
    arrays = spread(sphere("a", 2.0, 1.0, 30.0), sphere("b", 1e-3, 0.1), cut=cut)
    found = arrays.inertia_spread
    assert found.ratio == pytest.approx(2.0 / (0.4e-5 / arrays.closure.length**2), rel=1e-9)
    assert [arrays.joint_names[k] for k in (found.least, found.greatest)] == ["hinge1", "hinge0"]


def test_spread_counts_no_rounding_and_no_zeros() -> None:
    """A thin rod has no moment about its axis; far away it has that of rounding."""
    rod = mb.SpatialInertia.from_com(1.0, (90.1, 20.3, 0.7), np.diag([0.0, 0.1, 0.1]))
    arrays = spread(mb.Body("rod", rod), sphere("ball", 1.0, 0.5), cut="world")
    assert arrays.inertia_spread.ratio == pytest.approx(10.0 * arrays.closure.length**2, rel=1e-9)

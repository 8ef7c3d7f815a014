"""Derivatives of what constraints do, exact: against complex steps.

A complex step has no error but rounding (`tests.systems.complex_steps`). At fixed accelerations and
multipliers, which need not satisfy them, an input changes A vdot + A-dot v + ... and A^T lambda.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from mbkit.systems.derivatives import parameter_changes
from mbkit.systems.derivatives.evaluation_states import Point
from mbkit.systems.derivatives.input_changes import change_by_input
from mbkit.systems.derivatives.parameter_changes import change_by_parameter
from tests.constraints.closed_mechanisms import assembled, cycle, four_bar, hinge
from tests.constraints.examples import EXAMPLES
from tests.constraints.loops import LOOP_KINDS, mobile_loops
from tests.constraints.test_built_in import _mechanism
from tests.systems.complex_steps import ComplexEvaluation
from tests.trees import random_state

pytestmark = [pytest.mark.slow, pytest.mark.compiled]

#: Of the largest term that an entry is the sum of. Differences leave 1e-12.
ROUNDING = 1e-13

#: Between the times of tables.
TIME = 0.4

COMPILED = [each for each in EXAMPLES if each.kernel() is not None]


def random_point(rng, system, q):
    """Return a state of a system with constraints, with any accelerations and multipliers."""
    v, vdot, multipliers = (
        rng.normal(size=(1, n)) for n in (system.nv, system.nv, system.num_velocity_constraints)
    )
    rank = np.array([multipliers.size])
    none = np.zeros(system.nv, dtype=bool)
    tau = np.zeros((1, system.nv))
    return Point(system, q[None], v, vdot, tau, np.array([TIME]), multipliers, rank, none, False)


def evaluations(system, names):
    """Return A and A-dot v + ... on complex numbers, with some parameters among the inputs."""
    A = ComplexEvaluation(system, "constraint_jacobian", [n for n in names if n not in ("q", "t")])
    return A, A.another("constraint_bias")


def expected_changes(point, name, exact=None):
    """Return what an input changes of rows, A vdot + A-dot v + ..., and of -A^T lambda."""
    given = {"q": point.q[0], "v": point.v[0]}
    A, bias = (each.by(given, name, TIME) for each in exact or evaluations(point.system, [name]))
    turned = np.einsum("mvk,v->mk", A, point.vdot[0])
    forces = -np.einsum("mvk,m->vk", A, point.multipliers[0])
    return bias + turned, forces


def assert_exact(change, expected, size):
    found = np.asarray(change)[0] if np.ndim(change) else change
    assert np.abs(found - expected).max(initial=0.0) <= ROUNDING * size


def check(point, name, own=None, exact=None):
    """Compare what an input changes with complex steps."""
    change = change_by_input(point, name) if own is None else own
    rows, forces = expected_changes(point, name, exact)
    speed = 1.0 + np.abs(point.v).max() ** 2 + np.abs(point.vdot).max()
    tree = point.by_state[0] if name == "q" else 0.0  # what efforts change besides
    size = speed * (1.0 + np.abs(rows).max(initial=0.0) + np.abs(forces).max(initial=0.0))
    assert_exact(change.rows, rows, size)
    assert_exact(change.efforts - tree, forces, size + np.abs(tree).max(initial=0.0))


def numbers_of(constraint):
    """Return names of numbers that may move alone, linear or not."""
    fields = ("length", "point", "point_a", "point_b", "ratio", "offset", "coefficients", "radius")
    system = _mechanism(constraint).assemble()
    names = [n for n in system.parameters if n.startswith("constraints.")]
    return [n for n in names if n.rpartition(".")[2] in (*fields, "center", "places", "lift")]


CASES = [
    pytest.param(each, name, id=name.partition(".")[2])
    for each in COMPILED
    for name in numbers_of(each)
    if name != "constraints.cam.lift"  # its ends belong together
]


@pytest.mark.some(10)
@pytest.mark.parametrize(("constraint", "name"), CASES)
def test_every_number_of_every_constraint(constraint, name):
    rng = np.random.default_rng(83)
    system = _mechanism(constraint).assemble(mb.RelativeCoordinates(length=0.7))
    point = random_point(rng, system, random_state(rng, system).q)
    own = change_by_parameter(point, name)
    value = np.asarray(system.parameters[name])
    if value.size < 12:
        check(point, name, own)
        return
    for k in (0, value.size // 2, value.size - 2):  # of tables
        one = own._replace(efforts=own.efforts[..., k : k + 1], rows=own.rows[..., k : k + 1])
        index = ",".join(map(str, np.unravel_index(k, value.shape)))
        check(point, f"{name}[{index}]", one)


@pytest.mark.some(2)
@pytest.mark.parametrize("constraint", COMPILED, ids=lambda each: each.name)
@pytest.mark.parametrize("name", ["q", "t"])
def test_states_and_time_of_every_constraint(constraint, name):
    rng = np.random.default_rng(84)
    system = _mechanism(constraint).assemble(mb.RelativeCoordinates(length=0.7))
    point = random_point(rng, system, random_state(rng, system).q)
    check(point, name)


@pytest.mark.some(3)
@pytest.mark.parametrize("constraint", COMPILED, ids=lambda each: each.name)
def test_the_jacobian_of_every_constraint(constraint):
    rng = np.random.default_rng(86)
    system = _mechanism(constraint).assemble(mb.RelativeCoordinates(length=0.7))
    point = random_point(rng, system, random_state(rng, system).q)
    q, v, multipliers = point.q[0], point.v[0], point.multipliers[0]
    A = ComplexEvaluation(system, "constraint_jacobian").by({"q": q}, "q", TIME)
    size = 1.0 + np.abs(A).max(initial=0.0)
    found = system.constraint_jacobian_velocity_derivative(point.q, [v, 2.0 * v], TIME)
    expected = np.einsum("mvk,v->mk", A, v)
    assert_exact(found[:1], expected, size * np.abs(v).max())
    assert_exact(found[1:], 2.0 * expected, 2.0 * size * np.abs(v).max())
    found = system.constraint_force_derivative(point.q, multipliers, TIME)
    expected = np.einsum("mvk,m->vk", A, multipliers)
    assert_exact(found, expected, size * np.abs(multipliers).max(initial=1.0))


@pytest.mark.some(3)
@pytest.mark.parametrize("kind", [kind for kind in LOOP_KINDS if kind != "angles"])
def test_states_and_places_of_loop_joints(kind):
    """Positions of their frames; the other entries of a pose are refused beside its value.

    Angles choose among their sequences by case, which leaves no tape.
    """
    rng = np.random.default_rng(85)
    tree = ("revolute", "spherical", "composite", "planar", "free")
    system, q = mobile_loops(rng, 7, [kind], tree=tree)
    system = system._blueprint.with_length(0.7)
    point = random_point(rng, system, q)
    if system._exact_constraints is None:
        check(point, "q")
        return
    joint = system.loop_joints[0]
    ends = (f"joints.{joint}.{end}[{j},3]" for end in ("S_pred", "S_succ") for j in range(3))
    exact = evaluations(system, [*ends])  # once, since they take the time
    check(point, "q", exact=exact)
    for end in ("S_pred", "S_succ"):
        name = f"joints.{joint}.{end}"
        change = change_by_parameter(point, name)
        R = np.asarray(system.parameters[name])[:3, :3]
        for j in range(3):  # dp = R x
            own = change._replace(
                efforts=change.efforts[..., 3:] @ R[j][:, None],
                rows=change.rows[..., 3:] @ R[j][:, None],
            )
            check(point, f"{name}[{j},3]", own, exact)


#: By kind of loop joint: numbers of its own, besides where it is.
OWN_NUMBERS = {
    "helical": ["pitch"],
    "universal": ["axis1", "axis2"],
    "helical planar": ["pitch"],
}


@pytest.mark.parametrize("kind", OWN_NUMBERS)
def test_numbers_of_loop_joints(kind, monkeypatch):
    """Pitches, and axes of joints with two, without differences of systems."""
    monkeypatch.delattr(parameter_changes, "differences")
    rng = np.random.default_rng(88)
    system, q = mobile_loops(rng, 6, [kind], tree=("revolute", "spherical", "universal"))
    system = system._blueprint.with_length(0.7)
    point, joint = random_point(rng, system, q), system.loop_joints[0]
    for field in OWN_NUMBERS[kind]:
        name = f"joints.{joint}.{field}"
        check(point, name, change_by_parameter(point, name))


def test_a_pitch_of_zero_is_that_of_a_hinge():
    """Its rows are another kind's: what a pitch adds to them is found by differences."""
    points = [(0, 0, 0), (0, 0, 0.3), (0.8, 0, 0.5), (0.9, 0, 0)]
    joints = [hinge(n, p, (0, 1, 0)) for n, p in zip("ABC", points[:3], strict=True)]
    last = mb.HelicalJoint("D", pitch=0.0, axis=(0, 1, 0), point=points[3])
    system = assembled(cycle("four-bar", points, [*joints, last]), "D")
    point = random_point(np.random.default_rng(3), system, system.reference_configuration())
    check(point, "joints.D.pitch", change_by_parameter(point, "joints.D.pitch"))


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", ["revolute", "cylindrical"])
def test_multipliers_by_centres_of_mass(kind):
    """Rows of a loop joint are measured on its axis, beside the centres of mass of its bodies."""
    rng = np.random.default_rng(86)
    tree = ("revolute", "spherical", "planar", "universal")
    system, q = mobile_loops(rng, 6, [kind], tree=tree)
    place = system.joint_places[system.loop_joints[0]]
    body = next(n for n in (place.predecessor, place.successor) if n != "world")
    check_multipliers(system, q, f"bodies.{body}.com")


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_multipliers_of_least_norm():
    """A load out of the plane of a four-bar is shared by moments and forces, by their length."""
    mech = four_bar(D=(0.9, 0, 0.1))  # of A and D one is the lower end of the mechanism
    mech.gravity = (0.3, 2.0, -9.81)
    system = mech.assemble(mb.AbsoluteCoordinates())
    check_multipliers(system, system.reference_configuration(), "joints.D.point")


def check_multipliers(system, q, name):
    """Compare derivatives of multipliers by a vector with differences."""
    A = system.constraint_jacobian(q)
    rank = np.linalg.matrix_rank(A)
    v = np.linalg.svd(A)[2][rank:].T @ np.random.default_rng(86).normal(size=system.nv - rank)
    found = system.derivatives("forward_dynamics", q, v, by=(name,)).multipliers[name]
    com = np.asarray(system.parameters[name])

    def multipliers(e, unit):
        other = system.with_parameters({name: com + e * unit})
        return other.solve_dynamics(q, v)[1]

    expected = [derivative(lambda e, u=u: multipliers(e, u)) for u in np.eye(3)]
    size = np.abs(expected).max()
    np.testing.assert_allclose(found, np.transpose(expected), rtol=0.0, atol=1e-9 * size)


SOLIDS = [
    mb.Rod("part", 0.4, 0.05, density=2700.0, axis=(1, 0.5, -2)),
    mb.Box("part", (0.3, 0.2, 0.1), density=700.0),
    mb.Cylinder("part", 0.1, 0.5, density=2700.0),
    mb.Sphere("part", 0.2, density=900.0),
]


@pytest.mark.some(2)
@pytest.mark.parametrize("solid", SOLIDS, ids=lambda each: type(each).__name__)
def test_dimensions_of_bodies(solid):
    """Efforts are linear in the inertial parameters, which are polynomials of dimensions."""
    mech = mb.Mechanism("solid", gravity=(1.0, 2.0, -9.81))
    mech.add_joint(mb.FreeJoint("free"), mech.world, mech.add_body(solid))
    system = mech.assemble()
    state = random_state(np.random.default_rng(87), system)
    fields = ("length", "radius", "size", "density", "start")  # of an axis the length is none
    names = [f"bodies.part.{each}" for each in fields if f"bodies.part.{each}" in system.parameters]
    found = system.derivatives("inverse_dynamics", state.q, state.v, vdot=state.vdot, by=names)
    for name in names:
        value = np.asarray(system.parameters[name], dtype=float)
        for index in np.ndindex(value.shape):
            unit = np.zeros(value.shape)
            unit[index] = 1.0

            def efforts(e, value=value, unit=unit, name=name):
                moved = value + e * unit
                other = system.with_parameters({name: moved if value.ndim else float(moved)})
                return other.inverse_dynamics(state.q, state.v, state.vdot)

            # a polynomial of the fifth degree: three steps either way, extrapolated, are exact
            h = 0.25 * (np.abs(value[index]) or 1.0)
            rates = [(efforts(k * h) - efforts(-k * h)) / (2.0 * k * h) for k in (0.5, 1.0, 1.5)]
            expected = 1.5 * rates[0] - 0.6 * rates[1] + 0.1 * rates[2]
            size = np.abs(expected).max() + np.abs(efforts(0.0)).max() / h
            np.testing.assert_allclose(
                found[name][(..., *index)], expected, rtol=0.0, atol=1e-13 * size
            )

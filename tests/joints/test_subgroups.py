"""Motion subgroups of SE(3) that the joints generate: Mueller 2018, tables 1 and 2.

A subgroup is closed under composition and inverse, and its algebra, the span of S, under the
bracket; a twist is in the group's algebra wherever the joint stands.
"""

import itertools
import pathlib
import re

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints import JOINT_TYPES
from mbkit.lie import SE3
from tests.joints.absolute_joints import LOCALS, SIDES

AXIS, POINT = (0.5, -1.0, 0.7), (0.4, -0.3, 0.8)

#: Of each subgroup the joints that generate it: lower pairs, dedicated joints, macro joints.
SUBGROUPS = {
    "R": [mb.PrismaticJoint("j", AXIS), mb.ScrewJoint("j", (0, 0, 0, 1, -2, 3))],
    "SO(2)": [mb.RevoluteJoint("j", AXIS, POINT)],
    "H_p": [mb.HelicalJoint("j", AXIS, POINT, pitch=0.3), mb.ScrewJoint("j", (1, 2, 0, 0, 1, 1))],
    "R2": [
        mb.TranslationalJoint("j", [(1, 2, 0), (0, 1, 1)]),
        mb.CompositeJoint(
            "j", mb.PrismaticJoint("a", (1, 2, 0)), mb.PrismaticJoint("b", (0, 1, 1))
        ),
    ],
    "SO(2) x R": [
        mb.CylindricalJoint("j", AXIS, POINT),
        mb.CompositeJoint(
            "j", mb.RevoluteJoint("a", AXIS, POINT), mb.HelicalJoint("b", AXIS, POINT, pitch=0.3)
        ),
    ],
    "R3": [
        mb.TranslationalJoint("j", [(1, 2, 0), (0, 1, 1), (1, 0, 0)]),
        mb.CompositeJoint(
            "j",
            *(mb.PrismaticJoint(name, axis) for name, axis in zip("xyz", np.eye(3), strict=True)),
        ),
    ],
    "SO(3)": [
        mb.SphericalJoint("j", POINT),
        mb.SphericalJoint("j", POINT, coordinates="first kind"),
        mb.SphericalJoint("j", POINT, coordinates="second kind"),
        mb.CompositeJoint(
            "j",
            *(
                mb.RevoluteJoint(name, axis, POINT)
                for name, axis in zip("xyz", np.eye(3), strict=True)
            ),
        ),
    ],
    "H_p with R2": [
        *(
            mb.HelicalPlanarJoint("j", AXIS, POINT, pitch=0.3, coordinates=kind)
            for kind in ("group", "first kind", "second kind")
        ),
        mb.CompositeJoint(
            "j",
            mb.TranslationalJoint("a", [(1.0, 0.5, 0.0), (0.7, 0.0, -0.5)]),  # normal to AXIS
            mb.HelicalJoint("b", AXIS, POINT, pitch=0.3),
        ),
    ],
    "SE(2)": [
        *(
            mb.PlanarJoint("j", AXIS, POINT, coordinates=kind)
            for kind in ("group", "first kind", "second kind")
        ),
        mb.CompositeJoint(
            "j",
            *(
                mb.RevoluteJoint(name, AXIS, point)
                for name, point in (("a", POINT), ("b", (1, 0, 0)), ("c", (0, 1, 0)))
            ),
        ),
    ],
    "SE(2) x R": [
        *(
            mb.SchoenfliesJoint("j", AXIS, POINT, coordinates=kind)
            for kind in ("group", "first kind", "second kind")
        ),
        mb.CompositeJoint("j", mb.PlanarJoint("a", AXIS, POINT), mb.PrismaticJoint("b", AXIS)),
    ],
    "SE(3)": [
        mb.FreeJoint("j"),
        mb.FreeJoint("j", coordinates="first kind"),
        *(
            mb.AbsoluteJoint("j", local=local, trivialised=side)
            for local in LOCALS
            for side in SIDES
        ),
        mb.CompositeJoint("j", mb.TranslationalJoint("a"), mb.SphericalJoint("b")),
    ],
}

NO_SUBGROUPS = [
    mb.UniversalJoint("universal", (1, 2, 0), (0, 1, 1), POINT),
    mb.ConstantVelocityJoint("constant velocity", AXIS, POINT),
    mb.CompositeJoint(
        "two skew axes", mb.RevoluteJoint("a", AXIS, POINT), mb.RevoluteJoint("b", (1, 1, 1))
    ),
]

GENERATORS = [(name, joint) for name, joints in SUBGROUPS.items() for joint in joints]
each_generator = pytest.mark.parametrize(
    ("subgroup", "joint"),
    GENERATORS,
    ids=[f"{name}-{type(joint).__name__}-{i}" for i, (name, joint) in enumerate(GENERATORS)],
)
each_other = pytest.mark.parametrize("joint", NO_SUBGROUPS, ids=lambda joint: joint.name)

ROUNDING = 1e-12


def algebra(joint):
    """An orthonormal basis (6, n) of the span of S at the neutral configuration."""
    return np.linalg.qr(joint.motion_subspace(joint.neutral()))[0]


def outside(basis, twist):
    """How far a twist is from a span."""
    return float(np.linalg.norm(twist - basis @ (basis.T @ twist)))


def brackets(basis):
    """How far the bracket of two twists of a span leads out of it, at most."""
    pairs = itertools.combinations(basis.T, 2)
    return max((outside(basis, SE3.ad(a) @ b) for a, b in pairs), default=0.0)


def poses(joint, seed=5, count=4):
    """Poses of the joint, with turns of less than pi."""
    rng = np.random.default_rng(seed)
    steps = rng.uniform(-0.7, 0.7, size=(count, joint.num_velocities))
    return [joint.pose(joint.retract(joint.neutral(), step)) for step in steps]


def test_every_joint_is_in_a_row_of_the_table():
    """All that move, but for composite ones, and all subgroups of table 1."""
    listed = {type(joint) for _, joint in GENERATORS} | {type(joint) for joint in NO_SUBGROUPS}
    assert listed >= set(JOINT_TYPES.values()) - {mb.FixedJoint}


@each_generator
def test_the_twists_are_an_algebra(subgroup, joint):
    """[span S, span S] is in span S."""
    assert brackets(algebra(joint)) < ROUNDING


@each_generator
def test_the_twists_are_the_same_everywhere(subgroup, joint):
    """Span S does not depend on the configuration, in whatever coordinates."""
    basis = algebra(joint)
    rng = np.random.default_rng(6)
    for _ in range(4):
        q = joint.retract(joint.neutral(), rng.uniform(-0.7, 0.7, size=joint.num_velocities))
        S = joint.motion_subspace(q)
        assert max(outside(basis, column) for column in S.T) < ROUNDING * np.abs(S).max() * 10
        assert np.linalg.matrix_rank(S) == joint.num_velocities


@each_generator
def test_the_poses_are_a_group(subgroup, joint):
    """T1 T2 and T^-1 are exponentials of span S, as the poses themselves are."""
    basis = algebra(joint)
    a, b = np.random.default_rng(8).uniform(-0.5, 0.5, size=(2, basis.shape[1])) @ basis.T
    assert outside(basis, SE3.log(SE3.exp(a) @ SE3.exp(b))) < 1e-11
    for first, second in itertools.pairwise(poses(joint)):
        for T in (first, first @ second, np.linalg.inv(first)):
            assert outside(basis, SE3.log(T)) < 1e-11


@pytest.mark.some(2)
@each_generator
def test_exp_of_the_span_is_reached(subgroup, joint):
    """Exp(X) for any X of the span is a pose of the joint: its coordinates cover the group."""
    basis = algebra(joint)
    X = basis @ np.random.default_rng(7).uniform(-0.3, 0.3, size=basis.shape[1])
    target = SE3.exp(X)
    q = joint.neutral()
    for _ in range(30):  # Newton's method on the group
        error = SE3.log(np.linalg.inv(joint.pose(q)) @ target)
        q = joint.retract(q, np.linalg.lstsq(joint.motion_subspace(q), error)[0])
    np.testing.assert_allclose(joint.pose(q), target, atol=1e-12)


@pytest.mark.parametrize("joints", SUBGROUPS.values(), ids=SUBGROUPS.keys())
def test_generators_of_a_subgroup_are_alike(joints):
    """They have the same dimension, and their algebras the same brackets' rank and turns."""
    facts = set()
    for joint in joints:
        basis = algebra(joint)
        pairs = [SE3.ad(a) @ b for a, b in itertools.combinations(basis.T, 2)]
        rank = np.linalg.matrix_rank(np.array(pairs), tol=1e-9) if pairs else 0
        turns = np.linalg.matrix_rank(basis[:3], tol=1e-9)
        facts.add((joint.num_velocities, int(rank), int(turns)))
    assert len(facts) == 1


@each_other
def test_others_are_no_subgroups(joint):
    """The bracket leaves span S, products leave exp(span S) and the poses of the joint."""
    basis = algebra(joint)
    assert brackets(basis) > 0.05
    a, b = basis @ np.array([0.6, -0.3]), basis @ np.array([0.2, 0.7])
    assert outside(basis, SE3.log(SE3.exp(a) @ SE3.exp(b))) > 0.01
    first, second = poses(joint)[:2]
    target = first @ second
    q = joint.neutral()
    for _ in range(100):
        error = SE3.log(np.linalg.inv(joint.pose(q)) @ target)
        q = joint.retract(q, np.linalg.lstsq(joint.motion_subspace(q), error)[0])
    assert np.linalg.norm(SE3.log(np.linalg.inv(joint.pose(q)) @ target)) > 1e-3


def test_the_table_of_the_documentation_is_this_one():
    """Each row of docs/joints.md names the joints that are tested here for its subgroup."""
    text = (pathlib.Path(__file__).parents[2] / "docs" / "joints.md").read_text()
    table = text.partition("<!-- subgroups -->")[2].partition("<!-- end -->")[0]
    rows = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) >= 4 and cells[0].isdigit():
            names = set(re.findall(r"`(\w+Joint)`", "".join(cells[2:])))
            rows[cells[1].strip("`")] = int(cells[0]), names
    assert list(rows) == list(SUBGROUPS)
    for name, joints in SUBGROUPS.items():
        dimension, named = rows[name]
        assert {joint.num_velocities for joint in joints} == {dimension}
        dedicated = {type(joint).__name__ for joint in joints}
        assert dedicated - {"CompositeJoint", "ScrewJoint"} <= named

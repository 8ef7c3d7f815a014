"""Reactions of joints as functions of CasADi, against those of the system."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME
from tests.constraints.driven import driven
from tests.peers.test_casadi_closed_kinematics import mechanism
from tests.peers.test_casadi_evaluations import assert_computes, tree
from tests.trees import random_pose

pytest.importorskip("casadi")

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.errors.RedundantConstraintsWarning")

#: Whose wrench, about what, in which axes, with the effort of the joint or without.
OPTIONS = (
    {},
    {"at": "body1", "expressed_in": "joint"},
    {"with_effort": False, "expressed_in": "body1"},
)


@pytest.mark.some(6)
@pytest.mark.parametrize("options", OPTIONS, ids=("world", "joint", "bearing"))
@pytest.mark.parametrize("k", range(6))
def test_trees(k, options):
    """Of every joint, welds included, on either body, with forces that depend on time."""
    system, given = tree(k)
    for n, (joint, place) in enumerate(system.joint_places.items()):
        told = options | ({"on": place.predecessor} if n % 2 else {})
        state = given["q"], given["v"], given["tau"]
        expected = system.reaction(joint, *state, t=given["t"], **told)
        assert_computes(system, given, "reaction", expected, joint=joint, **told)


@pytest.mark.some(4)
@pytest.mark.parametrize("name", ["four-bar", "Bricard", "spatial slider-crank", "five-bar"])
@pytest.mark.parametrize("with_effort", [True, False])
def test_closed_mechanisms(name, with_effort):
    """Of joints of the tree and of those that close loops, redundant constraints included."""
    system, _, given = mechanism(name)
    options = {"minimum_norm": True, "with_effort": with_effort}
    for joint in system.joint_places:
        expected = system.reaction(joint, given["q"], given["v"], given["tau"], **options)
        assert_computes(system, given, "reaction", expected, joint=joint, **options)


@pytest.mark.some(3)
@pytest.mark.parametrize("k", range(6))
def test_motions_that_are_given(k):
    """Of accelerations in place of efforts."""
    system, given = tree(k)
    for joint in system.joint_places:
        expected = system.reaction(joint, given["q"], given["v"], vdot=given["vdot"], t=given["t"])
        assert_computes(system, given, "reaction", expected, joint=joint, vdot=True)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["four-bar", "Bricard", "spatial slider-crank"])
@pytest.mark.parametrize("minimum_norm", [True, False])
def test_multipliers_that_are_given(name, minimum_norm):
    """With internal stress, which the least ones leave out; else where a reaction is unique."""
    system, _, given = mechanism(name)
    q, v = given["q"], given["v"]
    vdot, least = system.solve_dynamics(q, v, given["tau"])
    A = system.constraint_jacobian(q)
    stress = np.linalg.svd(A.T)[2][np.linalg.matrix_rank(A, 1e-9) :].sum(axis=0)
    given = given | {"vdot": vdot, "multipliers": least + stress}
    motion = {"vdot": vdot, "multipliers": given["multipliers"]}
    compared = 0
    for joint in system.joint_places:
        try:
            expected = system.reaction(joint, q, v, **motion, minimum_norm=minimum_norm)
        except mb.ConstraintError:
            with pytest.raises(mb.ConstraintError, match="not unique"):
                mb.casadi_function(system, "reaction", joint=joint, vdot=True)
            continue
        assert_computes(
            system, given, "reaction", expected, 1e-11, joint=joint, vdot=True,
            minimum_norm=minimum_norm,
        )  # fmt: skip
        compared += 1
    assert compared or not minimum_norm


def test_places_and_inertias_stay_free():
    system, given = tree(2)
    rng = np.random.default_rng(12)
    joint = system.joint_names[0]
    values = {"bodies.body1.mass": 2.3, f"joints.{joint}.S_pred": random_pose(rng)}
    changed = system.with_parameters(values)
    names = {path: f"p{k}" for k, path in enumerate(values)}
    state = given["q"], given["v"], given["tau"]
    given = given | {names[path]: value for path, value in values.items()}
    for at in ("joint", "body1"):
        expected = changed.reaction(joint, *state, t=given["t"], at=at)
        assert_computes(
            system, given, "reaction", expected, 1e-11, joint=joint, at=at, parameters=names
        )


def test_prescribed_joints():
    system = driven(BY_NAME["spatial slider-crank"].build(), "pivot", "0.3 * sin(2*t)").assemble()
    t = 0.4
    q = system.close_loops(system.prescribed_state(t)[0], fixed=["pivot"], t=t)
    v = system.dependent_velocity(q, {}, t)
    given = {"q": q, "v": v, "t": t, "tau": np.linspace(0.1, 0.4, system.nv)}
    for joint in system.joint_places:
        expected = system.reaction(joint, q, v, given["tau"], t=t)
        assert_computes(system, given, "reaction", expected, joint=joint)


def test_what_has_no_reaction_is_named():
    system, _, _ = mechanism("four-bar")
    with pytest.raises(mb.ConstraintError, match="its reaction is not unique"):
        mb.casadi_function(system, "reaction", joint="A")
    tree_system, _ = tree(0)
    axis = next(name for name in tree_system.parameters if name.endswith(".axis"))
    joint = axis.split(".")[1]
    with pytest.raises(mb.UsageError, match="needs a joint; name it"):
        mb.casadi_function(tree_system, "reaction")
    with pytest.raises(mb.UsageError, match="at must be 'joint' or the name of a body"):
        mb.casadi_function(tree_system, "reaction", joint=joint, at=np.zeros(3))
    with pytest.raises(mb.UsageError, match="cannot stay free in 'reaction'"):
        mb.casadi_function(tree_system, "reaction", joint=joint, parameters=[axis])

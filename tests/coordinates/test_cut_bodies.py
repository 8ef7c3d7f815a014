"""Bodies cut in two: what goes over, what stays, and that nothing of the whole is lost."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.coordinates.cut_bodies import cut_bodies, split_name, weld_name
from mbkit.model.graph import graph_of
from mbkit.parts.parts import Parts
from mbkit.topology import build_topology
from tests.trees import random_inertia, random_pose


def ring(rng, joints="ABCD"):
    """A ring of bodies anywhere in space, with limits on its joints and a force on a body."""
    mech = mb.Mechanism("ring")
    names = [f"body {k}" for k in range(len(joints) - 1)]
    for name in names:
        mech.add_body(mb.Body(name, random_inertia(rng), random_pose(rng)))
    ends = ["world", *names, "world"]
    for k, name in enumerate(joints):
        joint = mb.RevoluteJoint(name, axis=rng.normal(size=3), point=rng.normal(size=3))
        limits = mb.JointLimits(lower=-1.0 - k, upper=2.0)
        mech.add_joint(joint, ends[k], ends[k + 1], limits=limits)
    mech.add_force(mb.BodyWrench("push", body=names[1], wrench=np.ones(6)))
    return mech


@pytest.mark.parametrize("share", [None, 0.5, 0.125, 0.999])
@pytest.mark.parametrize("moved", ["B", "C"])
def test_halves_are_the_body(moved, share):
    """In one frame and pose, inertias add up, in the shares asked for; half each by default."""
    mech = ring(np.random.default_rng(5))
    body = mech.bodies["body 1"]
    cut = moved if share is None else mb.BodyCut([moved], share=share)
    parts = cut_bodies(Parts.of(mech), {"body 1": cut})
    first, second = parts.bodies["body 1"], parts.bodies["body 1 (cut)"]
    whole = (first.inertia + second.inertia).matrix()
    np.testing.assert_allclose(whole, body.inertia.matrix(), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(
        second.inertia.matrix(), (share or 0.5) * body.inertia.matrix(), rtol=1e-14, atol=1e-15
    )
    assert np.array_equal(first.pose, body.pose)
    assert np.array_equal(second.pose, body.pose)


def test_named_joints_go_over_and_keep_their_places():
    """With frames, limits and all; other joints, other bodies and forces are those of before."""
    mech = ring(np.random.default_rng(6))
    before = Parts.of(mech)
    parts = cut_bodies(before, {"body 1": "C"})
    moved = parts.joints["C"]
    assert (moved.predecessor, moved.successor) == ("body 1 (cut)", "body 2")
    assert moved.joint is mech.joints["C"].joint
    assert np.array_equal(moved.S_pred, mech.joints["C"].S_pred)
    assert np.array_equal(moved.S_succ, mech.joints["C"].S_succ)
    assert moved.limits == mech.joints["C"].limits
    assert all(parts.joints[name] is before.joints[name] for name in "ABD")
    assert all(parts.bodies[name] is before.bodies[name] for name in ("body 0", "body 2"))
    assert list(parts.bodies) == [*before.bodies, "body 1 (cut)"]
    assert list(parts.joints) == [*before.joints, "body 1 (weld)"]
    assert parts.forces == before.forces
    assert list(before.bodies) == ["body 0", "body 1", "body 2"]  # the parts given are as they were


def test_the_weld_holds_both_halves_in_one_place():
    """It is a fixed joint whose frames coincide, from the first part to the second."""
    parts = cut_bodies(Parts.of(ring(np.random.default_rng(7))), {"body 1": "C"})
    weld = parts.joints[weld_name("body 1")]
    assert isinstance(weld.joint, mb.FixedJoint)
    assert (weld.predecessor, weld.successor) == ("body 1", split_name("body 1"))
    np.testing.assert_array_equal(weld.S_pred @ np.linalg.inv(weld.S_succ), np.eye(4))


def test_joints_keep_their_motion():
    """A prescribed joint that goes over is prescribed still."""
    mech = ring(np.random.default_rng(8))
    mech.add_joint(mb.RevoluteJoint("E").prescribe(np.sin), "body 2", "body 0")
    parts = cut_bodies(Parts.of(mech), {"body 2": ["E", "D"]})
    assert parts.joints["E"].motion is mech.joints["E"].motion
    assert parts.joints["E"].predecessor == parts.joints["D"].predecessor == "body 2 (cut)"


def test_two_neighbours_can_be_cut():
    """Also at the joint between them: it connects their second parts."""
    mech = ring(np.random.default_rng(9))
    mech.add_joint(mb.SphericalJoint("E"), "body 0", "body 1")
    mech.add_joint(mb.SphericalJoint("F"), "body 0", "world")
    parts = cut_bodies(Parts.of(mech), {"body 0": ["B", "A"], "body 1": "B"})
    assert (parts.joints["B"].predecessor, parts.joints["B"].successor) == (
        "body 0 (cut)",
        "body 1 (cut)",
    )
    inertias = [body.inertia.mass for body in parts.bodies.values()]
    assert sum(inertias) == pytest.approx(sum(b.inertia.mass for b in mech.bodies.values()))


def test_a_ring_of_joints_that_must_stay_is_opened_in_a_body():
    """Its welds are loop joints whatever they cost; without them no tree is possible."""
    mech = mb.Mechanism("driven")
    inertia = mb.SpatialInertia.sphere(1.0, radius=0.1)
    a = mech.add_body(mb.Body("a", inertia))
    for name, ends in {"left": ("world", a), "right": (a, "world")}.items():
        mech.add_joint(mb.PrismaticJoint(name).prescribe(np.sin), *ends)
    with pytest.raises(mb.TopologyError, match="cannot be cut at a joint") as caught:
        mech.topology()
    assert "Mechanism.assemble cuts one that has mass by itself" in str(caught.value)
    assert "mbkit.RelativeCoordinates(cut_bodies={'a': 'right'})" in str(caught.value)
    for coordinates in (None, mb.RelativeCoordinates(cut_bodies={"a": "right"})):
        assert mech.assemble(coordinates).loop_joints == ("a (weld)",)
    parts = cut_bodies(Parts.of(mech), {"a": "right"})
    topology = build_topology(graph_of(parts, cut=["a (weld)"]))
    assert topology.loop_joints == ("a (weld)",)
    assert topology.num_constraints == 6
    assert topology.bodies == ("world", "a", "a (cut)")
    assert topology.tree_joints == ("left", "right")


@pytest.mark.parametrize(
    ("cuts", "error", "message"),
    [
        ({"world": "A"}, mb.TopologyError, "The world cannot be cut: it does not move"),
        ({"body 7": "A"}, mb.NameUnknownError, r"'body 7' to be cut is not in.*did you mean 'body"),
        ({"body 1": "X"}, mb.NameUnknownError, "at joint 'X', which is not in.*known are 'B', 'C'"),
        ({"body 1": "A"}, mb.UsageError, "joint 'A', which is not on it; its joints are 'B', 'C'"),
        ({"body 1": ["B", "C"]}, mb.UsageError, "some must go over .* and some stay, got 'B', 'C'"),
        ({"body 1": ["B", "B"]}, mb.UsageError, "each once"),
        ({"body 1": []}, mb.UsageError, "some must go over .*, got none"),
        ({"light": "L"}, mb.InertiaError, "'light' cannot be cut: it has no mass"),
        (
            {"arm": "H"},
            mb.TopologyError,
            "'arm' cannot be cut so: no loop leads from joints of one",
        ),
        ({"body 1": 3}, mb.UsageError, "at a collection of such, got 3"),
        ({"body 1": [3]}, mb.UsageError, r"at a collection of such, got \[3\]"),
        ("body 1", mb.UsageError, r"must be a mapping of bodies to joints, got 'body 1'"),
    ],
)
def test_what_cannot_be_cut_is_refused(cuts, error, message):
    """Naming the body, the rule and what could be cut instead."""
    mech = ring(np.random.default_rng(10))
    mech.add_body(mb.Body("light"))
    mech.add_joint(mb.RevoluteJoint("K"), "body 0", "light")
    mech.add_joint(mb.RevoluteJoint("L"), "light", "body 2")
    mech.add_body(mb.Body("arm", random_inertia(np.random.default_rng(11))))
    mech.add_body(mb.Body("hand", random_inertia(np.random.default_rng(12))))
    mech.add_joint(mb.RevoluteJoint("G"), "body 0", "arm")
    mech.add_joint(mb.RevoluteJoint("H"), "arm", "hand")
    with pytest.raises(error, match=message):
        cut_bodies(Parts.of(mech), cuts)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, np.nan, "half"])
def test_shares_are_parts_of_a_whole(share):
    """A part without inertia could not be moved."""
    with pytest.raises(mb.UsageError, match="share must be a number between 0 and 1, got"):
        mb.BodyCut("C", share=share)


def test_names_that_are_taken_are_refused():
    """Of bodies and of joints."""
    mech = ring(np.random.default_rng(13))
    mech.add_body(mb.Body("body 1 (cut)"))
    mech.add_joint(mb.FixedJoint("fixed"), "world", "body 1 (cut)")
    with pytest.raises(mb.DuplicateNameError, match=r"there is a body 'body 1 \(cut\)'"):
        cut_bodies(Parts.of(mech), {"body 1": "C"})
    mech = ring(np.random.default_rng(13))
    mech.add_joint(mb.FixedJoint("body 1 (weld)"), "world", "body 0")
    with pytest.raises(mb.DuplicateNameError, match=r"there is a joint 'body 1 \(weld\)'"):
        cut_bodies(Parts.of(mech), {"body 1": "C"})

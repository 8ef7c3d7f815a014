"""The geometric regressor: against systems whose joints have been moved, and known numbers."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SE3
from mbkit.spatial.frames import inverse
from tests.constraints.loops import closed, random_loops
from tests.every_representation import REPRESENTATIONS
from tests.systems.test_regressor import arm
from tests.trees import MAKERS, random_mechanism, random_pose, random_state


def varied(system, variations):
    """Return the system with S_pred and S_succ of joints moved, by name: (placement, screw)."""
    values = {}
    for joint, (b, x) in variations.items():
        K = system.joint_places[joint].canonical_frame
        for end, X in (("S_pred", SE3.exp(b) @ SE3.exp(x)), ("S_succ", SE3.exp(x))):
            name = f"joints.{joint}.{end}"
            values[name] = system.parameters[name] @ K @ X @ inverse(np.asarray(K))
    return system.with_parameters(values)


@pytest.mark.some(5)
@pytest.mark.parametrize("turned", [0.0, 1.0], ids=["as set", "turned round"])
@pytest.mark.parametrize("kind", MAKERS)
def test_every_joint_either_way_round(kind, turned):
    """Each column by differences of poses, in a representation and with frames in turn."""
    rng = np.random.default_rng(110)
    mech = random_mechanism(rng, 4, (kind, "revolute"), turned_round=turned, reach=1)
    frames = ("joint", "com", "world", "user")[list(MAKERS).index(kind) % 4]
    system = mech.assemble(mb.RelativeCoordinates(body_frames=frames))
    q, S = random_state(rng, system).q, random_pose(rng)
    body = system.body_names[-1]
    form = REPRESENTATIONS[list(MAKERS).index(kind) % 4]
    B = system.geometric_regressor(body, q, frame=S, representation=form)
    C = system.pose(body, q, frame=S)
    joints = list(system.joint_places)
    assert [name.split(".")[0] for name in system.geometric_parameter_names[::12]] == joints
    direction = rng.normal(size=(len(joints), 2, 6))

    def pose(e):
        return varied(system, dict(zip(joints, e * direction, strict=True))).pose(body, q, frame=S)

    rate = inverse(C) @ derivative(pose)
    twist = [rate[2, 1], rate[0, 2], rate[1, 0], *rate[:3, 3]]
    expected = form.twist_map(C) @ twist
    np.testing.assert_allclose(B @ direction.ravel(), expected, rtol=0.0, atol=1e-9)


def test_joints_that_do_not_carry_the_body_and_batches():
    rng = np.random.default_rng(111)
    system = random_mechanism(rng, 8).assemble()
    q = np.array([random_state(rng, system).q for _ in range(3)])
    B = system.geometric_regressor("body3", q)
    np.testing.assert_array_equal(B[1], system.geometric_regressor("body3", q[1]))
    for k, joint in enumerate(system.joint_places):
        J = system.jacobian("body3", q[0])[:, system.velocity_slice(joint)]
        if J.any():
            assert B[..., 12 * k : 12 * k + 6].any()
        elif J.size:
            np.testing.assert_array_equal(B[..., 12 * k : 12 * k + 12], 0.0)
    assert not system.geometric_regressor("world", q).any()


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        (("revolute",) * 6, 4 * 6 + 6), (("revolute", "prismatic") * 2, 4 * 2 + 2 * 2 + 6),
        (("fixed", "revolute", "fixed"), 4 + 6), (("spherical", "revolute"), 6 + 4 + 6),
        (("free",), 12),
    ],
    ids=["six hinges", "hinges and slides", "tools", "a ball", "free"],
)  # fmt: skip
def test_numbers_that_are_known(kinds, count):
    """Four a hinge, two a slide, six more: Everett 1987; and an SVD says the same.

    Nothing commutes with all motions of a ball or of a free joint: all twelve matter.
    """
    rng = np.random.default_rng(112)
    system = random_mechanism(rng, len(kinds), kinds, reach=1, turned_round=0.0).assemble()
    body = system.body_names[-1]
    base = system.geometric_base_parameters(body)
    assert len(base.names) == count
    q = np.array([random_state(rng, system).q for _ in range(40)])
    B = system.geometric_regressor(body, q).reshape(-1, 12 * len(system.joint_places))
    found = np.linalg.svd(B, compute_uv=False)
    assert (found > 1e-9 * found[0]).sum() == count
    np.testing.assert_allclose(B[:, base.independent] @ base.combinations, B, atol=1e-9)


def test_a_plane_arm_of_which_points_are_seen():
    """Two parallel axes: how far along them the elbow is can be told together alone."""
    system = arm([(0, 1, 0)] * 2)
    tip = mb.spatial.translation((1.0, 0, 0))
    all_rows = system.geometric_base_parameters("link2", frame=tip)
    points = system.geometric_base_parameters("link2", rows="linear", frame=tip)
    assert (len(points.names), len(all_rows.names)) == (11, 14)
    assert {"joint1.screw[wz]", "joint1.screw[z]"} <= set(points.without_effect)
    along = [name for name in points.names if "joint1.placement[z]" in name]
    assert len(along) == 1
    assert "joint2.placement[z]" in along[0]
    still = system.geometric_base_parameters("link2", [[0.3, 0.2]])
    assert len(still.names) == 6


def test_what_is_refused():
    mech, _, loops = random_loops(np.random.default_rng(113), 4, ("revolute", "spherical"))
    loop = closed(mech, loops)
    q = loop.reference_configuration()
    with pytest.raises(mb.UsageError, match="has loops"):
        loop.geometric_regressor("world", q)
    system = arm([(0, 1, 0)])
    with pytest.raises(mb.UsageError, match="rows"):
        system.geometric_base_parameters("link1", rows="some")
    with pytest.raises(mb.NameUnknownError, match="link1"):
        system.geometric_regressor("link", [0.0])
    with pytest.raises(mb.UsageError, match="one frame"):
        system.geometric_regressor("link1", [0.0], frame=[np.eye(4)] * 2)
    with pytest.raises(mb.NotFiniteError, match="not finite"):
        system.geometric_base_parameters("link1", [[np.nan]])


def test_frames_may_be_named_as_for_poses():
    S = mb.spatial.translation((0.1, 0.2, 0.3)) @ mb.spatial.rotation((1.0, 1.0, 0.0), 0.4)
    mech = mb.Mechanism("arm")
    ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    arm = mech.add_body(mb.Body("arm", ball, frames={"tip": S}))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, arm)
    system = mech.assemble()
    expected = system.geometric_regressor("arm", [0.3], frame=S)
    for body, frame in (("tip", None), ("arm", "tip"), ("tip", "tip")):
        found = system.geometric_regressor(body, [0.3], frame=frame)
        np.testing.assert_array_equal(found, expected)

"""The choice of the cut of a loop changes coordinates and rows, and nothing of the motion."""

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.loops import closed, closed_chain, consistent


def poses_of(system, run, names):
    rows = [system.body_names.index(name) for name in names]
    return np.array([system.poses(q)[rows] for q in run.q])


def state_in(system, mech, tree, q, v):
    """Return a state in the coordinates of another cut, by the poses of the bodies."""
    poses, twists = tree.poses(q), tree.twists(q, v)
    own = np.array(system.reference_configuration())
    velocity = np.zeros(system.nv)
    for name in system.joint_names:
        edge = mech.joints[name]
        number = {body: k for k, body in enumerate(tree.body_names)}
        a, b = number[edge.predecessor], number[edge.successor]
        T = np.linalg.inv(poses[a] @ edge.S_pred) @ poses[b] @ edge.S_succ
        place = system.position_slice(name)
        own[place] = edge.joint.configuration_from_pose(T)
        S = edge.joint.motion_subspace(own[place])
        relative = mb.lie.SE3.Ad(np.linalg.inv(edge.S_succ)) @ (
            twists[b] - mb.lie.SE3.Ad(np.linalg.inv(poses[b]) @ poses[a]) @ twists[a]
        )
        velocity[system.velocity_slice(name)] = np.linalg.lstsq(S, relative, rcond=None)[0]
    return own, velocity


@pytest.mark.some(2)
@pytest.mark.parametrize("cut", ["universal 0", "revolute 1", "spherical 2", "revolute 3"])
def test_the_same_motion_from_every_cut(cut):
    mech, q = closed_chain()
    reference = closed(mech, ("last",))
    v = consistent(reference, q, np.random.default_rng(3).normal(size=reference.nv))
    other = closed(mech, (cut,))
    own, velocity = state_in(other, mech, reference, q, v)
    names = [name for name in reference.body_names if name != "world"]
    runs = [
        mb.simulate(system, t_span=(0.0, 0.5), h=5e-4, q=start, v=speed, save_every=100)
        for system, start, speed in ((reference, q, v), (other, own, velocity))
    ]
    expected = poses_of(reference, runs[0], names)
    found = poses_of(other, runs[1], names)
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_a_body_that_is_cut_moves_as_one(share):
    mech, q = closed_chain()
    reference = closed(mech, ("last",))
    v = consistent(reference, q, np.random.default_rng(3).normal(size=reference.nv))
    cut = mech.assemble(mb.RelativeCoordinates(cut_bodies={"b3": mb.BodyCut("last", share)}))
    assert cut.loop_joints == ("b3 (weld)",)
    assert cut.num_velocity_constraints == 6
    assert cut.mass == pytest.approx(reference.mass, rel=1e-14)
    start, speed = state_in(cut, mech, reference, q, v)
    np.testing.assert_allclose(cut.constraint_residual(start), 0.0, atol=1e-13)
    a = mb.simulate(reference, t_span=(0.0, 0.3), h=5e-4, q=q, v=v, save_every=100)
    b = mb.simulate(cut, t_span=(0.0, 0.3), h=5e-4, q=start, v=speed, save_every=100)
    names = [name for name in reference.body_names if name != "world"]
    np.testing.assert_allclose(poses_of(cut, b, names), poses_of(reference, a, names), atol=1e-8)
    halves = poses_of(cut, b, ["b3", "b3 (cut)"])
    np.testing.assert_allclose(halves[:, 0], halves[:, 1], atol=1e-12)
    assert "(cut)" not in cut.model_text


def test_loops_that_no_joint_can_open_are_cut_in_a_body():
    """Two prescribed joints on one body, which moves as both say."""
    mech = mb.Mechanism("carried", gravity=(0, 0, 0))
    bar = mech.add_body(mb.Body("bar", mb.SpatialInertia.box(2.0, size=(1.0, 0.1, 0.1))))
    for name in ("left", "right"):
        rail = mb.PrismaticJoint(name, axis=(0, 1, 0)).prescribe(lambda t: 0.1 * np.sin(t))
        mech.add_joint(rail, mech.world, bar)
    system = mech.assemble()
    assert system.loop_joints == ("bar (weld)",)
    assert system.joint_names == ("left", "right")


def test_joints_with_forces_stay_in_the_tree():
    """The automatic cut leaves them; naming them, or adding a force later, is refused."""
    mech, _ = closed_chain()
    assert mech.topology().loop_joints == ("spherical 2",)
    mech.add_force(mb.JointDamper("oil", "spherical 2", damping=0.1))
    assert mech.topology().loop_joints == ("universal 0",)
    with pytest.raises(mb.TopologyError, match="for the force 'oil' acts along it; leave it out"):
        mech.topology(loop_joints=["spherical 2"])
    system = mech.assemble()
    with pytest.raises(mb.ForceError, match=r"'drag'.* 'universal 0' closes a loop in mechanism"):
        system.with_forces([mb.JointDamper("drag", "universal 0", damping=0.1)])


def slider_crank(massless):
    """Crank 1 m up, rod 1 m across to a slider along x; all else weighs 1 kg."""
    inertia = mb.SpatialInertia.sphere(1.0, radius=0.1)
    mech = mb.Mechanism("slider-crank")
    for name, x, z in (("rod", 0, 0), ("slider", 1, 1), ("crank", 0, 0)):
        own = () if name in massless else (inertia,)
        mech.add_body(mb.Body(name, *own, pose=mb.spatial.translation((x, 0, z))))
    y = (0, 1, 0)
    mech.add_joint(mb.RevoluteJoint("A", axis=y), mech.world, "crank")
    mech.add_joint(mb.RevoluteJoint("B", axis=y, point=(0, 0, 1)), "crank", "rod")
    mech.add_joint(mb.RevoluteJoint("C", axis=y, point=(1, 0, 1)), "rod", "slider")
    mech.add_joint(mb.PrismaticJoint("P", axis=(1, 0, 0)), mech.world, "slider")
    return mech


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")  # it moves in a plane
def test_a_rod_without_mass_is_not_left_at_the_end_of_a_branch():
    """The next best cut is taken. Crank and slider, at one speed here, move as two masses do."""
    mech = slider_crank({"rod"})
    assert mech.topology().loop_joints == ("C",)
    with pytest.raises(mb.InertiaError, match="'B' moves body 'rod'"):
        mech.assemble(mb.RelativeCoordinates(loop_joints=("C",)))
    system = mech.assemble()
    others = [cut.loop_joints for cut in mech.topology().cuts()]
    assert system.loop_joints == next(cut for cut in others if cut in {("A",), ("P",)})
    q, v = system.reference_configuration(), np.zeros(system.nv)
    slider, push = system.body_names.index("slider"), np.zeros((4, 6))
    push[slider, 3] = 2.0  # N along x
    vdot, _ = system.solve_dynamics(q, v, wrenches=push)
    crank = 0.4 * 0.1**2  # about its axis, which goes through its centre of mass, 1 m from the rod
    found = system.accelerations(q, v, vdot)[slider, 3]
    assert found == pytest.approx(2.0 / (1.0 + crank), rel=1e-12)


def test_where_no_cut_helps_the_best_one_says_why():
    with pytest.raises(mb.InertiaError, match=r"'A' moves bodies 'crank', 'rod',.* than 'C'"):
        slider_crank({"rod", "slider", "crank"}).assemble()

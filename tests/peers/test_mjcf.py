"""Models read from MJCF are those of MuJoCo: mass matrix, forces, motion, constraints."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest
import scipy.linalg

import mbkit as mb
import mbkit.io.mjcf.kinds as k
from mbkit.io.mjcf.names import names_of
from tests.peers.mjcf_twin import MODELS, MjcfTwin, cases
from tests.trees import random_pose, random_state

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module", params=[*cases(), *cases("written: ")])
def twin(request, tmp_path_factory):
    """A model in both programs; likewise what mbkit writes of it."""
    name = request.param.removeprefix("written: ")
    if name == request.param:
        return MjcfTwin(MODELS[name])
    path = tmp_path_factory.mktemp("written") / "model.xml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.ModelFileWarning)
        mb.save_mjcf(mb.read_mjcf(MODELS[name]).mechanism(), path)
    return MjcfTwin(path)


def test_mass_matrix_and_forces(twin):
    """Mass matrix, bias force and the forces of springs, dampers and compensation are equal."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        qpos, qvel = twin.random_state(rng)
        twin.set(qpos, qvel)
        q, (N, rate) = twin.positions(qpos), twin.velocity_map(qpos, qvel)
        M = twin.system.mass_matrix(q)
        expected = np.zeros((twin.model.nv, twin.model.nv))
        mujoco.mj_fullM(twin.model, twin.data, expected)
        assert np.abs(N.T @ M @ N - expected).max() <= 1e-10 * np.abs(expected).max()
        v = N @ qvel
        bias = N.T @ (twin.system.bias_force(q, v) + M @ rate)
        size = 1.0 + np.abs(twin.data.qfrc_bias).max()
        assert np.abs(bias - twin.data.qfrc_bias).max() <= 1e-10 * size
        passive = N.T @ twin.system.generalized_forces(q, v)
        own = twin.data.qfrc_passive
        assert np.abs(passive - own).max() <= 1e-10 * (1.0 + np.abs(own).max())


def test_equalities(twin):
    """Where MuJoCo's equalities hold mbkit's do, and they leave the same velocities free."""
    m, data = twin.model, twin.data
    held = [e for e in range(m.neq) if m.eq_active0[e] and m.eq_type[e] <= 2]
    if not held:
        assert not twin.system.loop_joints
        return
    qpos = _on_equalities(twin)
    twin.set(qpos, np.zeros(m.nv))
    rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    J = data.efc_J.reshape(-1, m.nv)[rows]
    assert np.abs(data.efc_pos[rows]).max() < 1e-10
    q, (N, _) = twin.positions(qpos), twin.velocity_map(qpos, np.zeros(m.nv))
    assert np.abs(twin.system.constraint_residual(q)).max() < 1e-9
    own = twin.system.constraint_jacobian(q) @ N
    free = scipy.linalg.null_space(J, rcond=1e-9)
    assert np.abs(own @ free).max() < 1e-9
    assert scipy.linalg.null_space(own, rcond=1e-9).shape == free.shape


def _on_equalities(twin):
    """Return a qpos on MuJoCo's equalities, by Newton's method with its own residuals."""
    m, data = twin.model, twin.data
    qpos, _ = twin.random_state(np.random.default_rng(3))
    for _ in range(100):
        twin.set(qpos, np.zeros(m.nv))
        rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        J = data.efc_J.reshape(-1, m.nv)[rows]
        step = -np.linalg.lstsq(J, data.efc_pos[rows], rcond=1e-9)[0]
        mujoco.mj_integratePos(m, qpos, step * min(1.0, 0.3 / max(np.abs(step).max(), 0.3)), 1.0)
    return qpos


def test_motion(twin):
    """MuJoCo's Runge-Kutta method converges with its order to mbkit's motion, loops open."""
    m = twin.model
    flags = int(m.opt.disableflags)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EQUALITY
    try:
        system = twin.document.mechanism().assemble()
        qpos, qvel = twin.random_state(np.random.default_rng(2))
        q0, (N, _) = twin.positions(qpos), twin.velocity_map(qpos, qvel)
        method = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-11)
        run = mb.simulate(system, (0.0, 0.2), h=0.02, q=q0, v=N @ qvel, integrator=method)
        misses = []
        for h in (4e-3, 2e-3):
            m.opt.timestep = h
            twin.set(qpos, qvel)
            mujoco.mj_step(m, twin.data, nstep=round(0.2 / h))
            q = twin.positions(twin.data.qpos)
            v = twin.velocity_map(twin.data.qpos, twin.data.qvel)[0] @ twin.data.qvel
            miss = system.difference(run.q[-1], q)
            misses.append(max(np.abs(miss).max(), np.abs(run.v[-1] - v).max()))
        assert np.abs(system.difference(q0, run.q[-1])).max() > 0.05
        assert misses[0] < 1e-3
        assert misses[1] < max(misses[0] / 8.0, 1e-9)
    finally:
        m.opt.disableflags = flags


def test_numbers_of_kinds():
    """The numbers that mbkit writes out are those of MuJoCo."""
    kinds = {
        "mjtJoint.mjJNT_": ("FREE", "BALL", "SLIDE", "HINGE"),
        "mjtEq.mjEQ_": ("CONNECT", "WELD"),
        "mjtObj.mjOBJ_": ("SITE",),
        "mjtGeom.mjGEOM_": ("PLANE", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX", "MESH"),
        "mjtDisableBit.mjDSBL_": ("EQUALITY", "LIMIT", "SPRING", "DAMPER", "GRAVITY"),
    }
    for place, names in kinds.items():
        kind, prefix = place.split(".")
        for name in names:
            assert getattr(k, name) == int(getattr(getattr(mujoco, kind), prefix + name))
    assert int(mujoco.mjtEq.mjEQ_JOINT) == k.COUPLING
    assert int(mujoco.mjtGeom.mjGEOM_HFIELD) == k.HEIGHTS


def test_what_is_read_besides():
    """Limits, friction, actuators, sensors, sites and shapes; what is not read has a name."""
    with pytest.warns(mb.ModelFileWarning, match=r"friction, .*: 'j1', 'j2', 'j3'"):
        arm = mb.load_mjcf(MODELS["arm"])
    assert arm.joints["j2"].limits == mb.JointLimits(-1.8, 1.8)
    assert arm.joints["j3"].friction.friction == 0.2
    assert len(mb.read_mjcf(MODELS["arm"]).mechanism(armature="ignore").bodies) == 7
    with pytest.raises(mb.UsageError, match="armature"):
        mb.load_mjcf(MODELS["pendulum"], armature="no")

    pendulum = mb.read_mjcf(MODELS["pendulum"])
    assert (pendulum.warnings, pendulum.actuators[0].gear) == ((), (2.0,))
    assert pendulum.actuators[0].control_range == (-1.0, 1.0)
    assert [(s.kind, s.target) for s in pendulum.sensors] == [
        ("jointpos", "hinge"),
        ("gyro", "tip"),
    ]
    kinds = [each.kind for each in mb.read_mjcf(MODELS["planar"]).actuators]
    assert kinds == ["position", "velocity"]

    gantry = mb.load_model(MODELS["gantry"])
    limits = gantry.joints["y"].limits
    assert (limits.lower, limits.upper, limits.effort) == (-0.6, 0.6, 20.0)
    (ball,) = gantry.bodies["load"].shapes
    assert (ball.radius, ball.pose[2, 3]) == (0.05, -0.6)
    with pytest.raises(mb.UsageError, match="is an MJCF; leave them out"):
        mb.load_model(MODELS["gantry"], parameters={"a": 1.0})


def test_frames_and_meshes():
    """Sites are where MuJoCo has them, and so are the vertices of meshes."""
    for model in ("pendulum", "inertias"):
        twin = MjcfTwin(MODELS[model])
        twin.set(*twin.random_state(np.random.default_rng(5)))
        q = twin.positions(twin.data.qpos)
        for s, name in enumerate(twin.names.sites):
            pose = twin.system.pose(name, q)
            assert np.abs(pose[:3, 3] - twin.data.site_xpos[s]).max() < 1e-12
            assert np.abs(pose[:3, :3].ravel() - twin.data.site_xmat[s]).max() < 1e-12
    (mesh,) = [
        each for each in twin.mechanism.bodies["solid"].shapes if isinstance(each, mb.MeshShape)
    ]
    vertices = mesh.mesh()[0]
    found = vertices @ mesh.pose[:3, :3].T + mesh.pose[:3, 3]
    tip = mb.spatial.translation((0.01, 0.02, 0.03))
    turn = mb.spatial.rotation((1, 0, 0), 0.2) @ mb.spatial.rotation((0, 0, 1), 0.1)
    expected = (tip @ turn @ np.array([0.2, 0.1, 0.3, 1.0]))[:3]
    assert np.abs(found - expected).max(axis=1).min() < 1e-6


def test_geoms_of_the_world_are_its_shapes(tmp_path):
    """Half sizes become whole ones."""
    path = tmp_path / "floor.xml"
    path.write_text(
        "<mujoco><worldbody><geom type='box' size='1 2 0.01' pos='0 0 -1' rgba='0 1 0 1'/>"
        "<body name='b'><joint name='j'/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    mech = mb.load_mjcf(path)
    floor = mb.BoxShape(
        (2.0, 4.0, 0.02), pose=mb.spatial.translation((0, 0, -1)), color=(0.0, 1.0, 0.0)
    )
    assert mech.world.shapes == (floor,)
    assert [row for row, _ in mech.assemble().shapes] == [0, 1]


@pytest.mark.parametrize("name", cases())
def test_written_models_are_the_same(name, tmp_path):
    """What is read of a written file has the same equations, joint by joint."""
    mechanism = mb.read_mjcf(MODELS[name]).mechanism()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.ModelFileWarning)
        mb.save_mjcf(mechanism, tmp_path / "again.xml")
        again = mb.load_mjcf(tmp_path / "again.xml")
    assert {*again.forces} == {*mechanism.forces}
    if not mechanism.topology().loop_joints:
        assert {*again.constraints} == {*mechanism.constraints}
    names = mb.read_mjcf(MODELS[name])
    held = [e for e in names_of(names.model).equalities if e in mechanism.joints]
    own, other = (
        each.assemble(mb.RelativeCoordinates(loop_joints=held)) for each in (mechanism, again)
    )
    q = own.reference_configuration()
    if not held:
        q = random_state(np.random.default_rng(7), own).q
    v = np.random.default_rng(8).normal(size=own.nv)
    places = [other.position_names.index(each) for each in own.position_names]
    rates = [other.velocity_names.index(each) for each in own.velocity_names]
    there, speeds = np.empty(own.nq), np.empty(own.nv)
    there[places], speeds[rates] = q, v
    for first, second in (
        (own.bias_force(q, v), other.bias_force(there, speeds)[rates]),
        (own.generalized_forces(q, v), other.generalized_forces(there, speeds)[rates]),
        (own.mass_matrix(q), other.mass_matrix(there)[np.ix_(rates, rates)]),
    ):
        assert np.abs(first - second).max() <= 1e-11 * (1.0 + np.abs(first).max())


def test_mechanisms_of_mbkit_in_mujoco(tmp_path):
    """A loop of hinges, joints turned round, frames off their axes: MuJoCo has the same motion."""
    mech = mb.Mechanism("bars", gravity=(0.5, 0.0, -9.8))
    box = mb.SpatialInertia.box(1.0, size=(0.4, 0.1, 0.05)).transformed(
        mb.spatial.translation((0.2, 0.05, 0.0))
    )
    for name in ("crank", "coupler", "rocker", "slide", "bob"):
        mech.add_body(mb.Body(name, box, shapes=[mb.BoxShape((0.4, 0.1, 0.05))]))
    turn = mb.spatial.rotation((1, 2, 3), 0.7)
    off = mb.spatial.translation((0.1, -0.2, 0.3)) @ turn
    hinge = {"axis": (0, 1, 0), "point": (0.1, 0.0, -0.05)}
    mech.add_joint(mb.RevoluteJoint("a", **hinge), "world", "crank", frames=(off, turn))
    mech.add_joint(mb.RevoluteJoint("b", **hinge), "coupler", "crank", frames=(turn, off))
    mech.add_joint(mb.RevoluteJoint("c", axis=(0, 1, 0)), "coupler", "rocker", frames=(off, off))
    mech.add_joint(mb.PrismaticJoint("s", axis=(0, 1, 1)), "rocker", "slide", frames=(turn, off))
    mech.add_joint(mb.SphericalJoint("ball", point=(0, 0, 0.2)), "slide", "bob")
    mech.add_force(mb.JointSpring("spring", "s", stiffness=50.0, rest=0.02))
    mech.add_force(mb.JointDamper("damper", "ball", damping=0.3))
    path = tmp_path / "bars.xml"
    mb.save_model(mech, path)
    twin = MjcfTwin(path)
    test_mass_matrix_and_forces(twin)
    own = mech.assemble()
    state = random_state(np.random.default_rng(3), own)
    q, v = state.q, state.v
    assert own.position_names == twin.system.position_names
    found = twin.system.forward_dynamics(q, v)
    # the ball's frame on its successor is that of the body: all coordinates are the same
    np.testing.assert_allclose(found, own.forward_dynamics(q, v), rtol=1e-9, atol=1e-9)


def test_an_equality_of_one_joint_holds_it(tmp_path):
    """The joint stays where the equality has it, from its reference on."""
    path = tmp_path / "held.xml"
    path.write_text(
        "<mujoco><compiler angle='radian'/><worldbody><body name='b'><joint name='j' ref='0.3'/>"
        "<geom size='0.1'/><body name='c' pos='1 0 0'><joint name='i'/><geom size='0.1'/></body>"
        "</body></worldbody><equality><joint joint1='j' polycoef='-0.5 0 0 0 0'/></equality>"
        "</mujoco>"
    )
    run = mb.simulate(mb.load_mjcf(path).assemble(), (0.0, 0.1), 0.01, v={"i": 1.0})
    assert run.warnings == ()
    np.testing.assert_allclose(run["j"], -0.2, rtol=1e-15)
    assert run["i"][-1] > 0.09


def test_meshes_are_written_where_they_are(tmp_path):
    """MuJoCo moves a mesh into its principal axes; its vertices are in the same places."""
    rng = np.random.default_rng(4)
    corners = rng.normal(size=(5, 3))
    faces = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (1, 2, 3), (2, 3, 4)]
    solid = mb.MeshShape(corners, faces, pose=random_pose(rng), scale=(1.0, 2.0, -0.5))
    flat = mb.MeshShape([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 2, 0)], [(0, 1, 2), (0, 2, 3)])
    mech = mb.Mechanism("meshes")
    mech.add_body(mb.Body("b", mb.SpatialInertia.sphere(1.0, radius=0.1), shapes=[solid, flat]))
    mech.add_joint(mb.RevoluteJoint("j", axis=(1, 2, 3)), "world", "b")
    mb.save_mjcf(mech, tmp_path / "meshes.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "meshes.xml"))
    data = mujoco.MjData(model)
    data.qpos[0] = 0.7
    mujoco.mj_forward(model, data)
    pose = mech.assemble().pose("b", [0.7])
    for g, shape in enumerate((solid, flat)):
        mesh = int(model.geom_dataid[g])
        first = int(model.mesh_vertadr[mesh])
        own = model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])]
        found = own @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g]
        C = pose @ shape.pose
        expected = shape.mesh()[0] @ C[:3, :3].T + C[:3, 3]
        assert np.abs(found[:, None] - expected[None]).max(axis=2).min(axis=1).max() < 1e-6
        assert len(found) == len(expected)
    again = mb.load_mjcf(tmp_path / "meshes.xml").bodies["b"]
    assert [type(each) for each in again.shapes] == [mb.MeshShape] * 2

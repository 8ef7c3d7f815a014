"""Classes derived from joints of mbkit, in all ways of Python, in composites, runs and files."""

import ast
import copy
import pathlib
import pickle

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.joints import JOINT_TYPES
from mbkit.model import to_toml
from mbkit.model.joint_variants import with_joint_coordinates
from tests.joints.overridden import (
    bent,
    bent_pair,
    closed,
    hinge,
    loop_of,
    overriding,
    same_motion,
    state_of_tree,
    system_of,
)
from tests.joints.pose_only import TWINS
from tests.trees import random_pose


class BentHinge(mb.RevoluteJoint):
    """A hinge that shifts as it turns, at the top of a module: files and pickles name it."""

    def pose(self, q):
        return bent(super().pose(q))


@attrs.frozen
class Cam(mb.RevoluteJoint):
    """A hinge that lifts what it carries."""

    lift: float = 0.2

    def pose(self, q):
        T = super().pose(q)
        T[:3, 3] += self.lift * np.sin(q[0]) * self.axis
        return T


class BentChain(mb.CompositeJoint):
    """A composite joint with a bent pose."""

    def pose(self, q):
        return bent(super().pose(q))


def test_all_ways_of_python_are_heard():
    """A class between, a class beside, and a decorator of attrs."""

    class Between(BentHinge):
        def random(self, rng):
            return np.array([0.1])

    class Beside:
        def pose(self, q):
            return bent(super().pose(q))

    mixed = type("Mixed", (Beside, mb.RevoluteJoint), {})
    at = {"axis": (1, 2, -2), "point": (0.3, -0.2, 0.9)}
    for kind in (BentHinge, Between, mixed):
        same_motion(kind("j", **at), bent_pair(TWINS["revolute"])[1])
    cam = Cam("j", axis=(0, 0, 2), lift=0.5)
    np.testing.assert_allclose(cam.motion_subspace(np.zeros(1)).T, [[0, 0, 1, 0, 0, 1.0]])
    mb.testing.check_joint(cam).raise_if_failed()


def test_a_class_may_come_back_to_the_defaults():
    """By their names in `Joint`."""
    joint = overriding(hinge(), motion_subspace=mb.Joint.motion_subspace)
    q = np.array([0.3])
    np.testing.assert_allclose(joint.motion_subspace(q), hinge().motion_subspace(q), atol=1e-15)
    same_motion(joint, hinge())


@mb.joint_kernel("motion")
def slide(slot, parameters, q, v, R, p, S, bias):
    """Shift along z, times the first parameter."""
    for j in range(9):
        R[j] = 1.0 if j % 4 == 0 else 0.0
    for j in range(6):
        S[j] = parameters[0] if j == 5 else 0.0
        bias[j] = 0.0
    p[0] = p[1] = 0.0
    p[2] = parameters[0] * q[0]
    return 0


class CompiledSlide(mb.PrismaticJoint):
    """A slide that moves three times as far, with a compiled form."""

    canonical_frame = np.eye(4)

    def pose(self, q):
        T = np.eye(4)
        T[2, 3] = 3.0 * q[0]
        return T

    def kernels(self):
        return mb.JointKernels(motion=slide)

    def parameters(self):
        return np.array([3.0])


def test_compiled_forms_of_its_own_are_called():
    """And no longer where a class derived from it has another pose."""
    mb.testing.check_joint(CompiledSlide("j")).raise_if_failed()
    same_motion(CompiledSlide("j"), mb.ScrewJoint("j", screw=(0, 0, 0, 0, 0, 3.0)))

    class Farther(CompiledSlide):
        def pose(self, q):
            T = np.eye(4)
            T[2, 3] = 5.0 * q[0]
            return T

    assert Farther("j").kernels() is None
    same_motion(Farther("j"), mb.ScrewJoint("j", screw=(0, 0, 0, 0, 0, 5.0)))


def test_a_compiled_joint_of_a_user_is_a_whole_too():
    """Its compiled form does not hide the pose of a class derived from it."""

    class Slide(mb.Joint):
        num_positions = num_velocities = 1
        pose, kernels, parameters = (
            vars(CompiledSlide)[name] for name in ("pose", "kernels", "parameters")
        )

    class Tilted(Slide):
        def pose(self, q):
            T = np.eye(4)
            T[:3, 3] = q[0] * np.array([1.0, 2.0, 3.0])
            return T

    assert Slide("j").kernels() is not None
    same_motion(Slide("j"), mb.ScrewJoint("j", screw=(0, 0, 0, 0, 0, 3.0)))
    same_motion(Tilted("j"), mb.ScrewJoint("j", screw=(0, 0, 0, 1.0, 2.0, 3.0)))


def test_parameters_without_compiled_forms_are_refused():
    """By name: nothing would ask for them."""
    with pytest.raises(mb.UsageError, match="Mine overrides parameters of mbkit's UniversalJoint"):
        type("Mine", (mb.UniversalJoint,), {"parameters": lambda self: np.zeros(0)})


def test_a_joint_in_python_may_have_a_canonical_frame():
    """A frame for compiled forms that there are not changes nothing."""
    K = random_pose(np.random.default_rng(9))
    _, twin = bent_pair(TWINS["helical planar"])
    framed = copy.copy(twin)
    framed.__class__ = type("Framed", (type(twin),), {"canonical_frame": K})
    same_motion(framed, twin)
    q, v, x = state_of_tree(system_of(twin))
    rates = (q, v, x, x)
    found, expected = (system_of(each).jerks(*rates) for each in (framed, twin))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    one, other = loop_of(framed), loop_of(twin)
    q = closed(one, twin)
    A, v = one.constraint_jacobian(q), np.random.default_rng(7).normal(size=one.nv)
    v -= np.linalg.pinv(A) @ (A @ v)
    expected = other.forward_dynamics(q, v)
    np.testing.assert_allclose(one.forward_dynamics(q, v), expected, rtol=1e-7, atol=1e-7)


def test_a_composite_joint_moves_as_its_members_say():
    """A member with an overridden pose, and a composite joint with one."""
    own, twin = bent_pair(TWINS["revolute"], "a")
    slide = mb.PrismaticJoint("b", (1, 0, 2))
    chain, plain = (mb.CompositeJoint("j", each, slide) for each in (own, twin))
    same_motion(chain, plain)
    chain = BentChain("j", mb.RevoluteJoint("a", (1, 2, 3)), slide)
    own = mb.CompositeJoint("j", mb.RevoluteJoint("a", (1, 2, 3)), slide)
    q = np.array([0.3, -0.2])
    np.testing.assert_allclose(chain.pose(q), bent(own.pose(q)))
    mb.testing.check_joint(chain).raise_if_failed()


def test_copies_of_a_composite_joint_are_of_its_class():
    """By copy, by pickle, and with other numbers."""
    chain = BentChain("j", mb.RevoluteJoint("a", (1, 2, 3)), mb.PrismaticJoint("b"))
    q = np.array([0.3, -0.2])
    T = chain.pose(q)
    chain.singularity(q)
    for made in (copy.copy(chain), copy.deepcopy(chain), pickle.loads(pickle.dumps(chain))):  # noqa: S301
        assert type(made) is BentChain
        assert np.array_equal(made.pose(q), T)
    system = system_of(chain)
    turned = system.with_parameters({"joints.j.a.axis": (0.0, 1.0, 0.0)})
    expected = system_of(BentChain("j", mb.RevoluteJoint("a", (0, 1, 0)), mb.PrismaticJoint("b")))
    state = state_of_tree(system)
    np.testing.assert_allclose(turned.poses(state[0]), expected.poses(state[0]), atol=1e-12)


# ------------------------------------------------------------------------- runs and files


def test_a_run_keeps_the_energy_and_is_that_of_the_twin():
    """By the default integrator."""
    runs = [
        mb.simulate(system_of(each), (0.0, 0.2), 1e-2, v=[1.0, 2.0, -1.0])
        for each in bent_pair(TWINS["revolute"])
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-9)
    assert np.abs(runs[0].energy_balance).max() < 1e-4


def test_a_prescribed_one_moves_by_its_pose():
    """The motion is one of its positions."""
    joint, twin = (each.prescribe("0.5 * sin(2 * t)") for each in bent_pair(TWINS["revolute"]))
    one, other = system_of(joint), system_of(twin)
    q, v, x = state_of_tree(one)
    expected = other.driving_efforts(q, v, x, t=0.3)
    np.testing.assert_allclose(one.driving_efforts(q, v, x, t=0.3), expected, atol=1e-9)


def test_model_files_name_its_class(tmp_path):
    """And give it back."""
    mech = mb.Mechanism("cam")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(Cam("cam", axis=(1, 2, 2), lift=0.3), mech.world, body)
    assert f"{__name__}:Cam" in to_toml(mech)
    mb.save_model(mech, tmp_path / "cam.toml")
    again = mb.load_model(tmp_path / "cam.toml").joints["cam"].joint
    assert type(again) is Cam
    assert again.lift == 0.3
    with pytest.raises(mb.ModelFileError, match="joint 'cam' is a Cam"):
        mb.save_urdf(mech, tmp_path / "cam.urdf")


def test_coordinates_of_other_kinds_are_not_tried():
    """A pose of its own knows nothing of them."""
    plane = mb.PlanarJoint("plane")
    bent_plane = bent_pair(TWINS["planar"], "plane")[0]
    for joint, changes in ((plane, True), (bent_plane, False)):
        mech = mb.Mechanism("plane")
        body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(joint, mech.world, body)
        assert (with_joint_coordinates(mech, "first kind") is not None) == changes


#: Where the class of a joint is asked for what does not follow from how it moves: where a free
#: joint is placed and drawn, whose members a composite joint has, and what was made sure of before.
BY_CLASS = {
    "mbkit/io/sdf/build.py": 1,
    "mbkit/io/urdf/writer.py": 9,
    "mbkit/joints/checks/definition.py": 1,
    "mbkit/model/parameters.py": 2,
    "mbkit/parts/connection.py": 1,
    "mbkit/tracing/joint_placements.py": 1,
    "mbkit/tracing/member_axes.py": 5,
    "mbkit/viz/scene/joint_places.py": 1,
}


def test_what_is_known_of_a_class_is_asked_of_joints_that_move_as_it():
    """By `moves_as`: with `isinstance` a subclass that overrides its motion would not be heard."""
    bases = {"MotionJoint", "ScrewMotion", "SubgroupJoint", "AxisMotion"}
    kinds = bases | {kind.__name__ for kind in JOINT_TYPES.values()}
    root, found = pathlib.Path(mb.__file__).parents[1], {}
    for path in sorted((root / "mbkit").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "isinstance(" not in text or not any(kind in text for kind in kinds):
            continue
        calls = [
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance"
        ]
        names = [{getattr(part, "id", "") for part in ast.walk(call.args[1])} for call in calls]
        count = sum(not kinds.isdisjoint(each) for each in names)
        if count:
            found[path.relative_to(root).as_posix()] = count
    assert found == BY_CLASS

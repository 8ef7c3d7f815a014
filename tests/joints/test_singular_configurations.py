"""Distance of a joint from a singular configuration, and the warning of a simulation in time."""

import itertools
import math
import warnings

import numpy as np
import pytest

import mbkit as mb

AXIS, POINT = (0.5, -1.0, 0.7), (0.4, -0.3, 0.8)
PLACE = {"axis": AXIS, "point": POINT}

pytestmark = pytest.mark.slow


def sinc(x):
    return math.sin(x) / x if x else 1.0


#: Joints with what their measure is, in closed form.
MEASURES = {
    **{
        f"angles {order}": (
            mb.SphericalJoint("j", POINT, coordinates="second kind", order=order),
            lambda q: abs(math.cos(q[1])),
        )
        for order in ("zyx", "xyz", "yxz")
    },
    **{
        f"angles {order}": (
            mb.SphericalJoint("j", POINT, coordinates="second kind", order=order),
            lambda q: abs(math.sin(q[1])),
        )
        for order in ("zxz", "yzy")
    },
    "rotation vector": (
        mb.SphericalJoint("j", POINT, coordinates="first kind"),
        lambda q: sinc(np.linalg.norm(q) / 2) ** 2,
    ),
    "screw coordinates": (
        mb.FreeJoint("j", coordinates="first kind"),
        lambda q: sinc(np.linalg.norm(q[:3]) / 2) ** 4,
    ),
    "planar, first kind": (
        mb.PlanarJoint("j", coordinates="first kind", **PLACE),
        lambda q: sinc(q[0] / 2) ** 2,
    ),
    "planar, turn between": (
        mb.PlanarJoint("j", coordinates="second kind", order=("x", "angle", "y"), **PLACE),
        lambda q: abs(math.cos(q[1])),
    ),
    "planar, turn first": (
        mb.PlanarJoint("j", coordinates="second kind", **PLACE),
        lambda q: math.inf,
    ),
    "helical planar, turn between": (
        mb.HelicalPlanarJoint(
            "j", pitch=0.4, coordinates="second kind", order=("y", "angle", "x"), **PLACE
        ),
        lambda q: abs(math.cos(q[1])),
    ),
    "Schoenflies, turn between": (
        mb.SchoenfliesJoint(
            "j", coordinates="second kind", order=("z", "x", "angle", "y"), **PLACE
        ),
        lambda q: abs(math.cos(q[2])),
    ),
    "universal": (
        mb.UniversalJoint("j", (1, 2, 0), (0, 1, 1), POINT),
        lambda q: min(abs(math.cos(q[0])), abs(math.cos(q[1]))),
    ),
    "constant velocity": (
        mb.ConstantVelocityJoint("j", AXIS, POINT),
        lambda q: abs(sinc(np.linalg.norm(q) / 2)),
    ),
    "composite of two like axes": (
        mb.CompositeJoint(
            "j",
            *(
                mb.RevoluteJoint(n, axis)
                for n, axis in zip("abc", np.eye(3)[[2, 0, 2]], strict=True)
            ),
        ),
        lambda q: abs(math.sin(q[1])),
    ),
    "composite of three axes": (
        mb.CompositeJoint(
            "j", *(mb.RevoluteJoint(n, axis) for n, axis in zip("xyz", np.eye(3), strict=True))
        ),
        lambda q: abs(math.cos(q[1])),
    ),
}
each_measure = pytest.mark.parametrize(("joint", "measure"), MEASURES.values(), ids=MEASURES.keys())


@each_measure
def test_the_measure_has_a_closed_form(joint, measure):
    """At random, near the identity, and near turns by 2 pi."""
    rng = np.random.default_rng(3)
    for size in (0.0, 1e-8, 0.5, 1.0, 2.0, 3.0):
        q = size * rng.normal(size=joint.num_positions)
        assert joint.singularity(q) == pytest.approx(measure(q), rel=1e-10, abs=1e-12)


@each_measure
def test_the_measure_of_a_subgroup_is_the_volume_of_its_twists(joint, measure):
    """|det| of S in the unit screws of the group, which group elements have for columns of S."""
    if not hasattr(joint, "freedoms"):
        return
    unit = np.array(list(joint.freedoms.values())).T
    rng = np.random.default_rng(4)
    for _ in range(5):
        q = rng.normal(size=joint.num_positions)
        S = joint.motion.motion_subspace(q)
        volume = abs(np.linalg.det(np.linalg.pinv(unit) @ S))
        found = joint.singularity(q)
        assert (1.0 if found == math.inf else found) == pytest.approx(volume, rel=1e-10)


@each_measure
def test_rows_are_measured_at_once(joint, measure):
    """The same numbers as one by one."""
    q = np.random.default_rng(5).normal(size=(7, joint.num_positions))
    expected = [joint.singularity(each) for each in q]
    np.testing.assert_allclose(joint.singularities(q), expected, rtol=1e-14)


@each_measure
def test_zero_is_where_the_rank_is_lost(joint, measure):
    """S has a vanishing singular value there, but for a universal joint, whose axes keep apart."""
    nq = joint.num_positions
    q = np.full(nq, 0.3)
    if measure(q) == math.inf:
        return  # there is no such place
    turns = [np.eye(nq)[k] * angle for k in range(nq) for angle in (np.pi / 2, np.pi, 2 * np.pi)]
    singular = [x for x in turns if measure(x) < 1e-12]
    assert singular
    for x in singular:
        assert joint.singularity(x) < 1e-9
        least = np.linalg.svd(joint.motion_subspace(x))[1][-1]
        if isinstance(joint, mb.UniversalJoint):
            assert least > 0.5
        else:
            assert least < 1e-9


def test_a_universal_joint_transmits_no_turn_at_its_dead_points():
    """The ratio of the shafts' rates is cos q1 / cos q2, by the moment that the joint bears."""
    joint = mb.UniversalJoint("j")
    for q in ([0.3, 1.2], [-1.0, 0.4], [0.2, np.pi / 2]):
        moment = joint.constraint_wrenches(np.array(q))[:3, 0]
        R = joint.pose(np.array(q))[:3, :3]
        after, before = moment[2], (R @ moment)[2]  # along the shaft of either body
        assert [after, before] == pytest.approx([np.cos(q[1]), np.cos(q[0])], abs=1e-15)


def test_a_constant_velocity_joint_transmits_all_turns_alike():
    """The moment has the same part along both shafts, at any bend."""
    joint = mb.ConstantVelocityJoint("j", AXIS, POINT)
    shaft = np.array(AXIS) / np.linalg.norm(AXIS)
    for q in np.random.default_rng(4).normal(size=(20, 2)):
        moment = joint.constraint_wrenches(q)[:3, 0]
        R = joint.pose(q)[:3, :3]
        assert shaft @ R @ moment == pytest.approx(shaft @ moment, abs=1e-15)
        assert shaft @ moment == pytest.approx(np.cos(np.linalg.norm(q) / 2), abs=1e-15)


@pytest.mark.parametrize(
    "joint",
    [
        mb.UniversalJoint("universal", (1, 2, 0), (0, 1, 1), POINT),
        mb.ConstantVelocityJoint("constant velocity", AXIS, POINT),
        mb.PlanarJoint("planar", AXIS, POINT, coordinates="first kind"),
        mb.SphericalJoint("angles", POINT, coordinates="second kind"),
    ],
    ids=lambda joint: joint.name,
)
def test_wrench_bases_of_dedicated_joints_are_smooth(joint):
    """Along a path through zero and near singular places they change by no more than q does."""
    start, step = np.full(joint.num_positions, -1.5), 1e-4
    path = [joint.constraint_wrenches(start + k * step) for k in range(31_000)[::50]]
    change = max(np.abs(b - a).max() for a, b in itertools.pairwise(path))
    assert change < 3 * 50 * step


# ------------------------------------------------------------------------------- simulation


def top(joint):
    """A body on a joint, fast enough to come round."""
    mech = mb.Mechanism("top", gravity=(0, 0, 0))
    box = mb.SpatialInertia.box(1.0, size=(0.3, 0.2, 0.1))
    mech.add_joint(joint, mech.world, mech.add_body(mb.Body("body", box)))
    return mech.assemble()


def test_a_simulation_warns_once_and_before():
    """At the first look within the limit, with the name, the time, and what avoids it."""
    system = top(mb.SphericalJoint("ball", coordinates="second kind", order="zyx"))
    with pytest.warns(mb.SingularityWarning) as caught:
        run = mb.simulate(system, (0.0, 1.0), 1e-3, v=[0.0, 1.5, 0.0])
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.startswith("Joint 'ball' (SphericalJoint) comes near a singular configuration at t")
    assert text.endswith(
        "zero where it is singular; coordinates='group' has no singular configuration, and other "
        "orders have theirs elsewhere."
    )
    t = float(text.partition("t = ")[2].split()[0])
    assert np.cos(1.5 * t) < 0.1  # not earlier
    assert run.completed
    assert t < np.pi / 3  # before the angle is a quarter turn


def test_no_saved_state_is_overlooked():
    """A second in twenty thousand steps, of which few are near: at most a few chunks of steps."""
    system = top(mb.SphericalJoint("ball", coordinates="second kind", order="zyx"))
    with pytest.warns(mb.SingularityWarning) as caught:
        mb.simulate(system, (0.0, 1.0), 5e-5, v=[0.0, 15.0, 0.0])
    t = float(str(caught[0].message).partition("t = ")[2].split()[0])
    assert np.cos(15.0 * t) < 0.1 < np.cos(15.0 * (t - 1e-4))  # the first state within the limit


@pytest.mark.parametrize("how", ["directory", "output times"])
def test_it_warns_in_every_kind_of_run(how, tmp_path):
    """Written to a directory, or at times of its own."""
    system = top(mb.SphericalJoint("ball", coordinates="second kind"))
    options = {"output": tmp_path / "run"} if how == "directory" else {"save_at": [0.0, 0.98, 1.0]}
    with pytest.warns(mb.SingularityWarning, match="'ball'"):
        mb.simulate(system, (0.0, 1.0), 1e-3, v=[0.0, 1.5, 0.0], **options)


def test_a_start_near_a_singular_configuration_is_told_before_it_fails():
    """The mass matrix is singular at once: the warning says why."""
    system = top(mb.SphericalJoint("ball", coordinates="second kind", order="zxz"))
    with (
        pytest.warns(mb.SingularityWarning, match="at t = 0 s"),
        pytest.raises(mb.SingularMassMatrixError),
    ):
        mb.simulate(system, (0.0, 1.0), 1e-3, v=[1.0, 0.0, 0.0])


def test_warnings_that_are_errors_leave_a_result():
    """The run ends where the joint is, with what was computed."""
    system = top(mb.SphericalJoint("ball", coordinates="second kind"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", mb.SingularityWarning)
        with pytest.raises(mb.SingularityWarning, match="'ball'") as caught:
            mb.simulate(system, (0.0, 1.0), 1e-3, v=[0.0, 1.5, 0.0])
    assert 0.9 < caught.value.result.t[-1] <= 1.0


def test_group_elements_have_nothing_to_warn_of():
    """The same motion in unit quaternions goes through; warnings are errors here."""
    system = top(mb.SphericalJoint("ball"))
    run = mb.simulate(system, (0.0, 2.0), 1e-3, v=[0.0, 1.5, 0.0])
    assert np.abs(run.energy_drift).max() < 1e-12
    assert mb.near_singularity(system, run.q[-1]) == ()


def test_near_joints_come_in_their_order():
    """Nearest first; the threshold is the caller's."""
    mech = mb.Mechanism("two")
    box = mb.SpatialInertia.box(1.0, size=(0.3, 0.2, 0.1))
    near = mech.world
    for name in "ab":
        body = mech.add_body(mb.Body(name, box))
        mech.add_joint(mb.UniversalJoint(name), near, body)
        near = body
    system = mech.assemble()
    q = [0.0, 1.5, 1.56, 0.0]
    assert [each.joint for each in mb.near_singularity(system, q)] == ["b", "a"]
    assert [each.joint for each in mb.near_singularity(system, q, 0.05)] == ["b"]
    first = mb.near_singularity(system, q)[0]
    assert first.distance == pytest.approx(np.cos(1.56))
    assert first.kind == "UniversalJoint"
    assert "ConstantVelocityJoint" in first.remedy
    with pytest.raises(mb.ShapeError):
        mb.near_singularity(system, q[:3])


class Wall(mb.RevoluteJoint):
    """Singular at one radian; far from it there is nothing to say."""

    broken = False

    def singularities(self, q):
        return np.array([self.singularity(each) for each in q])

    def singularity(self, q):
        if self.broken and q[0] > 0.5:
            raise ArithmeticError("no measure")
        return abs(q[0] - 1.0) if q[0] > 0.5 else math.inf


def turning(joint):
    mech = mb.Mechanism("m", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("b", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(joint, mech.world, body)
    return mech.assemble()


def test_a_measure_that_is_infinite_at_first_is_watched():
    with pytest.warns(mb.SingularityWarning, match="Joint 'wall' .* singular"):
        mb.simulate(turning(Wall("wall", axis=(0, 0, 1))), (0.0, 2.0), 1e-3, v=[1.0])


def test_what_a_measure_raises_names_joint_time_and_place():
    class Broken(Wall):
        broken = True

    with pytest.raises(ArithmeticError) as caught:
        mb.simulate(turning(Broken("wall", axis=(0, 0, 1))), (0.0, 2.0), 1e-3, v=[1.0])
    (note,) = (each for each in caught.value.__notes__ if "singularity" in each)
    assert note.startswith("Raised by singularity of joint 'wall', at t = 0.5")
    assert "q = [0.5" in note

"""check_force: every force of mbkit holds, and what breaks a law is found, with its law alone."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.forces import ForceKernels
from mbkit.testing import check_force
from tests.forces.cases import every_force, tree

ACCOUNT = "power is -dU/dt - dissipated + supplied"
MEMORY = "the same arguments give the same results"
SIGN = "what is dissipated is not negative"
BALANCE = "what acts between bodies acts back"
FORMS = "compiled and Python forms agree"
DERIVATIVES = "its derivatives are those of what it writes"


def cases():
    rng = np.random.default_rng(3)
    mech, single = tree(rng)
    return mech, {force.name: force for force in every_force(rng, mech, single)}


MECHANISM, FORCES = cases()


@pytest.mark.some(3)
@pytest.mark.parametrize("name", FORCES)
def test_every_force_of_mbkit_holds(name):
    """In a tree where nothing is aligned, and in the chain that is made of its names."""
    for report in (check_force(FORCES[name], MECHANISM), check_force(FORCES[name])):
        assert report.holds, str(report)
        laws = [ACCOUNT, SIGN, BALANCE, MEMORY, FORMS, DERIVATIVES]
        assert [line.law for line in report.lines[1:]] == laws


class OnHinge(mb.Force):
    """A sound force: a spring of two stiffnesses along a joint, q + 4 q^3."""

    joints = ("hinge",)

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = -q[0] - 4.0 * q[0] ** 3

    def potential_energy(self, t, q, poses):
        return 0.5 * q[0] ** 2 + q[0] ** 4


class WrongGradient(OnHinge):
    def potential_energy(self, t, q, poses):
        return 0.5 * q[0] ** 2 + 1.001 * q[0] ** 4


class MovingSpring(OnHinge):
    """Its end moves, and it says nothing of the work of what moves it."""

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = -(q[0] - np.sin(t))

    def potential_energy(self, t, q, poses):
        return 0.5 * (q[0] - np.sin(t)) ** 2


class MovingSpringAccounted(MovingSpring):
    def powers(self, t, q, v, poses, twists):
        return 0.0, -(q[0] - np.sin(t)) * np.cos(t)


class Remembers(OnHinge):
    power = "supplied"
    last = 0.0

    def potential_energy(self, t, q, poses):
        return 0.0

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = q[0] - self.last
        self.last = q[0]


class PushingDamper(mb.Force):
    joints = ("hinge",)
    power = "dissipated"

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = 0.3 * v[0]


class Damper(PushingDamper):
    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = -0.3 * v[0]


def test_forces_in_python_that_are_sound_hold():
    for kind in (OnHinge, MovingSpringAccounted, Damper):
        report = check_force(kind("f"))
        assert report.holds, str(report)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (WrongGradient, ACCOUNT),
        (MovingSpring, ACCOUNT),
        (Remembers, MEMORY),
        (PushingDamper, SIGN),
    ],
)
def test_a_broken_law_is_found(kind, law):
    report = check_force(kind("f"))
    failed = [line.law for line in report.failed]
    assert law in failed
    assert set(failed) <= {law, ACCOUNT}  # what has a memory has no derivative
    assert f"FAIL  {law}" in str(report)
    with pytest.raises(mb.ContractError, match="Force 'f'"):
        report.raise_if_failed()


class BothForms(OnHinge):
    """The compiled joint spring, with stiffness 2, beside methods with another."""

    stiffness = 2.0

    def __init__(self, name):
        super().__init__(name)
        self._spring = mb.JointSpring(name, "hinge", stiffness=2.0)

    def kernels(self):
        return ForceKernels(self._spring.kernels().evaluate, self._spring.kernels().potential)

    def parameters(self):
        return self._spring.parameters()

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = -self.stiffness * q[0]

    def potential_energy(self, t, q, poses):
        return 0.5 * self.stiffness * q[0] ** 2


class OtherForms(BothForms):
    stiffness = 2.0 + 1e-8


def test_two_forms_of_a_force_are_compared():
    report = check_force(BothForms("f"))
    assert report.holds
    assert next(line for line in report.lines if line.law == FORMS).holds is True
    assert [line.law for line in check_force(OtherForms("f")).failed] == [FORMS]


class OnBall(mb.Force):
    joints = ("ball",)

    def check_joint(self, name, nq, nv):
        if nv != 3:
            raise mb.ForceError(f"Force 'f' needs a joint with 3 velocities, got {nv}.")

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = -v


def test_the_chain_has_the_joints_that_the_force_takes():
    assert check_force(OnBall("f")).holds


def test_what_cannot_be_looked_at_is_one_line():
    """The definition, a name that is not there, a force that no chain suits."""
    report = check_force(mb.Force("wind"))
    assert "must define evaluate" in str(report)
    report = check_force(OnHinge("f"), mb.Mechanism("empty"))
    assert not report.holds
    assert "no joint 'hinge'" in str(report)

    class Picky(OnBall):
        def check_joint(self, name, nq, nv):
            raise mb.ForceError("Force 'f' takes no joint.")

    report = check_force(Picky("f"))
    assert "No chain of hinges, ball joints or free joints suits the force" in str(report)
    assert len(report.lines) == 1


class Rubber(mb.Force):
    """A sound force: a spring, or a damper, between points of two bodies."""

    acts_on = "bodies"
    bodies = ("a", "b")
    stiffness, damping = 3.0, 0.0
    points = np.array([[0.3, -0.1, 0.2], [-0.2, 0.4, 0.1]])

    def ends(self, poses):
        arms = np.array([C[:3, :3] @ p for C, p in zip(poses, self.points, strict=True)])
        return arms, poses[:, :3, 3] + arms

    def pull(self, poses, twists):
        arms, (x, y) = self.ends(poses)
        v, w = twists[:, 3:] + np.cross(twists[:, :3], arms)
        along = (y - x) / np.linalg.norm(y - x)
        return self.stiffness * (y - x) + self.damping * (along @ (w - v)) * along

    def evaluate(self, t, q, v, poses, twists, out):
        arms, _ = self.ends(poses)
        force = self.pull(poses, twists)
        out[:, 3:] = force, -force
        out[:, :3] = np.cross(arms, out[:, 3:])

    def potential_energy(self, t, q, poses):
        _, (x, y) = self.ends(poses)
        return 0.5 * self.stiffness * (y - x) @ (y - x)


class RubberDamper(Rubber):
    stiffness, damping = 0.0, 0.7
    power = "dissipated"


class Changed:
    """What a mistake makes of the right wrenches; subclasses say which."""

    def evaluate(self, t, q, v, poses, twists, out):
        super().evaluate(t, q, v, poses, twists, out)
        self.change(poses, out)


class NoMoment(Changed):
    def change(self, poses, out):
        out[:, :3] = 0.0


class WrongSignOfMoment(Changed):
    def change(self, poses, out):
        out[1, :3] *= -1.0


class AboutTheWorld(Changed):
    def change(self, poses, out):
        out[:, :3] += np.cross(poses[:, :3, 3], out[:, 3:])


class AboutTheOtherBody(Changed):
    def change(self, poses, out):
        out[0, :3] = np.cross(poses[1, :3, 3] - poses[0, :3, 3], out[0, 3:])


class InBodyAxes(Changed):
    def change(self, poses, out):
        for C, w in zip(poses, out, strict=True):
            w[:3], w[3:] = C[:3, :3].T @ w[:3], C[:3, :3].T @ w[3:]


class ForceFirst(Changed):
    def change(self, poses, out):
        out[:] = np.hstack([out[:, 3:], out[:, :3]])


class NoReaction(Changed):
    def change(self, poses, out):
        out[1] = 0.0


class ActsTwice(Changed):
    def change(self, poses, out):
        out[1] *= -1.0


class MomentInBodyAxes(Changed):
    def change(self, poses, out):
        out[0, :3] = poses[0, :3, :3].T @ out[0, :3]


class TooMuch(Changed):
    def change(self, poses, out):
        out *= 1.0 + 1e-5


MISTAKES = [
    NoMoment, WrongSignOfMoment, AboutTheWorld, AboutTheOtherBody, InBodyAxes, ForceFirst,
    NoReaction, ActsTwice, MomentInBodyAxes, TooMuch,
]  # fmt: skip


def with_bodies():
    """A mechanism in which bodies of the force's names move on hinges alone."""
    mech = mb.Mechanism("hinges")
    before = mech.world
    for name in ("a", "b"):
        body = mech.add_body(mb.Body(name, mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))))
        frame = mb.spatial.translation((0.2, 0.1, 0.5))
        mech.add_joint(mb.RevoluteJoint(f"to {name}"), before, body, reference=frame)
        before = body
    return mech


@pytest.mark.parametrize("mechanism", [None, with_bodies()], ids=["chain", "hinges"])
@pytest.mark.parametrize("kind", [Rubber, RubberDamper])
def test_forces_between_bodies_that_are_sound_hold(kind, mechanism):
    report = check_force(kind("f"), mechanism)
    assert report.holds, str(report)
    assert next(line for line in report.lines if line.law == BALANCE).holds is True


@pytest.mark.some(2)
@pytest.mark.parametrize("mechanism", [None, with_bodies()], ids=["chain", "hinges"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_wrong_wrenches_of_springs_are_found(mistake, mechanism):
    """Where bodies move freely; hinges would hide what does no work about their axes."""
    kind = type(f"{mistake.__name__}Rubber", (mistake, Rubber), {})
    failed = [line.law for line in check_force(kind("f"), mechanism).failed]
    assert ACCOUNT in failed
    assert set(failed) <= {ACCOUNT, BALANCE}


@pytest.mark.parametrize("mistake", [each for each in MISTAKES if each is not TooMuch])
def test_wrong_wrenches_of_dampers_are_found(mistake):
    """What is dissipated is what the force says; that bodies balance, and never gain, tells."""
    kind = type(f"{mistake.__name__}Damper", (mistake, RubberDamper), {})
    failed = [line.law for line in check_force(kind("f")).failed]
    assert failed
    assert set(failed) <= {SIGN, BALANCE}


class Wind(mb.Force):
    """Sound: it feels the world, so that nothing need act back."""

    acts_on = "bodies"
    bodies = ("a", "b")
    power = "dissipated"

    def evaluate(self, t, q, v, poses, twists, out):
        out[:, :3] = 0.0
        out[:, 3:] = -0.3 * twists[:, 3:]


class Thrusters(Wind):
    """Sound: fixed in the bodies, which do not feel each other."""

    power = "supplied"

    def evaluate(self, t, q, v, poses, twists, out):
        out[:, :3] = 0.0
        out[:, 3:] = poses[:, :3, 2]


@pytest.mark.parametrize(
    ("kind", "why"), [(Wind, "depends on the world"), (Thrusters, "do not feel each other")]
)
def test_what_need_not_act_back_is_left_alone(kind, why):
    report = check_force(kind("f"))
    assert report.holds, str(report)
    line = next(line for line in report.lines if line.law == BALANCE)
    assert line.holds is None
    assert why in line.remark

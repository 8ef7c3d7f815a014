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
FORMS = "compiled and Python forms agree"


def cases():
    rng = np.random.default_rng(3)
    mech, single = tree(rng)
    return mech, {force.name: force for force in every_force(rng, mech, single)}


MECHANISM, FORCES = cases()


@pytest.mark.parametrize("name", FORCES)
def test_every_force_of_mbkit_holds(name):
    """In a tree where nothing is aligned, and in the chain that is made of its names."""
    for report in (check_force(FORCES[name], MECHANISM), check_force(FORCES[name])):
        assert report.holds, str(report)
        assert [line.law for line in report.lines[1:]] == [ACCOUNT, SIGN, MEMORY, FORMS]


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

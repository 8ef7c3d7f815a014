"""A force in Python that gives no derivatives is traced, or named, once of a system."""

from __future__ import annotations

import math
import warnings

import attrs
import numpy as np
import pytest

import mbkit as mb


@attrs.frozen
class Push(mb.Force):
    """A force along a slide that grows with its position, and cannot be traced."""

    name: str
    gain: float = 3.0

    @property
    def joints(self):
        return ("slide",)

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = -self.gain * math.fsum(q)


@attrs.frozen
class TracedPush(Push):
    """The same, which can."""

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = -self.gain * q


@attrs.frozen
class KnownPush(Push):
    """The same, with its derivatives."""

    def derivatives(self, t, q, v, poses, twists):
        return mb.ForceDerivatives(q=[[-self.gain]], parameters={"gain": [-q[0]]})


def slider(*forces):
    mech = mb.Mechanism("slider")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), mech.world, body)
    for force in forces:
        mech.add_force(force)
    return mech.assemble()


def pull(t, q, v):
    return -np.sin(t) - 4.0 * q


def opaque_pull(t, q, v):
    return [-math.fsum([np.sin(t), *(4.0 * q)])]


def ends(system):
    return mb.sensitivities(mb.simulate(system, (0.0, 0.1), 0.05, q=[0.2]), by=["q"])


def gradient_of_ends(system):
    run = mb.simulate(system, (0.0, 0.1), 0.05, q=[0.2])
    return mb.gradient(run, lambda t, q, v: (0.5 * (v * v).sum(), None, v), by=["q"])


DIFFERENTIATED = {
    "force_derivatives": lambda s: s.force_derivatives([0.2], [0.1]),
    "derivatives": lambda s: s.derivatives("forward_dynamics", [0.2], [0.1], by=("q", "v")),
    "by a parameter": lambda s: s.derivatives(
        "inverse_dynamics", [0.2], [0.1], vdot=[0.0], by=("forces.push.gain",)
    ),
    "second derivatives": lambda s: s.inverse_dynamics_second_derivatives([0.2], [0.1], [0.3]),
    "inverse_dynamics_rate": lambda s: s.inverse_dynamics_rate([0.2], [0.1], [0.3], [0.4]),
    "inverse_dynamics_second_rate": lambda s: s.inverse_dynamics_second_rate(
        [0.2], [0.1], [0.3], [0.4], [0.5]
    ),
    "linearize": lambda s: s.linearize([0.0], [0.0]),
    "equilibrium": lambda s: s.equilibrium([0.1]),
    "sensitivities": ends,
    "gradient": gradient_of_ends,
}


@pytest.mark.parametrize("ask", DIFFERENTIATED.values(), ids=DIFFERENTIATED)
def test_a_force_without_derivatives_is_named_once(ask):
    system = slider(Push("push"))
    with pytest.warns(mb.ForceDerivativeWarning) as caught:
        ask(system)
    (warning,) = {str(each.message) for each in caught}
    assert "Force 'push' gives no derivatives" in warning
    assert "add a method derivatives(t, q, v, poses, twists)" in warning
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask(system)
        ask(slider(KnownPush("push")))


@pytest.mark.compiled
@pytest.mark.parametrize("name", [name for name in DIFFERENTIATED if name != "by a parameter"])
def test_nothing_is_said_of_a_force_that_can_be_traced(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DIFFERENTIATED[name](slider(TracedPush("push")))


@pytest.mark.compiled
def test_a_warning_that_is_an_error_is_raised():
    for ask in (gradient_of_ends, DIFFERENTIATED["force_derivatives"]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(mb.ForceDerivativeWarning, match="fsum"):
                ask(slider(Push("push")))


def test_each_is_named_and_a_function_has_another_remedy():
    forces = KnownPush("known"), Push("push"), mb.ForceFunction("pull", opaque_pull, joints="slide")
    system = slider(*forces, mb.JointSpring("spring", "slide", stiffness=1.0))
    with pytest.warns(mb.ForceDerivativeWarning) as caught:
        by_q, _ = system.force_derivatives([0.2], [0.1])
    assert np.allclose(by_q, -(3.0 + 3.0 + 4.0 + 1.0), rtol=1e-10)
    found = sorted(str(each.message) for each in caught)
    assert [text.split("'")[1] for text in found] == ["pull", "push"]
    assert "make it a subclass of mbkit.Force" in found[0]


@pytest.mark.compiled
def test_the_time_of_a_function_that_can_be_traced_is_differentiated():
    system = slider(mb.ForceFunction("pull", pull, joints="slide"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = system.derivatives("inverse_dynamics", [0.2], [0.1], vdot=[0.0], by=("t",), t=0.3)
    assert np.allclose(found["t"], np.cos(0.3), rtol=1e-14)


def test_the_time_of_a_function_is_differentiated():
    system = slider(mb.ForceFunction("pull", opaque_pull, joints="slide"))
    with pytest.warns(mb.ForceDerivativeWarning, match="'pull'"):
        found = system.derivatives("inverse_dynamics", [0.2], [0.1], vdot=[0.0], by=("t",), t=0.3)
    assert np.allclose(found["t"], np.cos(0.3), rtol=1e-9)


def test_what_only_evaluates_says_nothing():
    system = slider(Push("push"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.forward_dynamics([0.2], [0.1])
        mb.simulate(system, (0.0, 0.1), 0.05, q=[0.2])
        mb.simulate(system, (0.0, 0.1), 0.05, q=[0.2], integrator=mb.GeneralizedAlpha())

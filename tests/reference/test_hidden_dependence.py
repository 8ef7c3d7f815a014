"""Functions that hide how they depend on time or on q from tracing: nothing is wrong silently."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import mbkit as mb


class Remembering:
    """sin t, kept from the last call."""

    def __init__(self):
        self.t = None

    def __call__(self, t):
        if t != self.t:
            self.t, self.value = t, np.sin(t)
        return self.value


def rail():
    return mb.PrismaticJoint("rail", axis=(1, 0, 0))


HIDDEN = {
    "kept from the last call": (Remembering(), 0.3, "velocity at t = 0.3 is 0 .* 0.955336"),
    "velocity of one instant": (
        lambda t: (1 - np.cos(t)) / t if t != 0 else 0.0, 0.0, "velocity at t = 0 is 0 .* 0.5 ",
    ),
    "acceleration of one instant": (
        lambda t: 1 - np.cos(t) if t != 0 else 0.0, 0.0, "acceleration at t = 0 is 0 .* 1 ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HIDDEN)
def test_what_a_motion_hides_is_refused(case):
    motion, t, message = HIDDEN[case]
    with pytest.raises(mb.JointError, match=message):
        rail().prescribe(motion).motion.at(t)


@pytest.mark.parametrize(
    ("rate", "acceleration", "message"),
    [
        (lambda t: 5.0, lambda t: 0.0, r"rate\(t\) at t = 0 is 5, but .* give 1\."),
        (lambda t: 1.0, lambda t: 0.0, r"rate\(t\) at t = 1.3 is 1, but"),
        (np.cos, np.sin, r"acceleration\(t\) at t = 0.37 is 0.361615, but .* give -0.361615"),
    ],
)
def test_given_rates_must_belong_to_the_position(rate, acceleration, message):
    """Also where they are right at the first time that is asked for."""
    motion = rail().prescribe(np.sin, rate=rate, acceleration=acceleration).motion
    with pytest.raises(mb.JointError, match=message):
        motion.at(0.0)


def test_rates_of_a_table_may_be_those_of_its_curve():
    """A table of 0.1 s is not smooth; its curve's rates go with it, from its first instant on."""
    times = np.linspace(0.0, 3.0, 31)
    motion = rail().prescribe(
        lambda t: np.interp(t, times, np.sin(2 * times)),
        rate=lambda t: 2 * np.cos(2 * t), acceleration=lambda t: -4 * np.sin(2 * t),
    ).motion  # fmt: skip
    assert motion.at(0.0)[1:] == (2.0, 0.0)


@pytest.mark.parametrize("frequency", [1e-3, 1.0, 40.0, 160.0, 1e3, 1e5])
@pytest.mark.parametrize("amplitude", [1e-8, 1.0, 1e5])
def test_honest_oscillations_are_taken(frequency, amplitude):
    """Whatever their size and period, at zeros and at times where sines have few digits left."""
    w = 2 * np.pi * frequency
    motion = rail().prescribe(lambda t: amplitude * np.sin(w * t)).motion
    for t in (0.0, 0.3, 100.0):
        q, v, vdot = motion.at(t)
        assert v[0] == pytest.approx(amplitude * w * np.cos(w * t), rel=1e-12)
        assert vdot[0] == -w * w * q[0] or vdot[0] == pytest.approx(-w * w * q[0], rel=1e-12)


SHARP = {
    "a kink": lambda t: abs(t - 0.3),
    "a step": lambda t: 1.0 if t >= 0.3 else 0.0,
    "a power": lambda t: max(t - 0.3, 0.0) ** 2.5,
    "an edge of the domain": lambda t: np.arcsin(t / 0.3 - 2.0) if t < 0.0 else np.sqrt(1.3 - t),
    "a steep rise": lambda t: np.tanh(1e4 * (t - 0.3)),
    "stairs": lambda t: np.floor(10 * t),
    "nothing": lambda t: 0.0,
    "a spline at a knot": CubicSpline([0.0, 0.3, 1.0, 2.0], [0.0, 1.0, -1.0, 0.0]),
}


@pytest.mark.parametrize("case", SHARP)
def test_sharp_bends_are_taken(case):
    """At a bend the derivative is that of a side."""
    for t in (0.3, 0.3 - 1e-9, 0.7):
        assert np.isfinite(rail().prescribe(SHARP[case]).motion.at(t)).all()


def turn(angle, x, y):
    c, s = np.cos(angle), np.sin(angle)
    T = np.eye(4)
    T[:2, :2] = [[c, -s], [s, c]]
    T[:2, 3] = x, y
    return T


class Slot(mb.Joint):
    """A turn along a curve (x(q), y(q)), by its pose; the others hide what it does."""

    num_positions = num_velocities = 1

    def pose(self, q):
        return turn(q[0], 2 * np.sin(q[0]), 0.0)


class ByProperty(Slot):
    def pose(self, q):
        self._s = np.sin(q[0])
        return turn(q[0], self.twice, 0.0)

    @property
    def twice(self):
        return 2 * self._s


class Kept(Slot):
    last = None

    def pose(self, q):
        if q[0] <= 0.1:
            return super().pose(q)
        if q[0] != self.last:
            self.last, self.x = q[0], 2 * np.sin(q[0])
        return turn(q[0], self.x, 0.0)


class OnePlace(mb.Joint):
    """A formula that is 0/0 at q = 1/2, with its value there."""

    num_positions = num_velocities = 1

    def pose(self, q):
        k = q[0] - 0.5
        x, y = (1, 0) if abs(k) < 1e-9 else (np.sin(k) / k, (1 - np.cos(k)) / k)
        return turn(k, x, y)


def on_a_joint(joint):
    mech = mb.Mechanism("m")
    body = mech.add_body(mb.Body("b", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(joint, mech.world, body)
    return mech.assemble()


def test_properties_are_traced_like_methods():
    q, v = np.array([0.7]), np.array([1.3])
    own, other = ByProperty("own"), Slot("other")
    np.testing.assert_array_equal(own.motion_subspace(q), other.motion_subspace(q))
    np.testing.assert_array_equal(own.bias(q, v), other.bias(q, v))


@pytest.mark.parametrize("value", [0.11, 0.3, 1.2])
def test_a_value_kept_from_the_last_call_is_found(value):
    """Differences take the place of what is traced, with a warning that has the reason."""
    system, q = on_a_joint(Kept("kept")), [value]
    with pytest.warns(mb.JointDerivativeWarning, match="a value kept from another call"):
        found = system.mass_matrix(q)
    np.testing.assert_allclose(found, on_a_joint(Slot("s")).mass_matrix(q), rtol=1e-9)


def test_a_branch_for_one_place_is_found_there():
    """x'(k) = 0 and y'(k) = 1/2 at k = 0, y'' = 0, x'' = -1/3."""
    system = on_a_joint(OnePlace("one"))
    beside = system.mass_matrix([0.5 + 1e-5])
    with pytest.warns(mb.JointDerivativeWarning, match=r"at q = \[0.5\] column 0 of the motion"):
        found = system.mass_matrix([0.5])
    np.testing.assert_allclose(found, beside, rtol=1e-6)
    np.testing.assert_allclose(found, 2.0 * (0.25 + 0.4 * 0.01), rtol=1e-9)


def test_samples_whose_motion_fails():
    """They get NaN if one asks for it; otherwise the error has the index."""
    mech = mb.Mechanism("m")
    inertia = mb.SpatialInertia.sphere(2.0, radius=0.1)
    cart, bob = (mech.add_body(mb.Body(name, inertia)) for name in ("cart", "bob"))
    motion = rail().prescribe(lambda t: np.sqrt(1 - t) if t < 1 else np.nan)
    mech.add_joint(motion, mech.world, cart)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), cart, bob)
    system, q, t = mech.assemble(), [0.0, 0.1], [0.5, 2.0, 0.3]
    found = system.forward_dynamics(q, q, t=t, on_error="nan")
    assert np.isnan(found[1]).all()
    for k in (0, 2):
        np.testing.assert_array_equal(found[k], system.forward_dynamics(q, q, t=t[k]))
    with pytest.raises(mb.NotFiniteError) as caught:
        system.forward_dynamics(q, q, t=[t, t])
    assert "That is sample [0, 1] of t." in caught.value.__notes__
    with pytest.raises(mb.UsageError, match="on_error must be 'raise' or 'nan'"):
        system.forward_dynamics(q, q, t=0.5, on_error="zero")

"""Derivatives of the efforts of actuators: along motions, by applied efforts, by parameters."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.closed_mechanisms import assembled, stewart
from tests.constraints.test_inverse_dynamics import ALL, five_bar
from tests.every_representation import representations_in_turn

#: Central differences of order 8.
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
STEP = 5e-3
STENCIL = STEP * np.arange(-4, 5)

CASES = {
    "as many as freedoms": {"actuated": ["A", "E"]},
    "least efforts": {"actuated": ALL},
    "least weighted efforts": {"actuated": ["A", "B", "E"], "minimise": {"A": 1e6, "E": 0.3}},
    "minimum-norm multipliers": {"actuated": ["A", "D", "E"], "minimise": "constraint"},
    "minimum-norm multipliers, all": {"actuated": ALL, "minimise": "constraint"},
}


def planar(representation):
    """A five-bar with a spring, whose rows depend on each other, and its motion by two joints."""
    system = five_bar(representation).with_forces([mb.JointSpring("spring", "B", 3.0, 0.4)])
    return system, ["A", "E"]


def driven(system, names):
    """A motion by these joints at several times, (9, ...)."""
    rng = np.random.default_rng(3)
    rates, phases, at = rng.uniform(0.5, 2.0, len(names)), rng.normal(size=len(names)), STENCIL
    motion = {
        name: (
            0.1 * np.sin(w * at + p), 0.1 * w * np.cos(w * at + p), -0.1 * w**2 * np.sin(w * at + p)
        )
        for name, w, p in zip(names, rates, phases, strict=True)
    }  # fmt: skip
    return system.closed_motion(motion)


def rate(values):
    """The rate in the middle."""
    return np.tensordot(WEIGHTS, values, 1) / STEP


def assert_change_along_a_motion(system, names, given):
    """By q along v, by v along vdot, by vdot along the jerk: together the rate of the efforts."""
    q, v, vdot = driven(system, names)
    found = system.closed_inverse_dynamics(q, v, vdot, **given)
    one = system.derivatives(
        "closed_inverse_dynamics", q[4], v[4], vdot=vdot[4], by=("q", "v", "vdot"), **given
    )
    np.testing.assert_allclose(one.values["tau"], found.efforts[4], atol=1e-12)
    moves = {"q": system.rates(q[4], v[4]), "v": vdot[4], "vdot": rate(vdot)}
    for values, parts in ((found.efforts, one.tau), (found.multipliers, one.multipliers)):
        total = sum(parts[name] @ move for name, move in moves.items())
        size = max(np.abs(values).max(), 1.0)
        np.testing.assert_allclose(total, rate(values), atol=1e-8 * size)
    batch = system.derivatives(
        "closed_inverse_dynamics", q[3:6], v[3:6], vdot=vdot[3:6], by=("q", "v", "vdot"), **given
    )
    for name in moves:
        np.testing.assert_allclose(batch[name][1], one[name], rtol=1e-12, atol=1e-11)


@pytest.mark.some(4)
@representations_in_turn("given", CASES)
def test_efforts_change_along_a_motion_by_the_sum(given, representation):
    """Of a mechanism in a plane, whose rows depend on each other."""
    system, names = planar(representation)
    assert_change_along_a_motion(system, names, given)


@pytest.mark.slow
def test_efforts_of_a_platform_change_along_a_motion_by_the_sum():
    """In space, by six legs."""
    system = assembled(stewart(), *(f"top {k}" for k in range(1, 6)))
    legs = [f"leg {k}" for k in range(6)]
    assert_change_along_a_motion(system, legs, {"actuated": legs})


@pytest.mark.some(2)
@pytest.mark.parametrize("case", CASES)
def test_by_efforts_and_parameters_that_no_constraint_feels(case):
    """By efforts applied besides, a mass, gravity and a stiffness: differences of the efforts."""
    given = CASES[case]
    system, names = planar(mb.Mixed())
    q, v, vdot = (x[4] for x in driven(system, names))
    mass = next(name for name in system.parameters if name.endswith(".mass"))
    stiffness = "forces.spring.stiffness"
    by = ("tau", mass, "gravity", stiffness)
    found = system.derivatives("closed_inverse_dynamics", q, v, vdot=vdot, by=by, **given)

    def efforts(changed, tau=None):
        other = changed.closed_inverse_dynamics(q, v, vdot, tau=tau, **given)
        return np.concatenate([other.efforts, other.multipliers])

    def both(name):
        return np.concatenate([found.tau[name], found.multipliers[name]])

    rng = np.random.default_rng(5)
    tau = rng.normal(size=system.nv)
    change = 0.5 * (efforts(system, tau) - efforts(system, -tau))  # linear
    np.testing.assert_allclose(both("tau") @ tau, change, atol=1e-9)
    for name, direction in ((mass, 1.0), ("gravity", rng.normal(size=3)), (stiffness, 1.0)):
        value = system.parameters[name]
        above, below = (
            efforts(system.with_parameters({name: value + e * direction})) for e in (0.1, -0.1)
        )
        along = both(name) * direction if np.ndim(direction) == 0 else both(name) @ direction
        np.testing.assert_allclose(along, (above - below) / 0.2, atol=1e-9)


def test_what_it_takes():
    """An acceleration, actuators; motions that no efforts give are not numbers where asked."""
    system, names = planar(mb.BodyFixed())
    q, v, vdot = (x[4] for x in driven(system, names))
    with pytest.raises(mb.UsageError, match=r"closed_inverse_dynamics need the acceleration"):
        system.derivatives("closed_inverse_dynamics", q, v, actuated=names)
    with pytest.raises(mb.UsageError, match=r"forward_dynamics take no actuated"):
        system.derivatives("forward_dynamics", q, v, actuated=names)
    with pytest.raises(mb.UsageError, match=r"closed_inverse_dynamics take no prescribed"):
        system.derivatives("closed_inverse_dynamics", q, v, vdot=vdot, prescribed=["A"])
    with pytest.raises(mb.ConstraintError, match="no efforts of"):
        system.derivatives("closed_inverse_dynamics", q, v, vdot=vdot, actuated=["A"])
    both = system.derivatives(
        "closed_inverse_dynamics", q, v, vdot=[vdot, vdot + 1.0], actuated=names, on_error="nan"
    )
    assert np.isfinite(both["q"][0]).all()
    assert np.isnan(both["q"][1]).all()

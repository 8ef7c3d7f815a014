"""Derivatives of runs that start by the names of joints, against differences of `simulate`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb
from mbkit.spatial.frames import rotation, translation
from tests.sensitivities.differences import assert_adjoint, assert_same, difference

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

#: Where the joints of chains are, which begin and end at the world.
FOUR = {"A": (0, 0, 0), "B": (0.3, 0, 0), "C": (0.5, 0, 0.6), "D": (0.8, 0, 0)}
FIVE = {
    "A": (0, 0, 0),
    "B": (0.1, 0, 0.4),
    "C": (0.4, 0, 0.7),
    "D": (0.8, 0, 0.4),
    "E": (0.9, 0, 0),
}

#: Of the plane that the chains move in.
TURNED = rotation((0.3, -0.5, 0.8), 0.9) @ translation((0.4, 0.1, -0.2))

#: In that plane.
DIRECTION = TURNED[:3, :3] @ (0.3, 0.0, 0.2)


def chain(points):
    """A closed chain of bars on hinges, in a plane that is no plane of the world."""
    mech = mb.Mechanism("chain", gravity=tuple(TURNED[:3, :3] @ (0, 0, -9.81)))
    names = [*points]
    bodies = ["world", *(f"of {name}" for name in names[:-1]), "world"]
    for k, body in enumerate(bodies[1:-1]):
        com = 0.5 * np.add(points[names[k]], points[names[k + 1]])
        inertia = mb.SpatialInertia.from_com(1.0, com, 0.01 * np.diag((1.0, 2.0, 3.0)))
        mech.add_body(mb.Body(body, inertia.transformed(TURNED)))
    axis = TURNED[:3, :3] @ (0, -1, 0)
    for k, name in enumerate(names):
        point = TURNED[:3, :3] @ points[name] + TURNED[:3, 3]
        mech.add_joint(mb.RevoluteJoint(name, axis, point=point), bodies[k], bodies[k + 1])
    return mech.assemble()


STARTS = {
    "one joint": (FOUR, {"A": 0.1}, {"A": 2.0}),
    "another joint's velocity": (FOUR, {"A": 0.1}, {"D": 2.0}),
    "at rest": (FOUR, {"D": -0.1}, None),
    "positions of the reference": (FOUR, None, {"A": 2.0}),
    "two joints": (FIVE, {"A": 0.1, "E": -0.05}, {"A": 1.0, "E": 0.5}),
    "two joints, one velocity": (FIVE, {"A": 0.1, "E": -0.05}, {"A": 1.0}),
    "the reference": (FIVE, None, {"A": 1.0}),
}

INTEGRATORS = {
    "Munthe-Kaas": None,
    "generalized-alpha": mb.GeneralizedAlpha(0.8, tolerance=1e-14),
}


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("start", STARTS)
def test_what_is_named_is_held(start, integrator):
    """Places of joints move the joints that are not named; the named ones move them as inputs."""
    points, q, v = STARTS[start]
    system = chain(points)
    options = {"h": 5e-3, "integrator": INTEGRATORS[integrator], "save_every": 4}

    def run(e=0.0, *, part=None, name="", place=False):
        moved = {part: {name: {"q": q, "v": v}[part][name] + e}} if part else {}
        given = {"q": q, "v": v}
        given |= {key: given[key] | each for key, each in moved.items()}
        other = system
        if place:
            point = system.parameters["joints.B.point"] + e * DIRECTION
            other = system.with_parameters({"joints.B.point": point})
        return mb.simulate(other, (0.0, 0.06), **given, **options, progress=False)

    base = run()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mb.sensitivities(base, by=["q", "v", "joints.B.point"])
    assert_adjoint(base, found)
    for part, values in (("q", q), ("v", v)):
        for name in values or ():
            entry = system.velocity_names.index(name)
            assert_same(
                system, base, found, part, entry, lambda e, p=part, n=name: run(e, part=p, name=n)
            )
    expected = difference(system, base, lambda e: run(e, place=True), 2e-3)
    for own, other in zip((found.q, found.v), expected, strict=True):
        along = own["joints.B.point"] @ DIRECTION
        assert np.abs(along - other).max() < 1e-9 * max(1.0, np.abs(other).max())


def test_a_start_that_was_searched_for_is_said():
    """Two degrees of freedom, one joint named: where the others close depends on the search."""
    system = chain(FIVE)
    run = mb.simulate(system, (0.0, 0.02), 5e-3, q={"A": 0.2}, progress=False)
    with pytest.warns(mb.StartDerivativeWarning, match="'joints.B.point'.*degrees of freedom"):
        mb.sensitivities(run, by=["joints.B.point", "bodies.of A.mass"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mb.sensitivities(run, by=["bodies.of A.mass", "v"])


def test_joints_that_leave_nothing_to_close_the_loops_are_not_held():
    """All are named: a place that opens the loops moves them all, as from an array."""
    system = chain(FOUR)
    run = mb.simulate(system, (0.0, 0.02), 5e-3, q={"A": 0.3}, v={"A": 2.0}, progress=False)
    named = dict(zip("ABD", run.q[0], strict=True))
    again = mb.simulate(system, (0.0, 0.02), 5e-3, q=named, v=run.v[0], progress=False)
    found = mb.sensitivities(again, by=["joints.B.point"]).q["joints.B.point"][0] @ DIRECTION
    opened = [
        system.with_parameters(
            {"joints.B.point": system.parameters["joints.B.point"] + e * DIRECTION}
        ).constraint_residual(run.q[0])
        for e in (-1e-4, 1e-4)
    ]
    rate = (opened[1] - opened[0]) / 2e-4
    assert np.abs(rate).max() > 0.1
    np.testing.assert_allclose(system.constraint_jacobian(run.q[0]) @ found, -rate, atol=1e-7)
    assert (found != 0.0).all()

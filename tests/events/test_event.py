"""Parts of an event, and refusals before anything is computed."""

import numpy as np
import pytest

import mbkit as mb
from tests.trees import random_mechanism, random_state


def system():
    mech = mb.Mechanism("ball and slider")
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    slider = mech.add_body(mb.Body("slider", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.SphericalJoint("socket", point=(0, 0, 1)), mech.world, ball)
    mech.add_joint(mb.PrismaticJoint("rail", axis=(1, 0, 0)), ball, slider)
    return mech.assemble()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mb.Event("a", 3.0), "name of a position, a Quantity or a function"),
        (lambda: mb.Event("a", "rail", direction="up"), "no direction 'up'"),
        (lambda: mb.Event("a", "rail", direction=["up"]), "no direction"),
        (lambda: mb.Event("a", "rail", terminal=1), "terminal must be True or False"),
        (lambda: mb.Event("a", "rail", reset=0.8), "mbkit.Impact or a function"),
        (lambda: mb.Event("a", "rail", tolerance=-1.0), "Event 'a': tolerance must be at least 0"),
        (lambda: mb.Event("", "rail"), "must not be empty"),
        (lambda: mb.Event("a", mb.JointPosition), "got <class"),
        (lambda: mb.Event("a", "rail", reset=mb.Impact), "got <class"),
        (lambda: mb.Event("a", "rail", reset=mb.Impact(0.5)), "Impact needs the direction"),
        (lambda: mb.Impact(1.1), "restitution must be at most 1, got 1.1"),
        (lambda: mb.Impact(np.nan), "restitution must be a finite number"),
        (lambda: mb.PlaneDistance("ball", normal=(0, 0, 0)), "normal must have a direction"),
        (lambda: mb.JointPosition("rail", level="x"), "level must be a finite number"),
    ],
)
def test_a_definition_that_cannot_be_is_refused(make, message):
    with pytest.raises(mb.MbkitError, match=message):
        make()


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (mb.Event("a", "raill"), "no position called 'raill'; did you mean 'rail'"),
        (mb.Event("a", mb.JointVelocity("socket")), "no velocity called 'socket'"),
        (mb.Event("a", mb.PlaneDistance("bal")), "did you mean 'ball'"),
        (
            mb.Event("a", mb.JointVelocity("rail"), direction="rising", reset=mb.Impact(0.5)),
            "has no gradient",
        ),
        (
            mb.Event("a", lambda t, q, v: q[0], direction="rising", reset=mb.Impact(0.5)),
            "has no gradient",
        ),
        (
            mb.Event("a", "socket[1]", direction="rising", reset=mb.Impact(0.5)),
            "those of a SphericalJoint are others",
        ),
        ("rail", "must be mbkit.Event objects"),
    ],
)
def test_an_event_that_does_not_fit_the_system_is_refused_before_the_run(event, message):
    called = []
    with pytest.raises(mb.MbkitError, match=message):
        mb.simulate(system(), (0.0, 1.0), 0.1, events=[event], tau=lambda *state: called.append(1))
    assert not called


def test_two_events_of_one_name_and_one_outside_a_list_are_refused():
    event = mb.Event("a", "rail")
    with pytest.raises(mb.UsageError, match="Two events are called 'a'"):
        mb.simulate(system(), (0.0, 1.0), 0.1, events=[event, event])
    with pytest.raises(mb.UsageError, match="must be a list of events, got 5"):
        mb.simulate(system(), (0.0, 1.0), 0.1, events=5)
    with pytest.raises(mb.UsageError, match=r"events=\[\.\.\.\]"):
        mb.simulate(system(), (0.0, 1.0), 0.1, events=event)


@pytest.mark.some(2)
@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_of_a_distance_is_its_rate(seed):
    """Against a difference quotient along the motion, on trees of all joints, in any frames."""
    rng = np.random.default_rng(seed)
    tree = random_mechanism(rng, 5).assemble()
    state = random_state(rng, tree)
    q, v = state.q, state.v
    body = tree.body_names[-1]
    distance = mb.PlaneDistance(
        body, point=rng.normal(size=3), normal=rng.normal(size=3), through=rng.normal(size=3)
    )
    h = 1e-5
    ahead, behind = (distance.value(tree, 0.0, tree.retract(q, s * v), v) for s in (h, -h))
    rate = distance.gradient(tree, 0.0, q) @ v
    assert rate == pytest.approx((ahead - behind) / (2 * h), rel=1e-7, abs=1e-7)


@pytest.mark.some(2)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_an_impact_is_an_impulse_along_the_gradient(seed, restitution):
    """M (v+ - v) is along g, g v+ = -e g v, and the energy falls by (1 - e^2) of its share."""
    rng = np.random.default_rng(seed)
    tree = random_mechanism(rng, 5).assemble()
    state = random_state(rng, tree)
    q, v = state.q, state.v
    distance = mb.PlaneDistance(tree.body_names[-1], point=rng.normal(size=3))
    g = distance.gradient(tree, 0.0, q)
    direction = "falling" if g @ v < 0.0 else "rising"
    event = mb.Event("wall", distance, direction=direction, reset=mb.Impact(restitution))
    _, after = event.reset.apply(tree, event, 0.0, q, v)
    M = tree.mass_matrix(q)
    impulse = M @ (after - v)
    np.testing.assert_allclose(impulse, g * (impulse @ g) / (g @ g), atol=1e-9 * abs(impulse).max())
    assert g @ after == pytest.approx(-restitution * (g @ v), rel=1e-9, abs=1e-12)
    effective = 1.0 / (g @ np.linalg.solve(M, g))
    lost = tree.kinetic_energy(q, v) - tree.kinetic_energy(q, after)
    expected = 0.5 * effective * (1.0 - restitution**2) * (g @ v) ** 2
    assert lost == pytest.approx(expected, rel=1e-8, abs=1e-10)
    _, again = event.reset.apply(tree, event, 0.0, q, after)
    np.testing.assert_allclose(again, after, rtol=0, atol=1e-12)  # it pushes, and never pulls

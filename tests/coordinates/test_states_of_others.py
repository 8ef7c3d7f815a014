"""States of one system as those of another: round trips, turns, samples, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME
from tests.coordinates.same_mechanism import COORDINATES, IDS
from tests.trees import MAKERS, random_mechanism, random_state

each_coordinates = pytest.mark.parametrize("coordinates", COORDINATES, ids=IDS)
pytestmark = pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning")


@pytest.mark.some(6)
@each_coordinates
@pytest.mark.parametrize("seed", range(3))
def test_there_and_back_is_the_same_state(seed, coordinates):
    """All joints: bodies stand and move as they did; several angles may stand for one pose."""
    rng = np.random.default_rng(seed)
    mech = random_mechanism(rng, len(MAKERS) + 3)
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    state = random_state(rng, relative)
    q, v = relative.state_of(absolute, *absolute.state_of(relative, state.q, state.v))
    np.testing.assert_allclose(relative.poses(q), relative.poses(state.q), atol=1e-12)
    expected = relative.twists(state.q, state.v)
    np.testing.assert_allclose(
        relative.twists(q, v), expected, rtol=0, atol=1e-11 * np.abs(expected).max()
    )


@pytest.mark.some(7)
@each_coordinates
@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind not in ("fixed", "composite")])
def test_positions_near_the_reference_come_back_as_they_were(kind, coordinates):
    """Where an angle is below half a turn there is one for a pose."""
    rng = np.random.default_rng(5)
    mech = random_mechanism(rng, 2, (kind, kind))
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    state = random_state(rng, relative, 0.3)
    q, v = relative.state_of(absolute, *absolute.state_of(relative, state.q, state.v))
    np.testing.assert_allclose(relative.difference(state.q, q), 0.0, atol=1e-12)
    np.testing.assert_allclose(v, state.v, rtol=0, atol=1e-12 * np.abs(state.v).max())


def test_positions_are_found_within_half_a_turn():
    """Of a joint that has coordinates in one system alone, whole turns are not seen."""
    mech = mb.Mechanism("wheel")
    mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("axle", axis=(1, 2, 0), point=(0.3, 0, 0)), "world", "wheel")
    relative = mech.assemble()
    absolute = mech.assemble(mb.AbsoluteCoordinates())
    turns = 0.5 + 2.0 * np.pi * np.arange(-3, 4)[:, None]
    back, rates = relative.state_of(absolute, *absolute.state_of(relative, turns, 3.0 * turns))
    np.testing.assert_allclose(back, 0.5, atol=1e-14)
    np.testing.assert_allclose(rates, 3.0 * turns, rtol=1e-14)


def test_positions_of_joints_that_both_have_keep_their_turns():
    """Bit for bit."""
    mech = mb.Mechanism("wheel")
    mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("axle", axis=(1, 2, 0)), "world", "wheel")
    relative = mech.assemble()
    absolute = mech.assemble(mb.AbsoluteCoordinates(joints=["axle"]))
    q, v = absolute.state_of(relative, [100.0], [3.0])
    assert q[absolute.position_slice("axle")] == 100.0
    assert np.abs(absolute.constraint_residual(q)).max() < 1e-14
    back, rate = relative.state_of(absolute, q, v)
    assert (back, rate) == ([100.0], [3.0])


@pytest.mark.some(4)
@each_coordinates
def test_many_samples_are_those_of_each(coordinates):
    """Over any batch axes, q and v broadcast."""
    rng = np.random.default_rng(4)
    mech = random_mechanism(rng, 6)
    relative, absolute = mech.assemble(), mech.assemble(coordinates)
    steps = 0.3 * rng.normal(size=(2, 3, relative.ndx))
    q = relative.retract(relative.reference_configuration(), steps)
    v = rng.normal(size=(3, relative.nv))
    q_all, v_all = absolute.state_of(relative, q, v)
    assert q_all.shape == (2, 3, absolute.nq)
    assert v_all.shape == (2, 3, absolute.nv)
    for index in np.ndindex(2, 3):
        one = absolute.state_of(relative, q[index], v[index[1]])
        assert np.array_equal(q_all[index], one[0])
        assert np.array_equal(v_all[index], one[1])
    assert absolute.state_of(relative, q[:, :0], v[:0])[0].shape == (2, 0, absolute.nq)
    at_rest = absolute.state_of(relative, q[0, 0])
    assert np.array_equal(at_rest[0], q_all[0, 0])
    assert not at_rest[1].any()


def test_systems_that_are_cut_differently_have_states_of_each_other():
    """Relative ones at other joints, and absolute ones in other maps."""
    case = BY_NAME["Stewart platform"]
    mech = case.build()
    systems = [case.system(cut) for cut in case.cuts] + [mech.assemble(c) for c in COORDINATES]
    run = case.run(systems[0], 20 * case.h, save_every=20)
    state = run.q[-1], run.v[-1]
    order = [systems[0].body_index(name) for name in mech.bodies]
    expected = (
        systems[0].poses(state[0])[order],
        systems[0].twists(*state, representation=mb.Hybrid())[order],
    )
    before = systems[0]
    for system in (*systems[1:], systems[0]):
        state = system.state_of(before, *state)
        rows = [system.body_index(name) for name in mech.bodies]
        V = system.twists(*state, representation=mb.Hybrid())[rows]
        np.testing.assert_allclose(system.poses(state[0])[rows], expected[0], atol=1e-12)
        np.testing.assert_allclose(V, expected[1], atol=1e-12)
        before = system


@pytest.mark.some(4)
@each_coordinates
def test_the_reference_is_that_of_the_mechanism(coordinates):
    """Bodies stand where neutral joints put them, closed or not."""
    for name in ("four-bar", "Stewart platform", "Bricard"):
        mech = BY_NAME[name].build()
        relative, absolute = mech.assemble(), mech.assemble(coordinates)
        q, _ = absolute.state_of(relative, relative.reference_configuration())
        reference = absolute.reference_configuration()
        np.testing.assert_allclose(absolute.poses(reference), absolute.poses(q), atol=1e-12)


def test_what_is_missing_is_named():
    """Bodies, loops that are open, velocities that tear them, and arguments that are none."""
    case = BY_NAME["four-bar"]
    mech = case.build()
    relative, absolute = case.system(), mech.assemble(mb.AbsoluteCoordinates())
    other = BY_NAME["Bricard"].system()
    with pytest.raises(mb.NameUnknownError, match=r"has none.*two systems of one mechanism"):
        absolute.state_of(other, other.reference_configuration())
    q = absolute.reference_configuration()
    open_ = absolute.retract(q, 0.01 * np.arange(18.0))
    with pytest.raises(mb.ConstraintError, match=r"cannot stand as in the state.*Close the loops"):
        relative.state_of(absolute, open_)
    with pytest.raises(mb.ConstraintError, match=r"cannot move as in the state.*consistent"):
        relative.state_of(absolute, q, np.arange(18.0))
    found, _ = relative.state_of(absolute, open_, tolerance=1.0)
    assert np.abs(found).max() < 1.0
    for tolerance in (0.0, -1.0, "small"):
        with pytest.raises(mb.UsageError, match=r"tolerance must be a positive number"):
            relative.state_of(absolute, q, tolerance=tolerance)
    with pytest.raises(mb.UsageError, match=r"must be an mbkit.System, got 'four-bar'"):
        relative.state_of("four-bar", q)
    with pytest.raises(mb.ShapeError):
        relative.state_of(absolute, q[:-1])


def test_states_without_entries():
    """A mechanism in which nothing moves, one state or several; and no states at all."""
    mech = mb.Mechanism("wall")
    brick = mech.add_body(mb.Body("brick", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FixedJoint("glue"), mech.world, brick)
    relative = mech.assemble()
    absolute = mech.assemble(mb.AbsoluteCoordinates())
    for leading in ((), (2, 3), (0,)):
        q, v = np.zeros((*leading, relative.nq)), np.zeros((*leading, relative.nv))
        back = relative.state_of(absolute, *absolute.state_of(relative, q, v))
        assert [part.shape for part in back] == [q.shape, v.shape]

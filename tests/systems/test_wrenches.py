"""Wrenches by the name of the body, as vectors and as values that know what they are."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import each_representation
from tests.trees import random_mechanism, random_state


def case(representation):
    """A tree, a state, and a body in the middle of it."""
    rng = np.random.default_rng(21)
    coordinates = mb.RelativeCoordinates(representation=representation)
    system = random_mechanism(rng, 7, reach=3).assemble(coordinates)
    return system, random_state(rng, system), system.body_names[4]


@pytest.mark.some(2)
@each_representation
def test_by_name_is_by_row(representation):
    """The other bodies are free of outer wrenches."""
    system, state, body = case(representation)
    rows = np.zeros_like(state.wrenches)
    rows[4] = state.wrenches[4]
    expected = system.inverse_dynamics(state.q, state.v, state.vdot, rows)
    given = {body: state.wrenches[4]}
    found = system.inverse_dynamics(state.q, state.v, state.vdot, given)
    np.testing.assert_array_equal(found, expected)
    found = system.forward_dynamics(state.q, state.v, state.tau, given)
    expected = system.forward_dynamics(state.q, state.v, state.tau, rows)
    np.testing.assert_array_equal(found, expected)
    many = system.forward_dynamics(state.q, state.v, state.tau, {body: state.wrenches[[4, 4]]})
    np.testing.assert_array_equal(many, [expected, expected])


@each_representation
def test_a_typed_wrench_is_converted(representation):
    """A force in the axes of the world, whatever the system computes in: J_h^T W."""
    system, state, body = case(representation)
    W = mb.Wrench(state.wrenches[4], mb.Hybrid(), pose=system.poses(state.q)[4], body=body)
    free = system.inverse_dynamics(state.q, state.v, state.vdot)
    found = free - system.inverse_dynamics(state.q, state.v, state.vdot, {body: W})
    expected = system.jacobian(body, state.q, representation=mb.Hybrid()).T @ state.wrenches[4]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-11 * np.abs(free).max())


def test_what_does_not_fit_is_refused():
    """Another body, another configuration, another length, no body."""
    system, state, body = case(mb.BodyFixed())
    q, v = state.q, state.v
    W = mb.Wrench(np.ones(6), mb.Hybrid(), pose=system.poses(q)[4], body=body)
    with pytest.raises(mb.QuantityError, match=f"one of '{body}'; give it under that name"):
        system.forward_dynamics(q, v, wrenches={system.body_names[2]: W})
    moved = system.retract(q, 0.1 * v)
    with pytest.raises(mb.QuantityError, match="the body's frame at this q is at"):
        system.forward_dynamics(moved, v, wrenches={body: W})
    with pytest.raises(mb.ShapeError, match=r"wrench on body .* got \(3,\)"):
        system.forward_dynamics(q, v, wrenches={body: np.ones(3)})
    with pytest.raises(mb.NameUnknownError, match="has no body 'nobody'"):
        system.forward_dynamics(q, v, wrenches={"nobody": np.ones(6)})


@pytest.mark.some(2)
@each_representation
def test_a_list_of_typed_wrenches_is_converted(representation):
    """One for each row, of any representation; never read as bare numbers."""
    system, state, _ = case(representation)
    C = system.poses(state.q)
    typed = mb.spatial.typed_wrenches(state.wrenches, mb.Hybrid(), system.body_names, C)
    converted = mb.convert_wrench(state.wrenches, C, mb.Hybrid(), representation)
    expected = system.forward_dynamics(state.q, state.v, state.tau, converted)
    found = system.forward_dynamics(state.q, state.v, state.tau, typed)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())
    with pytest.raises(mb.ShapeError, match=r"a wrench for each of 8 rows.*got 3"):
        system.forward_dynamics(state.q, state.v, state.tau, typed[:3])

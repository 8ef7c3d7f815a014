"""Rates of any order, derivatives of Jacobians and regressors against complex steps.

Of the tree of six bodies of `test_complex_steps`, with its forces; a complex step has no error but
rounding (`tests.systems.complex_steps`).
"""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.spatial.frames import inverse
from tests.every_representation import each_representation
from tests.systems.complex_steps import ComplexEvaluation, twists
from tests.systems.test_complex_steps import KINDS, assert_close, forces
from tests.trees import random_mechanism, random_pose, random_state

TIME = 0.45

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def mech():
    return forces(random_mechanism(np.random.default_rng(70), 6, KINDS, turned_round=0.5))


@pytest.fixture(scope="module")
def case(mech):
    """A system, its configuration, and v, vdot, ... of a motion."""
    system = mech.assemble(mb.RelativeCoordinates(body_frames="user"))
    rng = np.random.default_rng(75)
    return system, random_state(rng, system).q, rng.normal(size=(6, system.nv))


def rate(system, q, rates, name, **options):
    """Return the derivative of an evaluation by time, along a motion with rates v, vdot, ..."""
    evaluation = ComplexEvaluation(system, name, **options)
    orders = [n for n in evaluation.names if n != "q"]
    given = {"q": q, **dict(zip(orders, rates, strict=False))}
    moves = {"q": system.position_rates(q, system.rates(q, rates[0])), "t": 1.0}
    return evaluation(given, moves | dict(zip(orders, rates[1:], strict=False)), TIME)[1]


@pytest.mark.parametrize("order", [1, 2])
def test_rates_of_inverse_dynamics(case, order):
    """For elastic joints: Q-dot, and Q-double-dot as its rate; with forces that time changes."""
    system, q, rates = case
    name = ("inverse_dynamics", "inverse_dynamics_rate")[order - 1]
    method = (system.inverse_dynamics_rate, system.inverse_dynamics_second_rate)[order - 1]
    expected = rate(system, q, rates, name)
    assert_close(method(q, *rates[: 2 + order], t=TIME), expected)


@pytest.mark.some(4)
@each_representation
def test_rates_of_bodies_and_of_jacobians(mech, case, representation):
    """Jerks and the rates beyond, each that of the one before; J-dot and J-double-dot."""
    system, q, rates = case
    form = {"representation": representation}
    found = system.body_derivatives(q, rates[:5], **form)
    assert_close(found[2], rate(system, q, rates, "accelerations", **form))
    for order in (2, 3):
        expected = rate(system, q, rates, "body_derivatives", order=order, **form)
        assert_close(found[order + 1], expected[-found.shape[1] :])
    assert_close(system.jerks(q, *rates[:3], **form), found[2], 1e-13)
    place = {"body": system.body_names[-1], "frame": random_pose(np.random.default_rng(76)), **form}
    first = system.jacobian_rate(q=q, v=rates[0], **place)
    assert_close(first, rate(system, q, rates, "jacobian", **place))
    body = place.pop("body")
    second = system.jacobian_rate(body, q, *rates[:2], **place)
    assert_close(second, rate(system, q, rates, "jacobian_rate", body=body, order=1, **place))


def test_partial_derivatives_of_jacobians(case):
    """Those of second order along motions of constant velocity."""
    system, q, rates = case
    body, units = system.body_names[-1], np.eye(system.nv)
    steps = np.array([system.position_rates(q, system.rates(q, unit)) for unit in units])
    J = ComplexEvaluation(system, "jacobian", body=body)
    assert_close(system.jacobian_derivatives(body, q), J({"q": q}, {"q": steps})[1])
    v = rates[0]
    constant = np.array([v, np.zeros(system.nv)])
    expected = rate(system, q, constant, "jacobian_rate", body=body, order=1)
    second = system.jacobian_derivatives(body, q, 2)
    assert_close(np.einsum("j,k,jkab->ab", v, v, second), expected)


def test_rates_of_motion_subspaces(case):
    system, q, rates = case
    S = system.motion_subspace_rates(q, rates[0])
    assert_close(S, rate(system, q, rates, "motion_subspaces"))
    expected = rate(system, q, rates, "motion_subspace_rates", order=1)
    assert_close(system.motion_subspace_rates(q, *rates[:2]), expected)


def test_inertial_regressor(case):
    """Its columns are derivatives by mass, first moment and moments about the origin of a body.

    These depend on mass m, centre c and moment I about it as (m, m c, I + m (c.c 1 - c c^T)), of
    which central differences of any step are exact.
    """
    system, q, rates = case
    body = "body3"
    names = [f"bodies.{body}.{part}" for part in ("mass", "com", "moment_about_com")]
    exact = ComplexEvaluation(system.without_forces(), "inverse_dynamics", names)
    given = {"q": q, "v": rates[0], "vdot": rates[1]}
    expected = np.concatenate([exact.by(given, name) for name in names], axis=1)
    values = np.concatenate([np.ravel(system.parameters[name]) for name in names[:2]])
    upper = np.triu_indices(3)
    moments = system.parameters[names[2]][upper]

    def parameters(x):
        m, c, own = x[0], x[1:4], np.zeros((3, 3))
        own[upper] = x[4:]
        about = own + m * (c @ c * np.eye(3) - np.outer(c, c))
        return np.concatenate([[m], m * c, about[upper]])

    at = np.concatenate([values, moments])
    P = np.transpose([parameters(at + e) - parameters(at - e) for e in 0.5 * np.eye(10)])
    Y = system.inertial_regressor(q, *rates[:2]).reshape((system.nv, -1, 10))
    assert_close(Y[:, system.body_names.index(body) - 1] @ P, expected)


def entries(poses):
    """Return the twelve numbers of poses that move."""
    return poses[:, :3].reshape((-1, 12))


@pytest.mark.some(4)
@each_representation
def test_geometric_regressor(case, representation):
    """Each column is the twist of the body where a place, or the screws of a joint, moves."""
    system, q, _ = case
    body, S = system.body_names[-1], random_pose(np.random.default_rng(77))
    joints = list(system.joint_places)
    ends = [f"joints.{joint}.{end}" for joint in joints for end in ("S_pred", "S_succ")]
    pose = ComplexEvaluation(system, "pose", ends, body=body, frame=S)
    columns = []
    for joint in joints:
        K = np.asarray(system.joint_places[joint].canonical_frame)
        first, last = (f"joints.{joint}.{end}" for end in ("S_pred", "S_succ"))
        of_first, of_last = (
            system.parameters[end] @ K @ twists() @ inverse(K) for end in (first, last)
        )
        still = np.zeros((6, 12))
        moves = {
            first: entries(np.concatenate([of_first, of_first])),
            last: np.concatenate([still, entries(of_last)]),
        }
        C, rates = pose({"q": q}, moves)
        turned = inverse(C) @ np.broadcast_to(rates, (12, 4, 4))
        spin = [turned[:, 2, 1], turned[:, 0, 2], turned[:, 1, 0]]
        columns.append(np.concatenate([spin, turned[:, :3, 3].T]))
    expected = representation.twist_map(C) @ np.concatenate(columns, axis=1)
    found = system.geometric_regressor(body, q, frame=S, representation=representation)
    assert_close(found, expected)

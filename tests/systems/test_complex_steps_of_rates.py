"""Rates of bodies and of Jacobians in each representation, and geometric regressors.

Against complex steps, which have no error but rounding (`tests.systems.complex_steps`), of the tree
of six bodies of `test_complex_steps`, with its forces.
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

"""Joints by their pose alone compute and move as the joints of mbkit do."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints import JOINT_TYPES
from mbkit.representations import REPRESENTATIONS
from tests.every_representation import in_turn
from tests.joints.pose_only import TWINS
from tests.trees import random_inertia, random_pose, random_state

every_twin = pytest.mark.parametrize("kind", TWINS)


def trees(kind, representation=None):
    """Five bodies in a tree, with the joint itself and with its twin, one of them turned round."""
    systems = []
    for make in TWINS[kind]:
        rng = np.random.default_rng(31)
        mech = mb.Mechanism(kind)
        bodies = [mech.world]
        for i, parent in enumerate((0, 1, 1, 2, 3)):
            body = mech.add_body(mb.Body(f"b{i}", random_inertia(rng)))
            joint = make(f"j{i}") if i % 2 == 0 else mb.RevoluteJoint(f"j{i}", axis=(0, 1, 0))
            ends = (body, bodies[parent]) if i == 2 else (bodies[parent], body)
            mech.add_joint(joint, *ends, frames=(random_pose(rng), random_pose(rng)))
            bodies.append(body)
        coordinates = mb.RelativeCoordinates(representation=representation or mb.BodyFixed())
        systems.append(mech.assemble(coordinates))
    return systems


def test_every_joint_of_mbkit_has_a_twin():
    """A joint added to the library is tested by a twin here, or with the rest of its family."""
    made = {type(make("joint")) for make, _ in TWINS.values()}
    assert made == set(JOINT_TYPES.values())


def agree(found, expected, what):
    np.testing.assert_allclose(
        found, expected, rtol=0.0, atol=1e-10 * max(1.0, np.abs(expected).max()), err_msg=what
    )


@pytest.mark.some(8)
@pytest.mark.parametrize(
    ("kind", "representation"), in_turn({kind: kind for kind in TWINS}, REPRESENTATIONS)
)
def test_all_algorithms_agree(kind, representation):
    """To 1e-10 of the largest entry, in every representation, at several states."""
    own, twin = trees(kind, representation)
    for seed in (1, 2):
        state = random_state(np.random.default_rng(seed), own)
        q, v, vdot, tau = state.q, state.v, state.vdot, state.tau
        prescribed = own.joint_names[1:3]
        for method, arguments in (
            ("poses", (q,)),
            ("twists", (q, v)),
            ("accelerations", (q, v, vdot)),
            ("mass_matrix", (q,)),
            ("inverse_dynamics", (q, v, vdot)),
            ("forward_dynamics", (q, v, tau)),
            ("bias_force", (q, v)),
            ("kinetic_energy", (q, v)),
            ("potential_energy", (q,)),
            ("momentum", (q, v)),
            ("retract", (q, v)),
            ("difference", (q, own.retract(q, 0.1 * v))),
            ("jacobian", ("b4", q)),
        ):
            agree(getattr(twin, method)(*arguments), getattr(own, method)(*arguments), method)
        found, expected = (
            each.hybrid_dynamics(q, v, tau=tau, vdot=vdot, prescribed=prescribed)
            for each in (twin, own)
        )
        for a, b in zip(found, expected, strict=True):
            agree(a, b, "hybrid dynamics")


@pytest.mark.long
@every_twin
def test_simulations_agree(kind):
    """To 1e-10 over a fifth of a second."""
    own, twin = trees(kind)
    state = random_state(np.random.default_rng(3), own)
    runs = [mb.simulate(each, (0.0, 0.2), 1e-3, q=state.q, v=state.v) for each in (own, twin)]
    agree(runs[1].q, runs[0].q, "q")
    agree(runs[1].v, runs[0].v, "v")
    assert own.nv == 0 or np.abs(runs[0].v[-1] - runs[0].v[0]).max() > 0.1


@pytest.mark.some(8)
@every_twin
def test_rates_agree_at_the_identity_and_near_half_turns(kind):
    """Motion subspace, bias and dexp_inv where series end and angles are large."""
    make, make_twin = TWINS[kind]
    own, twin = make("own"), make_twin("twin")
    nv = own.num_velocities
    rng = np.random.default_rng(4)
    v = rng.normal(size=nv)
    for size in (0.0, 1e-8, 1e-3, 1.3, np.pi - 1e-5, np.pi, 5.0):
        x = rng.normal(size=nv)
        x *= size / np.linalg.norm(x[:3]) if nv else 1.0
        q = own.retract(own.neutral(), x)
        np.testing.assert_allclose(
            twin.motion_subspace(q), own.motion_subspace(q), atol=1e-13, err_msg=str(size)
        )
        np.testing.assert_allclose(twin.bias(q, v), own.bias(q, v), atol=1e-12, err_msg=str(size))
        found, expected = twin.dexp_inv(x, v), own.dexp_inv(x, v)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12, err_msg=str(size))

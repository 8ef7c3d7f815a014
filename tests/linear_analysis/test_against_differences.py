"""Linear models against differences of the motion, on trees and on closed mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SO3
from tests.closed_loops.mechanisms import BY_NAME
from tests.every_representation import each_representation
from tests.trees import random_mechanism, random_state

NUMERIC = 1e-10


def differences(n, function):
    """Return the derivatives of a function by n numbers at zero, as columns."""
    return np.array([derivative(lambda e, s=s: function(e * s)) for s in np.eye(n)]).T


def assert_close(found, expected, tolerance=NUMERIC):
    size = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * max(size, 1.0))


@pytest.mark.some(4)
@each_representation
def test_tree_in_motion(representation):
    """All joints, those on groups among them: increments from the motion through the state.

    Differences have the rounding of accelerations, hence a tree whose mass matrix has a condition
    of 500.
    """
    rng = np.random.default_rng(17)
    kinds = ("spherical", "planar", "free", "universal", "composite", "revolute")
    mech = random_mechanism(rng, 6, kinds)
    mech.add_force(
        mb.SpringDamper("spring", "body1", "body4", stiffness=30.0, damping=2.0, rest_length=0.1)
    )
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    state, n = random_state(rng, system, 0.5), system.nv
    q, v, tau = state.q, 0.5 * state.v, state.tau
    point = rng.normal(size=3)
    model = system.linearize(
        q, v, ["joint2", ("body3.wrench", point)],
        {"tip": ("body5.pose", point), "speed": ("body5.twist", point), "a": "joint0.vdot"},
        tau=tau,
    )  # fmt: skip
    frame = mb.spatial.translation(point)

    def motion(z):
        """Return the rate of the increment, and the acceleration."""
        near = system.retract(q, z[:n])
        w = v + z[n:]

        def gone(t):
            return system.difference(system.retract(q, t * v), system.retract(near, t * w))

        return np.concatenate([derivative(gone), system.forward_dynamics(near, w, tau)])

    def outputs(z):
        near = system.retract(q, z[:n])
        T, start = (system.pose("body5", at, frame=frame) for at in (near, q))
        twist = system.twist("body5", near, v + z[n:], frame=frame, representation=mb.Hybrid())
        turned = SO3.log(T[:3, :3] @ start[:3, :3].T)
        return np.concatenate([turned, T[:3, 3], twist])

    assert_close(model.A, differences(2 * n, motion))
    assert_close(model.C[:12], differences(2 * n, outputs))
    assert_close(model.C[12:], model.A[n:][system.velocity_slice("joint0")], 1e-14)
    own = system.velocity_slice("joint2")
    J = system.jacobian("body3", q, frame=frame, representation=mb.Hybrid())
    forces = np.vstack([np.eye(n)[own], J])
    assert_close(model.B[n:], np.linalg.solve(system.mass_matrix(q), forces.T), 1e-11)
    assert model.output_names[:4] == (
        "tip.rotation.x", "tip.rotation.y", "tip.rotation.z", "tip.position.x",
    )  # fmt: skip


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.parametrize("name", ["Bricard", "spatial slider-crank", "five-bar", "delta robot"])
def test_closed_mechanism_in_motion(name):
    """Accelerations of independent joints, by these joints; loops are closed for each."""
    case = BY_NAME[name]
    system = case.system()
    q = system.close_loops()
    names = system.linearize(q).independent
    assert len(names) == case.mobility
    rng = np.random.default_rng(5)
    rates = rng.normal(size=len(names))
    v = system.dependent_velocity(q, dict(zip(names, rates, strict=True)))
    every = [f"{each}.v" for each in system.velocity_names]
    model = system.linearize(q, v, names, every, independent=names)
    entries = [system.velocity_names.index(name) for name in names]
    H = system.constrained_jacobian(q, names)
    m = len(names)

    def state(z):
        near = system.close_loops(system.retract(q, H @ z[:m]), fixed=names)
        return near, system.dependent_velocity(near, dict(zip(names, rates + z[m:], strict=True)))

    def gain(z):
        near, w = state(z)
        return system.solve_dynamics(near, w)[0][entries]

    assert_close(model.A[m:], differences(2 * m, gain))
    assert_close(model.C, differences(2 * m, lambda z: state(z)[1]))
    both = system.derivatives("forward_dynamics", q, v)
    along = both["q"] @ np.hstack([H, np.zeros_like(H)]) + both["v"] @ model.C
    assert_close(model.A[m:], along[entries])
    assert_close(model.A[:m], np.hstack([np.zeros((m, m)), np.eye(m)]), 1e-12)


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_constraints_and_drives_that_depend_on_time():
    """An arm on a driven base, whose tip follows a curve, in the midst of its motion."""
    mech = mb.Mechanism("arm", gravity=(0, -9.81, 0))
    last = mech.world
    for k in range(4):
        inertia = mb.SpatialInertia.from_com(1.0 + k, (0.5, 0, 0), 0.1 * np.eye(3))
        link = mech.add_body(mb.Body(f"link{k}", inertia, mb.spatial.translation((k, 0, 0))))
        hinge = mb.RevoluteJoint(f"hinge{k}", point=(k, 0, 0))
        if k == 0:
            hinge = hinge.prescribe(np.sin, np.cos, lambda t: -np.sin(t))
        mech.add_joint(hinge, last, link)
        mech.add_force(mb.JointSpring(f"spring{k}", f"hinge{k}", stiffness=30.0))
        last = link
    mech.add_constraint(
        mb.PrescribedPoint(
            "tip", "link3", lambda t: [2.5 - 0.2 * t**2, 1.0 + np.sin(3 * t), 0.0], point=(1, 0, 0)
        )
    )
    system, t, name = mech.assemble(), 0.3, "hinge1"

    def state(z):
        near = system.close_loops(start + np.array([0.0, z[0], 0.0, 0.0]), fixed=[name], t=t)
        return near, system.dependent_velocity(near, {name: 0.7 + z[1]}, t)

    def gain(z):
        q, v = state(z)
        return system.solve_dynamics(q, v, t=t)[0][[1]]

    start = system.close_loops([0.3, 0.8, -1.0, -1.0], t=t)
    model = system.linearize(
        *state(np.zeros(2)), ["hinge2"], ["hinge0.effort"], independent=[name], t=t
    )
    assert_close(model.A[1:], differences(2, gain))

    def effort(z, tau=0.0):
        q, v = state(z)
        return system.driving_efforts(q, v, [0.0, 0.0, tau, 0.0], t)[[0]]

    assert_close(model.C, differences(2, effort))
    assert_close(model.D, differences(1, lambda tau: effort(np.zeros(2), tau[0])))
    assert model.independent == (name,)
    with pytest.raises(mb.UsageError, match="'hinge1' is not prescribed"):
        system.linearize(*state(np.zeros(2)), outputs=["hinge1.effort"], t=t)

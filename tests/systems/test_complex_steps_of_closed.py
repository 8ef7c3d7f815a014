"""Every derivative of the dynamics of four closed mechanisms against complex steps.

A complex step has no error but rounding (`tests.systems.complex_steps`).
"""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import bricard, four_bar, spatial_slider_crank, stewart_platform
from tests.systems.complex_steps import ComplexEvaluation, along_changes
from tests.systems.test_complex_steps import ASKED, assert_close
from tests.trees import random_inertia

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

#: Mechanisms, a body of each, the joints that are prescribed in hybrid dynamics, and parameters of
#: joints, of those in the tree and of those that close loops. Of a plane linkage rows depend on
#: others while it stays plane: points and places move along these entries alone.
CLOSED = {
    "four-bar": (
        four_bar, "bodies.coupler", ["A"],
        {"joints.B.point": [0, 1], "joints.A.S_succ": [2, 3, 4], "joints.C.S_succ": [2, 3, 4]},
    ),
    "slider-crank": (
        spatial_slider_crank, "bodies.rod", ["guide"],
        dict.fromkeys(("joints.pivot.axis", "joints.cross.axis1", "joints.cross.S_pred",
                       "joints.ball.S_succ", "joints.ball.point")),
    ),
    "Bricard": (bricard, "bodies.rod3", ["joint2"], {}),
    "Stewart platform": (
        stewart_platform, "bodies.platform", ["leg1", "leg4"],
        dict.fromkeys(("joints.leg1.axis", "joints.foot2.S_pred", "joints.foot2.axis2",
                       "joints.ball3.S_succ")),
    ),
}  # fmt: skip


def closed(example):
    """Return a closed mechanism with a spring and a damper, and a state that is closed.

    The length that scales its rows is given; else it would depend on centres of mass.
    """
    mech = example.build()
    joints = [n for n, edge in mech.joints.items() if edge.joint.num_velocities == 1]
    mech.add_force(mb.JointSpring("spring", joints[0], stiffness=7.0, rest=0.2))
    mech.add_force(mb.JointDamper("damper", joints[0], damping=0.4))
    mech.add_force(mb.ForceFunction("push", lambda t, q, v: np.sin(3.0 * t) * v, joints=joints[0]))
    system = mech.assemble(mb.RelativeCoordinates(length=1.0))
    rng = np.random.default_rng(73)
    q = system.close_loops(
        system.retract(system.reference_configuration(), 0.1 * rng.normal(size=system.ndx))
    )
    N = allowed(system.constraint_jacobian(q))
    state = {"q": q, "v": N @ rng.normal(size=N.shape[1]), "tau": rng.normal(size=system.nv)}
    return system, state | {"vdot": rng.normal(size=system.nv)}


def allowed(A):
    """Return a basis of the velocities with A v = 0."""
    _, sizes, right = np.linalg.svd(A)
    return right[np.count_nonzero(sizes > 1e-9 * sizes[0]) :].T


def moves_of(system, given):
    """Return moves of q and v on which loops stay closed, one column of both for each freedom."""
    A = ComplexEvaluation(system, "constraint_jacobian")
    value, _ = A(given, {})
    x = allowed(value).T
    steps = system.position_rates(given["q"], x)
    turned = A(given, {"q": steps})[1]
    w = -(turned @ given["v"]) @ np.linalg.pinv(value, rcond=1e-9).T
    still = np.zeros_like(x)
    return {"q": np.vstack([x, still]), "v": np.vstack([w, x])}


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("evaluation", ["forward_dynamics", "hybrid_dynamics"])
@pytest.mark.parametrize(
    "name", ["four-bar", *(pytest.param(n, marks=pytest.mark.long) for n in list(CLOSED)[1:])]
)
def test_closed_mechanisms(name, evaluation):
    """Accelerations, efforts of actuators, and reactions A^T multipliers, which are unique too.

    By the state, the time, masses, forces, and places, axes and screws of joints. Multipliers by
    M vdot + b = f + tau + A^T multipliers, whose other terms are known.
    """
    system, given = closed(CLOSED[name][0])
    _, body, held, geometry = CLOSED[name]
    moved = ("gravity", f"{body}.mass", f"{body}.com", "forces.spring.stiffness",
             "forces.damper.damping", *geometry)  # fmt: skip
    options = {"prescribed": held} if evaluation == "hybrid_dynamics" else {}
    exact = ComplexEvaluation(system, evaluation, moved, **options)
    inputs, nv, t = exact.names, system.nv, 0.3
    found = system.derivatives(
        evaluation, **{n: given[n] for n in inputs}, **options, by=(*inputs, "t", *moved), t=t
    )
    vdot, lambdas = found.values["vdot"], found.values["multipliers"]
    terms = {
        n: exact.another(n)
        for n in ("mass_matrix", "bias_force", "generalized_forces", "constraint_jacobian")
    }

    def check(own, multipliers, moves):
        """Compare what both say along moves, arrays (moves, ...)."""
        _, expected = exact(given, moves, t)
        expected = np.broadcast_to(expected, own.shape)
        assert_close(own, expected)
        by_moves = {n: each(given, moves, t) for n, each in terms.items()}
        M, A = by_moves["mass_matrix"], by_moves["constraint_jacobian"]
        efforts = expected[:, nv:] if options else moves.get("tau", 0.0)
        needed = M[1] @ vdot + expected[:, :nv] @ M[0] + by_moves["bias_force"][1]
        needed = needed - by_moves["generalized_forces"][1] - efforts
        reactions = lambdas @ A[1] + multipliers @ A[0]
        size = max(np.abs(needed).max(), np.abs(M[0]).max() * np.abs(expected).max())
        assert np.abs(reactions - needed).max() <= ASKED * size

    def both(change):
        """Return what `change` makes of each derivative, accelerations with efforts."""
        parts = [change(found.vdot), *([change(found.tau)] if options else [])]
        return np.concatenate(parts).T, change(found.multipliers).T

    closing = moves_of(system, given)
    x, w = closing["q"], closing["v"]
    along = both(lambda each: each["q"] @ x.T + each["v"] @ w.T)
    check(*along, {"q": system.position_rates(given["q"], x), "v": w})
    for each in inputs[2:]:
        check(*both(lambda part, each=each: part[each]), {each: np.eye(nv)})
    check(*both(lambda part: part["t"][:, None]), {"t": np.ones(1)})
    for each in moved:
        chosen = geometry.get(each) or slice(None)
        own = both(lambda part, each=each: along_changes(system, part[each], each))
        changes = exact.changes(each)[chosen]
        check(*(part[chosen] for part in own), {each: changes})


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(
    "free",
    [
        mb.AbsoluteJoint("free", mb.UnitQuaternion(), mb.RodriguesPosition()),
        mb.AbsoluteJoint("free", mb.EulerAngles("zxz"), mb.RotationVectorPosition(), "right"),
    ],
    ids=["quaternions", "Euler angles"],
)
def test_bodies_in_absolute_coordinates(free):
    """Two bodies of six freedoms each, and a ball and a cross between them and the world."""
    rng = np.random.default_rng(74)
    mech = mb.Mechanism("two bodies", gravity=(1.0, 2.0, 3.0))
    for name in ("near", "far"):
        mech.add_body(mb.Body(name, random_inertia(rng)))
        mech.add_joint(attrs.evolve(free, name=f"free {name}"), "world", name)
    mech.add_joint(
        mb.UniversalJoint("cross", (1, 0, 0), (0, 1, 0), (0.5, 0.2, -0.3)), "world", "near"
    )
    mech.add_joint(mb.SphericalJoint("ball", (0.1, 0.2, 0.3)), "near", "far")
    loops = {"loop_joints": ("cross", "ball"), "length": 1.0}
    system = mech.assemble(mb.RelativeCoordinates(**loops))
    q = system.retract(system.reference_configuration(), 0.2 * rng.normal(size=system.ndx))
    given = {"q": q, "v": rng.normal(size=system.nv), "tau": rng.normal(size=system.nv)}
    found = system.derivatives("forward_dynamics", **given, by=("q", "v"))
    exact = ComplexEvaluation(system, "forward_dynamics")
    for name in ("q", "v"):
        assert_close(found[name], exact.by(given, name), 1e-12)

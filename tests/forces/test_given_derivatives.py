"""Derivatives that forces in Python give themselves: exact, and used wherever there are any.

What is compared with is independent of them: complex steps of `evaluate` alone, forces of mbkit
that do the same, and differences.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SO3
from tests.every_representation import REPRESENTATIONS
from tests.forces.test_python_forces import OwnRepresentation
from tests.systems.complex_steps import ComplexEvaluation
from tests.trees import random_mechanism, random_pose, random_state

pytestmark = pytest.mark.compiled

#: Of the largest entry. Differences leave 1e-11.
ROUNDING = 1e-13

TIME = 0.4


def assert_exact(found, expected, bound=ROUNDING):
    size = np.abs(expected).max()
    assert found.shape == expected.shape
    assert size > 0.0
    assert np.abs(found - expected).max() <= bound * size


def hat(x):
    """Return the matrix of se(3) of a body-fixed twist (w, u): C' = C hat(x)."""
    found = np.zeros((4, 4))
    found[:3, :3], found[:3, 3] = SO3.ad(x[:3]), x[3:]
    return found


class Tie(mb.Force):
    """A wrench on two bodies that depends on everything, written in any representation.

    out = (1 + t^2) A [C] + B [V] + D [V]^2 + E (q, v)^2, with [C] and [V] all numbers of the poses
    and of the twists.
    """

    acts_on = "bodies"
    power = "supplied"

    def __init__(self, bodies, joints, representation, size, derivatives=True):
        super().__init__("tie")
        self.bodies, self.joints, self.representation = bodies, joints, representation
        rng = np.random.default_rng(7)
        self.A = rng.normal(size=(2, 6, 2, 4, 4))
        self.B, self.D = rng.normal(size=(2, 2, 6, 2, 6))
        self.E = rng.normal(size=(2, 6, size))
        self.calls = {"evaluate": 0, "derivatives": 0}

    def evaluate(self, t, q, v, poses, twists, out):
        self.calls["evaluate"] += 1
        out[:] = (1.0 + t**2) * np.tensordot(self.A, poses, 3)
        out += np.tensordot(self.B, twists, 2) + np.tensordot(self.D, twists * twists, 2)
        out += self.E @ np.concatenate([q * q, v * v])


class TieWithDerivatives(Tie):
    def derivatives(self, t, q, v, poses, twists):
        self.calls["derivatives"] += 1
        by_poses = np.zeros((2, 6, 2, 6))
        for b, C in enumerate(poses):
            for j, x in enumerate(self.representation.inverse_twist_map(C).T):
                by_poses[:, :, b, j] = np.tensordot(self.A[:, :, b], C @ hat(x), 2)
        by_state = self.E * 2.0 * np.concatenate([q, v])
        return mb.ForceDerivatives(
            t=2.0 * t * np.tensordot(self.A, poses, 3),
            q=by_state[..., : q.size],
            v=by_state[..., q.size :],
            poses=(1.0 + t**2) * by_poses,
            twists=self.B + 2.0 * self.D * twists,
        )


def tree(kinds=("revolute", "spherical", "universal", "helical", "free", "prismatic")):
    """Return a mechanism in which nothing is aligned."""
    return random_mechanism(np.random.default_rng(81), 7, kinds)


def tie(kind, mechanism, representation):
    bodies, joints = list(mechanism.bodies), list(mechanism.joints)
    sizes = [mechanism.joints[n].joint for n in joints[1:3]]
    size = sum(each.num_positions + each.num_velocities for each in sizes)
    return kind((bodies[3], bodies[6]), tuple(joints[1:3]), representation, size)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.filterwarnings("error::mbkit.ForceDerivativeWarning")
@pytest.mark.parametrize("kind", [Tie, TieWithDerivatives], ids=["traced", "given"])
@pytest.mark.parametrize(
    "representation", [*REPRESENTATIONS, OwnRepresentation()], ids=lambda each: each.name
)
def test_exact_in_every_representation(representation, kind):
    """By q, by v and by the time, on a tree, against complex steps of what the force writes."""
    mech = tree()
    force = tie(kind, mech, representation)
    own = representation if representation in REPRESENTATIONS else mb.Spatial()
    system = mech.assemble(mb.RelativeCoordinates(representation=own)).with_forces([force])
    state = random_state(np.random.default_rng(82), system)
    # a representation of its own cannot be traced: it is that of spatial twists
    plain = mech.assemble().with_forces([tie(Tie, mech, own)])
    exact = ComplexEvaluation(plain, "generalized_forces")
    given = {"q": state.q, "v": state.v}
    found = system.force_derivatives(state.q, state.v, TIME)
    for by, name in zip(found, "qv", strict=True):
        assert_exact(by, exact.by(given, name, TIME))
    by_time = system.derivatives(
        "inverse_dynamics", state.q, state.v, vdot=np.zeros(system.nv), by="t", t=TIME
    )["t"]
    assert_exact(-by_time, exact.by(given, "t", TIME)[..., 0])
    twice = system.force_derivatives(np.stack([state.q] * 2), state.v, [TIME, 0.1])
    np.testing.assert_array_equal(twice[0][0], found[0])
    assert np.abs(twice[0][1] - found[0]).max() > 1e-3


def test_they_take_the_place_of_differences_everywhere():
    """Few calls, in all that is made of derivatives of forces: one each time these are asked."""
    mech = tree()
    force = tie(TieWithDerivatives, mech, mb.Hybrid())
    system = mech.assemble().with_forces([force])
    q, v = system.reference_configuration(), np.zeros(system.nv)
    for ask in (
        lambda: system.force_derivatives(q, v),
        lambda: system.inverse_dynamics_derivatives(q, v, v),
        lambda: system.forward_dynamics_derivatives(q, v),
        lambda: system.derivatives("forward_dynamics", q, v, by=("q", "v", "t")),
        lambda: system.linearize(q, v),
    ):
        force.calls.update(evaluate=0, derivatives=0)
        ask()
        assert 1 <= force.calls["derivatives"] <= 3
        assert force.calls["evaluate"] <= 10


@attrs.frozen
class Bush(mb.Force):
    """Three springs and dampers between points, in the axes of the world: closed forms by hand."""

    name: str
    bodies: tuple[str, ...]
    stiffness: float
    damping: Any
    points: Any
    acts_on = "bodies"
    power = "supplied"

    def evaluate(self, t, q, v, poses, twists, out):
        r, x, u = self._motion(poses, twists)
        force = -self.stiffness * (x[0] - x[1]) - self.damping * (u[0] - u[1])
        for b, sign in enumerate((1.0, -1.0)):
            out[b, :3] = np.cross(r[b], sign * force)
            out[b, 3:] = sign * force

    def _motion(self, poses, twists):
        r = [C[:3, :3] @ p for C, p in zip(poses, self.points, strict=True)]
        x = [C[:3, 3] + s for C, s in zip(poses, r, strict=True)]
        u = [V[3:] + np.cross(V[:3], s) for V, s in zip(twists, r, strict=True)]
        return r, x, u

    def derivatives(self, t, q, v, poses, twists):
        r, x, u = self._motion(poses, twists)
        cross, one, signs = SO3.ad, np.eye(3), (1.0, -1.0)
        damping = np.diag(self.damping)
        force = -self.stiffness * (x[0] - x[1]) - self.damping * (u[0] - u[1])
        by_poses, by_twists = np.zeros((2, 2, 6, 2, 6))
        by = {"stiffness": np.zeros((2, 6)), "damping": np.zeros((2, 6, 3))}
        for b, sign in enumerate(signs):
            lever = np.vstack([cross(r[b]), one])
            by["stiffness"][b] = -sign * lever @ (x[0] - x[1])
            by["damping"][b] = -sign * lever @ np.diag(u[0] - u[1])
            by_poses[b, :3, b, :3] += sign * cross(force) @ cross(r[b])
            for c, other in enumerate(signs):
                turn = self.stiffness * -cross(r[c]) + damping @ cross(twists[c, :3]) @ -cross(r[c])
                moved = np.hstack([turn, self.stiffness * one])
                by_poses[b, :, c] -= sign * other * lever @ moved
                by_twists[b, :, c] -= (
                    sign * other * lever @ damping @ np.hstack([-cross(r[c]), one])
                )
        return mb.ForceDerivatives(poses=by_poses, twists=by_twists, parameters=by)


def four_bar():
    """Return a four-bar whose rods' frames are turned and moved, and a closed state of it."""
    rng = np.random.default_rng(83)
    places = {"A": (0.0, 0.0), "B": (0.4, 1.1), "C": (2.2, 1.3), "D": (2.0, 0.0)}
    rods = {"crank": "AB", "coupler": "BC", "rocker": "DC"}
    mech = mb.Mechanism("four-bar", gravity=(0.0, 0.0, -9.81))
    at = {name: np.array([x, 0.0, z]) for name, (x, z) in places.items()}
    frames = {"world": np.eye(4)}
    for name, ends in rods.items():
        mech.add_body(mb.Body(name, mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))))
        C = random_pose(rng)
        C[:3, 3] += 0.5 * (at[ends[0]] + at[ends[1]])
        frames[name] = C
    hinges = {"A": ("world", "crank"), "B": ("crank", "coupler"), "D": ("world", "rocker"),
              "C": ("coupler", "rocker")}  # fmt: skip
    for name, pair in hinges.items():
        place = mb.spatial.translation(at[name])
        S, T = (np.linalg.inv(frames[body]) @ place for body in pair)
        joint = mb.RevoluteJoint(name, axis=(0, 1, 0))
        mech.add_joint(joint, *pair, frames=(S, T))
    return mech


BUSH = {
    "bodies": ("crank", "rocker"),
    "stiffness": 25.0,
    "damping": np.array([0.3, 0.5, 0.7]),
    "points": np.random.default_rng(84).normal(size=(2, 3)),
}


class Untold(Bush):
    """The same force, which gives nothing: it is differentiated otherwise."""

    derivatives = mb.Force.derivatives


@pytest.fixture(scope="module")
def closed():
    mech = four_bar()
    system = mech.assemble(mb.RelativeCoordinates(length=1.0)).with_forces([Bush("bush", **BUSH)])
    q = system.close_loops()
    rate = system.consistent_velocity({"A": 1.3}, q)
    return mech, system, q, rate


def test_closed_forms_agree_with_what_is_written():
    report = mb.testing.check_force(Bush("bush", **BUSH))
    assert report.holds, str(report)
    line = report.lines[-1]
    assert line.law == "its derivatives are those of what it writes"
    assert line.holds
    assert line.error < 1e-9


@pytest.mark.slow
def test_closed_mechanism(closed):
    """Generalized forces between two bodies of a loop, by all inputs, against complex steps."""
    _, system, q, v = closed
    plain = system.without_forces().with_forces([Untold("bush", **BUSH)])
    names = ("forces.bush.stiffness", "forces.bush.damping")
    given = {"q": q, "v": v}
    exact = ComplexEvaluation(plain, "generalized_forces")
    for own, name in zip(system.force_derivatives(q, v), "qv", strict=True):
        assert_exact(own, exact.by(given, name))
    ask = {"vdot": np.zeros(system.nv), "by": names}
    found, others = (s.derivatives("inverse_dynamics", q, v, **ask) for s in (system, plain))
    for name in names:
        assert_exact(found[name], others[name], 1e-9)  # which are differences


@attrs.frozen
class Wind(mb.Force):
    """Drag -c (u - w) at a point of a body, as of `mbkit.Drag`, with derivatives by hand."""

    name: str
    bodies: tuple[str, ...]
    linear: float
    point: Any
    wind: Any
    acts_on = "bodies"
    power = "supplied"

    def evaluate(self, t, q, v, poses, twists, out):
        r = poses[0, :3, :3] @ self.point
        force = -self.linear * (twists[0, 3:] + np.cross(twists[0, :3], r) - self.wind)
        out[0, :3], out[0, 3:] = np.cross(r, force), force

    def derivatives(self, t, q, v, poses, twists):
        cross = SO3.ad
        w, r = twists[0, :3], poses[0, :3, :3] @ self.point
        slip = twists[0, 3:] + np.cross(w, r) - self.wind
        lever = np.vstack([cross(r), np.eye(3)])
        turned = self.linear * cross(w) @ cross(r)
        by_pose = np.hstack([lever @ turned, np.zeros((6, 3))])
        by_pose[:3, :3] += cross(-self.linear * slip) @ cross(r)
        by_twist = -self.linear * lever @ np.hstack([-cross(r), np.eye(3)])
        return mb.ForceDerivatives(
            poses=by_pose[None, :, None],
            twists=by_twist[None, :, None],
            parameters={"linear": (-lever @ slip)[None]},
        )


DRAG = {"linear": 0.7, "point": np.array([0.3, -0.2, 0.4]), "wind": np.array([0.5, 0.1, -0.3])}


@pytest.mark.slow
def test_accelerations_of_a_closed_mechanism(closed):
    """With multipliers, by all inputs, as of the force of mbkit that does the same."""
    mech, _, q, v = closed
    system = mech.assemble(mb.RelativeCoordinates(length=1.0))
    by = ("q", "v", "t", "forces.wind.linear")
    expected, found = (
        system.with_forces([force]).derivatives("forward_dynamics", q, v, by=by)
        for force in (mb.Drag("wind", "coupler", **DRAG), Wind("wind", ("coupler",), **DRAG))
    )
    for name in by[:2] + by[3:]:
        assert_exact(found[name], expected[name], 1e-12)
        assert_exact(found.multipliers[name], expected.multipliers[name], 1e-12)
    assert not found["t"].any()


@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator", [mb.RungeKuttaMuntheKaas(), mb.GeneralizedAlpha()], ids=lambda x: type(x).__name__
)
def test_derivatives_of_runs(integrator):
    """Forward and by the adjoint, as of the force of mbkit that does the same."""
    mech = tree(("revolute", "universal", "helical"))
    body = list(mech.bodies)[5]
    forces = mb.Drag("wind", body, **DRAG), Wind("wind", (body,), **DRAG)
    by = ["q", "v", "forces.wind.linear"]
    rng = np.random.default_rng(85)

    def loss(t, q, v):
        return float((q**2).sum()), 2.0 * q, np.zeros_like(v)

    found = []
    start = None
    for force in forces:
        system = mech.assemble().with_forces([force])
        start = random_state(rng, system) if start is None else start
        run = mb.simulate(system, (0.0, 0.2), 0.02, q=start.q, v=start.v, integrator=integrator)
        forward = mb.sensitivities(run, by=by)
        gradient = mb.gradient(run, loss, by=by)
        found.append([*(forward.v[name][-1] for name in by), *(gradient[name] for name in by)])
    for expected, own in zip(*found, strict=True):
        assert_exact(np.asarray(own), np.asarray(expected), 1e-10)


# ----------------------------------------------------------------------------- what is refused


class OnHinge(mb.Force):
    joints = ("hinge",)

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = -2.0 * q[0] ** 3


def hinge():
    mech = mb.Mechanism("hinge")
    rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    return mech.assemble()


def with_derivatives(given):
    """Return the system with a force whose derivatives are what the function returns."""

    class Given(OnHinge):
        def derivatives(self, t, q, v, poses, twists):
            return given(q)

    return hinge().with_forces([Given("given")])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            lambda q: mb.ForceDerivatives(q=-6.0 * q**2),
            mb.ShapeError,
            r"'given': deriv.*: q must have shape \(1, 1\), .* \(1,\). Begin with q = np.zeros",
        ),
        (
            lambda q: mb.ForceDerivatives(t=[[0.0]]),
            mb.ShapeError,
            r"'given'.*: t must have shape \(1,\), .* got shape \(1, 1\)",
        ),
        (
            lambda q: [[-6.0 * q[0] ** 2]],
            mb.ForceError,
            r"'given'.* must return an mbkit.ForceDerivatives, got \[\[.*-1.5.*\]\]; write return",
        ),
        (
            lambda q: mb.ForceDerivatives(parameters={"k": [1.0]}),
            mb.ForceError,
            r"'given'.*: parameters has 'k', which is no field of Given",
        ),
        (lambda q: 1 / 0, ZeroDivisionError, "division by zero"),
    ],
)
def test_what_is_wrong_is_said_with_the_name_of_the_force(given, error, message):
    with pytest.raises(error, match=message) as caught:
        with_derivatives(given).forward_dynamics_derivatives([0.5], [0.0])
    notes = "".join(caught.value.__notes__)
    assert "derivatives of force 'given', at t = 0 and q = [0.5]" in notes


def test_where_there_is_no_number_differences_are_taken():
    system = with_derivatives(lambda q: mb.ForceDerivatives(q=[[np.nan if q[0] < 1.0 else -6.0]]))
    d_q, _ = system.force_derivatives([[0.5], [1.5]], [0.0])
    assert abs(d_q[0, 0, 0] + 1.5) < 1e-9
    assert d_q[1, 0, 0] == -6.0


def test_beside_a_force_without_derivatives_differences_are_taken():
    system = with_derivatives(lambda q: mb.ForceDerivatives(q=[[-6.0 * q[0] ** 2]]))
    both = system.with_forces([OnHinge("other")])
    assert abs(both.force_derivatives([0.5], [0.0])[0][0, 0] + 3.0) < 1e-9


def test_compiled_forces_are_not_asked():
    class Compiled(OnHinge):
        def kernels(self):
            return mb.JointSpring("spring", "hinge", stiffness=1.0).kernels()

        def derivatives(self, t, q, v, poses, twists):
            return mb.ForceDerivatives()

    with pytest.raises(
        mb.ForceError, match=r"Force 'both': Compiled defines derivatives\(\).*Leave"
    ):
        hinge().with_forces([Compiled("both")])


def test_the_check_finds_wrong_derivatives():
    class Wrong(OnHinge):
        def derivatives(self, t, q, v, poses, twists):
            return mb.ForceDerivatives(q=[[-6.001 * q[0] ** 2]])

    (line,) = mb.testing.check_force(Wrong("wrong")).failed
    assert line.law == "its derivatives are those of what it writes"
    assert "the derivative by q at" in line.remark

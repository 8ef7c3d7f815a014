"""Motion of one body: at any frame on it, relative to any body, in any frame."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mbkit as mb
from mbkit.lie import SE3
from tests.closed_loops.mechanisms import BY_NAME
from tests.every_representation import REPRESENTATIONS, each_representation
from tests.trees import random_mechanism, random_pose, random_state

BODY, BASE, OTHER, LAST = "body3", "body5", "body1", "body7"


def make(seed=3, representation=None):
    rng = np.random.default_rng(seed)
    mech = random_mechanism(rng, 8, ("revolute", "screw", "spherical", "universal", "cylindrical"))
    chosen = mb.BodyFixed() if representation is None else representation
    system = mech.assemble(mb.RelativeCoordinates(representation=chosen))
    return system, random_state(rng, system, 0.7), random_pose(rng)


SYSTEM, STATE, FRAME = make()
bases = pytest.mark.parametrize("base", [None, BASE, OTHER, "world"])
frames = pytest.mark.parametrize("frame", [None, FRAME], ids=["own frame", "frame"])


def differentiated(function, h=2e-3):
    """Return the derivative at 0 by differences of sixth order."""
    weights = {1: 45.0, 2: -9.0, 3: 1.0}
    return sum(w * (function(k * h) - function(-k * h)) for k, w in weights.items()) / (60.0 * h)


def moved(t):
    """Return q and v at a time t of a motion through the state, exact to t^2 in q."""
    v = STATE.v + t * STATE.vdot
    return SYSTEM.retract(STATE.q, t * STATE.v + 0.5 * t * t * STATE.vdot), v


def vee(X):
    return np.array([X[2, 1], X[0, 2], X[1, 0]])


def by_definition(representation, C, C_rate):
    """Return the twist of a moving pose, as the table of representations says."""
    R, R_rate, r, r_rate = C[:3, :3], C_rate[:3, :3], C[:3, 3], C_rate[:3, 3]
    w_body, w_space = vee(R.T @ R_rate), vee(R_rate @ R.T)
    return {
        "body_fixed": np.append(w_body, R.T @ r_rate),
        "spatial": np.append(w_space, r_rate - np.cross(w_space, r)),
        "hybrid": np.append(w_space, r_rate),
        "mixed": np.append(w_body, r_rate),
    }[representation.name]


@bases
@frames
def test_pose(base, frame):
    C = SYSTEM.poses(STATE.q)
    body, from_body = (SYSTEM.body_index(name or "world") for name in (BODY, base))
    expected = np.linalg.inv(C[from_body]) @ C[body] @ (np.eye(4) if frame is None else frame)
    found = SYSTEM.pose(BODY, STATE.q, frame=frame, relative_to=base)
    assert np.allclose(found, expected, rtol=0.0, atol=1e-13)


@each_representation
@bases
@frames
def test_twist_is_the_rate_of_the_pose(representation, base, frame):
    options = {"frame": frame, "relative_to": base}

    def pose(t):
        return SYSTEM.pose(BODY, SYSTEM.retract(STATE.q, t * STATE.v), **options)

    expected = by_definition(representation, pose(0.0), differentiated(pose))
    found = SYSTEM.twist(BODY, STATE.q, STATE.v, representation=representation, **options)
    assert np.allclose(found, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())


@each_representation
@bases
@frames
def test_acceleration_is_the_rate_of_the_twist(representation, base, frame):
    options = {"frame": frame, "relative_to": base, "representation": representation}
    h = 1e-4
    before, after = (SYSTEM.twist(BODY, *moved(t), **options) for t in (-h, h))
    expected = (after - before) / (2.0 * h)
    found = SYSTEM.acceleration(BODY, STATE.q, STATE.v, STATE.vdot, **options)
    assert np.allclose(found, expected, rtol=0.0, atol=1e-6 * max(1.0, np.abs(expected).max()))


@each_representation
@bases
@frames
def test_jacobian_times_velocity_is_the_twist(representation, base, frame):
    options = {"frame": frame, "relative_to": base, "representation": representation}
    J = SYSTEM.jacobian(BODY, STATE.q, **options)
    V = SYSTEM.twist(BODY, STATE.q, STATE.v, **options)
    assert np.allclose(J @ STATE.v, V, rtol=0.0, atol=1e-12 * np.abs(V).max())
    carrying = [np.any(SYSTEM.jacobian(name or "world", STATE.q), axis=0) for name in (BODY, base)]
    assert np.array_equal(J.any(axis=0), carrying[0] ^ carrying[1])
    out = np.empty((6, SYSTEM.nv))
    assert SYSTEM.jacobian(BODY, STATE.q, out=out, **options) is out
    assert np.array_equal(out, J)


@pytest.mark.some(2)
@each_representation
def test_systems_of_every_representation_agree(representation):
    """The default representation is the system's; frames and bases do not know of it."""
    system, state, frame = make(representation=representation)
    options = {"frame": frame, "relative_to": BASE}
    motion = state.q, state.v, state.vdot
    for name, args in (("twist", motion[:2]), ("acceleration", motion), ("jacobian", motion[:1])):
        found = getattr(system, name)(BODY, *args, **options)
        other = getattr(SYSTEM, name)(BODY, *args, representation=representation, **options)
        assert np.allclose(found, other, rtol=0.0, atol=1e-11 * np.abs(other).max())


@each_representation
def test_a_body_at_its_own_frame(representation):
    """It is the row of all bodies."""
    q, v, vdot = STATE.q, STATE.v, STATE.vdot
    row = SYSTEM.body_index(BODY)
    chosen = {"representation": representation}
    assert np.array_equal(SYSTEM.pose(BODY, q), SYSTEM.poses(q)[row])
    assert np.array_equal(SYSTEM.twist(BODY, q, v, **chosen), SYSTEM.twists(q, v, **chosen)[row])
    found = SYSTEM.acceleration(BODY, q, v, vdot, **chosen)
    assert np.array_equal(found, SYSTEM.accelerations(q, v, vdot, **chosen)[row])
    near = SYSTEM.jacobian(BODY, q, frame=np.eye(4), **chosen)
    assert np.allclose(near, SYSTEM.jacobian(BODY, q, **chosen), rtol=0.0, atol=1e-13)


# ---------------------------------------------------------------------------- frames by their names


def velocity_of(system, body, point):
    """Return the velocity in the world of the point of a body that is at a place in the world."""
    row = system.body_index(body)
    V = system.twists(STATE.q, STATE.v, representation=mb.Hybrid())[row]
    return V[3:] + np.cross(V[:3], point - system.poses(STATE.q)[row][:3, 3])


@pytest.mark.parametrize("base", ["world", BASE])
@pytest.mark.parametrize("measured", [None, "world", OTHER, BASE, BODY])
@pytest.mark.parametrize("resolved", [None, "world", LAST, BODY])
def test_twist_in_frames_by_name(base, measured, resolved):
    """Mueller 2018, A.2: velocity of the body at the origin of j, less the base's there, in k."""
    if measured is None and resolved is None:
        return
    C = {name: SYSTEM.pose(name, STATE.q) for name in SYSTEM.body_names}
    C[BODY] = C[BODY] @ FRAME
    j = BODY if measured is None else measured
    k = j if resolved is None else resolved
    point, R = C[j][:3, 3], C[k][:3, :3]
    w = {
        name: SYSTEM.twist(name, STATE.q, STATE.v, representation=mb.Hybrid())[:3]
        for name in (BODY, base)
    }
    velocity = velocity_of(SYSTEM, BODY, point) - velocity_of(SYSTEM, base, point)
    expected = np.append(R.T @ (w[BODY] - w[base]), R.T @ velocity)
    found = SYSTEM.twist(
        BODY, STATE.q, STATE.v, frame=FRAME, relative_to=base, measured_in=measured,
        resolved_in=resolved,
    )  # fmt: skip
    assert np.allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def test_representations_by_names_of_frames():
    """Body-fixed, spatial and hybrid twists are those of the frames that their table names."""
    for representation, names in (
        (mb.BodyFixed(), {"measured_in": BODY}),
        (mb.Spatial(), {"measured_in": "world"}),
        (mb.Hybrid(), {"resolved_in": "world"}),
    ):
        found = SYSTEM.twist(BODY, STATE.q, STATE.v, frame=FRAME, **names)
        chosen = SYSTEM.twist(BODY, STATE.q, STATE.v, frame=FRAME, representation=representation)
        assert np.allclose(found, chosen, rtol=0.0, atol=1e-13 * np.abs(chosen).max())


def test_difference_in_the_frame_of_the_base():
    """(81): jV = Ad_Cj^-1 (V_i - V_j), with spatial twists; and against each other opposite."""
    V = SYSTEM.twists(STATE.q, STATE.v, representation=mb.Spatial())
    body, base = (SYSTEM.body_index(name) for name in (BODY, BASE))
    C = SYSTEM.pose(BASE, STATE.q)
    expected = np.linalg.solve(SE3.Ad(C), V[body] - V[base])
    found = SYSTEM.twist(BODY, STATE.q, STATE.v, relative_to=BASE, representation=mb.Spatial())
    assert np.allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())
    in_base = SYSTEM.twist(BASE, STATE.q, STATE.v, relative_to=BODY, measured_in=BASE)
    assert np.allclose(in_base, -expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


# ---------------------------------------------------------------------------------- any motion


@given(st.integers(0, 2**32 - 1), st.sampled_from(REPRESENTATIONS))
def test_what_joints_do_is_what_neighbours_see(seed, representation):
    """Seen from its parent, a body moves as its joint says, at rest if that is at rest."""
    rng = np.random.default_rng(seed)
    q, v, vdot = STATE.q, rng.normal(size=SYSTEM.nv), rng.normal(size=SYSTEM.nv)
    joint = rng.choice(SYSTEM.joint_names)
    (row,) = (i for i, name in enumerate(SYSTEM.tree.joints) if name == joint)
    body = SYSTEM.body_names[row]
    parent = SYSTEM.body_names[SYSTEM.tree.parents[row]]
    place = SYSTEM.velocity_slice(joint)
    seen = {"relative_to": parent, "representation": representation, "frame": random_pose(rng)}
    alone = np.zeros(SYSTEM.nv)
    alone[place] = v[place]
    V = SYSTEM.twist(body, q, v, **seen)
    assert np.allclose(V, SYSTEM.twist(body, q, alone, **seen), rtol=0.0, atol=1e-11)
    rate = np.zeros(SYSTEM.nv)
    rate[place] = vdot[place]
    A = SYSTEM.acceleration(body, q, v, vdot, **seen)
    own = SYSTEM.acceleration(body, q, alone, rate, **seen)
    assert np.allclose(A, own, rtol=0.0, atol=1e-10)


def test_closed_mechanisms_in_any_coordinates():
    """Relative and absolute coordinates give the same motion of one body seen from another."""
    case = BY_NAME["spatial slider-crank"]
    relative, absolute = case.system(), case.build().assemble(mb.AbsoluteCoordinates())
    q, v = relative.reference_configuration(), case.velocity(relative)
    q_all, v_all = absolute.state_of(relative, q, v)
    first, second = relative.body_names[1], relative.body_names[3]
    for options in ({}, {"resolved_in": "world"}, {"measured_in": second}):
        V, same = (
            system.twist(first, *state, frame=FRAME, relative_to=second, **options)
            for system, state in ((relative, (q, v)), (absolute, (q_all, v_all)))
        )
        assert np.allclose(V, same, rtol=0.0, atol=1e-10 * np.abs(V).max())
    assert np.abs(v).max() > 0.1


def test_digits_far_from_the_world():
    """Two bodies 1e8 m away: their relative pose has the digits of their coordinates."""
    mech = mb.Mechanism("far")
    ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    far, near = (mech.add_body(mb.Body(name, ball)) for name in ("far", "near"))
    place = mb.spatial.rotation((1, 2, 3), 0.7)
    place[:3, 3] = 1e8
    mech.add_joint(mb.FixedJoint("stand"), mech.world, far, frames=(place, np.eye(4)))
    mech.add_joint(mb.RevoluteJoint("hinge"), far, near)
    system = mech.assemble()
    assert np.abs(system.pose("near", [0.3], relative_to="far")[:3, 3]).max() < 1e-7
    V = system.twist("near", [0.3], [2.0], relative_to="far")
    assert np.allclose(V, [0, 0, 2, 0, 0, 0], rtol=0.0, atol=1e-7)


# ------------------------------------------------------------------------------------- batches


@each_representation
def test_batches(representation):
    """Configurations, velocities and frames broadcast; each sample is what it is alone."""
    rng = np.random.default_rng(5)
    q = np.array([random_state(rng, SYSTEM, 0.5).q for _ in range(3)])
    v, vdot = rng.normal(size=(2, 2, 1, SYSTEM.nv))
    S = np.array([[random_pose(rng)], [random_pose(rng)]])
    options = {"relative_to": BASE, "representation": representation}
    C = SYSTEM.pose(BODY, q, frame=S, relative_to=BASE)
    J = SYSTEM.jacobian(BODY, q, frame=S, **options)
    V = SYSTEM.twist(BODY, q, v, frame=S, **options)
    A = SYSTEM.acceleration(BODY, q, v, vdot, frame=S, **options)
    named = SYSTEM.twist(BODY, q, v, frame=S, measured_in=BODY, resolved_in=OTHER)
    assert (C.shape, J.shape, V.shape) == ((2, 3, 4, 4), (2, 3, 6, SYSTEM.nv), (2, 3, 6))
    for i, k in np.ndindex(2, 3):
        at, motion, frame = q[k], (q[k], v[i, 0]), S[i, 0]
        alone = {
            "C": (C, SYSTEM.pose(BODY, at, frame=frame, relative_to=BASE)),
            "J": (J, SYSTEM.jacobian(BODY, at, frame=frame, **options)),
            "V": (V, SYSTEM.twist(BODY, *motion, frame=frame, **options)),
            "A": (A, SYSTEM.acceleration(BODY, *motion, vdot[i, 0], frame=frame, **options)),
            "by name": (
                named,
                SYSTEM.twist(BODY, *motion, frame=frame, measured_in=BODY, resolved_in=OTHER),
            ),
        }
        for many, one in alone.values():
            assert np.allclose(many[i, k], one, rtol=0.0, atol=1e-12)
    out = np.empty_like(J)
    assert SYSTEM.jacobian(BODY, q, frame=S, out=out, **options) is out
    q[1] = np.nan
    broken = SYSTEM.twist(BODY, q, v, frame=FRAME)
    assert np.isnan(broken).any(axis=(0, 2)).tolist() == [False, True, False]


def refusals():
    q, v = STATE.q, STATE.v
    batch = np.tile(q, (3, 1))
    mirrored = np.diag([1.0, 1.0, -1.0, 1.0])
    names = {"measured_in": OTHER}
    return {
        "no body": (lambda: SYSTEM.pose("bodi3", q), mb.NameUnknownError, "no body 'bodi3'"),
        "no base": (
            lambda: SYSTEM.jacobian(BODY, q, relative_to="floor"), mb.NameUnknownError, "'floor'",
        ),
        "no frame": (
            lambda: SYSTEM.twist(BODY, q, v, resolved_in="floor"), mb.NameUnknownError, "'floor'",
        ),
        "a name": (
            lambda: SYSTEM.pose(BODY, q, frame="tip"), mb.NameUnknownError,
            "frame on body 'body3': the body has no frame 'tip'; there are none. Or give a pose",
        ),
        "no pose": (
            lambda: SYSTEM.acceleration(BODY, q, v, v, frame=mirrored), mb.GeometryError,
            "System 'random': frame on body 'body3' takes poses",
        ),
        "shape": (
            lambda: SYSTEM.jacobian(BODY, q, frame=np.eye(3)), mb.ShapeError,
            "frame on body 'body3' takes an array of shape",
        ),
        "axes": (
            lambda: SYSTEM.pose(BODY, batch, frame=np.tile(FRAME, (2, 1, 1))), mb.ShapeError,
            "frame and q takes arrays whose leading axes broadcast",
        ),
        "axes of twists": (
            lambda: SYSTEM.jacobian(BODY, batch, frame=np.tile(FRAME, (2, 1, 1))), mb.ShapeError,
            "leading axes broadcast",
        ),
        "both": (
            lambda: SYSTEM.twist(BODY, q, v, representation=mb.Hybrid(), **names), mb.UsageError,
            "leave one of them out",
        ),
        "no representation": (
            lambda: SYSTEM.jacobian(BODY, q, frame=FRAME, representation="hybrid"), mb.UsageError,
            "representation must be a representation, got 'hybrid'",
        ),
        "out": (
            lambda: SYSTEM.jacobian(BODY, q, frame=FRAME, out=np.empty((6, 1))), mb.ShapeError,
            "'out' must be",
        ),
    }  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), refusals().values(), ids=refusals())
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()

"""Laws of joints, held against their own poses."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import JointError, MbkitError
from mbkit.joints import Joint, check_joint_definition
from mbkit.joints.defaults.differences import derivative
from mbkit.lie.arrays import vee
from mbkit.model import Body, Mechanism
from mbkit.spatial import SpatialInertia, inverse, pose_from_quaternion
from mbkit.testing.compiled_joints import compiled_differences
from mbkit.testing.laws import Found, Nothing, error_of, line_of, repeated, text_of
from mbkit.testing.loop_joints import nearest, neighbours, poses_found
from mbkit.testing.report import Line, Report

#: Lengths of the steps from the neutral configuration: at it, next to it, ordinary, near a half
#: turn.
_SIZES = (0.0, 1e-8, 0.3, 1.3, np.pi - 1e-5)

#: Where jumps are looked for: so many steps of a sample to both sides, at so many places; around so
#: many of these it is halved so often.
_WAY = 4.0
_PLACES = 61
_NARROWED = 3
_HALVINGS = 30

#: Where a claim is within this of central differences, there is no kink.
_SMOOTH = 1e-9


@attrs.frozen
class _Sample:
    """Where a joint is looked at: a configuration, a velocity, a step; whether it is a random one.

    The step is of `ndx`, also where velocities are fewer.

    At the neutral configuration and half a turn from it a motion subspace may lose rank.
    """

    q: Any
    v: Any
    x: Any
    ordinary: bool

    def __str__(self) -> str:
        return f"q = {np.array2string(np.asarray(self.q), precision=6, threshold=12)}"


def check_joint(
    joint: Joint, *, configurations: Iterable[ArrayLike] | None = None, seed: int = 0
) -> Report:
    """Return a report on the laws that a joint keeps or breaks.

    Everything that the joint gives is compared with its `pose`, at the neutral configuration, next
    to it, and at random ones up to half a turn away.

    Parameters
    ----------
    joint : Joint
        Any joint.
    configurations : iterable of array_like, shape (nq,), optional
        Where to look instead, for a joint that does not take all; they and the neutral one must
        leave room for 0.1 in any direction.
    seed : int
        Of the random numbers.

    Returns
    -------
    Report
        It prints as a table; ``raise_if_failed()`` makes an exception of it.

    Examples
    --------
    >>> import mbkit as mb
    >>> report = mb.testing.check_joint(mb.RevoluteJoint("hinge", axis=(1, 2, 3)))
    >>> report.holds
    True
    """
    lines = [_definition(joint)]
    kind = type(joint).__name__
    name = f"Joint {getattr(joint, 'name', '?')!r} ({kind})"
    if not lines[0].holds:
        return Report(name, tuple(lines))
    try:
        samples = _samples(joint, configurations, np.random.default_rng(seed))
    except Exception as error:
        line = Line(
            "retract leads from configuration to configuration", False, remark=text_of(error)
        )
        return Report(name, (*lines, line))
    for law, bound, function in _LAWS:
        lines.append(line_of(law, bound, function, joint, samples))
    return Report(name, tuple(lines))


def _definition(joint: Joint) -> Line:
    law = "the definition is complete, and shapes are right"
    try:
        check_joint_definition(joint)
    except MbkitError as error:
        return Line(law, False, remark=str(error))
    return Line(law, True)


def _samples(joint: Joint, configurations: Any, rng: np.random.Generator) -> list[_Sample]:
    nv = joint.num_velocities

    def step(size: float) -> Any:
        x = rng.normal(size=joint.ndx)
        # at most three of them turn; of a joint with one, it is all that there is
        return x * (size / np.linalg.norm(x[:3])) if nv else x

    if configurations is None:
        start = np.asarray(joint.neutral(), dtype=np.float64)
        given = [np.asarray(joint.retract(start, step(size))) for size in _SIZES]
        length = 0.3
    else:
        given = [np.array(q, dtype=np.float64) for q in configurations]
        length = 0.01
    ordinary = [configurations is not None or 0.1 < size < 3.0 for size in _SIZES]
    samples = [
        _Sample(q, rng.normal(size=nv), step(length), random)
        for q, random in zip(given, itertools.chain(ordinary, itertools.repeat(True)), strict=False)
    ]
    for sample in samples:
        for array in (sample.q, sample.v, sample.x):
            array.flags.writeable = False  # writing to arguments raises
    return samples


def _rate(function: Callable[[float], Any], claimed: Any) -> Any:
    """Return the derivative of a function at 0; at a kink, of the side that the claim is nearer to.

    A curve in pieces has a bias that jumps where they meet, and may claim that of either.
    """
    rates = [derivative(function)]
    if not error_of(claimed, rates[0]) <= _SMOOTH:
        rates += [derivative(function, side) for side in (1, -1)]
    return min(rates, key=lambda rate: error_of(claimed, rate))


# ------------------------------------------------------------------------------------- laws


def _pose(joint: Joint, at: _Sample) -> Found:
    T = np.asarray(joint.pose(at.q))
    yield "R^T R", T[:3, :3].T @ T[:3, :3], np.eye(3)
    yield "det R", np.linalg.det(T[:3, :3]), 1.0
    yield "the last row", T[3], [0.0, 0.0, 0.0, 1.0]


def _identity(joint: Joint, at: _Sample) -> Found:
    if not joint.zero_reference:
        raise Nothing("zero_reference is not declared")
    yield "T", joint.pose(joint.neutral()), np.eye(4)


def _continuous(joint: Joint, at: _Sample) -> Found:
    """Look for jumps along a line of steps, where second differences are the largest."""
    if joint.num_velocities == 0:
        raise Nothing("it does not move")

    def pose(s: float) -> Any:
        try:
            T = np.asarray(joint.pose(joint.retract(at.q, s * at.x)), dtype=np.float64)
        except Exception:  # out of its range, perhaps
            T = np.full((4, 4), np.nan)
        return T

    s = np.linspace(-_WAY, _WAY, _PLACES)
    poses = np.array([pose(each) for each in s])
    bends = np.abs(np.diff(poses, 2, axis=0)).max(axis=(1, 2))
    bends[~np.isfinite(bends)] = 0.0
    jump = 0.0
    for k in np.argsort(bends)[-_NARROWED:]:
        a, b = s[k], s[k + 2]
        for _ in range(_HALVINGS):
            ends = pose(a), pose(0.5 * (a + b)), pose(b)
            left, right = (np.abs(q - p).max() for p, q in itertools.pairwise(ends))
            a, b = (a, 0.5 * (a + b)) if left > right else (0.5 * (a + b), b)
        if np.isfinite(last := float(np.abs(pose(b) - pose(a)).max())):
            jump = max(jump, last)
    yield "the largest jump", jump, 0.0


def _subspace(joint: Joint, at: _Sample) -> Found:
    S = np.asarray(joint.motion_subspace(at.q))
    back = inverse(joint.pose(at.q))

    def twist(w: Any, e: float) -> Any:
        """Along the step w, as far as it is small: vee(T^-1 (T(e) - T))."""
        return vee(back @ np.asarray(joint.pose(joint.retract(at.q, e * w))))

    for k, unit in enumerate(np.eye(joint.num_velocities)):
        w = np.asarray(joint.rates(at.q, unit))
        yield f"column {k}", S[:, k], _rate(functools.partial(twist, w), S[:, k])


def _rank(joint: Joint, at: _Sample) -> Found:
    if not at.ordinary:
        return
    S = np.asarray(joint.motion_subspace(at.q))
    for k in np.flatnonzero(~S.any(axis=0)):
        yield f"the pose does not depend on velocity {k}: rank", 0, 1
    yield "rank", np.linalg.matrix_rank(S), joint.num_velocities


def _bias(joint: Joint, at: _Sample) -> Found:
    w = np.asarray(joint.rates(at.q, at.v))

    def moving(t: float) -> Any:
        return joint.motion_subspace(joint.retract(at.q, t * w)) @ at.v

    bias = joint.bias(at.q, at.v)
    yield "S-dot v", bias, _rate(moving, bias)


def _reciprocal(joint: Joint, at: _Sample) -> Found:
    W, S = joint.constraint_wrenches(at.q), joint.motion_subspace(at.q)
    found = np.asarray(W).T @ S
    # by the length of the largest column: rounding grows with it
    yield "W^T S", found / max(1.0, float(np.abs(S).max(initial=0.0))), np.zeros(found.shape)


def _complementary(joint: Joint, at: _Sample) -> Found:
    W = np.asarray(joint.constraint_wrenches(at.q))
    yield "rank of the wrenches", np.linalg.matrix_rank(W), 6 - joint.num_velocities


def _constant(joint: Joint, at: _Sample) -> Found:
    if not joint.constant_subspace:
        raise Nothing("constant_subspace is not declared")
    start = joint.neutral()
    yield "S", joint.motion_subspace(at.q), joint.motion_subspace(start)
    yield "the bias", joint.bias(at.q, at.v), np.zeros(6)
    yield "the wrenches", joint.constraint_wrenches(at.q), joint.constraint_wrenches(start)


def _retract(joint: Joint, at: _Sample) -> Found:
    moved = joint.retract(at.q, at.x)
    yield "retract(q, 0)", joint.retract(at.q, 0.0 * at.x), at.q
    yield "difference(q, retract(q, x))", joint.difference(at.q, moved), at.x
    again = joint.retract(moved, joint.difference(moved, at.q))
    yield "pose(retract(q0, difference(q0, q1)))", joint.pose(again), joint.pose(at.q)


def _rates(joint: Joint, at: _Sample) -> Found:
    start = joint.neutral()
    for x in (at.x, 0.0 * at.x, 4.0 * at.x):
        q = joint.retract(start, x)
        w = np.asarray(joint.rates(q, at.v))
        rate = np.asarray(joint.dexp_inv(x, w))
        back = inverse(joint.pose(q))
        moving = functools.partial(_moved, joint, start, back, x, rate)
        twist = joint.motion_subspace(q) @ at.v
        yield "S v while x moves at this rate", _rate(moving, twist), twist
        if joint.ndx != joint.num_velocities:
            w = at.x  # where no velocity leads to
            rate = np.asarray(joint.dexp_inv(x, w))
            along_x = derivative(functools.partial(_stepped, joint, start, x, rate))
            along_w = derivative(functools.partial(_stepped, joint, q, 0.0 * w, w))
            yield "the rate of q in any direction", along_x, along_w


def _moved(joint: Joint, start: Any, back: Any, x: Any, rate: Any, t: float) -> Any:
    return vee(back @ np.asarray(joint.pose(joint.retract(start, x + t * rate))))


def _stepped(joint: Joint, start: Any, x: Any, rate: Any, t: float) -> Any:
    return joint.retract(start, x + t * rate)


#: Rates of positions from which on these are nearly singular: differences are useless there.
_SINGULAR = 1e4


def _position_rates(joint: Joint, at: _Sample) -> Found:
    try:
        found = np.asarray(joint.position_rates(at.q, at.x))
    except JointError:
        raise Nothing("it gives none") from None
    moved = np.asarray(joint.retract(at.q, at.x))
    if not np.abs(found).max(initial=0.0) < _SINGULAR:
        # as angles have none at gimbal lock, but beside it
        beside = np.abs(joint.position_rates(moved, at.x)).max()
        yield "qdot beside a singular place", float(beside < _SINGULAR), 1.0
        return
    yield "qdot", found, _rate(functools.partial(_stepped, joint, at.q, 0.0 * at.x, at.x), found)
    for first in joint.quaternions:
        entries = slice(first, first + 4)
        yield "the length of a quaternion", np.linalg.norm(moved[entries]), 1.0
        yield "its rate along itself", found[entries] @ at.q[entries], 0.0


def _linear(joint: Joint, at: _Sample) -> Found:
    if joint.ndx == joint.num_velocities:
        raise Nothing("it has a velocity for each step")
    columns = np.array([joint.rates(at.q, unit) for unit in np.eye(joint.num_velocities)]).T
    yield "rates of a sum", joint.rates(at.q, at.v), columns @ at.v
    yield "rank", np.linalg.matrix_rank(columns), joint.num_velocities


def _repeated(joint: Joint, at: _Sample) -> Found:
    calls: tuple[Callable[[], Any], ...] = (
        lambda: joint.pose(at.q),
        lambda: joint.motion_subspace(at.q),
        lambda: joint.bias(at.q, at.v),
        lambda: joint.retract(at.q, at.x),
    )
    return repeated(calls, lambda: None)


def _compiled(joint: Joint, at: _Sample) -> Found:
    if joint.kernels() is None:
        raise Nothing("it has no compiled form")
    yield from compiled_differences(joint, at.q, at.v, at.x)


def _power(joint: Joint, at: _Sample) -> Found:
    """Balance of one body on the joint, in gravity: d(kinetic + potential)/dt = tau . v."""
    if joint.num_velocities == 0:
        raise Nothing("it does not move")
    mech = Mechanism("balance", gravity=(1.0, -2.0, -9.0))
    box = SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))
    frame = pose_from_quaternion((0.2, -0.1, 0.3), (0.5, 0.1, -0.7, 0.5))
    body = mech.add_body(Body("body", box))
    mech.add_joint(joint, mech.world, body, frames=(inverse(frame), frame))
    system = mech.assemble()
    vdot = at.x[: system.nv]
    tau = system.inverse_dynamics(at.q, at.v, vdot)
    w = system.rates(at.q, at.v)

    def energy(t: float) -> Any:
        q, v = system.retract(at.q, t * w), at.v + t * vdot
        return np.array(system.kinetic_energy(q, v) + system.potential_energy(q))

    yield "power", tau @ at.v, _rate(energy, tau @ at.v)


_LAWS: tuple[tuple[str, float, Callable[..., Found]], ...] = (
    ("pose is a rotation and a translation", 1e-12, _pose),
    ("pose is the identity at the neutral configuration", 1e-12, _identity),
    ("pose does not jump", 1e-6, _continuous),
    ("motion subspace is the derivative of the pose", 1e-8, _subspace),
    ("motion subspace has full rank", 0.0, _rank),
    ("bias is the rate of the motion subspace, times v", 1e-7, _bias),
    ("motion subspace is the same everywhere", 1e-12, _constant),
    ("constraint wrenches do no work", 1e-12, _reciprocal),
    ("constraint wrenches are all there are", 0.0, _complementary),
    ("constraint wrenches change smoothly", 1e-3, neighbours),
    ("configuration_from_pose finds poses of the joint", 1e-12, poses_found),
    ("configuration_from_pose is next to a pose what is nearest to it", 1e-2, nearest),
    ("retract and difference are inverse to each other", 1e-9, _retract),
    ("dexp_inv is the rate of the step", 1e-8, _rates),
    ("rates are linear in v, and none is lost", 1e-12, _linear),
    ("position_rates is the derivative of retract", 1e-8, _position_rates),
    ("the same arguments give the same results", 0.0, _repeated),
    ("compiled and Python forms agree", 1e-12, _compiled),
    ("power is what the energy gains, of a body on the joint", 1e-7, _power),
)

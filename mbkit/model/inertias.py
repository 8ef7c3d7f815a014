"""Check that every motion at the end of a branch has inertia."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from mbkit.errors import InertiaError, JointError, listed
from mbkit.joints import Joint
from mbkit.joints.defaults.poses import pose_of
from mbkit.lie import SE3
from mbkit.spatial import SpatialInertia, inverse
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.model.mechanism import Mechanism
    from mbkit.parts.connection import Connection
    from mbkit.parts.parts import Parts
    from mbkit.topology import Topology

__all__ = ["check_inertias"]

#: A part of the inertias summed up, below which a remainder is rounding.
TOLERANCE = 1e-13

#: A distance from which the moment of inertia of a body may drown in rounding. [m]
_FAR = 1e4

#: A part of the terms of a velocity, below which it is rounding.
ROUNDING = 1e-14

#: Least `Joint.singularity` at which the inertia in its directions is checked.
_REGULAR = 1e-3


@attrs.define
class _Part:
    """Bodies that joints without velocities hold together."""

    number: int  # of the first body, in the topology
    parent: int  # index of the part towards the world
    bodies: list[str]
    inertia: SpatialInertia  # in the frame of the first body
    is_tip: bool = True
    is_massless: bool = True  # with all that is beyond


def check_inertias(mechanism: Mechanism | Parts, topology: Topology) -> None:
    """Raise InertiaError if a motion at the end of a branch has no inertia to be driven.

    Bodies that are fixed together count as one. The bodies on a moving joint must have mass
    somewhere; and the last body of a branch must resist every motion that its joint allows: a point
    mass on the axis of its own revolute joint does not.

    Notes
    -----
    For a tip with inertia M and motion subspace S, both at its centre of mass, at the neutral
    configuration:
    S^T M S must be positive definite. It is regarded as singular if its smallest eigenvalue is
    below 1e-13, measured in the size of the terms that were summed up, |S|^T |M| |S|, or if no
    velocity of the centre of mass is more than rounding.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> rod = mech.add_body(mb.Body("rod"))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, rod)
    >>> check_inertias(mech, mech.topology())
    Traceback (most recent call last):
    mbkit.errors.InertiaError: Joint 'hinge' moves body 'rod', which has no inertia; \
    give it mass, or hold it by an mbkit.FixedJoint.
    """
    parts = _merged(mechanism, topology)
    for part in reversed(parts[1:]):
        towards = parts[part.parent]
        part.is_massless &= part.inertia.mass == 0.0
        towards.is_tip = False
        towards.is_massless &= part.is_massless
    for part in parts[1:]:
        joint = topology.joint_of_body[part.number]
        if part.is_massless:
            beyond = topology.subtree(part.bodies[0])
            verb = "has" if len(beyond) == 1 else "have"
            raise InertiaError(
                f"Joint {joint!r} moves {_called(beyond)}, which {verb} no inertia; "
                f"give {'it' if len(beyond) == 1 else 'one of them'} mass, or hold "
                f"{'it' if len(beyond) == 1 else 'them'} by an mbkit.FixedJoint"
                f"{_or_cut_elsewhere(topology, beyond)}."
            )
        if part.is_tip:
            _check_tip(part, mechanism.joints[joint], topology)


def _merged(mechanism: Mechanism | Parts, topology: Topology) -> list[_Part]:
    """Return the parts in regular numbering, the world's first."""
    parts = [_Part(0, -1, [topology.bodies[0]], SpatialInertia.zero())]
    #: Part, and pose in it, of each body.
    poses: list[tuple[int, FloatArray]] = [(0, np.eye(4))]
    for number, body in enumerate(topology.bodies[1:], start=1):
        edge, inertia = (
            mechanism.joints[topology.joint_of_body[number]],
            mechanism.bodies[body].inertia,
        )
        part, C = poses[topology.parent[number]]
        if edge.joint.num_velocities == 0:
            step = edge.S_pred @ pose_of(edge.joint, edge.joint.neutral()) @ inverse(edge.S_succ)
            C = C @ (inverse(step) if topology.reversed[number] else step)
            poses.append((part, C))
            parts[part].bodies.append(body)
            parts[part].inertia += inertia.transformed(C)
        else:
            poses.append((len(parts), np.eye(4)))
            parts.append(_Part(number, part, [body], inertia))
    return parts


def _called(bodies: Sequence[str]) -> str:
    return f"{'body' if len(bodies) == 1 else 'bodies'} {listed(bodies)}"


def _or_cut_elsewhere(topology: Topology, bodies: Sequence[str]) -> str:
    """Return a further remedy for bodies that are at the end of a branch because a loop is cut."""
    loops = [
        edge.name
        for edge in topology.edges
        if edge.name in topology.loop_joints
        and (edge.predecessor in bodies or edge.successor in bodies)
    ]
    if not loops:
        return ""
    return f", or cut another joint of the loop than {listed(loops)}, by loop_joints"


def _check_tip(part: _Part, edge: Connection, topology: Topology) -> None:
    S, rounding = _at_centre(_subspace(edge, part.bodies[0]), part.inertia.com)
    M = np.diag(np.repeat((0.0, part.inertia.mass), 3))  # about the centre of mass
    M[:3, :3] = part.inertia.moment_about_com
    size = np.einsum("ik,ij,jk->k", np.abs(S), np.abs(M), np.abs(S))
    size = np.sqrt(np.maximum(size, part.inertia.mass * rounding**2 / TOLERANCE))
    # A motion without any inertia has size zero: it is divided by one, and stays zero.
    size[size == 0.0] = 1.0
    resistance = S.T @ M @ S / np.outer(size, size)
    if not np.isfinite(resistance).all():
        raise InertiaError(
            f"Joint {edge.joint.name!r} moves {_called(part.bodies)} with an inertia that is no "
            f"number any more, so large it is, or so far away; give masses and places of ordinary "
            f"size in SI units.{_or_nearer(S)}"
        )
    if np.linalg.eigvalsh(resistance)[0] > TOLERANCE:
        return
    _check_rank(edge.joint)
    many = len(part.bodies) > 1
    raise InertiaError(
        f"Joint {edge.joint.name!r} allows a motion of {_called(part.bodies)}, at the end of its "
        f"branch, which {'have' if many else 'has'} no inertia in that direction; give "
        f"{'one of them' if many else 'it'} a moment of inertia, or a centre of mass off the axis"
        f"{_or_cut_elsewhere(topology, part.bodies)}.{_or_nearer(S)}"
    )


def _or_nearer(S: FloatArray) -> str:
    """Return a remedy where a moment of inertia drowns in rounding, so far away is the joint."""
    turns = np.linalg.norm(S[:3], axis=0)
    far = float((np.linalg.norm(S[3:], axis=0)[turns > 0.0] / turns[turns > 0.0]).max(initial=0.0))
    if far < _FAR:
        return ""
    return (
        f" The joint is {far:.3g} m from the centre of mass, where a moment of inertia is less "
        "than rounding; give it a point beside its bodies, or joint frames by frames= or "
        "reference=."
    )


def _at_centre(S: FloatArray, com: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return S with velocities of the centre of mass, and their rounding, by columns.

    There the moment of inertia is that of the body alone, wherever its frame is.
    """
    terms = np.linalg.norm(S[3:], axis=0) + np.linalg.norm(S[:3], axis=0) * np.linalg.norm(com)
    v = S[3:] + np.cross(S[:3].T, com).T
    return np.concatenate([S[:3], v]), ROUNDING * terms


def _subspace(edge: Connection, body: str) -> FloatArray:
    """Return the motion subspace of `body`, in its own frame, where the joint is not singular."""
    q = _regular_configuration(edge.joint)
    S: FloatArray = edge.joint.motion_subspace(q)
    if body == edge.successor:
        S = SE3.Ad(edge.S_succ) @ S
    else:
        # seen from the successor, the predecessor moves by -S; T takes that into its joint frame
        S = -SE3.Ad(edge.S_pred @ pose_of(edge.joint, q)) @ S
    return S


def _regular_configuration(joint: Joint) -> FloatArray:
    """Return the neutral configuration, or another where the joint is singular there."""
    for q in _configurations(joint):
        if joint.singularity(q) > _REGULAR:
            return q
    raise JointError(
        f"Joint {joint.name!r} has lost a freedom wherever it was looked at: velocities of its "
        f"{type(joint).__name__} move the bodies alike; leave out one of what moves them so."
    )


def _configurations(joint: Joint) -> Iterator[FloatArray]:
    """Give the neutral configuration, then random ones, where the joint may not be singular."""
    yield joint.neutral()
    rng = np.random.default_rng(0)
    for _ in range(19):
        yield joint.random(rng)


def _check_rank(joint: Joint) -> None:
    """Raise JointError if the joint itself has lost a motion, whatever the inertia."""
    q = _regular_configuration(joint)
    S = np.asarray(joint.motion_subspace(q), dtype=np.float64)
    lengths = np.linalg.norm(S, axis=0)
    what = f"Joint {joint.name!r} ({type(joint).__name__}), at q = {np.asarray(q).tolist()}:"
    zero = np.flatnonzero(lengths < TOLERANCE * max(1.0, float(lengths.max(initial=0.0))))
    if (zero.size or _smallest(S) < TOLERANCE) and _is_regular_elsewhere(joint):
        raise JointError(
            f"{what} velocities move the bodies in fewer ways than elsewhere, so that it is "
            f"singular there; give it another neutral configuration, by the method neutral()."
        )
    for k in zero:
        raise JointError(
            f"{what} its pose does not depend on velocity {k}, whose column of the motion subspace "
            f"is zero; use that position in pose(q), or give the joint fewer velocities."
        )
    if _smallest(S) < TOLERANCE:
        raise JointError(
            f"{what} {len(lengths)} velocities move the bodies in fewer ways, since columns of the "
            f"motion subspace depend on each other; check how pose(q) depends on its positions."
        )


def _smallest(S: FloatArray) -> float:
    """Return the smallest singular value of columns of length one; one where there are none."""
    lengths = np.linalg.norm(S, axis=0)
    return float(np.linalg.svd(S / lengths, compute_uv=False).min(initial=1.0))


def _is_regular_elsewhere(joint: Joint) -> bool:
    """Return whether at some configuration all velocities of a joint move the bodies."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        S = np.asarray(joint.motion_subspace(joint.random(rng)), dtype=np.float64)
        if (np.linalg.norm(S, axis=0) > _REGULAR).all() and _smallest(S) > _REGULAR:
            return True
    return False

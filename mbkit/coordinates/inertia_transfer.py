"""Inertia transfers: moments of inertia that thin rods get from neighbours or from the world.

In absolute coordinates a body needs a moment of inertia about every axis. A thin rod has none about
its own axis. If a joint allows no rotation but one about an axis n that is fixed in both bodies, a
moment a (1 - n n^T) can be transferred from one to the other without changing any motion. The world
can give any moment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, final

import attrs
import numpy as np

from mbkit.coordinates.loops import characteristic_length
from mbkit.coordinates.rigid_groups import spanning_steps
from mbkit.joints.defaults.poses import pose_of
from mbkit.parts.body import with_inertia
from mbkit.spatial import SpatialInertia
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.blueprint import InertiaTransfer
from mbkit.topology import WORLD

if TYPE_CHECKING:
    from mbkit.coordinates.rigid_groups import RigidGroups
    from mbkit.joints import Joint
    from mbkit.parts.connection import Connection
    from mbkit.parts.parts import Parts

#: Part of the sum of inertias below which a remainder is rounding.
_TOLERANCE = 1e-13
#: Largest error of the angular part of a motion subspace from an axis.
_SAME_AXIS = 1e-9
#: Shares of the wanted transfers; the first that leaves every giver enough is used.
_SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)
#: Configurations in which a joint is looked at.
_SAMPLES = 3


def resists(inertia: SpatialInertia) -> bool:
    """Return whether an inertia has mass, and moments about all axes."""
    J = inertia.moment_about_com
    size = float(np.trace(J) + inertia.mass * (inertia.com @ inertia.com))
    return inertia.mass > 0.0 and bool(np.linalg.eigvalsh(J)[0] > _TOLERANCE * size)


def group_inertias(parts: Parts, groups: RigidGroups) -> Iterator[tuple[str, SpatialInertia]]:
    """Give the inertia of each group of bodies but the world's, in the frame of its root."""
    poses = groups.poses(parts)
    for root, members in groups.members.items():
        if root != WORLD:
            inertia = parts.bodies[root].inertia
            for body in members[1:]:
                inertia = inertia + parts.bodies[body].inertia.transformed(poses[body])
            yield root, inertia


@final
@attrs.frozen(eq=False)
class InertiaTransfers:
    """Bodies that lack a moment of inertia, and the joints of transfers from the world to them.

    Receivers are roots of groups that lack a moment. Steps are joint, body towards the world, body
    beyond, and the roots of both; from the world outwards.
    """

    receivers: frozenset[str] = frozenset()
    steps: tuple[tuple[str, str, str, str, str], ...] = ()

    @classmethod
    def of(cls, parts: Parts, groups: RigidGroups) -> InertiaTransfers:
        """Return the possible inertia transfers between the bodies of a mechanism."""
        lacking = frozenset(
            root
            for root, inertia in group_inertias(parts, groups)
            if inertia.mass > 0.0 and not resists(inertia)
        )
        if not lacking:
            return cls()
        transferring = {
            name: edge
            for name, edge in parts.joints.items()
            if groups.root[edge.predecessor] != groups.root[edge.successor]
            and _axes(edge.joint) is not None
        }
        # between groups: each joint by the roots of its ends
        between = {
            name: attrs.evolve(
                edge,
                predecessor=groups.root[edge.predecessor],
                successor=groups.root[edge.successor],
            )
            for name, edge in transferring.items()
        }
        steps = []
        for name, towards, beyond in spanning_steps(between, (WORLD,)):
            edge = transferring[name]
            ends = edge.predecessor, edge.successor
            if between[name].predecessor != towards:
                ends = edge.successor, edge.predecessor
            steps.append((name, *ends, towards, beyond))
        return cls(lacking, tuple(steps))

    def inertia_transfers(self, parts: Parts, groups: RigidGroups) -> Mapping[str, InertiaTransfer]:
        """Return inertia transfers by joint: a body that lacks a moment gets its largest one.

        For a point mass the amount is the mass times the squared length of the mechanism. It is a
        share of that if a giver would become too light. Bodies that lack a moment with other
        parameters are included.
        """
        inertias = dict(group_inertias(parts, groups))
        current = self._of_now(parts, groups, inertias)
        found: Mapping[str, InertiaTransfer] = MappingProxyType({})
        for share in _SHARES if current.receivers else ():
            found = current._by_joint(parts, inertias, share)
            left = with_transfers(parts, found.values())
            if all(resists(inertia) for _, inertia in group_inertias(left, groups)):
                return found
        return current._by_joint(parts, inertias, 1.0) if found else found

    def transferring_joint(self, parts: Parts, groups: RigidGroups, root: str) -> str | None:
        """Return the joint of the transfer to a body; None if there is none."""
        current = self._of_now(parts, groups, dict(group_inertias(parts, groups)))
        return next((joint for joint, _, _, _, beyond in current.steps if beyond == root), None)

    def _of_now(
        self, parts: Parts, groups: RigidGroups, inertias: Mapping[str, SpatialInertia]
    ) -> InertiaTransfers:
        lacks_none_else = all(
            root in self.receivers or inertia.mass == 0.0 or resists(inertia)
            for root, inertia in inertias.items()
        )
        return self if lacks_none_else else InertiaTransfers.of(parts, groups)

    def _by_joint(
        self, parts: Parts, inertias: Mapping[str, SpatialInertia], share: float
    ) -> Mapping[str, InertiaTransfer]:
        length = characteristic_length(parts)
        flow: dict[str, float] = {}
        for root, inertia in inertias.items():
            if root in self.receivers:
                flow[root] = share * (_largest(inertia) or inertia.mass * length**2)
        found = {}
        for joint, giver, receiver, towards, beyond in reversed(self.steps):
            amount = flow.get(beyond, 0.0)
            if amount == 0.0:
                continue
            flow[towards] = flow.get(towards, 0.0) + amount
            edge = parts.joints[joint]
            mine, theirs = _axes_on(edge, receiver == edge.successor)
            found[joint] = InertiaTransfer(joint, receiver, giver, amount, mine, theirs)
        return MappingProxyType(found)


def _largest(inertia: SpatialInertia) -> float:
    """Return the largest principal moment about the centre of mass, zero for a point mass."""
    return float(np.linalg.eigvalsh(inertia.moment_about_com)[-1])


def with_transfers(parts: Parts, inertia_transfers: Collection[InertiaTransfer]) -> Parts:
    """Return the parts with the moments of inertia after the transfers."""
    change: dict[str, FloatArray] = {}
    for transfer in inertia_transfers:
        for body, axis, sign in (
            (transfer.receiver, transfer.receiver_axis, 1.0),
            (transfer.giver, transfer.giver_axis, -1.0),
        ):
            if body in parts.bodies:
                change[body] = change.get(body, np.zeros((3, 3))) + sign * transfer.moment(axis)
    if not change:
        return parts
    bodies = dict(parts.bodies)
    for body, moment in change.items():
        inertia = bodies[body].inertia
        moment = inertia.moment_about_com + 0.5 * (moment + moment.T)
        changed = SpatialInertia(inertia.mass, inertia.com, moment, unphysical=True)
        bodies[body] = with_inertia(bodies[body], changed)
    return attrs.evolve(parts, bodies=MappingProxyType(bodies))


def _axes_on(edge: Connection, receiver_is_successor: bool) -> tuple[FloatArray, FloatArray]:
    axes = _axes(edge.joint)
    assert axes is not None
    before, after = edge.S_pred[:3, :3] @ axes[0], edge.S_succ[:3, :3] @ axes[1]
    return (after, before) if receiver_is_successor else (before, after)


def _axes(joint: Joint) -> tuple[FloatArray, FloatArray] | None:
    """Return the axis of a joint's turns in its predecessor's frame and in its successor's.

    Zeros if it does not rotate, None if it rotates about more than one axis, by samples.
    """
    if joint.num_velocities == 0 or joint.num_velocities > 4:
        return None
    rng = np.random.default_rng(0)
    samples = [joint.neutral(), *(joint.random(rng) for _ in range(_SAMPLES))]
    rows = [np.asarray(joint.motion_subspace(q), dtype=np.float64)[:3].T for q in samples]
    turns = np.concatenate(rows)
    _, sizes, axes = np.linalg.svd(turns)
    if sizes[0] <= _SAME_AXIS:
        return np.zeros(3), np.zeros(3)
    if len(sizes) > 1 and sizes[1] > _SAME_AXIS * sizes[0]:
        return None
    R = pose_of(joint, np.asarray(joint.neutral()))[:3, :3]
    return R @ axes[0], axes[0]

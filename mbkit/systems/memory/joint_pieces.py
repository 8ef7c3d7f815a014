"""Joints whose motion subspace changes, split into pieces with series in closed form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import attrs
import numpy as np

from mbkit.joints import Joint
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.bases.screw_motion import ScrewMotion
from mbkit.joints.composite import CompositeJoint
from mbkit.joints.defaults.overriding import moves_as
from mbkit.joints.motions.absolute_motion import AbsoluteMotion
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.joints.motions.screw_sum import ScrewSum
from mbkit.kernels.higher_orders import layout
from mbkit.kernels.layout import SCREW, SCREW_IN_OWN_FRAME
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import inverse


class GivenJoint(NamedTuple):
    """A joint in Python whose series are computed there, with its entries of q and v."""

    joint: Joint
    positions: slice
    velocities: slice


class _Piece(NamedTuple):
    kind: str
    sizes: tuple[int, int]  # positions and velocities
    frame: FloatArray
    motion: Motion | None = None
    parameters: FloatArray | None = None
    joint: Joint | None = None


@attrs.define(eq=False, on_setattr=attrs.setters.frozen)
class JointPieces:
    """The pieces of all joints of a system; see `mbkit.kernels.higher_orders.layout`.

    Kernels get the address of a PLAN, so that each that was made is kept here.
    """

    table: Any  # one row more than there are pieces: an empty array has no address of its own
    first: Any  # (rows + 1,): the first piece of each row of the model
    given: tuple[GivenJoint, ...]  # joints in Python, in the order of their pieces
    owners: list[Any]  # the objects that the table points to
    motions: tuple[Any, ...]  # the function of each piece, None where none is called
    _plans: dict[tuple[int, int, int], tuple[Any, ...]] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(cls, bodies: Any, joints: Sequence[Joint | None]) -> JointPieces:
        """Return the pieces of the rows of a model and their joints."""
        counts, pieces = [], []
        for row, joint in zip(bodies, joints, strict=True):
            constant = row["constant"] and not (row["reversed"] and row["num_velocities"] > 1)
            screw = row["kind"] in (SCREW, SCREW_IN_OWN_FRAME)
            own = [] if joint is None or constant or screw else list(_of_row(joint))
            q, v = int(row["first_position"]), int(row["first_velocity"])
            for piece in own:
                pieces.append((piece, q, v))
                q, v = q + piece.sizes[0], v + piece.sizes[1]
            counts.append(len(own))
        table = np.zeros(len(pieces) + 1, layout.PIECE)
        owners: list[Any] = []
        given = []
        for entry, (piece, q, v) in zip(table, pieces, strict=False):
            owners += _fill(entry, piece, q, v)
            if piece.joint is not None:
                ends = q + piece.sizes[0], v + piece.sizes[1]
                given.append(GivenJoint(piece.joint, slice(q, ends[0]), slice(v, ends[1])))
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        motions = tuple(piece.motion and piece.motion.kernels().motion for piece, _, _ in pieces)
        return cls(table, first, tuple(given), owners, motions)

    @property
    def are_none(self) -> bool:
        """Whether no joint has a motion subspace that changes, seen from either side."""
        return len(self.table) == 1

    def record_of(self, plan: int) -> tuple[Any, Any]:
        """Return the record of a PLAN by its address, and the table of pieces that it has."""
        return next(made[1:] for made in self._plans.values() if made[0] == plan)

    def num_given(self, count: int) -> int:
        """Return how many numbers all given joints have, for series of `count` terms."""
        sizes = (each.velocities.stop - each.velocities.start for each in self.given)
        return sum(layout.GIVEN_POSE + 6 * count * size for size in sizes)

    def plan(self, representation: int, count: int, body: int = 0) -> int:
        """Return the address of a PLAN for series of `count` terms."""
        key = representation, count, body
        known = self._plans.get(key)
        if known is None:
            known = self._plans[key] = self._made(*key)
        address: int = known[0]
        return address

    def _made(self, representation: int, count: int, body: int) -> tuple[Any, ...]:
        """Return the address of a PLAN, and the objects that it points to."""
        from mbkit.kernels.compile import array_address

        table = self.table.copy()
        place = 0
        for index in np.flatnonzero(table["kind"][:-1] == layout.GIVEN):
            table[index]["given"] = place
            place += layout.GIVEN_POSE + 6 * count * int(table[index]["num_velocities"])
        plan = np.zeros(1, layout.PLAN)
        plan["representation"], plan["count"], plan["body"] = representation, count, body
        plan["pieces"], plan["num_pieces"] = array_address(table), len(table) - 1
        plan["first_piece"], plan["num_given"] = array_address(self.first), place
        if len(table) > 1:
            from mbkit.kernels.higher_orders.pieces import joint_columns

            plan["columns"] = joint_columns.address
        return array_address(plan), plan, table


def _of_row(joint: Joint) -> Iterator[_Piece]:
    """Give the pieces of a joint in the canonical frame that its row has."""
    if moves_as(joint, MotionJoint):
        yield from _of_motion(joint.motion, np.eye(4))
    elif moves_as(joint, CompositeJoint):
        yield from _of_joint(joint)
    else:
        # rows are in the canonical frame, methods in the joint's
        yield _given(joint, inverse(np.asarray(joint.canonical_frame)))


def _of_joint(joint: Joint) -> Iterator[_Piece]:
    """Give the pieces of a joint in its own frame."""
    if moves_as(joint, ScrewMotion):
        yield from _of_motion(joint.in_joint_frame, np.eye(4))
    elif moves_as(joint, MotionJoint):
        yield from _of_motion(joint.motion, np.asarray(joint.canonical_frame))
    elif moves_as(joint, CompositeJoint):
        for member in joint.members:
            yield from _of_joint(member)
    else:
        yield _given(joint, np.eye(4))


def _given(joint: Joint, K: FloatArray) -> _Piece:
    return _Piece("GIVEN", (joint.num_positions, joint.num_velocities), K, joint=joint)


def _of_motion(motion: Motion, K: FloatArray) -> Iterator[_Piece]:
    sizes = motion.num_positions, motion.num_velocities
    if isinstance(motion, ScrewProduct):
        numbers = motion.parameters()
        for parameters in numbers[-10 * len(motion.screws) :].reshape(-1, 10):
            yield _Piece("SCREW", (1, 1), K, parameters=parameters)
        return
    kind = "ABSOLUTE" if isinstance(motion, AbsoluteMotion) else "CONSTANT"
    if motion.constant_subspace or isinstance(motion, ScrewSum):
        kind = "SUM" if isinstance(motion, ScrewSum) else "CONSTANT"
    yield _Piece(kind, sizes, K, motion, motion.parameters())


def _fill(entry: Any, piece: _Piece, q: int, v: int) -> list[Any]:
    """Write a row of the table; return the objects that it points to."""
    from mbkit.kernels.compile import array_address

    entry["kind"] = getattr(layout, piece.kind)
    entry["first_position"], entry["first_velocity"] = q, v
    entry["num_velocities"] = piece.sizes[1]
    entry["R"], entry["p"] = piece.frame[:3, :3], piece.frame[:3, 3]
    owners: list[Any] = []
    if piece.parameters is not None:
        # one number more: an empty array has no address of its own
        owners.append(np.append(piece.parameters, 0.0))
        entry["parameters"] = array_address(owners[-1])
    if piece.motion is not None:
        owners.append(piece.motion.kernels().motion)
        entry["motion"] = owners[-1].address
    return owners

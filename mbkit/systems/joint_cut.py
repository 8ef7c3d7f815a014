"""A joint, one of its bodies, and the wrench of the joint on this body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NameUnknownError, ShapeError, UsageError, check_kind, suggestion
from mbkit.lie.arrays import as_floats
from mbkit.representations import Hybrid
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.wrenches import Wrenches
from mbkit.systems.frozen_model import JointPlace
from mbkit.systems.joint_wrenches import bodies_beyond, body_loads, constraint_loads

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["JointCut"]


@final
@attrs.frozen(eq=False)
class JointCut:
    """A joint, and the side of it on which its wrench is wanted.

    Attributes
    ----------
    system : System
        The system of the joint.
    name : str
        Name of the joint.
    place : JointPlace
        Its bodies and frames.
    on : str
        The body that the wrench acts on.
    """

    system: System
    name: str
    place: JointPlace
    on: str

    @classmethod
    def of(cls, system: System, name: str, on: str | None) -> Self:
        """Return the cut of a joint; on the successor if `on` is None."""
        joints = system.joint_places
        check_kind("reaction: joint", name, str, "the name of a joint")
        if on is not None:
            check_kind("reaction: on", on, str, "the name of a body")
        if name not in joints:
            raise NameUnknownError(
                f"System '{system.name}' has no joint '{name}'; {suggestion(name, joints)}"
            )
        place = joints[name]
        bodies = place.successor, place.predecessor
        # a part of a body stands for the whole
        wholes = {
            system.split_bodies[body].whole: body for body in bodies if body in system.split_bodies
        }
        on = wholes.get(on, on) if on is not None and on not in bodies else on
        if on is not None and on not in bodies:
            raise UsageError(
                f"Joint '{name}' is between '{bodies[1]}' and '{bodies[0]}': on must be one of "
                f"these, got {on!r}."
            )
        return cls(system, name, place, bodies[0] if on is None else on)

    @property
    def in_tree(self) -> bool:
        """Whether it is a tree joint, not a loop joint."""
        return self.name in self.system.joint_names

    @property
    def child(self) -> int:
        """The body that the joint of a tree carries."""
        return self.system.tree.joints.index(self.name)

    @property
    def sign(self) -> float:
        """1 where the wrench acts on the child, -1 on the parent."""
        return 1.0 if self.system.body_index(self.on) == self.child else -1.0

    def frame(self, C: Floats) -> Floats:
        """Return the joint's frame on the body, in the world, from the poses of all bodies."""
        frame = self.place.far if self.on == self.place.successor else self.place.near
        found: Floats = C[..., self.system.body_index(self.on), :, :] @ (
            frame @ self.place.canonical_frame
        )
        return found

    def axes(self, expressed_in: str, C: Floats) -> Floats:
        """Return the rotation (..., 3, 3) to the world from the axes that are named."""
        check_kind("reaction: expressed_in", expressed_in, str, "'joint' or the name of a body")
        if expressed_in == "joint":
            return self.frame(C)[..., :3, :3]
        return C[..., self.system.body_index(expressed_in), :3, :3]

    def point(self, at: str | ArrayLike, C: Floats) -> Floats:
        """Return the point (..., 3) in the world that is named, or given."""
        if isinstance(at, str):
            if at == "joint":
                return self.frame(C)[..., :3, 3]
            return C[..., self.system.body_index(at), :3, 3]
        point = as_floats(at, "reaction: at")
        try:
            if point.shape[-1:] == (3,):
                return np.broadcast_to(point, (*C.shape[:-3], 3))
        except ValueError:
            pass
        raise ShapeError(
            f"at must be 'joint', the name of a body, or a point in the world of shape "
            f"{(*C.shape[:-3], 3)}; got shape {point.shape}."
        )

    def of_bodies(
        self,
        motion: tuple[Floats, Floats, Floats],
        t: Floats,
        wrenches: Wrenches | None,
        about: Floats,
        on_error: str,
    ) -> Any:
        """Return the wrench that the bodies beyond the joint need for their motion, (..., 6).

        Zero for a loop joint, which carries no body.
        """
        if not self.in_tree:
            return 0.0
        loads = body_loads(self.system, *motion, t, wrenches, on_error)
        beyond = bodies_beyond(self.system, self.child)
        W = loads.total(beyond, about)
        # a part of a body whose inertia is from beyond, and which is not, or the other way round
        row = self.system.body_index
        for name, half in self.system.split_bodies.items():
            missing = int(beyond[row(half.origin)]) - int(beyond[row(half.whole)])
            if missing:
                W = W + missing * loads.total(np.arange(len(beyond)) == row(name), about)
        return self.sign * W

    def of_loans(self, motion: tuple[Floats, Floats, Floats], on_error: str) -> Any:
        """Return the wrench of inertia transfers by the joint, (..., 6), which it does not bear.

        It is the rate of the transferred angular momentum: see `InertiaTransfer`.
        """
        transfer = self.system.inertia_transfers.get(self.name)
        if transfer is None:
            return 0.0
        q, v, vdot = motion
        system, row = self.system, self.system.body_index(transfer.receiver)
        R = system.poses(q, on_error=on_error)[..., row, :3, :3]
        w = system.twists(q, v, representation=Hybrid(), on_error=on_error)[..., row, :3]
        rate = system.accelerations(q, v, vdot, representation=Hybrid(), on_error=on_error)
        moment = transfer.rate(R, w, rate[..., row, :3])
        whole = system.split_bodies[self.on].whole if self.on in system.split_bodies else self.on
        sign = -1.0 if whole == transfer.receiver else 1.0
        return np.concatenate([sign * moment, np.zeros(moment.shape)], axis=-1)

    def of_constraints(
        self, q: Floats, multipliers: Floats, t: Floats, about: Floats, on_error: str
    ) -> Any:
        """Return the contribution of multipliers to the wrench, (..., 6).

        A loop joint has the wrench of its own multipliers; a tree joint balances those on the
        bodies beyond it.
        """
        closure = self.system.arrays.closure
        if not closure:
            return 0.0
        loads = constraint_loads(self.system, q, multipliers, t, on_error)
        if self.in_tree:
            beyond = bodies_beyond(self.system, self.child)
            return -self.sign * loads.total(beyond[loads.bodies], about)
        chosen = np.zeros(len(loads.bodies), dtype=bool)
        if self.name in closure.names:  # one of six freedoms has no rows
            first = int(closure.constraints["first_site"][closure.names.index(self.name)])
            chosen[first + (self.on == self.place.successor)] = True
        return loads.total(chosen, about)

    def effort(self, W: Floats, q: Floats, C: Floats, about: Floats, on_error: str) -> Any:
        """Return the least wrench that does the same work along the joint's motion as W."""
        if not self.in_tree:
            return 0.0
        S = self.system.motion_subspaces(q, on_error=on_error)
        S = S[..., self.system.velocity_slice(self.name), :]
        body = C[..., self.child, :, :]
        w = np.einsum("...ij,...nj->...ni", body[..., :3, :3], S[..., :3])
        u = np.einsum("...ij,...nj->...ni", body[..., :3, :3], S[..., 3:])
        u = u + np.cross(w, (about - body[..., :3, 3])[..., None, :])
        weights = np.array([self.system.arrays.closure.length] * 3 + [1.0] * 3)
        S = np.concatenate([w, u], axis=-1) * weights
        efforts = np.einsum("...ni,...i->...n", S, W / weights)
        return weights * np.einsum("...in,...n->...i", np.linalg.pinv(S), efforts)

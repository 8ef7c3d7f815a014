"""Reactions: the wrenches that joints exert on their bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import (
    ConstraintError,
    NameUnknownError,
    ShapeError,
    UsageError,
    check_kind,
    check_switch,
    listed,
    suggestion,
)
from mbkit.lie.arrays import as_floats
from mbkit.representations import Hybrid
from mbkit.systems.blueprint import JointPlace
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import broadcast, by_sample, entries_of, velocity_sizes
from mbkit.systems.calls.wrenches import Wrenches
from mbkit.systems.forces import tell_of_missing_time
from mbkit.systems.joint_wrenches import bodies_beyond, body_loads, constraint_loads
from mbkit.systems.rank import null_space

if TYPE_CHECKING:
    from mbkit.systems.system import System

_FELT = 1e-6  # of multipliers of norm one, moments by length: a joint that has less feels nothing

_COMPONENTS = tuple(
    f"{what} {axis}" for what in ("moment about", "force along") for axis in ("x", "y", "z")
)


def reaction(
    system: System,
    joint: str,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    *,
    vdot: ArrayLike | None = None,
    multipliers: ArrayLike | None = None,
    t: ArrayLike = 0.0,
    on: str | None = None,
    at: str | ArrayLike = "joint",
    expressed_in: str = "world",
    with_effort: bool = True,
    minimum_norm: bool = False,
    on_error: str = "raise",
) -> Floats:
    """See `System.reaction`."""
    check_switch("reaction: with_effort", with_effort)
    check_switch("reaction: minimum_norm", minimum_norm)
    if vdot is None:
        tell_of_missing_time(system, q, t)
    cut = JointCut.of(system, joint, on)
    motion = _motion_of(
        system, q, v, tau, wrenches, vdot=vdot, multipliers=multipliers, t=t, on_error=on_error
    )
    at_q, at_v, at_vdot, forces, time, held = motion
    null = _self_stress(system, at_q, time, held, on_error)
    if minimum_norm:
        forces = forces - np.einsum("...km,...kn,...n->...m", null, null, forces)
    C = system.poses(at_q, on_error=on_error)
    origin, point, axes = cut.frame(C)[..., :3, 3], cut.point(at, C), cut.axes(expressed_in, C)
    W = cut.of_bodies((at_q, at_v, at_vdot), time, wrenches, origin, on_error)
    W = W + cut.of_constraints(at_q, forces, time, origin, on_error)
    W = W + cut.of_inertia_transfers((at_q, at_v, at_vdot), on_error)
    if not with_effort:
        W = W - cut.effort(W, at_q, C, origin, on_error)
    W = _seen(W, origin, point, axes)
    if null.shape[-2] and not minimum_norm:
        about = origin[..., None, :], point[..., None, :], axes[..., None, :, :]
        felt = cut.of_constraints(at_q[..., None, :], null, time[..., None], about[0], on_error)
        _check_felt(system, cut, _seen(felt, *about), expressed_in, W, on_error)
    return W


def _motion_of(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    wrenches: Wrenches | None,
    *,
    vdot: ArrayLike | None,
    multipliers: ArrayLike | None,
    t: ArrayLike,
    on_error: str,
) -> tuple[Any, ...]:
    """Return q, v, vdot, multipliers, t, and which velocities are held whatever it takes."""
    m = system.num_velocity_constraints
    free = np.zeros(system.nv, dtype=bool)
    if vdot is None:
        if multipliers is not None:
            raise UsageError("reaction: multipliers go with vdot; give both, or tau.")
        if system.motions:
            q, v, _ = system.prescribed_rows(t, q, v, on_error)
        vdot, multipliers, _ = system.solved(q, v, tau, wrenches, t=t, on_error=on_error)
        free[entries_of(system, system.prescribed_joints, "prescribed")] = True
    elif tau is not None:
        raise UsageError("reaction: give tau, from which the motion follows, or vdot.")
    elif multipliers is None and m:
        raise UsageError(
            f"reaction: system '{system.name}' has loops: give the multipliers that belong to "
            f"vdot, of solve_dynamics or closed_inverse_dynamics."
        )
    found = broadcast(
        system, t, q=q, v=v, vdot=vdot,
        multipliers=np.zeros(m) if multipliers is None else multipliers,
    )  # fmt: skip
    return (*found, free)


def _self_stress(system: System, q: Floats, t: Floats, held: Any, on_error: str) -> Floats:
    """Return the multipliers that move nothing, (..., n, m), orthonormal; zero rows fill up."""
    m = system.num_velocity_constraints
    if not m:
        return np.zeros((*q.shape[:-1], 0, 0))
    A = system.constraint_jacobian(q, t, on_error=on_error)
    A = np.nan_to_num(A / velocity_sizes(system, q)[..., None, :])[..., ~held]
    bases = {index: null_space(A[index].T).T for index in np.ndindex(q.shape[:-1])}
    most = max((len(basis) for basis in bases.values()), default=0)
    null = np.zeros((*q.shape[:-1], most, m))
    for index, basis in bases.items():
        null[(*index, slice(len(basis)))] = basis
    return null


def _check_felt(
    system: System, cut: JointCut, felt: Floats, expressed_in: str, W: Floats, on_error: str
) -> None:
    """Raise, or write NaN, if internal stress changes the reaction."""
    length = system.arrays.closure.length
    sizes = np.abs(felt * np.array([1.0 / length] * 3 + [1.0] * 3)).max(axis=-2)
    sizes = np.broadcast_to(sizes, W.shape)

    def compute(index: tuple[int, ...]) -> None:
        open_ = sizes[index] > _FELT
        if open_.any():
            W[index] = np.nan
            names = [name for name, each in zip(_COMPONENTS, open_, strict=True) if each]
            rest = [name for name, each in zip(_COMPONENTS, open_, strict=True) if not each]
            known = f"; {listed(rest, str)} are unique" if rest else ""
            raise ConstraintError(
                f"Joint '{cut.name}' of system '{system.name}': its reaction is not unique. "
                f"Constraints are redundant at this configuration, and bodies that do not bend "
                f"leave open {listed(names, str)} (axes of '{expressed_in}'){known}. Let "
                f"minimum_norm=True choose, or drop redundant constraints: System.diagnose."
            )

    by_sample(W.shape[:-1], on_error, compute)


def _seen(W: Floats, origin: Floats, point: Floats, axes: Floats) -> Floats:
    """Return wrenches about another point, in other axes."""
    f = W[..., 3:]
    parts = W[..., :3] + np.cross(origin - point, f), f
    return np.concatenate([np.einsum("...ji,...j->...i", axes, part) for part in parts], axis=-1)


@final
@attrs.frozen(eq=False)
class JointCut:
    """A joint, and the side of it on which its wrench is wanted."""

    system: System  # the system of the joint
    name: str  # name of the joint
    place: JointPlace  # its bodies and frames
    on: str  # the body that the wrench acts on

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
        # a split body stands for the whole
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
        loads = body_loads(self.system, *motion, t, wrenches, on_error=on_error)
        beyond = bodies_beyond(self.system, self.child)
        W = loads.total(beyond, about)
        # a split body whose inertia is from one side of the joint, its whole on the other
        row = self.system.body_index
        for name, part in self.system.split_bodies.items():
            missing = int(beyond[row(part.origin)]) - int(beyond[row(part.whole)])
            if missing:
                W = W + missing * loads.total(np.arange(len(beyond)) == row(name), about)
        return self.sign * W

    def of_inertia_transfers(self, motion: tuple[Floats, Floats, Floats], on_error: str) -> Any:
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

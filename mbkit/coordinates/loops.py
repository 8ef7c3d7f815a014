"""The arrays of constraints, from loop joints and further constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.coordinates.centres_of_mass import centre_between
from mbkit.coordinates.constraint_rows import KnownNames, Made, set_constraint
from mbkit.coordinates.rows import Slices, frozen, set_joint
from mbkit.joints.bases.axes import frame_along
from mbkit.kernels import layout
from mbkit.kernels.constraints import layout as own
from mbkit.lie.arrays import pose
from mbkit.model.parameters import changed, owner_of
from mbkit.parts.placed_joints import placed_beside
from mbkit.sparsity.patterns import with_pattern
from mbkit.spatial import translation
from mbkit.systems.memory.arrays import SystemArrays
from mbkit.systems.memory.closure import ClosureArrays

if TYPE_CHECKING:
    from mbkit.joints import Joint
    from mbkit.parts.connection import Connection
    from mbkit.parts.parts import Parts
    from mbkit.solvers import ConstraintSolver

_SAME_PLACE = 1e-9  # [m]


def loop_closure(
    parts: Parts,
    loop_joints: tuple[str, ...],
    arrays: SystemArrays,
    length: Callable[[], float],
    slices: Slices,
    *,
    solver: ConstraintSolver | None,
    lower: frozenset[str] | None = None,
    before: ClosureArrays | None = None,
) -> ClosureArrays:
    """Return the constraint arrays: loop joints, then the constraints of the mechanism.

    6 - nv rows for each joint, in the order of the joints, without those of six velocities; then
    the constraints, in their order. ``length()`` scales moments against forces. [m] The
    slices are those of the tree's joints; `solver` is the user's choice, `lower` see `lower_axes`.
    Derivatives of constraints in Python are taken from `before`, where these are the same.
    """
    from mbkit.kernels.compile import array_address

    names = _measured(parts, loop_joints)
    others = tuple(parts.constraints.values())
    nv = slices.totals[1]
    if not names and not others:
        return ClosureArrays(num_velocities=nv, chosen_solver=solver)
    size = length()
    constraints = np.zeros(len(names) + len(others), own.CONSTRAINT)
    joint_rows = np.zeros(len(names) + 1, layout.BODY)
    joint_rows["R"] = np.eye(3)
    nothing = np.zeros(1, dtype=np.int64)
    constraints["velocities"] = constraints["joints"] = array_address(nothing)
    owners: list[Any] = [nothing]
    sites = _Sites(parts, arrays, 2 * len(names) + sum(len(each.bodies) for each in others))
    joints: list[Joint | None] = [None]
    for k, name in enumerate(names):
        joint, points_to = _set_loop_joint(
            constraints[k],
            joint_rows,
            k,
            sites,
            parts.joints[name],
            _loop_frames(parts, name, lower),
        )
        joints.append(joint if joint.num_velocities else None)
        owners += points_to
    made: list[Made] = []
    known = KnownNames.of(parts, () if before is None else before.derivatives)
    for constraint, row in zip(others, constraints[len(names) :], strict=True):
        made.append(set_constraint(row, constraint, known, slices))
        made[-1].set_scales(row, size)
        row["first_site"], row["num_sites"] = len(sites.bodies), len(constraint.bodies)
        for body in constraint.bodies:
            sites.place(body, np.eye(4))
    row_of_joint = {name: row for row, name in enumerate(arrays.joint_names)}
    carriers = [[row_of_joint[name] for name in each.joints] for each in others]
    closure = ClosureArrays(
        names=(*names, *(each.name for each in others)),
        num_joints=len(names),
        sites=frozen(sites.rows), joint_rows=frozen(joint_rows),
        joints=tuple(joints),
        objects=others, derivatives=tuple(each.derivatives for each in made),
        parameters={o.name: each.parameters for o, each in zip(others, made, strict=True)},
        site_bodies=tuple(sites.bodies), length=size, owners=(*owners, *made),
        num_velocities=nv, chosen_solver=solver,
    )  # fmt: skip
    return with_pattern(closure, constraints, [[] for _ in names] + carriers, arrays.bodies)


def _central_form(parts: Parts, edge: Connection) -> tuple[Joint, Any]:
    """Return a joint as it is computed, and its frame, beside the bodies that it joins.

    The joint's frame may be the world's: moments about a point far away would drown in rounding,
    and multipliers of least norm depend on where the world has its origin.
    """
    return placed_beside(edge.joint, centre_between(parts, edge))


def _measured(parts: Parts, loop_joints: Iterable[str]) -> tuple[str, ...]:
    """Return those of the joints that close loops which have rows."""
    return tuple(name for name in loop_joints if parts.joints[name].joint.num_velocities < 6)


def lower_axes(parts: Parts, loop_joints: Iterable[str]) -> frozenset[str]:
    """Return those joints that close loops along an axis in the lower half space.

    At its border `frame_along` jumps about the axis, and with it the signs of rows. Systems with
    another axis in place of one of this system continue its frames, so that derivatives exist.
    """
    names = _measured(parts, loop_joints)
    return frozenset(n for n in names if _central_form(parts, parts.joints[n])[1][2, 2] < 0.0)


def _loop_frames(parts: Parts, name: str, lower: frozenset[str] | None) -> tuple[Joint, Any, Any]:
    """Return a joint as it is computed, and the frames in which its rows are measured.

    They are on its predecessor and its successor, (4, 4) in the frame of the body; about the axis
    as if it were in the half space of `lower_axes`, if these are given.
    """
    edge = parts.joints[name]
    joint, K = _central_form(parts, edge)
    if lower is not None and (K[2, 2] < 0.0) != (name in lower):
        e = K[:3, 2]
        if np.allclose(K[:3, :3], frame_along(e), rtol=0.0, atol=1e-12):  # no frame of its own
            K[:3, :3] = frame_along(e, name in lower)
    T = joint.pose(np.zeros(0)) @ K if joint.num_velocities == 0 else K
    return joint, edge.S_pred @ T, edge.S_succ @ K


def measured_frames(
    parts: Parts, loop_joints: Iterable[str], lower: frozenset[str] | None
) -> tuple[Any, Any]:
    """Return the frames of all loop joints, (joints, 2, 4, 4), and the numbers of the joints, (k,).

    The latter are the numbers of joints themselves that kernels read. `lower` see `lower_axes`.
    """
    frames, numbers = [], [np.zeros(0)]
    for name in _measured(parts, loop_joints):
        joint, *both = _loop_frames(parts, name, lower)
        frames.append(both)
        form = joint.screw_form()
        own = joint.parameters() if form is None else form
        numbers.append(np.asarray(own, dtype=np.float64).reshape(-1))
    return np.array(frames).reshape(-1, 2, 4, 4), np.concatenate(numbers)


class _Sites:
    """Sites, which are filled one after another, and the numbers of their bodies."""

    def __init__(self, parts: Parts, arrays: SystemArrays, count: int) -> None:
        # one at least: an empty array has no address of its own
        self.rows = np.zeros(max(1, count), own.CONSTRAINT_SITE)
        self._frames = arrays.frames
        self._number = {name: k for k, name in enumerate(("world", *parts.bodies))}
        self.bodies: list[int] = []

    def place(self, body: str, S: Any) -> None:
        """Put the next site on a row: the body's frame in it, and the pose S in the body's."""
        site: Any = self.rows[len(self.bodies)]
        self.bodies.append(self._number[body])
        frame = self._frames[self.bodies[-1]]
        C = pose(frame["R"], frame["p"]) @ S
        site["row"], site["place_R"], site["place_p"] = frame["row"], C[:3, :3], C[:3, 3]


def _set_loop_joint(
    constraint: Any,
    joint_rows: Any,
    k: int,
    sites: _Sites,
    edge: Connection,
    frames: tuple[Joint, Any, Any],
) -> tuple[Joint, list[Any]]:
    """Write loop joint k; return it as it is computed, and the objects its row points to."""
    joint, near, far = frames
    constraint["kind"], constraint["joint"] = own.LOOP_JOINT, k + 1
    constraint["num_rows"] = constraint["num_position_rows"] = 6 - joint.num_velocities
    constraint["first_site"], constraint["num_sites"] = 2 * k, 2
    sites.place(edge.predecessor, near)
    sites.place(edge.successor, far)
    return joint, set_joint(joint_rows[k + 1], joint, loop=True)


def characteristic_length(parts: Parts) -> float:
    """Return the size of a mechanism: the extent of its joints at the reference configuration.

    One metre where all are in one place.
    """
    return _extent([end for edge in parts.joints.values() for end in _ends(parts, edge)])


def length_by(parts: Parts, path: str) -> Callable[[ArrayLike], float] | None:
    """Return the characteristic length as a function of a parameter of one joint or body.

    None where it does not depend on it, since other joints lie farther out on all sides.
    """
    _, name, _ = owner_of(parts, path)
    near = {
        edge.joint.name: edge
        for edge in parts.joints.values()
        if name in (edge.joint.name, edge.predecessor, edge.successor)
    }
    others = [edge for edge in parts.joints.values() if edge.joint.name not in near]
    still = [end for edge in others for end in _ends(parts, edge)]
    own = [end for edge in near.values() for end in _ends(parts, edge)]
    if not own:
        return None
    least, most = (f(still or own, axis=0) for f in (np.min, np.max))
    is_within = (np.min(own, axis=0) > least) & (np.max(own, axis=0) < most)
    is_flat = np.ptp([*still, *own], axis=0) == 0.0  # of planar mechanisms: the square has no slope
    if (is_within | is_flat).all():
        return None

    def length(value: ArrayLike) -> float:
        other = changed(parts, {path: value})
        return _extent([*still, *(end for k in near for end in _ends(other, other.joints[k]))])

    return length


def _extent(points: Sequence[Any]) -> float:
    size = float(np.linalg.norm(np.ptp(points, axis=0))) if points else 0.0
    return size if size > _SAME_PLACE else 1.0


def _ends(parts: Parts, edge: Connection) -> list[Any]:
    """Return where a joint is on each of its two bodies, at the reference configuration."""
    # a joint of six freedoms is where its bodies are
    _, K = _central_form(parts, edge)
    if edge.joint.num_velocities == 6:
        K = translation(centre_between(parts, edge))
    ends = []
    for body, frame in ((edge.predecessor, edge.S_pred), (edge.successor, edge.S_succ)):
        pose = parts.bodies[body].pose if body in parts.bodies else np.eye(4)
        ends.append((pose @ frame @ K)[:3, 3])
    return ends

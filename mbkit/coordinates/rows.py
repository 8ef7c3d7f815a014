"""Rows of the kernels, from bodies and joints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import attrs
import numpy as np

from mbkit.coordinates.body_frames import frames_in_joints, poses_of_tree, set_own_frame
from mbkit.coordinates.centres_of_mass import centres_of_bodies, seen_from, warn_of_distance
from mbkit.joints import Joint
from mbkit.kernels import layout
from mbkit.lie.arrays import pose
from mbkit.parts.placed_joints import placed_beside
from mbkit.representations import Representation, Spatial
from mbkit.sparsity.packing import packed
from mbkit.spatial import SpatialInertia, inverse
from mbkit.spatial.inertia import inertia_seen_from
from mbkit.spatial.inertial_parameters import UPPER
from mbkit.systems.memory.arrays import SystemArrays, fill_table

if TYPE_CHECKING:
    from mbkit.joints import Joint
    from mbkit.parts.connection import Connection
    from mbkit.parts.parts import Parts
    from mbkit.topology import Topology


class Slices(NamedTuple):
    """Entries of each joint, by name, in positions, velocities and steps of a configuration."""

    positions: dict[str, slice]
    velocities: dict[str, slice]
    steps: dict[str, slice]

    @classmethod
    def of(cls, joints: Mapping[str, Joint]) -> Self:
        """Return those of joints one after another."""
        return cls(
            _in_order({name: joint.num_positions for name, joint in joints.items()}),
            _in_order({name: joint.num_velocities for name, joint in joints.items()}),
            _in_order({name: joint.ndx for name, joint in joints.items()}),
        )

    @property
    def totals(self) -> tuple[int, int, int]:
        """Numbers of positions, of velocities, and the tangent dimension."""
        nq, nv, ndx = (max((each.stop for each in own.values()), default=0) for own in self)
        return nq, nv, ndx


def _in_order(counts: dict[str, int]) -> dict[str, slice]:
    slices = {}
    start = 0
    for name, count in counts.items():
        slices[name] = slice(start, start + count)
        start += count
    return slices


#: Principal moments below this part of the largest, or of mass times squared distance of the centre
#: of mass, are rounding.
_NEGLIGIBLE = 1e-13


def set_floating(
    bodies: Any,
    joints: tuple[Joint | None, ...],
    inertias: list[SpatialInertia],
    representation: Representation,
    named: Collection[str],
) -> list[Any]:
    """Write the inverse inertia of floating bodies; return the arrays that the rows point to.

    A body floats if it is on a joint from the world whose velocity is the body's twist in the
    representation of the recursions, carries no body, and no constraint names that joint.
    """
    from mbkit.kernels.compile import array_address

    found: dict[int, list[float]] = {}
    carriers = {*bodies["parent"].tolist()}
    for i, (row, joint, inertia) in enumerate(zip(bodies, joints, inertias, strict=True)):
        if joint is None or row["parent"] != 0 or i in carriers or joint.name in named:
            continue
        if joint.velocity_twist != representation.name or row["kind"] != layout.TABLE:
            continue
        if row["reversed"] or not _turns_nothing(row, representation):
            continue
        numbers = _roots(inertia)
        if numbers is not None:
            found[i] = numbers
    arrays = packed(found.values(), np.float64)
    for i, array in zip(found, arrays, strict=True):
        bodies[i]["floating"] = array_address(array)
    return arrays


def _turns_nothing(row: Any, representation: Representation) -> bool:
    """Return whether twists are the same as seen from where the joint sits in the world."""
    C = pose(row["R"], row["p"])
    return bool((representation.twist_map(C) == np.eye(6)).all())  # T(C X) = T(C) T(X)


def _roots(inertia: SpatialInertia) -> list[float] | None:
    """Return the axes over roots of moments, the centre of mass, one over the root of the mass."""
    if not inertia.mass > 0.0:
        return None
    com = np.asarray(inertia.com)
    moments, axes = np.linalg.eigh(inertia.moment_about_com)
    size = max(moments[-1], inertia.mass * float(com @ com))
    if not moments[0] > _NEGLIGIBLE * size:
        return None
    rows = axes.T / np.sqrt(moments)[:, None]
    return [*rows.reshape(-1).tolist(), *com.tolist(), 1.0 / np.sqrt(inertia.mass)]


def assemble_rows(
    parts: Parts,
    topology: Topology,
    slices: Slices,
    body_frames: str = "joint",
    representation: Representation | None = None,
) -> SystemArrays:
    """Return the rows of a tree in regular numbering, with the arrays that they point to.

    The frame of a row is first its joint's canonical frame on the child's side, beside the child's
    centre of mass where the motion leaves a choice (see `placed_beside`); bodies behind a
    joint without velocities share the row of their parent. With C = S_pred T(q) S_succ^-1 and the
    joint's form in its canonical frame, T = K T' K^-1, a row's joint is placed at S_pred K in the
    predecessor, and its body sits at (S_succ K)^-1. Where the tree goes from successor to
    predecessor the two change places and T' is inverted. Then every row moves to the frame that was
    chosen for it, by `mbkit.RelativeCoordinates.body_frames`. Without the representation of the
    recursions no body is treated as floating.
    """
    tree = _Tree(sum(parts.joints[name].joint.num_velocities > 0 for name in topology.tree_joints))
    centres = centres_of_bodies(parts, topology)
    for child, parent, name, is_reversed in topology.tree_edges:
        row = tree.hang(child, parent, parts.joints[name], centres[child], is_reversed)
        if row is not None:
            row["first_position"], row["first_velocity"], row["first_step"] = (
                entries[name].start for entries in slices
            )
        tree.add_inertia(child, parts.bodies[child].inertia)
    if body_frames != "joint":
        tree.move(frames_in_joints(body_frames, parts, topology, tree.poses, tree.inertias))
    for row, inertia in zip(tree.bodies, tree.inertias, strict=True):
        _set_inertia(row, inertia)
    if representation is not None:
        origins = _origins(representation, parts, topology, tree.poses, tree.inertias)
        warn_of_distance(tree.joints, tree.inertias, origins)
        named = {name for each in parts.constraints.values() for name in each.joints}
        joints = tuple(tree.joints)
        tree.owners += set_floating(tree.bodies, joints, tree.inertias, representation, named)
    _set_totals(tree.bodies[0], parts, slices)
    return SystemArrays(
        velocity_of_column=frozen(_set_columns(tree.bodies)),
        bodies=frozen(tree.bodies),
        frames=frozen(_frames(parts, tree.poses)),
        joints=tuple(tree.joints),
        owners=tuple(tree.owners),
    )


def with_other_inertias(
    rows: SystemArrays,
    parts: Parts,
    topology: Topology,
    names: Collection[str],
    representation: Representation,
) -> SystemArrays | None:
    """Return rows as `assemble_rows` would, after a change of gravity and of some bodies.

    Of these, masses and moments, while centres of mass stay: then all frames do, where every body
    has mass. None where more may depend on it: bodies that may float, and twists that are not
    measured at their bodies, as spatial ones, or that mbkit does not know.
    """
    bodies, frames = rows.bodies.copy(), rows.frames.copy()
    bodies[0]["gravity"] = parts.gravity
    if not names:
        return attrs.evolve(rows, bodies=frozen(bodies))
    number = {name: k for k, name in enumerate(parts.bodies, start=1)}
    where = {int(frames[number[name]]["row"]) for name in names}
    free = (bodies["parent"] == 0) & (bodies["kind"] == layout.TABLE)
    have_mass = (frames["mass"][1:] > 0.0).all() and all(
        body.inertia.mass > 0.0 for body in parts.bodies.values()
    )
    at_body = representation.kernel_number is not None and not isinstance(representation, Spatial)
    if not have_mass or not at_body or free[list(where)].any():
        return None
    inertias = dict.fromkeys(where, SpatialInertia.zero())
    for body, *_ in topology.tree_edges:
        frame = frames[number[body]]
        row = int(frame["row"])
        if row in where:
            inertia = parts.bodies[body].inertia
            inertias[row] += inertia_seen_from(inertia, frame["R"], frame["p"])
    for row, inertia in inertias.items():
        _set_inertia(bodies[row], inertia)
    warn_of_distance([rows.joints[k] for k in inertias], [*inertias.values()], None)
    for name in names:
        inertia = parts.bodies[name].inertia
        frame = frames[number[name]]
        frame["mass"], frame["first_moment"] = inertia.mass, inertia.first_moment
    return attrs.evolve(rows, bodies=frozen(bodies), frames=frozen(frames))


def has_tips(rows: SystemArrays, parts: Parts, bodies: Collection[str]) -> bool:
    """Return whether one of some bodies is on a row that carries no other."""
    inner = {*rows.bodies["parent"].tolist()}
    own = (rows.frames[k]["row"] for k, name in enumerate(parts.bodies, start=1) if name in bodies)
    return any(int(row) not in inner for row in own)


class _Tree:
    """Rows as they are filled: joints, inertias, bodies by row and pose in it, objects held."""

    def __init__(self, count: int) -> None:
        self.bodies: Any = np.zeros(count + 1, layout.BODY)
        self.poses: dict[str, tuple[int, Any]] = {"world": (0, np.eye(4))}
        self.inertias = [SpatialInertia.zero()] * len(self.bodies)
        self.joints: list[Joint | None] = [None]
        self.owners: list[Any] = []

    def hang(
        self, child: str, parent: str, edge: Connection, centre: Any, is_reversed: bool
    ) -> Any | None:
        """Hang a body on its parent by a joint; return its row if it has one of its own."""
        joint = edge.joint
        carrier, pose_in_row = self.poses[parent]
        near, far = (edge.S_succ, edge.S_pred) if is_reversed else (edge.S_pred, edge.S_succ)
        if joint.num_velocities == 0:
            T = inverse(joint.pose(np.zeros(0))) if is_reversed else joint.pose(np.zeros(0))
            self.poses[child] = carrier, pose_in_row @ near @ T @ inverse(far)
            return None
        joint, K = placed_beside(joint, seen_from(far, centre))
        row = self.bodies[len(self.joints)]
        _place(row, pose_in_row @ near @ K)
        row["parent"], row["reversed"] = carrier, is_reversed
        self.owners += set_joint(row, joint, -1.0 if is_reversed else 1.0)
        self.poses[child] = len(self.joints), inverse(far @ K)
        self.joints.append(joint)
        return row

    def add_inertia(self, body: str, inertia: SpatialInertia) -> None:
        """Add the inertia of a body to that of its row."""
        row, pose = self.poses[body]
        seen = inertia_seen_from(inertia, pose[:3, :3], pose[:3, 3])
        self.inertias[row] = self.inertias[row] + seen

    def move(self, frames: list[Any]) -> None:
        """Give each row a frame, by its pose in the row's canonical frame."""
        for row, B in zip(self.bodies[1:], frames[1:], strict=True):
            _place(row, inverse(frames[row["parent"]]) @ pose(row["R"], row["p"]))
            self.owners += set_own_frame(row, B)
        pairs = zip(self.inertias, frames, strict=True)
        self.inertias = [inertia.transformed(inverse(B)) for inertia, B in pairs]
        self.poses = {name: (i, inverse(frames[i]) @ C) for name, (i, C) in self.poses.items()}


def _origins(
    representation: Representation,
    parts: Parts,
    topology: Topology,
    poses_in_rows: dict[str, tuple[int, Any]],
    inertias: list[SpatialInertia],
) -> Any:
    """Return the centre of mass of each row in the world, (rows, 3), where twists are spatial.

    All joints are neutral there; None for other twists.
    """
    if representation.name != "spatial":
        return None
    poses = poses_of_tree(parts, topology)
    centres = np.zeros((len(inertias), 3))
    for name in topology.bodies[1:]:
        row, pose_in_row = poses_in_rows[name]
        place = poses[name] @ inverse(pose_in_row)
        centres[row] = place[:3, :3] @ inertias[row].com + place[:3, 3]
    return centres


def _place(row: Any, C: Any) -> None:
    row["R"] = C[:3, :3]
    row["p"] = C[:3, 3]


def set_joint(row: Any, joint: Joint, sign: float = 1.0, *, loop: bool = False) -> list[Any]:
    """Write sizes and motion of a joint into a row of BODY; return the objects it points to."""
    nv = joint.num_velocities
    row["num_positions"], row["num_velocities"], row["ndx"] = joint.num_positions, nv, joint.ndx
    form = joint.screw_form()
    row["constant"] = nv == 0 or form is not None or joint.constant_subspace
    if form is None:
        row["kind"] = layout.TABLE
        return fill_table(row, joint, loop=loop) if nv else []
    row["kind"] = layout.SCREW
    # exp(X q)^-1 = exp(-X q): a screw turned round is the opposite screw
    row["rate"], row["lead"] = sign * form[0], sign * form[1]
    return []


def _set_inertia(row: Any, inertia: SpatialInertia) -> None:
    moment = inertia.moment_about_origin
    row["mass"] = inertia.mass
    row["first_moment"] = inertia.first_moment
    row["moment"] = moment[UPPER]


def _set_totals(world: Any, parts: Parts, slices: Slices) -> None:
    world["gravity"] = parts.gravity
    world["num_positions"], world["num_velocities"], world["ndx"] = slices.totals


def _set_columns(bodies: Any) -> Any:
    """Count the columns of each row and of its subtree; return the velocity of each column."""
    ends = np.cumsum(bodies["num_velocities"] * (np.arange(len(bodies)) > 0))
    bodies["first_column"] = np.concatenate([[0], ends[:-1]])
    bodies["end_column"] = ends
    for row in bodies[:0:-1]:  # from the tips inwards
        parent = bodies[row["parent"]]
        parent["end_column"] = max(parent["end_column"], row["end_column"])
    velocities = [row["first_velocity"] + np.arange(row["num_velocities"]) for row in bodies[1:]]
    return np.concatenate([np.zeros(0, dtype=np.int64), *velocities])


def _frames(parts: Parts, poses_in_rows: dict[str, tuple[int, Any]]) -> Any:
    frames = np.zeros(len(parts.bodies) + 1, layout.FRAME)
    for frame, name in zip(frames, ("world", *parts.bodies), strict=True):
        frame["row"], pose = poses_in_rows[name]
        _place(frame, pose)
        if name in parts.bodies:
            inertia = parts.bodies[name].inertia
            frame["mass"], frame["first_moment"] = inertia.mass, inertia.first_moment
    return frames


def frozen(array: Any) -> Any:
    """Return an array as it is, read-only from now on."""
    array.flags.writeable = False
    return array

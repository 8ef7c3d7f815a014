"""From the joints that close loops to the arrays of constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.coordinates.blocks import blocks_and_pairs
from mbkit.systems.arrays import SystemArrays, fill_table
from mbkit.systems.closure import ClosureArrays

if TYPE_CHECKING:
    from mbkit.joints import Joint
    from mbkit.model.parts import Parts

__all__ = ["characteristic_length", "loop_closure"]

_SAME_PLACE = 1e-9  # [m]


def loop_closure(
    parts: Parts, loop_joints: tuple[str, ...], arrays: SystemArrays, length: float
) -> ClosureArrays:
    """Return the constraints of the joints that are not in the tree.

    Parameters
    ----------
    parts : Parts
        Bodies and joints.
    loop_joints : tuple of str
        Joints that close loops.
    arrays : SystemArrays
        The tree.
    length : float
        By which moments are compared with forces. [m]

    Returns
    -------
    ClosureArrays
        6 - nv rows a joint, in the order of the joints. Those of six velocities have none, and are
        left out.
    """
    from mbkit.kernels import layout
    from mbkit.kernels.compile import array_address
    from mbkit.kernels.constraints import layout as own

    names = tuple(name for name in loop_joints if parts.joints[name].joint.num_velocities < 6)
    if not names:
        return ClosureArrays()
    constraints = np.zeros(len(names), own.CONSTRAINT)
    sites = np.zeros(2 * len(names), own.CONSTRAINT_SITE)
    joint_rows = np.zeros(len(names) + 1, layout.BODY)
    joints: list[Joint | None] = [None]
    site_bodies: list[int] = []
    owners: list[Any] = []
    number = {name: k for k, name in enumerate(("world", *parts.bodies))}
    for k, name in enumerate(names):
        edge = parts.joints[name]
        joint = edge.joint
        constraint, row = constraints[k], joint_rows[k + 1]
        owners += _set_joint(row, joint)
        joints.append(joint if joint.num_velocities else None)
        K = joint.canonical_frame
        near = edge.S_pred @ (joint.pose(np.zeros(0)) if joint.num_velocities == 0 else K)
        far = edge.S_succ @ K
        _place_site(sites[2 * k], arrays.frames[number[edge.predecessor]], near)
        _place_site(sites[2 * k + 1], arrays.frames[number[edge.successor]], far)
        site_bodies += [number[edge.predecessor], number[edge.successor]]
        constraint["kind"], constraint["joint"] = own.LOOP_JOINT, k + 1
        constraint["num_rows"] = constraint["num_position_rows"] = 6 - joint.num_velocities
        constraint["first_site"], constraint["num_sites"] = 2 * k, 2
    nothing = np.zeros(1, dtype=np.int64)
    constraints["velocities"] = constraints["positions"] = array_address(nothing)
    supports = _set_supports(constraints, sites, arrays.bodies, array_address)
    _count(constraints, "num_rows", "first_row")
    _count(constraints, "num_position_rows", "first_position_row")
    num_wrenches = _count(
        constraints, constraints["num_rows"] * constraints["num_sites"] * 6, "first_wrench"
    )
    num_response = _count(
        constraints, constraints["num_rows"] * constraints["num_columns"], "first_response"
    )
    pairs, blocks, num_gram, pointed = blocks_and_pairs(constraints, supports, arrays.bodies)
    most = int(blocks["num_rows"].max())
    return ClosureArrays(
        names=names,
        constraints=_frozen(constraints), sites=_frozen(sites), joint_rows=_frozen(joint_rows),
        pairs=_frozen(pairs), blocks=_frozen(blocks), joints=tuple(joints),
        site_bodies=tuple(site_bodies), length=length,
        num_rows=int(constraints["num_rows"].sum()),
        num_position_rows=int(constraints["num_position_rows"].sum()),
        num_wrenches=num_wrenches, num_coefficients=0, num_response=num_response,
        num_gram=num_gram, num_buffer=max(own.BUFFER_SIZE, most),
        owners=(*owners, nothing, *supports, *pointed),
    )  # fmt: skip


def _set_joint(row: Any, joint: Joint) -> list[Any]:
    from mbkit.kernels import layout

    row["num_positions"], row["num_velocities"] = joint.num_positions, joint.num_velocities
    row["num_steps"] = joint.num_steps
    row["R"] = np.eye(3)
    form = joint.screw_form()
    if form is None:
        row["kind"] = layout.TABLE
        return fill_table(row, joint, loop=True) if joint.num_velocities else []
    row["kind"] = layout.SCREW
    row["rate"], row["lead"] = form
    return []


def _place_site(site: Any, frame: Any, pose: Any) -> None:
    """Put a site on a row: the body's frame in it, and the joint's in the body's."""
    C = np.eye(4)
    C[:3, :3], C[:3, 3] = frame["R"], frame["p"]
    C = C @ pose
    site["row"], site["place_R"], site["place_p"] = frame["row"], C[:3, :3], C[:3, 3]


def _set_supports(constraints: Any, sites: Any, bodies: Any, address: Any) -> list[Any]:
    """Write which rows of the tree carry the sites of each constraint, from the tips inwards."""
    supports = []
    for constraint in constraints:
        first, count = int(constraint["first_site"]), int(constraint["num_sites"])
        rows: set[int] = set()
        for row in sites["row"][first : first + count].tolist():
            while row != 0 and row not in rows:
                rows.add(row)
                row = int(bodies["parent"][row])
        support = np.array([*sorted(rows, reverse=True), 0], dtype=np.int64)
        constraint["support"], constraint["num_support"] = address(support), len(rows)
        constraint["num_columns"] = bodies["num_velocities"][support[:-1]].sum()
        supports.append(support)
    return supports


def _count(constraints: Any, counts: Any, first: str) -> int:
    """Write where each constraint's numbers begin; return how many there are."""
    sizes = constraints[counts] if isinstance(counts, str) else counts
    ends = np.cumsum(sizes)
    constraints[first] = ends - sizes
    return int(ends[-1])


def characteristic_length(parts: Parts) -> float:
    """Return the size of a mechanism: how far apart its joints are at the reference configuration.

    One metre where all are in one place.
    """
    points = []
    for edge in parts.joints.values():
        for body, frame in ((edge.predecessor, edge.S_pred), (edge.successor, edge.S_succ)):
            pose = parts.bodies[body].pose if body in parts.bodies else np.eye(4)
            points.append((pose @ frame @ edge.joint.canonical_frame)[:3, 3])
    size = float(np.linalg.norm(np.ptp(points, axis=0))) if points else 0.0
    return size if size > _SAME_PLACE else 1.0


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array

"""Names, limits, reference and prescribed motions of the entries of q and v."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.parts.connection import Connection
from mbkit.systems.blueprint import JointPlace
from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.joints.prescribed.prescribed_joint import JointMotion


def limits(edges: list[Any]) -> dict[str, Floats]:
    """Return the limits of joints, one row an entry of q or v."""
    rows = {
        "position_limits": [np.zeros((0, 2)), *(e.limits.of_positions(e.joint) for e in edges)],
        "velocity_limits": [np.zeros(0), *(e.limits.of_velocities(e.joint) for e in edges)],
        "effort_limits": [np.zeros(0), *(e.limits.of_efforts(e.joint) for e in edges)],
    }
    arrays = {key: np.concatenate(each) for key, each in rows.items()}
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


def entry_names(slices: dict[str, slice]) -> tuple[str, ...]:
    """Return a name for each entry: that of its joint, with an index where this has several."""
    names: list[str] = []
    for name, entries in slices.items():
        count = entries.stop - entries.start
        names += [name] if count == 1 else [f"{name}[{k}]" for k in range(count)]
    return tuple(names)


def reference_positions(joints: Mapping[str, Connection], given: Mapping[str, Floats]) -> Floats:
    """Return the reference positions of the joints: their own unless others are given."""
    rows = (given.get(n, edge.reference) for n, edge in joints.items())
    reference = np.concatenate([np.zeros(0), *rows])
    reference.flags.writeable = False
    return reference


def joint_places(joints: Mapping[str, Connection]) -> Mapping[str, JointPlace]:
    """Return the places of joints by name."""
    return MappingProxyType(
        {
            name: JointPlace(
                predecessor=edge.predecessor,
                successor=edge.successor,
                near=edge.S_pred,
                far=edge.S_succ,
                canonical_frame=edge.joint.canonical_frame,
                is_weld=edge.joint.num_velocities == 0,
            )
            for name, edge in joints.items()
        }
    )


def joint_motions(joints: Mapping[str, Connection]) -> Mapping[str, JointMotion]:
    """Return the prescribed motions of joints, by name."""
    motions = {name: edge.motion for name, edge in joints.items()}
    return MappingProxyType({name: motion for name, motion in motions.items() if motion})

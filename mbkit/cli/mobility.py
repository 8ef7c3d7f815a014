"""Freedoms of a mechanism that planar loops leave and gears take, by its description alone."""

from __future__ import annotations

import numpy as np

from mbkit.joints import FixedJoint, Joint
from mbkit.joints.bases.screw_motion import ScrewMotion
from mbkit.joints.defaults.overriding import moves_as
from mbkit.parts.parts import Parts
from mbkit.spatial.arrays import FloatArray
from mbkit.topology import Topology

#: By how much directions may miss, in radians.
_PARALLEL = 1e-9


def planar_loops(parts: Parts, topology: Topology) -> tuple[str, ...]:
    """Return the loop joints whose loops are planar at the reference configuration.

    There all hinges of a loop are parallel, and all sliding joints across them: such joints move in
    three dimensions, and the loop takes three freedoms, not six. Loops with other joints are not
    looked at.
    """
    axes = _axes(parts, topology)
    return tuple(
        name
        for name, cycle in zip(topology.loop_joints, topology.cycles, strict=True)
        if _is_planar([parts.joints[each].joint for each in cycle], [axes[each] for each in cycle])
    )


def _axes(parts: Parts, topology: Topology) -> dict[str, FloatArray]:
    """Return the orientation (3, 3) in the world of the frame of each joint."""
    C = {topology.bodies[0]: np.eye(3)}
    for body in range(1, len(topology.bodies)):
        edge = parts.joints[topology.joint_of_body[body]]
        R = edge.S_pred[:3, :3] @ edge.T_reference[:3, :3] @ edge.S_succ[:3, :3].T
        parent = C[topology.bodies[topology.parent[body]]]
        C[topology.bodies[body]] = parent @ (R.T if topology.reversed[body] else R)
    return {
        name: np.asarray(C[edge.predecessor] @ edge.S_pred[:3, :3])
        for name, edge in parts.joints.items()
    }


def _is_planar(joints: list[Joint], axes: list[FloatArray]) -> bool:
    hinges: list[FloatArray] = []
    slides: list[FloatArray] = []
    for joint, R in zip(joints, axes, strict=True):
        if moves_as(joint, FixedJoint):
            continue
        if not moves_as(joint, ScrewMotion) or (joint.rate > 0.0 and joint.lead != 0.0):
            return False
        (hinges if joint.rate > 0.0 else slides).append(R @ joint.direction)
    if not hinges:
        return False
    normal = hinges[0]
    across = [float(np.linalg.norm(np.cross(normal, each))) for each in hinges]
    along = [abs(float(normal @ each)) for each in slides]
    return max(across + along) <= _PARALLEL


def rank_of_gears(parts: Parts) -> int:
    """Return the rank of the constraints, 0 where there are others than gears between joints.

    Their rows, driven less ratio times driver, are the same at all configurations.
    """
    from mbkit.constraints import GearRatio

    gears = [each for each in parts.constraints.values() if isinstance(each, GearRatio)]
    coupled = {name for gear in gears for name in (gear.driver, gear.driven)}
    if not gears or len(gears) < len(parts.constraints) or not coupled <= {*parts.joints}:
        return 0
    rows = [
        [(name == gear.driven) - gear.ratio * (name == gear.driver) for name in sorted(coupled)]
        for gear in gears
    ]
    return int(np.linalg.matrix_rank(np.array(rows)))

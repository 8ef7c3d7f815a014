"""Laws of joints that close loops, held against their own poses."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.joints import Joint
from mbkit.lie import SE3
from mbkit.spatial import inverse
from mbkit.testing.laws import Found, Nothing

#: Steps between neighbours, and the ways by which poses are off. [rad], [m]
_STEP = 1e-6
_OFF = 1e-5


def neighbours(joint: Joint, at: Any) -> Found:
    """Compare the wrenches at a place and next to it, by the length of the longest."""
    if joint.num_velocities == 0:
        raise Nothing("it does not move")
    if at.ordinary:
        W, beside = (
            np.asarray(joint.constraint_wrenches(q))
            for q in (at.q, joint.retract(at.q, _STEP * at.x))
        )
        scale = max(1.0, float(np.abs(W).max(initial=0.0)))
        yield "wrenches nearby", beside / scale, W / scale


def poses_found(joint: Joint, at: Any) -> Found:
    """Compare the pose where a pose is located with that pose."""
    _require_loop(joint)
    if at.ordinary:
        for q in (at.q, joint.retract(at.q, at.x)):
            T = np.asarray(joint.pose(q))
            yield (
                "pose(configuration_from_pose(T))",
                joint.pose(joint.configuration_from_pose(T)),
                T,
            )


def nearest(joint: Joint, at: Any) -> Found:
    """Look for a part along S in the residual of a pose that is a little off, by its length."""
    _require_loop(joint)
    if not at.ordinary:
        return
    K = joint.canonical_frame
    back = inverse(K)
    for k, unit in enumerate(np.eye(6)):
        T = back @ joint.pose(at.q) @ K @ SE3.exp(_OFF * unit)
        q = joint.configuration_from_pose(K @ T @ back)
        left = SE3.log(inverse(back @ joint.pose(q) @ K) @ T) / _OFF
        S = SE3.Ad(back) @ joint.motion_subspace(q)
        yield (
            f"S^+ log(pose(q)^-1 T), off along {k}",
            np.linalg.pinv(S) @ left,
            np.zeros(S.shape[1]),
        )


def _require_loop(joint: Joint) -> None:
    if joint.num_velocities == 0:
        raise Nothing("it does not move")
    if joint.ndx != joint.num_velocities:
        raise Nothing("it is nonholonomic, and closes no loop")

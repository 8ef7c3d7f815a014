"""Geometric parameters of all joints, and the derivatives of the pose of a body by them.

In the product of exponentials a joint takes its successor to C_p B exp(X q), with two constants:
its placement B, the pose of the successor where the joint is neutral, and its screw X, seen from
the successor. With the joint frame at F on the predecessor and at G on the successor, z along the
axis of the joint, and its motion T(q), the variations b of the placement and x of the screw are

    C_s = C_p F exp(b) exp(x) T(q) exp(-x) G^-1,

and move everything beyond by the spatial twists Ad_F b and (Ad_F - Ad_G) x, F and G in the world.
Joints of any motion T(q) have them. Source: Mueller 2018, section 6.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError, check_choice
from mbkit.lie import SE3
from mbkit.memory import check_memory
from mbkit.representations import Hybrid, Representation
from mbkit.systems.body_motion import between, checked_form, placed_on
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.parameters.base_parameters import BaseParameters, base_of, triangle

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "ENTRIES",
    "geometric_base_parameters",
    "geometric_order",
    "geometric_parameter_names",
    "geometric_regressor",
    "joint_ends",
    "regressor_at",
]

#: Entries of a variation, a twist in the axes of the joint: rotation vector [rad], translation [m].
ENTRIES = ("wx", "wy", "wz", "x", "y", "z")

#: Parameters of a joint, twelve.
_KINDS = ("placement", "screw")

#: Rows of a twist that are measured.
ROWS = {"all": slice(0, 6), "angular": slice(0, 3), "linear": slice(3, 6)}

#: Random configurations: each identifies six numbers, of twelve a joint.
CONFIGURATIONS = 32


def geometric_parameter_names(system: System) -> tuple[str, ...]:
    """See `System.geometric_parameter_names`."""
    return tuple(
        f"{joint}.{kind}[{entry}]" for joint in _joints(system) for kind in _KINDS
        for entry in ENTRIES
    )  # fmt: skip


def geometric_order(width: int) -> Any:
    """Return in which order the columns of the regressor are kept: placements, then screws."""
    order: Any = np.arange(width).reshape(-1, 2, 6).swapaxes(0, 1).ravel()
    return order


def geometric_regressor(
    system: System,
    body: str,
    q: ArrayLike,
    *,
    frame: ArrayLike | str | None = None,
    representation: Representation | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.geometric_regressor`."""
    joints = _joints(system)
    row, placed = placed_on(system, body, frame)
    if placed is not None and placed.ndim != 2:
        raise UsageError(
            f"System '{system.name}': geometric_regressor takes one frame (4, 4) on '{body}', got "
            f"shape {placed.shape}; ask for each by itself."
        )
    chosen = checked_form(system, representation)
    poses = system.poses(q, on_error=on_error)
    check_memory(
        float(np.prod(poses.shape[:-3])) * 6.0 * 12.0 * (3.0 * len(joints)),
        f"The geometric regressor of {len(joints)} joints",
        "ask for fewer samples at once",
    )
    here = poses[..., row, :, :] if placed is None else poses[..., row, :, :] @ placed
    ends = joint_ends(system, row)
    return regressor_at(chosen, poses, here, ends, len(joints))


@final
@attrs.frozen(eq=False)
class JointEnd:
    """The frame of a joint on one of its bodies, z along its axis."""

    row: int  # of the body
    place: Any  # (4, 4): the place of the joint in the frame of the body
    axis: Any  # (4, 4): the frame of its axis in its place

    def pose(self, poses: Any) -> Any:
        """Return it in the world from the poses of all bodies."""
        return poses[..., self.row, :, :] @ self.place @ self.axis


@final
@attrs.frozen(eq=False)
class JointEnds:
    """A joint between the world and a body."""

    name: str
    column: int  # of its first parameter
    sign: float  # 1 where it leads to its successor
    near: JointEnd
    far: JointEnd


def joint_ends(system: System, row: int) -> list[JointEnds]:
    """Return the joints between the world and a body by its row."""
    joints, found = _joints(system), []
    for name, outward in _path(system, system.body_names[row]):
        place = system.joint_places[name]
        near, far = (
            JointEnd(system.body_index(end), at, place.canonical_frame)
            for end, at in ((place.predecessor, place.near), (place.successor, place.far))
        )
        column = 12 * joints.index(name)
        found.append(JointEnds(name, column, 1.0 if outward else -1.0, near, far))
    return found


def regressor_at(
    form: Representation, poses: Floats, here: Floats, ends: Sequence[JointEnds], count: int
) -> Floats:
    """Return the regressor of a frame at `here`, of `count` joints, those before it in `ends`."""
    B = np.zeros((*here.shape[:-2], 6, 12 * count))
    for joint in ends:
        near, far = (SE3.Ad(between(here, each.pose(poses))) for each in (joint.near, joint.far))
        k = joint.column
        B[..., k : k + 6] = joint.sign * near
        B[..., k + 6 : k + 12] = joint.sign * (near - far)
    return np.asarray(form.twist_map(here) @ B)


def geometric_base_parameters(
    system: System,
    body: str,
    q: ArrayLike | None = None,
    *,
    rows: str = "all",
    frame: ArrayLike | str | None = None,
) -> BaseParameters:
    """See `System.geometric_base_parameters`."""
    check_choice("geometric_base_parameters: rows", rows, ROWS)
    names = system.geometric_parameter_names
    if q is None:
        rng = np.random.default_rng(1)
        start = system.reference_configuration()
        configurations = CONFIGURATIONS + 2 * len(names) // 6
        check_memory(
            6.0 * configurations * len(names),
            f"Base parameters of {len(names)} geometric parameters",
            "give configurations of a motion, few at once",
        )
        q = system.retract(start, rng.normal(size=(configurations, system.ndx)))
    B = system.geometric_regressor(body, q, frame=frame, representation=Hybrid())
    W = triangle([B[..., ROWS[rows], :]], len(names), "geometric_base_parameters")
    return base_of(W, names, geometric_order(len(names)))


def _joints(system: System) -> list[str]:
    """Return all joints, those that weld included; UsageError where there are loops."""
    if system.arrays.closure:
        raise UsageError(
            f"System '{system.name}' has loops, which a change of their geometry opens: geometric "
            f"parameters are those of trees in relative coordinates. Assemble without the joints "
            f"that close them."
        )
    return list(system.joint_places)


def _path(system: System, body: str) -> list[tuple[str, bool]]:
    """Return the joints from the world to a body, and whether each leads to its successor."""
    neighbours: dict[str, list[tuple[str, str, bool]]] = {}
    for name, place in system.joint_places.items():
        ends = place.predecessor, place.successor
        neighbours.setdefault(ends[0], []).append((name, ends[1], True))
        neighbours.setdefault(ends[1], []).append((name, ends[0], False))
    world = system.body_names[0]
    came: dict[str, tuple[str, str, bool]] = {}
    waiting = [world]
    while waiting:
        here = waiting.pop()
        for name, there, outward in neighbours.get(here, []):
            if there != world and there not in came:
                came[there] = here, name, outward
                waiting.append(there)
    path = []
    while body != world:
        body, name, outward = came[body]
        path.append((name, outward))
    return path

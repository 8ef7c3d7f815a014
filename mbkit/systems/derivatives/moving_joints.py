"""Parameters of joints in the tree: how they change the numbers and the frames that kernels read.

The pose of a joint is T = K T' K^-1, with the pose K of its canonical frame in the joint frames. A
parameter such as a pitch changes the numbers that the function for T' reads. The screw of a joint
changes K as well; this moves the places of the joint on both bodies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.errors import UsageError
from mbkit.joints import (
    JOINT_TYPES,
    HelicalJoint,
    HelicalPlanarJoint,
    Joint,
    ScrewJoint,
    TranslationalJoint,
    UniversalJoint,
)
from mbkit.joints.bases.axes import unit
from mbkit.joints.motions.planar_group import PlanarGroup
from mbkit.joints.motions.screw_coordinates import ScrewCoordinates
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.kernels.layout import CHANGE
from mbkit.lie import SE3
from mbkit.lie.arrays import pose, vee
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.inertia_changes import is_spread
from mbkit.systems.derivatives.loosened import twists_of_places
from mbkit.systems.derivatives.numeric_changes import rates_without_jump
from mbkit.systems.derivatives.parameter_moves import moves_of, once_a_parameter
from mbkit.systems.memory.in_lanes.joints import calls_members
from mbkit.systems.memory.on_duals.tree_joints import dual_sets, has_dual_numbers
from mbkit.systems.memory.on_duals.workspace import DualWorkspace

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["MovingJoint", "joint_changes", "joint_of", "moving_joint"]


class MovingJoint(NamedTuple):
    """How a joint of the tree changes with the k entries of a parameter.

    Attributes
    ----------
    joint : str
        Its name.
    row : int
        Its row of the tree.
    rates : ndarray, shape (n, k)
        Derivatives of the numbers that kernels read: see
        `mbkit.systems.memory.on_duals.loop_joints`.
    twists : ndarray, shape (6, k)
        The motion of the frame K, in the joint frame.
    screw : ndarray, shape (6,), optional
        X of a joint exp(X q), in K, where the parameter is the screw itself. The numbers are then
        those of X, and K is constant: a screw that begins to turn has no axis to put K on.
    """

    joint: str
    row: int
    rates: Floats
    twists: Floats
    screw: Floats | None = None


@once_a_parameter
def moving_joint(system: System, name: str) -> MovingJoint | None:
    """Return the change of a joint of the tree by a parameter, placements excepted.

    None for other parameters, in absolute coordinates, where bodies are split, where the joint has
    no function for dual numbers, and where its numbers jump or values beside the parameter's are
    refused.
    """
    joint = joint_of(system, name)
    if joint is None or is_spread(system) or system.free_joints:
        return None
    if twists_of_places(system, name) is not None:
        return None
    names = system.arrays.joint_names
    if joint not in names or not has_dual_numbers(system.arrays, names.index(joint)):
        return None
    try:
        return _moving(system, name, joint, names.index(joint))
    except UsageError:
        return None


def joint_changes(
    system: System, moving: MovingJoint, q: Floats, v: Floats
) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
    """Return the motion of a joint's row at N states, and its changes by the joint's numbers.

    Of the body in its parent, in its own frame: C (N, 4, 4), S (N, 6, nv) and S-dot v (N, 6, 1);
    C^-1 dC (N, k, 6, 1), dS (N, k, 6, nv) and d(S-dot v) (N, k, 6, 1), with the frame K at rest.
    Not numbers where the joint's function fails.
    """
    from mbkit.kernels.compile import array_address
    from mbkit.kernels.derivatives.joints import changes_by_numbers as kernels

    count, k = len(q), moving.rates.shape[1]
    nv = int(system.arrays.bodies[moving.row]["num_velocities"])
    sets = dual_sets(system.arrays, moving.row, moving.rates, moving.screw)
    model = system.evaluator.dual_model
    workspace = DualWorkspace(model)
    function = model.address_of(kernels.changes_by_numbers, kernels.FORM)
    size = kernels.ENTRIES * CHANGE.itemsize // 8
    parts = []
    for numbers in sets:
        out = np.empty((count, size))
        status = kernels.changes_at_states(
            function, workspace.address, moving.row, array_address(numbers),
            np.ascontiguousarray(q), np.ascontiguousarray(v), out,
        )  # fmt: skip
        if status != 0:
            out[:] = np.nan
        parts.append(out.view(CHANGE))
    here, every = parts[0][:, -1], np.concatenate([part[:, :-1] for part in parts], axis=1)[:, :k]
    S, dS = (np.swapaxes(each["S"][..., :nv, :], -1, -2) for each in (here, every))
    motion = pose(here["R"], here["p"]), S, here["bias"][..., None]
    return motion, (every["D"][..., None], dS, every["bias"][..., None])


def joint_of(system: System, name: str) -> str | None:
    """Return the joint of the tree whose parameter it is, or a member's of it."""
    kind, _, rest = name.partition(".")
    if kind != "joints":
        return None
    owners = [joint for joint in system.joint_names if rest.startswith(f"{joint}.")]
    return max(owners, key=len, default=None)


def _moving(system: System, name: str, joint: str, row: int) -> MovingJoint:
    start, moves = moves_of(system, name)
    sign = -1.0 if system.arrays.bodies[row]["reversed"] else 1.0
    computed = system._blueprint.computed_joint(joint)
    made, K = computed({})
    is_plain = type(made) in JOINT_TYPES.values() and made.screw_form() is not None
    if type(made) is ScrewJoint and is_plain:
        to_K = SE3.Ad(np.linalg.inv(K))
        rates = np.concatenate([np.zeros((31, 6)), to_K])  # behind wrenches, which no motion reads
        return MovingJoint(joint, row, rates, np.zeros((6, 6)), to_K @ made.screw)
    exact = _closed_form(made, name.rpartition(".")[2])
    if exact is not None:
        turned = sign if made.screw_form() is not None else 1.0
        return MovingJoint(joint, row, turned * exact, np.zeros((6, len(moves))))

    def numbers(value: Any) -> Floats:
        made, K = computed({name: value})
        own = _numbers_of(made, sign)
        if len(own) != count:
            raise UsageError(f"'{name}' makes another kind of joint.")
        return np.concatenate([K.reshape(-1), own])

    own = _numbers_of(made, sign)
    count = len(own)
    rates = rates_without_jump(numbers, start, moves, name, np.concatenate([K.reshape(-1), own]))
    dK = np.moveaxis(rates[:16].reshape(4, 4, -1), -1, 0)
    return MovingJoint(joint, row, rates[16:], vee(dK @ np.linalg.inv(K)).T)


def _numbers_of(joint: Joint, sign: float) -> Floats:
    """Return the numbers that kernels read; a screw turned round is the opposite screw."""
    form = joint.screw_form()
    if calls_members(joint):
        return np.asarray(joint.parameters_with(lambda *_: 0))  # without addresses
    if form is None:
        return np.asarray(joint.parameters(), dtype=np.float64).reshape(-1)
    return sign * np.array(form)


def _closed_form(joint: Any, field: str) -> Floats | None:
    """Return the rates (n, k) of the numbers of a joint of mbkit by a field that leaves K.

    Of those alone that its motion reads, up to a sign that a screw has. None for others.
    """
    if type(joint) not in JOINT_TYPES.values():
        return None
    if type(joint) is HelicalJoint and field == "pitch" and joint.screw_form() is not None:
        return np.array([[0.0], [1.0]])
    if type(joint) is HelicalPlanarJoint and field == "pitch":
        if isinstance(joint.motion, PlanarGroup):
            return np.eye(len(joint.parameters()))[:, -1:]
        motion: Any = joint.motion
        turns = np.where(motion.screws[:, 2] != 0.0, 1.0, 0.0)
        return _of_screws(motion, turns[:, None, None] * np.eye(6)[:, 5:])
    if type(joint) is UniversalJoint and field in ("axis1", "axis2"):
        moved = np.zeros((2, 6, 3))
        moved[("axis1", "axis2").index(field), :3] = _rate_of_unit(getattr(joint, field))
        return _of_screws(joint.motion, moved)
    if type(joint) is TranslationalJoint and field == "axes":
        n = len(joint.axes)
        moved = np.zeros((n, 6, 3 * n))
        for k, axis in enumerate(joint.axes):
            moved[k, 3:, 3 * k : 3 * k + 3] = _rate_of_unit(axis)
        return _of_screws(joint.motion, moved)
    return None


def _rate_of_unit(axis: Floats) -> Floats:
    """Return the derivative (3, 3) of axis / |axis|."""
    e = unit(axis)
    return (np.eye(3) - np.outer(e, e)) / np.linalg.norm(axis)


def _of_screws(motion: Any, moved: Floats) -> Floats:
    """Return how the numbers of a motion in screws X (n, 6) move where these do, (n, 6, k)."""
    assert isinstance(motion, ScrewCoordinates)
    n, _, k = moved.shape
    rows = [np.zeros((1 + 6 * (6 - n), k))]  # wrenches, which no motion reads
    if not isinstance(motion, ScrewProduct):
        return np.concatenate([*rows, *moved])
    for X, dX in zip(motion.screws, moved, strict=True):
        w, u, dw, du = X[:3], X[3:], dX[:3], dX[3:]
        r = np.linalg.norm(w)
        if r == 0.0:
            rows.append(np.concatenate([np.zeros((4, k)), du, np.zeros((3, k))]))
            continue
        e = w / r
        dr = e @ dw
        de = (dw - np.outer(e, dr)) / r
        along = (e @ u) * e
        d_along = np.outer(e, u @ de + e @ du) + (e @ u) * de
        d_beside = (du - d_along - np.outer((u - along) / r, dr)) / r
        rows.append(np.concatenate([dr[None], de, d_along, d_beside]))
    return np.concatenate(rows)

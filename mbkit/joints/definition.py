"""What of a joint's definition can be seen to be wrong at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.errors import GeometryError, JointError, ShapeError, check_name
from mbkit.joints.joint import Joint
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.spatial.frames import check_pose

__all__ = ["check_joint_definition"]

_GROUP_METHODS = ("retract", "difference", "dexp_inv")


def check_joint_definition(joint: Any) -> None:
    """Raise if a joint's definition is wrong in its structure.

    It looks at names, counts and methods, and calls `pose`, `motion_subspace`, `bias` and
    `neutral` once, at the neutral configuration. It does not compare them with each other.

    Parameters
    ----------
    joint : Joint
        A joint of any class.

    Raises
    ------
    JointError
        Naming the joint, the rule, what was found and what is expected.

    Examples
    --------
    >>> class Broken(Joint):
    ...     num_positions, num_velocities = 2, 1
    ...
    ...     def pose(self, q):
    ...         return np.eye(4)
    >>> check_joint_definition(Broken("b"))
    Traceback (most recent call last):
    mbkit.errors.JointError: Joint 'b': Broken must define motion_subspace and bias besides pose; \
give motion_subspace(q) -> (6, 1) and bias(q, v) -> (6,).
    """
    if not isinstance(joint, Joint):
        hint = "; call it with a name" if isinstance(joint, type) else ""
        raise JointError(f"A joint must be an instance of mbkit.Joint, got {joint!r}{hint}.")
    name = getattr(joint, "name", None)
    if name is None:
        raise JointError(
            f"A joint of class {type(joint).__name__} has no name; "
            "call super().__init__(name) in its __init__."
        )
    check_name("Joint", name)
    what = f"Joint {name!r}"
    nq = _count(joint, "num_positions", what)
    nv = _count(joint, "num_velocities", what)
    if nv > 6:
        raise JointError(
            f"{what}: num_velocities must be at most 6, got {nv}; no body has more freedom."
        )
    if nv == 0 and nq > 0:
        raise JointError(
            f"{what}: num_positions must be 0 where num_velocities is 0, got {nq}; a joint that "
            "holds its bodies together has no positions, so keep its sizes in other attributes."
        )
    _check_methods(joint, what, nq, nv)
    q = _neutral(joint, what, nq)
    _check_pose(joint, what, q)
    _check_result(what, "motion_subspace(q)", (6, nv), lambda: joint.motion_subspace(q))
    _check_result(what, "bias(q, v)", (6,), lambda: joint.bias(q, np.zeros(nv)))


def _count(joint: Joint, attribute: str, what: str) -> int:
    value = getattr(joint, attribute, None)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        found = "it is missing" if value is None else f"got {value!r}"
        raise JointError(
            f"{what}: {attribute} must be an integer, zero or more; {found}. "
            f"Set it in the class {type(joint).__name__}."
        )
    return value


def _check_methods(joint: Joint, what: str, nq: int, nv: int) -> None:
    kind = type(joint).__name__
    if not (_defines(joint, "motion_subspace") and _defines(joint, "bias")):
        raise JointError(
            f"{what}: {kind} must define motion_subspace and bias besides pose; "
            f"give motion_subspace(q) -> (6, {nv}) and bias(q, v) -> (6,)."
        )
    given = [method for method in _GROUP_METHODS if _defines(joint, method)]
    missing = [method for method in _GROUP_METHODS if method not in given]
    if missing and (given or nq != nv):
        why = (
            f"it has {nq} positions and {nv} velocities"
            if nq != nv
            else f"it defines {' and '.join(given)}"
        )
        raise JointError(
            f"{what}: {kind} must define {' and '.join(missing)}, because {why}; give "
            f"retract(q, dx) -> ({nq},), difference(q0, q1) -> ({nv},) and "
            f"dexp_inv(x, v) -> ({nv},)."
        )


def _defines(joint: Joint, method: str) -> bool:
    return getattr(type(joint), method) is not getattr(Joint, method)


def _neutral(joint: Joint, what: str, nq: int) -> FloatArray:
    _check_result(what, "neutral()", (nq,), joint.neutral)
    return np.asarray(joint.neutral(), dtype=np.float64)


def _check_pose(joint: Joint, what: str, q: FloatArray) -> None:
    value = _called(what, "pose(neutral())", lambda: joint.pose(q))
    try:
        check_pose(frozen_array(value), f"{what}: pose(neutral())")
    except (ShapeError, GeometryError) as error:
        raise JointError(f"{error} Expected is the pose (4, 4) in SE(3).") from None


def _check_result(
    what: str, call: str, shape: tuple[int, ...], function: Callable[[], Any]
) -> None:
    value = _called(what, call, function)
    try:
        check_array(frozen_array(value), shape, f"{what}: {call}", error=JointError)
    except ShapeError as error:
        raise JointError(str(error)) from None


def _called(what: str, call: str, function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as error:
        raise JointError(
            f"{what}: {call} failed at the neutral configuration with "
            f"{type(error).__name__}: {error}"
        ) from error

"""Checks of a joint's definition, made as soon as it is added."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.definition_checks import check_part
from mbkit.errors import GeometryError, JointError, NotFiniteError, ShapeError
from mbkit.joints.bases.motion_joint import MotionJoint, carried
from mbkit.joints.checks.methods import check_compiled, check_methods
from mbkit.joints.defaults.derivatives import (
    PoseDerivatives,
    TraceFailedError,
    WrongTraceError,
)
from mbkit.joints.defaults.own_methods import defines, is_of_user
from mbkit.joints.joint import Joint
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.spatial.frames import check_pose

_GROUP_METHODS = ("retract", "difference", "dexp_inv")  # where positions are no vector space

#: Methods of mbkit's own joints that are called: others are tested and would load compiled code.
_WITHOUT_KERNELS = ("motion_subspace(q)", "bias(q, v)")

#: Methods with a derivative for a default, and the remedy where it does not exist.
_DERIVED = ("motion_subspace", "bias", "dexp_inv")
_NO_DERIVATIVE = (
    "It is derived from pose and retract, which have no derivative there: the length of a vector "
    "at zero has none, and a branch for zero alone hides it. Use the maps of mbkit.lie, or a "
    "series for small arguments, or define {}."
)


def check_joint_definition(joint: Any) -> None:
    """Raise JointError, which states the requirement, if a definition is wrong in its structure.

    It looks at names, counts and signatures of methods, and calls each once, at the neutral
    configuration. It does not compare them with each other: `mbkit.testing.check_joint` does.

    Examples
    --------
    >>> class Broken(Joint):
    ...     num_positions = num_velocities = 1
    ...
    ...     def pose(self, q):
    ...         return np.eye(4)
    ...
    ...     def motion_subpsace(self, q):
    ...         return np.zeros((6, 1))
    >>> check_joint_definition(Broken("b"))
    Traceback (most recent call last):
    mbkit.errors.JointError: Joint 'b': Broken defines motion_subpsace, which nothing calls; did \
    you mean motion_subspace(q) -> (6, nv)? A helper of your own needs another name, or one that \
    begins with _.
    """
    what = check_part(joint, Joint, JointError)
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
    if _is_own(type(joint)) and isinstance(joint, MotionJoint):
        # poses and twists go through the frame, and are finite where it is
        K = joint.canonical_frame
        _check_result(what, "motion_subspace(q)", (6, 6), lambda: carried(K, np.eye(6)))
        return
    if _is_own(type(joint)):
        _check_values(joint, what, nq, nv, _WITHOUT_KERNELS)
        return
    check_methods(joint, what)
    _check_steps(joint, what, nv)
    _check_group(joint, what, nq)
    _check_values(joint, what, nq, nv)
    check_compiled(joint, what)


def _is_own(kind: type) -> bool:
    """Whether a class is one of mbkit's."""
    name = kind.__module__
    return name.startswith("mbkit.joints.") and vars(sys.modules[name]).get(kind.__name__) is kind


def _count(joint: Joint, attribute: str, what: str) -> int:
    value = getattr(joint, attribute, None)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        found = "it is missing" if value is None else f"got {value!r}"
        raise JointError(
            f"{what}: {attribute} must be an integer, zero or more; {found}. "
            f"Set it in the class {type(joint).__name__}."
        )
    return value


def _check_steps(joint: Joint, what: str, nv: int) -> None:
    kind, ndx = type(joint).__name__, _count(joint, "ndx", what)
    if ndx < nv:
        raise JointError(
            f"{what}: ndx must be at least num_velocities, {nv}, got {ndx}; it is the "
            f"dimension of the group of positions, and velocities are directions on it."
        )
    if nv == 0 and ndx > 0:
        raise JointError(f"{what}: ndx must be 0 where num_velocities is 0, got {ndx}.")
    if (ndx > nv) != is_of_user(joint, "rates"):
        raise JointError(
            f"{what}: {kind} has {ndx} steps and {nv} velocities; "
            + (
                f"define rates(q, v) -> ({ndx},), the velocity on the group that v is at q."
                if ndx > nv
                else "rates is for joints with fewer velocities; leave it out, or set ndx."
            )
        )


def _check_group(joint: Joint, what: str, nq: int) -> None:
    kind, ndx = type(joint).__name__, joint.ndx
    given = [method for method in _GROUP_METHODS if defines(joint, method)]
    missing = [method for method in ("retract", "difference") if method not in given]
    if missing and (given or nq != ndx):
        counted = "velocities" if ndx == joint.num_velocities else "steps"
        why = (
            f"it has {nq} positions and {ndx} {counted}"
            if nq != ndx
            else f"it defines {' and '.join(given)}"
        )
        raise JointError(
            f"{what}: {kind} must define {' and '.join(missing)}, because {why}; give "
            f"retract(q, dx) -> ({nq},) and difference(q0, q1) -> ({ndx},), and "
            f"dexp_inv(x, w) -> ({ndx},) where it shall be fast."
        )


def _check_values(
    joint: Joint, what: str, nq: int, nv: int, wanted: tuple[str, ...] | None = None
) -> None:
    """Call each method once, or those that are wanted, at the neutral configuration."""
    _check_result(what, "neutral()", (nq,), joint.neutral)
    q = np.array(joint.neutral(), dtype=np.float64)
    v, w = np.ones(nv), np.ones(joint.ndx)
    # a change in place would be one for all holders
    q.flags.writeable = v.flags.writeable = w.flags.writeable = False
    _check_pose(joint, what, q)
    if wanted is None and nv:
        _check_pose_beside(joint, what, q, 0.1 * w)
    if joint.ndx != nv:
        _check_rates(joint, what, q, v)
    if wanted is None and nv and not defines(joint, "motion_subspace"):
        _check_derivative(joint, what, q)
    calls: dict[str, tuple[tuple[int, ...], Callable[[], Any]]] = {
        "motion_subspace(q)": ((6, nv), lambda: joint.motion_subspace(q)),
        "bias(q, v)": ((6,), lambda: joint.bias(q, v)),
        "retract(q, dx)": ((nq,), lambda: joint.retract(q, 0.1 * w)),
        "difference(q0, q1)": (w.shape, lambda: joint.difference(q, q)),
        "dexp_inv(x, w)": (w.shape, lambda: joint.dexp_inv(0.1 * w, w)),
    }
    if defines(joint, "constraint_wrenches"):
        calls["constraint_wrenches(q)"] = ((6, 6 - nv), lambda: joint.constraint_wrenches(q))
    if defines(joint, "configuration_from_pose"):
        T = np.array(joint.pose(q), dtype=np.float64)
        calls["configuration_from_pose(T)"] = ((nq,), lambda: joint.configuration_from_pose(T))
    for call, (shape, function) in calls.items():
        if wanted is not None and call not in wanted:
            continue
        try:
            _check_result(what, call, shape, function)
        except NotFiniteError as error:
            derived = call[: call.index("(")]
            if defines(joint, derived) or derived not in _DERIVED:
                raise JointError(str(error)) from None
            raise JointError(f"{error} {_NO_DERIVATIVE.format(call)}") from None


def _check_derivative(joint: Joint, what: str, q: FloatArray) -> None:
    """Compare with differences: a branch for one place alone has derivatives of its own."""
    try:
        PoseDerivatives(lambda: joint).motion(q, np.zeros(joint.num_velocities))
    except WrongTraceError as error:
        raise JointError(
            f"{what}: the derivative of pose(retract(q, dx)) at dx = 0, at the neutral "
            f"configuration, is not what it is next to it: {error}. "
            f"{_NO_DERIVATIVE.format('motion_subspace(q)')}"
        ) from None
    except (JointError, TraceFailedError):  # an untraceable method is warned of below
        return


def _check_rates(joint: Joint, what: str, q: FloatArray, v: FloatArray) -> None:
    _check_result(what, "rates(q, v)", (joint.ndx,), lambda: joint.rates(q, v))
    once, twice = (np.asarray(joint.rates(q, factor * v)) for factor in (1.0, 2.0))
    error = float(np.abs(twice - 2.0 * once).max())
    if not error <= 1e-12 * (1.0 + float(np.abs(once).max())):
        raise JointError(
            f"{what}: rates(q, v) must be linear in v; at the neutral configuration rates(q, 2 v) "
            f"is not 2 rates(q, v), by {error:.3g}."
        )


def _check_pose(joint: Joint, what: str, q: FloatArray) -> None:
    value = _called(what, "pose(neutral())", lambda: joint.pose(q))
    try:
        check_pose(frozen_array(value), f"{what}: pose(neutral())")
    except (ShapeError, GeometryError) as error:
        raise JointError(f"{error} Expected is the pose (4, 4) in SE(3).") from None


def _check_pose_beside(joint: Joint, what: str, q: FloatArray, dx: FloatArray) -> None:
    """Raise JointError if the pose is none a step away; that there is none may be in order."""
    try:
        beside = joint.retract(q, dx)
        value = frozen_array(joint.pose(beside))
    except Exception:  # out of its range, perhaps; others speak of slips
        return
    if value.dtype.kind != "f" or not np.isfinite(value).all():
        return
    try:
        check_pose(value, f"{what}: pose(q) at q = {np.asarray(beside).tolist()}")
    except (ShapeError, GeometryError) as error:
        raise JointError(f"{error} Expected is the pose (4, 4) in SE(3) at every q.") from None


def _check_result(
    what: str, call: str, shape: tuple[int, ...], function: Callable[[], Any]
) -> None:
    value = _called(what, call, function)
    try:
        check_array(frozen_array(value), shape, f"{what}: {call}", error=NotFiniteError)
    except ShapeError as error:
        raise JointError(str(error)) from None


def _called(what: str, call: str, function: Callable[[], Any]) -> Any:
    try:
        return function()
    except JointError:
        raise
    except Exception as error:
        raise JointError(
            f"{what}: {call} failed at the neutral configuration with "
            f"{type(error).__name__}: {error} (q and v are arrays, even of one number)"
        ) from error

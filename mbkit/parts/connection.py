"""A joint in its place, which can be given in three ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import MbkitError, UsageError, check_choice
from mbkit.joints import AbsoluteJoint, FreeJoint, Joint
from mbkit.joints.defaults.overriding import moves_as
from mbkit.joints.defaults.poses import pose_of
from mbkit.joints.prescribed.prescribed_joint import JointMotion
from mbkit.parts.body import Body
from mbkit.parts.joint_data import JointFriction, JointLimits
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown
from mbkit.spatial.frames import check_pose, inverse

#: Largest error of a joint's pose at the reference configuration, of its size. [1], [m]
_REACHED = 1e-9


_NO_LIMITS, _NO_FRICTION = JointLimits(), JointFriction()  # of most joints: they are frozen


def _or_no_limits(value: JointLimits | None) -> JointLimits:
    return _NO_LIMITS if value is None else value


def _or_no_friction(value: JointFriction | None) -> JointFriction:
    return _NO_FRICTION if value is None else value


@final
@attrs.frozen
class Connection:
    """A joint between two bodies; the pose of the successor is S_pred T(q) S_succ^-1.

    Attributes
    ----------
    joint : Joint
        How the bodies can move.
    predecessor, successor : str
        Names of the bodies.
    S_pred, S_succ : ndarray, shape (4, 4)
        Pose of the joint frame on either body, in the frame of that body.
    limits : JointLimits, default none
        Of positions, velocities and efforts.
    friction : JointFriction, default none
        Damping and friction.
    motion : JointMotion or None
        The function of time that its motion is, where it is prescribed.
    T_reference : ndarray, shape (4, 4), default the identity
        Pose of the joint at the reference configuration.

    Raises
    ------
    ShapeError, UsageError
        If limits or friction are none, or have another number of entries than the joint.
    """

    joint: Joint
    predecessor: str
    successor: str
    S_pred: FloatArray = attrs.field(converter=frozen_array, eq=EQUAL, hash=False, repr=shown)
    S_succ: FloatArray = attrs.field(converter=frozen_array, eq=EQUAL, hash=False, repr=shown)
    limits: JointLimits = attrs.field(default=None, converter=_or_no_limits)
    friction: JointFriction = attrs.field(default=None, converter=_or_no_friction)
    motion: JointMotion | None = attrs.field(default=None, eq=False)
    T_reference: FloatArray = attrs.field(
        factory=lambda: np.eye(4), converter=frozen_array, eq=EQUAL, hash=False, repr=shown
    )

    def __attrs_post_init__(self) -> None:
        for key, kind in (("limits", JointLimits), ("friction", JointFriction)):
            value = getattr(self, key)
            if not isinstance(value, kind):
                raise UsageError(
                    f"Joint {self.joint.name!r}: {key} must be an mbkit.{kind.__name__}, got "
                    f"{value!r}; make one by mbkit.{kind.__name__}(...)."
                )
            try:
                value.check_fits(self.joint)
            except MbkitError as error:
                error.key = f"{key}.{error.key}"
                raise

    @property
    def reference(self) -> FloatArray:
        """Positions of the joint at the reference configuration: neutral, or those of a pose."""
        if np.array_equal(self.T_reference, np.eye(4)):
            return np.asarray(self.joint.neutral(), dtype=np.float64)
        return np.asarray(self.joint.configuration_from_pose(self.T_reference), dtype=np.float64)


def joint_frames(
    joint: Joint,
    predecessor: Body,
    successor: Body,
    *,
    frames: Sequence[ArrayLike] | None = None,
    reference: ArrayLike | None = None,
    screws_in: str = "successor",
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (S_pred, S_succ, T) of any of the three descriptions of a joint's place.

    T is the pose of the joint at the reference configuration: the identity, unless it is given with
    the frames, or the joint is free and described in the world. It has no axes then, and its frames
    are those of the bodies, as its velocity is the twist of one: T is its `Body.pose`.

    They are the joint `frames` themselves; or the `reference`, the pose B of the successor in the
    predecessor where T is the identity, the joint's axes being given in the frame of the body
    `screws_in`; or, with neither, the joint's axes are given in the world, where each body stands
    at `Body.pose` at the reference configuration. UsageError if the arguments do not go together.

    Notes
    -----
    Screws in the successor, X = Ad_S_succ Z: C = B exp(X q), so that S_pred = B, S_succ = I.
    Screws in the predecessor: C = exp(Xbar q) B, S_pred = I, S_succ = B^-1. Screws in the world, at
    the reference poses A: C = A_pred^-1 exp(Y q) A_succ. Source: Mueller 2018 ("Screw and Lie group
    theory in multibody kinematics", Multibody Syst. Dyn. 43), sections 2.2 to 2.4.
    """
    what = f"Joint {joint.name!r}"
    check_choice(f"{what}: screws_in", screws_in, ("successor", "predecessor"))
    if frames is not None and reference is not None:
        raise UsageError(f"{what} takes either frames or reference, got both; leave one out.")
    if screws_in == "predecessor" and reference is None:
        raise UsageError(f"{what}: screws_in='predecessor' goes with reference; give it.")
    one = np.eye(4)
    if frames is not None:
        S_pred, S_succ, T = _given(frames, what)
        _check_reached(joint, T, f"{what}: frames[2]")
        return S_pred, S_succ, T
    if reference is None and isinstance(joint, FreeJoint | AbsoluteJoint):
        T = inverse(predecessor.pose) @ successor.pose
        _check_reached(joint, T, f"{what}: the pose of its successor in its predecessor")
        return one, one, T
    if reference is None:
        return inverse(predecessor.pose), inverse(successor.pose), one
    B = _pose(reference, f"{what}: reference")
    return (B, one, one) if screws_in == "successor" else (one, inverse(B), one)


def _given(frames: Any, what: str) -> Any:
    """Return the frames as poses, and that of the joint at the reference."""
    if not isinstance(frames, (tuple, list)) or len(frames) not in (2, 3):
        raise UsageError(
            f"{what}: frames must be a pair of poses (S_pred, S_succ), or these and the pose T of "
            f"the joint at the reference configuration, got {type(frames).__name__}."
        )
    poses = [_pose(each, f"{what}: frames[{k}]") for k, each in enumerate(frames)]
    return [*poses, np.eye(4)][:3]


def _check_reached(joint: Joint, T: FloatArray, what: str) -> None:
    """Raise UsageError unless a joint reaches its pose at the reference configuration."""
    if np.array_equal(T, np.eye(4)) or moves_as(joint, FreeJoint) or moves_as(joint, AbsoluteJoint):
        return
    reached = pose_of(joint, joint.configuration_from_pose(T))
    if not np.abs(reached - T).max() <= _REACHED * (1.0 + np.abs(T).max()):
        raise UsageError(
            f"{what} must be a pose that a {type(joint).__name__} reaches, the nearest one misses "
            f"it by {np.abs(reached - T).max():.2g}; give its frames such that it does."
        )


def _pose(value: ArrayLike, what: str) -> FloatArray:
    pose = frozen_array(value)
    check_pose(pose, what)
    return pose

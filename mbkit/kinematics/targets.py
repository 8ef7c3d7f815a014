"""Targets: poses that frames on bodies shall have, and the errors that are left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ShapeError, UsageError, suggestion
from mbkit.given_values import as_number, positive_number
from mbkit.kinematics.measured import body_fixed_jacobian
from mbkit.lie import SE3, SO3
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown
from mbkit.spatial.frames import check_pose, inverse
from mbkit.systems.body_motion import placed_on
from mbkit.systems.configurations import placed

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["ROWS", "PoseTarget", "Targets"]

#: Words for the rows of a twist, and which they are.
ROWS: dict[str, slice] = {"all": slice(0, 6), "angular": slice(0, 3), "linear": slice(3, 6)}

#: Which rows of a twist are angular (0), which linear (1).
_PARTS = np.repeat([0, 1], 3)

_IDENTITY = frozen_array(np.eye(4))


def _pose(instance: PoseTarget, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    check_pose(value, f"PoseTarget: {attribute.name}")


def _poses(instance: PoseTarget, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    single = value.ndim <= 2 or not value.size
    for pose in [value] if single else value.reshape(-1, *value.shape[-2:]):
        _pose(instance, attribute, pose)


def _weight(instance: PoseTarget, attribute: attrs.Attribute[Any], value: float) -> None:
    remedy = 'to leave a part free, give rows="linear" or rows="angular"'
    positive_number(f"PoseTarget: {attribute.name}", value, remedy=remedy)


def _rows(instance: PoseTarget, attribute: attrs.Attribute[Any], value: str) -> None:
    if not (isinstance(value, str) and value in ROWS):
        raise UsageError(f"PoseTarget: there are no rows {value!r}; {suggestion(value, ROWS)}")


@final
@attrs.frozen
class PoseTarget:
    """Where a frame on a body shall be.

    Attributes
    ----------
    pose : ndarray, shape (..., 4, 4)
        Pose in the world that the frame shall have; with leading axes one for each search.
    frame : ndarray, shape (4, 4)
        Pose of the frame on the body, or on the frame of `Body.frames` whose name the target has;
        that frame itself if left out.
    rows : {"all", "linear", "angular"}
        Whether position and orientation count, the position alone, or the orientation alone.
    angular_weight, linear_weight : float
        Weights of errors of one radian, of one metre. [1/rad], [1/m]

    Raises
    ------
    ShapeError, GeometryError
        If a pose is none.
    UsageError
        If `rows` is no such word, or a weight is not positive.

    Notes
    -----
    The error is log(pose^-1 C frame) on SE(3) for a body at C; for rows "linear" the difference of
    the positions in the axes of `pose`, so that its length is the distance; for "angular" the
    rotation vector log(R_pose^T R).

    Examples
    --------
    The point of a tool 0.1 m in front of its body's frame, wherever it points:

    >>> import mbkit as mb
    >>> tip = mb.spatial.translation((0.0, 0.0, 0.1))
    >>> target = PoseTarget(mb.spatial.translation((0.5, 0.2, 0.4)), frame=tip, rows="linear")
    >>> target.rows
    'linear'
    """

    pose: FloatArray = attrs.field(converter=frozen_array, validator=_poses, eq=EQUAL, repr=shown)
    frame: FloatArray = attrs.field(
        default=_IDENTITY, converter=frozen_array, validator=_pose, eq=EQUAL, repr=shown
    )
    rows: str = attrs.field(default="all", validator=_rows, kw_only=True)
    angular_weight: float = attrs.field(
        default=1.0, converter=as_number, validator=_weight, kw_only=True
    )
    linear_weight: float = attrs.field(
        default=1.0, converter=as_number, validator=_weight, kw_only=True
    )


class Targets:
    """The targets of one task, by bodies, with their errors and Jacobians, one below the other.

    `count` is the number of rows.
    """

    def __init__(self, system: System, targets: Mapping[str, PoseTarget]) -> None:
        self.system = system
        self.names = tuple(targets)
        self.targets = tuple(targets.values())
        places = [placed_on(system, name, target.frame) for name, target in targets.items()]
        self._bodies = [row for row, _ in places]
        self._frames = [np.eye(4) if frame is None else frame for _, frame in places]
        self._weights = [
            np.repeat([target.angular_weight, target.linear_weight], 3)[ROWS[target.rows]]
            for target in self.targets
        ]
        self._back = [inverse(target.pose) for target in self.targets]
        self._to_frame = [SE3.Ad(inverse(frame)) for frame in self._frames]
        self._all_weights = np.concatenate(self._weights)
        self._parts = np.concatenate(
            [2 * k + _PARTS[ROWS[target.rows]] for k, target in enumerate(self.targets)]
        )
        self.count = len(self._all_weights)

    def errors(self, q: FloatArray) -> list[FloatArray]:
        """Return the error of each target without weights: (6,), or (3,) for a part of the rows."""
        C = self.system.poses(q)
        return [
            _error(target.rows, back @ C[body] @ frame)
            for target, back, body, frame in zip(
                self.targets, self._back, self._bodies, self._frames, strict=True
            )
        ]

    def reached(self, errors: FloatArray, tolerance: float) -> bool:
        """Whether weighted errors (count,) are within a tolerance, in radians and in metres."""
        return bool(self.sizes(errors).max() <= tolerance)

    def sizes(self, errors: FloatArray) -> FloatArray:
        """Return the size of each target's angular and linear error, (targets, 2) in rad and m."""
        return np.sqrt(
            np.bincount(self._parts, (errors / self._all_weights) ** 2, 2 * len(self.names))
        ).reshape(-1, 2)

    def distances(self, q: FloatArray) -> FloatArray:
        """Return how far each frame is off, (targets, 2): the angle and the distance of origins.

        [rad], [m]; zero for uncounted parts. The distance is not the length of the linear part
        of the logarithm of a pose, along which the frame would be screwed into place.
        """
        C = self.system.poses(q)
        sizes = np.zeros((len(self.names), 2))
        for k, target in enumerate(self.targets):
            off = self._back[k] @ C[self._bodies[k]] @ self._frames[k]
            if target.rows != "linear":
                sizes[k, 0] = np.linalg.norm(SO3.log(off[:3, :3]))
            if target.rows != "angular":
                sizes[k, 1] = np.linalg.norm(off[:3, 3])
        return sizes

    def weighted(self, q: FloatArray) -> FloatArray:
        """Return the weighted errors of all targets, (count,)."""
        pairs = zip(self._weights, self.errors(q), strict=True)
        return np.concatenate([weights * error for weights, error in pairs])

    def linearised(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weighted errors (count,) and their derivative by v, (count, nv)."""
        C = self.system.poses(q)
        e = np.empty(len(self._all_weights))
        J = np.empty((len(e), self.system.nv))
        start = 0
        for k, target in enumerate(self.targets):
            here = C[self._bodies[k]]
            off = self._back[k] @ here @ self._frames[k]
            J_b = self._jacobian(k, q, here)
            error = _error(target.rows, off)
            weights = self._weights[k]
            stop = start + len(weights)
            e[start:stop] = weights * error
            rate = _error_rate(target.rows, off, error)
            J[start:stop] = (weights[:, None] * rate) @ (self._to_frame[k] @ J_b)
            start = stop
        return e, J

    def jacobian_in_world(self, k: int, q: FloatArray) -> FloatArray:
        """Return the Jacobian of target k's rows at its frame's origin, in the world's axes."""
        C = self.system.poses(q)[self._bodies[k]]
        J = self._to_frame[k] @ self._jacobian(k, q, C)
        R = (C @ self._frames[k])[:3, :3]
        return np.vstack([R @ J[:3], R @ J[3:]])[ROWS[self.targets[k].rows]]

    def _jacobian(self, k: int, q: FloatArray, C: FloatArray) -> FloatArray:
        name = self.system.body_names[self._bodies[k]]
        return body_fixed_jacobian(self.system, name, q, C)


def _error(rows: str, off: FloatArray) -> FloatArray:
    """Return the error of a frame at the pose `off` in its target."""
    if rows == "all":
        return SE3.log(off)
    return off[:3, 3] if rows == "linear" else SO3.log(off[:3, :3])


def _error_rate(rows: str, off: FloatArray, error: FloatArray) -> FloatArray:
    """Return the matrix that takes the frame's body-fixed twist to the rate of its error."""
    if rows == "all":
        return SE3.dexp_body_inv(error)
    rate = np.zeros((3, 6))
    if rows == "linear":
        rate[:, 3:] = off[:3, :3]
    else:
        rate[:, :3] = SO3.dexp_body_inv(error)
    return rate


def checked_targets(system: System, targets: Any) -> Targets:
    """Return targets given as poses or `PoseTarget` by body; errors if they are wrong."""
    if not isinstance(targets, Mapping) or not targets:
        raise UsageError(
            f"inverse_kinematics: targets must be a dict of poses by the names of bodies, such as "
            f'{{"tool": pose}}, got {targets!r}.'
        )
    found = {}
    for name, value in targets.items():
        if placed(system, name)[0] == 0:
            raise UsageError(
                "inverse_kinematics: the world does not move and has no target; name a body."
            )
        found[name] = value if isinstance(value, PoseTarget) else _target(name, value)
    return Targets(system, found)


def _target(name: str, value: ArrayLike) -> PoseTarget:
    pose = frozen_array(value)
    if pose.shape == (3,):
        raise ShapeError(
            f"inverse_kinematics: target of body '{name}' must be a pose, of shape (4, 4), and is "
            f"a point; for a position alone give mbkit.PoseTarget("
            f'mbkit.spatial.translation({pose.tolist()}), rows="linear").'
        )
    check_pose(pose, f"inverse_kinematics: target of body '{name}'")
    return PoseTarget(pose)

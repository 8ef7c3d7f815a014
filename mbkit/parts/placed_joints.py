"""Joints as they are computed beside the bodies that they carry, wherever their frames are."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from mbkit.joints.bases.axes import cross, frame_along
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.bases.screw_motion import ScrewMotion
from mbkit.joints.composite import CompositeJoint
from mbkit.joints.defaults.overriding import moves_as
from mbkit.joints.joint import Joint
from mbkit.joints.motions.screw_coordinates import ScrewCoordinates
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import inverse

#: How far from its body the axis of a screw may be for frames to sit on it: the moment of inertia
#: of a body of 0.1 m loses ten of its sixteen digits at 1e4 m, two at 10 m. [m]
_FAR = 100.0


@final
@attrs.frozen(eq=False)
class PlacedScrews(MotionJoint):
    """A joint that is given by constant screws, in a frame that is not its own.

    Its singular configurations are those of the joint itself.
    """

    name: str
    joint: Joint
    canonical_frame: FloatArray
    motion: ScrewCoordinates

    def singularity(self, q: FloatArray) -> float:
        """Return the measure of the joint itself."""
        return self.joint.singularity(q)

    def singularities(self, q: FloatArray) -> FloatArray:
        """Return the measure of the joint itself."""
        return self.joint.singularities(q)

    @property
    def singularity_remedy(self) -> str:
        """The remedy of the joint itself."""
        return self.joint.singularity_remedy


def placed_beside(joint: Joint, point: FloatArray) -> tuple[Joint, FloatArray]:
    """Return a joint in the form in which it is computed, and its frame (4, 4), beside a point.

    Many motions are the same from every point of an axis, or of space: their canonical frame may be
    anywhere there. Inertias and moments about a point far from the bodies drown in rounding. The
    point (3,) is where the bodies are, in the joint frame. [m] The result is the joint
    itself, or a `PlacedScrews` that moves as it does, and the frame K in the joint frame: T = K T'
    K^-1 with its compiled forms T'.
    """
    if joint.num_velocities == 0:
        return joint, _at(point)
    if moves_as(joint, ScrewMotion):
        return _screw_beside(joint, point)
    if moves_as(joint, CompositeJoint):
        product = joint.screw_product
        if product is not None and math.hypot(*point) > _FAR:
            K = _at(point)
            screws = product.screws @ SE3.Ad(inverse(K)).T
            units = joint.position_units
            return PlacedScrews(joint.name, joint, K, ScrewProduct(screws, units)), K
    K = np.array(joint.canonical_frame)
    if moves_as(joint, MotionJoint):
        for axis in joint.same_along:
            e = K[:3, axis]
            K[:3, 3] += e * (e @ (point - K[:3, 3]))
    return joint, K


def _screw_beside(joint: ScrewMotion, point: FloatArray) -> tuple[Joint, FloatArray]:
    K = _at(point)
    if joint.rate > 0.0:
        v = joint.velocity_of(point)
        to_axis = cross(joint.direction, v / joint.rate)
        if joint.screw_form() is None or not math.hypot(*to_axis) <= _FAR:
            w = joint.screw[:3]
            X = np.concatenate([w, v])
            product = ScrewProduct(X[None], joint.position_units, _wrenches_beside(w, v))
            return PlacedScrews(joint.name, joint, K, product), K
        K[:3, 3] += to_axis
    K[:3, :3] = joint.canonical_frame[:3, :3]
    return joint, K


def _wrenches_beside(w: FloatArray, v: FloatArray) -> FloatArray:
    """Return an orthonormal basis (6, 5) of the wrenches reciprocal to a screw with a far axis.

    Moments normal to the axis, forces normal to the velocity v at this point, and the wrench
    (-|v| w/|w|, |w| v/|v|). In a basis that mixes them, moments drown among forces times the way to
    the axis: which rows count as redundant would depend on the unit of length.
    """
    rate, speed = math.hypot(*w), math.hypot(*v)
    e, c = w / rate, v / speed
    W = np.zeros((6, 5))
    W[:3, :2] = frame_along(e)[:, :2]
    W[3:, 2:4] = frame_along(c)[:, :2]
    size = math.hypot(rate, speed)
    W[:, 4] = np.concatenate([-speed / size * e, rate / size * c])
    return W


def _at(point: FloatArray) -> FloatArray:
    K = np.eye(4)
    K[:3, 3] = point
    return K

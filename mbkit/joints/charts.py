"""Poses of joints in coordinates of the first or second kind, in closed form.

Nearest to T = (R, p) as `mbkit.joints.nearest` has it, those of two crossing axes but for terms of
second order in what is left. The compiled forms are in `mbkit.kernels.joints.charts`, by the same
names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from mbkit.joints.euler_angles import angles_of
from mbkit.lie import SE3, UnitQuaternion
from mbkit.spatial.arrays import FloatArray

__all__ = [
    "ANGLES",
    "CROSSED_AXES",
    "NORMAL_ROTATION_VECTOR",
    "PLANAR_SUM",
    "ROTATION_VECTOR",
    "SCREW_COORDINATES",
    "SHIFTS",
    "TURN_AND_SHIFTS",
    "Chart",
    "locate_screw",
]

#: A screw that advances by less in a turn does not tell its turns by where it is. [m]
_LEAST_ADVANCE = 1e-9

#: Sine of the angle between two shifts below which they count as one.
_PARALLEL = 1e-8


@attrs.frozen
class Chart:
    """Where a pose is in the coordinates of some screws.

    Attributes
    ----------
    positions : callable
        ``positions(screws, T)``: the coordinates (n,) of the motion nearest to T, of the screws
        (n, 6).
    """

    positions: Callable[[FloatArray, FloatArray], FloatArray]

    @property
    def kernel(self) -> Any:
        """The compiled form."""
        from mbkit.kernels.joints import charts

        return getattr(charts, self.positions.__name__.removeprefix("_"))


def locate_screw(rate: float, lead: float, T: FloatArray) -> float:
    """Return the q whose turn by rate q about z, with the shift lead q along it, is nearest to T.

    The angle is that of the nearest rotation about z, tan a = (R10 - R01) / (R00 + R11). The shift
    tells turns; of angle and shift together q is that with rate (angle left) + lead (shift left)
    zero, which divides by neither.

    Parameters
    ----------
    rate, lead : float
        By unit of q. [rad], [m]
    T : ndarray, shape (4, 4)
        A pose.

    Returns
    -------
    float
        The position; between half a turn and its negative where the shift does not tell turns.

    Examples
    --------
    Three quarters of a turn, by a nut that advances 2 mm a radian:

    >>> T = np.array([[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0.003 * np.pi], [0, 0, 0, 1.0]])
    >>> round(locate_screw(1.0, 0.002, T) / np.pi, 12)
    1.5
    """
    if rate == 0.0:
        return float(T[2, 3] / lead)
    angle = math.atan2(T[1, 0] - T[0, 1], T[0, 0] + T[1, 1])
    if lead == 0.0:
        return angle / rate
    shift = float(T[2, 3])
    turns = (shift * rate / lead - angle) / (2.0 * math.pi)
    if abs(lead) * 2.0 * math.pi > _LEAST_ADVANCE * abs(rate) and math.isfinite(turns):
        angle += 2.0 * math.pi * round(turns)
    return (rate * angle + lead * shift) / (rate * rate + lead * lead)


def _turn_and_shifts(screws: FloatArray, T: FloatArray) -> FloatArray:
    """Of a turn, or screw, about z and shifts along x, y or z, one after another."""
    q = np.zeros(len(screws))
    turning = int(np.argmax(screws[:, 2] != 0.0))
    q[turning] = angle = locate_screw(1.0, screws[turning, 5], T)
    c, s = math.cos(angle), math.sin(angle)
    plane, axes = [], []
    for k, X in enumerate(screws):
        if X[5] != 0.0 and k != turning:
            q[k] = T[2, 3] / X[5]
        elif k != turning:
            plane.append(k)
            turned = (c * X[3] - s * X[4], s * X[3] + c * X[4])
            axes.append(turned if k > turning else (X[3], X[4]))
    if plane:
        (a, b), (x, y) = axes, T[:2, 3]
        volume = a[0] * b[1] - a[1] * b[0]
        if abs(volume) < _PARALLEL:
            q[plane] = a[0] * x + a[1] * y, 0.0
        else:
            q[plane] = (x * b[1] - y * b[0]) / volume, (a[0] * y - a[1] * x) / volume
    return q


def _shifts(screws: FloatArray, T: FloatArray) -> FloatArray:
    """Of shifts: the nearest place that they lead to."""
    found = np.linalg.lstsq(screws[:, 3:].T, T[:3, 3], rcond=None)[0]
    return np.array(found, dtype=np.float64)


def _crossed_axes(screws: FloatArray, T: FloatArray) -> FloatArray:
    """Of turns about e1 and e2: the first takes e2 next to R e2, the second R^T e1 next to e1."""
    (e1, e2), R = screws[:, :3], T[:3, :3]
    return np.array([_angle_about(e1, e2, R @ e2), _angle_about(e2, R.T @ e1, e1)])


def _angle_about(e: FloatArray, a: FloatArray, b: FloatArray) -> float:
    """Return the turn about e that takes a next to b."""
    return math.atan2(e @ np.cross(a, b), np.cross(e, a) @ np.cross(e, b))


def _angles(screws: FloatArray, T: FloatArray) -> FloatArray:
    """Of three turns about axes among x, y and z.

    `mbkit.joints.euler_angles` says what happens where the middle angle leaves others open.
    """
    first, second, third = (int(axis) for axis in np.argmax(screws[:, :3] != 0.0, axis=1))
    return angles_of(_quaternion(T), (first, second, third))


def _rotation_vector(screws: FloatArray, T: FloatArray) -> FloatArray:
    """Of the sum of turns about x, y and z: the logarithm."""
    return UnitQuaternion.log(_quaternion(T))


def _normal_rotation_vector(screws: FloatArray, T: FloatArray) -> FloatArray:
    """Of the sum of turns about x and y.

    Nearest to a unit quaternion is the one without its last entry; to a turn by pi about z, all of
    them are equally near.
    """
    Q = _quaternion(T) * (1.0, 1.0, 1.0, 0.0)
    size = np.linalg.norm(Q)
    if size == 0.0:
        return np.zeros(2)
    return UnitQuaternion.log(Q / size)[:2]


def _screw_coordinates(screws: FloatArray, T: FloatArray) -> FloatArray:
    """Of the sum of all turns and shifts: the logarithm."""
    return SE3.log(T)


def _planar_sum(screws: FloatArray, T: FloatArray) -> FloatArray:
    """Of the sum of a turn, or screw, about z, shifts along x and y, and one along z or none.

    (x, y) = h cot(h) p - h z x p, h half of the angle.
    """
    angle = locate_screw(1.0, screws[0, 5], T)
    h, (x, y, z) = 0.5 * angle, T[:3, 3]
    c = 1.0 if h == 0.0 else h * math.cos(h) / math.sin(h)
    return np.array([angle, c * x + h * y, c * y - h * x, z][: len(screws)])


def _quaternion(T: FloatArray) -> FloatArray:
    return UnitQuaternion.from_rotation(T[:3, :3])


TURN_AND_SHIFTS = Chart(_turn_and_shifts)
SHIFTS = Chart(_shifts)
CROSSED_AXES = Chart(_crossed_axes)
ANGLES = Chart(_angles)
ROTATION_VECTOR = Chart(_rotation_vector)
NORMAL_ROTATION_VECTOR = Chart(_normal_rotation_vector)
SCREW_COORDINATES = Chart(_screw_coordinates)
PLANAR_SUM = Chart(_planar_sum)

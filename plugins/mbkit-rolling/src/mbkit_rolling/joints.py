"""A sphere and a disc that roll on a plane without slip."""

from __future__ import annotations

import abc
import math
from typing import Any, final

import attrs
import numpy as np

import mbkit as mb
from mbkit.lie import SO3, UnitQuaternion
from mbkit.lie.arrays import hat

__all__ = ["RollingDisc", "RollingJoint", "RollingSphere"]


def _check_radius(joint: RollingJoint, _attribute: object, value: Any) -> None:
    if not (isinstance(value, int | float | np.number) and 0.0 < value < math.inf):
        raise mb.JointError(
            f"Joint {joint.name!r}: radius must be a positive, finite number, got {value!r}. [m]"
        )


def _hat(u: Any) -> Any:
    return np.cross(np.eye(3), -u)


@attrs.frozen
class RollingJoint(mb.Joint):
    """A round body on the plane z = 0 of the joint frame, above which its centre is.

    The successor's joint frame is in the centre of the body. Positions are a unit quaternion
    (w, x, y, z), the rotation R of the body, and the point of contact (x, y) on the plane;
    velocities are the angular velocity of the body in its own axes. [rad/s]

    With u the unit vector from the contact to the centre, in the axes of the body, and w the
    angular velocity:

        T = (R, c + r R u),   S = (I; -r hat(u)),
        S-dot w = (0; r w x du/dt),   dc/dt = -r R du/dt.

    The contact has no velocity as a point of the body. It wanders on the plane, so that the body
    can come to any place in any rotation: positions have five dimensions, velocities three.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    radius : float
        Of the body. [m]
    """

    name: str
    radius: float = attrs.field(validator=_check_radius)

    num_positions = 6
    num_velocities = 3

    @property
    def ndx(self) -> int:
        """A rotation in the axes of the body, and a way of the contact."""
        return 5

    @abc.abstractmethod
    def centre(self, n: Any, w: Any) -> tuple[Any, Any]:
        """Return u and its rate in the axes of the body.

        Parameters
        ----------
        n : ndarray, shape (3,)
            The normal of the plane, in the axes of the body.
        w : ndarray, shape (3,)
            Angular velocity, in the axes of the body. [rad/s]

        Returns
        -------
        u, rate : ndarray, shape (3,)
            The unit vector from the contact to the centre, and its rate.
        """

    def _rotation(self, q: Any) -> Any:
        from mbkit.spatial.frames import unit_rotation

        return unit_rotation(
            np.asarray(q)[:4], f"Joint {self.name!r}: rotation", mb.ConfigurationError
        )

    def pose(self, q: Any) -> Any:
        """Return (R, c + r R u)."""
        R = self._rotation(q)
        u, _ = self.centre(R[2], np.zeros(3))
        T = np.eye(4)
        T[:3, :3] = R
        T[:3, 3] = np.array([q[4], q[5], 0.0]) + self.radius * (R @ u)
        return T

    def motion_subspace(self, q: Any) -> Any:
        """Return (I; -r hat(u))."""
        u, _ = self.centre(self._rotation(q)[2], np.zeros(3))
        return np.vstack([np.eye(3), -self.radius * hat(u)])

    def bias(self, q: Any, v: Any) -> Any:
        """Return (0; r w x du/dt)."""
        _, rate = self.centre(self._rotation(q)[2], v)
        return np.concatenate([np.zeros(3), self.radius * np.cross(v, rate)])

    def rates(self, q: Any, v: Any) -> Any:
        """Return the angular velocity and the velocity of the contact, (w, -r R du/dt)."""
        R = self._rotation(q)
        _, rate = self.centre(R[2], v)
        return np.concatenate([v, -self.radius * (R @ rate)[:2]])

    def retract(self, q: Any, dx: Any) -> Any:
        """Return q exp(dx) on SO(3) x R^2."""
        turned = UnitQuaternion.compose(q[:4], UnitQuaternion.exp(dx[:3]))
        return np.concatenate([turned / np.linalg.norm(turned), q[4:] + dx[3:]])

    def difference(self, q0: Any, q1: Any) -> Any:
        """Return log(q0^-1 q1) on SO(3) x R^2."""
        turn = UnitQuaternion.compose(UnitQuaternion.inverse(q0[:4]), q1[:4])
        return np.concatenate([UnitQuaternion.log(turn), q1[4:] - q0[4:]])

    def dexp_inv(self, x: Any, w: Any) -> Any:
        """Return dexp_body^-1(x) w on SO(3) x R^2."""
        return np.concatenate([SO3.dexp_body_inv(x[:3]) @ w[:3], w[3:]])

    def constraint_wrenches(self, q: Any) -> Any:
        """Return the forces at the contact: (-r hat(u); I)."""
        u, _ = self.centre(self._rotation(q)[2], np.zeros(3))
        return np.vstack([-self.radius * hat(u), np.eye(3)])

    @property
    def position_units(self) -> tuple[str, ...]:
        """Metres for the contact."""
        return ("", "", "", "", "m", "m")

    def parameters(self) -> Any:
        """Return the radius."""
        return np.array([self.radius])


@final
@attrs.frozen
class RollingSphere(RollingJoint):
    """A sphere that rolls without slip on the plane z = 0 of the joint frame.

    It may turn on the spot; its centre of mass may be anywhere. q is a unit quaternion and the
    point of contact (x, y), v the angular velocity in the axes of the body. [m], [rad/s]

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    radius : float
        Of the sphere. [m]

    Raises
    ------
    mbkit.JointError
        If the radius is not positive and finite.

    References
    ----------
    .. [1] J. I. Neimark, N. A. Fufaev, *Dynamics of Nonholonomic Systems*, American Mathematical
       Society 1972, chapters 1 and 2.

    Examples
    --------
    A ball that rolls along x turns about y:

    >>> import numpy as np
    >>> ball = RollingSphere("ball", radius=0.5)
    >>> twist = ball.motion_subspace(ball.neutral()) @ [0, 2.0, 0]
    >>> bool(np.allclose(twist, [0, 2.0, 0, 1.0, 0, 0]))
    True
    """

    def centre(self, n: Any, w: Any) -> tuple[Any, Any]:
        """Return the normal and its rate, n x w."""
        return n, np.cross(n, w)

    def neutral(self) -> Any:
        """Return the axes of the joint frame, and the contact in its origin."""
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def kernels(self) -> mb.JointKernels:
        """Return the compiled forms."""
        from mbkit_rolling import kernels

        return mb.JointKernels(
            motion=kernels.sphere_motion,
            retract=kernels.retract,
            difference=kernels.difference,
            dexp_inv=kernels.dexp_inv,
            rates=kernels.sphere_rates,
            constraint_wrenches=kernels.sphere_wrenches,
        )


@final
@attrs.frozen
class RollingDisc(RollingJoint):
    """A thin disc that rolls on its edge without slip, on the plane z = 0 of the joint frame.

    Its axis is the z axis of the successor's joint frame. q is a unit quaternion and the point of
    contact (x, y), v the angular velocity in the axes of the body. [m], [rad/s] In the neutral
    configuration it stands upright, with the axis along y; a positive v[2] then rolls it along x.

    Where it lies flat on the plane it has no point of contact: that is its singular configuration.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    radius : float
        Of the disc. [m]

    Raises
    ------
    mbkit.JointError
        If the radius is not positive and finite.
    mbkit.ConfigurationError
        When it is asked for the pose of a disc that lies flat.

    References
    ----------
    .. [1] J. I. Neimark, N. A. Fufaev, *Dynamics of Nonholonomic Systems*, American Mathematical
       Society 1972, chapters 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> disc = RollingDisc("wheel", radius=0.5)
    >>> disc.pose(disc.neutral()).round(9)[:3, 3] + 0.0
    array([0. , 0. , 0.5])
    >>> disc.rates(disc.neutral(), np.array([0, 0, 2.0])).round(9)[3:] + 0.0
    array([1., 0.])
    """

    def centre(self, n: Any, w: Any) -> tuple[Any, Any]:
        """Return the part of n in the disc, of length one, and its rate.

        With b = e_z x u and s = |n_xy|, the sine of the lean: du/dt = -(w_z - n_z / s w.u) b.
        """
        s = np.hypot(n[0], n[1])
        if s == 0.0:
            raise mb.ConfigurationError(
                f"Joint {self.name!r}: the disc lies flat on its plane and has no point of "
                "contact; start from another rotation."
            )
        u = np.array([n[0] / s, n[1] / s, 0.0])
        b = np.array([-u[1], u[0], 0.0])
        return u, -(w[2] - n[2] / s * (w @ u)) * b

    def neutral(self) -> Any:
        """Return it upright, with its axis along y and the contact in the origin."""
        return np.array([math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0, 0.0, 0.0])

    def singularity(self, q: Any) -> float:
        """Return the sine of the angle between the disc and the plane."""
        return float(np.hypot(*self._rotation(q)[2, :2]))

    @property
    def singularity_remedy(self) -> str:
        """Nothing does: a disc that lies flat rolls no more."""
        return (
            "nothing does: a disc that falls flat rolls no more; end the run with an event before"
        )

    def kernels(self) -> mb.JointKernels:
        """Return the compiled forms."""
        from mbkit_rolling import kernels

        return mb.JointKernels(
            motion=kernels.disc_motion,
            retract=kernels.retract,
            difference=kernels.difference,
            dexp_inv=kernels.dexp_inv,
            rates=kernels.disc_rates,
            constraint_wrenches=kernels.disc_wrenches,
        )

"""Points and poses of bodies that are functions of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.constraints.constraint import Constraint
from mbkit.constraints.fields import check_name_field, fault, point, pose, returned, table
from mbkit.constraints.spline import check_table, spline
from mbkit.forces.kernels import Addressed
from mbkit.lie import SO3, UnitQuaternion
from mbkit.spatial.arrays import FloatArray, with_key
from mbkit.spatial.frames import check_pose

if TYPE_CHECKING:
    from mbkit.joints import Joint

_OUTSIDE = "The time is outside of those of its table."

#: Of half the angle between neighbouring rotations of a table: a curve through quaternions that are
#: farther from each other comes near zero, where it has no direction.
_LEAST_COSINE = 0.5


def _shown(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _check_function_or_table(owner: Any, values: str, shape: tuple[int, ...]) -> None:
    """Raise unless a constraint has either a function, or times and a table of values."""
    if owner.function is None:
        if owner.times.size == 0:
            raise fault(owner, "function", f"must be given, or times and {values} instead.")
        check_table(owner, "times", values, shape)
    elif not callable(owner.function) or isinstance(owner.function, type):
        text = f"must be a function of the time, got {owner.function!r}."
        raise fault(owner, "function", text)
    elif owner.times.size or getattr(owner, values).size:
        raise fault(owner, "times", "must be left out where there is a function.")


@final
@attrs.frozen
class PrescribedPoint(Constraint):
    """A point of a body follows a function of time in the world.

    Three rows, x - f(t) along the axes of the world [m]; the multipliers are the force on the point
    that this takes. [N] Prescribe joints by `Joint.prescribe`.

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    body : str
        Name of the body.
    function : callable, optional
        ``function(t) -> (3,)``: where the point is; twice differentiable. [m]
    point : ndarray, shape (3,), default the origin
        The point, in the frame of the body. [m]
    times, positions : ndarray, shapes (k,) and (k, 3)
        A table in the function's stead, which files can hold and runs compiled: four or more times,
        increasing, and where the point is then. Between them it moves on a cubic spline; outside of
        them it is nowhere, and an error. [s], [m]

    Raises
    ------
    ConstraintError, ShapeError, GeometryError
        If there is neither a function nor a table, or both.

    Examples
    --------
    >>> import numpy as np
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("crane")
    >>> hook = mech.add_body(mb.Body("hook", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    >>> _ = mech.add_joint(mb.TranslationalJoint("anywhere"), mech.world, hook)
    >>> lift = mb.PrescribedPoint("lift", "hook", lambda t: [0.0, 0.0, t**2])
    >>> _ = mech.add_constraint(lift)
    >>> vdot, force = mech.assemble().solve_dynamics(np.zeros(3), np.zeros(3))
    >>> vdot.round(9) + 0.0, force.round(9) + 0.0
    (array([0., 0., 2.]), array([ 0.  ,  0.  , 23.62]))
    """

    name: str
    body: str = attrs.field(validator=check_name_field)
    function: Any = attrs.field(default=None, repr=_shown)
    point: FloatArray = point()
    times: FloatArray = table(())
    positions: FloatArray = table(())

    num_rows = 3
    without_value = _OUTSIDE

    def __attrs_post_init__(self) -> None:
        _check_function_or_table(self, "positions", (3,))

    @property
    def bodies(self) -> tuple[str, ...]:  # type: ignore[override]
        """The body's name."""
        return (self.body,)

    def residual(self, t: float, q: FloatArray, poses: FloatArray) -> FloatArray:
        """Return x - f(t)."""
        C = poses[0]
        x: FloatArray = C[:3, :3] @ self.point + C[:3, 3] - returned(self, self.function(t), (3,))
        return x

    def kernel(self) -> Addressed | None:
        """Return the compiled function of a table."""
        if self.function is not None:
            return None
        from mbkit.kernels.constraints.kinds import prescribed_point

        return prescribed_point.evaluate

    def parameters(self) -> FloatArray:
        """Return the point and the spline."""
        return np.concatenate([self.point, spline(self.times, self.positions)])


@final
@attrs.frozen
class PrescribedPose(Constraint):
    """A frame of a body follows a function of time in the world.

    Six rows: the rotation vector from where the frame should be to where it is, in the frame's axes
    [rad], and the way of its origin, in the axes of the world [m]. Rotation vectors are smooth up
    to half a turn, where they turn over; there the residual is pi, so that a frame that is where it
    should be is far from it.

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    body : str
        Name of the body.
    function : callable, optional
        ``function(t) -> (4, 4)``: the frame's pose in the world, twice differentiable; for example
        by `mbkit.lie`. [m]
    frame : ndarray, shape (4, 4), default the identity
        The frame, in that of the body.
    times, poses : ndarray, shapes (k,) and (k, 4, 4)
        A table in the function's stead, which files can hold and runs compiled: four or more times,
        increasing, and the frame's pose then. Between them its origin moves on a cubic spline, and
        it turns as a cubic spline of quaternions does whose values are normalised: the same curve
        in whatever frames one has it. From one pose to the next it may turn by up to 120 degrees.
        Outside of the times it is nowhere, and an error. [s], [m]

    Raises
    ------
    ConstraintError, ShapeError, GeometryError
        If there is neither a function nor a table, or both, or the frame or an entry of the table
        is no pose.

    Examples
    --------
    >>> import numpy as np
    >>> import mbkit as mb
    >>> import mbkit.lie
    >>> mech = mb.Mechanism("camera")
    >>> head = mech.add_body(mb.Body("head", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> _ = mech.add_joint(mb.FreeJoint("free"), mech.world, head)
    >>> pan = mb.PrescribedPose("pan", "head", lambda t: mbkit.lie.SE3.exp(t * np.eye(6)[2]))
    >>> _ = mech.add_constraint(pan)
    >>> system = mech.assemble()
    >>> rate = system.constraint_velocity(system.reference_configuration(), np.eye(6)[2])
    >>> bool(abs(rate).max() < 1e-15)
    True

    The same by a table, which is compiled:

    >>> times = np.linspace(-1.0, 2.0, 31)
    >>> poses = mbkit.lie.SE3.exp(times[:, None] * np.eye(6)[2])
    >>> pan = mb.PrescribedPose("pan", "head", times=times, poses=poses)
    >>> mb.testing.check_constraint(pan).holds
    True
    """

    name: str
    body: str = attrs.field(validator=check_name_field)
    function: Any = attrs.field(default=None, repr=_shown)
    frame: FloatArray = pose()
    times: FloatArray = table(())
    poses: FloatArray = table(())

    num_rows = 6
    without_value = _OUTSIDE

    def __attrs_post_init__(self) -> None:
        _check_function_or_table(self, "poses", (4, 4))
        if self.function is None:
            what = f"Constraint {self.name!r}"
            for k, each in enumerate(self.poses):
                with_key("poses", check_pose, each, f"{what}: poses[{k}]")
            turns = quaternions_of(self.poses)
            cosines = np.einsum("ki,ki->k", turns[1:], turns[:-1])
            if cosines.min() < _LEAST_COSINE:
                k = int(np.argmin(cosines))
                angle = np.degrees(2.0 * np.arccos(cosines[k]))
                text = f"must turn by less than 120 degrees from one to the next, got {angle:.0f} "
                raise fault(
                    self, "poses", f"{text}from poses[{k}] to poses[{k + 1}]; give more times."
                )

    @property
    def bodies(self) -> tuple[str, ...]:  # type: ignore[override]
        """The body's name."""
        return (self.body,)

    def residual(self, t: float, q: FloatArray, poses: FloatArray) -> FloatArray:
        """Return log(R_f^T R), p - p_f."""
        C = poses[0] @ self.frame
        wanted = returned(self, self.function(t), (4, 4))
        turned = SO3.log(wanted[:3, :3].T @ C[:3, :3])
        return np.concatenate([turned, C[:3, 3] - wanted[:3, 3]])

    def row_units(self, joints: Sequence[Joint]) -> tuple[str, ...]:
        """Return "rad" for the first three, "m" for the others."""
        return ("rad",) * 3 + ("m",) * 3

    def kernel(self) -> Addressed | None:
        """Return the compiled function of a table."""
        if self.function is not None:
            return None
        from mbkit.kernels.constraints.kinds import prescribed_pose

        return prescribed_pose.evaluate

    def parameters(self) -> FloatArray:
        """Return the frame and the spline of a table."""
        if self.function is not None:
            return np.zeros(0)
        frame = [self.frame[:3, 3], self.frame[:3, :3].ravel()]
        curve = np.hstack([quaternions_of(self.poses), self.poses[:, :3, 3]])
        return np.concatenate([*frame, spline(self.times, curve)])


def quaternions_of(poses: FloatArray) -> FloatArray:
    """Return the unit quaternion of each pose, of both the one that is nearer to that before."""
    found = UnitQuaternion.from_rotation(poses[:, :3, :3])
    signs = np.where(np.einsum("ki,ki->k", found[1:], found[:-1]) < 0.0, -1.0, 1.0)
    found[1:] *= np.cumprod(signs)[:, None]
    return found

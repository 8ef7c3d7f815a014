"""A force or torque along a joint that is known over time."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ForceError
from mbkit.forces.bases.joint_force import JointForce
from mbkit.forces.bases.table import check_table, interpolation, pieces, times
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown


def _row(value: ArrayLike) -> FloatArray:
    array = frozen_array(value)
    return array if array.ndim else frozen_array(array.reshape(1))


@final
@attrs.frozen
class JointEffort(JointForce):
    """A force or torque along a joint, constant or known over time: tau = f(t), which supplies f v.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    joint : str
        Name of the joint; it must have one velocity.
    effort : ndarray, shape (k,), or a number
        f at the times; one number for a constant. [N m], [N]
    times : ndarray, shape (k,), optional
        Two or more, increasing. Before the first and after the last the effort has its value there;
        where it must be zero, end the table with zeros. [s]
    interpolation : {"linear", "cubic"}
        Between the times: straight lines, or a cubic spline ("not a knot"). Integrators lose their
        order at the kinks of the former, unless their steps end there.

    Raises
    ------
    ForceError, ShapeError, GeometryError
        If the table is none.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("wheel")
    >>> wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> axle = mech.add_joint(mb.RevoluteJoint("axle"), mech.world, wheel)
    >>> motor = mech.add_force(mb.JointEffort("motor", "axle", effort=[0, 2, 0], times=[0, 1, 3]))
    >>> mech.assemble().generalized_forces([0.0], [0.0], [0.5, 2.0, 9.0]).ravel()
    array([1., 1., 0.])
    """

    effort: FloatArray = attrs.field(converter=_row, eq=EQUAL, hash=False, repr=shown)
    times: FloatArray = times()
    interpolation: str = interpolation()

    def __attrs_post_init__(self) -> None:
        check_table(self, "effort", 1)

    @property
    def constant_effort(self) -> float | None:
        """The effort where it is the same at all times, else None. [N m], [N]."""
        return float(self.effort[0]) if np.ptp(self.effort) == 0.0 else None

    def check_joint(self, joint: str, positions: int, velocities: int) -> None:
        """Raise unless the joint has one velocity; see `check_force_names`."""
        JointForce.check_joint(self, joint, positions, velocities)
        if velocities != 1:
            raise ForceError(
                f"Force {self.name!r}: joint {joint!r} has {velocities} velocities, and the table "
                "is for one; use a BodyWrench on the body behind it."
            )

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces.kinds import joint_effort

        return ForceKernels(joint_effort.evaluate, reads_time=self.times.size > 0)

    def parameters(self) -> FloatArray:
        """Return the pieces of the table."""
        return pieces(self.effort, self.times, self.interpolation)

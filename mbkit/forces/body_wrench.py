"""A wrench on a body that is known over time."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.forces.bases.body_force import BodyForce
from mbkit.forces.bases.fields import choice, point
from mbkit.forces.bases.table import check_table, interpolation, pieces, times
from mbkit.forces.kernels import ForceKernels
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown


def _rows(value: ArrayLike) -> FloatArray:
    array = frozen_array(value)
    return frozen_array(array[None]) if array.ndim == 1 else array


@final
@attrs.frozen
class BodyWrench(BodyForce):
    """A moment and a force on a body, constant or known over time; their power is supplied.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    body : str
        Name of the body.
    wrench : ndarray, shape (k, 6) or (6,)
        (moment, force) at the times; one for a constant. [N m], [N]
    times : ndarray, shape (k,), optional
        Two or more, increasing. Before the first and after the last the wrench has its value there.
        [s]
    interpolation : {"linear", "cubic"}
        Between the times: straight lines, or a cubic spline ("not a knot").
    axes : {"world", "body"}
        In which moment and force are given. In those of the body they turn with it.
    point : ndarray, shape (3,), default the origin
        Where the force acts, in the frame of the body; the moment is about it. [m]

    Raises
    ------
    ForceError, ShapeError, GeometryError
        If the table is none, or an argument is out of its range.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("slider")
    >>> body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    >>> thrust = mech.add_force(mb.BodyWrench("thrust", "body", wrench=[0, 0, 0, 0, 0, 5.0]))
    >>> mech.assemble().generalized_forces([0.0], [0.0])
    array([5.])
    """

    wrench: FloatArray = attrs.field(converter=_rows, eq=EQUAL, hash=False, repr=shown)
    times: FloatArray = times()
    interpolation: str = interpolation()
    axes: str = choice("world", "body")
    point: FloatArray = point()

    def __attrs_post_init__(self) -> None:
        check_table(self, "wrench", 6)

    def kernels(self) -> ForceKernels:
        """Return the compiled functions."""
        from mbkit.kernels.forces.kinds import body_wrench

        return ForceKernels(body_wrench.evaluate, reads_time=self.times.size > 0)

    def parameters(self) -> FloatArray:
        """Return the point, 1 where the axes are the world's, and the pieces of the table."""
        in_world: Any = [float(self.axes == "world")]
        table = pieces(self.wrench, self.times, self.interpolation)
        return np.concatenate([self.point, in_world, table])

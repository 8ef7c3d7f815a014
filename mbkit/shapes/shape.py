"""The contract of a shape."""

from __future__ import annotations

import abc

import attrs
import numpy as np

from mbkit.shapes.color import Color, as_color, check_color
from mbkit.shapes.triangles import Triangles
from mbkit.shapes.volume import inertia_of_mesh
from mbkit.spatial import SpatialInertia
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown
from mbkit.spatial.frames import stored_pose

_IDENTITY = frozen_array(np.eye(4))


@attrs.frozen
class Shape(abc.ABC):
    """The shape of a body in pictures, or of a piece of it, without influence on the motion.

    Derive from this class to define a shape of your own, as an attrs class whose fields are its
    dimensions; only `mesh` is required.

    Attributes
    ----------
    pose : ndarray, shape (4, 4), default the identity, keyword only
        Pose of the shape's frame in the frame of the body.
    color : tuple of float, default None, keyword only
        Red, green, blue and, if not one, opacity, from 0 to 1, or text such as ``"#3366cc"``;
        kept as four numbers. None is the colour of the body.

    Raises
    ------
    ShapeError, GeometryError
        If the pose is none, or a size is not positive.
    UsageError
        If the colour is none.

    Examples
    --------
    >>> import attrs
    >>> import mbkit as mb
    >>> @attrs.frozen
    ... class Wedge(mb.Shape):
    ...     height: float
    ...
    ...     def mesh(self):
    ...         corners = self.height * np.vstack([np.zeros(3), np.eye(3)])
    ...         return corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> vertices, faces = Wedge(2.0, color="#ff0000").mesh()
    >>> vertices[1]
    array([2., 0., 0.])
    """

    pose: FloatArray = attrs.field(
        default=_IDENTITY, converter=frozen_array, validator=stored_pose, eq=EQUAL, hash=False,
        repr=shown, kw_only=True,
    )  # fmt: skip
    color: Color | None = attrs.field(
        default=None, converter=as_color, validator=check_color, kw_only=True
    )

    @abc.abstractmethod
    def mesh(self) -> Triangles:
        """Return the surface as triangles.

        Returns
        -------
        vertices : ndarray of float, shape (n, 3)
            In the frame of the shape. [m]
        faces : ndarray of int, shape (m, 3)
            Rows of `vertices` that are the corners of a triangle, counter-clockwise as seen from
            outside.
        """

    def inertia(self, mass: float | None = None, *, density: float | None = None) -> SpatialInertia:
        """Return the inertia of a homogeneous body of this shape, in the frame of the body.

        Parameters
        ----------
        mass : float, optional
            [kg]; give this or `density`.
        density : float, optional
            [kg/m^3]

        Returns
        -------
        SpatialInertia
            In closed form where the shape has one, else of the volume inside of its triangles.

        Raises
        ------
        InertiaError
            If mass or density is impossible, both or neither are given, or the triangles are no
            closed surface.

        Examples
        --------
        >>> import mbkit as mb
        >>> box = mb.BoxShape((1, 2, 3), pose=mb.spatial.translation((0.5, 0, 0)))
        >>> box.inertia(12.0).com
        array([0.5, 0. , 0. ])
        """
        found = self._inertia(mass, density)
        return found if np.array_equal(self.pose, _IDENTITY) else found.transformed(self.pose)

    def _inertia(self, mass: float | None, density: float | None) -> SpatialInertia:
        """Return the inertia in the frame of the shape."""
        return inertia_of_mesh(type(self).__name__, self.mesh(), mass, density)

"""Inertias of homogeneous bodies, by their shapes."""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike

from mbkit.spatial import shapes

__all__ = ["Homogeneous"]


class Homogeneous:
    """The constructors of `SpatialInertia` that take a shape."""

    __slots__ = ()

    @classmethod
    def box(
        cls, mass: float | None = None, *, size: ArrayLike, density: float | None = None
    ) -> Self:
        """Return the inertia of a homogeneous box about the origin.

        Parameters
        ----------
        mass : float, optional
            [kg]; give this or `density`.
        size : array_like, shape (3,)
            Length of the edges along x, y, z. [m]
        density : float, optional
            [kg/m^3]

        Returns
        -------
        SpatialInertia
            Centre of mass at the origin; move it by `transformed`.

        Raises
        ------
        InertiaError, ShapeError
            If mass, density or size is impossible, or both or neither of mass and density are
            given.

        Examples
        --------
        >>> from mbkit.spatial import SpatialInertia
        >>> SpatialInertia.box(12.0, size=(1, 2, 3)).moment_about_com.diagonal()
        array([13., 10.,  5.])
        """
        return cls._of_shape(shapes.box(size), mass, density)

    @classmethod
    def cylinder(
        cls,
        mass: float | None = None,
        *,
        radius: float,
        length: float,
        density: float | None = None,
    ) -> Self:
        """Return the inertia of a homogeneous cylinder about the origin, its axis along z.

        By its radius and length [m]; mass, density, place and errors are as for `box`.

        Examples
        --------
        >>> from mbkit.spatial import SpatialInertia
        >>> SpatialInertia.cylinder(12.0, radius=1.0, length=3.0).moment_about_com.diagonal()
        array([12., 12.,  6.])
        """
        return cls._of_shape(shapes.cylinder(radius, length), mass, density)

    @classmethod
    def sphere(
        cls, mass: float | None = None, *, radius: float, density: float | None = None
    ) -> Self:
        """Return the inertia of a homogeneous ball about the origin.

        By its radius [m]; mass, density, place and errors are as for `box`.

        Examples
        --------
        >>> from mbkit.spatial import SpatialInertia
        >>> SpatialInertia.sphere(2.5, radius=1.0).moment_about_com[0, 0]
        np.float64(1.0)
        """
        return cls._of_shape(shapes.sphere(radius), mass, density)

    @classmethod
    def capsule(
        cls,
        mass: float | None = None,
        *,
        radius: float,
        length: float,
        density: float | None = None,
    ) -> Self:
        """Return the inertia of a homogeneous capsule about the origin, its axis along z.

        By the radius of the cylinder and of the half balls at its ends, and the length of the
        cylinder alone, zero for a ball [m]; mass, density, place and errors are as for `box`.

        Examples
        --------
        >>> from mbkit.spatial import SpatialInertia
        >>> ball = SpatialInertia.capsule(2.5, radius=1.0, length=0.0)
        >>> float(ball.moment_about_com[0, 0].round(12))
        1.0
        """
        return cls._of_shape(shapes.capsule(radius, length), mass, density)

    @classmethod
    def _of_shape(
        cls, shape: shapes.UnitDensity, mass: float | None, density: float | None
    ) -> Self:
        raise NotImplementedError

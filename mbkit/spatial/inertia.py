"""Mass, centre of mass and moment of inertia of a rigid body."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.spatial import shapes
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown, with_key
from mbkit.spatial.frames import check_pose
from mbkit.spatial.inertial_parameters import (
    check_com,
    check_inertia,
    check_mass,
    check_moment,
    entries_of_parameters,
    parameters_of,
)


@final
@attrs.frozen
class SpatialInertia:
    """How a body resists acceleration: mass, centre of mass and moment of inertia, in one frame.

    Make it by `from_com`, `from_origin`, `box`, `cylinder`, `sphere`, `capsule`, `ellipsoid` or
    `zero`; a bare moment would leave its reference point open.

    Attributes
    ----------
    mass : float
        Positive, or zero for a body without any inertia. [kg]
    com : ndarray, shape (3,)
        Centre of mass. [m]
    moment_about_com : ndarray, shape (3, 3)
        Moment of inertia about the centre of mass, in the axes of the frame. [kg m^2]
    unphysical : bool, default False
        Whether the moment is one that no body has, which is an error unless this is true: for data
        of others that are not quite right. False is stored where the moment is possible.

    Raises
    ------
    InertiaError
        If no body has this inertia: a mass that is negative or not finite, a moment that is not
        symmetric, or, unless `unphysical`, one whose principal moments are negative or break the
        triangle inequality.

    Notes
    -----
    The principal moments of a body are sums such as A = b + c, B = c + a of second moments of mass
    a, b, c >= 0: none is larger than the sum of the others, but for 1e-10 of the largest.

    Examples
    --------
    >>> rod = SpatialInertia.cylinder(2.0, radius=0.01, length=1.0)
    >>> both = rod + rod.transformed(np.diag([-1.0, -1.0, 1.0, 1.0]))
    >>> both.mass
    4.0
    """

    mass: float
    com: FloatArray = attrs.field(converter=frozen_array, eq=EQUAL, hash=False, repr=shown)
    moment_about_com: FloatArray = attrs.field(
        converter=frozen_array, eq=EQUAL, hash=False, repr=shown
    )
    unphysical: bool = False

    def __attrs_post_init__(self) -> None:
        with_key("mass", check_mass, self.mass)
        object.__setattr__(self, "mass", float(self.mass))
        unphysical = check_inertia(self.mass, self.com, self.moment_about_com, self.unphysical)
        object.__setattr__(self, "unphysical", unphysical)

    @classmethod
    def from_com(
        cls,
        mass: float,
        com: ArrayLike,
        moment_about_com: ArrayLike = ((0.0,) * 3,) * 3,
        *,
        unphysical: bool = False,
    ) -> SpatialInertia:
        """Return an inertia given by the moment about the centre of mass.

        Parameters
        ----------
        mass : float
            [kg]
        com : array_like, shape (3,)
            Centre of mass, in the body's frame. [m]
        moment_about_com : array_like, shape (3, 3), default zero (a point mass)
            About the centre of mass, in the axes of the body's frame. [kg m^2]
        unphysical : bool
            Whether to accept a moment that no body has.

        Raises
        ------
        InertiaError, ShapeError
            If no body has this inertia, or an array is of the wrong shape.

        Examples
        --------
        >>> SpatialInertia.from_com(2.0, (0.5, 0, 0)).moment_about_origin[2, 2]
        np.float64(0.5)
        """
        return cls(mass, com, moment_about_com, unphysical)

    @classmethod
    def from_origin(
        cls,
        mass: float,
        com: ArrayLike,
        moment_about_origin: ArrayLike,
        *,
        unphysical: bool = False,
    ) -> SpatialInertia:
        """Return an inertia given by the moment about the origin of the body's frame.

        In its axes [kg m^2]; mass, centre of mass, `unphysical` and errors are as of `from_com`.

        Notes
        -----
        Huygens and Steiner: moment_about_com = moment_about_origin - m (c.c I - c c^T).

        Examples
        --------
        >>> tip = SpatialInertia.from_origin(2.0, (0.5, 0, 0), np.diag([0.0, 0.5, 0.5]))
        >>> bool(tip.moment_about_com.any())
        False
        """
        with_key("mass", check_mass, mass)
        c = frozen_array(com)
        with_key("com", check_com, c)
        about_origin = frozen_array(moment_about_origin)
        check_moment(about_origin, "moment_about_origin", unphysical=unphysical)
        return cls(mass, c, about_origin - shapes.point_moment(mass, c), unphysical)

    @classmethod
    def zero(cls) -> SpatialInertia:
        """Return the inertia of a body without mass and without moment.

        Examples
        --------
        >>> SpatialInertia.zero().mass
        0.0
        """
        return cls(0.0, np.zeros(3), np.zeros((3, 3)))

    @classmethod
    def box(
        cls, mass: float | None = None, *, size: ArrayLike, density: float | None = None
    ) -> SpatialInertia:
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
    ) -> SpatialInertia:
        """Return the inertia of a homogeneous cylinder about the origin, its axis along z.

        By its radius and length [m]; mass, density, place and errors are as for `box`.

        Examples
        --------
        >>> SpatialInertia.cylinder(12.0, radius=1.0, length=3.0).moment_about_com.diagonal()
        array([12., 12.,  6.])
        """
        return cls._of_shape(shapes.cylinder(radius, length), mass, density)

    @classmethod
    def sphere(
        cls, mass: float | None = None, *, radius: float, density: float | None = None
    ) -> SpatialInertia:
        """Return the inertia of a homogeneous ball about the origin.

        By its radius [m]; mass, density, place and errors are as for `box`.

        Examples
        --------
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
    ) -> SpatialInertia:
        """Return the inertia of a homogeneous capsule about the origin, its axis along z.

        By the radius of the cylinder and of the half balls at its ends, and the length of the
        cylinder alone, zero for a ball [m]; mass, density, place and errors are as for `box`.

        Examples
        --------
        >>> ball = SpatialInertia.capsule(2.5, radius=1.0, length=0.0)
        >>> float(ball.moment_about_com[0, 0].round(12))
        1.0
        """
        return cls._of_shape(shapes.capsule(radius, length), mass, density)

    @classmethod
    def ellipsoid(
        cls, mass: float | None = None, *, radii: ArrayLike, density: float | None = None
    ) -> SpatialInertia:
        """Return the inertia of a homogeneous ellipsoid about the origin.

        By its half axes along x, y, z, shape (3,) [m]; mass, density, place and errors are as for
        `box`.

        Examples
        --------
        >>> SpatialInertia.ellipsoid(5.0, radii=(1, 2, 3)).moment_about_com.diagonal()
        array([13., 10.,  5.])
        """
        return cls._of_shape(shapes.ellipsoid(radii), mass, density)

    @classmethod
    def _of_shape(
        cls, shape: shapes.UnitDensity, mass: float | None, density: float | None
    ) -> SpatialInertia:
        total = shape.mass(mass, density)
        return cls(total, np.zeros(3), np.diag(total * shape.gyration))

    @property
    def first_moment(self) -> FloatArray:
        """First moment of mass m c, [kg m], shape (3,)."""
        return self.mass * self.com

    @property
    def moment_about_origin(self) -> FloatArray:
        """Moment of inertia about the origin of the frame, [kg m^2], shape (3, 3)."""
        return self.moment_about_com + shapes.point_moment(self.mass, self.com)

    @property
    def parameters(self) -> FloatArray:
        """The ten numbers in which dynamics are linear, shape (10,).

        Mass [kg], first moment x, y, z [kg m], and xx, xy, xz, yy, yz, zz of the moment of inertia
        about the origin [kg m^2]: its entries, so that products of inertia have their sign.
        """
        return parameters_of(self.mass, self.com, self.moment_about_com)

    @classmethod
    def from_parameters(cls, parameters: ArrayLike, *, unphysical: bool = False) -> SpatialInertia:
        """Return the inertia that has these `parameters`.

        Parameters
        ----------
        parameters : array_like, shape (10,)
            In the order and the units of `SpatialInertia.parameters`.
        unphysical : bool
            Whether to accept a moment that no body has.

        Returns
        -------
        SpatialInertia
            The inertia.

        Raises
        ------
        InertiaError, ShapeError
            If no body has this inertia, or there are not ten numbers.

        Examples
        --------
        >>> ball = SpatialInertia.sphere(2.0, radius=0.5)
        >>> SpatialInertia.from_parameters(ball.parameters) == ball
        True
        """
        mass, com, moment = entries_of_parameters(parameters)
        return cls.from_origin(mass, com, moment, unphysical=unphysical)

    def matrix(self) -> FloatArray:
        """Return the inertia as a matrix (6, 6) that takes body-fixed twists to momenta.

        That is [[moment_about_origin, m c~], [-m c~, m I]], angular first.

        Examples
        --------
        >>> M = SpatialInertia.sphere(2.0, radius=1.0).matrix()
        >>> V = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        >>> float(0.5 * V @ M @ V)
        1.0
        """
        x, y, z = self.first_moment
        coupling = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.block([[self.moment_about_origin, coupling], [coupling.T, self.mass * np.eye(3)]])

    def __add__(self, other: SpatialInertia) -> SpatialInertia:
        """Return the inertia of two bodies fixed together, both in the same frame."""
        if not isinstance(other, SpatialInertia):
            return NotImplemented
        mass = self.mass + other.mass
        unphysical = self.unphysical or other.unphysical
        moment = self.moment_about_com + other.moment_about_com
        if mass == 0.0:
            return _derived(0.0, np.zeros(3), moment, unphysical)
        apart = other.com - self.com
        com = self.com + (other.mass / mass) * apart
        # moments about the common centre: the reduced mass at the distance of the two centres
        moment = moment + shapes.point_moment(self.mass * (other.mass / mass), apart)
        return _derived(mass, com, moment, unphysical)

    def transformed(self, C_AB: ArrayLike) -> SpatialInertia:
        """Return the same inertia as seen from another frame.

        Parameters
        ----------
        C_AB : array_like, shape (4, 4)
            Pose of the frame B, in which this inertia is given, in the frame A.

        Returns
        -------
        SpatialInertia
            In A: the matrix Ad^-T M Ad^-1 with the adjoint of `C_AB`.

        Raises
        ------
        ShapeError, GeometryError
            If `C_AB` is not a pose.

        Examples
        --------
        >>> from mbkit.spatial import translation
        >>> SpatialInertia.sphere(1.0, radius=0.1).transformed(translation((0, 0, 3))).com
        array([0., 0., 3.])
        """
        C = frozen_array(C_AB)
        check_pose(C, "C_AB")
        return inertia_seen_from(self, C[:3, :3], C[:3, 3])


def inertia_seen_from(inertia: SpatialInertia, R: FloatArray, p: FloatArray) -> SpatialInertia:
    """Return `SpatialInertia.transformed` by a rotation and a place that need no check."""
    moment = R @ inertia.moment_about_com @ R.T
    moment = 0.5 * (moment + moment.T)
    return _derived(inertia.mass, R @ inertia.com + p, moment, inertia.unphysical)


def _derived(mass: float, com: FloatArray, moment: FloatArray, unphysical: bool) -> SpatialInertia:
    """Return an inertia derived from checked ones, which is as physical as they are.

    Rounding in a moment is allowed beside m c^2, of which there may be less where it is seen from.
    """
    if not unphysical and math.isfinite(mass + com.sum() + moment.sum()):
        inertia = object.__new__(SpatialInertia)
        values = mass, frozen_array(com), frozen_array(moment), False
        for name, value in zip(_FIELDS, values, strict=True):
            object.__setattr__(inertia, name, value)
        return inertia
    inertia = SpatialInertia(mass, com, moment, unphysical=True)
    object.__setattr__(inertia, "unphysical", unphysical and inertia.unphysical)
    return inertia


_FIELDS = tuple(field.name for field in attrs.fields(SpatialInertia))

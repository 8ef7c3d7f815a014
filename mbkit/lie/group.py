"""`LieGroup`: the contract that every group meets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mbkit.errors import GeometryError, check_kind
from mbkit.lie.arrays import FloatArray, broadcast, checked_axes, index_of
from mbkit.lie.contract import GroupMaps


class Group(GroupMaps):
    """A Lie group whose elements and Lie algebra vectors are plain arrays.

    A group holds no data: all its functions are class methods, and the class itself is passed
    where a group is needed. Every function takes arrays with any leading axes; those of two
    elements broadcast them.

    Writing d for `dimension`, x for vectors (..., d) and g for elements (..., `element_shape`):

    - velocities are V^b = vee(g^-1 dg/dt), body-fixed, and V^s = vee(dg/dt g^-1) = Ad(g) V^b,
      spatial; the angular part stands first, as the rotation does in x;
    - ``dexp_spatial(x)`` is the matrix of V^s = dexp_spatial(x) xdot for g = exp(x) g0, and
      ``dexp_body(x)`` that of V^b = dexp_body(x) xdot for g = g0 exp(x), with any constant g0;
    - ``dcay_spatial``, ``dcay_body`` are the same for g = cay(c), where c is a half of x near the
      identity;
    - names in ``_inv`` give the inverse matrices.

    Shapes are always checked. Numbers that are not finite pass through the maps and come out not
    finite. Elements given to `log` and `cay_inv` must belong to the group, to 1e-6; no other
    function looks.

    A subclass gives the members of `GroupMaps`.

    Attributes
    ----------
    dimension : int
        Dimension d of the group.
    element_shape : tuple of int
        Shape of an element.

    Notes
    -----
    Rotation vectors are in radians, Rodrigues parameters are tangents of half angles, translations
    are in metres. Errors are at most 1e-14 of a result's largest entry; they grow only where the
    result itself grows without bound: the inverse differential of exp at rotations by 2 pi,
    `cay_inv` at rotations by pi.

    Sources: A. Mueller, "Singularity-free Lie group integration and geometrically consistent
    evaluation of multibody system models described in terms of standard absolute coordinates",
    J. Comput. Nonlinear Dyn. 17, 2022, equations (36) to (63); A. Mueller, "Review of the
    exponential and Cayley map on SE(3)", Proc. R. Soc. A 477, 2021.
    """

    # ------------------------------------------------------------------------- the group itself

    @classmethod
    def identity(cls) -> FloatArray:
        """Return the identity, an array of shape `element_shape`.

        Examples
        --------
        >>> from mbkit.lie import UnitQuaternion
        >>> UnitQuaternion.identity()
        array([1., 0., 0., 0.])
        """
        return cls._identity()

    @classmethod
    def compose(cls, first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
        """Return the product ``first second`` of two elements.

        Parameters
        ----------
        first, second : array_like, shape (..., element_shape)
            Elements; their leading axes broadcast.

        Returns
        -------
        ndarray, shape (..., element_shape)
            The products.

        Raises
        ------
        ShapeError
            If an element's shape is wrong, or the leading axes do not broadcast.

        Examples
        --------
        >>> from mbkit.lie import UnitQuaternion
        >>> i, j = [0, 1, 0, 0], [0, 0, 1, 0]
        >>> UnitQuaternion.compose(i, j)
        array([0., 0., 0., 1.])
        """
        a, b = broadcast(
            cls._element(first, "compose"),
            cls._element(second, "compose"),
            cls.element_shape,
            f"{cls.__name__}.compose",
        )
        return cls._compose(a, b)

    @classmethod
    def inverse(cls, element: npt.ArrayLike) -> FloatArray:
        """Return the inverse of an element (..., element_shape).

        Examples
        --------
        >>> from mbkit.lie import SO3xR3
        >>> SO3xR3.inverse(SO3xR3.exp([0, 0, 0, 1, 2, 3]))[:3, 3]
        array([-1., -2., -3.])
        """
        return cls._inverse(cls._element(element, "inverse"))

    @classmethod
    def Ad(cls, element: npt.ArrayLike) -> FloatArray:
        """Return the adjoint matrix of an element: V^s = Ad(g) V^b, g exp(x) g^-1 = exp(Ad(g) x).

        Parameters
        ----------
        element : array_like, shape (..., element_shape)
            Elements.

        Returns
        -------
        ndarray, shape (..., d, d)
            R for rotations, [[R, 0], [r~ R, R]] for SE3, diag(R, I) for SO3xR3.

        Examples
        --------
        A rotation with velocity 2 about an axis at x = 1 moves the point at the origin down y:

        >>> from mbkit.lie import SE3
        >>> SE3.Ad(SE3.exp([0, 0, 0, 1, 0, 0])) @ [0, 0, 2, 0, 0, 0]
        array([ 0.,  0.,  2.,  0., -2.,  0.])
        """
        return cls._adjoint(cls._element(element, "Ad"))

    @classmethod
    def ad(cls, x: npt.ArrayLike) -> FloatArray:
        """Return the matrix (..., d, d) of the Lie bracket, ad(x) u = [x, u].

        x~ for rotations, [[x~, 0], [y~, x~]] for SE3, diag(x~, 0) for SO3xR3, where x~ u is the
        cross product of x and u.

        Examples
        --------
        >>> from mbkit.lie import SO3
        >>> SO3.ad([0.0, 0.0, 1.0]) @ [1.0, 0.0, 0.0]
        array([0., 1., 0.])
        """
        return cls._bracket(cls._vector(x, "ad"))

    @classmethod
    def random(cls, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> FloatArray:
        """Return random elements.

        Parameters
        ----------
        rng : numpy.random.Generator
            Where the numbers come from.
        shape : tuple of int
            Leading axes of the result.

        Returns
        -------
        ndarray, shape (*shape, element_shape)
            Rotations uniform on their group, translations normal with deviation 1 m.

        Examples
        --------
        >>> import numpy as np
        >>> from mbkit.lie import SE3
        >>> SE3.random(np.random.default_rng(0), (10,)).shape
        (10, 4, 4)
        """
        check_kind(f"{cls.__name__}.random: rng", rng, np.random.Generator, "a numpy Generator")
        return cls._random(rng, checked_axes(shape, f"{cls.__name__}.random: shape"))

    # ------------------------------------------------------------------------------ exponential

    @classmethod
    def exp(cls, x: npt.ArrayLike) -> FloatArray:
        """Return the element that the constant velocity x reaches in unit time, x of any size.

        Parameters
        ----------
        x : array_like, shape (..., d)
            Canonical coordinates. [rad], [m]

        Returns
        -------
        ndarray, shape (..., element_shape)
            Elements.

        Raises
        ------
        ShapeError
            If the last axis has not length d, or the numbers are not real.

        Examples
        --------
        >>> import numpy as np
        >>> from mbkit.lie import SO3
        >>> np.round(SO3.exp([0.0, 0.0, np.pi / 2]) @ [1.0, 0.0, 0.0], 12)
        array([0., 1., 0.])
        """
        return cls._exp(cls._vector(x, "exp"))

    @classmethod
    def log(cls, element: npt.ArrayLike) -> FloatArray:
        """Return the principal x with exp(x) = element: a rotation by at most pi.

        Of the two rotation vectors of length pi, either may come.

        Parameters
        ----------
        element : array_like, shape (..., element_shape)
            Elements of the group, to 1e-6.

        Returns
        -------
        ndarray, shape (..., d)
            Canonical coordinates. [rad], [m]

        Raises
        ------
        ShapeError
            If the shape is not that of an element, or the numbers are not real.
        GeometryError
            If an element is not of the group: no rotation matrix, no unit quaternion.

        Examples
        --------
        >>> from mbkit.lie import SO3
        >>> SO3.log([[1, 0, 0], [0, 0, -1], [0, 1, 0]]) / 3.141592653589793
        array([0.5, 0. , 0. ])
        """
        return cls._log(cls._member(element, "log"))

    @classmethod
    def dexp_spatial(cls, x: npt.ArrayLike) -> FloatArray:
        """Return the matrix (..., d, d) of V^s = dexp_spatial(x) xdot for g = exp(x).

        It is right-trivialised: (D exp(x)[u]) exp(x)^-1 = dexp_spatial(x) u.

        Examples
        --------
        >>> import numpy as np
        >>> from mbkit.lie import SO3
        >>> np.round(SO3.dexp_spatial([0.0, 0.0, np.pi]) @ [1.0, 0.0, 0.0] * np.pi, 12)
        array([0., 2., 0.])
        """
        return cls._dexp(cls._vector(x, "dexp_spatial"))

    @classmethod
    def dexp_body(cls, x: npt.ArrayLike) -> FloatArray:
        """Return the matrix (..., d, d) of V^b = dexp_body(x) xdot for g = exp(x).

        Examples
        --------
        The axis of a rotation is the same in the body and in space:

        >>> from mbkit.lie import SO3
        >>> x = [0.1, 0.2, 0.3]
        >>> SO3.dexp_body(x) @ x
        array([0.1, 0.2, 0.3])
        """
        # exp(-x) = exp(x)^-1: the body-fixed form is the spatial one at -x.
        return cls._dexp(-cls._vector(x, "dexp_body"))

    @classmethod
    def dexp_spatial_inv(cls, x: npt.ArrayLike) -> FloatArray:
        """Return the matrix (..., d, d) of xdot = dexp_spatial_inv(x) V^s.

        Singular where the rotation is by a multiple of 2 pi, other than 0.
        """
        return cls._dexp_inv(cls._vector(x, "dexp_spatial_inv"))

    @classmethod
    def dexp_body_inv(cls, x: npt.ArrayLike) -> FloatArray:
        """Return the matrix (..., d, d) of xdot = dexp_body_inv(x) V^b.

        Singular where the rotation is by a multiple of 2 pi, other than 0.

        Examples
        --------
        >>> import numpy as np
        >>> from mbkit.lie import SE3
        >>> X = np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])
        >>> np.allclose(SE3.dexp_body_inv(X) @ SE3.dexp_body(X), np.eye(6), rtol=0, atol=1e-14)
        True
        """
        return cls._dexp_inv(-cls._vector(x, "dexp_body_inv"))

    # ----------------------------------------------------------------------------------- Cayley

    @classmethod
    def cay(cls, c: npt.ArrayLike) -> FloatArray:
        """Return the element of Cayley coordinates.

        Parameters
        ----------
        c : array_like, shape (..., d)
            Rodrigues parameters n tan(phi/2) first; then in SE3 the other half of the
            extended Rodrigues parameters, in SO3xR3 the translation. [1], [m]

        Returns
        -------
        ndarray, shape (..., element_shape)
            Elements.

        Raises
        ------
        ShapeError
            If the last axis has not length d, or the numbers are not real.

        Examples
        --------
        >>> from mbkit.lie import SO3
        >>> SO3.cay([0.0, 0.0, 1.0])
        array([[ 0., -1.,  0.],
               [ 1.,  0.,  0.],
               [ 0.,  0.,  1.]])
        """
        return cls._cay(cls._vector(c, "cay"))

    @classmethod
    def cay_inv(cls, element: npt.ArrayLike) -> FloatArray:
        """Return c (..., d) with cay(c) = element.

        Raises
        ------
        ShapeError
            If the shape is not that of an element, or the numbers are not real.
        GeometryError
            If an element is not of the group to 1e-6, or turns by pi, where c is infinite.

        Examples
        --------
        >>> from mbkit.lie import UnitQuaternion
        >>> UnitQuaternion.cay_inv([0.8, 0.6, 0.0, 0.0])
        array([0.75, 0.  , 0.  ])
        """
        c = cls._cay_inv(cls._member(element, "cay_inv"))
        finite = np.isfinite(c[..., :3]).all(axis=-1)
        if not finite.all():
            place = index_of(int(np.argmin(finite)), finite.shape)
            raise GeometryError(
                f"{cls.__name__}.cay_inv takes rotations by less than pi, where Rodrigues "
                f"parameters become infinite; got a rotation by pi{place}. Use log."
            )
        return c

    @classmethod
    def dcay_spatial(cls, c: npt.ArrayLike) -> FloatArray:
        """Return the matrix (..., d, d) of V^s = dcay_spatial(c) cdot for g = cay(c)."""
        return cls._dcay(cls._vector(c, "dcay_spatial"))

    @classmethod
    def dcay_body(cls, c: npt.ArrayLike) -> FloatArray:
        """Return the matrix (..., d, d) of V^b = dcay_body(c) cdot for g = cay(c).

        Examples
        --------
        >>> from mbkit.lie import SO3
        >>> SO3.dcay_body([0.0, 0.0, 0.0]) @ [0.5, 0.0, 0.0]
        array([1., 0., 0.])
        """
        return cls._dcay(-cls._vector(c, "dcay_body"))

    @classmethod
    def dcay_spatial_inv(cls, c: npt.ArrayLike) -> FloatArray:
        """Return the matrix (..., d, d) of cdot = dcay_spatial_inv(c) V^s."""
        return cls._dcay_inv(cls._vector(c, "dcay_spatial_inv"))

    @classmethod
    def dcay_body_inv(cls, c: npt.ArrayLike) -> FloatArray:
        """Return the matrix (..., d, d) of cdot = dcay_body_inv(c) V^b."""
        return cls._dcay_inv(-cls._vector(c, "dcay_body_inv"))

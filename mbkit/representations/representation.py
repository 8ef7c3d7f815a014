"""The contract of a twist representation."""

from __future__ import annotations

import abc
import importlib
import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ShapeError, UsageError
from mbkit.final import FinalBuiltIns
from mbkit.lie import SE3
from mbkit.lie.arrays import FloatArray
from mbkit.representations.arguments import check_broadcast, poses, vectors


class Representation(FinalBuiltIns, abc.ABC):
    """A way to write the twist of a body, together with the recursions that are written in it.

    A representation changes twists, wrenches, Jacobians and accelerations of bodies. It never
    changes ``q``, ``v``, ``tau`` or the mass matrix.

    1. `name` is the word for it in files and messages.
    2. `kernel_package` is an importable package whose module ``algorithms`` has these compiled
       functions, each under ``mbkit.kernels.compile.address_kernel("iipppp")`` and called as
       ``function(space, option, q, v, x, out)`` with the address of a workspace first:

       ==================== =============== ================= ==============================
       function             option          x                 out
       ==================== =============== ================= ==============================
       ``inverse_dynamics`` 1: loaded       vdot              tau
       ``forward_dynamics`` 1, 2: forced    tau               vdot
       ``hybrid_dynamics``  1, 2: forced    tau, vdot, mask   tau, vdot
       ``mass_matrix``                                        M (nv, nv)
       ``twists``                                             (bodies + 1, 6)
       ``accelerations``                    vdot              (bodies + 1, 6)
       ``jacobian``         row of a body                     (6, nv)
       ``apply_wrenches``                   (bodies + 1, 6)   none: what "loaded" stands for
       ==================== =============== ================= ==============================

       "Forced" stands for the forces of a run, which are added to tau in place and to the wrenches
       on bodies (`mbkit.kernels.forces.sites`); 3 is both. The algorithms themselves are in
       `mbkit.kernels.recursions`; a representation gives its recursion, such as the transport
       of twists from parent to child, as one value (`kernels.recursions.recursion.Recursion`). Of
       it `mbkit.kernels.recursions.algorithms` makes all of these functions, with those that
       closed loops need; bodies float wherever a joint's `velocity_twist` is `name`.
    3. Every function agrees with the others: what one gives, the others take.
    4. `twist_map` maps the body-fixed twist of the same body frame to that of the representation;
       `twist_map_rate` is the rate of that map as the body moves. Both broadcast over leading axes.
       The map is a homomorphism, ``twist_map(C1 C2) = twist_map(C1) twist_map(C2)``; all further
       methods, and the conversions of `mbkit.convert_twist` and its like, follow from the two.
    5. `kernel_number` is the number by which kernels that are no recursions, of derivatives of
       motion and of forces in Python, know those of mbkit (`mbkit.kernels.layout`). Others have
       none: for them twists are converted by `twist_map`, and derivatives by `twist_map_rates`.
    """

    name: ClassVar[str]
    kernel_package: ClassVar[str]
    kernel_number: ClassVar[int | None] = None

    @abc.abstractmethod
    def twist_map(self, C: ArrayLike) -> FloatArray:
        """Return the matrix that takes body-fixed twists to twists of this representation.

        Parameters
        ----------
        C : array_like, shape (..., 4, 4)
            Pose of the body frame in the world.

        Returns
        -------
        ndarray, shape (..., 6, 6)
            T(C) with V = T(C) V_b, where V_b is the body-fixed twist of the frame at C. Wrenches
            go by its inverse transpose, W = T^-T W_b, so that power is the same.

        Raises
        ------
        ShapeError
            If `C` is no array of matrices (4, 4). That they are poses is not checked.
        """

    @abc.abstractmethod
    def twist_map_rate(self, C: ArrayLike, V_b: ArrayLike) -> FloatArray:
        """Return the time derivative of `twist_map`, dT/dt (..., 6, 6), while the body moves.

        V_b (..., 6) is the body-fixed twist of the frame at C, in which dT/dt is linear.
        Accelerations are the rates of twists, and so A = T A_b + dT/dt V_b. ShapeError if leading
        axes do not broadcast.
        """

    def inverse_twist_map(self, C: ArrayLike) -> FloatArray:
        """Return T(C)^-1 (..., 6, 6), which takes twists of this representation to body-fixed ones.

        It is T(C^-1), as the map is a homomorphism; see `twist_map`.

        Examples
        --------
        >>> import numpy as np
        >>> import mbkit as mb
        >>> C = mb.spatial.translation((0.0, 2.0, 0.0))
        >>> mb.Spatial().inverse_twist_map(C) @ [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        array([ 0.,  0.,  1., -2.,  0.,  0.])
        """
        C = poses(C, f"{type(self).__name__}.inverse_twist_map")
        C_inverse = np.zeros_like(C)
        C_inverse[..., :3, :3] = np.swapaxes(C[..., :3, :3], -1, -2)
        C_inverse[..., :3, 3:] = -(C_inverse[..., :3, :3] @ C[..., :3, 3:])
        C_inverse[..., 3, 3] = 1.0
        return self.twist_map(C_inverse)

    def twist_map_second_rate(self, C: ArrayLike, V_b: ArrayLike, A_b: ArrayLike) -> FloatArray:
        """Return the second time derivative of `twist_map`, d2T/dt2 (..., 6, 6), as jerks need it.

        V_b and A_b (..., 6) are the body-fixed twist of the frame at C and its component-wise rate.
        Jerks are A-dot = T A_b-dot + 2 dT/dt A_b + d2T/dt2 V_b. ShapeError if leading axes do not
        broadcast.

        Notes
        -----
        The map is a homomorphism, so that dT/dt = T K(V_b) with K linear and constant, and
        d2T/dt2 = T K(V_b)^2 + T K(A_b).

        Examples
        --------
        >>> import numpy as np
        >>> import mbkit as mb
        >>> spin = [0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
        >>> mb.Hybrid().twist_map_second_rate(np.eye(4), spin, np.zeros(6)).diagonal()
        array([-4., -4.,  0., -4., -4.,  0.])
        """
        rate = self.twist_map_rate(C, V_b)
        return rate @ self.inverse_twist_map(C) @ rate + self.twist_map_rate(C, A_b)

    def twist_map_rates(self, C: ArrayLike, twists: ArrayLike) -> list[FloatArray]:
        """Return `twist_map` and its derivatives by time, of as many orders as `twists` has rows.

        Parameters
        ----------
        C : array_like, shape (..., 4, 4)
            Pose of the body frame in the world.
        twists : array_like, shape (..., n, 6)
            The body-fixed twist of the frame at C, and its component-wise derivatives, as rows.

        Returns
        -------
        list of ndarray, shape (..., 6, 6)
            T, dT/dt, ..., n + 1 of them.

        Raises
        ------
        ShapeError
            If `twists` has another shape, or leading axes do not broadcast.

        Notes
        -----
        The map is a homomorphism, so that dT/dt = T K(V_b) with K linear and constant. By Leibniz'
        rule, with (n k) for n over k,

            T^(n+1) = sum over k of (n k) T^(n-k) K(V_b^(k)).

        Examples
        --------
        >>> import numpy as np
        >>> import mbkit as mb
        >>> twists = np.zeros((4, 6))
        >>> twists[0] = [0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
        >>> maps = mb.Hybrid().twist_map_rates(np.eye(4), twists)
        >>> np.array([each[0, 0] for each in maps]) + 0.0
        array([ 1.,  0., -4.,  0., 16.])
        """
        owner = f"{type(self).__name__}.twist_map_rates"
        rows, C = vectors(twists, owner), poses(C, owner)
        if rows.ndim < 2:
            raise ShapeError(
                f"{owner} takes twists of shape (..., n, 6), derivatives as rows; got shape "
                f"{rows.shape}. Give one twist as twists[None]."
            )
        check_broadcast(owner, (C, 2), (rows, 2))
        K = [self.twist_map_rate(np.eye(4), rows[..., n, :]) for n in range(rows.shape[-2])]
        rates = [self.twist_map(C)]
        for n in range(len(K)):
            terms = (math.comb(n, k) * (rates[n - k] @ K[k]) for k in range(n + 1))
            rates.append(np.asarray(sum(terms)))
        return rates

    def frame_transport(self, C: ArrayLike, S: ArrayLike) -> FloatArray:
        """Return the matrix that takes twists at one frame on a body to those at another.

        Parameters
        ----------
        C : array_like, shape (..., 4, 4)
            Pose of the first frame in the world.
        S : array_like, shape (..., 4, 4)
            Constant pose of the second frame in the first; the second stands at C S.

        Returns
        -------
        ndarray, shape (..., 6, 6)
            P with V(C S) = P V(C); wrenches go by its inverse transpose. Body-fixed it is Ad_S^-1,
            spatial the identity, hybrid [[I, 0], [-s~, I]] with s from the first origin to the
            second in the world.

        Raises
        ------
        ShapeError
            If an argument is no array of matrices (4, 4), or the leading axes do not broadcast.

        Examples
        --------
        A wheel that turns about its axle, seen at a point of its rim:

        >>> import numpy as np
        >>> import mbkit as mb
        >>> P = mb.Hybrid().frame_transport(np.eye(4), mb.spatial.translation((0.5, 0.0, 0.0)))
        >>> P @ [0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
        array([0., 0., 2., 0., 1., 0.])
        """
        who = f"{type(self).__name__}.frame_transport"
        C, S = poses(C, who), poses(S, who)
        return self.twist_map(C @ S) @ SE3.Ad(SE3.inverse(S)) @ self.inverse_twist_map(C)

    def kernel(self, function: str) -> Any:
        """Return a compiled function of this representation.

        Parameters
        ----------
        function : str
            As in the table of the class.

        Returns
        -------
        FunctionAddress
            Its `address` is called; the first look at it compiles.

        Raises
        ------
        UsageError
            If `kernel_package` cannot be imported, or has no such function.

        Examples
        --------
        >>> from mbkit.representations import BodyFixed
        >>> BodyFixed().kernel("mass_matrix").function.__name__
        'mass_matrix'
        """
        module = f"{self.kernel_package}.algorithms"
        try:
            return getattr(importlib.import_module(module), function)
        except (ImportError, AttributeError) as error:
            raise UsageError(
                f"Representation '{self.name}' has no function '{function}': {error}. Its "
                f"kernel_package must have a module 'algorithms' with all functions of the table "
                f"in mbkit.Representation."
            ) from error

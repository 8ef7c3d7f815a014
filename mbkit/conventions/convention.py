"""Twists, wrenches, Jacobians, accelerations and inertias as another program writes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.conventions.form import Form, reordered
from mbkit.conventions.free_joint import FreeJointConvention
from mbkit.errors import InertiaError, UsageError, check_kind, suggestion
from mbkit.lie.arrays import FloatArray, checked
from mbkit.representations import (
    BodyFixed,
    Representation,
    convert_acceleration,
    convert_jacobian,
    convert_twist,
    convert_wrench,
)
from mbkit.representations.arguments import check_broadcast, matrices, times, vectors
from mbkit.spatial import SpatialInertia

__all__ = ["Convention"]

BODY_FIXED = BodyFixed()


def _read_only(forms: Mapping[str, Form]) -> Mapping[str, Form]:
    check_kind("Convention: forms", forms, Mapping, "a mapping of quantities to forms")
    return MappingProxyType(dict(forms))


@final
@attrs.frozen
class Convention:
    """Names and order of components that another program uses for mechanical quantities.

    Methods in `_to` take numbers of mbkit and return those of the program; `_from` is the inverse.
    ``C`` is the pose of the body frame in the world, (..., 4, 4), and vectors have the same leading
    axes, or axes that broadcast with them. ``name`` is the program's word for the form of twists,
    one of `names`; where it is left out, the first of them. ``centre`` is required
    by forms that refer to a point other than the world's origin, else refused: see `Form.about`.

    Attributes
    ----------
    program : str
        Its name and the version with which all this was verified.
    forms : mapping of str to Form
        By the program's words.
    free_joint : FreeJointConvention
        Coordinates of a body that moves freely.
    linear_first_inertia : bool
        Whether matrices of inertia, (6, 6), have the mass first.

    Raises
    ------
    ShapeError, GeometryError
        By all methods, if an array is of another shape or `C` no pose.
    UsageError
        By all methods, for a name that the program does not have, for an unknown representation,
        and where `centre`, `gravity` or `kind` is missing or of no use.

    Examples
    --------
    >>> import mbkit as mb
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> V = [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    >>> mb.conventions.PINOCCHIO.twist_to(V, C, mb.BodyFixed(), "WORLD")
    array([0., 0., 0., 0., 0., 1.])
    >>> mb.conventions.PINOCCHIO.twist_to(V, C, mb.BodyFixed(), "WROLD")
    Traceback (most recent call last):
    mbkit.errors.UsageError: Pinocchio 4.1: no form of twists is called 'WROLD'; did you mean \
'WORLD'?
    """

    program: str
    forms: Mapping[str, Form] = attrs.field(converter=_read_only, hash=False)
    free_joint: FreeJointConvention
    linear_first_inertia: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The program's words for the forms of twists."""
        return tuple(self.forms)

    def form(self, name: Any = None) -> Form:
        """Return the form that the program calls by `name`; a member of an enumeration will do."""
        word = self.names[0] if name is None else getattr(name, "name", name)
        if not (isinstance(word, str) and word in self.forms):
            raise UsageError(
                f"{self.program}: no form of twists is called {word!r}; "
                f"{suggestion(word, self.names)}"
            )
        return self.forms[word]

    # ------------------------------------------------------------------ twists and wrenches

    def twist_to(
        self,
        V: ArrayLike,
        C: ArrayLike,
        source: Representation = BODY_FIXED,
        name: Any = None,
        *,
        centre: ArrayLike | None = None,
    ) -> FloatArray:
        """Return the program's twists, shape (..., 6), from those in `source`."""
        form, C, seen = self._seen(C, name, centre, "twist_to")
        body = convert_twist(V, C, source, BODY_FIXED)
        return form.ordered(convert_twist(body, seen, BODY_FIXED, form.representation))

    def twist_from(
        self,
        V: ArrayLike,
        C: ArrayLike,
        target: Representation = BODY_FIXED,
        name: Any = None,
        *,
        centre: ArrayLike | None = None,
    ) -> FloatArray:
        """Return twists in `target`, shape (..., 6), from the program's."""
        form, C, seen = self._seen(C, name, centre, "twist_from")
        V = form.ordered(vectors(V, "twist_from"))
        body = convert_twist(V, seen, form.representation, BODY_FIXED)
        return convert_twist(body, C, BODY_FIXED, target)

    def wrench_to(
        self,
        W: ArrayLike,
        C: ArrayLike,
        source: Representation = BODY_FIXED,
        name: Any = None,
        *,
        centre: ArrayLike | None = None,
    ) -> FloatArray:
        """Return the program's wrenches, shape (..., 6), from those in `source`."""
        form, C, seen = self._seen(C, name, centre, "wrench_to")
        body = convert_wrench(W, C, source, BODY_FIXED)
        return form.ordered(convert_wrench(body, seen, BODY_FIXED, form.representation))

    def wrench_from(
        self,
        W: ArrayLike,
        C: ArrayLike,
        target: Representation = BODY_FIXED,
        name: Any = None,
        *,
        centre: ArrayLike | None = None,
    ) -> FloatArray:
        """Return wrenches in `target`, shape (..., 6), from the program's."""
        form, C, seen = self._seen(C, name, centre, "wrench_from")
        W = form.ordered(vectors(W, "wrench_from"))
        body = convert_wrench(W, seen, form.representation, BODY_FIXED)
        return convert_wrench(body, C, BODY_FIXED, target)

    def jacobian_to(
        self,
        J: ArrayLike,
        C: ArrayLike,
        source: Representation = BODY_FIXED,
        name: Any = None,
        *,
        centre: ArrayLike | None = None,
    ) -> FloatArray:
        """Return the program's Jacobians, shape (..., 6, n), from those in `source`.

        Rows alone are converted; columns stay those of mbkit's velocities. For the columns of a
        free joint see `FreeJointConvention.velocity_map`.
        """
        form, C, seen = self._seen(C, name, centre, "jacobian_to")
        body = convert_jacobian(J, C, source, BODY_FIXED)
        return form.ordered(convert_jacobian(body, seen, BODY_FIXED, form.representation), -2)

    def jacobian_from(
        self,
        J: ArrayLike,
        C: ArrayLike,
        target: Representation = BODY_FIXED,
        name: Any = None,
        *,
        centre: ArrayLike | None = None,
    ) -> FloatArray:
        """Return Jacobians in `target`, shape (..., 6, n), from the program's; rows alone."""
        form, C, seen = self._seen(C, name, centre, "jacobian_from")
        J = form.ordered(matrices(J, "jacobian_from"), -2)
        body = convert_jacobian(J, seen, form.representation, BODY_FIXED)
        return convert_jacobian(body, C, BODY_FIXED, target)

    # ------------------------------------------------------------------------- accelerations

    def acceleration_to(
        self,
        A: ArrayLike,
        V: ArrayLike,
        C: ArrayLike,
        source: Representation = BODY_FIXED,
        name: Any = None,
        *,
        kind: str | None = None,
        gravity: ArrayLike | None = None,
        centre: ArrayLike | None = None,
    ) -> FloatArray:
        """Return the program's accelerations, from the rates A of twists V in `source`.

        Parameters
        ----------
        A, V : array_like, shape (..., 6)
            Acceleration without gravity, and twist, both in `source`.
        C : array_like, shape (..., 4, 4)
            Pose of the body frame in the world.
        source : Representation, default body-fixed
            Of `A` and `V`.
        name : str, optional
            The program's word for the form.
        kind : str, optional
            "spatial" or "classical" (`Form.kinds`), where the program has both.
        gravity : array_like, shape (3,), optional
            In the world, for programs whose accelerations hold minus gravity. [m/s^2]
        centre : array_like, shape (3,), optional
            For forms that refer to it.

        Returns
        -------
        ndarray, shape (..., 6)
            In the program's order.
        """
        form, C, seen = self._seen(C, name, centre, "acceleration_to")
        kind = form.kind(kind, f"{self.program}: acceleration_to")
        A_b = convert_acceleration(A, V, C, source, BODY_FIXED)
        V_b = convert_twist(V, C, source, BODY_FIXED)
        T = form.representation.twist_map(seen)
        extra = form.offset(seen, times(T, V_b), kind, gravity, f"{self.program}: acceleration_to")
        return form.ordered(times(T, A_b) + extra)

    def acceleration_from(
        self,
        A: ArrayLike,
        V: ArrayLike,
        C: ArrayLike,
        target: Representation = BODY_FIXED,
        name: Any = None,
        *,
        kind: str | None = None,
        gravity: ArrayLike | None = None,
        centre: ArrayLike | None = None,
    ) -> FloatArray:
        """Return rates of twists in `target`, from the program's accelerations A and twists V.

        Both are in the form `name`; other arguments as of `acceleration_to`.
        """
        form, C, seen = self._seen(C, name, centre, "acceleration_from")
        kind = form.kind(kind, f"{self.program}: acceleration_from")
        A, V = (form.ordered(vectors(each, "acceleration_from")) for each in (A, V))
        check_broadcast("acceleration_from", (seen, 2), (A, 1), (V, 1))
        extra = form.offset(seen, V, kind, gravity, f"{self.program}: acceleration_from")
        inverse = form.representation.inverse_twist_map(seen)
        return convert_acceleration(
            times(inverse, A - extra), times(inverse, V), C, BODY_FIXED, target
        )

    # ------------------------------------------------------------------------------ inertias

    def inertia_to(self, inertia: SpatialInertia) -> FloatArray:
        """Return the program's matrix of inertia, shape (6, 6), for body-fixed twists.

        Raises
        ------
        InertiaError
            If `inertia` is no SpatialInertia.
        """
        if not isinstance(inertia, SpatialInertia):
            raise InertiaError(
                f"{self.program}: inertia_to takes an mb.SpatialInertia, got "
                f"{type(inertia).__name__}; make one by SpatialInertia.from_com."
            )
        return self._inertia_ordered(inertia.matrix())

    def inertia_from(self, matrix: ArrayLike) -> SpatialInertia:
        """Return the inertia that the program's matrix, shape (6, 6), is.

        Raises
        ------
        ShapeError, InertiaError
            If no body has this matrix.
        """
        M = self._inertia_ordered(checked(matrix, (6, 6), f"{self.program}: inertia_from"))
        m = float(M[3, 3])
        coupling = M[:3, 3:]
        first_moment = np.array([coupling[2, 1], coupling[0, 2], coupling[1, 0]])
        com = first_moment / m if m > 0.0 else np.zeros(3)
        found = SpatialInertia.from_origin(m, com, M[:3, :3])
        error = np.abs(found.matrix() - M).max()
        if not error <= 1e-9 * np.abs(M).max():
            raise InertiaError(
                f"{self.program}: inertia_from takes the matrix of a body, [[I, m c~], [-m c~, m]] "
                f"in the program's order, got one that differs from it by {error:.3g}; check the "
                "order of its rows."
            )
        return found

    def _inertia_ordered(self, matrix: FloatArray) -> FloatArray:
        if not self.linear_first_inertia:
            return matrix
        return reordered(reordered(matrix, axis=-1), axis=-2)

    def _seen(
        self, C: ArrayLike, name: Any, centre: ArrayLike | None, method: str
    ) -> tuple[Form, FloatArray, FloatArray]:
        """Return the form, the pose in the world, and the pose as the form sees it."""
        form, who = self.form(name), f"{self.program}: {method}"
        return form, checked(C, (4, 4), who), form.pose(C, centre, who)

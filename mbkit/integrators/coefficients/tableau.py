"""The coefficients of an explicit Runge-Kutta method, as data that is checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.checks import as_array, check_array, check_name_and_order, check_order, whole
from mbkit.integrators.coefficients.order_conditions import dense_defect, order_defect

__all__ = ["Tableau"]

#: How far a sum of coefficients may be from its required value: rounding of some twenty numbers of
#: size ten.
TOLERANCE = 1e-13


_ARRAY: Any = {"eq": attrs.cmp_using(eq=np.array_equal), "repr": False}
_OPTIONAL: Any = {
    **_ARRAY, "converter": attrs.converters.optional(as_array), "kw_only": True,
}  # fmt: skip


@final
@attrs.frozen
class Tableau:
    """A Butcher tableau of an explicit method, with error estimate and dense output.

    Attributes
    ----------
    name : str
        The name.
    order : int
        Of the method: the conditions of all orders up to it hold.
    A : ndarray, shape (s, s)
        Strictly lower triangular: weights of the earlier stages.
    b : ndarray, shape (s,)
        Weights of the result; they add up to 1.
    b_embedded : ndarray, shape (s,), optional
        Weights of another result from the same stages; how far it is from the first estimates the
        error of a step.
    embedded_order : int
        Of that result.
    b_dense : ndarray, shape (s, d), optional
        Polynomials ``b_i(theta) = sum_j b_dense[i, j] theta**(j + 1)``: weights of the result a
        fraction theta of the step after its beginning; at theta = 1 they are `b`.
    dense_order : int
        Of that result: its error in one step is O(h**(dense_order + 1)) at every theta.
    c : ndarray, shape (s,)
        Nodes: the row sums of A.

    Raises
    ------
    UsageError
        If the shapes do not fit, or one of these conditions fails.

    Examples
    --------
    >>> import mbkit as mb
    >>> midpoint = mb.Tableau("midpoint", order=2, A=[[0, 0], [0.5, 0]], b=[0, 1])
    >>> midpoint.c
    array([0. , 0.5])
    >>> with_euler = mb.Tableau(
    ...     "heun", order=2, A=[[0, 0], [1, 0]], b=[0.5, 0.5], b_embedded=[1, 0], embedded_order=1
    ... )
    """

    name: str
    order: int = attrs.field(converter=whole)
    A: Any = attrs.field(converter=as_array, **_ARRAY)
    b: Any = attrs.field(converter=as_array, **_ARRAY)
    b_embedded: Any = attrs.field(default=None, **_OPTIONAL)
    embedded_order: int = attrs.field(default=0, converter=whole, kw_only=True, repr=False)
    b_dense: Any = attrs.field(default=None, **_OPTIONAL)
    dense_order: int = attrs.field(default=0, converter=whole, kw_only=True, repr=False)

    @property
    def c(self) -> Any:
        """Nodes, shape (s,)."""
        return self.A.sum(axis=1)

    @property
    def num_stages(self) -> int:
        """How many stages the result needs; error estimate and dense output may need more."""
        return int(self.b.nonzero()[0][-1]) + 1

    def __attrs_post_init__(self) -> None:
        check_name_and_order(self)
        for name in ("embedded_order", "dense_order"):
            check_order(f"Tableau '{self.name}'", name, getattr(self, name), least=0)
        for name, part in self._parts():
            check_array(f"Tableau '{self.name}'", name, part)
        self._check_shapes()
        if np.triu(self.A).any():
            raise UsageError(
                f"Tableau '{self.name}' is not explicit: A must be zero on and above its diagonal."
            )
        self._check_weights("b", self.b, "order", self.order)
        if self.b_embedded is not None:
            self._check_weights(
                "b_embedded", self.b_embedded, "embedded_order", self.embedded_order
            )
        if self.b_dense is not None:
            self._check_dense()

    def _check_shapes(self) -> None:
        stages = self.b.size
        if self.b.shape != (stages,) or self.A.shape != (stages, stages) or stages == 0:
            raise UsageError(
                f"Tableau '{self.name}' needs A of shape (s, s) and b of shape (s,); "
                f"got {self.A.shape} and {self.b.shape}."
            )
        if self.b_embedded is not None and self.b_embedded.shape != (stages,):
            raise UsageError(
                f"Tableau '{self.name}' needs b_embedded of the shape of b, {self.b.shape}; "
                f"got {self.b_embedded.shape}."
            )
        if self.b_dense is not None and (
            self.b_dense.ndim != 2 or len(self.b_dense) != stages or self.b_dense.size == 0
        ):
            raise UsageError(
                f"Tableau '{self.name}' needs b_dense of shape ({stages}, d), a row of "
                f"coefficients a stage; got {self.b_dense.shape}."
            )
        if not all(np.isfinite(part).all() for _, part in self._parts()):
            raise UsageError(f"Tableau '{self.name}' has entries that are not finite.")

    def _parts(self) -> Iterator[tuple[str, Any]]:
        parts = ((name, getattr(self, name)) for name in ("A", "b", "b_embedded", "b_dense"))
        return ((name, part) for name, part in parts if part is not None)

    def _check_weights(self, name: str, b: Any, key: str, claimed: int) -> None:
        if abs(b.sum() - 1.0) > TOLERANCE:
            raise UsageError(
                f"Tableau '{self.name}': the weights {name} must add up to 1; got {b.sum():.17g}."
            )
        if claimed < 1:
            raise UsageError(
                f"Tableau '{self.name}' has {name}, and {key}={claimed}; say its order, from 1 on."
            )
        for order in range(2, claimed + 1):
            self._refuse(f"{key} {claimed}", order, order_defect(self.A, b, order))

    def _check_dense(self) -> None:
        missed = float(np.abs(self.b_dense.sum(axis=1) - self.b).max())
        if missed > TOLERANCE:
            raise UsageError(
                f"Tableau '{self.name}': the rows of b_dense must add up to b, so that the step "
                f"ends where it does without; they miss it by {missed:.1e}."
            )
        if self.dense_order < 1:
            raise UsageError(
                f"Tableau '{self.name}' has b_dense, and dense_order={self.dense_order}; say its "
                f"order, from 1 on."
            )
        for order in range(1, self.dense_order + 1):
            defect = dense_defect(self.A, self.b_dense, order)
            self._refuse(f"dense_order {self.dense_order}", order, defect)

    def _refuse(self, claim: str, order: int, defect: float) -> None:
        if defect > TOLERANCE:
            raise UsageError(
                f"Tableau '{self.name}' claims {claim}, but a condition of order {order} is missed "
                f"by {defect:.1e}; check the digits, or claim less."
            )

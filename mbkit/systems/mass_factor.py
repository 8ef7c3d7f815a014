"""The mass matrix in factors that have the sparsity of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbkit.errors import ShapeError
from mbkit.memory import check_memory
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.failures import failure

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["MassFactor", "mass_factor"]

Integers = NDArray[np.int64]


@final
@attrs.frozen(eq=False, repr=False)
class MassFactor:
    """The mass matrix of a tree at one configuration as ``L^T D L``, for products and solutions.

    L is unit lower triangular and D diagonal in an order of the velocities that goes outwards from
    the world along the branches, `order`:

        ``M[order][:, order] = L.T @ diag(D) @ L``

    ``L[k, j]`` is zero unless j is an ancestor of k: it moves whatever k moves. Nothing else is
    ever computed or filled in, so that the factors cost O(nv depth^2) and a solution O(nv depth),
    depth being the number of velocities between a body and the world.

    `solve`, `multiply`, `inverse` and `logdet` are of M, with velocities in the order of the
    system. `L`, `D`, `solve_L` and `solve_LT` are in the order of the factor.

    Made by `System.mass_factor`; it does not follow when the configuration changes.

    Notes
    -----
    Featherstone 2005 ("Efficient factorization of the joint-space inertia matrix for branched
    kinematic trees", Int. J. Robotics Research 24(6)); Featherstone 2008 ("Rigid Body Dynamics
    Algorithms"), section 6.5.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("double pendulum")
    >>> bob = mb.SpatialInertia.from_com(mass=1.0, com=(0, 0, -1.0))
    >>> upper, lower = (mech.add_body(mb.Body(n, inertia=bob)) for n in ("upper", "lower"))
    >>> top = mech.add_joint(mb.RevoluteJoint("top", axis=(0, 1, 0)), mech.world, upper)
    >>> below = np.eye(4) + np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, -1], [0, 0, 0, 0]])
    >>> hinge = mb.RevoluteJoint("middle", axis=(0, 1, 0))
    >>> middle = mech.add_joint(hinge, upper, lower, frames=(below, np.eye(4)))
    >>> system = mech.assemble()
    >>> factor = system.mass_factor([0.0, 0.5 * np.pi])
    >>> np.allclose(factor.multiply([1.0, 2.0]), system.mass_matrix([0.0, 0.5 * np.pi]) @ [1, 2])
    True
    >>> np.allclose(factor.solve(factor.multiply([1.0, 2.0])), [1.0, 2.0])
    True
    """

    _factor: Floats  # L below the diagonal, D on it
    _order: Integers
    _parent: Integers

    def __repr__(self) -> str:
        stored = int(self._ancestors().sum())
        return f"<MassFactor: nv={len(self._order)}, {stored} entries of L off the diagonal>"

    @property
    def order(self) -> Integers:
        """Index in v of each row of the factor, shape (nv,)."""
        return self._order.copy()

    @property
    def parent(self) -> Integers:
        """Row of the nearest ancestor of each row of the factor, -1 for none, shape (nv,).

        Within a joint of several velocities each is the ancestor of the next.
        """
        return self._parent.copy()

    @property
    def L(self) -> Floats:
        """The unit lower triangular factor as a dense matrix, shape (nv, nv), in `order`."""
        L: Floats = np.tril(self._factor, -1)
        np.fill_diagonal(L, 1.0)
        return L

    @property
    def D(self) -> Floats:
        """The diagonal factor, shape (nv,), in `order`; every entry is positive.

        Entry k is the inertia along a velocity when all velocities beyond it give way freely.
        """
        return np.diag(self._factor).copy()

    @property
    def logdet(self) -> float:
        """The natural logarithm of the determinant of M: the sum of those of D."""
        return float(np.log(np.diag(self._factor)).sum())

    def sparse_L(self) -> Any:
        """Return L in scipy's compressed rows.

        Returns
        -------
        scipy.sparse.csr_array, shape (nv, nv)
            In `order`, with an entry for the diagonal and every ancestor, also where it happens to
            be zero.
        """
        from scipy.sparse import csr_array

        stored = self._ancestors()
        np.fill_diagonal(stored, True)
        rows, columns = np.nonzero(stored)
        return csr_array((self.L[rows, columns], (rows, columns)), shape=stored.shape)

    def _ancestors(self) -> NDArray[np.bool_]:
        """Return where a row's ancestors are, shape (nv, nv)."""
        found = np.zeros(self._factor.shape, dtype=np.bool_)
        for k, parent in enumerate(self._parent):
            if parent >= 0:
                found[k] = found[parent]
                found[k, parent] = True
        return found

    def solve(self, b: ArrayLike) -> Floats:
        """Return ``M^-1 b``.

        Parameters
        ----------
        b : array_like, shape (nv,) or (nv, k)
            Generalized forces, or k of them as columns.

        Returns
        -------
        ndarray, shape (nv,) or (nv, k)
            Accelerations. Cost: O(nv depth) a column.

        Raises
        ------
        ShapeError
            If the shape is another, or it is not made of numbers.
        """
        return self._outer("solve", b)

    def multiply(self, x: ArrayLike) -> Floats:
        """Return ``M x``, from the factors.

        Parameters
        ----------
        x : array_like, shape (nv,) or (nv, k)
            Velocities or accelerations, or k of them as columns.

        Returns
        -------
        ndarray, shape (nv,) or (nv, k)
            Momenta or generalized forces. Cost: O(nv depth) a column.

        Raises
        ------
        ShapeError
            As `solve` does.
        """
        return self._outer("multiply", x)

    def inverse(self) -> Floats:
        """Return the inverse of M as a dense matrix, shape (nv, nv), in the order of v.

        To apply it to a few vectors `solve` is cheaper. Cost: O(nv^2 depth).
        """
        return self.solve(np.eye(len(self._order)))

    def solve_L(self, b: ArrayLike) -> Floats:
        """Return ``L^-1 b``, both in the factor's order.

        Parameters
        ----------
        b : array_like, shape (nv,) or (nv, k)
            A vector, or k of them as columns; ``b[order]`` takes it there from the order of v.

        Returns
        -------
        ndarray, shape (nv,) or (nv, k)
            The solution.

        Raises
        ------
        ShapeError
            As `solve` does.
        """
        return self._apply("solve_L", self._columns(b))

    def solve_LT(self, b: ArrayLike) -> Floats:
        """Return ``L^-T b``, both in the factor's order.

        Parameters
        ----------
        b : array_like, shape (nv,) or (nv, k)
            As in `solve_L`.

        Returns
        -------
        ndarray, shape (nv,) or (nv, k)
            The solution.

        Raises
        ------
        ShapeError
            As `solve` does.

        Notes
        -----
        With ``Y = solve_LT(A.T[order]) / sqrt(D)[:, None]`` the matrix ``A M^-1 A^T`` is Y^T Y.
        """
        return self._apply("solve_LT", self._columns(b))

    def _outer(self, operation: str, b: ArrayLike) -> Floats:
        """Apply an operation to vectors in the order of v."""
        x = self._columns(b)
        found = np.empty_like(x)
        found[self._order] = self._apply(operation, x[self._order])
        return found

    def _apply(self, operation: str, x: Floats) -> Floats:
        """Apply an operation to an array of one's own, in place."""
        from mbkit.kernels.recursions import mass_factor

        width = x.shape[1] if x.ndim == 2 else 1
        status = getattr(mass_factor, operation)(
            self._factor, self._parent, x.reshape(len(x), width)
        )
        assert status == 0, "shapes were checked"
        return x

    def _columns(self, b: ArrayLike) -> Floats:
        """Return a contiguous float64 copy of vectors, or raise ShapeError."""
        nv = len(self._order)
        array = np.asarray(b)
        if array.dtype.kind not in "fiub" or array.ndim not in (1, 2) or array.shape[0] != nv:
            raise ShapeError(
                f"A vector for the mass matrix must be real numbers of shape ({nv},), or "
                f"({nv}, k) for k columns; got {array.dtype} of shape {array.shape}."
            )
        return np.array(array, dtype=np.float64, order="C")


def mass_factor(system: System, q: ArrayLike) -> MassFactor:
    """See `System.mass_factor`."""
    from mbkit.kernels.recursions.mass_factor import factorise

    nv = system.nv
    q = system.checked("q", q)
    check_memory(
        2.0 * nv * nv, f"The mass matrix of {nv} velocities with its factor", "use mass_action"
    )
    M = system.mass_matrix(q)
    factor = np.zeros((nv, nv))
    order = np.empty(nv, dtype=np.int64)
    parent = np.empty(nv, dtype=np.int64)
    evaluator = system.evaluator
    workspace = evaluator.take()
    try:
        status = factorise(workspace.address, q, M, factor, order, parent)
        if status != 0:
            raise failure(evaluator, status, workspace, {"q": q})
    finally:
        evaluator.give_back(workspace)
    return MassFactor(factor, order, parent)

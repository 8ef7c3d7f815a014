"""The Jacobian of all bodies at once, and its factors along the tree."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ShapeError, UsageError, suggestion
from mbkit.lie import SE3
from mbkit.lie.arrays import as_floats
from mbkit.representations import Representation
from mbkit.representations.arguments import transposed
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.body_motion import checked_form
from mbkit.systems.jacobians.jacobian_factors import (
    Recursions,
    between,
    screw_maps,
    sparse_blocks,
)
from mbkit.systems.jacobians.jacobian_rates import JacobianRates
from mbkit.systems.memory.body_tree import BodyTree, Integers

if TYPE_CHECKING:
    from mbkit.systems.system import System


@final
@attrs.frozen(eq=False, repr=False)
class SystemJacobian:
    """The matrix J with ``V = J v`` for the twists of all bodies, and its factors, ``J = A X``.

    X is block-diagonal: the joints' screws. A holds the tree: its block (i, j) is there if body j
    is on the path from the world to body i, and its inverse is bidiagonal in blocks,

        A = (I - T)^-1 diag(G_i),    A^-1 = diag(G_i^-1) (I - T),

    where T has the block P_i at (i, parent of i), the transport of twists from the parent's frame
    to the body's, and G_i takes the screws of body i to the representation. T is nilpotent: its
    power by the depth of the tree is zero. Nothing is inverted, and `apply`, `apply_transpose` and
    `solve` cost O(bodies).

    Rows are those of the bodies as they were added, six each, without the world; bodies on fixed
    joints have rows and no columns. Made by `System.system_jacobian`.

    Attributes
    ----------
    body_names : tuple of str
        The bodies of the rows.
    velocity_names : tuple of str
        The velocities of the columns.
    representation : Representation
        Representation of the twists V.
    screws : str
        Form of the columns of X; see `System.system_jacobian`.

    Notes
    -----
    Source: Mueller 2018, (23) to (25), (31) to (34), (43) to (45) and (53), with (34) and (53)
    corrected: the inverse of A for spatial twists and body-fixed screws has Ad_{C_i}^-1 on its
    diagonal and -Ad_{C_i}^-1 beside it, and for mixed twists of hybrid screws the diagonal of A is
    diag(R_i^T, I), not the identity.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("arm")
    >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
    >>> upper, lower = mech.add_body(mb.Body("upper", rod)), mech.add_body(mb.Body("lower", rod))
    >>> joint = mech.add_joint(mb.RevoluteJoint("shoulder"), mech.world, upper)
    >>> joint = mech.add_joint(mb.RevoluteJoint("elbow", point=(1, 0, 0)), upper, lower)
    >>> J = mech.assemble().system_jacobian([0.0, 0.0])
    >>> J.shape
    (12, 2)
    >>> J.apply([1.0, -1.0]).reshape(2, 6)[1]
    array([0., 0., 0., 0., 1., 0.])
    >>> bool(abs(J.A @ J.X - J.J).max() < 1e-15)
    True
    """

    body_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    representation: Representation
    screws: str
    _tree: BodyTree
    _poses: FloatArray  # (n, 4, 4), without the world, as all that follows
    _maps: tuple[FloatArray, FloatArray]  # body-fixed twists to the representation, and back
    _forms: tuple[FloatArray, FloatArray]  # body-fixed twists to the screws' form, and back
    _subspaces: FloatArray  # (nv, 6), body-fixed
    _recursions: Recursions  # with P_i
    _own: tuple[FloatArray, FloatArray]  # G_i and its inverse (n, 6, 6)
    _subspace_rates: Callable[[ArrayLike], FloatArray]  # of v

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of J."""
        return 6 * len(self.body_names), len(self.velocity_names)

    def __repr__(self) -> str:
        return (
            f"<SystemJacobian: {self.shape[0]} x {self.shape[1]}, {self.representation.name} "
            f"twists of {self.screws} screws>"
        )

    # ------------------------------------------------------------------------ sparse matrices

    @functools.cached_property
    def J(self) -> Any:
        """J as a sparse matrix (scipy.sparse.csr_array); 6 numbers a body and velocity it has."""
        bodies, ancestors = self._tree.paths()
        counts = self._tree.num_velocities[ancestors]
        pair = np.repeat(np.arange(len(bodies)), counts)
        # count up from the first velocity of each pair's joint
        within = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
        velocity = self._tree.first_velocity[ancestors][pair] + within
        to_body = self._maps[0][bodies - 1] @ self._relative(bodies, ancestors)
        columns = to_body[pair] @ self._subspaces[velocity][:, :, None]
        return sparse_blocks(columns, 6 * (bodies[pair] - 1), velocity, self.shape)

    @functools.cached_property
    def A(self) -> Any:
        """A as a sparse matrix: 36 numbers for each body and body on its path."""
        bodies, ancestors = self._tree.paths()
        blocks = (
            self._maps[0][bodies - 1]
            @ self._relative(bodies, ancestors)
            @ self._forms[1][ancestors - 1]
        )
        blocks[bodies == ancestors] = self._own[0]  # paths begin with the bodies themselves
        return self._square(blocks, bodies, ancestors)

    @functools.cached_property
    def X(self) -> Any:
        """X as a sparse matrix: the screws of each body's joint in the rows of the body."""
        owner = self._tree.body_of_velocity
        velocities = np.arange(len(owner))
        return sparse_blocks(self._screws[:, :, None], 6 * (owner - 1), velocities, self.shape)

    @functools.cached_property
    def T(self) -> Any:
        """T as a sparse matrix: P_i at (i, parent of i). The papers' D of body-fixed twists."""
        rows = self._recursions.moving
        return self._square(self._recursions.transport[rows - 1], rows, self._tree.parents[rows])

    @functools.cached_property
    def A_inverse(self) -> Any:
        """The inverse of A as a sparse matrix: G_i^-1 and, beside it, -G_i^-1 P_i."""
        rows = self._recursions.moving
        inverse = self._own[1]
        every = np.arange(1, len(self._tree.parents))
        beside = -inverse[rows - 1] @ self._recursions.transport[rows - 1]
        return self._square(
            np.concatenate([inverse, beside]),
            np.concatenate([every, rows]),
            np.concatenate([every, self._tree.parents[rows]]),
        )

    # ------------------------------------------------------------------------- recursions, O(n)

    def apply(self, v: ArrayLike) -> FloatArray:
        """Return J v by a pass from the world outwards: V_i = P_i V_p + G_i X_i v_i.

        Parameters
        ----------
        v : array_like, shape (nv,) or (nv, k)
            Velocities, or several as columns.

        Returns
        -------
        ndarray, shape (6 bodies,) or (6 bodies, k)
            Twists, one body below the other.

        Raises
        ------
        ShapeError
            If `v` has not nv rows.
        """
        return self._run(lambda x: self._recursions.outward(self._own[0] @ self._spread(x)), v, 1)

    def apply_transpose(self, wrenches: ArrayLike) -> FloatArray:
        """Return J^T W by a pass from the tips inwards: W_p += P_i^T W_i.

        Parameters
        ----------
        wrenches : array_like, shape (6 bodies,) or (6 bodies, k)
            Wrenches on the bodies, dual to the twists of the rows. [N m], [N]

        Returns
        -------
        ndarray, shape (nv,) or (nv, k)
            The generalized forces of the same power.

        Raises
        ------
        ShapeError
            If `wrenches` has not six rows a body.
        """
        return self._run(
            lambda W: self._collect(transposed(self._own[0]) @ self._recursions.inward(W)),
            wrenches,
            0,
        )

    def solve(self, twists: ArrayLike) -> FloatArray:
        """Return A^-1 V: the twist of each body relative to its parent, in the screws' form.

        Parameters
        ----------
        twists : array_like, shape (6 bodies,) or (6 bodies, k)
            Twists of the bodies in the representation.

        Returns
        -------
        ndarray, of the same shape
            G_i^-1 (V_i - P_i V_p). For V = J v it is X v.

        Raises
        ------
        ShapeError
            If `twists` has not six rows a body.
        """
        return self._run(lambda V: self._own[1] @ self._recursions.differences(V), twists, 0)

    def rates(self, v: ArrayLike) -> JacobianRates:
        """Return the factors of the rate of J, the matrices a and b of accelerations among them.

        Parameters
        ----------
        v : array_like, shape (nv,)
            Velocity.

        Returns
        -------
        JacobianRates
            Factors of ``Jdot = A (Xdot + a (X - J))``.

        Raises
        ------
        UsageError
            If twists and screws are not both body-fixed.
        ShapeError
            If `v` has not nv entries.

        Examples
        --------
        See `JacobianRates`.
        """
        form = f"{self.representation.name} twists of {self.screws} screws"
        if form != "body_fixed twists of body_fixed screws":
            raise UsageError(
                f"SystemJacobian.rates: a and b are for body-fixed twists and screws, and these "
                f"are {form}; give mb.BodyFixed() to System.system_jacobian."
            )
        V = self.apply(v)
        twists = self.solve(V), V
        return JacobianRates._of(
            self._tree, twists, self._subspace_rates(v), (self.A, self.X, self.J)
        )

    def operator(self, which: str = "J") -> Any:
        """Return a factor as an operator of scipy that costs O(bodies), its transpose included.

        Parameters
        ----------
        which : {"J", "A", "A_inverse"}
            The factor.

        Returns
        -------
        scipy.sparse.linalg.LinearOperator
            The operator.

        Raises
        ------
        UsageError
            If there is no such factor.
        """
        from scipy.sparse.linalg import LinearOperator

        forward, backward = self._own
        height, width = self.shape
        passes: dict[str, tuple[Callable[..., Any], Callable[..., Any], int]] = {
            "J": (self.apply, self.apply_transpose, width),
            "A": (
                self._square_run(lambda x: self._recursions.outward(forward @ x)),
                self._square_run(lambda W: transposed(forward) @ self._recursions.inward(W)),
                height,
            ),
            "A_inverse": (
                self._square_run(lambda V: backward @ self._recursions.differences(V)),
                self._square_run(
                    lambda W: self._recursions.differences_back(transposed(backward) @ W)
                ),
                height,
            ),
        }
        if not (isinstance(which, str) and which in passes):
            raise UsageError(
                f"SystemJacobian.operator: there is no factor {which!r}; "
                f"{suggestion(which, passes)}"
            )
        there, back, columns = passes[which]
        return LinearOperator(
            (height, columns), matvec=there, rmatvec=back, matmat=there, rmatmat=back, dtype=float
        )

    # ------------------------------------------------------------------------------------ parts

    @functools.cached_property
    def _screws(self) -> FloatArray:
        forms = self._forms[0][self._tree.body_of_velocity - 1]
        screws: FloatArray = (forms @ self._subspaces[:, :, None])[:, :, 0]
        return screws

    def _relative(self, bodies: Integers, ancestors: Integers) -> FloatArray:
        """Return Ad of the ancestor's pose in the body, (m, 6, 6)."""
        return SE3.Ad(SE3.inverse(self._poses[bodies - 1]) @ self._poses[ancestors - 1])

    def _square(self, blocks: FloatArray, bodies: Integers, ancestors: Integers) -> Any:
        return sparse_blocks(blocks, 6 * (bodies - 1), 6 * (ancestors - 1), self.shape[:1] * 2)

    def _run(self, do: Callable[[FloatArray], FloatArray], x: ArrayLike, axis: int) -> FloatArray:
        """Call `do` on x as columns, six rows a body in an axis of their own, and undo that."""
        given = as_floats(x, "SystemJacobian")
        length = self.shape[axis]
        if given.ndim not in (1, 2) or given.shape[0] != length:
            raise ShapeError(
                f"SystemJacobian takes {length} numbers here, or columns of as many; got an array "
                f"of shape {given.shape}."
            )
        count = 1 if given.ndim == 1 else given.shape[1]
        columns: FloatArray = given.reshape((length, count) if axis else (length // 6, 6, count))
        result = do(columns)
        return result.reshape(math.prod(result.shape[:-1]), *given.shape[1:])

    def _square_run(self, do: Callable[[FloatArray], FloatArray]) -> Callable[..., FloatArray]:
        return lambda x: self._run(do, x, 0)

    def _spread(self, v: FloatArray) -> FloatArray:
        """X v, (n, 6, k)."""
        twists = np.zeros((len(self.body_names), 6, v.shape[1]))
        np.add.at(twists, self._tree.body_of_velocity - 1, self._screws[:, :, None] * v[:, None, :])
        return twists

    def _collect(self, wrenches: FloatArray) -> FloatArray:
        """X^T W, (nv, k)."""
        bodies = self._tree.body_of_velocity - 1
        return np.asarray(np.einsum("ki,kij->kj", self._screws, wrenches[bodies]))


def system_jacobian(
    system: System,
    q: ArrayLike,
    representation: Representation | None = None,
    screws: str | None = None,
) -> SystemJacobian:
    """See `System.system_jacobian`."""
    chosen = checked_form(system, representation)
    q = system.checked("q", q)
    C = system.poses(q)
    maps = chosen.twist_map(C[1:]), chosen.inverse_twist_map(C[1:])
    word, to_form, from_form = screw_maps(system, C[1:], chosen, screws)
    same = word == chosen.name
    parents = np.maximum(system.tree.parents[1:], 0)
    to_body = SE3.Ad(SE3.inverse(C[1:]) @ C[parents])
    return SystemJacobian(
        body_names=system.body_names[1:],
        velocity_names=system.velocity_names,
        representation=chosen,
        screws=word,
        tree=system.tree,
        poses=C[1:],
        maps=maps,
        forms=(to_form, from_form),
        subspaces=system.motion_subspaces(q),
        recursions=Recursions(
            system.tree, maps[0] @ to_body @ chosen.inverse_twist_map(C[parents])
        ),
        own=(
            between(maps[0], from_form, same=same),
            between(to_form, maps[1], same=same),
        ),
        subspace_rates=lambda v: system.motion_subspace_rates(q, v),
    )

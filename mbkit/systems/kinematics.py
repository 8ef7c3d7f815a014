"""Motion of the bodies of a system: poses, twists, accelerations, Jacobians."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import attrs
from numpy.typing import ArrayLike

from mbkit.errors import UsageError, check_switch
from mbkit.lie.arrays import as_floats
from mbkit.representations import Representation
from mbkit.representations.conversions import check_representation
from mbkit.spatial import Acceleration, Twist
from mbkit.spatial.typed import typed_accelerations, typed_twists
from mbkit.systems.configurations import Floats
from mbkit.systems.evaluations import ACCELERATIONS, JACOBIAN, MOTION_SUBSPACES, POSES, TWISTS
from mbkit.systems.position_rates import PositionRates

if TYPE_CHECKING:
    from mbkit.systems.system_jacobian import SystemJacobian

__all__ = ["Floats", "Kinematics"]


@attrs.frozen(eq=False, slots=False, repr=False)
class Kinematics(PositionRates):
    """Kinematics of a system, which needs no masses; see `System`."""

    def poses(self, q: ArrayLike, *, out: Floats | None = None, on_error: str = "raise") -> Floats:
        """Return the pose of every body in the world.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration.
        out : ndarray, shape (..., bodies + 1, 4, 4), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., bodies + 1, 4, 4)
            ``C[i]`` takes coordinates in body i to coordinates in the world. [m]
        """
        return self.evaluator.compute(POSES, q, out=out, on_error=on_error)

    @overload
    def twists(
        self, q: ArrayLike, v: ArrayLike, *, representation: Representation | None = ...,
        typed: Literal[False] = ..., out: Floats | None = ..., on_error: str = ...,
    ) -> Floats: ...  # fmt: skip

    @overload
    def twists(
        self, q: ArrayLike, v: ArrayLike, *, representation: Representation | None = ...,
        typed: Literal[True], out: Floats | None = ..., on_error: str = ...,
    ) -> tuple[Twist, ...]: ...  # fmt: skip

    def twists(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        representation: Representation | None = None,
        typed: bool = False,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats | tuple[Twist, ...]:
        """Return the twist of every body.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        representation : Representation, optional
            Of the twists; the system's own if left out. Each is computed by its own recursion.
        typed : bool
            Return a tuple of `Twist`, which know their body, frame and representation.
        out : ndarray, shape (..., bodies + 1, 6), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., bodies + 1, 6), or tuple of Twist
            (angular, linear). [rad/s], [m/s]
        """
        chosen = self._checked_choice(representation)
        check_switch("typed", typed)
        if typed:
            _check_single(q, v)
        V = self.evaluator.compute(TWISTS, q, v, representation=chosen, out=out, on_error=on_error)
        return self._typed_twists(q, V, chosen) if typed else V

    @overload
    def accelerations(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *,
        representation: Representation | None = ..., typed: Literal[False] = ...,
        out: Floats | None = ..., on_error: str = ...,
    ) -> Floats: ...  # fmt: skip

    @overload
    def accelerations(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *,
        representation: Representation | None = ..., typed: Literal[True],
        out: Floats | None = ..., on_error: str = ...,
    ) -> tuple[Acceleration, ...]: ...  # fmt: skip

    def accelerations(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        *,
        representation: Representation | None = None,
        typed: bool = False,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats | tuple[Acceleration, ...]:
        """Return the component-wise rate of the twist of every body, without gravity's offset.

        Parameters
        ----------
        q, v, vdot : array_like, shape (..., nq), (..., nv), (..., nv)
            Configuration, velocity, acceleration.
        representation : Representation, optional
            Of the twists; the system's own if left out.
        typed : bool
            Return a tuple of `Acceleration`.
        out : ndarray, shape (..., bodies + 1, 6), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., bodies + 1, 6), or tuple of Acceleration
            (angular, linear). [rad/s^2], [m/s^2]
        """
        chosen = self._checked_choice(representation)
        check_switch("typed", typed)
        if typed:
            _check_single(q, v, vdot)
        A = self.evaluator.compute(
            ACCELERATIONS, q, v, vdot, representation=chosen, out=out, on_error=on_error
        )
        if not typed:
            return A
        V = self.twists(q, v, representation=chosen, typed=True, on_error=on_error)
        return typed_accelerations(A, V)

    def jacobian(
        self,
        body: str,
        q: ArrayLike,
        *,
        representation: Representation | None = None,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the matrix J with ``twist = J v`` of a body.

        Parameters
        ----------
        body : str
            The body's name.
        q : array_like, shape (..., nq)
            Configuration.
        representation : Representation, optional
            Of the twist; the system's own if left out.
        out : ndarray, shape (..., 6, nv), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., 6, nv)
            Zero in the columns of joints that do not carry the body.
        """
        return self.evaluator.compute(
            JACOBIAN, q, option=self.body_index(body),
            representation=self._checked_choice(representation), out=out, on_error=on_error,
        )  # fmt: skip

    def motion_subspaces(self, q: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the motion subspaces of all joints, at the frames of the user's bodies.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv, 6)
            Row k is the twist, body-fixed in the body that the joint carries and relative to that
            body's parent, for a unit of v[k].
        """
        return self.evaluator.compute(
            MOTION_SUBSPACES, q, option=self.tree.address, on_error=on_error
        )

    def system_jacobian(
        self,
        q: ArrayLike,
        representation: Representation | None = None,
        screws: str | None = None,
    ) -> SystemJacobian:
        """Return the Jacobian of all bodies at once, J = A X, with its factors along the tree.

        Parameters
        ----------
        q : array_like, shape (nq,)
            Configuration.
        representation : Representation, optional
            Of the twists; the system's own if left out.
        screws : {"body_fixed", "hybrid", "mixed", "spatial", "reference"}, optional
            In what the joint screws in X are written: at the body's frame in its axes, in the
            world's, or both by part; in the world where they are now; or in the world at the
            reference configuration, Y. The word for the representation if left out: then A has
            the identity on its diagonal.

        Returns
        -------
        SystemJacobian
            J, A, A^-1 and X as sparse matrices, and as operators that cost O(bodies).
        """
        from mbkit.systems.system_jacobian import system_jacobian

        return system_jacobian(self, q, representation, screws)

    def state_of(
        self,
        other: Kinematics,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        tolerance: float = 1e-6,
    ) -> tuple[Floats, Floats]:
        """Return the state in which the bodies stand and move as those of another system.

        Parameters
        ----------
        other : System
            Of the same mechanism, in other coordinates or with other loop joints.
        q, v : array_like, shape (..., other.nq), (..., other.nv)
            Its state; at rest if v is left out.
        tolerance : float
            How far off bodies may be, in radians and parts of the length of the system; and how
            much off in velocity, in parts of the largest. Where loops of the other system are open
            by this much, the joints of this one cannot follow.

        Returns
        -------
        q : ndarray, shape (..., nq)
            Positions. Of a joint that both systems have coordinates of, they are the other's, with
            all turns; otherwise they are found from the poses of its bodies, `Joint.locate`, and
            angles are those between -pi and pi: whole turns are not to be seen in a pose.
        v : ndarray, shape (..., nv)
            Velocities.

        Raises
        ------
        NameUnknownError
            If the other system has no body of a name that this one has.
        ConstraintError
            If a joint does not let its bodies be, or move, as they do in the other system.
        JointError
            If a nonholonomic joint has coordinates in this system alone.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("wheel")
        >>> wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> axle = mech.add_joint(mb.RevoluteJoint("axle", axis=(0, 0, 1)), mech.world, wheel)
        >>> relative = mech.assemble()
        >>> absolute = mech.assemble(mb.AbsoluteCoordinates())
        >>> q, v = absolute.state_of(relative, [np.pi / 2], [3.0])
        >>> q.round(6)[:4]
        array([0.707107, 0.      , 0.      , 0.707107])
        >>> v.round(6) + 0.0
        array([0., 0., 3., 0., 0., 0.])
        >>> relative.state_of(absolute, q, v)[0].round(6)
        array([1.570796])
        """
        from mbkit.systems.state_of import state_of

        return state_of(self, other, q, v, tolerance)

    def _checked_choice(self, representation: Representation | None) -> Representation | None:
        if representation is not None:
            check_representation(representation, f"System '{self.name}': representation")
        return representation

    def _typed_twists(
        self, q: ArrayLike, V: Floats, representation: Representation | None
    ) -> tuple[Twist, ...]:
        chosen = representation or self.representation
        return typed_twists(V, chosen, self.body_names, self.poses(q))


def _check_single(*arguments: ArrayLike) -> None:
    given = [as_floats(argument, "typed=True") for argument in arguments]
    if any(array.ndim > 1 for array in given):
        shapes = ", ".join(str(array.shape) for array in given)
        raise UsageError(
            f"typed=True is for one sample, and the arguments have shapes {shapes}; take the "
            f"arrays, or one sample at a time."
        )

"""What can be asked of a system without masses: names, configurations, motion of bodies."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal, overload

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbkit.errors import NameUnknownError, UsageError, suggestion
from mbkit.representations import Representation
from mbkit.representations.conversions import check_representation
from mbkit.spatial import Acceleration, Twist
from mbkit.spatial.typed import typed_accelerations, typed_twists
from mbkit.systems.arrays import SystemArrays
from mbkit.systems.body_tree import BodyTree
from mbkit.systems.evaluations import (
    ACCELERATIONS,
    DIFFERENCE,
    JACOBIAN,
    MOTION_SUBSPACES,
    POSES,
    RETRACT,
    TWISTS,
)
from mbkit.systems.evaluator import Evaluator

if TYPE_CHECKING:
    from mbkit.systems.system_jacobian import SystemJacobian

__all__ = ["Floats", "Kinematics"]

Floats = NDArray[np.float64]


@attrs.frozen(eq=False, slots=False, repr=False)
class Kinematics:
    """Names, configuration group and kinematics of a system; see `System`, which adds dynamics."""

    name: str
    representation: Representation
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    position_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    position_units: tuple[str, ...]
    mass: float
    gravity: Floats
    position_limits: Floats  # (nq, 2): lower and upper, infinite where there is none
    velocity_limits: Floats  # (nv,)
    effort_limits: Floats  # (nv,)
    model_text: str
    _reference: Floats
    _position_slices: dict[str, slice]
    _velocity_slices: dict[str, slice]
    tree: BodyTree
    evaluator: Evaluator

    # ------------------------------------------------------------------------------- names

    @functools.cached_property
    def nq(self) -> int:
        """Number of positions."""
        return len(self.position_names)

    @functools.cached_property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.velocity_names)

    def body_index(self, name: str) -> int:
        """Return the row of a body in `poses`, `twists` and `wrenches`.

        Parameters
        ----------
        name : str
            A body's name; the world has row 0.

        Returns
        -------
        int
            The row.

        Raises
        ------
        NameUnknownError
            If there is no such body.
        """
        try:
            return self.body_names.index(name)
        except ValueError:
            raise NameUnknownError(
                f"System '{self.name}' has no body '{name}'; {suggestion(name, self.body_names)}"
            ) from None

    def position_slice(self, joint: str) -> slice:
        """Return where a joint's positions stand in ``q``; NameUnknownError if there is none."""
        return self._slice(self._position_slices, joint)

    def velocity_slice(self, joint: str) -> slice:
        """Return where a joint's velocities stand in ``v``; NameUnknownError if there is none."""
        return self._slice(self._velocity_slices, joint)

    def _slice(self, slices: dict[str, slice], joint: str) -> slice:
        if joint not in slices:
            raise NameUnknownError(
                f"System '{self.name}' has no joint '{joint}'; {suggestion(joint, slices)}"
            )
        return slices[joint]

    @property
    def arrays(self) -> SystemArrays:
        """The frozen arrays that the kernels read."""
        return self.evaluator.arrays

    def checked(self, name: str, value: ArrayLike) -> Floats:
        """Return a copy of an argument ("q", "v", "tau", ...), or ShapeError if it does not fit."""
        return np.array(self.evaluator.arguments.checked(name, value))

    # ------------------------------------------------------------------------ configuration

    def reference_configuration(self) -> Floats:
        """Return the configuration in which every joint is neutral, shape (nq,)."""
        return self._reference.copy()

    def retract(
        self, q: ArrayLike, dx: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the configuration that a step leads to: ``q exp(dx)``, joint by joint.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration.
        dx : array_like, shape (..., nv)
            Step, in the coordinates of the velocities.
        out : ndarray, shape (..., nq), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nq)
            Configuration.
        """
        return self.evaluator.compute(RETRACT, q, dx, out=out, on_error=on_error)

    def difference(
        self, q0: ArrayLike, q1: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the step that leads from one configuration to another; undoes `retract`.

        Parameters
        ----------
        q0, q1 : array_like, shape (..., nq)
            Configurations.
        out : ndarray, shape (..., nv), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv)
            The step. Of several that lead there (whole turns) the shortest.
        """
        return self.evaluator.compute(DIFFERENCE, q0, q1, out=out, on_error=on_error)

    # --------------------------------------------------------------------------- kinematics

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
        A = self.evaluator.compute(
            ACCELERATIONS, q, v, vdot, representation=chosen, out=out, on_error=on_error
        )
        if not typed:
            return A
        V = self.twists(q, v, representation=chosen, typed=True)
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

    def _checked_choice(self, representation: Representation | None) -> Representation | None:
        if representation is not None:
            check_representation(representation, f"System '{self.name}': representation")
        return representation

    def _typed_twists(
        self, q: ArrayLike, V: Floats, representation: Representation | None
    ) -> tuple[Twist, ...]:
        if V.ndim != 2:
            raise UsageError(
                f"typed=True is for one sample, and the arguments have batch axes "
                f"{V.shape[:-2]}; take the arrays, or one sample at a time."
            )
        chosen = representation or self.representation
        return typed_twists(V, chosen, self.body_names, self.poses(q))

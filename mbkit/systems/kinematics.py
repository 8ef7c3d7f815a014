"""What can be asked of a system without masses: names, configurations, motion of bodies."""

from __future__ import annotations

import functools

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbkit.errors import NameUnknownError, suggestion
from mbkit.representations import Representation
from mbkit.systems.arrays import SystemArrays
from mbkit.systems.evaluator import Evaluator

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

    def retract(self, q: ArrayLike, dx: ArrayLike, *, out: Floats | None = None) -> Floats:
        """Return the configuration that a step leads to: ``q exp(dx)``, joint by joint.

        Parameters
        ----------
        q : array_like, shape (nq,)
            Configuration.
        dx : array_like, shape (nv,)
            Step, in the coordinates of the velocities.
        out : ndarray, shape (nq,), optional
            Where to write.

        Returns
        -------
        ndarray, shape (nq,)
            Configuration.
        """
        result = np.empty(self.nq) if out is None else out
        self.evaluator.run(self.evaluator.retract, ("q", "dx", "out:q"), q, dx, result)
        return result

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Floats | None = None) -> Floats:
        """Return the step that leads from one configuration to another; undoes `retract`.

        Parameters
        ----------
        q0, q1 : array_like, shape (nq,)
            Configurations.
        out : ndarray, shape (nv,), optional
            Where to write.

        Returns
        -------
        ndarray, shape (nv,)
            The step. Of several that lead there (whole turns) the shortest.
        """
        result = np.empty(self.nv) if out is None else out
        self.evaluator.run(self.evaluator.difference, ("q0", "q1", "out:v"), q0, q1, result)
        return result

    # --------------------------------------------------------------------------- kinematics

    def poses(self, q: ArrayLike, *, out: Floats | None = None) -> Floats:
        """Return the pose of every body in the world.

        Parameters
        ----------
        q : array_like, shape (nq,)
            Configuration.
        out : ndarray, shape (bodies + 1, 4, 4), optional
            Where to write.

        Returns
        -------
        ndarray, shape (bodies + 1, 4, 4)
            ``C[i]`` takes coordinates in body i to coordinates in the world. [m]
        """
        result = np.empty((len(self.body_names), 4, 4)) if out is None else out
        self.evaluator.run(self.evaluator.poses, ("q", "out:poses"), q, result)
        return result

    def twists(self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None) -> Floats:
        """Return the twist of every body, in the system's representation.

        Parameters
        ----------
        q, v : array_like, shape (nq,), (nv,)
            Configuration and velocity.
        out : ndarray, shape (bodies + 1, 6), optional
            Where to write.

        Returns
        -------
        ndarray, shape (bodies + 1, 6)
            (angular, linear). [rad/s], [m/s]
        """
        result = np.empty((len(self.body_names), 6)) if out is None else out
        self.evaluator.run(self.evaluator.twists, ("q", "v", "out:twists"), q, v, result)
        return result

    def accelerations(
        self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, *, out: Floats | None = None
    ) -> Floats:
        """Return the component-wise rate of the twist of every body, without gravity's offset.

        Parameters
        ----------
        q, v, vdot : array_like, shape (nq,), (nv,), (nv,)
            Configuration, velocity, acceleration.
        out : ndarray, shape (bodies + 1, 6), optional
            Where to write.

        Returns
        -------
        ndarray, shape (bodies + 1, 6)
            (angular, linear). [rad/s^2], [m/s^2]
        """
        result = np.empty((len(self.body_names), 6)) if out is None else out
        names = ("q", "v", "vdot", "out:twists")
        self.evaluator.run(self.evaluator.accelerations, names, q, v, vdot, result)
        return result

    def jacobian(self, body: str, q: ArrayLike, *, out: Floats | None = None) -> Floats:
        """Return the matrix J with ``twist = J v`` of a body, in the system's representation.

        Parameters
        ----------
        body : str
            The body's name.
        q : array_like, shape (nq,)
            Configuration.
        out : ndarray, shape (6, nv), optional
            Where to write.

        Returns
        -------
        ndarray, shape (6, nv)
            Zero in the columns of joints that do not carry the body.
        """
        result = np.empty((6, self.nv)) if out is None else out
        names = ("", "q", "out:jacobian")
        self.evaluator.run(self.evaluator.jacobian, names, self.body_index(body), q, result)
        return result

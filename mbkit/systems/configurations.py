"""Names, numbers and configurations of a system."""

from __future__ import annotations

import functools
from typing import NoReturn, Self

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbkit.errors import NameUnknownError, UsageError, suggestion
from mbkit.representations import Representation
from mbkit.systems.arrays import SystemArrays
from mbkit.systems.body_tree import BodyTree
from mbkit.systems.evaluations import DIFFERENCE, RETRACT
from mbkit.systems.evaluator import Evaluator

__all__ = ["Configurations", "Floats"]

Floats = NDArray[np.float64]


@attrs.frozen(eq=False, slots=False, repr=False)
class Configurations:
    """Names and configuration group of a system; see `System`."""

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

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            f"System '{self.name}' cannot be pickled: it holds addresses of compiled functions. "
            f"Pickle its mechanism or its model_text, and assemble again."
        )

    def __copy__(self) -> Self:
        return self  # immutable

    def __deepcopy__(self, _memo: object) -> Self:
        return self

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

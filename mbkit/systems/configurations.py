"""Names, numbers and configurations of a system."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbkit.errors import NameUnknownError, NotFiniteError, UsageError, check_switch, suggestion
from mbkit.joints.prescribed import JointMotion
from mbkit.representations import Representation
from mbkit.systems.arrays import SystemArrays
from mbkit.systems.blueprint import Blueprint
from mbkit.systems.body_tree import BodyTree
from mbkit.systems.evaluations import DEXP, DEXP_INV, DIFFERENCE, RATES, RETRACT
from mbkit.systems.evaluator import Evaluator
from mbkit.systems.halves import Half
from mbkit.systems.loans import Loan

if TYPE_CHECKING:
    from mbkit.model.parts import Parts

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
    _blueprint: Blueprint
    _reference: Floats
    _position_slices: dict[str, slice]
    _velocity_slices: dict[str, slice]
    _step_slices: dict[str, slice]
    tree: BodyTree
    evaluator: Evaluator
    motions: Mapping[str, JointMotion] = attrs.field(factory=dict)

    def __reduce__(self) -> NoReturn:
        raise UsageError(
            f"System '{self.name}' cannot be pickled: it holds addresses of compiled functions. "
            f"Pickle its mechanism or its model_text, and assemble again."
        )

    def __copy__(self) -> Self:
        return self  # immutable

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    @functools.cached_property
    def model_text(self) -> str:
        """The model document, with the values of all parameters."""
        return self._blueprint.text()

    @functools.cached_property
    def parts(self) -> Parts:
        """Bodies and joints of the system, bodies that are cut as their halves."""
        return self._blueprint.assembled

    @property
    def coordinates(self) -> Any:
        """The coordinates that it was assembled in: what `Mechanism.assemble` was given."""
        return self._blueprint.coordinates

    @property
    def halves(self) -> Mapping[str, Half]:
        """Bodies that are parts of others, by name: those that were cut to open a loop."""
        return self._blueprint.halves

    @property
    def free_joints(self) -> tuple[str, ...]:
        """Joints that absolute coordinates hang the bodies on: none that the mechanism has."""
        return self._blueprint.free_joints

    @functools.cached_property
    def loans(self) -> Mapping[str, Loan]:
        """Moments of inertia that bodies have for others, by the joint between; see `Loan`."""
        return self._blueprint.loans

    @property
    def remedy(self) -> str:
        """How a joint that closes a loop gets coordinates, as the end of a sentence."""
        return self._blueprint.remedy

    @functools.cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The numbers that `System.with_parameters` can change, by name."""
        return self._blueprint.parameters()

    def with_parameters(self, values: Mapping[str, ArrayLike]) -> Self:
        """Return the system with other numbers: masses, screws, places of joints, gravity, forces.

        Nothing is compiled, and the spanning tree stays what it is. This system is not changed.

        Parameters
        ----------
        values : mapping of str to array_like
            New values by name; `parameters` lists the names and what they are now.

        Returns
        -------
        System
            With these values, and the others as they are.

        Raises
        ------
        NameUnknownError
            If there is no such parameter.
        ParameterError, InertiaError
            If a value cannot be.

        Notes
        -----
        The parameters are independent: a new mass leaves centre and moment where they were.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum")
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> system = mech.assemble()
        >>> heavier = system.with_parameters({"bodies.bob.mass": 3.0})
        >>> heavier.mass_matrix([0.0]), system.mass_matrix([0.0])
        (array([[3.]]), array([[1.]]))
        """
        system: Any = self._blueprint.changed(values)
        return cast("Self", system)

    # ------------------------------------------------------------------------------- names

    @functools.cached_property
    def nq(self) -> int:
        """Number of positions."""
        return len(self.position_names)

    @functools.cached_property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.velocity_names)

    @functools.cached_property
    def num_steps(self) -> int:
        """Size of steps on the group of configurations; nv unless a joint is nonholonomic."""
        return self.evaluator.arguments.num_steps

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
            return self._body_rows[name]
        except (KeyError, TypeError):
            raise NameUnknownError(
                f"System '{self.name}' has no body '{name}'; {suggestion(name, self.body_names)}"
            ) from None

    @functools.cached_property
    def _body_rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.body_names)}

    def position_slice(self, joint: str) -> slice:
        """Return where a joint's positions stand in ``q``; NameUnknownError if there is none."""
        return self._slice(self._position_slices, joint)

    def velocity_slice(self, joint: str) -> slice:
        """Return where a joint's velocities stand in ``v``; NameUnknownError if there is none."""
        return self._slice(self._velocity_slices, joint)

    def step_slice(self, joint: str) -> slice:
        """Return where a joint's entries stand in steps; NameUnknownError if there is none."""
        return self._slice(self._step_slices, joint)

    def _slice(self, slices: dict[str, slice], joint: str) -> slice:
        if not isinstance(joint, str):
            raise NameUnknownError(f"A joint must be given by its name, got {joint!r}.")
        if joint not in slices:
            if joint in self._blueprint.loop_joints:
                raise NameUnknownError(
                    f"Joint '{joint}' closes a loop of system '{self.name}': it has no entries in "
                    f"q and v. Name a joint of the tree, or {self.remedy}."
                )
            raise NameUnknownError(
                f"System '{self.name}' has no joint '{joint}'; {suggestion(joint, slices)}"
            )
        return slices[joint]

    @property
    def arrays(self) -> SystemArrays:
        """The frozen arrays that the kernels read."""
        return self.evaluator.arrays

    def checked(self, name: str, value: ArrayLike, *, finite: bool = False) -> Floats:
        """Return a copy of an argument ("q", "v", "tau", ...), or ShapeError if it does not fit.

        `finite` asks for numbers that are: NotFiniteError else.
        """
        check_switch("finite", finite)
        array = np.array(self.evaluator.arguments.checked(name, value))
        if finite and not np.isfinite(array).all():
            bad = array[~np.isfinite(array)][0]
            raise NotFiniteError(f"Argument '{name}' has the entry {bad}; all must be finite.")
        return array

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
        dx : array_like, shape (..., num_steps)
            Step, in the coordinates of `rates`: those of the velocities unless a joint is
            nonholonomic.
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
        out : ndarray, shape (..., num_steps), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., num_steps)
            The step. Of several that lead there (whole turns) the shortest.
        """
        return self.evaluator.compute(DIFFERENCE, q0, q1, out=out, on_error=on_error)

    def rates(
        self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the rate at which a step leaves a configuration: v but for nonholonomic joints.

        A motion with velocity v through q is, to first order in t, ``retract(q, t rates(q, v))``.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        out : ndarray, shape (..., num_steps), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., num_steps)
            The rate.
        """
        return self.evaluator.compute(RATES, q, v, out=out, on_error=on_error)

    def dexp_inv(self, x: ArrayLike, rate: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return how a step changes while the configuration that it leads to moves.

        With ``q = retract(q0, x)``, where q moves with `rate`, so that to first order in t it
        becomes ``retract(q, t rate)``: the rate of x. It does not depend on q0.

        Parameters
        ----------
        x : array_like, shape (..., num_steps)
            Step.
        rate : array_like, shape (..., num_steps)
            Of the configuration: `rates` of a velocity, which is the velocity itself unless a joint
            is nonholonomic.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., num_steps)
            ``dexp_body^-1(x) rate`` on SE(3) and SO(3), `rate` where coordinates add. Singular at
            whole turns.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("ball")
        >>> body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.SphericalJoint("ball"), mech.world, body)
        >>> system = mech.assemble()
        >>> x = [0.0, 0.0, np.pi]  # half a turn: what follows it is seen from behind
        >>> w = system.dexp(x, [1.0, 0.0, 0.0])
        >>> (w * np.pi / 2).round(12) + 0.0
        array([ 0., -1.,  0.])
        >>> system.dexp_inv(x, w).round(12) + 0.0
        array([1., 0., 0.])
        """
        return self.evaluator.compute(DEXP_INV, x, rate, on_error=on_error)

    def dexp(self, x: ArrayLike, rate: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return how a configuration moves while the step that leads to it changes.

        Parameters
        ----------
        x : array_like, shape (..., num_steps)
            Step.
        rate : array_like, shape (..., num_steps)
            Of x.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., num_steps)
            The rate with which ``retract(q0, x)`` moves: what `dexp_inv` takes. Not a number where
            that is singular.

        Examples
        --------
        See `dexp_inv`.
        """
        return self.evaluator.compute(DEXP, x, rate, on_error=on_error)

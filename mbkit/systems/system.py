"""The equations of motion of a mechanism, ready to be evaluated.

`System` is one class with all its methods in this file, by subject, with their full docstrings;
therefore the file is longer than others. The code of a method is in a function of its name in
the module of its subject; the imports below list these. A method that calls one kernel has no such
function, and a few others have none: `reference_configuration`, `in_single_precision`,
`with_parameters` (of the blueprint), `configuration` and `velocity` (`calls.by_name.vector`),
`position_slice`, `velocity_slice` and `tangent_slice` (`configurations.joint_slice`), and
`prescribed_state`, which calls `prescribed_rows`.
"""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, final, overload

import attrs
from numpy.typing import ArrayLike

from mbkit.forces import Force
from mbkit.forces.definition import gives_derivatives
from mbkit.joints import Joint
from mbkit.joints.prescribed.prescribed_joint import JointMotion
from mbkit.representations import Representation
from mbkit.results.facts import as_html
from mbkit.shapes import Shape
from mbkit.solvers import ConstraintSolver
from mbkit.spatial import Acceleration, Twist
from mbkit.systems import (
    body_motion,
    configurations,
    constraint_checks,
    constraints,
    dynamics,
    higher_orders,
    kinematics,
    locked_joints,
    reactions,
)
from mbkit.systems import forces as applied_forces
from mbkit.systems.blueprint import (
    Blueprint,
    BodyFrame,
    BodyInertias,
    InertiaTransfer,
    JointPlace,
    SplitBody,
)
from mbkit.systems.calls.arguments import Configuration, Floats, time_of
from mbkit.systems.calls.by_name import argument_of, vector
from mbkit.systems.calls.evaluations import (
    CANONICAL_FORWARD_DYNAMICS,
    CONSTRAINED_DYNAMICS,
    CORIOLIS_MATRIX,
    DEXP,
    DEXP_INV,
    DIFFERENCE,
    FORWARD_DYNAMICS,
    INERTIAL_REGRESSOR,
    INVERSE_DYNAMICS,
    MASS_ACTION,
    MOMENTUM,
    MOTION_SUBSPACES,
    POSES,
    RATES,
    RETRACT,
    Evaluation,
)
from mbkit.systems.calls.evaluator import Evaluator
from mbkit.systems.calls.wrenches import Wrenches
from mbkit.systems.derivatives import (
    dynamics_derivatives,
    evaluation_derivatives,
    force_changes,
    mass_matrix_derivatives,
    second_derivatives,
    tree_dynamics,
)
from mbkit.systems.derivatives.evaluation_derivatives import Derivatives
from mbkit.systems.derivatives.on_duals.exact_constraints import ExactConstraints
from mbkit.systems.derivatives.on_duals.exact_forces import ExactForces
from mbkit.systems.forces import ActuatorEfforts
from mbkit.systems.forms.newton_euler import NewtonEulerEquations, newton_euler
from mbkit.systems.jacobians.system_jacobian import SystemJacobian, system_jacobian
from mbkit.systems.mass_factor import MassFactor, mass_factor
from mbkit.systems.memory.arrays import SystemArrays
from mbkit.systems.memory.body_tree import BodyTree
from mbkit.systems.notebook_table import system_facts
from mbkit.systems.parameters import geometric_parameters, inertial_parameters
from mbkit.systems.parameters.base_parameters import BaseParameters
from mbkit.systems.single_precision import SinglePrecision

if TYPE_CHECKING:
    from mbkit.linear_models.equilibrium import Equilibrium
    from mbkit.linear_models.linear_model import LinearModel
    from mbkit.results.diagnosis import Diagnosis


@final
@attrs.frozen(eq=False, slots=False, repr=False)
class System:
    """Equations of motion ``M(q) vdot + b(q, v) = f(t, q, v) + tau`` on the configuration group.

    f are the forces of the mechanism. They act in every method that speaks of motions or efforts,
    in `forward_dynamics` as in a simulation; `mass_matrix`, `bias_force` and `generalized_forces`
    are the terms of the equations. `without_forces` returns the mechanism without them.

    Made by `Mechanism.assemble`; immutable, and safe to share between threads. A pickle of it holds
    its bodies and joints, from which the other process assembles it again. Methods take and return
    plain arrays. Leading axes of arguments are a batch of samples and broadcast; the samples
    are computed on all cores, and an error names the index of a failed sample.

    Attributes
    ----------
    name : str
        The mechanism's name.
    representation : Representation
        Representation of twists, wrenches, Jacobians and accelerations of bodies.
    nq, nv, ndx : int
        Numbers of positions, of velocities, and the tangent dimension of the configuration group:
        nv, or more if a joint is nonholonomic.
    body_names : tuple of str
        The world first, then the bodies in the order in which they were added, as in the rows of
        `poses` and `twists`.
    joint_names : tuple of str
        Joints in the order in which they were added, which is the order of ``q`` and ``v``.
    position_names, velocity_names : tuple of str
        ``"joint"`` for joints with one entry, ``"joint[k]"`` for joints with more.
    position_units : tuple of str
        Unit of each position, "rad", "m" or "".
    mass : float
        Mass of all bodies. [kg]
    gravity : ndarray, shape (3,)
        In the world. [m/s^2]
    model_text : str
        The model document, with the values of all parameters.
    parameters : mapping of str to float or ndarray
        Masses, frames and axes of joints, gravity and others, by the names for `with_parameters`.

    Notes
    -----
    These arguments have the same meaning in all methods:

    q, v, vdot : array_like, shape (..., nq), (..., nv), (..., nv)
        Configuration, velocity, acceleration. One vector may be given by names as well, as by
        `configuration` and `velocity`: ``{"hinge": 0.5, "ball[2]": 0.1}``, the rest at the
        reference, or zero.
    tau : array_like, shape (..., nv), optional
        Generalized forces besides those of the mechanism; zero if left out; by names likewise.
        [N m], [N]
    wrenches : array_like, shape (..., bodies + 1, 6), or mapping, optional
        Wrenches applied to the bodies at their frames, (moment, force), in the system's
        representation; row 0 is ignored. Or by name of the body: ``{"hand": W}``, W a vector
        (..., 6) or a `Wrench` of any representation. [N m], [N]
    representation : Representation, optional
        Representation of twists; by default that of the system.
    t : array_like, shape (...), default 0
        Time, for forces, constraints and prescribed joints that depend on it. [s] One number in
        methods of one configuration.
    out : ndarray, of the shape of the result, optional
        Array for the result, which is also returned. It must be contiguous, of float64, and share
        no memory with the other arguments.
    on_error : {"raise", "nan"}
        Whether a failed sample raises, or gives NaN while the others are computed.

    Methods of one configuration take q (nq,), v (nv,) and so on: see their parameters.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> rod = mb.SpatialInertia.from_com(
    ...     mass=2.0, com=(0, 0, -1.0), moment_about_com=[[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    ... )
    >>> rod = mech.add_body(mb.Body("rod", inertia=rod))
    >>> joint = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    >>> system = mech.assemble()
    >>> system.mass_matrix([0.3])
    array([[3.]])
    """

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
    _tangent_slices: dict[str, slice]
    tree: BodyTree
    evaluator: Evaluator
    motions: Mapping[str, JointMotion] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        by_name = functools.partial(argument_of, weakref.ref(self))
        self.evaluator.takes_names(by_name, (self.position_names, self.velocity_names))

    def __repr__(self) -> str:
        return (
            f"<System '{self.name}': {len(self.body_names) - 1} bodies, nq={self.nq}, "
            f"nv={self.nv}, {self.representation.name}>"
        )

    def _repr_html_(self) -> str:
        return as_html(*system_facts(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # Addresses of compiled functions mean nothing elsewhere: it is assembled again there.
        return _assembled, (self._blueprint,)

    def __copy__(self) -> Self:
        return self  # immutable

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    # ---------------------------------------------------------------------------------------- model

    @functools.cached_property
    def model_text(self) -> str:
        """The model document, with the values of all parameters."""
        return self._blueprint.text()

    @functools.cached_property
    def joint_places(self) -> Mapping[str, JointPlace]:
        """Bodies and frames of all joints, those that close loops included, by name."""
        return self._blueprint.joint_places()

    @functools.cached_property
    def inertias(self) -> BodyInertias:
        """Masses, centres of mass and moments of inertia of the bodies."""
        return self._blueprint.inertias()

    @functools.cached_property
    def frames(self) -> Mapping[str, BodyFrame]:
        """Named frames on the bodies: the body of each, and its pose there; see `Body`."""
        return self._blueprint.frames()

    @functools.cached_property
    def shapes(self) -> tuple[tuple[int, Shape], ...]:
        """Shapes of the world and of the bodies, each with its row in `poses`; see `Body`.

        The colour is that of the shape, else that of the body, else None. The shapes of a split
        body are on its first part alone.
        """
        return self._blueprint.shapes()

    @property
    def coordinates(self) -> Any:
        """The coordinates of the system, as given to `Mechanism.assemble`."""
        return self._blueprint.coordinates

    @property
    def split_bodies(self) -> Mapping[str, SplitBody]:
        """Split bodies by name: the parts of bodies that were cut to open a loop."""
        return self._blueprint.split_bodies

    @property
    def free_joints(self) -> tuple[str, ...]:
        """Free joints between the world and the bodies that absolute coordinates add."""
        return self._blueprint.free_joints

    @functools.cached_property
    def inertia_transfers(self) -> Mapping[str, InertiaTransfer]:
        """Moments of inertia that bodies have for others, by the joint between."""
        return self._blueprint.inertia_transfers

    @property
    def remedy(self) -> str:
        """How a joint that closes a loop gets coordinates, as the end of a sentence."""
        return self._blueprint.remedy

    @functools.cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of `System.with_parameters`, by name.

        They are independent; for lengths from which points and inertias follow see
        docs/model-file.md#parameters.
        """
        return self._blueprint.parameters()

    def with_parameters(self, values: Mapping[str, ArrayLike]) -> Self:
        """Return the system with other parameters: masses, screws, joint frames, gravity, forces.

        Nothing is compiled, and the spanning tree is kept. This system is not changed.

        Parameters
        ----------
        values : mapping of str to array_like
            New values by name; `parameters` lists the names and present values.

        Returns
        -------
        System
            The system with these values.

        Raises
        ------
        NameUnknownError
            If there is no such parameter.
        ParameterError, InertiaError
            If a value is invalid.

        Notes
        -----
        The parameters are independent: a new mass does not change centre of mass and moment, and a
        new point of a joint does not change its bodies. For lengths from which all of them follow
        see docs/model-file.md#parameters.

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
        return self._blueprint.changed(values, self)

    def in_single_precision(self) -> SinglePrecision:
        """Return a form of this system that computes batches in single precision, float32.

        Returns
        -------
        SinglePrecision
            With sixteen methods of `System`, for motion, dynamics and their derivatives. Batches
            take 0.4 to 0.85 of the time of double precision, and have five to six correct digits,
            accelerations fewer where the mass matrix is ill-conditioned: docs/calling-a-system.md.
            The first batch of each method compiles it, in 2 to 40 s, once per installation.

        Raises
        ------
        ConstraintError
            If there are constraints or prescribed joints.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum")
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> system = mech.assemble()
        >>> system.in_single_precision()
        <System 'pendulum': 1 bodies, nq=1, nv=1, body_fixed>.in_single_precision()
        """
        return SinglePrecision(self)

    @property
    def arrays(self) -> SystemArrays:
        """The frozen arrays that the kernels read."""
        return self.evaluator.arrays

    # ---------------------------------------------------------------------------- names and numbers

    @functools.cached_property
    def nq(self) -> int:
        """Number of positions."""
        return len(self.position_names)

    @functools.cached_property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.velocity_names)

    @functools.cached_property
    def ndx(self) -> int:
        """Dimension of steps on the configuration group; nv unless a joint is nonholonomic."""
        return self.evaluator.arguments.ndx

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
        return configurations.body_index(self, name)

    def position_slice(self, joint: str) -> slice:
        """Return the slice of a joint's positions in ``q``; NameUnknownError if there is none."""
        return configurations.joint_slice(self, self._position_slices, joint)

    def velocity_slice(self, joint: str) -> slice:
        """Return the slice of a joint's velocities in ``v``; NameUnknownError if there is none."""
        return configurations.joint_slice(self, self._velocity_slices, joint)

    def tangent_slice(self, joint: str) -> slice:
        """Return the slice of a joint in tangent vectors; NameUnknownError if there is none."""
        return configurations.joint_slice(self, self._tangent_slices, joint)

    def checked(self, name: str, value: Configuration, *, finite: bool = False) -> Floats:
        """Return a copy of an argument ("q", "v", "tau", ...), or ShapeError if it does not fit.

        With `finite`, entries that are not finite raise NotFiniteError.
        """
        return configurations.checked(self, name, value, finite=finite)

    @functools.cached_property
    def _body_rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.body_names)}

    # ------------------------------------------------------------------------------------- pictures

    def draw(
        self, q: Configuration | None = None, path: str | os.PathLike[str] | None = None
    ) -> Any:
        """Return a picture of a configuration, which notebooks show and `Picture.save` writes.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to array_like, optional
            By default the reference configuration. Joints by name, ``{"motor": 0.5}``, are there,
            the others close the loops near the reference; an array is drawn as it is.
        path : str or path, optional
            Where to write it at once, in the format of the suffix: ``.png``, ``.html`` and others.

        Returns
        -------
        mbkit.viz.Picture
            See docs/pictures.md.

        Raises
        ------
        ShapeError, NotFiniteError
            If q does not fit.
        ConstraintError
            If joints are given by name, and the loops cannot be closed there.
        UsageError
            If the picture cannot be written to `path`.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum")
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> mech.assemble().draw([0.3]).film.q
        array([[0.3]])
        """
        from mbkit.viz.show import draw

        picture = draw(self, q)
        if path is not None:
            picture.save(path)
        return picture

    # ------------------------------------------------------------------------------- configurations

    def reference_configuration(self) -> Floats:
        """Return the configuration in which the mechanism was described, shape (nq,).

        Joints are neutral, but for free ones described in the world: these have `Body.pose`.
        """
        return self._reference.copy()

    def configuration(self, values: Mapping[str, ArrayLike]) -> Floats:
        """Return a configuration by the names of joints, the others as at the reference.

        Loops are not closed by it: ``close_loops(configuration, fixed=[...])`` does that.

        Parameters
        ----------
        values : mapping of str to array_like
            A number, or as many as the joint has positions, by joints or by `position_names`, such
            as ``{"main": 0.5, "ball[2]": 0.1}``. [rad], [m]

        Returns
        -------
        ndarray, shape (nq,)
            The configuration. Quaternions are taken as they are.

        Raises
        ------
        NameUnknownError, UsageError
            If there is no such name, or it takes other numbers.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("cart", gravity=(0, 0, -9.81))
        >>> ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
        >>> cart, bob = (mech.add_body(mb.Body(name, ball)) for name in ("cart", "bob"))
        >>> slide = mech.add_joint(mb.PrismaticJoint("slide", (1, 0, 0)), mech.world, cart)
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", (0, 1, 0)), cart, bob)
        >>> system = mech.assemble()
        >>> system.configuration({"hinge": 0.5}), system.velocity({"slide": 2})
        (array([0. , 0.5]), array([2., 0.]))
        """
        return vector(self, values, "q", self._reference, "configuration")

    def velocity(self, values: Mapping[str, ArrayLike]) -> Floats:
        """Return a velocity by the names of joints, the others at rest.

        Accelerations and efforts have the same entries. `consistent_velocity` moves the others as
        the loops require.

        Parameters
        ----------
        values : mapping of str to array_like
            A number, or as many as the joint has velocities, by joints or by `velocity_names`.
            [rad/s], [m/s]

        Returns
        -------
        ndarray, shape (nv,)
            The velocity.

        Raises
        ------
        NameUnknownError, UsageError
            If there is no such name, or it takes other numbers.

        Examples
        --------
        See `configuration`.
        """
        return vector(self, values, "v", self.evaluator.zero, "velocity")

    def retract(
        self, q: ArrayLike, dx: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the configuration at the end of a step: ``q exp(dx)``, joint by joint.

        Parameters
        ----------
        dx : array_like, shape (..., ndx)
            Step, in the coordinates of `rates`: those of the velocities unless a joint is
            nonholonomic.
        q, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nq)
            Configuration.
        """
        return self.evaluator.compute(RETRACT, q, dx, out=out, on_error=on_error)

    def difference(
        self, q0: ArrayLike, q1: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the step from one configuration to another, the inverse of `retract`.

        Parameters
        ----------
        q0, q1 : array_like, shape (..., nq)
            Configurations.
        out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., ndx)
            The step; of several, by whole turns, the shortest.
        """
        return self.evaluator.compute(DIFFERENCE, q0, q1, out=out, on_error=on_error)

    def rates(
        self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the rate of a step for a velocity: v, except for nonholonomic joints.

        A motion with velocity v through q is, to first order in t, ``retract(q, t rates(q, v))``.

        Parameters
        ----------
        q, v, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., ndx)
            The rate.
        """
        return self.evaluator.compute(RATES, q, v, out=out, on_error=on_error)

    def dexp_inv(self, x: ArrayLike, rate: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the rate of a step x for a rate of the configuration at its end.

        With ``q = retract(q0, x)``, where q moves with `rate`, so that to first order in t it
        becomes ``retract(q, t rate)``: the rate of x. It does not depend on q0.

        Parameters
        ----------
        x : array_like, shape (..., ndx)
            Step.
        rate : array_like, shape (..., ndx)
            Rate of the configuration: `rates` of a velocity, which is the velocity itself unless a
            joint is nonholonomic.
        on_error : see `System`

        Returns
        -------
        ndarray, shape (..., ndx)
            ``dexp_body^-1(x) rate`` on SE(3) and SO(3), `rate` where coordinates add. Singular at
            whole turns.

        Examples
        --------
        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("ball")
        >>> body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.SphericalJoint("ball"), mech.world, body)
        >>> system = mech.assemble()
        >>> x = [0.0, 0.0, np.pi]  # half a turn about z
        >>> w = system.dexp(x, [1.0, 0.0, 0.0])
        >>> (w * np.pi / 2).round(12) + 0.0
        array([ 0., -1.,  0.])
        >>> system.dexp_inv(x, w).round(12) + 0.0
        array([1., 0., 0.])
        """
        return self.evaluator.compute(DEXP_INV, x, rate, on_error=on_error)

    def dexp(self, x: ArrayLike, rate: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the rate of a configuration for a rate of the step x that ends there.

        Parameters
        ----------
        x : array_like, shape (..., ndx)
            Step.
        rate : array_like, shape (..., ndx)
            Rate of x.
        on_error : see `System`

        Returns
        -------
        ndarray, shape (..., ndx)
            The rate of ``retract(q0, x)``, the argument of `dexp_inv`. NaN where `dexp_inv` is
            singular.

        Examples
        --------
        See `dexp_inv`.
        """
        return self.evaluator.compute(DEXP, x, rate, on_error=on_error)

    @functools.cached_property
    def quaternions(self) -> tuple[int, ...]:
        """Indices in q at which unit quaternions of four entries begin."""
        return configurations.quaternions(self)

    def position_rates(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Return the time derivative of the entries of q, at a configuration and velocity.

        It is for methods that treat q as a vector, and not as an element of a group.

        Parameters
        ----------
        v : array_like, shape (..., nv)
            Velocity.
        q : see `System`

        Returns
        -------
        ndarray, shape (..., nq)
            ``qdot``, the derivative of ``retract(q, e rates(q, v))`` by e at e = 0.

        Raises
        ------
        JointError
            If positions of a joint do not add, and the joint has no `position_rates`.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("ball")
        >>> body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.SphericalJoint("ball"), mech.world, body)
        >>> mech.assemble().position_rates([1, 0, 0, 0], [0, 0, 3.0]) + 0.0  # half of the velocity
        array([0. , 0. , 0. , 1.5])
        """
        return configurations.position_rates(self, q, v)

    def time_to_lock(self, q: ArrayLike, v: ArrayLike) -> tuple[float, str]:
        """Return the time until `position_rates` may be infinite, and the joint.

        Example: gimbal lock of the angles of absolute coordinates; for methods that treat q as a
        vector. Zero at such a configuration; infinite if no joint has one, or none approaches it.

        Parameters
        ----------
        q, v : array_like, shape (nq,), (nv,)
            Configuration and velocity.

        Returns
        -------
        float, str
            Time [s], and the name of the joint, "" if it is infinite.

        Examples
        --------
        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("ball")
        >>> body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> free = mb.AbsoluteJoint("free", mb.EulerAngles("zxz"))
        >>> joint = mech.add_joint(free, mech.world, body)
        >>> mech.assemble().time_to_lock(np.zeros(6), np.zeros(6))
        (0.0, 'free')
        """
        return configurations.time_to_lock(self, q, v)

    @functools.cached_property
    def _own_rates(self) -> tuple[Any, Any, list[tuple[Joint, slice, slice]]]:
        """Entries of q that add, those of steps that they take; the other joints, with theirs."""
        return configurations.own_rates(self)

    # ----------------------------------------------------------------------------------- kinematics

    def poses(self, q: ArrayLike, *, out: Floats | None = None, on_error: str = "raise") -> Floats:
        """Return the pose of every body in the world.

        Parameters
        ----------
        q, out, on_error : see `System`

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
        representation : see `System`
            Each has its own recursion.
        typed : bool
            Return a tuple of `Twist`, with body, frame and representation.
        q, v, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., bodies + 1, 6), or tuple of Twist
            (angular, linear). [rad/s], [m/s]
        """
        return kinematics.twists(
            self, q, v, representation=representation, typed=typed, out=out, on_error=on_error
        )

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
        typed : bool
            Return a tuple of `Acceleration`.
        q, v, vdot, representation, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., bodies + 1, 6), or tuple of Acceleration
            (angular, linear). [rad/s^2], [m/s^2]
        """
        return kinematics.accelerations(
            self, q, v, vdot, representation=representation, typed=typed, out=out, on_error=on_error
        )

    def jerks(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        vddot: ArrayLike,
        *,
        representation: Representation | None = None,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the second component-wise rate of the twist of every body.

        Parameters
        ----------
        vddot : array_like, shape (..., nv)
            The rate of the acceleration.
        q, v, vdot, representation, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., bodies + 1, 6)
            (angular, linear). [rad/s^3], [m/s^3]

        See Also
        --------
        System.body_derivatives : all rates up to any order.

        Notes
        -----
        Exact but for rounding; joints in Python as in `body_derivatives`. Cost: O(bodies). Source:
        Mueller 2018, (13), (22), (33), corrected; docs/kinematics.md.

        Examples
        --------
        A point on a circle of radius 2 at 3 rad/s: the jerk is against its velocity.

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("wheel")
        >>> ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
        >>> place = mb.spatial.translation((2.0, 0.0, 0.0))
        >>> rim = mech.add_body(mb.Body("rim", ball, pose=place))
        >>> axle = mech.add_joint(mb.RevoluteJoint("axle", axis=(0, 0, 1)), mech.world, rim)
        >>> wheel = mech.assemble()
        >>> wheel.jerks([0.0], [3.0], [0.0], [0.0], representation=mb.Hybrid())[1].round(9) + 0.0
        array([  0.,   0.,   0.,   0., -54.,   0.])
        """
        return higher_orders.jerks(
            self, q, v, vdot, vddot, representation=representation, out=out, on_error=on_error
        )

    def body_derivatives(
        self,
        q: ArrayLike,
        rates: ArrayLike,
        *,
        representation: Representation | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the twist of every body and its component-wise rates up to any order.

        Parameters
        ----------
        rates : array_like, shape (..., k, nv)
            v, vdot, vddot, ...: the velocity and its derivatives, k of them.
        q, representation, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., k, bodies + 1, 6)
            Twists, accelerations, jerks, ...: derivatives of order 0 to k - 1, (angular, linear).
            [rad/s], [m/s], and so on by second.

        Raises
        ------
        ShapeError
            If `rates` has another shape.

        Notes
        -----
        The rates of hybrid and mixed twists contain those of the axes in which they are written:
        they are derivatives of the components, not conversions by Ad alone.

        Exact but for rounding. Joints in Python, and compiled ones of a user, are differentiated by
        tracing `pose` and `retract`; where that fails, by a polynomial through points of the
        motion, with a `JointDerivativeWarning`. Cost: O(bodies k^3), by brackets of series. Source:
        Mueller 2018, (12) to (24); docs/kinematics.md.

        Examples
        --------
        On a circle of radius 2 at 3 rad/s, each derivative is the one before, turned by a right
        angle and times 3:

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("wheel")
        >>> ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
        >>> place = mb.spatial.translation((2.0, 0.0, 0.0))
        >>> rim = mech.add_body(mb.Body("rim", ball, pose=place))
        >>> axle = mech.add_joint(mb.RevoluteJoint("axle", axis=(0, 0, 1)), mech.world, rim)
        >>> wheel = mech.assemble()
        >>> rates = np.array([[3.0], [0.0], [0.0], [0.0]])
        >>> found = wheel.body_derivatives([0.0], rates, representation=mb.Hybrid())
        >>> found[:, 1, 3:5].round(9) + 0.0
        array([[  0.,   6.],
               [-18.,   0.],
               [  0., -54.],
               [162.,   0.]])
        """
        return higher_orders.body_derivatives(
            self, q, rates, representation=representation, on_error=on_error
        )

    def pose(
        self,
        body: str,
        q: ArrayLike,
        *,
        frame: ArrayLike | str | None = None,
        relative_to: str | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the pose of a body, or of a frame on it, in the world or in another body.

        Parameters
        ----------
        body : str
            The body's name, or that of a frame of `Body.frames`, which stands for it.
        frame : array_like, shape (..., 4, 4), or str, optional
            Constant pose S of a frame in the frame of the body, or in the frame that `body` names;
            the name of one of the body's frames; by default the frame that `body` names.
        relative_to : str, optional
            Name of the body, or frame, from which it is seen; the world if left out.
        q, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., 4, 4)
            C_ji S. [m]

        Raises
        ------
        NameUnknownError
            If there is no such body, or frame on the body.
        ShapeError, GeometryError, UsageError
            If `frame` is no pose, or its leading axes do not broadcast.
        """
        return body_motion.pose(
            self, body, q, frame=frame, relative_to=relative_to, on_error=on_error
        )

    def twist(
        self,
        body: str,
        q: ArrayLike,
        v: ArrayLike,
        *,
        frame: ArrayLike | str | None = None,
        relative_to: str | None = None,
        representation: Representation | None = None,
        measured_in: str | None = None,
        resolved_in: str | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the twist of a body at any frame on it, relative to any body, in any frame.

        Parameters
        ----------
        body : str
            The body's name, or that of a frame of `Body.frames`, which stands for it.
        frame, relative_to
            As for `pose`: the frame whose motion it is, and the body from which it is seen.
        representation : Representation, optional
            Of the twist, with the body `relative_to` in the place of the world; by default that of
            the system. Not together with the following two.
        measured_in, resolved_in : str, optional
            Names of the bodies, or frames, at whose origin the linear velocity is measured, and
            into whose axes both parts are resolved. Measured at the frame itself, for which the
            name of `body` stands, and resolved where it is measured, if one of them is left out.
        q, v, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., 6)
            (angular, linear). [rad/s], [m/s]

        Raises
        ------
        NameUnknownError
            If there is no such body.
        ShapeError, GeometryError, UsageError
            As for `pose`; if both a representation and a frame by name are given.

        Notes
        -----
        The difference of the twists of both bodies in one frame; (79) to (81) of Mueller 2018,
        appendix A.2. Measured and resolved in the frame itself it is the body-fixed twist, in the
        world the spatial, measured in the frame and resolved in the world the hybrid one.

        Examples
        --------
        An arm of one metre whose second joint turns back as fast as the first turns forth:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("arm")
        >>> rod = mb.SpatialInertia.sphere(1.0, radius=0.1)
        >>> upper, hand = (mech.add_body(mb.Body(name, rod)) for name in ("upper", "hand"))
        >>> joint = mech.add_joint(mb.RevoluteJoint("shoulder"), mech.world, upper)
        >>> elbow = mb.RevoluteJoint("elbow", point=(1, 0, 0))
        >>> joint = mech.add_joint(elbow, upper, hand)
        >>> system, tip = mech.assemble(), mb.spatial.translation((1.5, 0, 0))
        >>> system.twist("hand", [0.0, 0.0], [1.0, -1.0], frame=tip) + 0.0
        array([0., 0., 0., 0., 1., 0.])
        >>> system.twist("hand", [0.0, 0.0], [1.0, -1.0], frame=tip, relative_to="upper")
        array([ 0. ,  0. , -1. ,  0. , -0.5,  0. ])
        """
        return body_motion.twist(
            self, body, q, v, frame=frame, relative_to=relative_to, representation=representation,
            measured_in=measured_in, resolved_in=resolved_in, on_error=on_error,
        )  # fmt: skip

    def acceleration(
        self,
        body: str,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        *,
        frame: ArrayLike | str | None = None,
        relative_to: str | None = None,
        representation: Representation | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the component-wise rate of a body's twist at any frame, relative to any body.

        Parameters
        ----------
        body : str
            The body's name, or that of a frame of `Body.frames`, which stands for it.
        frame, relative_to, representation
            As for `twist`.
        q, v, vdot, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., 6)
            The rate of the result of `twist`, without gravity's offset. [rad/s^2], [m/s^2]

        Raises
        ------
        NameUnknownError, ShapeError, GeometryError, UsageError
            As for `twist`.
        """
        return body_motion.acceleration(
            self, body, q, v, vdot, frame=frame, relative_to=relative_to,
            representation=representation, on_error=on_error,
        )  # fmt: skip

    def jacobian(
        self,
        body: str,
        q: ArrayLike,
        *,
        frame: ArrayLike | str | None = None,
        relative_to: str | None = None,
        representation: Representation | None = None,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the matrix J with ``twist = J v`` of a body.

        Parameters
        ----------
        body : str
            The body's name, or that of a frame of `Body.frames`, which stands for it.
        frame, relative_to
            As for `pose`: the frame whose twist it is, and the body from which it is seen.
        representation : Representation, optional
            As for `twist`.
        q, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., 6, nv)
            Zero in the columns of joints that do not carry the body, or carry both.

        Raises
        ------
        NameUnknownError, ShapeError, GeometryError, UsageError
            As for `twist`.
        """
        return body_motion.jacobian(
            self, body, q, frame=frame, relative_to=relative_to, representation=representation,
            out=out, on_error=on_error,
        )  # fmt: skip

    def jacobian_rate(
        self,
        body: str,
        q: ArrayLike,
        v: ArrayLike,
        *higher: ArrayLike,
        frame: ArrayLike | str | None = None,
        representation: Representation | None = None,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the time derivative of a body's `jacobian` along a motion, or a higher one.

        Parameters
        ----------
        body : str
            The body's name, or that of a frame of `Body.frames`, which stands for it.
        frame
            As for `pose`: the frame whose twist it is.
        *higher : array_like, shape (..., nv)
            vdot, vddot, ...: each raises the order of the derivative by one.
        q, v, representation, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., 6, nv)
            Jdot, component-wise: the acceleration of the body is ``J vdot + Jdot v``. With `vdot`
            the second derivative, and so on: the jerk is ``J vddot + 2 Jdot vdot + Jddot v``. Zero
            in the columns of joints that do not carry the body.

        Raises
        ------
        NameUnknownError, ShapeError, GeometryError
            As for `pose`.

        Notes
        -----
        Exact but for rounding; joints in Python as in `body_derivatives`. Cost: O(bodies), at a
        frame once for each order. Source:
        Mueller 2018, (8), (16), (26), (27), (30), (33), corrected.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("wheel")
        >>> ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
        >>> place = mb.spatial.translation((2.0, 0.0, 0.0))
        >>> rim = mech.add_body(mb.Body("rim", ball, pose=place))
        >>> axle = mech.add_joint(mb.RevoluteJoint("axle", axis=(0, 0, 1)), mech.world, rim)
        >>> wheel = mech.assemble()
        >>> wheel.jacobian_rate("rim", [0.0], [3.0], representation=mb.Hybrid()).T.round(9) + 0.0
        array([[ 0.,  0.,  0., -6.,  0.,  0.]])
        """
        return higher_orders.jacobian_rate(
            self, body, q, v, *higher, frame=frame, representation=representation, out=out,
            on_error=on_error,
        )  # fmt: skip

    def jacobian_derivatives(
        self,
        body: str,
        q: ArrayLike,
        order: int = 1,
        *,
        frame: ArrayLike | str | None = None,
        representation: Representation | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the partial derivatives of a body's `jacobian`: of its instantaneous joint screws.

        Parameters
        ----------
        body, frame
            As for `jacobian_rate`.
        order : int
            Order of the derivatives, at most 12; 1 gives the Hessian of the forward kinematics.
        q, representation, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv, [nv, ...,] 6, nv)
            ``H[k, l]`` is the second derivative of J by x_k and x_l at x = 0, where x is a constant
            velocity with which the system moves for one unit of time: where v is dq/dt, the partial
            derivatives by q_k and q_l; of joints in group coordinates, derivatives along their
            velocities, symmetric in their order. ``jacobian_rate(body, q, v)`` is
            ``np.tensordot(v, H, 1)`` of order 1.

        Raises
        ------
        NameUnknownError, ShapeError, GeometryError
            As for `pose`.
        UsageError
            If `order` is no positive whole number.
        NoMemoryError
            If there is no memory for 6 nv^(order + 1) numbers.

        Notes
        -----
        In body-fixed screws the first order is the bracket [J_j, J_k] for k beyond j, the second
        [[J_j, J_k], J_l], and so on. It is exact but for rounding, as `jacobian_rate`, which gives
        the derivatives along sums of velocities, of which these are combinations: order 3 leaves
        some 1e-14. Source: Mueller 2018, (5), (12), (14), (15), (20), (25), the last completed.

        Examples
        --------
        How the velocity of the tip of an arm changes with the angle of its elbow:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("arm")
        >>> ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
        >>> upper = mech.add_body(mb.Body("upper", ball))
        >>> tip = mech.add_body(mb.Body("tip", ball, pose=mb.spatial.translation((2.0, 0, 0))))
        >>> joint = mech.add_joint(mb.RevoluteJoint("shoulder"), mech.world, upper)
        >>> joint = mech.add_joint(mb.RevoluteJoint("elbow", point=(1.0, 0, 0)), upper, tip)
        >>> arm = mech.assemble()
        >>> H = arm.jacobian_derivatives("tip", [0.0, 0.0], representation=mb.Hybrid())
        >>> H.shape
        (2, 6, 2)
        >>> H[1, 3:].T.round(9) + 0.0
        array([[-1.,  0.,  0.],
               [-1.,  0.,  0.]])
        """
        return higher_orders.jacobian_derivatives(
            self, body, q, order, frame=frame, representation=representation, on_error=on_error
        )

    def motion_subspaces(self, q: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the motion subspaces of all joints, at the frames of the user's bodies.

        Parameters
        ----------
        q, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv, 6)
            Row k is the twist, body-fixed in the body that the joint carries and relative to that
            body's parent, for a unit of v[k].
        """
        return self.evaluator.compute(
            MOTION_SUBSPACES, q, option=self.tree.address, on_error=on_error
        )

    def motion_subspace_rates(
        self, q: ArrayLike, v: ArrayLike, *higher: ArrayLike, on_error: str = "raise"
    ) -> Floats:
        """Return the time derivative of `motion_subspaces` along a motion, or a higher one.

        Parameters
        ----------
        *higher : array_like, shape (..., nv)
            vdot, vddot, ...: each raises the order of the derivative by one.
        q, v, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv, 6)
            Component-wise rates of the rows of `motion_subspaces`; zero for screws and joints in
            group coordinates.

        Notes
        -----
        As exact as `body_derivatives`. Cost: O(bodies).

        Examples
        --------
        The first axis of a universal joint turns, seen from the successor:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("cross")
        >>> fork = mech.add_body(mb.Body("fork", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.UniversalJoint("cross"), mech.world, fork)
        >>> cross = mech.assemble()
        >>> cross.motion_subspace_rates([0.0, 0.0], [1.0, 3.0]).round(9) + 0.0
        array([[0., 0., 3., 0., 0., 0.],
               [0., 0., 0., 0., 0., 0.]])
        """
        return higher_orders.motion_subspace_rates(self, q, v, *higher, on_error=on_error)

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
        screws : str, optional
            Form of the joint screws in X, by body i and its joint:
        representation : see `System`

            - "body_fixed": X_i, at the body's frame and in its axes;
            - "hybrid": 0X_i = diag(R_i, R_i) X_i, at the body's frame in the world's axes;
            - "mixed": diag(I, R_i) X_i;
            - "spatial": Ad_{C_i} X_i, in the world at q;
            - "reference": Y_i = Ad_{A_i} X_i, in the world at the reference configuration, with A_i
              the pose of the body there. Constant for joints whose X_i is.

            By default the form of the representation: then A has the identity on its diagonal.

        Returns
        -------
        SystemJacobian
            J, A, A^-1 and X as sparse matrices, made on first use, and as operators that cost
            O(bodies).

        Raises
        ------
        UsageError
            If `representation` or `screws` is unknown.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("top")
        >>> body = mech.add_body(mb.Body("body", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.SphericalJoint("tip"), mech.world, body)
        >>> system = mech.assemble()
        >>> system.system_jacobian(system.reference_configuration(), mb.Hybrid())
        <SystemJacobian: 6 x 3, hybrid twists of hybrid screws>
        """
        return system_jacobian(self, q, representation, screws)

    def newton_euler(
        self,
        q: ArrayLike,
        v: ArrayLike,
        representation: Representation | None = None,
        screws: str | None = None,
    ) -> NewtonEulerEquations:
        """Return Newton's and Euler's equations of all bodies, to be projected by J = A X.

        Parameters
        ----------
        q, v : array_like, shape (nq,), (nv,)
            State.
        representation : see `System`
        screws : str, optional
            Form of the joint screws in X, as in `system_jacobian`.

        Returns
        -------
        NewtonEulerEquations
            Sparse block-diagonal M and C, weights W and twists V, and the Jacobian with its rate:
            J^T (M Vdot + C V - W) = f + tau, of the tree.

        Raises
        ------
        UsageError
            If `representation` or `screws` is unknown.
        ShapeError
            If q or v has another shape.

        Examples
        --------
        See `NewtonEulerEquations`.
        """
        return newton_euler(self, q, v, representation, screws)

    def state_of(
        self,
        other: System,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        tolerance: float = 1e-6,
    ) -> tuple[Floats, Floats]:
        """Return the state with the poses and twists of the bodies of another system.

        Parameters
        ----------
        other : System
            A system of the same mechanism, in other coordinates or with other loop joints.
        q, v : array_like, shape (..., other.nq), (..., other.nv)
            Its state; at rest without v.
        tolerance : float, positive, up to 1
            Largest error of poses, in radians and parts of the length of the system, and of
            velocities, in parts of the largest. It bounds the gap of loops of the other system.

        Returns
        -------
        q : ndarray, shape (..., nq)
            Positions. Joints with coordinates in both systems have those of the other, with all
            turns; other positions are found from the poses of bodies by
            `Joint.configuration_from_pose`, with angles between -pi and pi.
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
        >>> import numpy as np
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
        return configurations.state_of(self, other, q, v, tolerance=tolerance)

    # -------------------------------------------------------------------------- energy and momentum

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float | Floats:
        """Return ``1/2 v^T M v`` [J] at q (..., nq), v (..., nv)."""
        return dynamics.kinetic_energy(self, q, v)

    def potential_energy(self, q: ArrayLike) -> float | Floats:
        """Return ``-sum m g.c`` [J] at q (..., nq), c the centres of mass in the world."""
        return dynamics.potential_energy(self, q)

    def energies(
        self, q: ArrayLike, v: ArrayLike, *, on_error: str = "raise"
    ) -> tuple[Floats, Floats]:
        """Return kinetic and potential energy.

        Parameters
        ----------
        q, v, on_error : see `System`

        Returns
        -------
        tuple of two ndarrays, shape (...)
            Kinetic and potential energy. [J]
        """
        return dynamics.energies(self, q, v, on_error=on_error)

    def momentum(self, q: ArrayLike, v: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the momentum of all bodies about the world's origin.

        Parameters
        ----------
        q, v, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., 6)
            (angular, linear), in the world. [kg m^2/s], [kg m/s]
        """
        return self.evaluator.compute(MOMENTUM, q, v, on_error=on_error)[..., :6].copy()

    def mass_action(
        self, q: ArrayLike, x: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the mass matrix times a vector, without the matrix.

        Parameters
        ----------
        q, x : array_like, shape (..., nq), (..., nv)
            Configuration; velocity or acceleration.
        out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            ``M(q) x``: for a velocity, the generalized momenta. Cost: O(bodies).
        """
        return self.evaluator.compute(MASS_ACTION, q, x, out=out, on_error=on_error)

    def centre_of_mass(self, q: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the centre of mass of all bodies in the world, shape (..., 3) [m], at q (..., nq).

        A mechanism without mass has none: the result is then not a number.
        """
        return dynamics.centre_of_mass(self, q, on_error=on_error)

    # ------------------------------------------------------------------------------------- dynamics

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the generalized forces that produce an acceleration (recursive Newton-Euler).

        They act in addition to the forces of the mechanism.

        Parameters
        ----------
        q, v, vdot, wrenches, t, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            ``tau = M vdot + b - f - J^T W``. Cost: O(bodies + forces).

        Examples
        --------
        A spring holds a hinge at 0.5 rad together with an effort of 2 N m:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("door", gravity=(0, 0, 0))
        >>> leaf = mech.add_body(mb.Body("leaf", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 0, 1)), mech.world, leaf)
        >>> spring = mech.add_force(mb.JointSpring("spring", "hinge", stiffness=4.0))
        >>> system = mech.assemble()
        >>> system.inverse_dynamics([0.5], [0.0], [0.0])
        array([2.])
        >>> system.without_forces().inverse_dynamics([0.5], [0.0], [0.0])
        array([0.])
        """
        time: Any = t
        if wrenches is None and self._bare and time.__class__ is float:
            return self._inverse_dynamics(q, v, vdot, out, on_error)
        return dynamics.inverse_dynamics(
            self, q, v, vdot, wrenches, t=t, out=out, on_error=on_error
        )

    def inverse_dynamics_rate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        vddot: ArrayLike,
        *,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> Floats:
        """Return the rate of the efforts that a motion needs, Q-dot.

        Q are the efforts that act besides the forces of the mechanism: `inverse_dynamics`.

        Parameters
        ----------
        vddot : array_like, shape (..., nv)
            The rate of the acceleration.
        q, v, vdot, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            [N m/s], [N/s]. Cost: O(bodies).

        Raises
        ------
        UsageError
            If the system has loops: the rates of constraint forces are not known.

        See Also
        --------
        System.inverse_dynamics_second_rate

        Notes
        -----
        Exact but for rounding without forces; joints in Python as in `body_derivatives`. The rate
        of the forces along the motion, time included, is that of `force_derivatives` and of
        `derivatives` by the time where these are exact. Else it is by differences of eighth order:
        central ones at steps halved three times and extrapolated, of five first steps from 0.2 s to
        0.4 ms the one whose last two extrapolations agree best, for each velocity by itself. Of
        smooth forces 1e-12 of the force by second is left, and the cost is 41 sums of the forces.
        Source: Mueller 2018, section 6.3; `mbkit.kernels.higher_orders.inverse_dynamics`.

        Examples
        --------
        Of a pendulum that swings through its lowest point at 2 rad/s, m g l cos(q) v:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10.0))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(3.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> mech.assemble().inverse_dynamics_rate([0.0], [2.0], [0.0], [0.0])
        array([60.])
        """
        return higher_orders.inverse_dynamics_rate(self, q, v, vdot, vddot, t=t, on_error=on_error)

    def inverse_dynamics_second_rate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        vddot: ArrayLike,
        vdddot: ArrayLike,
        *,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> Floats:
        """Return the second rate of the efforts that a motion needs, Q-double-dot.

        An elastic joint of stiffness k, between a motor of inertia J at the angle r and the arm,
        turns by r - q = Q / k: the motor must be driven by J r'' + Q, with r'' = vdot + Q'' / k.

        Parameters
        ----------
        vddot, vdddot : array_like, shape (..., nv)
            First and second rate of the acceleration.
        q, v, vdot, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            [N m/s^2], [N/s^2]. Cost: O(bodies).

        Raises
        ------
        UsageError
            If the system has loops.

        Notes
        -----
        As `inverse_dynamics_rate`, forces by differences of eighth order of their first rate where
        that is exact, which leave 1e-12 of it where it is smooth; else by differences of the
        forces, which leave 1e-10 of the force by second squared.

        Examples
        --------
        Of a pendulum at rest in its lowest point that starts to jerk, m l^2 vdddot:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10.0))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(3.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> mech.assemble().inverse_dynamics_second_rate([0.0], [0.0], [0.0], [0.0], [5.0])
        array([15.])
        """
        return higher_orders.inverse_dynamics_second_rate(
            self, q, v, vdot, vddot, vdddot, t=t, on_error=on_error
        )

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the acceleration under generalized forces (articulated-body algorithm).

        Parameters
        ----------
        t : see `System`
            Entries of prescribed joints in q and v are ignored.
        q, v, tau, wrenches, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            ``vdot`` with ``M vdot + b - J^T W = f + tau``, and the prescribed accelerations of
            prescribed joints. Cost: O(bodies + forces).

        Raises
        ------
        SingularMassMatrixError
            If a joint can move without moving any inertia; it is named. An inertia below 1e-13 of
            the others at the joint counts as none.
        """
        time: Any = t
        if time.__class__ is float and time == 0.0 and wrenches is None and self._bare:
            given = self.evaluator.zero if tau is None else tau
            return self._forward_dynamics(q, v, given, out, on_error)
        return dynamics.forward_dynamics(self, q, v, tau, wrenches, t=t, out=out, on_error=on_error)

    def hybrid_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        tau: ArrayLike | None = None,
        vdot: ArrayLike | None = None,
        prescribed: Sequence[str] = (),
        wrenches: Wrenches | None = None,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> tuple[Floats, Floats]:
        """Return accelerations and forces, given the motion of some joints, the forces of others.

        Inverse and forward dynamics are the special cases of all joints prescribed, or none. Loops
        stay closed: accelerations of the other joints follow from forces and constraints.

        Parameters
        ----------
        tau : array_like, shape (..., nv), optional
            Generalized forces besides those of the mechanism, by default zero; entries of
            prescribed joints are ignored.
        vdot : array_like, shape (..., nv), optional
            Accelerations, by default zero; entries of the other joints are ignored.
        prescribed : sequence of str
            Names of the joints whose accelerations are given by `vdot`.
        q, v, wrenches, t, on_error : see `System`

        Returns
        -------
        vdot, tau : ndarray, shape (..., nv)
            All accelerations, and all generalized forces besides those of the mechanism and of
            its constraints. Cost: O(bodies + forces) for a tree.

        Raises
        ------
        NameUnknownError
            If there is no such joint.
        SingularMassMatrixError
            If a joint that is not prescribed can move without moving any inertia.
        ConstraintError
            If the prescribed accelerations contradict the constraints; or if their number exceeds
            the mobility, so that forces are not unique.

        Notes
        -----
        Source: Kim 2012, table 4.

        Examples
        --------
        The force that holds a cart, while the pendulum on it swings freely:

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("cart and pendulum")
        >>> cart = mech.add_body(mb.Body("cart", inertia=mb.SpatialInertia.sphere(2.0, radius=0.1)))
        >>> bob = mech.add_body(mb.Body("bob", inertia=mb.SpatialInertia.from_com(
        ...     mass=1.0, com=(0, 0, -0.5), moment_about_com=np.zeros((3, 3))
        ... )))
        >>> rail = mech.add_joint(mb.PrismaticJoint("rail", axis=(1, 0, 0)), mech.world, cart)
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), cart, bob)
        >>> system = mech.assemble()
        >>> vdot, tau = system.hybrid_dynamics([0, 0], [0, 2.0], prescribed=["rail"])
        >>> vdot.round(9) + 0.0, tau.round(9) + 0.0
        (array([0., 0.]), array([0., 0.]))
        """
        return dynamics.hybrid_dynamics(
            self, q, v, tau=tau, vdot=vdot, prescribed=prescribed, wrenches=wrenches, t=t,
            on_error=on_error,
        )  # fmt: skip

    def solve_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        solver: ConstraintSolver | None = None,
        on_error: str = "raise",
    ) -> tuple[Floats, Floats]:
        """Return the acceleration of the closed mechanism and the multipliers of its constraints.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity, which should satisfy the constraints: `close_loops`.
        solver : ConstraintSolver, optional
            Strategy for the multipliers; by default `constraint_solver`.
        tau, wrenches, t, on_error : see `System`

        Returns
        -------
        vdot : ndarray, shape (..., nv)
        multipliers : ndarray, shape (..., num_velocity_constraints)
            ``M vdot + b - J^T W = f + tau + A^T multipliers`` and ``A vdot + dA/dt v = 0``. With
            redundant constraints they are not unique, and the minimum-norm multipliers are
            returned. The multipliers of a constraint times its rows are its wrench. [N]

        Raises
        ------
        ConstraintError
            If constraints contradict each other; if the solver loses a row to bodies that are very
            light beside others, or leaves a residual above 1e-8; or if rounding may move light
            bodies by 1e-5 of the largest acceleration, or of gravity, and more (checked in systems
            of up to 600 velocities).

        Warns
        -----
        RedundantConstraintsWarning
            If rows depend on others: the motion is unique, their multipliers are not.
        """
        return constraints.solve_dynamics(
            self, q, v, tau, wrenches, t=t, solver=solver, on_error=on_error
        )

    def mass_matrix(
        self, q: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the mass matrix (composite-rigid-body algorithm).

        Parameters
        ----------
        q, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv, nv)
            Symmetric; both halves are written. Cost: O(nv depth).
        """
        return self._mass_matrix(q, out, on_error)

    def mass_matrix_derivatives(
        self, q: ArrayLike, order: int = 1, *, on_error: str = "raise"
    ) -> Floats:
        """Return the partial derivatives of `mass_matrix` by configuration.

        Parameters
        ----------
        q, on_error : see `System`
            Of a closed mechanism or a prescribed joint, as of a tree that moves freely, like
            `mass_matrix`.
        order : int
            1 or 2.

        Returns
        -------
        ndarray, shape (..., nv, nv, ndx[, ndx])
            ``dM[i, j, k]`` is the derivative of ``M[i, j]`` of ``retract(q, dx)`` by ``dx[k]`` at
            dx = 0, and ``ddM[i, j, k, l]`` the second, by ``dx[k]`` and ``dx[l]``. Symmetric in i
            and j, and in k and l.

        Raises
        ------
        UsageError
            If `order` is another number.
        NoMemoryError
            If there is no memory for them.

        See Also
        --------
        System.mass_matrix_rate : M-dot, ``dM @ rates(q, v)``, in O(nv depth).
        System.christoffel : combinations of them, where v is the rate of q.

        Notes
        -----
        The first are as exact as those of `inverse_dynamics_derivatives`, the second as in
        `inverse_dynamics_second_derivatives`. Cost:
        O(nv depth^2), and nv times that for the second.
        Source: derived in `mbkit.kernels.derivatives.mass_matrix`.

        Examples
        --------
        A bob of 1 kg on an arm, at r = 2 m from the hinge: M = diag(r^2, 1).

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("arm")
        >>> arm = mech.add_body(mb.Body("arm"))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, 0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 0, 1)), mech.world, arm)
        >>> slide = mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), arm, bob)
        >>> system = mech.assemble()
        >>> system.mass_matrix_derivatives([0.4, 2.0])[:, :, 1].round(9) + 0.0
        array([[4., 0.],
               [0., 0.]])
        >>> system.mass_matrix_derivatives([0.4, 2.0], order=2)[0, 0].round(9) + 0.0
        array([[0., 0.],
               [0., 2.]])
        """
        return mass_matrix_derivatives.mass_matrix_derivatives(self, q, order, on_error=on_error)

    def inverse_mass_matrix_derivatives(
        self, q: ArrayLike, order: int = 1, *, on_error: str = "raise"
    ) -> Floats:
        """Return the partial derivatives of the inverse of `mass_matrix` by configuration.

        Parameters
        ----------
        q, order, on_error : see `System.mass_matrix_derivatives`

        Returns
        -------
        ndarray, shape (..., nv, nv, ndx[, ndx])
            The derivatives of M^-1, as `mass_matrix_derivatives` has those of M.

        Raises
        ------
        SingularMassMatrixError
            If a joint can move without moving any inertia; it is named.
        UsageError, NoMemoryError
            As `mass_matrix_derivatives`.

        Notes
        -----
        With N = M^-1, N_k = -N M_k N and N_kl = N (M_k N M_l + M_l N M_k - M_kl) N, from the
        derivatives of M. Cost: O(nv^3) a derivative, sample by sample.

        Examples
        --------
        A bob of 1 kg on an arm, at r = 2 m from the hinge: M^-1 = diag(r^-2, 1).

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("arm")
        >>> arm = mech.add_body(mb.Body("arm"))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, 0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 0, 1)), mech.world, arm)
        >>> slide = mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), arm, bob)
        >>> system = mech.assemble()
        >>> system.inverse_mass_matrix_derivatives([0.4, 2.0])[0, 0].round(9) + 0.0
        array([ 0.  , -0.25])
        >>> system.inverse_mass_matrix_derivatives([0.4, 2.0], order=2)[0, 0].round(9) + 0.0
        array([[0.   , 0.   ],
               [0.   , 0.375]])
        """
        return mass_matrix_derivatives.inverse_mass_matrix_derivatives(
            self, q, order, on_error=on_error
        )

    def mass_factor(self, q: ArrayLike) -> MassFactor:
        """Return the mass matrix as ``L^T D L`` with the sparsity of the tree.

        Parameters
        ----------
        q : array_like, shape (nq,)
            Configuration.

        Returns
        -------
        MassFactor
            The factors, and solutions with them. Cost: O(nv depth^2).

        Raises
        ------
        SingularMassMatrixError
            If a joint can move without moving any inertia; it is named. An inertia below 1e-13 of
            that of all bodies beyond the joint counts as none.
        """
        return mass_factor(self, q)

    def bias_force(
        self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return ``b(q, v)``: Coriolis, centrifugal and gravity forces.

        Parameters
        ----------
        q, v, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            The forces that keep ``vdot`` at zero.
        """
        return self._inverse_dynamics(q, v, self.evaluator.zero, out, on_error)

    def coriolis_matrix(
        self, q: ArrayLike, v: ArrayLike, *, out: Floats | None = None, on_error: str = "raise"
    ) -> Floats:
        """Return the matrix C whose product with v is the Coriolis and centrifugal forces.

        ``bias_force(q, v) = C v + bias_force(q, 0)``, the last term being gravity. Of the many
        matrices with this product it is the one for which ``mass_matrix_rate - 2 C`` is skew:
        M-dot = C + C^T, on which passivity-based control and momentum observers rest.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity. Of a closed mechanism or a prescribed joint, as of a tree
            that moves freely, like `mass_matrix`.
        out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv, nv)
            C(q, v), linear in v; zero between joints of different branches. [kg m^2/s], of
            velocities in m/s accordingly.

        Notes
        -----
        C is the Levi-Civita connection of the kinetic energy along v, and depends on nothing but
        M(q) and the meaning of v. Where v is the rate of q, its entries are the Christoffel symbols
        of the first kind times v. Where v are quasi-velocities, as of a ball joint, they contain
        the terms of Boltzmann and Hamel.

        Exact to rounding where the motion subspaces are constant in the bodies, or velocities are
        rates of positions; else with a relative error of about 1e-12, as in
        `inverse_dynamics_derivatives`.

        Cost: O(nv depth). Source: derived in `mbkit.kernels.derivatives.coriolis_matrix`; the
        factor of Mueller 2018, (84), gives the same C v, but no skew matrix.

        Examples
        --------
        A bob of 1 kg slides out along an arm, 2 m from the hinge: velocities are the rate of the
        angle, 3 rad/s, and of the distance, 0.5 m/s. Its Coriolis force is 2 m r theta-dot r-dot.

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("arm", gravity=(0, 0, 0))
        >>> arm = mech.add_body(mb.Body("arm"))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, 0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 0, 1)), mech.world, arm)
        >>> slide = mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), arm, bob)
        >>> system = mech.assemble()
        >>> q, v = np.array([0.4, 2.0]), np.array([3.0, 0.5])
        >>> C = system.coriolis_matrix(q, v)
        >>> C.round(9)
        array([[ 1.,  6.],
               [-6.,  0.]])
        >>> C @ v, system.bias_force(q, v)
        (array([  6., -18.]), array([  6., -18.]))
        """
        return self._coriolis_matrix(q, v, None, out, on_error)

    def mass_matrix_rate(self, q: ArrayLike, v: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the time derivative of `mass_matrix`, M-dot, where the system moves with v.

        Parameters
        ----------
        q, v, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv, nv)
            C + C^T, C the `coriolis_matrix`. Cost: O(nv depth).

        Examples
        --------
        A bob of 1 kg leaves a hinge, 2 m away: its moment of inertia, r^2, grows by 2 r r-dot.

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("arm")
        >>> arm = mech.add_body(mb.Body("arm"))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, 0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 0, 1)), mech.world, arm)
        >>> slide = mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), arm, bob)
        >>> mech.assemble().mass_matrix_rate([0.4, 2.0], [3.0, 0.5]).round(9)
        array([[2., 0.],
               [0., 0.]])
        """
        return dynamics.mass_matrix_rate(self, q, v, on_error=on_error)

    def christoffel(self, q: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the numbers G for which ``coriolis_matrix(q, v)[i, j]`` is G[i, j, k] v[k].

        Where v is the rate of q they are the Christoffel symbols of the first kind of the mass
        matrix, (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, symmetric in j and k.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration.
        on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv, nv, nv)
            The symbols. Cost: O(nv^2 depth).

        Notes
        -----
        For quasi-velocities, as those of a ball joint, they are the coefficients of the same
        connection, that of Levi-Civita: G[i, j, k] - G[i, k, j] is row i of M by the bracket of
        the velocities k and j. In any case G[i, j, k] + G[j, i, k] is the derivative of M_ij along
        velocity k. Source: `coriolis_matrix`; Mueller 2018, (86), corrected.

        See Also
        --------
        binet_christoffel : body by body, by Binet's inertia tensors.

        Examples
        --------
        A bob of 1 kg slides out along an arm, 2 m from the hinge: the centrifugal force is -m r
        theta-dot^2, the Coriolis torque 2 m r theta-dot r-dot.

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("arm")
        >>> arm = mech.add_body(mb.Body("arm"))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, 0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 0, 1)), mech.world, arm)
        >>> slide = mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), arm, bob)
        >>> mech.assemble().christoffel([0.4, 2.0]).round(9) + 0.0
        array([[[ 0.,  2.],
                [ 2.,  0.]],
        <BLANKLINE>
               [[-2.,  0.],
                [ 0.,  0.]]])
        """
        return dynamics.christoffel(self, q, on_error=on_error)

    def inertial_regressor(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        *,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the matrix Y for which ``inverse_dynamics = Y @ inertial_parameters``.

        Y does not depend on the inertial parameters: it is the derivative of the efforts by them,
        on which their identification from measured motion rests.

        Parameters
        ----------
        q, v, vdot : array_like, shape (..., nq), (..., nv), (..., nv)
            Configuration, velocity, acceleration.
        out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv, 10 bodies)
            Ten columns a body, in the order of `body_names` without the world, each as in
            `inertial_parameters`; zero where a joint does not carry the body. Cost: O(bodies
            depth), beside the zeros.

        Notes
        -----
        Source: Atkeson, An, Hollerbach 1986 (Estimation of inertial parameters of manipulator loads
        and links); in `mbkit.kernels.derivatives.inertial_regressor` for all joints.

        Examples
        --------
        A pendulum about y, at 0.5 rad: its torque is Theta_yy vdot + m g z_c sin - m g x_c cos.

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10.0))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(2.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> system = mech.assemble()
        >>> Y = system.inertial_regressor([0.5], [3.0], [1.5])
        >>> Y.shape, Y[0, 7].round(9)  # 7: moment_about_origin[yy]
        ((1, 10), np.float64(1.5))
        >>> Y @ system.inertial_parameters - system.inverse_dynamics([0.5], [3.0], [1.5])
        array([0.])
        """
        return self._inertial_regressor(q, v, vdot, out, on_error)

    @functools.cached_property
    def inertial_parameters(self) -> Floats:
        """Ten inertial parameters of each body, shape (10 bodies,).

        As in `SpatialInertia.parameters`: mass, first moment and moment of inertia about the origin
        in the frame of the body; the bodies in the order of `body_names` without the world.
        """
        return inertial_parameters.inertial_parameters(self)

    @functools.cached_property
    def inertial_parameter_names(self) -> tuple[str, ...]:
        """Their names: "bob.mass", "bob.first_moment[x]", "bob.moment_about_origin[xy]", ..."""
        return inertial_parameters.inertial_parameter_names(self)

    def base_parameters(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        vdot: ArrayLike | None = None,
    ) -> BaseParameters:
        """Return the combinations of inertial parameters that the motion depends on, with names.

        Parameters
        ----------
        q, v, vdot : array_like, shape (..., nq), (..., nv), (..., nv), optional
            Samples of a motion: then those that this motion shows. If left out, those that any
            motion of the tree shows, by random states.

        Returns
        -------
        BaseParameters
            Combinations, and the columns of `inertial_regressor` that go with them. Cost:
            O(bodies^3).

        Raises
        ------
        UsageError
            If only some of q, v and vdot are given.
        NotFiniteError
            If the samples are not finite, or too large.

        Notes
        -----
        By rank: a column of the regressor that depends on those before it, but for 1e-9 of its
        size, is expressed by them. Parameters of bodies that are added first, such as those next to
        the base, take up those of later ones, and moments take up masses. Source: Gautier 1991
        (Numerical calculation of the base inertial parameters of robots).

        Examples
        --------
        Of a pendulum about y nothing but one moment of inertia and the place of its centre of mass
        across the axis matter:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum")
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(2.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> base = mech.assemble().base_parameters()
        >>> base.names
        ('bob.first_moment[x]', 'bob.first_moment[z]', 'bob.moment_about_origin[yy]')
        """
        return inertial_parameters.base_parameters(self, q, v, vdot)

    def geometric_regressor(
        self,
        body: str,
        q: ArrayLike,
        *,
        frame: ArrayLike | str | None = None,
        representation: Representation | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the derivative of the pose of a body by the geometry of all joints.

        A joint has twelve parameters, variations from where it is now. Its `placement` moves the
        successor, with all beyond, relative to the predecessor; its `screw` moves the axis, and
        leaves both bodies where they are when the joint is neutral. Each is a small twist, rotation
        and translation, in the axes of the joint: z is the axis of a joint with one, and x, y are
        those of ``joint_places[joint].canonical_frame``. So ``placement[wz]`` of a hinge is the
        zero of its encoder, and ``screw[x]`` the place of its axis.

        Parameters
        ----------
        body : str
            The body's name.
        frame : array_like, shape (4, 4), or str, optional
            Pose on the body of the frame that is looked at, or its name; as for `pose`.
        representation : Representation, optional
            Of the twists in the columns; by default that of the system.
        q, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., 6, 12 joints)
            The twist of the frame for a unit of each parameter, in the order of
            `geometric_parameter_names`; zero for joints that do not carry the body.
            Cost: O(joints).

        Raises
        ------
        UsageError
            If the system has loops, or is in absolute coordinates.
        NameUnknownError
            If there is no such body.

        See Also
        --------
        mbkit.calibrate : the geometry from measured poses.

        Notes
        -----
        Exact but for rounding, for all joints. Pitches, and angles and lengths within joints of
        several velocities, are not among the parameters. Source: Mueller 2018, section 6.2.

        Examples
        --------
        An arm of one metre: a turn of the encoder's zero moves the hand as the joint does, and an
        axis that lies 1 m further along x, as far as it has turned.

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("arm")
        >>> arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 0, 1)), mech.world, arm)
        >>> system, hand = mech.assemble(), mb.spatial.translation((1, 0, 0))
        >>> B = system.geometric_regressor(
        ...     "arm", [np.pi / 2], frame=hand, representation=mb.Hybrid()
        ... )
        >>> names = system.geometric_parameter_names
        >>> B[3:, names.index("hinge.placement[wz]")].round(9) + 0.0
        array([-1.,  0.,  0.])
        >>> B[3:, names.index("hinge.screw[x]")].round(9) + 0.0
        array([ 1., -1.,  0.])
        """
        return geometric_parameters.geometric_regressor(
            self, body, q, frame=frame, representation=representation, on_error=on_error
        )

    @functools.cached_property
    def geometric_parameter_names(self) -> tuple[str, ...]:
        """Names of the columns of `geometric_regressor`: "hinge.placement[wx]", ...

        Twelve a joint, ``placement`` and ``screw``, each wx, wy, wz [rad] and x, y, z [m].
        """
        return geometric_parameters.geometric_parameter_names(self)

    def geometric_base_parameters(
        self,
        body: str,
        q: ArrayLike | None = None,
        *,
        rows: str = "all",
        frame: ArrayLike | str | None = None,
    ) -> BaseParameters:
        """Return the combinations of geometric parameters that poses of a body can identify.

        Parameters
        ----------
        body : str
            The body's name.
        q : array_like, shape (..., nq), optional
            Configurations at which the body is looked at; random ones if left out.
        rows : {"all", "angular", "linear"}
            The measured quantity: poses, rotations, or positions.
        frame : array_like, shape (4, 4), or str, optional
            Pose on the body of the frame that is looked at, or its name; as for `pose`.

        Returns
        -------
        BaseParameters
            Combinations, and the columns of `geometric_regressor` that go with them.

        Raises
        ------
        UsageError
            If the system has loops, or there are no such rows.

        Notes
        -----
        By rank, as `base_parameters`. Placements are kept before screws, from the joint that was
        added first: combinations of both are named by them, not by those of later joints.

        Examples
        --------
        Poses of a hand behind a hinge identify the placement and the four numbers of an axis:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("arm")
        >>> arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 0, 1)), mech.world, arm)
        >>> base = mech.assemble().geometric_base_parameters("arm")
        >>> base.names[6:]
        ('hinge.screw[wx]', 'hinge.screw[wy]', 'hinge.screw[x]', 'hinge.screw[y]')
        >>> base.without_effect
        ('hinge.screw[wz]', 'hinge.screw[z]')
        """
        return geometric_parameters.geometric_base_parameters(self, body, q, rows=rows, frame=frame)

    @property
    def equations(self) -> Evaluation:
        """The equations for the accelerations, of the tree or of the closed mechanism."""
        return CONSTRAINED_DYNAMICS if self.arrays.closure else FORWARD_DYNAMICS

    def solved(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        pull: tuple[float, float] = (0.0, 0.0),
        on_error: str = "raise",
    ) -> tuple[Floats, Floats, Floats]:
        """Return the results of `solve_dynamics`, and 1.0 for each independent row; no warning.

        With ``A vdot + dA/dt v = -pull[0] g - pull[1] (A v)``; see `mbkit.Baumgarte`.
        """
        return constraints.solved(self, q, v, tau, wrenches, t=t, pull=pull, on_error=on_error)

    def solve_hybrid(
        self,
        q: ArrayLike,
        v: ArrayLike,
        known: Floats,
        wrenches: Wrenches | None,
        *,
        t: ArrayLike,
        on_error: str,
        pull: tuple[float, float] = (0.0, 0.0),
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return hybrid dynamics with the loops closed, of the mechanism without its forces.

        Parameters
        ----------
        known : ndarray, shape (..., 3 nv)
            tau, vdot, and 1 where vdot is prescribed.
        pull : tuple of float
            As in `solved`.
        q, v, wrenches, t, on_error : see `System`

        Returns
        -------
        vdot, tau : ndarray, shape (..., nv)
            All accelerations, and all forces but for those of the constraints.
        multipliers : ndarray, shape (..., num_velocity_constraints)
            The smallest of all with the same effect on velocities that are not prescribed.
        kept : ndarray, shape (..., num_velocity_constraints)
            1 for each row that is independent of those before it while prescribed joints stand
            still.

        Raises
        ------
        ConstraintError
            If the prescribed accelerations contradict the constraints.
        """
        return dynamics.solve_hybrid(self, q, v, known, wrenches, t=t, on_error=on_error, pull=pull)

    def known(
        self, tau: ArrayLike | None, vdot: ArrayLike | None, prescribed: Sequence[str]
    ) -> Floats:
        """Return tau, vdot and 1 where it is prescribed, side by side, (..., 3 nv).

        Zero for entries that are ignored, NaN included.
        """
        return dynamics.known(self, tau, vdot, prescribed)

    # --------------------------------------------------------------------------------------- forces

    @property
    def forces(self) -> tuple[Force, ...]:
        """The forces, in the order in which they were added."""
        return self.arrays.forces.forces

    @property
    def force_names(self) -> tuple[str, ...]:
        """Names of the forces."""
        return self.arrays.forces.names

    def generalized_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        t: ArrayLike = 0.0,
        *,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the sum of the generalized forces of all forces of the mechanism.

        It is the term f of the equations of motion, which `forward_dynamics`, `inverse_dynamics`
        and all other methods include.

        Parameters
        ----------
        q, v, t, out, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            [N m], [N]. Cost: O(bodies + forces).

        Raises
        ------
        NotFiniteError
            If a force is not finite; it is named. Exceptions of a force in Python pass through,
            with a note that names the force.
        """
        return applied_forces.generalized_forces(self, q, v, t, out=out, on_error=on_error)

    def force_powers(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return the dissipated and the supplied power of each force.

        Parameters
        ----------
        q, v, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., forces, 2)
            Dissipated and supplied power, by force in the order of `force_names`. The power of a
            force is -dU/dt minus the first plus the second. [W]
        """
        return applied_forces.force_powers(self, q, v, t, on_error=on_error)

    def force_potentials(
        self, q: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return the potential energy of each force, zero where it has none.

        `potential_energy` is that of the mechanism's gravity, without these.

        Parameters
        ----------
        q, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., forces)
            In the order of `force_names`. [J]
        """
        return applied_forces.force_potentials(self, q, t, on_error=on_error)

    def with_forces(self, forces: Iterable[Force]) -> Self:
        """Return a system with further forces; this one is not changed.

        Parameters
        ----------
        forces : iterable of Force
            Forces with new names.

        Returns
        -------
        System
            The system. Its `model_text` has the forces that a model file can hold: of mbkit's
            classes, and of attrs classes of yours with numbers, arrays and strings only.

        Raises
        ------
        ForceError, NameUnknownError, DuplicateNameError
            If an object is no force, names a missing joint or body, or has the name of another
            force.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("wheel")
        >>> wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> axle = mech.add_joint(mb.RevoluteJoint("axle"), mech.world, wheel)
        >>> system = mech.assemble().with_forces([mb.JointDamper("oil", "axle", damping=0.5)])
        >>> system.force_names, system.without_forces(["oil"]).force_names
        (('oil',), ())
        """
        return applied_forces.with_forces(self, forces)

    def without_forces(self, names: Iterable[str] | None = None) -> Self:
        """Return a system without some of its forces, or all; this one is not changed.

        Parameters
        ----------
        names : iterable of str, optional
            Names from `force_names`; all of them if left out.

        Returns
        -------
        System
            The system with the other forces, in their order.

        Raises
        ------
        NameUnknownError
            If there is no such force.

        Examples
        --------
        See `with_forces`.
        """
        return applied_forces.without_forces(self, names)

    def with_locked(self, joints: Mapping[str, ArrayLike | None] | Iterable[str]) -> Self:
        """Return a system with some joints locked where they are; this one is not changed.

        Fixed joints of the same names take their place, and the mechanism is assembled anew by the
        same strategy: the locked joints have no coordinates. `state_of` of either system converts
        states of the other. Forces and couplings along locked joints alone are left out, since they
        move nothing.

        Parameters
        ----------
        joints : mapping of str to array_like or None, or iterable of str
            Positions by the names of joints, of all that `Mechanism.joints` has, loop joints
            included; None, and a name alone, for that at the reference configuration.

        Returns
        -------
        System
            The system of the other joints. Loops are to be closed again where a joint of one is
            locked elsewhere: `close_loops`.

        Raises
        ------
        NameUnknownError
            If there is no such joint.
        ShapeError, NotFiniteError, GeometryError
            If a position is none of its joint.
        ForceError, ConstraintError
            If a force or a constraint is a function of a locked joint and of others; or if one that
            couples locked joints does not hold.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("arm", gravity=(0, 0, -9.81))
        >>> rod = mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))
        >>> for name, before in (("upper", "world"), ("lower", "upper")):
        ...     _ = mech.add_body(mb.Body(name, rod))
        ...     hinge = mb.RevoluteJoint(f"{name} hinge", axis=(0, 1, 0))
        ...     _ = mech.add_joint(hinge, before, name)
        >>> system = mech.assemble()
        >>> stiff = system.with_locked({"lower hinge": 0.0})
        >>> stiff.velocity_names, stiff.mass_matrix([0.3])
        (('upper hinge',), array([[2.]]))
        >>> system.state_of(stiff, [0.3], [1.0])
        (array([0.3, 0. ]), array([1., 0.]))
        """
        return locked_joints.with_locked(self, self._blueprint, joints)

    # ---------------------------------------------------------------------------- prescribed joints

    @property
    def prescribed_joints(self) -> tuple[str, ...]:
        """Names of the joints whose motion is a function of time; see `Joint.prescribe`."""
        return tuple(self.motions)

    def prescribed_state(
        self, t: ArrayLike, q: ArrayLike | None = None, v: ArrayLike | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """Return a state with the prescribed joints at their motion at a time.

        Parameters
        ----------
        t : array_like, shape (...)
            Time. [s]
        q : array_like, shape (..., nq), optional
            Positions of the other joints, by default neutral; those of prescribed joints are
            ignored.
        v : array_like, shape (..., nv), optional
            Velocities of the other joints, by default zero.

        Returns
        -------
        q, v, vdot : ndarray, shape (..., nq), (..., nv), (..., nv)
            vdot is zero except for the prescribed joints.

        Raises
        ------
        Exception
            An exception of a function of time, with a note that names the joint.

        Examples
        --------
        See `Joint.prescribe`.
        """
        return self.prescribed_rows(t, q, v)

    def start_of_tree(self, t: float, q: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the state in which the prescribed joints alone move, and the others are neutral.

        In absolute coordinates these are the joints of relative ones, on which bodies go along.

        Parameters
        ----------
        t : float, see `System`
        q : ndarray, shape (nq,), optional
            Positions, also of the other joints.

        Returns
        -------
        q, v : ndarray, shape (nq,), (nv,)
            Where the joints of relative coordinates cannot have such a state, bodies stay where
            they are.
        """
        return applied_forces.start_of_tree(self, t, q)

    def prescribed_rows(
        self, t: ArrayLike, q: ArrayLike | None, v: ArrayLike | None, on_error: str = "raise"
    ) -> tuple[Floats, Floats, Floats]:
        """Return `prescribed_state`; with `on_error` "nan", NaN where a function of time raises."""
        return applied_forces.prescribed_rows(self, t, q, v, on_error)

    def driving_efforts(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None, t: ArrayLike = 0.0
    ) -> Floats:
        """Return the generalized forces that keep the prescribed joints on their motion.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            State; entries of prescribed joints are ignored.
        tau : array_like, shape (..., nv), optional
            Generalized forces besides those of the system's forces, which are added; by default
            zero.
        t : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            Zero for all other joints. [N m], [N]

        Examples
        --------
        See `Joint.prescribe`.
        """
        return applied_forces.driving_efforts(self, q, v, tau, t)

    # ---------------------------------------------------------------------------------- constraints

    @property
    def loop_joints(self) -> tuple[str, ...]:
        """Names of the loop joints, which have no entries in q and v."""
        return self._blueprint.loop_joints

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """One name for each constraint row: "joint[k]", or "joint" for a single row."""
        return self.arrays.closure.row_names

    @property
    def num_position_constraints(self) -> int:
        """Number of rows of `constraint_residual`."""
        return self.arrays.closure.num_position_rows

    @property
    def num_velocity_constraints(self) -> int:
        """Number of rows of `constraint_jacobian`."""
        return self.arrays.closure.num_rows

    @property
    def constraint_solver(self) -> ConstraintSolver | None:
        """The strategy that finds the multipliers of the constraints; None for a tree.

        docs/constraint-solvers.md has the default choice.
        """
        closure = self.arrays.closure
        return closure.solver if closure else None

    def with_constraint_solver(self, solver: ConstraintSolver | None) -> Self:
        """Return a system with another strategy for its constraints; this one is not changed.

        Parameters
        ----------
        solver : ConstraintSolver or None
            The strategy; None for the choice by size and rank.

        Returns
        -------
        System
            A system with the same motion.

        Raises
        ------
        UsageError
            If `solver` is no strategy.

        Examples
        --------
        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("two rods")
        >>> for name, x in (("left", 0.0), ("right", 1.0)):
        ...     inertia = mb.SpatialInertia.from_com(1.0, (x, 0, -1), np.eye(3))
        ...     rod = mech.add_body(mb.Body(name, inertia))
        ...     joint = mb.RevoluteJoint(f"{name} top", axis=(0, 1, 0), point=(x, 0, 0))
        ...     joint = mech.add_joint(joint, mech.world, rod)
        >>> joint = mech.add_joint(mb.RevoluteJoint("bottom", axis=(0, 1, 0)), "left", "right")
        >>> system = mech.assemble()
        >>> system.constraint_solver
        MinimumNorm(tolerance=1e-06)
        >>> system.with_constraint_solver(mb.NullSpace()).constraint_solver
        NullSpace(tolerance=1e-06)
        """
        return constraints.with_constraint_solver(self, solver)

    def constraint_residual(
        self, q: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return the gaps of the loops.

        Parameters
        ----------
        q, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., num_position_constraints)
            By row, as in `constraint_names`; angles are multiplied by the length of the system. [m]
            Empty for a tree.

        Examples
        --------
        See `mbkit.RelativeCoordinates`.
        """
        return constraints.constraint_residual(self, q, t, on_error=on_error)

    def constraint_velocity(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return ``A v``, the rate of the residual: zero where the loops stay closed.

        Parameters
        ----------
        q, v, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints)
            By row, as in `constraint_names`. [m/s]
        """
        return constraints.constraint_velocity(self, q, v, t, on_error=on_error)

    def constraint_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        t: ArrayLike = 0.0,
        *,
        on_error: str = "raise",
    ) -> Floats:
        """Return ``A vdot + dA/dt v``: zero where the loops stay closed.

        Parameters
        ----------
        q, v, vdot, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints)
            By row, as in `constraint_names`. [m/s^2]
        """
        return constraints.constraint_acceleration(self, q, v, vdot, t, on_error=on_error)

    def constraint_bias(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return ``dA/dt v``, the part of `constraint_acceleration` without vdot.

        Parameters
        ----------
        q, v, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints)
            By row, as in `constraint_names`. [m/s^2]
        """
        return constraints.constraint_bias(self, q, v, t, on_error=on_error)

    def constraint_jacobian(
        self, q: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return A, where ``A v`` is the rate of the residual.

        Parameters
        ----------
        q, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints, nv)
            The exact derivative of the residual if the loops are closed; otherwise with an error of
            the size of the gaps.
        """
        return constraints.constraint_jacobian(self, q, t, on_error=on_error)

    def constraint_sizes(self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> Floats:
        """Return ``|A| |v|``, the sizes of the terms of which ``A v`` is the sum; A is not formed.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration; velocity, or anything else that A multiplies.
        t : see `System`

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints)
            By row, as in `constraint_names`. Empty for a tree.
        """
        return constraints.constraint_sizes(self, q, v, t)

    @functools.cached_property
    def _with_solver(self) -> Callable[[ConstraintSolver | None], System]:
        """Remembers the last systems that were made from this one."""
        return functools.lru_cache(maxsize=4)(self._blueprint.with_constraint_solver)

    # --------------------------------------------------------------------------------- closed loops

    @overload
    def close_loops(
        self, q: Configuration | None = ..., v: None = ..., fixed: Iterable[str] = ..., *,
        branch: ArrayLike | None = ..., t: float = ..., tolerance: float = ...,
    ) -> Floats: ...  # fmt: skip

    @overload
    def close_loops(
        self, q: Configuration | None, v: Configuration, fixed: Iterable[str] = ..., *,
        branch: ArrayLike | None = ..., t: float = ..., tolerance: float = ...,
    ) -> tuple[Floats, Floats]: ...  # fmt: skip

    def close_loops(
        self,
        q: Configuration | None = None,
        v: Configuration | None = None,
        fixed: Iterable[str] = (),
        *,
        branch: ArrayLike | None = None,
        t: float = 0.0,
        tolerance: float = 1e-10,
    ) -> Floats | tuple[Floats, Floats]:
        """Return a configuration near a given one in which the loops are closed.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to array_like, optional
            Start; by default the reference configuration. Joints by name, ``{"motor": 0.5}``, are
            fixed there, and the others start at the reference.
        v : array_like, shape (nv,), or mapping, optional
            A velocity to be made consistent; of joints by name likewise.
        fixed : iterable of str, optional
            Joints, or single positions such as ``"joint[1]"``, that keep their values in `q` and
            `v`. Prescribed joints are fixed at their positions at `t`.
        branch : array_like, shape (nq,), optional
            A configuration on the wanted branch. Its loops are closed, and the fixed joints are
            moved from there to their values in `q`, in steps so small that the others follow by
            little. Other entries of `q` are not used then.
        t : float, see `System`
        tolerance : float
            Accepted gap, in parts of the length of the system. Steps end at rounding, below 1e-13
            for small mechanisms.

        Returns
        -------
        ndarray, shape (nq,)
            The configuration. Each step to it is the smallest motion of the joints, by the sum of
            squares of angles, and of translations in parts of the length.
        ndarray, shape (nv,)
            If `v` is given: the velocity with ``A v = 0`` that keeps the fixed entries, and whose
            difference from `v` has the least kinetic energy.

        Raises
        ------
        ConstraintError
            If no closed configuration was found: the message names the open loop and its gap, and
            the attribute ``q`` is the best configuration. If the fixed velocities contradict each
            other.
        NameUnknownError, UsageError
            If there is no such joint, or it cannot be fixed.

        Notes
        -----
        Levenberg-Marquardt steps on the configuration group, bounded so that they follow the branch
        nearest to `q`. If they end at open loops, all joints are released and the fixed ones then
        moved back to their values; then random starts around `q` are tried, with fixed seeds, and
        the closed configuration nearest to `q` is returned. Joint limits are ignored.

        Examples
        --------
        A crank, a coupler and a rocker, roughly placed; the hinge "pivot" closes the loop:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("four-bar")
        >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
        >>> crank, coupler, rocker = (
        ...     mech.add_body(mb.Body(name, rod)) for name in ("crank", "coupler", "rocker")
        ... )
        >>> along = mb.spatial.translation
        >>> _ = mech.add_joint(mb.RevoluteJoint("motor"), mech.world, crank)
        >>> _ = mech.add_joint(mb.RevoluteJoint("knee"), crank, coupler, reference=along((1, 0, 0)))
        >>> _ = mech.add_joint(
        ...     mb.RevoluteJoint("ankle"), coupler, rocker, reference=along((2, 0, 0))
        ... )
        >>> _ = mech.add_joint(
        ...     mb.RevoluteJoint("pivot"), mech.world, rocker,
        ...     frames=(along((3, 0, 0)), along((2, 0, 0))),
        ... )
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["pivot"]))
        >>> q = system.close_loops([1.0, -0.5, -1.5], fixed=["motor"])
        >>> q.round(6)
        array([ 1.      , -0.466296, -1.726653])
        >>> bool(abs(system.constraint_residual(q)).max() < 1e-13)
        True
        >>> v = system.consistent_velocity({"motor": 2.0}, q)
        >>> v.round(6)
        array([ 2.      , -2.822596,  1.277694])
        """
        from mbkit.closed_loops.close_loops import close_loops

        closed, consistent = close_loops(
            self, q, v, fixed, branch=branch, t=time_of(t), tolerance=tolerance
        )
        return closed if v is None else (closed, consistent)

    def consistent_velocity(
        self,
        rates: Mapping[str, ArrayLike],
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        t: float = 0.0,
    ) -> Floats:
        """Return the velocity that keeps the loops closed, given those of some joints.

        Parameters
        ----------
        rates : mapping of str to array_like
            Velocities by the names of joints, or of single ones, such as ``"joint[1]"``. [rad/s],
            [m/s]
        q : array_like, shape (nq,)
            Configuration with closed loops.
        v : array_like, shape (nv,), optional
            Preferred velocities where `rates` leave a choice; by default zero.
        t : float, see `System`

        Returns
        -------
        ndarray, shape (nv,)
            Consistent with `rates` and the constraints; of all such velocities the one whose
            difference from `v` has the least kinetic energy.

        Raises
        ------
        ConstraintError
            If the velocities contradict each other.
        NameUnknownError, ShapeError, UsageError
            If there is no such joint, or its velocity has another shape or is prescribed.

        Examples
        --------
        See `close_loops`.
        """
        from mbkit.closed_loops.consistent_velocity import consistent_velocity

        return consistent_velocity(self, rates, q, v, time_of(t))

    def assembly_modes(
        self,
        q: ArrayLike | None = None,
        fixed: Iterable[str] = (),
        *,
        starts: int = 64,
        seed: int = 0,
        t: float = 0.0,
        tolerance: float = 1e-10,
    ) -> Floats:
        """Return the assembly modes: closed configurations that no motion connects.

        It is meant for small mechanisms with their drives fixed: then closed configurations are
        isolated. If the mechanism can still move, those that a motion connects count as one. A
        motion is searched by steps that each lead nearer, so that a connection may be missed.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            Configuration with the values of fixed joints; by default the reference configuration.
        fixed : iterable of str, optional
            As in `close_loops`.
        starts : int
            Number of random starts besides `q`. A mode that is reached from few configurations may
            be missed by few starts.
        seed : int
            Seed of their random numbers.
        t : float, see `System`
        tolerance : float
            As in `close_loops`.

        Returns
        -------
        ndarray, shape (k, nq)
            Configurations in which the pose of a body differs by more than 1e-5, in radians and
            parts of the length; the nearest to `q` first. k = 0 if the loops cannot be closed.

        Examples
        --------
        With the crank of a planar four-bar fixed, its other joints lie on either side of a line:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("parallelogram")
        >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
        >>> crank, coupler, rocker = (
        ...     mech.add_body(mb.Body(name, rod)) for name in ("crank", "coupler", "rocker")
        ... )
        >>> along = mb.spatial.translation
        >>> _ = mech.add_joint(mb.RevoluteJoint("A"), mech.world, crank)
        >>> _ = mech.add_joint(mb.RevoluteJoint("B"), crank, coupler, reference=along((1, 0, 0)))
        >>> _ = mech.add_joint(mb.RevoluteJoint("C"), coupler, rocker, reference=along((2, 0, 0)))
        >>> _ = mech.add_joint(
        ...     mb.RevoluteJoint("D"), mech.world, rocker,
        ...     frames=(along((2, 0, 0)), along((1, 0, 0))),
        ... )
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))
        >>> len(system.assembly_modes([1.5, 0.0, 0.0], fixed=["A"]))
        2
        """
        from mbkit.closed_loops.assembly_modes import assembly_modes

        return assembly_modes(
            self, q, fixed, starts=starts, seed=seed, t=time_of(t), tolerance=tolerance
        )

    def _usual_redundancy(self, q: Floats, count: int) -> str:
        from mbkit.diagnosis.screws import usual_redundancy

        return usual_redundancy(self, q, count)

    def diagnose(self, q: ArrayLike | None = None, *, t: float = 0.0) -> Diagnosis:
        """Return the diagnosis of the constraints: mobility, redundant rows, unique reactions.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            Configuration with closed loops; by default the closed one nearest to the reference
            configuration. Prescribed joints are held at their positions at `t`.
        t : float, see `System`

        Returns
        -------
        Diagnosis
            Rank and mobility here and at generic configurations around, rows that can be dropped,
            reactions that are unique; ``print`` shows it.

        Raises
        ------
        ConstraintError
            If `q` leaves loops open by more than 1e-6 of the length of the system, or if without it
            no closed configuration is found; the error names the loops that stay open.

        Notes
        -----
        Generic configurations are other closed ones, reached by steps along the velocities that the
        constraints allow, with loops closed again. They distinguish a singular posture from a
        redundant design: docs/diagnosis.md.

        Examples
        --------
        A planar parallelogram of four hinges in space, stretched, where it can fold either way:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("parallelogram")
        >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
        >>> a, b, c = (mech.add_body(mb.Body(name, rod)) for name in "abc")
        >>> ends = {"A": (mech.world, a), "B": (a, b), "C": (b, c), "D": (mech.world, c)}
        >>> for (name, bodies), x in zip(ends.items(), (0, 1, 3, 2)):
        ...     _ = mech.add_joint(mb.RevoluteJoint(name, point=(x, 0, 0)), *bodies)
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))
        >>> stretched = system.diagnose()
        >>> stretched.gruebler_count, stretched.mobility, stretched.generic_mobility
        (-2, 2, 1)
        >>> stretched.is_singular, len(stretched.branches)
        (True, 2)
        >>> folded = system.diagnose([0.5, -0.5, 0.5])
        >>> folded.mobility, folded.is_singular, len(folded.redundant)
        (1, False, 3)
        """
        from mbkit.diagnosis import diagnose

        return diagnose(self, q, time_of(t))

    # ---------------------------------------------------------------------------- closed mechanisms

    def check_motion(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> Any:
        """Raise unless a motion satisfies the constraints.

        Parameters
        ----------
        vdot : array_like, shape (..., nv), optional
            Acceleration; not checked by default.
        on_error : see `System`
            With "nan", a failed sample is False in the result.
        q, v, t : see `System`

        Returns
        -------
        ndarray of bool, shape (...)
            Whether a sample satisfies them: velocities and accelerations to 4e-6 of the largest
            term, positions to 1e-6 of the system's length.

        Raises
        ------
        ConstraintError
            If a sample does not; the message names the constraint with the largest error.
        """
        return constraint_checks.check_motion(self, q, v, vdot, t, on_error)

    def constrained_jacobian(
        self,
        q: ArrayLike,
        independent: Sequence[str],
        t: ArrayLike = 0.0,
        *,
        on_error: str = "raise",
    ) -> Floats:
        """Return the matrix H from independent velocities to all velocities, v = H v_i.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration in which the loops are closed.
        independent : sequence of str
            Joints, or single velocities of joints ("ball[2]"), that determine the motion: as many
            as the mobility at q, with prescribed joints held.
        t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv, independent velocities)
            Columns in the order of the names. With time-dependent constraints or prescribed joints
            v has a part without v_i: `dependent_velocity`. ``H^T M H`` is the mass matrix of the
            independent coordinates, and ``H^T tau`` their forces.

        Raises
        ------
        ConstraintError
            If they do not determine the motion, or contradict each other; the message names the
            joints that still move, and velocities that depend on each other.
        NameUnknownError
            If there is no such joint in the tree.

        Examples
        --------
        A slider-crank in a plane; the ratio of slider to crank speed:

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("slider-crank")
        >>> rod = mb.SpatialInertia.box(1.0, size=(0.1, 0.1, 0.1))
        >>> crank = mech.add_body(mb.Body("crank", rod))
        >>> link = mech.add_body(mb.Body("link", rod))
        >>> slider = mech.add_body(mb.Body("slider", rod))
        >>> z = {"axis": (0, 0, 1)}
        >>> _ = mech.add_joint(mb.RevoluteJoint("A", **z), mech.world, crank)
        >>> _ = mech.add_joint(mb.RevoluteJoint("B", point=(0, 1, 0), **z), crank, link)
        >>> _ = mech.add_joint(mb.PrismaticJoint("rail", axis=(1, 0, 0)), mech.world, slider)
        >>> _ = mech.add_joint(mb.RevoluteJoint("C", point=(2, 0, 0), **z), link, slider)
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["C"]))
        >>> H = system.constrained_jacobian(np.zeros(3), ["A"])
        >>> system.velocity_names, H[:, 0].round(9) + 0.0
        (('A', 'B', 'rail'), array([ 1., -1., -1.]))
        """
        from mbkit.closed_loops.kinematics import constrained_jacobian

        return constrained_jacobian(self, q, independent, t, on_error=on_error)

    def closed_motion(
        self,
        independent: Mapping[str, Sequence[ArrayLike]],
        q: ArrayLike | None = None,
        t: ArrayLike = 0.0,
    ) -> tuple[Floats, Floats, Floats]:
        """Return the motion of a closed mechanism from that of independent joints.

        Parameters
        ----------
        independent : mapping of str to (position, rate, acceleration)
            By joint, or by single coordinate ("rail[1]"); arrays of shape (k,), or (k, nq) and
            (k, nv) of a joint of several, for k samples that follow each other. [rad], [m]
        q : array_like, shape (nq,), optional
            Configuration near the first sample, which selects the assembly mode. By default the
            reference configuration.
        t : array_like, shape (k,) or (), see `System`

        Returns
        -------
        q, v, vdot : ndarray, shape (k, nq), (k, nv), (k, nv)
            Each configuration is on the branch of the one before. Without the axis k if no argument
            has it.

        Raises
        ------
        ConstraintError
            If loops do not close: see `close_loops`; and as `constrained_jacobian`.
        NameUnknownError
            If there is no such joint in the tree.

        Examples
        --------
        See `docs/closed-dynamics.md`.
        """
        from mbkit.closed_loops.kinematics import closed_motion

        return closed_motion(self, independent, q, t)

    def dependent_velocity(
        self,
        q: ArrayLike,
        independent: Mapping[str, ArrayLike],
        t: ArrayLike = 0.0,
        *,
        on_error: str = "raise",
    ) -> Floats:
        """Return the velocity of a closed mechanism from independent ones.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration in which the loops are closed.
        independent : mapping of str to array_like, shape (...) or (..., nv of the joint)
            Velocities by joint, or by single velocity ("ball[2]"); those of prescribed joints
            follow from t. [rad/s], [m/s]
        t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            With ``constraint_velocity(q, v, t) = 0``.

        Raises
        ------
        ConstraintError, NameUnknownError
            As `constrained_jacobian`.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum")
        >>> rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, rod)
        >>> system = mech.assemble()
        >>> system.dependent_velocity([0.0], {"hinge": 2.0})
        array([2.])
        >>> system.dependent_acceleration([0.0], [2.0], {"hinge": 3.0})
        array([3.])
        """
        from mbkit.closed_loops.kinematics import dependent_velocity

        return dependent_velocity(self, q, independent, t, on_error=on_error)

    def dependent_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        independent: Mapping[str, ArrayLike],
        t: ArrayLike = 0.0,
        *,
        on_error: str = "raise",
    ) -> Floats:
        """Return the acceleration of a closed mechanism from independent ones.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            State with closed loops and consistent velocity.
        independent : mapping of str to array_like, shape (...) or (..., nv of the joint)
            Accelerations by joint, or by single velocity ("ball[2]"); those of prescribed joints
            follow from t. With zero for all the result is the part c of ``vdot = H a + c``.
            [rad/s^2], [m/s^2]
        t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            With ``constraint_acceleration(q, v, vdot, t) = 0``.

        Raises
        ------
        ConstraintError, NameUnknownError
            As `constrained_jacobian`; and if v is no motion of the mechanism.

        Examples
        --------
        See `dependent_velocity`.
        """
        from mbkit.closed_loops.kinematics import dependent_acceleration

        return dependent_acceleration(self, q, v, independent, t, on_error=on_error)

    def dependent_jerk(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        independent: Mapping[str, ArrayLike],
        t: ArrayLike = 0.0,
        *,
        on_error: str = "raise",
    ) -> Floats:
        """Return the rate of the acceleration of a closed mechanism from independent ones.

        Parameters
        ----------
        q, v, vdot : array_like, shape (..., nq), (..., nv), (..., nv)
            State with closed loops, consistent velocity and acceleration.
        independent : mapping of str to array_like, shape (...) or (..., nv of the joint)
            Rates of accelerations as in `dependent_acceleration`. [rad/s^3], [m/s^3]
        t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            vddot. Exact to rounding where constraints and joints are mbkit's and compiled (no
            `CompositeJoint` closes a loop), and prescribed motions are derived; else by
            differences, with an error of about 1e-10.

        Raises
        ------
        ConstraintError, NameUnknownError
            As `constrained_jacobian`; and if v and vdot are no motion of the mechanism.
        UsageError
            If the acceleration of a prescribed joint jumps at this time.

        Examples
        --------
        See `dependent_velocity`.
        """
        from mbkit.closed_loops.kinematics import dependent_jerk

        return dependent_jerk(self, q, v, vdot, independent, t, on_error=on_error)

    def dependent_rates(
        self,
        q: ArrayLike,
        independent: Mapping[str, ArrayLike],
        t: ArrayLike = 0.0,
        *,
        on_error: str = "raise",
    ) -> Floats:
        """Return v, vdot, vddot, ... of a closed mechanism from those of independent joints.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration in which the loops are closed.
        independent : mapping of str to array_like, shape (..., k) or (..., k, nv of the joint)
            The velocity of a joint and its derivatives, k of them, by joint, or by single velocity
            ("ball[2]"). [rad/s], [m/s], and so on by second.
        t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., k, nv)
            As `body_derivatives` takes them.

        Raises
        ------
        ConstraintError, NameUnknownError
            As `constrained_jacobian`.
        UsageError
            If a joint whose motion is prescribed is not in `independent`; if a constraint or a
            joint cannot be traced: it is named.

        Notes
        -----
        Exact but for rounding: the constraints A(q) v + g_t = 0 are series in time, of which each
        order is linear in the next rate. For them the kernels of the constraints run once on traced
        numbers, which takes 20 to 300 ms; a sample of four rates takes some 2 to 40 ms.

        Examples
        --------
        A crank of length 2 turns at 3 rad/s and moves a slider across its way, x = 2 sin(3 t):

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("Scotch yoke")
        >>> ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
        >>> crank, block, slider = (mech.add_body(mb.Body(n, ball)) for n in "cbs")
        >>> z = {"axis": (0, 0, 1)}
        >>> _ = mech.add_joint(mb.RevoluteJoint("crank", **z), mech.world, crank)
        >>> _ = mech.add_joint(mb.RevoluteJoint("pin", point=(0, -2, 0), **z), crank, block)
        >>> _ = mech.add_joint(mb.PrismaticJoint("slot", axis=(0, 1, 0)), slider, block)
        >>> _ = mech.add_joint(mb.PrismaticJoint("slider", axis=(1, 0, 0)), mech.world, slider)
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["slot"]))
        >>> found = system.dependent_rates([0.0, 0.0, 0.0], {"crank": [3.0, 0.0, 0.0, 0.0, 0.0]})
        >>> found[:, system.velocity_names.index("slider")].round(9) + 0.0
        array([  6.,   0., -54.,   0., 486.])
        """
        from mbkit.closed_loops.kinematics import dependent_rates

        return dependent_rates(self, q, independent, t, on_error=on_error)

    def closed_inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        *,
        actuated: Sequence[str],
        tau: ArrayLike | Mapping[str, ArrayLike] | None = None,
        wrenches: Wrenches | None = None,
        minimise: str | Mapping[str, float] = "effort",
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> ActuatorEfforts:
        """Return the actuator efforts that give a closed mechanism a motion.

        Parameters
        ----------
        q, v, vdot : array_like, shape (..., nq), (..., nv), (..., nv)
            A motion that satisfies the constraints: `dependent_velocity`, `dependent_acceleration`.
        actuated : sequence of str
            Joints with actuators, or single velocities of joints ("leg[2]"); the others are
            passive.
        tau : array_like, shape (..., nv), or mapping of str to array_like, optional
            Generalized forces besides the actuators and the forces of the mechanism, such as the
            efforts of passive joints, by name or as an array; by default zero. [N m], [N]
        minimise : {"effort", "constraint"} or mapping of str to float
            Choice among several solutions: least sum of squares of efforts; least sum of squares of
            multipliers; or least weighted sum of squares of efforts, with a positive weight by
            joint, by default one. Unweighted sums compare N m with N: use weights for unlike
            actuators.
        wrenches, t, on_error : see `System`

        Returns
        -------
        ActuatorEfforts
            Efforts, multipliers, and the degree of redundancy.

        Raises
        ------
        ConstraintError
            If the motion does not satisfy the constraints; or if no actuator efforts give it: the
            message lists the missing efforts of passive joints.
        UsageError, NameUnknownError
            If `actuated` or `minimise` is invalid.

        Notes
        -----
        Source: Kim 2012, section 3. Rows of a constraint are of unit length, with moments in parts
        of the length of the system, so that their multipliers may be compared.

        Examples
        --------
        Two hinges on one axis, of which each can hold the door:

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("door", gravity=(0, 0, 0))
        >>> leaf = mech.add_body(mb.Body("leaf", mb.SpatialInertia.box(30.0, size=(1, 0.1, 2))))
        >>> low = mech.add_joint(mb.RevoluteJoint("low", point=(0, 0, -1)), mech.world, leaf)
        >>> arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.box(1.0, size=(1, 0.1, 0.1))))
        >>> high = mech.add_joint(mb.RevoluteJoint("high", point=(0, 0, 1)), mech.world, arm)
        >>> weld = mech.add_joint(mb.FixedJoint("weld"), arm, leaf)
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["weld"]))
        >>> door = system.closed_inverse_dynamics(
        ...     np.zeros(2), np.zeros(2), np.ones(2), actuated=["low", "high"]
        ... )
        >>> door.efforts.round(6), int(door.redundancy)
        (array([1.304583, 1.304583]), 1)
        """
        from mbkit.closed_loops.dynamics import closed_inverse_dynamics

        return closed_inverse_dynamics(
            self, q, v, vdot, actuated=actuated, tau=tau, wrenches=wrenches, minimise=minimise,
            t=t, on_error=on_error,
        )  # fmt: skip

    def reaction(
        self,
        joint: str,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        vdot: ArrayLike | None = None,
        multipliers: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        on: str | None = None,
        at: str | ArrayLike = "joint",
        expressed_in: str = "world",
        with_effort: bool = True,
        minimum_norm: bool = False,
        on_error: str = "raise",
    ) -> Floats:
        """Return the wrench that a joint exerts on one of its bodies.

        The forces of the system act, as in a simulation, and `tau` and `wrenches` in addition.

        Parameters
        ----------
        joint : str
            A tree joint or a loop joint.
        q, v : array_like, shape (..., nq), (..., nv)
            State, or a batch of states, such as those of a run. Entries of prescribed joints follow
            from t, unless `vdot` is given.
        tau : array_like, shape (..., nv), optional
            Generalized forces besides those of the system's forces, which determine the motion; by
            default zero. [N m], [N]
        vdot : array_like, shape (..., nv), optional
            The acceleration, in place of `tau`.
        multipliers : array_like, shape (..., num_velocity_constraints), optional
            Multipliers at `vdot`, from `solve_dynamics` or `closed_inverse_dynamics`.
        on : str, optional
            The body that the wrench acts on: by default the joint's successor, or its predecessor,
            which gets the opposite wrench.
        at : str or array_like, shape (..., 3)
            The point that the moment is about: "joint", the origin of the joint's frame on body
            `on`; the origin of a body's frame, by the body's name; or a point in the world. [m]
        expressed_in : str
            Axes: of the "world", of a body by its name, or of the "joint", those of its frame on
            body `on`.
        with_effort : bool
            Whether the result includes the effort along the joint's motion, of drives, springs and
            friction. Without it the result does no work in the joint: the removed part has least
            norm, moments in parts of the system's length, at the joint's frame.
        minimum_norm : bool
            With redundant constraints, whether to return the reaction of minimum-norm multipliers.
            It depends on the cut of the loops, and is not the physical load in general.
        wrenches, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., 6)
            Moment and force. [N m], [N]

        Raises
        ------
        ConstraintError
            If the reaction is not unique because of redundant constraints; the message names the
            unique ones of its six components.
        NameUnknownError, UsageError
            If there is no such joint or body, or arguments do not fit together.

        Notes
        -----
        By the balance of momentum of all bodies beyond the joint: recursive Newton-Euler with the
        multipliers as wrenches. It is unique if no multipliers with ``A^T multipliers = 0`` change
        it. Cost: O(bodies), and a singular value decomposition of the constraints.

        Examples
        --------
        The wrench that the hinge of a pendulum at rest bears, and the one on the world:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(2.0, (0.5, 0, 0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> system = mech.assemble()
        >>> holding = system.bias_force([0.0], [0.0])
        >>> system.reaction("hinge", [0.0], [0.0], holding) + 0.0
        array([  0., -10.,   0.,   0.,   0.,  20.])
        >>> system.reaction("hinge", [0.0], [0.0], holding, on="world", with_effort=False) + 0.0
        array([  0.,   0.,   0.,   0.,   0., -20.])
        """
        return reactions.reaction(
            self, joint, q, v, tau, wrenches, vdot=vdot, multipliers=multipliers, t=t, on=on, at=at,
            expressed_in=expressed_in, with_effort=with_effort, minimum_norm=minimum_norm,
            on_error=on_error,
        )  # fmt: skip

    # ---------------------------------------------------------------------------------- derivatives

    def derivatives(
        self,
        of: str,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        vdot: ArrayLike | None = None,
        prescribed: Sequence[str] = (),
        actuated: Sequence[str] = (),
        minimise: str | Mapping[str, float] = "effort",
        by: Iterable[str] = ("q", "v"),
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> Derivatives:
        """Return the derivatives of dynamics by state, efforts, time and parameters of the model.

        Of trees and of closed mechanisms, with the forces of the mechanism.

        Parameters
        ----------
        of : {"forward_dynamics", "inverse_dynamics", "hybrid_dynamics", "closed_inverse_dynamics"}
            The result to differentiate: accelerations and multipliers of constraints, from `tau`;
            efforts of the tree, without constraints, from `vdot`; `vdot`, `tau` and multipliers,
            where the accelerations of `prescribed` joints are given; or efforts of `actuated`
            joints and multipliers, for a motion of a closed mechanism.
        q, v, t, on_error : see `System`
            Loops that are open are not refused, as in `solve_dynamics`: `check_motion` finds them.
        tau : array_like, shape (..., nv), optional
            Given efforts, besides those of the mechanism's forces. In closed inverse dynamics they
            act besides those of actuators, which are the result `tau`, zero at passive joints.
        vdot : array_like, shape (..., nv)
            Accelerations, of inverse, hybrid and closed inverse dynamics.
        prescribed : sequence of str
            Joints whose accelerations are given, in hybrid dynamics.
        actuated : sequence of str
            Joints with actuators, or single velocities of joints ("leg[2]"), in closed inverse
            dynamics; the others are passive.
        minimise : {"effort", "constraint"} or mapping of str to float
            Which efforts are taken if there are more actuators than freedoms: those of least sum of
            squares, those with minimum-norm multipliers, or those of least sum with these weights
            by joint; in closed inverse dynamics.
        by : iterable of str
            Inputs: "q" (along steps of `retract`), "v", "t", those of "tau" and "vdot" that the
            evaluation takes, and names in `parameters`.

        Returns
        -------
        Derivatives
            ``found["v"]`` (..., nv, nv), ``found["bodies.rod.mass"]`` (..., nv), ``found["q"]``
            (..., nv, ndx), and so on; ``found.multipliers["q"]`` (..., m, ndx); the results
            themselves in ``found.values``. By a pose, such as ``joints.hinge.S_pred``, six columns:
            along S exp(x), x a twist in the axes of S, (angular, linear). By a symmetric matrix,
            such as ``bodies.rod.moment_about_com``, the G for which sum G_ij dI_ij is the change.

        Raises
        ------
        NameUnknownError
            If there is no such evaluation, or no such input.
        UsageError
            If the evaluation does not take an argument, or needs one; or if there is no derivative
            by a parameter: it is an integer, or equations jump at its value.
        SingularMassMatrixError, ConstraintError
            As by the evaluation.

        Notes
        -----
        By q and v as exact as `inverse_dynamics_derivatives`, `force_derivatives` and
        `constraint_force_derivative`; the part of constraints in them is exact along q where
        they are mbkit's and compiled, else by differences of eighth order, to 1e-12 or so. By tau,
        vdot, gravity, inertial parameters and dimensions of bodies exact to rounding. By the
        placements of joints of the tree, `S_pred`, `S_succ` and `point`, and the axes of joints
        with one `axis`, as by q: they are small displacements of a free joint inserted between
        joint and body. By parameters of forces and constraints, by these placements of joints that
        close loops, and by time exact to rounding, if they are mbkit's, compiled for lanes, or
        forces that give these derivatives, and no joint is one of your own that cannot be traced,
        nor one in Python or a `CompositeJoint` that closes a loop; else, and by other parameters,
        by differences of eighth order of the equations of motion at fixed accelerations, to 1e-11
        or so where these are smooth. The effect of time through prescribed joints follows from
        their jerks, which are exact where mbkit differentiates their motions, else differences of a
        given ``acceleration=``. Other parameters of joints of the tree, such as pitches and axes,
        cause a motion at their joint, which is imposed by such a free joint: exact to rounding, but
        of joints in Python, of which that motion is by differences, to 1e-12 or so.

        In closed inverse dynamics a change of q alone opens the loops, and one of vdot alone
        contradicts the constraints: the sum for changes of q, v and vdot along a possible motion is
        the change of the efforts.

        If constraint rows are redundant, the derivative holds for motions and parameters that keep
        them redundant: for a planar linkage, those that keep it planar. The multipliers are the
        minimum-norm ones, and their derivatives those of these. Directions that a constraint
        chooses beside its axis or normal turn with it, also where another choice is near.

        Prescribed joints move as functions of time: columns of their positions, velocities and
        efforts are zero in forward dynamics, and the derivative by t includes their motion.

        Cost: of forward and hybrid dynamics of trees by q, v, tau and vdot alone O(nv depth); else
        O(nv^2 (nv + m)) a state, and one O(nv) evaluation for each column; with constraints one
        pass of dual numbers for seven entries of q, or 8 evaluations for each where they are not
        compiled. All placements together take one assembly, a parameter that is differentiated by
        differences 8 or more for each of its numbers.

        Examples
        --------
        A pendulum of m = 2 kg and l = 1 m under an effort of 1 N m: l^2 m vdot = tau - m g l sin q.

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10.0))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(2.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> system = mech.assemble()
        >>> by = ("q", "tau", "bodies.bob.mass")
        >>> found = system.derivatives("forward_dynamics", [0.0], [0.0], [1.0], by=by)
        >>> found["q"].round(9), found["tau"].round(9), found["bodies.bob.mass"].round(9)
        (array([[-10.]]), array([[0.5]]), array([-0.25]))
        """
        if isinstance(of, str) and of == "closed_inverse_dynamics":
            from mbkit.closed_loops.effort_derivatives import derivatives_of_efforts

            return derivatives_of_efforts(
                self, q, v, vdot, tau, actuated=actuated, minimise=minimise,
                prescribed=prescribed, by=by, t=t, on_error=on_error,
            )  # fmt: skip
        return evaluation_derivatives.derivatives(
            self, of, q, v, tau, vdot=vdot, prescribed=prescribed, actuated=actuated,
            minimise=minimise, by=by, t=t, on_error=on_error,
        )  # fmt: skip

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> tuple[Floats, Floats]:
        """Return the derivatives of `inverse_dynamics` with respect to configuration and velocity.

        The derivative with respect to the acceleration is `mass_matrix`.

        Parameters
        ----------
        wrenches : see `System`
            They move with the bodies: their components in the axes of the body are constant, in
            whatever representation they are given.
        q, v, vdot, t, on_error : see `System`

        Returns
        -------
        d_q : ndarray, shape (..., nv, ndx)
            Column k is the derivative of ``inverse_dynamics(retract(q, e e_k), v, vdot)`` by e at
            e = 0, e_k a unit step. [N m/rad] and so on
        d_v : ndarray, shape (..., nv, nv)
            The derivatives with respect to v.

        Notes
        -----
        Exact to rounding for the joints of mbkit, for others whose motion subspace is constant in
        the successor (`Joint.constant_subspace`), and for those of users that can be traced, or
        compile for dual numbers. Otherwise the change of the subspace is computed by sixth-order
        differences of the joint's functions, with a relative error of about 1e-12. All else is
        exact but for some forces: `force_derivatives`.

        Cost: O(nv depth). Source: derived in `mbkit.kernels.derivatives.inverse_dynamics`; for
        joints of one velocity as Carpentier and Mansard 2018 (Analytical derivatives of rigid body
        dynamics algorithms), and Singh, Russo and Wensing 2022 (Efficient analytical derivatives
        of rigid-body dynamics using spatial vector algebra).

        Examples
        --------
        A pendulum of 1 kg and 1 m needs m g l cos(q) more torque for each radian:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> d_q, d_v = mech.assemble().inverse_dynamics_derivatives([0.0], [2.0], [0.0])
        >>> d_q.round(9), d_v.round(9)
        (array([[9.81]]), array([[0.]]))
        """
        time: Any = t
        if wrenches is None and self._bare and time.__class__ is float:
            return self._inverse_dynamics_derivatives(q, v, vdot, on_error)
        return dynamics_derivatives.inverse_dynamics_derivatives(
            self, q, v, vdot, wrenches, t=t, on_error=on_error
        )

    def inverse_dynamics_second_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the second derivatives of the efforts that a motion needs.

        The efforts are those of ``inverse_dynamics(q, v, vdot, wrenches, t=t)``.

        Parameters
        ----------
        wrenches : see `System`
            They move with the bodies, as in `inverse_dynamics_derivatives`.
        q, v, vdot, t, on_error : see `System`
            Of a closed mechanism or a prescribed joint, as of a tree that moves freely.

        Returns
        -------
        d_qq : ndarray, shape (..., nv, ndx, ndx)
            ``d_qq[i, k, l]`` is the second derivative of effort i of ``retract(q, dx)`` by
            ``dx[k]`` and ``dx[l]`` at dx = 0. Symmetric in k and l.
        d_vv : ndarray, shape (..., nv, nv, nv)
            By ``v[k]`` and ``v[l]``, symmetric.
        d_qv : ndarray, shape (..., nv, ndx, nv)
            By ``dx[k]`` and ``v[l]``.
        d_mass : ndarray, shape (..., nv, nv, ndx)
            By ``vdot[k]`` and ``dx[l]``: `mass_matrix_derivatives`. Those by vdot and v, and twice
            by vdot, are zero.

        Raises
        ------
        NoMemoryError
            If there is no memory for them.

        See Also
        --------
        System.inverse_dynamics_derivatives : the first derivatives.

        Notes
        -----
        Where positions add, as of screws, d_qq are the second partial derivatives by q. On groups,
        as of ball joints, derivatives of the columns of `inverse_dynamics_derivatives` along steps
        are not symmetric; d_qq is, and is half the sum of both orders. It is that of a second-order
        expansion along ``retract``: ``tau + d_q dx + dx d_qq dx / 2``.

        Exact to rounding for joints of constant motion subspace, whose steps are those of the
        exponential map to second order; for the others the second changes of pose and subspace are
        by differences of eighth order of the first ones, where these are exact
        (`inverse_dynamics_derivatives`), with a relative error of 1e-13; else of the joint's
        functions, with 1e-11.

        `JointDamper` and `JointSpring` in joints whose positions add have no second derivatives. If
        there are others, those of all forces are by differences of eighth order of
        `force_derivatives` where these are exact: of smooth forces 1e-12 is left, and the cost is
        8 of them for each of ndx + nv directions, 40 more where forces are sharp. Else they are by
        differences of `generalized_forces`, whose steps are chosen as in `inverse_dynamics_rate`:
        1e-10 is left, for 41 sums of the forces for each two of these directions.

        Cost: O(nv depth^2) without forces. Source: derived in
        `mbkit.kernels.derivatives.second_order.inverse_dynamics`, for any joint; for joints of one
        screw as Singh and Wensing 2023 (On second-order derivatives of rigid-body dynamics).

        Examples
        --------
        A pendulum of 1 kg and 1 m needs m g l sin(q), with the second derivative -m g l sin(q):

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10.0))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> system = mech.assemble()
        >>> d_qq, _, _, _ = system.inverse_dynamics_second_derivatives([np.pi / 6], [2.0], [0.0])
        >>> d_qq.round(9)
        array([[[-5.]]])
        """
        return second_derivatives.inverse_dynamics_second_derivatives(
            self, q, v, vdot, wrenches, t=t, on_error=on_error
        )

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> tuple[Floats, Floats, Floats]:
        """Return the derivatives of `forward_dynamics` by configuration, velocity and force.

        Parameters
        ----------
        q, v, tau, wrenches, t, on_error : see `System`
            Wrenches move with the bodies, as in `inverse_dynamics_derivatives`.

        Returns
        -------
        d_q : ndarray, shape (..., nv, ndx)
            Along steps, as in `inverse_dynamics_derivatives`.
        d_v : ndarray, shape (..., nv, nv)
            With respect to v.
        d_tau : ndarray, shape (..., nv, nv)
            With respect to tau: the inverse of the mass matrix. Rows and columns of prescribed
            joints, which no force moves, are zero in all three.

        Raises
        ------
        SingularMassMatrixError
            If a joint can move without moving any inertia; it is named.
        UsageError
            If the system has loops.

        Notes
        -----
        ``d_q = -M^-1 D_q(M vdot + b - f)``, likewise by v; found by the articulated bodies, without
        M. Cost: O(nv^2), one call of a kernel, and all cores for many samples. The three are views
        of one array, of which each row holds the derivatives of one acceleration.

        Examples
        --------
        A pendulum of 1 kg and 1 m, hanging: a spring of m g l that acts on m l^2.

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> d_q, d_v, d_tau = mech.assemble().forward_dynamics_derivatives([0.0], [0.0])
        >>> d_q.round(9), d_tau.round(9)
        (array([[-9.81]]), array([[1.]]))
        """
        time: Any = t
        if wrenches is None and self._bare_tree and time.__class__ is float:
            given = self.evaluator.zero if tau is None else tau
            return self._forward_dynamics_derivatives(q, v, given, on_error)
        return tree_dynamics.forward_dynamics_derivatives(
            self, q, v, tau, wrenches, t=t, on_error=on_error
        )

    def force_derivatives(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> tuple[Floats, Floats]:
        """Return the derivatives of `generalized_forces` by configuration and velocity.

        Parameters
        ----------
        q, v, t, on_error : see `System`

        Returns
        -------
        d_q : ndarray, shape (..., nv, ndx)
            Along steps, as in `inverse_dynamics_derivatives`.
        d_v : ndarray, shape (..., nv, nv)
            With respect to v.

        Notes
        -----
        Exact for `JointSpring`, `JointDamper` and `SpringDamper`. The other forces of mbkit are
        computed with dual numbers, and are exact to rounding: the first call compiles them for
        these, in some ten seconds once per installation. At a kink, such as a stop that is just
        touched, the derivative is that of one side. Forces in Python take part that give their
        derivatives (`Force.derivatives`) or can be traced; see docs/forces.md.

        Forces of the user that neither do nor can, and beside a joint of the user that cannot be
        traced all forces but those springs and dampers, are differentiated by central differences
        of fourth order with steps of 1e-5: rounding leaves 1e-11 of the greatest of them by rad or
        m, and a force that changes over a width w adds (1e-5/w)^4. Within 2e-5 of a kink it is a
        mean of both sides.

        Cost: O(forces) for springs and dampers in joints, O(p^2) for one across p joints; with
        other forces one pass of dual numbers for seven velocities and tangent entries, or four
        force passes for each.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("oscillator", gravity=(0, 0, 0))
        >>> mass = mech.add_body(mb.Body("mass", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, mass)
        >>> spring = mech.add_force(mb.JointSpring("spring", "slide", stiffness=100.0))
        >>> damper = mech.add_force(mb.JointDamper("damper", "slide", damping=3.0))
        >>> mech.assemble().force_derivatives([0.3], [0.0])
        (array([[-100.]]), array([[-3.]]))
        """
        return dynamics_derivatives.force_derivatives(self, q, v, t, on_error=on_error)

    def constraint_jacobian_velocity_derivative(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return the derivative of ``A(q) v`` along steps of the configuration.

        Parameters
        ----------
        q, v, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints, ndx)
            Column k is the derivative of ``constraint_jacobian(retract(q, e e_k)) @ v`` by e at
            e = 0. ``D @ rates(q, v)`` is `constraint_bias`, where loops are closed.

        Notes
        -----
        Exact but for rounding, for loop joints with a constant motion subspace
        (`Joint.constant_subspace`) in trees of such joints; for other joints within 1e-12, as in
        `System.inverse_dynamics_derivatives`. Where there are other constraints than loop joints,
        all of them are run on dual numbers, exactly; if they or the joints are not compiled for
        these, as those of your own are not, the whole Jacobian is differentiated by central
        differences of fourth order with steps of 1/4096, which leave 1e-12 of it.

        Examples
        --------
        See `mbkit.EquationsOfMotion`.
        """
        return dynamics_derivatives.constraint_jacobian_velocity_derivative(
            self, q, v, t, on_error=on_error
        )

    def constraint_force_derivative(
        self, q: ArrayLike, multipliers: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return the derivative of ``A(q)^T multipliers`` along steps of the configuration.

        Parameters
        ----------
        multipliers : array_like, shape (..., num_velocity_constraints)
            Multipliers, as `System.solve_dynamics` returns them. [N]
        q, t, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv, ndx)
            Column k is the derivative of ``constraint_jacobian(retract(q, e e_k)).T @ multipliers``
            by e at e = 0: the geometric stiffness of the constraints.

        Notes
        -----
        As accurate as `constraint_jacobian_velocity_derivative`. Cost: the square of the number of
        velocities in each loop.

        Examples
        --------
        See `mbkit.EquationsOfMotion`.
        """
        return dynamics_derivatives.constraint_force_derivative(
            self, q, multipliers, t, on_error=on_error
        )

    # ------------------------------------------------------------------------------ linear analysis

    def equilibrium(
        self,
        q: Configuration | None = None,
        *,
        fixed: Iterable[str] = (),
        tau: ArrayLike | Mapping[str, ArrayLike] | None = None,
        stable: bool = False,
        t: float = 0.0,
    ) -> Equilibrium:
        """Return a configuration in which the mechanism stays at rest.

        The forces of the mechanism act: gravity, springs, forces of users.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to array_like, optional
            Start, whose loops are closed first, in full or by the names of joints; by default the
            reference configuration.
        fixed : iterable of str
            Joints, or single positions such as ``"joint[1]"``, that keep their values in `q`; the
            result has the efforts that hold them. Prescribed joints are fixed at those at `t`.
        tau : array_like, shape (nv,), or mapping of str to array_like, optional
            Constant generalized forces besides those, as an array or by the names of joints.
            [N m], [N]
        stable : bool
            Whether to go downhill from the start to a stable equilibrium, as a mechanism with
            friction settles; else to one that is near, stable or not.
        t : float, see `System`

        Returns
        -------
        Equilibrium
            The configuration, the efforts that hold fixed joints, the multipliers, stability by
            the signs of the stiffness; and why, where none was found.

        Raises
        ------
        ConstraintError
            If the loops cannot be closed.
        UsageError, NameUnknownError
            If the system has nonholonomic joints or constraints, such as rolling; if there is no
            such joint.

        Notes
        -----
        Positions and multipliers are unknowns of one system of equations, on the configuration
        group, which ``scipy.optimize.least_squares`` solves with exact derivatives; those of
        forces are as exact as `force_derivatives`. If it ends elsewhere, other starts follow, with
        fixed seeds. With `stable`, Newton steps of independent coordinates go down along all
        eigenvectors of the stiffness, with closed loops, and steps along the forces where there is
        none; after a way of 1e4 lengths of the system it is given up, as the result notes.
        Joint limits are ignored.

        Examples
        --------
        A pendulum of 1 kg and 1 m, held out of the vertical by a spring:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> spring = mb.JointSpring("spring", "hinge", stiffness=20.0, rest=1.0)
        >>> mech.add_force(spring).name
        'spring'
        >>> found = mech.assemble().equilibrium()
        >>> found.q.round(6), found.stability
        (array([0.684037]), 'stable')
        >>> held = mech.assemble().equilibrium([0.5], fixed=["hinge"])
        >>> round(held.efforts["hinge"], 6)
        -5.205745
        """
        from mbkit.linear_analysis.equilibrium import equilibrium

        return equilibrium(self, q, fixed=fixed, tau=tau, stable=stable, t=time_of(t))

    def linearize(
        self,
        q: Configuration | Equilibrium | None = None,
        v: Configuration | None = None,
        inputs: Any = None,
        outputs: Any = None,
        *,
        tau: ArrayLike | Mapping[str, ArrayLike] | None = None,
        independent: Sequence[str] | None = None,
        t: float = 0.0,
    ) -> LinearModel:
        """Return the linear model of small motions around a state, with names.

        The forces of the mechanism act. Closed mechanisms are reduced to independent coordinates,
        and prescribed joints move as they are prescribed.

        Parameters
        ----------
        q : array_like, shape (nq,), mapping of str to array_like, or Equilibrium, optional
            Configuration with closed loops; joints by name, from which the loops are closed; or
            a result of `equilibrium`, with its efforts and time: joints that it held fixed
            are free to move in the model, and the efforts that held them stay constant. By default
            that of `equilibrium` from the reference configuration with these `tau` and `t`.
        v : array_like, shape (nv,), optional
            Velocity that the constraints allow; by default zero.
        inputs, outputs : sequence or mapping, optional
            Quantities by name, or a mapping from names of your own to them. Inputs: ``"hinge"``,
            the effort of a joint, ``"ball[2]"`` one of several; ``"rod.force"``, ``"rod.moment"``,
            ``"rod.wrench"`` of a body; ``"forces.spring.rest"``, a parameter of a force. Outputs:
            ``"hinge"`` or ``"hinge.q"``, ``"hinge.v"``, ``"hinge.vdot"`` of a joint;
            ``"drive.effort"``, the effort of a prescribed joint; ``"rod.position"``,
            ``"rod.rotation"``, ``"rod.pose"``, ``"rod.velocity"``, ``"rod.angular_velocity"``,
            ``"rod.twist"`` of a body. Those of bodies are of the origin of the body's frame, or of
            a point in it, ``("rod.position", (0, 0, 1))``, along the axes of the world. By default
            the efforts and the positions of all joints that are not prescribed.
        tau : array_like, shape (nv,), or mapping of str to array_like, optional
            Constant generalized forces at the state, such as the efforts that hold it; by default
            those of an Equilibrium, and none at other states.
        independent : sequence of str, optional
            Joints, or velocities of joints, for the states, as in `constrained_jacobian`; by
            default some that move much.
        t : float, see `System`

        Returns
        -------
        LinearModel
            A, B, C, D with names, the second-order form, `LinearModel.modes`,
            `LinearModel.compliance`, `LinearModel.frequency_response`, `LinearModel.to_scipy` and
            `LinearModel.to_control`. It notes whether the state is an equilibrium.

        Raises
        ------
        ConstraintError
            If the state does not satisfy the constraints, or the configuration is singular, with
            fewer freedoms around it; if `independent` does not determine the motion.
        UsageError, NameUnknownError
            If the system has nonholonomic joints or constraints, such as rolling; if there is no
            such joint, body or quantity; if no equilibrium was found, or it is that of another
            system or time.
        SingularMassMatrixError
            If a joint can move without moving any inertia.

        Notes
        -----
        States are increments on the configuration group from the motion that passes through the
        state: along q and v at an equilibrium, the exact variational equation at this instant
        elsewhere. With the null space H of the constraints, ``H^T M H`` and so on, the geometric
        stiffness of the constraints included. Exact to rounding as far as
        `inverse_dynamics_derivatives`, `force_derivatives` and `constraint_force_derivative` are.
        Of closed mechanisms in motion, and of constraints that depend on time, the rates of the
        constraints are differentiated by differences of sixth order, within 1e-12.

        Examples
        --------
        A pendulum of 1 kg and 1 m with a spring oscillates with the root of (10 + 26) / 1:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> spring = mech.add_force(mb.JointSpring("spring", "hinge", stiffness=26.0))
        >>> system = mech.assemble()
        >>> model = system.linearize(system.equilibrium())
        >>> model
        LinearModel of 'pendulum': at an equilibrium
          states     2  hinge.q, hinge.v
          inputs     1  hinge
          outputs    1  hinge.q
        >>> model.A
        array([[  0.,   1.],
               [-36.,   0.]])
        >>> model.modes()
        Modes of 'pendulum'
          mode  frequency [Hz]  omega [rad/s]  damping ratio  largest motions
             0         0.95493              6              0  hinge 1
        >>> model.compliance().round(6)
        array([[0.027778]])
        """
        from mbkit.linear_analysis.linearize import linearize

        return linearize(
            self, q, v, inputs, outputs, tau=tau, independent=independent, t=time_of(t)
        )

    # ----------------------------------------------------------------------- calls one look-up away

    @functools.cached_property
    def _inverse_dynamics(self) -> Callable[..., Floats]:
        return self.evaluator.bind(INVERSE_DYNAMICS)

    @functools.cached_property
    def _forward_dynamics(self) -> Callable[..., Floats]:
        return self.evaluator.bind(self.equations)

    @functools.cached_property
    def _mass_matrix(self) -> Callable[..., Floats]:
        return self.evaluator.bind_mass_matrix()

    @functools.cached_property
    def _coriolis_matrix(self) -> Callable[..., Floats]:
        return self.evaluator.bind(CORIOLIS_MATRIX)

    @functools.cached_property
    def _exact_forces(self) -> ExactForces | None:
        return ExactForces.of(self.evaluator, force_changes.when_not_traced(self))

    @functools.cached_property
    def _without_derivatives(self) -> dict[str, Force]:
        """Forces in Python without derivatives, of which no warning was issued yet."""
        every = (each for each in self.arrays.forces.forces if each.kernels() is None)
        return {each.name: each for each in every if not gives_derivatives(each)}

    @functools.cached_property
    def _found_of_parameters(self) -> dict[Any, dict[str, Any]]:
        """Stored results of functions of parameters, by function and name: `once_a_parameter`."""
        return {}

    @functools.cached_property
    def _force_parts(self) -> tuple[System, System] | None:
        return dynamics_derivatives.force_parts(self)

    @functools.cached_property
    def _exact_constraints(self) -> ExactConstraints | None:
        found = self._dual_constraints
        return found if found is not None and found.is_complete else None

    @functools.cached_property
    def _dual_constraints(self) -> ExactConstraints | None:
        """The constraints on dual numbers, but for those in Python."""
        return ExactConstraints.of(self.evaluator)

    @functools.cached_property
    def _canonical_forward_dynamics(self) -> Callable[..., tuple[Floats, Floats]]:
        from mbkit.kernels.momentum.canonical import APART

        return self.evaluator.bind_pair(CANONICAL_FORWARD_DYNAMICS, APART)

    @functools.cached_property
    def _jerks(self) -> Callable[..., Floats]:
        return higher_orders.bind_jerks(self)

    @functools.cached_property
    def _inertial_regressor(self) -> Callable[..., Floats]:
        return self.evaluator.bind(INERTIAL_REGRESSOR)

    @functools.cached_property
    def _forward_dynamics_derivatives(self) -> Callable[..., tuple[Floats, Floats, Floats]]:
        return tree_dynamics.bind_forward(self)

    @functools.cached_property
    def _bare(self) -> bool:
        """Whether no force acts and no joint is prescribed, so that kernels alone answer."""
        return not (self.forces or self.motions)

    @functools.cached_property
    def _bare_tree(self) -> bool:
        """Whether it has no constraints either."""
        return self._bare and not self.arrays.closure

    @functools.cached_property
    def _inverse_dynamics_derivatives(self) -> Callable[..., tuple[Floats, Floats]]:
        return dynamics_derivatives.bind_inverse(self)


def _assembled(blueprint: Blueprint) -> System:
    return blueprint.system()

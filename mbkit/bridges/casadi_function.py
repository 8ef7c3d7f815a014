"""Evaluations of a system as functions of CasADi."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mbkit.bridges.casadi_derivatives import derivatives_of
from mbkit.bridges.casadi_numbers import CasadiNumbers
from mbkit.bridges.reading import read_evaluation
from mbkit.extras import extra_package
from mbkit.tracing.parameters import read_parameters
from mbkit.tracing.trace import Trace

if TYPE_CHECKING:
    from mbkit.systems import System


def casadi_function(
    system: System,
    evaluation: str,
    *,
    parameters: Iterable[str] | Mapping[str, str] = (),
    **options: Any,
) -> Any:
    """Return an evaluation of a system as a ``casadi.Function``, for optimisation and C code.

    The kernels of the system's representation run once on numbers that record the operations on
    them; the function has no part of mbkit in it, and CasADi differentiates it and writes it as C.

    Parameters
    ----------
    system : System
        A tree of any joints, or a closed mechanism. Joints and forces in Python are traced; those
        that close loops need the method ``configuration_from_pose``.
    evaluation : str
        A method of `System` that returns numbers, such as "forward_dynamics", "jacobian" or
        "inertial_regressor", or "momenta", "velocities" and "canonical_forward_dynamics" of
        `MomentumForm`; the table of ``docs/symbolic.md`` has them all. Forces of the mechanism are
        included in the dynamics, ``M vdot + b = tau + f(t, q, v)``, and in the potential energy. Of
        a closed mechanism "forward_dynamics" and "hybrid_dynamics" have the constraint forces; the
        others are those of its tree: "inverse_dynamics" is ``tau + A^T multipliers``.
    parameters : iterable of str, or mapping of str to str
        Parameters that stay free, by their names in ``system.parameters``, such as
        "bodies.rod.mass", with an index for one entry, "bodies.rod.com[2]"; a mapping gives labels
        to them, and those with one label are one input. Each is an input with its label, "." and
        "[" written as "_": a number, a vector, or a matrix; of moments the upper triangle is read,
        of a pose the upper three rows.
    **options
        Further arguments of the method, by the same names and with the same meaning: ``body``,
        ``frame``, ``relative_to``, ``representation``, ``measured_in``, ``resolved_in`` of motion
        of bodies; ``order`` of "body_derivatives" and "dependent_rates" (that of the last
        derivative of the twists or velocities), "jacobian_rate", "motion_subspace_rates",
        "jacobian_derivatives", "mass_matrix_derivatives" and "inverse_mass_matrix_derivatives";
        ``prescribed`` joints of "hybrid_dynamics"; ``actuated`` ones, and what to ``minimise``, of
        "closed_inverse_dynamics"; ``independent`` ones of rates of closed mechanisms; those that
        are ``fixed`` in "consistent_velocity"; ``joint``, ``on``, ``at`` (a name),
        ``expressed_in``, ``with_effort``, ``minimum_norm`` of "reaction", and ``vdot=True`` where
        the acceleration, and of closed mechanisms the multipliers, are inputs in place of tau;
        ``wrenches`` of dynamics, "reaction" and their derivatives: the names of bodies on which
        wrenches act from outside, the input ``wrenches`` with a row (moment, force) for each, in
        the system's representation; ``of`` and ``by`` of "derivatives": another evaluation, and
        inputs or free parameters by which it is differentiated.

    Returns
    -------
    casadi.Function
        Inputs in this order: the vectors (q, v, vdot or tau, ...), the parameters, and the time
        ``t`` where the result depends on it; the output has the name of the evaluation, and several
        have those of the table. Arrays of more than two axes are the matrices of the last
        two side by side: ``poses`` are (4, 4 (bodies + 1)), in the order of ``system.body_names``.
        Twists of bodies are rows.

    Raises
    ------
    UsageError
        If there is no such evaluation, or it cannot be a function, since it searches or is no
        array: with the alternative; if options do not belong to it, or are missing; if actuators
        cannot give every motion; if a joint, a prescribed motion or a force cannot be traced, or a
        parameter cannot stay free (rotations of a table of poses, an axis beside a member in
        Python of a composite joint, the axis of a joint that only slides, the turn of a joint that
        does not move): by name.
    NameUnknownError
        If there is no such body, joint, input or parameter.
    ConstraintError
        If the motion does not follow from independent joints, or a reaction is not unique.

    Notes
    -----
    Equal to results of the system but for rounding. Where kernels choose a series next to a zero
    angle, the function has ``if_else``, both parts with finite derivatives. Quaternions are
    normalised: derivatives along their length are zero. Comparisons in forces (stops, functions in
    Python) become ``if_else`` as well. The square root has the derivative zero at zero.

    In "forward_dynamics" and "solve_dynamics" prescribed joints follow their motions, whatever
    their q and v; the others take q, v and vdot as they are given. Beyond a table there is no
    value (NaN).

    Dynamics of a closed mechanism leave out redundant rows of its constraints, as they are
    beside the reference configuration; they are no numbers in singular configurations. For q and v
    beside the constraints they keep their rates, as without stabilisation. Multipliers are the
    least ones, as those of the system. Rows of constraints are
    scaled by the length of the system as it is, whatever its places are.

    Derivatives by q are along steps of `System.retract`, or of "jacobian_derivatives" along motions
    of constant velocity, exact to rounding, to any order. They are those of CasADi:
    ``function.jacobian()`` has those by the entries of q, and of all other inputs.
    Wrenches go with their bodies there, as in those of `System`, and are constant numbers in
    "derivatives".

    Other axes are other frames, of any direction; where the axes of a joint's coordinates follow
    the axis, as in a plane, they turn by half where it comes below the plane of x and y.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -2.0))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    >>> f = mb.casadi_function(
    ...     mech.assemble(), "forward_dynamics", parameters=["bodies.bob.mass"]
    ... )  # doctest: +SKIP
    >>> f.name_in()  # doctest: +SKIP
    ['q', 'v', 'tau', 'bodies_bob_mass']
    >>> f(0.3, 0.0, 8.0, 2.0)  # vdot = (tau - m g l sin q) / (m l^2)  # doctest: +SKIP
    DM(-0.449502)
    """
    what = "casadi_function"
    asked = read_evaluation(what, system, evaluation, options)
    free = read_parameters(what, system, parameters)
    casadi = extra_package("casadi", f"{what} needs casadi", "casadi")
    trace = Trace(what, system, free, smooth=True)
    vectors = trace.vectors(asked.shapes)
    results = asked.compute(trace, vectors)
    numbers = CasadiNumbers(casadi, trace, vectors)
    outputs = numbers.of(results)
    if asked.derived is not None:
        outputs = derivatives_of(numbers, trace, asked.derived, outputs)
    symbols, matrices = numbers.symbols, [_matrix(casadi, each) for each in outputs.values()]
    return casadi.Function(evaluation, [*symbols.values()], matrices, [*symbols], [*outputs])


def _matrix(casadi: Any, array: Any) -> Any:
    """Return an array of expressions; of more than two axes the matrices of the last two in a row.

    Poses (count, 4, 4) are side by side, (4, 4 count).
    """
    if array.ndim > 2:
        return casadi.horzcat(*(_matrix(casadi, each) for each in array))
    height, width = array.shape if array.ndim == 2 else (array.size, 1)
    return casadi.vertcat(*array.ravel()).reshape((width, height)).T

"""Evaluations of a system as functions of CasADi."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mbkit.bridges.evaluations import read_evaluation
from mbkit.bridges.extras import imported
from mbkit.bridges.replay import ARITHMETIC, replay
from mbkit.differentiation.rules import ELEMENTARY, reachable
from mbkit.errors import UsageError
from mbkit.tracing.parameters import Free, read_parameters
from mbkit.tracing.trace import Trace

if TYPE_CHECKING:
    from mbkit.systems import System


def casadi_function(
    system: System,
    evaluation: str,
    *,
    body: str | None = None,
    prescribed: Sequence[str] | None = None,
    order: int | None = None,
    actuated: Sequence[str] | None = None,
    minimise: str | Mapping[str, float] | None = None,
    parameters: Iterable[str] | Mapping[str, str] = (),
) -> Any:
    """Return an evaluation of a system as a ``casadi.Function``, for optimisation and C code.

    The kernels of the system's representation run once on numbers that write down what is done with
    them; the function has no part of mbkit in it, and CasADi differentiates it and writes it as C.

    Parameters
    ----------
    system : System
        A tree of any joints, or a closed mechanism. Joints and forces in Python are traced; those
        that close loops need the method ``configuration_from_pose``.
    evaluation : str
        "forward_dynamics" (of q, v, tau), "inverse_dynamics" (of q, v, vdot), "hybrid_dynamics"
        (of q, v, tau, vdot), "bias_force", "generalized_forces", "coriolis_matrix", "twists",
        "kinetic_energy", "momentum" (of q, v), "accelerations" (of q, v, vdot), "jerks" (of q, v,
        vdot, vddot), "body_derivatives" (of q, v, vdot, ..., to the order), "mass_matrix", "poses",
        "potential_energy" (of q); "pose", "jacobian" (of q), "twist", "jacobian_rate" (of q, v),
        "acceleration" (of q, v, vdot) of one body. Forces of the mechanism are included in the
        dynamics, ``M vdot + b = tau + f(t, q, v)``, and in the potential energy. Of a closed
        mechanism "forward_dynamics" and "hybrid_dynamics" have the constraint forces, and there are
        "solve_dynamics" (of q, v, tau), "closed_inverse_dynamics" (of q, v, vdot, and the applied
        tau), "constraint_residual", "constraint_jacobian" (of q) and "constraint_bias" (of q, v);
        the others are those of its tree: "inverse_dynamics" is ``tau + A^T multipliers``.
    body : str, optional
        Name of the body, where the evaluation is of one.
    prescribed : sequence of str, optional
        Of "hybrid_dynamics": the joints whose accelerations are given by vdot; of the others tau
        is. Entries that are not given are not read.
    order : int, optional
        Of "body_derivatives": the order of the last derivative of the twists, 1 for accelerations.
    actuated : sequence of str, optional
        Of "closed_inverse_dynamics": the joints with actuators, which must be able to give the
        mechanism every motion.
    minimise : {"effort", "constraint"} or mapping of str to float, optional
        Of the same: the choice among several solutions, as in `System.closed_inverse_dynamics`.
    parameters : iterable of str, or mapping of str to str
        Parameters that stay free, by their names in ``system.parameters``, such as
        "bodies.rod.mass", with an index for one entry, "bodies.rod.com[2]"; a mapping gives labels
        to them, and those with one label are one input. Each is an input with its label, "." and
        "[" written as "_": a number, a vector, or a matrix; of moments the upper triangle is read,
        of a pose the upper three rows.

    Returns
    -------
    casadi.Function
        Inputs in this order: the vectors above, the parameters, and the time ``t`` where the result
        depends on it; the output has the name of the evaluation. "hybrid_dynamics" has
        ``hybrid_vdot`` and ``hybrid_tau``, "solve_dynamics" ``vdot`` and ``multipliers``,
        "closed_inverse_dynamics" ``efforts`` and ``multipliers``. ``poses`` are side by side,
        (4, 4 (bodies + 1)), in the order of ``system.body_names``; twists and their rates are rows,
        those of an order of ``body_derivatives`` below those of the order before.

    Raises
    ------
    UsageError
        If there is no such evaluation; if actuators cannot give every motion; if a joint, a
        prescribed motion or a force cannot be traced, or a parameter cannot stay free (what curves
        are given at, whole poses in forces, several axes of one member of a composite joint, or an
        axis beside a member in Python, the screw of a joint that only slides, the pitch of a
        helical planar joint, the turn of a joint that does not move): by name.
    NameUnknownError
        If there is no such body or parameter.

    Notes
    -----
    Equal to what the system computes but for rounding. Where kernels choose a series next to a zero
    angle, the function has ``if_else``, both parts with finite derivatives. Quaternions are
    normalised: derivatives along their length are zero. Comparisons in forces (stops, functions in
    Python) become ``if_else`` as well. The square root has the derivative zero at zero.

    In "forward_dynamics" and "solve_dynamics" prescribed joints follow their motions, whatever q
    and v say of them; the others take q, v and vdot as they are given. Beyond a table there is no
    value (NaN).

    Dynamics of a closed mechanism leave out redundant rows of its constraints, as they are
    beside the reference configuration; they are no numbers in singular configurations. For q and v
    beside the constraints they keep their rates, as without stabilisation. Multipliers are the
    least ones, as those of the system. Rows of constraints are
    scaled by the length of the system as it is, whatever its places are.

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
    arguments, compute = read_evaluation(
        what, system, evaluation, body=body, prescribed=prescribed, order=order, actuated=actuated,
        minimise=minimise,
    )  # fmt: skip
    free = read_parameters(what, system, parameters)
    casadi = imported(what, "casadi")
    trace = Trace(what, system, free, smooth=True)
    vectors = trace.vectors(arguments)
    results = compute(trace, vectors)
    symbols: dict[str, Any] = {}
    inputs: dict[Any, Any] = {}
    for name in arguments:
        symbols[name] = casadi.SX.sym(name, len(vectors[name]))
        inputs |= {x: symbols[name][k] for k, x in enumerate(vectors[name])}
    for name, each in _inputs_of(what, arguments, free).items():
        symbols[name] = casadi.SX.sym(name, *(each.shape or (1,)))
    for each, traced in zip(free, trace.parameters, strict=True):
        symbol = symbols[_identifier(each.label)]
        for entry, x in zip(each.entries, traced, strict=True):
            inputs[x] = symbol[entry[-1] if len(entry) == 1 else entry] if each.shape else symbol
    outputs = [x for result in results.values() for x in result.ravel()]
    if trace.t in reachable(outputs):
        inputs[trace.t] = symbols["t"] = casadi.SX.sym("t")
    made = iter(replay(what, outputs, inputs, _operations(casadi), casadi.SX))
    matrices = [_matrix(casadi, made, result.shape) for result in results.values()]
    return casadi.Function(evaluation, [*symbols.values()], matrices, [*symbols], [*results])


def _matrix(casadi: Any, numbers: Iterator[Any], shape: tuple[int, ...]) -> Any:
    """Return the next numbers as a matrix; poses (count, 4, 4) side by side, (4, 4 count)."""
    if len(shape) == 3:
        return casadi.horzcat(*(_matrix(casadi, numbers, shape[1:]) for _ in range(shape[0])))
    height, width = shape if len(shape) == 2 else (*shape, 1)
    entries = casadi.vertcat(*itertools.islice(numbers, height * width))
    return entries.reshape((width, height)).T


def _inputs_of(what: str, arguments: tuple[str, ...], free: tuple[Free, ...]) -> dict[str, Free]:
    """Return the inputs for parameters by name: one for all that have the same label."""
    found: dict[str, Free] = {}
    for each in free:
        name = _identifier(each.label)
        if name in (*arguments, "t") or not name[:1].isalpha():
            raise UsageError(
                f"{what}: a parameter cannot have the label {each.label!r}, which is no name of an "
                f"input, or that of another; give it a label, parameters={{{each.path!r}: ...}}."
            )
        if found.setdefault(name, each).shape != each.shape:
            raise UsageError(
                f"{what}: {found[name].path!r} and {each.path!r} have the label {each.label!r} and "
                f"different shapes; give them two."
            )
    return found


def _identifier(label: str) -> str:
    """Return a label as CasADi and C take it."""
    return re.sub(r"_+", "_", re.sub(r"\W", "_", label, flags=re.ASCII)).strip("_")


def _operations(casadi: Any) -> dict[str, Any]:
    """Return CasADi's functions by their names on a tape."""
    holds = {"<": casadi.lt, "<=": casadi.le}
    names = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
             "arccosh": "acosh", "arctanh": "atanh"}  # fmt: skip
    found = {
        name: getattr(casadi, names.get(name, name))
        for name in ELEMENTARY
        if hasattr(casadi, names.get(name, name))
    }
    return {
        **ARITHMETIC,
        **found,
        "pow": casadi.power,
        "arctan2": casadi.atan2,
        "cbrt": lambda x: casadi.sign(x) * casadi.power(casadi.fabs(x), 1.0 / 3.0),
        # the derivative at zero is zero, not infinite: |u| u has one there
        "sqrt": lambda x: (x != 0) * casadi.sqrt(x + (x == 0)),
        "where": lambda sign, a, b, x, y: casadi.if_else(holds[sign](a, b), x, y),
    }

"""Equations of motion of a small mechanism as expressions of sympy."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, final

import numpy as np

from mbkit.bridges.evaluations import check_system
from mbkit.bridges.expressions import exact, expressions
from mbkit.bridges.reading import read_evaluation
from mbkit.bridges.terms import bias_less_forces
from mbkit.errors import UsageError, check_switch
from mbkit.extras import extra_package
from mbkit.tracing.parameters import Free, read_parameters
from mbkit.tracing.trace import Trace

if TYPE_CHECKING:
    from mbkit.systems import System

_WHAT = "symbolic"

#: Letters of parameters in expressions; others have the name of their field.
_LETTERS = {"mass": "m", "com": "c", "moment_about_com": "Theta", "gravity": "g"}


def symbolic(
    system: System,
    *,
    parameters: Iterable[str] | Mapping[str, str] = (),
    simplify: bool = True,
) -> SymbolicSystem:
    """Return the equations of motion of a small mechanism as expressions of sympy.

    They come from the kernels that compute numbers, run once on numbers that record the
    operations on them.

    Parameters
    ----------
    system : System
        A tree of any joints, or a closed mechanism; some five bodies.
    parameters : iterable of str, or mapping of str to str
        Parameters that stay symbols, by their names in ``system.parameters``, such as
        "bodies.rod.mass", with an index for one entry, "bodies.rod.com[2]"; a mapping names their
        symbols. Two parameters with one name are one symbol.
    simplify : bool
        Whether each entry is written in the shortest of some ways.

    Returns
    -------
    SymbolicSystem
        Its methods return expressions.

    Raises
    ------
    UsageError
        If a joint, a force or the inertia of a body cannot be traced, or a parameter cannot stay
        free (see `casadi_function`): by name.
    NameUnknownError
        If there is no such parameter.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(0.1 + 0.2, (0, 0, -2.0))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    >>> system = mech.assemble()
    >>> mb.symbolic(system).equations()
    [Eq(1.2*vdot1 + 5.886*sin(q1), tau1)]
    >>> free = {"bodies.bob.mass": "m", "bodies.bob.com[2]": "h", "gravity[2]": "g"}
    >>> mb.symbolic(system, parameters=free).equations()
    [Eq(g*h*m*sin(q1) + h**2*m*vdot1, tau1)]
    """
    check_system(_WHAT, system, dynamic=False)
    check_switch(f"{_WHAT}: simplify", simplify)
    free = read_parameters(_WHAT, system, parameters)
    return SymbolicSystem(system, free, bool(simplify))


@final
class SymbolicSystem:
    """Expressions of sympy for a system; `symbolic` makes it.

    Attributes
    ----------
    system : System
        The system.
    q, v, vdot, tau : sympy.Matrix
        Columns of symbols ``q1``, ``v1``, ``vdot1``, ``tau1``, ..., in the order of
        ``system.position_names`` and ``system.velocity_names``.
    multipliers : sympy.Matrix
        Column of symbols ``lambda1``, ..., one for each row of the constraints.
    t : sympy.Symbol
        The time.
    parameters : dict of str to Symbol or sympy.Matrix
        Symbols of the parameters that stay free.
    """

    def __init__(self, system: System, free: tuple[Free, ...], simplify: bool) -> None:
        self._sympy = sympy = extra_package("sympy", f"{_WHAT} needs sympy", "symbolic")
        self.system, self._simplify = system, simplify
        self._trace = Trace(_WHAT, system, free, smooth=False)
        self.q = self._column("q", system.nq)
        self.v = self._column("v", system.nv)
        self.vdot = self._column("vdot", system.nv)
        self.tau = self._column("tau", system.nv)
        self.multipliers = self._column("lambda", system.num_velocity_constraints)
        self.t = sympy.Symbol("t", real=True)
        self._inputs = {**dict(zip(self._trace.q, self.q, strict=True))}
        self._inputs |= dict(zip(self._trace.v, self.v, strict=True))
        self._inputs[self._trace.t] = self.t
        self.parameters: dict[str, Any] = {}
        for each, traced in zip(free, self._trace.parameters, strict=True):
            symbols = [sympy.Symbol(name, real=True) for name in _names(each)]
            state = {*self.q, *self.v, *self.vdot, *self.tau, *self.multipliers, self.t}
            taken = state.intersection(symbols)
            if taken:
                raise UsageError(
                    f"{_WHAT}: {each.path!r} cannot have the label {each.label!r}: {taken.pop()} "
                    f"is a symbol of the state; give it another."
                )
            self._inputs |= dict(zip(traced, symbols, strict=True))
            self.parameters[each.label] = _shaped(sympy, each, symbols)

    def __repr__(self) -> str:
        return f"SymbolicSystem({self.system.name!r}, nq={self.system.nq}, nv={self.system.nv})"

    def pose(self, body: str) -> Any:
        """Return the pose C(q) of a body in the world, (4, 4)."""
        return self._poses[self.system.body_index(body)]

    def twist(self, body: str) -> Any:
        """Return the twist of a body in the representation of the system, (6, 1)."""
        return self._evaluated("twist", body=body)

    def jacobian(self, body: str) -> Any:
        """Return the Jacobian J(q) of a body in the representation of the system, (6, nv)."""
        return self._evaluated("jacobian", body=body)

    def mass_matrix(self) -> Any:
        """Return M(q), (nv, nv)."""
        return self._mass_matrix.copy()

    def bias_force(self) -> Any:
        """Return b(q, v), the velocity terms and gravity, (nv, 1)."""
        return self._evaluated("bias_force")

    def generalized_forces(self) -> Any:
        """Return f(t, q, v), the generalized forces of the mechanism, (nv, 1)."""
        return self._evaluated("generalized_forces")

    def kinetic_energy(self) -> Any:
        """Return T(q, v)."""
        return self._evaluated("kinetic_energy")[0]

    def potential_energy(self) -> Any:
        """Return U(t, q), of gravity and of the forces that have one."""
        return self._evaluated("potential_energy")[0]

    def coriolis_matrix(self) -> Any:
        """Return C(q, v) with M-dot - 2 C skew, (nv, nv); see `System.coriolis_matrix`."""
        return self._evaluated("coriolis_matrix")

    def evaluation(self, name: str, **options: Any) -> Any:
        """Return any evaluation of `casadi_function` by its name, with its options.

        Parameters
        ----------
        name : str
            One that is no derivative, such as "inertial_regressor" or "christoffel".
        **options
            As for `casadi_function`, such as ``body="rod"``.

        Returns
        -------
        sympy.Matrix, sympy.Array or dict of str to these
            A column where the result is a vector, an array where it has more than two axes; by
            name where there are several. Symbols of other vectors than q, v, vdot and tau have
            their names, such as ``p1`` and ``vddot1``; of multipliers ``lambda1``.

        Raises
        ------
        UsageError
            If there is no such evaluation, or it is a derivative; as `casadi_function`.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(2.0, (0, 0, -1.0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> found = mb.symbolic(mech.assemble())
        >>> found.evaluation("inertial_regressor")[:5]
        [0, -10*cos(q1), 0, -10*sin(q1), 0]
        >>> found.evaluation("canonical_forward_dynamics")
        {'v': Matrix([[p1/2]]), 'pdot': Matrix([[tau1 - 20*sin(q1)]])}
        """
        found = self._results(name, options)
        return next(iter(found.values())) if len(found) == 1 else found

    def equations(self) -> list[Any]:
        """Return the equations of motion, a list of ``sympy.Eq``.

        ``M vdot + b - f = tau``; of a closed mechanism ``M vdot + b - f = tau + A^T lambda``, then
        ``A vdot + A' v + ... = 0`` without the rows that are zero in every state. Its loops are
        closed where ``evaluation("constraint_residual")`` is zero.

        UsageError where the system has prescribed joints.

        Examples
        --------
        Two sliders at right angles, and a rod of 2 m between them:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("trammel", gravity=(0, 0, -10))
        >>> point = mb.SpatialInertia.from_com(1.5, (0, 0, 0))
        >>> for name, axis in {"x": (1, 0, 0), "z": (0, 0, 1)}.items():
        ...     slider = mech.add_body(mb.Body(f"slider {name}", point))
        ...     rail = mech.add_joint(mb.PrismaticJoint(name, axis=axis), mech.world, slider)
        >>> rod = mech.add_constraint(mb.Distance("rod", "slider x", "slider z", length=2.0))
        >>> for equation in mb.symbolic(mech.assemble()).equations():
        ...     print(equation)
        Eq(3*vdot1/2, lambda1*q1/2 + tau1)
        Eq(3*vdot2/2 + 15, lambda1*q2/2 + tau2)
        Eq(q1*vdot1/2 + q2*vdot2/2 + (v1**2 + v2**2)/2, 0)
        """
        check_system(_WHAT, self.system, dynamic=True, of_trees=False)
        rest = self._sympy.Matrix(self.system.nv, 1, self._written(bias_less_forces(self._trace)))
        left, right = self._mass_matrix * self.vdot + rest, self.tau
        found = []
        if self.system.arrays.closure:
            A = self._evaluated("constraint_jacobian")
            right = right + A.T * self.multipliers
            rates = A * self.vdot + self._evaluated("constraint_bias")
            found = [(rate, 0) for rate in rates if rate != 0]
        both = [*zip(left, right, strict=True), *found]
        return [self._sympy.Eq(a, b, evaluate=False) for a, b in both]

    def latex(self, expression: Any) -> str:
        """Return an expression in LaTeX, velocities as rates where they are rates of positions.

        Of a list, such as `equations`, one line each.
        """
        names, has_rates = {}, _have_rates(self.system)
        for k in range(self.system.nv):
            rate = rf"\dot{{{'q' if has_rates else 'v'}}}_{{{k + 1}}}"
            if has_rates:
                names[self.v[k]] = rate
                names[self.vdot[k]] = rf"\ddot{{q}}_{{{k + 1}}}"
            else:
                names[self.vdot[k]] = rate
        every = expression if isinstance(expression, list | tuple) else [expression]
        return " \\\\\n".join(self._sympy.latex(each, symbol_names=names) for each in every)

    # ------------------------------------------------------------------------------- private

    def _column(self, letter: str, count: int) -> Any:
        symbols = [self._sympy.Symbol(f"{letter}{k + 1}", real=True) for k in range(count)]
        return self._sympy.ImmutableMatrix(count, 1, symbols)

    @functools.cached_property
    def _mass_matrix(self) -> Any:
        return self._evaluated("mass_matrix")

    @functools.cached_property
    def _poses(self) -> list[Any]:
        return [self._sympy.Matrix(each) for each in self._evaluated("poses")]

    def _evaluated(self, name: str, **options: Any) -> Any:
        (found,) = self._results(name, options).values()
        return found

    def _results(self, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return matrices by name, arrays where there are more than two axes."""
        asked = read_evaluation(_WHAT, self.system, name, options)
        if asked.derived is not None:
            raise UsageError(
                f"{_WHAT}: {name!r} are derivatives, which sympy has of expressions: take "
                f"jacobian(...) or diff(...) of what is differentiated."
            )
        vectors = self._trace.vectors(asked.shapes)
        for each, traced in vectors.items():
            letter = "lambda" if each == "multipliers" else each
            self._inputs |= zip(traced.ravel(), self._column(letter, traced.size), strict=True)
        found = {}
        for result, value in asked.compute(self._trace, vectors).items():
            numbers = self._written(value)
            if value.ndim > 2:
                found[result] = self._sympy.Array(numbers, value.shape)
            else:
                height, width = value.shape if value.ndim == 2 else (len(value), 1)
                found[result] = self._sympy.Matrix(height, width, numbers)
        return found

    def _written(self, result: Any) -> list[Any]:
        constants = {node: exact(self._sympy, x) for x, node in self._trace.constants.items()}
        inputs = self._inputs | constants
        return expressions(self._sympy, _WHAT, [*np.ravel(result)], inputs, self._simplify)


def _have_rates(system: System) -> bool:
    """Return whether velocities are the rates of positions."""
    joints = system.arrays.tree_joints.values()
    return system.nq == system.nv and all(each.positions_add for each in joints)


def _names(each: Free) -> list[str]:
    """Return names of the symbols of a parameter."""
    owner, _, field = each.path.rpartition(".")
    name = each.label
    if name == each.path or "[" in name:
        letter = _LETTERS.get(field, field)
        name = "_".join([letter, *owner.split(".")[1:]])
    elif not name.isidentifier():
        raise UsageError(
            f"{_WHAT}: {each.path!r} cannot have the label {name!r}, which is no name; use "
            f"letters, digits and '_', not a digit first."
        )
    elif not each.shape:
        return [name]
    return [
        "_".join([name, *("xyzw"[k] if k < 3 else str(k) for k in entry)]) for entry in each.entries
    ]


def _shaped(sympy: Any, each: Free, symbols: list[Any]) -> Any:
    if not each.shape:
        return symbols[0]
    if len(each.shape) == 1:
        return sympy.ImmutableMatrix(len(symbols), 1, symbols)
    by_entry = dict(zip(each.entries, symbols, strict=True))
    if each.symmetric:
        by_entry |= {entry[::-1]: x for entry, x in by_entry.items()}
    # the last row of a pose has no symbol
    return sympy.ImmutableMatrix(*each.shape, lambda i, j: by_entry.get((i, j), int(i == j)))

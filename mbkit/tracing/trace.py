"""A system on traced numbers: its kernels run once, and leave a tape."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.autodiff.runs import reason
from mbkit.autodiff.tape import (
    CannotTraceError,
    Number,
    Traced,
    add,
    multiply,
    power,
    value_of,
)
from mbkit.errors import MbkitError, UsageError
from mbkit.kernels.higher_orders.layout import PLAN
from mbkit.systems.memory.workspace import Workspace
from mbkit.tracing.bodies import inertias_by_dimensions, is_of_dimensions
from mbkit.tracing.branches import BranchingTape
from mbkit.tracing.forces import enter_forces
from mbkit.tracing.given_numbers import GivenNumbers
from mbkit.tracing.joint_placements import enter_places, is_of_places
from mbkit.tracing.joints import TracedJoints, enter_constraints
from mbkit.tracing.kernels import ClosedForms, KernelCopies, SmoothForms
from mbkit.tracing.member_axes import enter_member_axes, is_of_member_axis
from mbkit.tracing.memory import Mirror, as_objects, memory_at
from mbkit.tracing.numbers import is_plain, rounded, rounded_fit
from mbkit.tracing.parameters import Free, flat, numbers_of
from mbkit.tracing.polynomials import polynomials
from mbkit.tracing.python_fields import enter_python_fields

if TYPE_CHECKING:
    from mbkit.representations import Representation
    from mbkit.systems import System


class Trace:
    """A system whose kernels run on traced numbers.

    On a tape of its own; or on that of a trace `beside` it, of a system whose joints and velocities
    come first in this one, and in its state.

    Attributes
    ----------
    system : System
        The system.
    is_smooth : bool
        Whether functions with a series next to zero have both, as CasADi needs them.
    tape : BranchingTape
        Where all operations are written down.
    q, v : ndarray of Traced, shape (nq,), (nv,)
        The state.
    t : Traced
        The time.
    wrenches : dict of str to ndarray of Traced, shape (6,)
        Wrenches on bodies from outside, by their names; none unless an evaluation is given some.
    wrench_form : Representation, optional
        Their representation, by default that of the system.
    free, parameters : tuple of Free, list of ndarray of Traced
        The free parameters, and the numbers of each.
    constants : dict of float to Traced
        Numbers of the system for which something exact may stand, if not `is_smooth`.
    workspace, mirror, copies : Workspace, Mirror, KernelCopies
        The memory of the system, its replacement, and the kernels that work on that.
    """

    tape: BranchingTape
    q: Any
    v: Any
    t: Traced
    parameters: list[Any]
    wrenches: dict[str, Any]
    wrench_form: Representation | None

    def __init__(
        self,
        what: str,
        system: System,
        free: Sequence[Free],
        *,
        smooth: bool,
        q: Any = None,
        beside: Trace | None = None,
    ) -> None:
        self.what, self.system, self.free = what, system, tuple(free)
        self.is_smooth = smooth
        self.constants: dict[float, Traced] = {}
        self.wrenches = {} if beside is None else beside.wrenches
        self.wrench_form = None if beside is None else beside.wrench_form
        if beside is None:
            self._begin(_any_configuration(system) if q is None else q)
        else:  # on its tape; further joints stand still in the reference
            self.tape, self.t, self.parameters = beside.tape, beside.t, beside.parameters
            self.constants = beside.constants
            rest = system.reference_configuration()[len(beside.q) :]
            self.q = np.concatenate([beside.q, rest.astype(object)])
            self.v = np.append(beside.v, np.zeros(system.nv - len(beside.v)).astype(object))
        self.workspace = Workspace(system.arrays, system.evaluator)
        self.mirror = Mirror()
        self._kept: list[Any] = []
        maps = (SmoothForms if smooth else ClosedForms)(self.tape)
        self.copies = KernelCopies(self.mirror, maps)
        self.space = self.workspace.address
        self._given = GivenNumbers(self)
        self._fill(free)
        self._given.enter(self)
        enter_places(self)
        enter_member_axes(self)
        enter_python_fields(self)
        joints = TracedJoints(self)
        joints.enter()
        if system.forces:
            enter_forces(self)
        if system.arrays.closure:
            enter_constraints(self, joints)

    def _begin(self, q: Any) -> None:
        """Make the tape and its inputs."""
        self.tape = BranchingTape()
        self.q = self.tape.inputs("q", q.tolist())
        self.v = self.inputs("v", self.system.nv)
        self.t = self.tape.input("t", 0.7)
        self.parameters = [
            self.tape.inputs(f"p{i}", [x or least for x in each.values])
            for i, each in enumerate(self.free)
            for least in (0.0 if self._has_direction(each) else 0.1,)
        ]

    def inputs(self, name: str, size: int) -> Any:
        """Return traced velocities, accelerations or forces, (size,)."""
        return self.tape.inputs(name, np.linspace(0.4, 1.1, size).tolist())

    def vectors(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
        """Return the arrays that a quantity depends on, by names with their shapes."""
        known = {"q": self.q, "v": self.v}
        return {
            name: known[name]
            if name in known
            else self.inputs(name, math.prod(shape)).reshape(shape)
            for name, shape in shapes.items()
        }

    def parameter(self, path: str) -> Any:
        """Return a parameter of the system, those entries that stay free traced."""
        found = np.array(self.system.parameters[path], dtype=np.float64)
        made = found.astype(object) if self.is_smooth else self._leaves(found, 0.0)
        for each, traced in zip(self.free, self.parameters, strict=True):
            for entry, x in zip(each.entries, traced, strict=True):
                if each.path == path:
                    made[entry] = x
        return made

    def sign(self, x: Number) -> Number:
        """Return -1 for negative numbers, else 1; that of its value, if not `is_smooth`."""
        if self.is_smooth:
            return self.tape.where(("<", x, 0.0), -1.0, 1.0)
        return -1.0 if value_of(x) < 0.0 else 1.0

    def new(self, numbers: Any) -> int:
        """Return an address at which kernels find some numbers."""
        from mbkit.kernels.compile import array_address

        self._kept.append(np.zeros(len(numbers)))  # which has the address
        address = int(array_address(self._kept[-1]))
        self.mirror.put(address, numbers)
        return address

    # ------------------------------------------------------------------------------- numbers

    def _fill(self, free: Sequence[Free]) -> None:
        """Put the numbers of the system into the mirror, those that depend on parameters traced."""
        numbers = numbers_of(self.system, self.workspace)
        values = None
        if free:
            values = self._values(len(flat(numbers)))
        start = 0
        for address, array in numbers:
            objects = as_objects(array)
            for name in array.dtype.names or (None,):
                part = array if name is None else array[name]
                if part.dtype != np.float64:
                    continue
                if values is not None or not self.is_smooth:
                    made = part if values is None else values[start : start + part.size]
                    made = made.reshape(part.shape)
                    if not self.is_smooth:
                        made = self._leaves(
                            made, 0.0 if name is None else np.abs(part).max(initial=0.0)
                        )
                    if name is None:
                        objects[...] = made
                    else:
                        objects[name] = made
                start += part.size
            self.mirror.put(address, objects)
        bodies = self.mirror.pointer_at(numbers[0].address)
        bodies["floating"] = 0  # by roots of moments, which are no polynomials

    def _leaves(self, numbers: Any, size: float) -> Any:
        """Return numbers with a node for each that floating point may not have as it is meant.

        Those that are the rounding of others of this size are zero.
        """
        found = np.empty(numbers.shape, dtype=object)
        for k, x in np.ndenumerate(numbers):
            found[k] = self._leaf(x, 1e-15 * max(size, 1.0))
        return found

    def _leaf(self, x: Number, least: float) -> Number:
        if isinstance(x, Traced):
            return x
        x = 0.0 if abs(x) < least else rounded(float(x))
        if is_plain(x):
            return x
        if x not in self.constants:
            self.constants[x] = self.tape.input(f"constant {x!r}", x)
        return self.constants[x]

    def _has_direction(self, each: Free) -> bool:
        """Return whether a parameter is a direction, or a pose, whose zeros have a meaning."""
        of_constraint = each.path.startswith("constraints.") and each.shape != ()
        of_joint = is_of_places(self.system, each) or is_of_member_axis(self.system, each.path)
        return of_joint or of_constraint or each.shape == (4, 4)

    def _is_measured(self, each: Free) -> bool:
        """Return whether it is not known how the numbers of a system depend on a parameter."""
        return not (
            each.path in self._given.paths
            or is_of_places(self.system, each)
            or is_of_member_axis(self.system, each.path)
        )

    def _values(self, count: int) -> Any:
        """Return all numbers, as polynomials of the free parameters except placements."""
        system, numbers = inertias_by_dimensions(self)
        for each, traced in zip(self.free, self.parameters, strict=True):
            if self._is_measured(each) and not is_of_dimensions(self.system, each.path):
                numbers.append((each, traced))
        terms = polynomials(self.what, system, [each for each, _ in numbers])
        symbols = [x for _, traced in numbers for x in traced]
        values = np.zeros(count, dtype=object)
        depending = [term.places for term in terms if term.product]
        fixed = np.ones(count, dtype=bool)
        fixed[np.concatenate([np.zeros(0, dtype=int), *depending])] = False
        for product, places, factors in terms:
            monomial: Number = 1.0
            for k, n in Counter(product).items():
                monomial = multiply(monomial, power(symbols[k], float(n)))
            for j, factor in zip(places, factors.tolist(), strict=True):
                if not self.is_smooth:
                    factor = self._leaf(factor if fixed[j] else rounded_fit(factor), 0.0)
                values[j] = add(values[j], multiply(factor, monomial))
        return values

    # ---------------------------------------------------------------------------- evaluation

    def named(self, name: str, function: Any) -> Callable[..., int]:
        """Return a function whose failures name the object it belongs to."""
        return lambda *arguments: self.refusing(name, lambda: function(*arguments))

    def with_branches(self, function: Any, first: int) -> Callable[..., int]:
        """Return a kernel that is run by every way through its comparisons.

        It writes its arguments from the first output on, which are no numbers where it fails.
        """

        def call(*arguments: Any) -> int:
            parts = arguments[first:]
            before = [part.copy() for part in parts]
            states: list[int] = []

            def run() -> list[Number]:
                for part, value in zip(parts, before, strict=True):
                    part[...] = value
                states.append(int(function(*arguments)))
                return [x if states[-1] == 0 else math.nan for part in parts for x in part]

            found = iter(self.tape.every_way(run))
            for part in parts:
                part[...] = [next(found) for _ in part]
            return min(states)

        return call

    def refusing(self, name: str, call: Callable[[], Any]) -> Any:
        """Return the result of a call; name the joint or the force that cannot be traced."""
        try:
            return call()
        except UsageError:
            raise
        except Exception as error:
            kind, _, own = name.partition(" ")
            remedy = (
                f"use System.without_forces([{own}]), or write it with the functions listed in "
                f"docs/custom-joints.md"
                if kind == "Force"
                else "write it with the functions listed in docs/custom-joints.md and with few "
                "comparisons, or write its rows by yourself"
                if kind == "Constraint"
                else "leave the joint free and take 'hybrid_dynamics', which is given its "
                "acceleration"
                if kind == "Motion"
                else "write its inertia with the functions listed in docs/custom-joints.md, or "
                "leave its dimensions out"
                if kind == "Body"
                else "write its pose with the functions listed in docs/custom-joints.md"
            )
            raise UsageError(
                f"{self.what}: {name} of system '{self.system.name}' cannot be traced: "
                f"{reason(error)}. Remedy: {remedy}."
            ) from error

    def call(
        self,
        function: Any,
        size: int,
        v: Any = None,
        x: Any = None,
        *,
        option: int = 0,
        q: Any = None,
    ) -> Any:
        """Return the result of a kernel of the form of `mbkit.kernels.evaluation_form`, (size,).

        Of the state's q, unless another is given, and of zeros where v and x are left out.
        """
        out = np.zeros(size, dtype=object)
        rest = np.zeros(max(1, self.system.nv), dtype=object)
        made = self.copies.convert(function.function)
        first = self.q if q is None else q
        given = first, rest if v is None else v, rest if x is None else x
        try:
            status = made(self.space, option, *given, out)
        except CannotTraceError as error:
            raise UsageError(
                f"{self.what}: system '{self.system.name}' cannot be traced: {reason(error)}."
            ) from error
        if status != 0:
            raise UsageError(f"{self.what}: kernel {function.function.__name__} reports {status}.")
        return out

    def call_series(
        self,
        function: Any,
        size: int,
        rates: Sequence[Any],
        count: int,
        *,
        body: int = 0,
        code: int = 0,
    ) -> Any:
        """Return the result of a kernel of `mbkit.kernels.higher_orders`, (size,).

        Of the rates v, vdot, ...; for series of `count` terms, a row of `System.body_names`, and
        the number of a representation; without joints in Python.
        """
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.higher_orders.pieces import joint_columns

        pieces = self.system.arrays.joint_pieces
        plan = memory_at(pieces.plan(code, count, body), 1, PLAN)[0]
        self.mirror.put(plan["pieces"], self.mirror.pointer_at(array_address(pieces.table)))
        self.mirror.functions[joint_columns.address] = self.copies.convert(joint_columns.function)
        given = np.concatenate(rates)
        return self.call(function, size, None, given, option=pieces.plan(code, count, body))


def _any_configuration(system: System) -> Any:
    """Return one at which comparisons come out as in most, with closed loops if there are any."""
    q = system.reference_configuration()
    if not system.arrays.closure:
        return system.retract(q, np.random.default_rng(4).uniform(0.3, 1.0, system.ndx))
    with contextlib.suppress(MbkitError):
        q = system.close_loops(q)
    return q

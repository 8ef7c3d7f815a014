"""A system on traced numbers: its kernels run once, and leave a tape."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.differentiation.rules import differentiate
from mbkit.differentiation.runs import numbers as checked_numbers
from mbkit.differentiation.runs import reason
from mbkit.differentiation.tape import CannotTraceError, Number, Traced, add, multiply, power
from mbkit.errors import MbkitError, UsageError
from mbkit.joints import CompositeJoint, Joint
from mbkit.joints.defaults.derivatives import defines, twist_of_pose
from mbkit.systems.memory.workspace import Workspace
from mbkit.tracing.branches import BranchingTape, substituted
from mbkit.tracing.forces import enter_forces
from mbkit.tracing.kernels import ClosedForms, KernelCopies, SmoothForms
from mbkit.tracing.memory import Mirror, as_objects
from mbkit.tracing.numbers import is_plain, rounded, rounded_fit
from mbkit.tracing.parameters import Free, numbers_of, polynomials

if TYPE_CHECKING:
    from mbkit.systems import System


class Trace:
    """A system whose kernels run on traced numbers.

    Attributes
    ----------
    system : System
        The system.
    tape : BranchingTape
        Where all operations are written down.
    q, v : ndarray of Traced, shape (nq,), (nv,)
        The state.
    t : Traced
        The time.
    free, parameters : tuple of Free, list of ndarray of Traced
        What stays free, and the numbers of each.
    constants : dict of float to Traced
        Numbers of the system for which something exact may stand, if not `smooth`.
    workspace, mirror, copies : Workspace, Mirror, KernelCopies
        The memory of the system, what stands for it, and the kernels that work on that.
    """

    def __init__(
        self,
        what: str,
        system: System,
        free: Sequence[Free],
        *,
        smooth: bool,
        q: Any = None,
    ) -> None:
        self.what, self.system, self.free = what, system, tuple(free)
        self._smooth = smooth
        self.constants: dict[float, Traced] = {}
        self.tape = BranchingTape()
        self.q = self.tape.inputs("q", (_any_configuration(system) if q is None else q).tolist())
        self.v = self.inputs("v")
        self.t = self.tape.input("t", 0.7)
        self.parameters = [
            self.tape.inputs(f"p{i}", [x or 0.1 for x in each.values])
            for i, each in enumerate(free)
        ]
        self.workspace = Workspace(system.arrays, system.evaluator)
        self.mirror = Mirror()
        maps = (SmoothForms if smooth else ClosedForms)(self.tape)
        self.copies = KernelCopies(self.mirror, maps)
        self.space = self.workspace.address
        self._fill(free)
        self._enter_joints()
        if system.forces:
            enter_forces(self)
        if system.arrays.closure:
            self._enter_constraints()

    def inputs(self, name: str) -> Any:
        """Return traced velocities, accelerations or forces (nv,)."""
        return self.tape.inputs(name, np.linspace(0.4, 1.1, self.system.nv).tolist())

    def vectors(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the vectors that a quantity depends on, by name."""
        known = {"q": self.q, "v": self.v}
        return {name: known.get(name) if name in known else self.inputs(name) for name in names}

    # ------------------------------------------------------------------------------- numbers

    def _fill(self, free: Sequence[Free]) -> None:
        """Put the numbers of the system into the mirror, those that depend on parameters traced."""
        numbers = numbers_of(self.system, self.workspace)
        values = None
        if free:
            found = polynomials(self.what, self.system, free)
            symbols = [x for each in self.parameters for x in each]
            values = self._values(found, symbols)
        start = 0
        for address, array in numbers:
            objects = as_objects(array)
            for name in array.dtype.names or (None,):
                part = array if name is None else array[name]
                if part.dtype != np.float64:
                    continue
                if values is not None or not self._smooth:
                    made = part if values is None else values[start : start + part.size]
                    made = made.reshape(part.shape)
                    if not self._smooth:
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

    def _values(self, found: Any, symbols: Sequence[Number]) -> Any:
        values = np.zeros(found.coefficients.shape[1], dtype=object)
        depends = [row != 0.0 for p, row in zip(*found, strict=True) if any(p)]
        fixed = ~np.any(depends, axis=0)
        for exponents, row in zip(found.powers, found.coefficients, strict=True):
            product: Number = 1.0
            for x, k in zip(symbols, exponents, strict=True):
                product = multiply(product, power(x, float(k)))
            for j in np.flatnonzero(row):
                factor = float(row[j])
                if not self._smooth:
                    factor = self._leaf(factor if fixed[j] else rounded_fit(factor), 0.0)
                values[j] = add(values[j], multiply(factor, product))
        return values

    # -------------------------------------------------------------------------------- joints

    def _enter_joints(self) -> None:
        from mbkit.kernels.joints import python_joint

        functions = self.mirror.functions
        self._joints: dict[int, Joint] = {}
        for row, joint in enumerate(self.system.arrays.joints):
            if joint is None or joint.screw_form() is not None:
                continue
            for each in _members(joint):
                kernels: Any = each.kernels()
                for operation in ("motion", "retract", "rates"):
                    kernel = getattr(kernels, operation, None)
                    if kernel is not None:
                        made = self._straight(self.copies.convert(kernel.function))
                        functions[kernel.address] = self._named(f"Joint {each.name!r}", made)
            if joint.kernels() is None:
                address = int(self.workspace.slots[row].memory.ctypes.data)
                self._joints[address] = joint
                self.mirror.put(
                    self.system.arrays.bodies[row]["parameters"], np.zeros(1, dtype=object)
                )
        functions[python_joint.motion.address] = self._move_python_joint
        functions[python_joint.retract.address] = self._retract_python_joint
        functions[python_joint.rates.address] = self._rates_of_python_joint

    def _move_python_joint(
        self, slot: int, _parameters: Any, q: Any, v: Any, R: Any, p: Any, S: Any, bias: Any
    ) -> int:
        joint = self._joints[slot]
        nv = joint.num_velocities
        own_q, own_v = q[: joint.num_positions].copy(), v[:nv].copy()

        def run() -> list[Number]:
            T, columns, rate = self._motion_of(joint, own_q, own_v)
            return [*T[:3, :3].ravel(), *T[:3, 3], *columns.T.ravel(), *rate]

        found = self.refusing(f"Joint {joint.name!r}", lambda: self.tape.every_way(run))
        R[:9], p[:3] = found[:9], found[9:12]
        S[: 6 * nv], bias[:6] = found[12 : 12 + 6 * nv], found[12 + 6 * nv :]
        return 0

    def _retract_python_joint(self, slot: int, _parameters: Any, q: Any, dx: Any, out: Any) -> int:
        joint = self._joints[slot]
        given = q[: joint.num_positions].copy(), dx[: joint.ndx].copy()
        return self._by_method(joint, "retract", given, out, joint.num_positions)

    def _rates_of_python_joint(self, slot: int, _parameters: Any, q: Any, v: Any, out: Any) -> int:
        joint = self._joints[slot]
        given = q[: joint.num_positions].copy(), v[: joint.num_velocities].copy()
        return self._by_method(joint, "rates", given, out, joint.ndx)

    def _by_method(self, joint: Joint, method: str, given: Any, out: Any, size: int) -> int:
        """Write what a method of a joint in Python returns."""

        def run() -> list[Number]:
            return [*checked_numbers(getattr(self.copies.convert(joint), method)(*given), (size,))]

        out[:size] = self.refusing(f"Joint {joint.name!r}", lambda: self.tape.every_way(run))
        return 0

    def _motion_of(self, joint: Joint, q: Any, v: Any) -> tuple[Any, Any, Any]:
        """Return T, S and S-dot v of a joint in Python, as its methods or its pose say."""
        shadow = self.copies.convert(joint)
        if defines(joint, "motion_subspace") and defines(joint, "bias"):
            T, S = shadow.pose(q), shadow.motion_subspace(q)
            bias = checked_numbers(shadow.bias(q, v), (6,))
            return checked_numbers(T, (4, 4)), checked_numbers(S, (6, len(v))), bias
        rest = [0.0] * joint.ndx
        X, Y = self.tape.inputs("x", rest), self.tape.inputs("y", rest)
        T = checked_numbers(shadow.pose(q), (4, 4))
        moved = shadow.retract(q, X)
        far = checked_numbers(shadow.pose(shadow.retract(moved, Y)), (4, 4))
        W = checked_numbers(shadow.rates(moved, v), (len(rest),))
        # as in `mbkit.joints.defaults.derivatives`: S v with a constant v, then its rate
        momentary = twist_of_pose(far, dict(zip(Y, W, strict=True)))
        if len(rest) == len(v):
            columns = [twist_of_pose(far, {y: 1.0}) for y in Y]
        else:
            columns = [differentiate(momentary, {v_k: 1.0}) for v_k in v]
        bias = differentiate(momentary, dict(zip(X, W, strict=True)))
        given = [number for column in columns for number in column] + bias
        given = substituted(given, dict.fromkeys((*X, *Y), 0.0))
        S = np.array(given[: 6 * len(v)], dtype=object).reshape(len(v), 6).T
        if defines(joint, "motion_subspace"):
            S = checked_numbers(shadow.motion_subspace(q), (6, len(v)))
        rate: Any = given[6 * len(v) :]
        if defines(joint, "bias"):
            rate = checked_numbers(shadow.bias(q, v), (6,))
        return T, S, rate

    def _enter_constraints(self) -> None:
        """Let loop joints and constraints be called, but those that search for a configuration."""
        functions, copies, arrays = self.mirror.functions, self.copies, self.system.arrays.closure
        for joint in arrays.joints:
            kernels: Any = None if joint is None else joint.kernels()
            for operation in ("motion", "configuration_from_pose", "constraint_wrenches"):
                kernel = getattr(kernels, operation, None)
                if kernel is not None and joint is not None and joint.screw_form() is None:
                    made = self._straight(copies.convert(kernel.function))
                    functions[kernel.address] = self._named(f"Joint {joint.name!r}", made)
        for row, joint in zip(arrays.joint_rows, arrays.joints, strict=True):
            for entry in ("", "wrench_", "configuration_from_pose_"):
                address = int(row[f"{entry}parameters"])
                if joint is not None and address and joint.kernels() is not None:
                    numbers = np.asarray(joint.parameters(), dtype=np.float64)
                    self.mirror.put(address, numbers.astype(object))
        for constraint in arrays.objects:
            own: Any = constraint.kernel()
            if own is not None:
                made = self._straight(copies.convert(own.function))
                functions[own.address] = self._named(f"Constraint {constraint.name!r}", made)

    # ---------------------------------------------------------------------------- evaluation

    def _named(self, name: str, function: Any) -> Callable[..., int]:
        return lambda *arguments: self.refusing(name, lambda: function(*arguments))

    def _straight(self, function: Any) -> Callable[..., int]:
        return lambda *arguments: self.tape.one_way(lambda: function(*arguments))

    def refusing(self, name: str, call: Callable[[], Any]) -> Any:
        """Return what a call returns; name the joint or the force that cannot be traced."""
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
                else "take a constraint without branches, or write its rows by yourself"
                if kind == "Constraint"
                else "write its pose with the functions listed in docs/custom-joints.md"
            )
            raise UsageError(
                f"{self.what}: {name} of system '{self.system.name}' cannot be traced: "
                f"{reason(error)}. Remedy: {remedy}."
            ) from error

    def call(self, function: Any, size: int, v: Any = None, x: Any = None, option: int = 0) -> Any:
        """Return what a kernel of the form of `mbkit.kernels.evaluation` writes, (size,)."""
        out = np.zeros(size, dtype=object)
        rest = np.zeros(max(1, self.system.nv), dtype=object)
        made = self.copies.convert(function.function)
        given = self.q, rest if v is None else v, rest if x is None else x
        try:
            state = made(self.space, option, *given, out)
        except CannotTraceError as error:
            raise UsageError(
                f"{self.what}: system '{self.system.name}' cannot be traced: {reason(error)}."
            ) from error
        if state != 0:
            raise UsageError(f"{self.what}: kernel {function.function.__name__} reports {state}.")
        return out


def _any_configuration(system: System) -> Any:
    """Return one at which comparisons come out as in most, with closed loops if there are any."""
    q = system.reference_configuration()
    if not system.arrays.closure:
        return system.retract(q, np.random.default_rng(4).uniform(0.3, 1.0, system.ndx))
    with contextlib.suppress(MbkitError):
        q = system.close_loops(q)
    return q


def _members(joint: Joint) -> list[Joint]:
    """Return a joint and the joints that it is made of."""
    found = [joint]
    if isinstance(joint, CompositeJoint):
        for member in joint.members:
            found += _members(member)
    return found

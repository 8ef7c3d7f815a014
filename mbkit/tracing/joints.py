"""Joints and constraints of a traced system: replacements of their kernels and methods."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.autodiff.rules import differentiate
from mbkit.autodiff.runs import numbers as checked_numbers
from mbkit.autodiff.tape import Number, Traced, value_of
from mbkit.errors import UsageError
from mbkit.joints import CompositeJoint, Joint
from mbkit.joints.bases.screw_motion import ScrewMotion
from mbkit.joints.defaults.canonical_frame import CanonicalFrame
from mbkit.joints.defaults.derivatives import traced_motion
from mbkit.joints.defaults.overriding import moves_as
from mbkit.joints.defaults.own_methods import defines
from mbkit.kernels.constraints import layout
from mbkit.kernels.layout import DONE, SLOT_STATUS
from mbkit.systems.memory.callbacks import callback_address
from mbkit.tracing.branches import substituted
from mbkit.tracing.least_squares import least_squares
from mbkit.tracing.memory import as_objects

if TYPE_CHECKING:
    from mbkit.tracing.trace import Trace

__all__ = ["TracedJoints", "enter_constraints"]


#: Which argument of a joint's compiled functions is the first that they write.
_FIRST_OUTPUT = {
    "motion": 4, "retract": 4, "rates": 4, "dexp_inv": 4, "configuration_from_pose": 3,
    "constraint_wrenches": 3,
}  # fmt: skip


class TracedJoints:
    """The joints of the tree that are no screws, and those in Python by their slots."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._joints: dict[int, Joint] = {}

    def enter(self) -> None:
        """Let them be called."""
        from mbkit.kernels.joints import python_joint

        functions = self.trace.mirror.functions
        for row, joint in enumerate(self.trace.system.arrays.joints):
            if joint is None or joint.screw_form() is not None:
                continue
            for each in _members(joint):
                # within others a screw has the form of a product of one
                form = each.in_joint_frame if moves_as(each, ScrewMotion) else each
                kernels: Any = form.kernels()
                for operation in ("motion", "retract", "rates", "dexp_inv"):
                    kernel = getattr(kernels, operation, None)
                    if kernel is not None:
                        copy = self.trace.copies.convert(kernel.function)
                        made = self.trace.with_branches(copy, _FIRST_OUTPUT[operation])
                        functions[kernel.address] = self.trace.named(f"Joint {each.name!r}", made)
            if joint.kernels() is None:
                address = int(self.trace.workspace.slots[row].memory.ctypes.data)
                self._joints[address] = joint
                self.trace.mirror.put(
                    self.trace.system.arrays.bodies[row]["parameters"], np.zeros(1, dtype=object)
                )
        functions[python_joint.motion.address] = self._move_python_joint
        functions[python_joint.configuration_from_pose.address] = self._locate_python_joint
        functions[python_joint.constraint_wrenches.address] = self._wrenches_of_python_joint
        functions[python_joint.retract.address] = self._retract_python_joint
        functions[python_joint.rates.address] = self._rates_of_python_joint
        functions[python_joint.dexp_inv.address] = self._dexp_inv_of_python_joint

    def _move_python_joint(
        self, slot: int, _parameters: Any, q: Any, v: Any, R: Any, p: Any, S: Any, bias: Any
    ) -> int:
        joint = self._joints[slot]
        nv, frame = joint.num_velocities, CanonicalFrame.of(joint)
        own_q, own_v = q[: joint.num_positions].copy(), v[:nv].copy()

        def run() -> list[Number]:
            T, columns, rate = self._motion_of(joint, own_q, own_v)
            if frame is not None:
                T, columns, rate = frame.pose(T), frame.to_twist @ columns, frame.to_twist @ rate
            return [*T[:3, :3].ravel(), *T[:3, 3], *columns.T.ravel(), *rate]

        found = self.trace.refusing(f"Joint {joint.name!r}", lambda: self.trace.tape.every_way(run))
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

    def _dexp_inv_of_python_joint(
        self, slot: int, _parameters: Any, x: Any, w: Any, out: Any
    ) -> int:
        """Write the xdot with dq/dx xdot = dq/dy w of q = retract(retract(q0, x), y), y = 0."""
        joint, tape = self._joints[slot], self.trace.tape
        own_x, own_w = x[: joint.ndx].copy(), w[: joint.ndx].copy()
        X, Y = tape.inputs("x", [*map(value_of, own_x)]), tape.inputs("y", [0.0] * joint.ndx)

        def run() -> list[Number]:
            shadow = self.trace.copies.convert(joint)
            q = [*shadow.retract(shadow.retract(shadow.neutral(), X), Y)]
            columns = [differentiate(q, {x_k: 1.0}) for x_k in X]
            moved = differentiate(q, dict(zip(Y, own_w, strict=True)))
            J = np.array(columns, dtype=object).reshape(joint.ndx, len(q)).T
            return [*least_squares(J, np.array(moved, dtype=object))]

        def every_way() -> list[Number]:
            given = dict(zip(X, own_x, strict=True)) | dict.fromkeys(Y, 0.0)
            return substituted(tape.every_way(run), given)

        out[: joint.ndx] = self.trace.refusing(f"Joint {joint.name!r}", every_way)
        return 0

    def _locate_python_joint(self, slot: int, _parameters: Any, T: Any, out: Any) -> int:
        joint = self._joints[slot]
        pose = np.eye(4).astype(object)
        pose[:3, :3], pose[:3, 3] = T[:9].reshape(3, 3), T[9:12]
        frame = CanonicalFrame.of(joint)
        pose = pose if frame is None else frame.in_joint_frame(pose)
        return self._by_method(joint, "configuration_from_pose", (pose,), out, joint.num_positions)

    def _wrenches_of_python_joint(self, slot: int, _parameters: Any, q: Any, out: Any) -> int:
        """Write the joint's own wrenches, or normals to its motion subspace, as `Joint` does."""
        from mbkit.kernels.joints.reciprocal_wrenches import complement

        joint, trace = self._joints[slot], self.trace
        nv, own = joint.num_velocities, q[: joint.num_positions].copy()
        frame = CanonicalFrame.of(joint)

        def to_wrench(W: Any) -> Any:
            return W if frame is None else frame.to_wrench @ W

        def run() -> list[Number]:
            if defines(joint, "constraint_wrenches"):
                found = trace.copies.convert(joint).constraint_wrenches(own)
                return [*to_wrench(checked_numbers(found, (6, 6 - nv))).T.ravel()]
            columns = self._motion_of(joint, own, np.zeros(nv, dtype=object))[1].T.flatten()
            W = np.zeros(6 * (6 - nv), dtype=object)
            trace.copies.convert(complement)(columns, nv, W)
            return [*to_wrench(W.reshape(6 - nv, 6).T).T.ravel()]

        found = trace.refusing(f"Joint {joint.name!r}", lambda: trace.tape.every_way(run))
        out[: len(found)] = found
        return 0

    def enter_loop_joints(self) -> None:
        """Let loop joints in Python be called, if they have `configuration_from_pose`."""
        trace, arrays = self.trace, self.trace.system.arrays.closure
        for k, slot in trace.workspace.loop_slots.items():
            joint, row = slot.joint, arrays.joint_rows[k]
            if not defines(joint, "configuration_from_pose"):
                raise _searched(trace, joint, "give it the method 'configuration_from_pose', or ")
            self._joints[int(slot.memory.ctypes.data)] = joint
            trace.mirror.put(row["parameters"], np.zeros(1, dtype=object))

    def _by_method(self, joint: Joint, method: str, given: Any, out: Any, size: int) -> int:
        """Write the result of a method of a joint in Python."""

        def run() -> list[Number]:
            return [
                *checked_numbers(getattr(self.trace.copies.convert(joint), method)(*given), (size,))
            ]

        out[:size] = self.trace.refusing(
            f"Joint {joint.name!r}", lambda: self.trace.tape.every_way(run)
        )
        return 0

    def _motion_of(self, joint: Joint, q: Any, v: Any) -> tuple[Any, Any, Any]:
        """Return T, S and S-dot v of a joint in Python, by its methods or its pose."""
        shadow = self.trace.copies.convert(joint)
        if _define(joint, "motion_subspace") and _define(joint, "bias"):
            T, S = shadow.pose(q), shadow.motion_subspace(q)
            bias = checked_numbers(shadow.bias(q, v), (6,))
            return checked_numbers(T, (4, 4)), checked_numbers(S, (6, len(v))), bias
        rest = [0.0] * joint.ndx
        X, Y = self.trace.tape.inputs("x", rest), self.trace.tape.inputs("y", rest)
        T, columns, bias = traced_motion(shadow, q, v, (X, Y))
        given = substituted([*columns, *bias], dict.fromkeys((*X, *Y), 0.0))
        S = np.array(given[: 6 * len(v)], dtype=object).reshape(len(v), 6).T
        if _define(joint, "motion_subspace"):
            S = checked_numbers(shadow.motion_subspace(q), (6, len(v)))
        rate: Any = given[6 * len(v) :]
        if _define(joint, "bias"):
            rate = checked_numbers(shadow.bias(q, v), (6,))
        return T, S, rate


def _searched(trace: Trace, joint: Joint, remedy: str = "") -> UsageError:
    """Return the error about a loop joint without `configuration_from_pose`."""
    return UsageError(
        f"{trace.what}: Joint {joint.name!r} of system '{trace.system.name}' closes a loop, and "
        f"its configuration is searched for, which cannot be traced; {remedy}let another joint "
        f"close the loop, RelativeCoordinates(loop_joints=[...])."
    )


def _refusing_searches(trace: Trace) -> dict[int, Callable[..., int]]:
    """Return replacements of the search for configurations of compiled joints, by address."""

    def refuse(joint: Joint) -> Callable[..., int]:
        def call(*_arguments: Any) -> int:
            if moves_as(joint, CompositeJoint):
                raise _searched(trace, joint)
            raise _searched(trace, joint, "give it a compiled 'configuration_from_pose', or ")

        return call

    arrays = trace.system.arrays.closure
    compiled = (
        (row, joint)
        for row, joint in zip(arrays.joint_rows, arrays.joints, strict=True)
        if joint is not None and joint.kernels() is not None
    )
    return {
        int(row["configuration_from_pose"]): refuse(joint)
        for row, joint in compiled
        if getattr(joint.kernels(), "configuration_from_pose", None) is None
        and row["configuration_from_pose"]
    }


def enter_constraints(trace: Trace, joints: TracedJoints) -> None:
    """Let loop joints and constraints be called, but those that search for a configuration."""
    from mbkit.kernels.constraints.evaluate import constraint_rows
    from mbkit.kernels.constraints.kinds import python_constraint

    functions, copies, arrays = trace.mirror.functions, trace.copies, trace.system.arrays.closure
    functions[constraint_rows.address] = copies.convert(constraint_rows.function)
    for joint in arrays.joints:
        kernels: Any = None if joint is None else joint.kernels()
        for operation in ("motion", "configuration_from_pose", "constraint_wrenches"):
            kernel = getattr(kernels, operation, None)
            if kernel is not None and joint is not None and joint.screw_form() is None:
                made = trace.with_branches(
                    copies.convert(kernel.function), _FIRST_OUTPUT[operation]
                )
                functions[kernel.address] = trace.named(f"Joint {joint.name!r}", made)
    for row, joint in zip(arrays.joint_rows, arrays.joints, strict=True):
        for entry in ("", "wrench_", "configuration_from_pose_"):
            address = int(row[f"{entry}parameters"])
            known = trace.mirror.knows(address)
            if joint is not None and address and not known and joint.kernels() is not None:
                numbers = np.asarray(joint.parameters(), dtype=np.float64)
                trace.mirror.put(address, numbers.astype(object))
    joints.enter_loop_joints()
    functions.update(_refusing_searches(trace))
    steps = _enter_python_constraints(trace)
    for constraint in arrays.objects:
        own: Any = constraint.kernel() or python_constraint.evaluate
        functions[own.address] = _with_branches(trace, copies.convert(own.function), steps)


def _enter_python_constraints(trace: Trace) -> dict[Traced, float]:
    """Let constraints in Python be called; return inputs of the tape for which zeros are to be put.

    Their derivatives are taken by these: see `ConstraintDerivatives.traced`.
    """
    closure: Any = trace.workspace.closure
    arrays = trace.system.arrays.closure
    functions, address = trace.mirror.functions, callback_address("evaluate")
    others = functions.get(address)
    calls: dict[int, Callable[[], None]] = {}
    zeros: dict[Traced, float] = {}
    for k, slot in closure.slots.items():
        derivatives: Any = arrays.derivatives[k - arrays.num_joints]
        steps = tuple(trace.tape.inputs(f"{n}{k}", [0.0] * derivatives.motion.ndx) for n in "xy")
        zeros.update(dict.fromkeys(np.concatenate(steps), 0.0))
        at = int(slot.memory.ctypes.data)
        trace.mirror.put(at, as_objects(slot.memory))
        calls[at] = functools.partial(_evaluate, trace, slot, derivatives, steps)

    def call(slot: int) -> int:
        if slot in calls:
            calls[slot]()
            return 0
        assert others is not None
        return others(slot)

    functions[address] = call
    return zeros


def _evaluate(trace: Trace, slot: Any, derivatives: Any, steps: tuple[Any, ...]) -> None:
    """Write the results of a constraint in Python for the arguments in its slot."""
    memory = trace.mirror.floats_at(slot.memory.ctypes.data, len(slot.memory))
    counts = np.cumsum([each.size for each in slot._arguments])
    *given, said = np.split(memory[layout.OWN_VECTORS :], counts)
    given[2].reshape(-1, 4, 4)[:, 3] = [0.0, 0.0, 0.0, 1.0]
    said[:] = derivatives.traced(trace.copies, (memory[layout.OWN_TIME], *given), steps)
    memory[SLOT_STATUS] = DONE


def _with_branches(trace: Trace, function: Any, steps: dict[Traced, float]) -> Callable[..., int]:
    """Return a function that writes rows of a constraint by every way through its comparisons.

    They have no value, NaN, on ways on which it fails, such as beyond the ends of a table. For
    `steps` zeros are put.
    """
    memory: Any = trace.workspace.closure
    record, closure = memory.record[0], trace.system.arrays.closure
    counts = {
        "residual": closure.num_position_rows, "rate": closure.num_rows, "bias": closure.num_rows,
        "wrenches": closure.num_wrenches, "coefficients": closure.num_coefficients,
    }  # fmt: skip

    def call(space: int, c: int, t: Any, q: Any, v: Any) -> int:
        parts = [trace.mirror.floats_at(record[key], count) for key, count in counts.items()]
        before = [part.copy() for part in parts]

        def run() -> list[Number]:
            for part, value in zip(parts, before, strict=True):
                part[...] = value
            good = function(space, c, t, q, v) == 0
            return [number if good else math.nan for part in parts for number in part]

        def every_way() -> list[Number]:
            return substituted(trace.tape.every_way(run), steps)

        found = iter(trace.refusing(f"Constraint {closure.names[c]!r}", every_way))
        for part in parts:
            part[...] = [next(found) for _ in part]
        return 0

    return call


def _define(joint: Joint, method: str) -> bool:
    """Return whether a joint has a method of its own, and all that it is made of have it."""
    return all(defines(each, method) for each in _members(joint))


def _members(joint: Joint) -> list[Joint]:
    """Return a joint and the joints that it is made of."""
    found = [joint]
    if moves_as(joint, CompositeJoint):
        for member in joint.members:
            found += _members(member)
    return found

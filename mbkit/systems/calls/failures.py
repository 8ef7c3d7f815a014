"""From the status of a kernel to an exception that names the joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import (
    ConfigurationError,
    ConstraintError,
    ForceError,
    JointError,
    MbkitError,
    NotFiniteError,
    SingularMassMatrixError,
)
from mbkit.joints import FreeJoint, SphericalJoint
from mbkit.joints.defaults.overriding import moves_as
from mbkit.kernels.layout import DONE, QUATERNION_TOLERANCE, SCREW, SLOT_STATUS
from mbkit.systems.memory.callbacks import taken_error

if TYPE_CHECKING:
    from mbkit.systems.calls.evaluations import Evaluation
    from mbkit.systems.calls.evaluator import Evaluator
    from mbkit.systems.memory.workspace import Workspace

__all__ = ["failure", "named"]

_TIMED = " and t"  # how vectors are called that end with the time


def named(what: Evaluation, given: tuple[Any, ...]) -> dict[str, Any]:
    """Return the arguments of one sample by name, those that are read."""
    arguments = {name: value for name, value in zip(what.arguments, given, strict=True) if name}
    for name in [name for name in arguments if name.endswith(_TIMED)]:
        arguments[name.removesuffix(_TIMED)], arguments["t"] = np.split(arguments.pop(name), [-1])
    if "known" in arguments:  # of hybrid dynamics
        arguments["tau"], arguments["vdot"], _ = np.split(arguments.pop("known"), 3)
    return arguments


def failure(
    evaluator: Evaluator, state: int, workspace: Workspace, arguments: dict[str, Any]
) -> BaseException:
    """Return the exception for a status that is not OK: a custom joint's own, or one of mbkit's.

    `arguments` are those of the failed kernel by name; q, v and t are in the message if known.
    """
    from mbkit.kernels import status

    code, index = status.unpack(state)
    if code == status.JOINT_FAILED:
        return _joint_failure(evaluator, index, workspace, arguments)
    if code == status.FORCE_FAILED and index in workspace.force_slots:
        error = taken_error(workspace.force_slots[index])
        name = evaluator.arrays.forces.names[index]
        error.add_note(f"Raised by force '{name}'.{_where(arguments)}")
        return error
    bad = first_bad_argument(evaluator, arguments)
    if bad is not None:
        return NotFiniteError(bad)
    if code in (status.FORCE_FAILED, status.FORCE_NOT_FINITE):
        name = evaluator.arrays.forces.names[index]
        if code == status.FORCE_FAILED:
            return ForceError(
                f"Force '{name}': its compiled function reported a failure.{_where(arguments)}"
            )
        what = f"Force '{name}' is not finite."
        if np.isinf(workspace.powers).any() and not np.isnan(workspace.powers).any():
            # what it is times the velocity, which may overflow alone
            what = (
                f"Force '{name}', or its power, is beyond the largest number, 1.8e308; give "
                f"velocities and forces of ordinary size."
            )
        return NotFiniteError(f"{what}{_where(arguments)}")
    if code == status.SINGULAR_INERTIA:
        name = evaluator.arrays.joint_of_velocity(index)
        return SingularMassMatrixError(
            f"Joint '{name}' can move without moving any inertia at this configuration, so that no "
            f"acceleration follows from the forces; give the bodies beyond it mass and moment of "
            f"inertia.{_far(evaluator)}{_where(arguments)}"
        )
    if code == status.SOLVER_FAILED and workspace.closure is not None:
        return _solver_failure(evaluator, workspace, arguments)
    if code == status.NOT_SOLVED:
        return _not_solved(evaluator, index, arguments)
    if code == status.CONSTRAINT_FAILED:
        return _constraint_failure(evaluator, index, workspace, arguments)
    if code == status.CONSTRAINT_NOT_FINITE:
        name = evaluator.arrays.closure.names[index]
        return NotFiniteError(f"Constraint '{name}' is not finite.{_where(arguments)}")
    if code == status.NOT_CLOSED:
        return _not_closed(evaluator, workspace, arguments)
    if code == status.NOT_FINITE:
        return NotFiniteError(first_bad_row(evaluator, workspace) + _where(arguments))
    return MbkitError(f"A kernel ended with status {code} at index {index}.{_where(arguments)}")


def _solver_failure(
    evaluator: Evaluator, workspace: Workspace, arguments: dict[str, Any]
) -> BaseException:
    assert workspace.closure is not None
    slot = workspace.closure.solver_slot
    assert slot is not None
    error = taken_error(slot)
    solver = type(evaluator.arrays.closure.solver).__name__
    error.add_note(f"Raised in the constraint solver {solver}.{_where(arguments)}")
    return error


def _joint_failure(
    evaluator: Evaluator, row: int, workspace: Workspace, arguments: dict[str, Any]
) -> BaseException:
    name = evaluator.arrays.joint_names[row]
    slot = workspace.slot_of(row)
    if slot is not None:
        own = "" if slot.q.size == 0 else f" Its own q is {_numbers(slot.q)}."
        if slot.error is None and slot.memory[SLOT_STATUS] == DONE:
            return JointError(f"Joint '{name}': {slot.pose_fault()}.{own}{_where(arguments)}")
        error = taken_error(slot)
        error.add_note(f"Raised in joint '{name}'.{own}{_where(arguments)}")
        return error
    bad = first_bad_argument(evaluator, arguments)
    if bad is not None:
        return NotFiniteError(bad)
    joint = evaluator.arrays.joints[row]
    if not (joint is None or moves_as(joint, SphericalJoint) or moves_as(joint, FreeJoint)):
        for q in evaluator.arrays.positions_of_row(row, arguments):
            try:
                joint.pose(q)
            except MbkitError as error:  # its own, or of a member of a composite joint
                named = str(error).startswith(f"Joint '{name}'")
                what = str(error) if named else f"Joint '{name}': {error}"
                return ConfigurationError(f"{what}{_place(arguments)}")
        return JointError(
            f"Joint '{name}': its compiled function reported a failure.{_where(arguments)}"
        )
    quaternions = evaluator.arrays.positions_of_row(row, arguments)[:, :4]
    with np.errstate(over="ignore"):
        squares = (quaternions**2).sum(axis=1)
    off = np.sqrt(squares[np.abs(squares - 1.0) > QUATERNION_TOLERANCE])
    if off.size:
        remedy = "Divide it by its length, and move it with system.retract."
        if off[0] == 0.0:
            remedy = "That of no turn is (1, 0, 0, 0), as in system.reference_configuration()."
        return ConfigurationError(
            f"Joint '{name}' has for positions a quaternion (w, x, y, z) of length {off[0]:.6g}; "
            f"it must be of length 1. {remedy}{_place(arguments)}"
        )
    return JointError(f"Joint '{name}' could not be evaluated.{_where(arguments)}")


def _constraint_failure(
    evaluator: Evaluator, index: int, workspace: Workspace, arguments: dict[str, Any]
) -> BaseException:
    closure = evaluator.arrays.closure
    name = closure.names[index]
    if index >= closure.num_joints:
        assert workspace.closure is not None
        own = workspace.closure.slots.get(index)
        if own is not None:
            error = taken_error(own)
            error.add_note(f"Raised by constraint '{name}'.{_where(arguments)}")
            return error
        why = closure.objects[index - closure.num_joints].without_value
        what = why or "Its compiled function reported a failure."
        return ConstraintError(f"Constraint '{name}' has no value. {what}{_where(arguments)}")
    slot = workspace.loop_slots.get(index + 1)
    if slot is not None and slot.error is not None:
        error = taken_error(slot)
        error.add_note(f"Raised in joint '{name}', which closes a loop.{_where(arguments)}")
        return error
    return ConstraintError(
        f"Joint '{name}', which closes a loop, has no configuration near the pose of its bodies."
        f"{_where(arguments)}"
    )


def _not_solved(evaluator: Evaluator, row: int, arguments: dict[str, Any]) -> BaseException:
    closure = evaluator.arrays.closure
    solver = type(closure.solver).__name__
    spread = evaluator.arrays.inertia_spread
    names = evaluator.arrays.joint_names
    other = "" if solver == "NullSpace" else ", or solve with mb.NullSpace()"
    return ConstraintError(
        f"{solver} finds no accelerations that satisfy the constraint '{closure.row_names[row]}' "
        f"beside the others. Inertias differ by a ratio of {spread.ratio:.1e}, the least beyond "
        f"joint '{names[spread.least]}' and the largest beyond '{names[spread.greatest]}': what a "
        f"light body between heavy ones leaves of a row is one over that, and the solver loses the "
        f"row. Make the ratio smaller{other}; if constraints contradict each other, drop one of "
        f"them.{_where(arguments)}"
    )


def _not_closed(
    evaluator: Evaluator, workspace: Workspace, arguments: dict[str, Any]
) -> BaseException:
    closure = workspace.closure
    assert closure is not None
    row = int(np.argmax(np.abs(closure.residual)))
    name = evaluator.arrays.closure.position_row_names[row]
    return ConstraintError(
        f"The loops do not close after the step: '{name}' is left open by "
        f"{abs(closure.residual[row]):.3g} m. A smaller h helps where the motion is sound; at a "
        f"dead point the mechanism cannot go on.{_where(arguments)}"
    )


def _where(arguments: dict[str, Any]) -> str:
    """Return `` At t = ..., q = ...`` with the known values."""
    known = []
    if "sample" in arguments:
        known.append(f"sample {arguments['sample']}")
    names = (name for name in ("t", "q", "v") if name in arguments)
    known += [f"{name} = {_numbers(arguments[name])}" for name in names]
    return f" At {', '.join(known)}." if known else ""


def _numbers(value: Any) -> str:
    if np.ndim(value) == 0:
        return f"{float(value):.9g}"
    return np.array2string(np.asarray(value), precision=6, threshold=12)


def _far(evaluator: Evaluator) -> str:
    if evaluator.representation.name != "spatial":
        return ""
    return (
        " Spatial twists measure inertia at the world's origin, so that far from it a small one is "
        "lost; if it is that, compute in body-fixed twists."
    )


def _place(arguments: dict[str, Any]) -> str:
    """Return `` At sample ..., t = ...`` with the known values."""
    return _where({key: arguments[key] for key in arguments if key in ("sample", "t")})


def first_bad_argument(evaluator: Evaluator, arguments: dict[str, Any]) -> str | None:
    """Return a sentence on the first entry of an argument that is not finite, or None."""
    for name in ("q", "q0", "q1", "v", "p", "tau", "vdot", "dx", "x"):
        value = arguments.get(name)
        if value is not None and not np.isfinite(value).all():
            entry = int(np.flatnonzero(~np.isfinite(value))[0])
            joint = (
                evaluator.arrays.joint_of_position(entry)
                if name in ("q", "q0", "q1")
                else evaluator.arrays.joint_of_step(entry)
                if name == "dx"
                else evaluator.arrays.joint_of_velocity(entry)
            )
            return (
                f"{name}[{entry}] of joint '{joint}' is {value[entry]}; it must be finite."
                f"{_place(arguments)}"
            )
    wrenches = arguments.get("wrenches")
    if wrenches is not None and not np.isfinite(wrenches).all():
        entry = int(np.flatnonzero(~np.isfinite(np.ravel(wrenches)))[0])
        return (
            f"wrenches[{entry // 6}, {entry % 6}] is {np.ravel(wrenches)[entry]}; it must be "
            f"finite.{_place(arguments)}"
        )
    return None


def first_bad_row(evaluator: Evaluator, workspace: Workspace) -> str:
    """Return a sentence on the joint in which NaN or infinity began, from the workspace.

    Values are examined in the order of their computation: poses, motion subspaces and biases of the
    joints; twists, from the world outwards; results of elimination, from the tips inwards;
    accelerations.
    """
    names = evaluator.arrays.joint_names
    rows = workspace.scratch[: len(names)]
    bodies = range(1, len(rows))
    for i in bodies:
        # of a screw, S and its bias are left over from other representations, or from nothing
        screw = evaluator.arrays.bodies[i]["kind"] == SCREW
        if not _finite(rows[i], ("R", "p") if screw else ("R", "p", "S", "bias")):
            return f"The pose, motion subspace or bias of joint '{names[i]}' is not finite."
    for i in bodies:
        if not _finite(rows[i], ("V",)):
            return f"The twist of the body behind joint '{names[i]}' is not finite."
    for k in range(evaluator.arguments.num_velocities - 1, -1, -1):
        column = workspace.scratch[k]
        with np.errstate(over="ignore", invalid="ignore"):
            vdot = column["D"] * column["u"]
        if not (_finite(column, ("U", "D", "u")) and np.isfinite(vdot)):
            name = evaluator.arrays.joint_of_velocity(k)
            return f"The inertia, force or acceleration at joint '{name}' is not finite."
    for i in bodies:
        if not _finite(rows[i], ("A",)):
            return f"The acceleration of the body behind joint '{names[i]}' is not finite."
    return "An acceleration is not finite."


def _finite(row: Any, fields: tuple[str, ...]) -> bool:
    return all(bool(np.isfinite(row[field]).all()) for field in fields)

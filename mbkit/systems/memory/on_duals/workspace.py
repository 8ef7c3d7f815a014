"""Memory for dual numbers, and the functions for them of a system's joints."""

from __future__ import annotations

import copy
import functools
import weakref
from collections.abc import Callable
from typing import Any

from mbkit.joints import Joint
from mbkit.joints.defaults.jacobians import jacobians_of
from mbkit.systems.memory.arrays import SystemArrays
from mbkit.systems.memory.callbacks import register
from mbkit.systems.memory.in_lanes.functions import address_in_lanes, compiles
from mbkit.systems.memory.in_lanes.joints import OF_JOINTS, calls_members
from mbkit.systems.memory.in_lanes.workspace import LanesModel, LanesWorkspace
from mbkit.systems.memory.on_duals.python_joint import DualJointSlot

__all__ = ["DualModel", "DualWorkspace", "motions_are_dual"]

#: The inputs by which joints move.
_MOVES = ("motion", "retract")

#: The form of the functions of joints for rates of steps.
_OF_STEPS = "icppp"

#: The forms of the same functions of joints in Python, whose slots have dual numbers.
_OF_PYTHON = {"motion": "scpppppp", "retract": "scppp"}


def motions_are_dual(arrays: SystemArrays) -> bool:
    """Return whether all joints move on dual numbers.

    By compiled functions, which those of users are if they compile for these numbers, or in Python,
    where they can be traced.
    """
    return all(joint is None or _is_dual(joint) for joint in arrays.joints)


def _is_dual(joint: Joint) -> bool:
    if not joint.num_velocities or joint.screw_form():
        return True
    if calls_members(joint):
        return all(map(_is_dual, joint.members))
    kernels = joint.kernels()
    if kernels is None:
        return jacobians_of(joint).are_known
    functions = ((getattr(kernels, name), OF_JOINTS[name]) for name in _MOVES)
    return all(each is None or _compiles(each.function, form) for each, form in functions)


def _compiles(function: Callable[..., Any], form: str) -> bool:
    """Return whether a function of a joint compiles for dual numbers."""
    from mbkit.kernels.duals import DUAL

    return compiles(address_in_lanes, function, form, DUAL)


class DualWorkspace(LanesWorkspace):
    """Memory for dual numbers, in which the states of a system move along steps.

    Attributes
    ----------
    joint_slots : dict of int to DualJointSlot
        By row: the joints that are called back.
    """

    def __init__(self, model: DualModel) -> None:
        arrays = model.arrays
        super().__init__(arrays, model)
        world: Any = arrays.bodies[0]
        nq, nv, ndx = (int(world[x]) for x in ("num_positions", "num_velocities", "ndx"))
        self.have_trial(2 * nq + nv + ndx)
        self.joint_slots: dict[int, DualJointSlot] = {}
        for i in model.called_back:
            self._let_call_back(i, arrays.joints[i])

    def _let_call_back(self, i: int, joint: Any) -> None:
        from mbkit.kernels.compile import array_address

        self.joint_slots[i] = slot = DualJointSlot(joint, self.numbers)
        address = array_address(slot.numbers)
        self.let_find(i, address)
        weakref.finalize(self, register(address, slot))

    def raise_interrupts(self) -> None:
        """Raise Ctrl-C, if that ended a call of a joint."""
        for slot in self.joint_slots.values():
            slot.raise_interrupt()


class DualModel(LanesModel):
    """A system for dual numbers, in which its joints have functions for them.

    Rows of joints that have none are without a motion.

    Attributes
    ----------
    called_back : list of int
        The rows of joints in Python that have some.
    sets : dict
        Joints of the tree whose numbers move, by the parameters that move them, as far as these
        have been used; see `mbkit.systems.memory.on_duals.tree_joints`.
    """

    def __init__(self, arrays: SystemArrays) -> None:
        from mbkit.kernels.duals import DUAL
        from mbkit.kernels.joints import python_joint

        super().__init__(arrays, DUAL, functions=_MOVES)
        self.called_back = []
        self.sets: dict[tuple[str, ...], Any] = {}
        for i, joint in enumerate(arrays.joints):
            row: Any = self.bodies[i]
            if joint is None or joint.screw_form():
                continue
            if not _is_dual(joint):
                row["motion"] = 0
            elif joint.kernels() is None:
                self.called_back.append(i)
                for name, form in _OF_PYTHON.items():
                    function = getattr(python_joint, name).function
                    row[name] = self.address_of(function, form) if row[name] else 0

    def _install(self, i: int, joint: Joint, functions: dict[str, Any]) -> None:
        """Let a joint have these functions for dual numbers, with those of its members."""
        if _is_dual(joint):
            self._install_own(i, joint, functions)

    def let_joints_change(self) -> tuple[DualWorkspace, Any]:
        """Return memory for dual numbers, and the addresses that kernels get of it as doubles.

        Of a function of `mbkit.kernels.derivatives.joints.exact_joint_changes`, of its SPACE, and
        of the other function there.
        """
        from mbkit.kernels.derivatives.joints import exact_joint_changes as kernels

        workspace = DualWorkspace(self)
        # an address is below 2^47 on the machines numba knows: a double holds it exactly
        function = self.address_of(kernels.joint_changes_along, kernels.FORM)
        beside = self.address_of(kernels.joint_changes_beside, kernels.FORM_BESIDE)
        return workspace, (function, workspace.address, beside)

    def let_steps_change(self) -> tuple[DualWorkspace, Any]:
        """Return memory for dual numbers, and the addresses that kernels get of it as doubles.

        Of functions of `mbkit.kernels.sensitivities.exact_charts`, by a step and by a state, and of
        its SPACE.
        """
        from mbkit.kernels.sensitivities import exact_charts as kernels

        workspace = DualWorkspace(self._with_steps)
        by_step = self.address_of(kernels.rates_by_step, kernels.FORM)
        by_state = self.address_of(kernels.rates_by_state, kernels.FORM)
        return workspace, (by_step, by_state, workspace.address)

    @functools.cached_property
    def _with_steps(self) -> DualModel:
        """The same system with joints' functions for rates of steps; zero where they have none."""
        from mbkit.kernels.compile import array_address

        model = copy.copy(self)
        model.bodies = self.bodies.copy()
        model._owners = list(self._owners)

        def address(name: str, function: Any) -> int:
            known = function is not None and _compiles(function.function, _OF_STEPS)
            wanted = known and name in ("dexp_inv", "rates", *_MOVES)
            return (
                self.address_of(function.function, OF_JOINTS.get(name, _OF_STEPS)) if wanted else 0
            )

        for i, joint in enumerate(self.arrays.joints):
            row: Any = model.bodies[i]
            kernels = None if joint is None else joint.kernels()
            moves = kernels is not None and bool(row["motion"])
            for name in ("dexp_inv", "rates"):
                function = getattr(kernels, name, None)
                row[name] = address(name, function) if moves and row[name] else 0
            if joint is not None and moves and calls_members(joint):
                parameters = joint.parameters_with(address)
                model._owners.append(parameters)
                row["parameters"] = array_address(parameters)
        return model

"""Memory for dual numbers, of systems whose joints have functions for them."""

from __future__ import annotations

from typing import Any, TypeGuard

from mbkit.joints import CompositeJoint, Joint
from mbkit.joints.overriding import moves_as
from mbkit.systems.memory.arrays import SystemArrays
from mbkit.systems.memory.lanes import OF_JOINTS, LanesModel, LanesWorkspace

__all__ = ["dual_workspace", "motions_are_dual"]

#: Modules of joints that compile for dual numbers as they are, but branch, which lanes cannot.
_DUAL_ALONE = frozenset({"mbkit.kernels.joints.absolute.absolute_joint"})


def motions_are_dual(arrays: SystemArrays) -> bool:
    """Return whether the motions of all joints are compiled functions for dual numbers."""
    return all(joint is None or _is_dual(joint) for joint in arrays.joints)


def _is_dual(joint: Joint) -> bool:
    if not joint.num_velocities or joint.screw_form():
        return True
    if _calls_members(joint):
        return all(map(_is_dual, joint.members))
    motion = getattr(joint.kernels(), "motion", None)
    function = getattr(motion, "function", None)
    is_known = getattr(function, "__module__", None) in _DUAL_ALONE
    return is_known or bool(getattr(motion, "in_lanes", False))


def _calls_members(joint: Joint) -> TypeGuard[CompositeJoint]:
    """Return whether a joint is composed of others that are called by address."""
    if not moves_as(joint, CompositeJoint) or joint.kernels() is None:
        return False
    return joint.screw_product is None


def dual_workspace(arrays: SystemArrays) -> tuple[LanesModel, LanesWorkspace]:
    """Return a system for dual numbers, and memory in which its states move along steps."""
    world: Any = arrays.bodies[0]
    nq, nv, ndx = (int(world[x]) for x in ("num_positions", "num_velocities", "ndx"))
    model: DualModel = arrays.dual_model
    workspace = LanesWorkspace(arrays, model)
    workspace.have_trial(2 * nq + nv + ndx)
    return model, workspace


def let_joints_change(arrays: SystemArrays) -> tuple[LanesWorkspace, Any]:
    """Return memory for dual numbers, and the addresses that kernels get of it as doubles.

    Of the function of `mbkit.kernels.derivatives.exact_joint_changes`, and of its SPACE.
    """
    from mbkit.kernels.derivatives.exact_joint_changes import FORM, joint_changes_along

    model, workspace = dual_workspace(arrays)
    # an address is below 2^47 on the machines numba knows: a double holds it exactly
    function = model.address_of(joint_changes_along, FORM)
    return workspace, (function, workspace.address)


class DualModel(LanesModel):
    """A system for dual numbers, in which its joints have functions for them.

    Rows of joints that have none are without a motion.
    """

    def __init__(self, arrays: SystemArrays) -> None:
        from mbkit.kernels.duals import DUAL

        super().__init__(arrays, DUAL, functions=("motion", "retract"))
        for row, joint in zip(self.bodies[1:], arrays.joints[1:], strict=True):
            if joint is not None and not _is_dual(joint):
                row["motion"] = 0

    def _install(self, i: int, joint: Joint, functions: dict[str, Any]) -> None:
        """Let a joint have these functions for dual numbers, with those of its members."""
        from mbkit.kernels.compile import array_address

        def address(name: str, function: Any) -> int:
            wanted = name in functions and function is not None
            return self.address_of(function.function, OF_JOINTS[name]) if wanted else 0

        row: Any = self.bodies[i]
        if not _is_dual(joint):
            return
        for name, each in functions.items():
            row[name] = address(name, each)
        if _calls_members(joint):
            parameters = joint.parameters_with(address)
            self._owners.append(parameters)
            row["parameters"] = array_address(parameters)

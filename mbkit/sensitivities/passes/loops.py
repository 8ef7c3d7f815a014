"""Closed mechanisms whose adjoint takes one pass over the bodies at each stage."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from mbkit.constraints.built_in import (
    Cam,
    Distance,
    GearRatio,
    PointOnLine,
    PointOnPlane,
    PolynomialCoupling,
    PrescribedPoint,
    PrescribedPose,
    RollingDisc,
    RollingSphere,
)
from mbkit.solvers import SchurComplement
from mbkit.systems import System
from mbkit.systems.derivatives.dynamics_derivatives import loops_alone
from mbkit.systems.derivatives.inertia_changes import field_of_inertia
from mbkit.systems.memory.forces import ForceArrays
from mbkit.systems.memory.workspace import Workspace

__all__ = ["changes_no_loops", "has_pass", "still_workspace", "takes_one_pass"]


#: Those besides joints.
_TAKEN = (
    Distance, PointOnLine, PointOnPlane, GearRatio, PolynomialCoupling, Cam, PrescribedPoint,
    PrescribedPose, RollingSphere, RollingDisc,
)  # fmt: skip


def has_pass(system: System) -> bool:
    """Return whether a pass over the bodies can differentiate all constraints.

    These are joints, those in Python, and others if all of them are compiled for dual numbers.
    """
    if not system.num_velocity_constraints or loops_alone(system) or _in_python(system):
        return True
    return system._dual_constraints is not None


def _in_python(system: System) -> bool:
    """Return whether all constraints besides joints are written in Python."""
    return all(each is not None for each in system.arrays.closure.derivatives)


def takes_one_pass(system: System) -> bool:
    """Return whether adjoints of accelerations take a pass over the bodies, and no matrices.

    Of trees, and of mechanisms whose loops are closed by joints, by constraints of mbkit that are
    compiled, or by constraints in Python.
    """
    if system.motions or not has_pass(system):
        return False
    if not system.num_velocity_constraints or loops_alone(system):
        return True
    every = system.arrays.closure.objects
    return all(each.kernel() is None or type(each) in _TAKEN for each in every)


def changes_no_loops(system: System, names: Iterable[str]) -> bool:
    """Return whether inputs change no row of constraints, and masses by the regressor alone."""
    return all(
        name in ("q", "v", "tau")
        or name.partition(".")[0] in ("gravity", "forces")
        or field_of_inertia(system, name, with_fields=True) is not None
        for name in names
    )


def still_workspace(system: System) -> Workspace:
    """Return memory of the same mechanism without gravity and without forces.

    Multipliers are zero for rows that do not count.
    """
    bodies = system.arrays.bodies.copy()
    bodies[0]["gravity"] = 0.0
    closure = attrs.evolve(system.arrays.closure, chosen_solver=SchurComplement())
    arrays = attrs.evolve(system.arrays, bodies=bodies, forces=ForceArrays(), closure=closure)
    return Workspace(arrays, system.evaluator).let_joints_change(system.evaluator)

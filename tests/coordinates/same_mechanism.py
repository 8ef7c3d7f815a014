"""Comparison of two systems of one mechanism in corresponding states."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbkit as mb

#: Orientations, maps, groups and sides, each at least once.
COORDINATES = (
    mb.AbsoluteCoordinates(mb.UnitQuaternion(), mb.ScrewCoordinates()),
    mb.AbsoluteCoordinates(mb.RotationVector(), mb.RotationVectorPosition()),
    mb.AbsoluteCoordinates(mb.EulerAngles("zyx"), mb.RodriguesPosition(), "right"),
    mb.AbsoluteCoordinates(mb.UnitQuaternion(), mb.ExtendedRodrigues(), "right"),
)
IDS = ("body_fixed", "mixed", "hybrid", "spatial")


def bodies_of(system: mb.System, other: mb.System) -> list[int]:
    """Return the rows in `system` of the bodies of `other` that are no split bodies."""
    return [system.body_index(name) for name in other.body_names if name not in other.split_bodies]


def far_off(found: Any, expected: Any, least: float = 0.0) -> float:
    """Return the largest difference, in parts of the largest entry."""
    size = max(float(np.abs(expected).max(initial=0.0)), least)
    gap = float(np.abs(found - expected).max(initial=0.0))
    return gap / size if size else gap


def check_same(
    relative: mb.System, absolute: mb.System, q: Any, v: Any, t: float = 0.0, bound: float = 1e-9
) -> None:
    """Assert that poses, twists, accelerations, energies, powers and reactions are the same.

    Parameters
    ----------
    relative, absolute : System
        Of one mechanism.
    q, v : ndarray
        A state of the first, with loops closed.
    t : float
        Time. [s]
    bound : float
        Of differences, in parts of the largest number.
    """
    q_absolute, v_absolute = absolute.state_of(relative, q, v)
    states = ((relative, q, v), (absolute, q_absolute, v_absolute))
    rows = bodies_of(relative, relative), bodies_of(absolute, relative)
    assert np.abs(absolute.constraint_residual(q_absolute, t)).max(initial=0.0) < 1e-11
    C, other = (each.poses(q)[row] for (each, q, _), row in zip(states, rows, strict=True))
    assert far_off(other, C) < 1e-13
    body_fixed = mb.BodyFixed()
    V, other = (
        each.twists(q, v, representation=body_fixed)[row]
        for (each, q, v), row in zip(states, rows, strict=True)
    )
    assert far_off(other, V) < 1e-11
    found = []
    for (each, q_own, v_own), row in zip(states, rows, strict=True):
        vdot, _ = each.solve_dynamics(q_own, v_own, t=t)
        A = each.accelerations(q_own, v_own, vdot, representation=body_fixed)
        found.append(A[row])
    assert far_off(found[1], found[0]) < bound
    check_energies(states, t)
    check_reactions(states, t, bound)


def check_energies(states: Any, t: float) -> None:
    """Assert that energies, momenta and the powers of forces are the same."""
    (one, q, v), (other, q_other, v_other) = states
    T = one.kinetic_energy(q, v)
    assert abs(other.kinetic_energy(q_other, v_other) - T) <= 1e-11 * max(T, 1e-3)
    U = one.potential_energy(q)
    assert abs(other.potential_energy(q_other) - U) < 1e-11 * max(abs(U), 1.0)
    assert far_off(other.momentum(q_other, v_other), one.momentum(q, v), 1e-3) < 1e-10
    if one.force_names:
        assert other.force_names == one.force_names
        W = one.force_potentials(q, t)
        assert far_off(other.force_potentials(q_other, t), W, 1.0) < 1e-11
        P = one.force_powers(q, v, t)
        assert far_off(other.force_powers(q_other, v_other, t), P, 1.0) < 1e-10


def check_reactions(states: Any, t: float, bound: float) -> None:
    """Assert that the reactions of the mechanism's joints are the same, and as unique."""
    (one, q, v), (other, q_other, v_other) = states
    largest, gaps = 0.0, []
    for joint in one.joint_places:
        if joint not in other.joint_places or joint.endswith("(weld)"):
            continue
        found = []
        for each, *state in ((one, q, v), (other, q_other, v_other)):
            try:
                found.append(each.reaction(joint, *state, t=t, at=each.body_names[1]))
            except mb.ConstraintError:
                found.append(None)
        assert (found[0] is None) == (found[1] is None), joint
        if found[0] is not None:
            largest = max(largest, float(np.abs(found[0]).max()))
            gaps.append(float(np.abs(found[1] - found[0]).max()))
    assert max(gaps, default=0.0) <= bound * max(largest, 1.0)

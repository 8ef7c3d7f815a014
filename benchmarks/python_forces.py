"""Forces in Python as users write them, with and without their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbkit as mb

__all__ = ["with_pull", "with_pushes"]


class Push(mb.Force):
    """A torque on a hinge that depends on its angle and its speed."""

    def __init__(self, name: str, joint: str) -> None:
        super().__init__(name)
        self.joints = (joint,)

    def evaluate(self, t: Any, q: Any, v: Any, poses: Any, twists: Any, out: Any) -> None:
        """Write -0.1 sin(q) v."""
        out[:] = -0.1 * np.sin(q) * v


class KnownPush(Push):
    """The same, with its derivatives."""

    def derivatives(self, t: Any, q: Any, v: Any, poses: Any, twists: Any) -> mb.ForceDerivatives:
        """Return those by q and v."""
        return mb.ForceDerivatives(q=[-0.1 * np.cos(q) * v], v=[-0.1 * np.sin(q)])


class Pull(mb.Force):
    """A spring and a damper between the origins of two bodies."""

    acts_on = "bodies"
    power = "supplied"

    def __init__(self, name: str, a: str, b: str) -> None:
        super().__init__(name)
        self.bodies = (a, b)

    def evaluate(self, t: Any, q: Any, v: Any, poses: Any, twists: Any, out: Any) -> None:
        """Write the force on both, in their origins."""
        force = -5.0 * (poses[0, :3, 3] - poses[1, :3, 3]) - 0.1 * (twists[0, 3:] - twists[1, 3:])
        out[0, 3:], out[1, 3:] = force, -force


def _between() -> Any:
    """Return how forces along moves of the origins of two bodies depend on these moves."""
    found = np.zeros((2, 6, 2, 6))
    for a in range(2):
        for b in range(2):
            found[a, 3:, b, 3:] = (1.0 if a != b else -1.0) * np.eye(3)
    return found


class KnownPull(Pull):
    """The same, with its derivatives, which are constant."""

    given = mb.ForceDerivatives(poses=5.0 * _between(), twists=0.1 * _between())

    def derivatives(self, t: Any, q: Any, v: Any, poses: Any, twists: Any) -> mb.ForceDerivatives:
        """Return those by poses and twists."""
        return self.given


def with_pushes(mechanism: mb.Mechanism, *, known: bool) -> mb.System:
    """Return a system of hinges with one of these forces on each, with derivatives or without."""
    make = KnownPush if known else Push
    forces = [make(f"push {k}", name) for k, name in enumerate(mechanism.joints)]
    return mechanism.assemble().with_forces(forces)


def with_pull(mechanism: mb.Mechanism, *, known: bool) -> mb.System:
    """Return a system with one of these forces between its second and its last body."""
    make, bodies = KnownPull if known else Pull, list(mechanism.bodies)
    return mechanism.assemble().with_forces([make("pull", bodies[1], bodies[-1])])

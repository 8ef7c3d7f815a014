"""Mechanisms whose motion several programs compute, as numbers that all are built from."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

import mbkit as mb

#: Bodies of the bridge, and the length of each. [m]
RODS, LENGTH = 20, 0.2

_GRAVITY = (0.0, 0.0, -9.81)


@attrs.frozen(eq=False)
class Part:
    """A body whose axes are the world's at the start.

    Attributes
    ----------
    name : str
        Of the body.
    mass : float
        [kg]
    com : ndarray, shape (3,)
        Centre of mass in the world, at the start. [m]
    moment : ndarray, shape (3, 3)
        About the centre of mass. [kg m^2]
    spin, rate : ndarray, shape (3,)
        Angular velocity, and velocity of the centre of mass. [rad/s], [m/s]
    """

    name: str
    mass: float
    com: Any
    moment: Any
    spin: Any = attrs.field(factory=lambda: np.zeros(3))
    rate: Any = attrs.field(factory=lambda: np.zeros(3))


@attrs.frozen(eq=False)
class Hinge:
    """A ball joint, or a hinge, at a point of the world at the start.

    Attributes
    ----------
    predecessor, successor : str
        Bodies, or "world".
    point : ndarray, shape (3,)
        Where it is. [m]
    axis : ndarray, shape (3,) or None
        None for a ball joint.
    """

    predecessor: str
    successor: str
    point: Any
    axis: Any = None


@attrs.frozen(eq=False)
class Model:
    """A mechanism in numbers.

    Attributes
    ----------
    name : str
        For tables and plots.
    parts, hinges : tuple
        Bodies, and what joins them; hinges that close loops come last.
    num_closing : int
        How many of the hinges close loops.
    span : float
        How long it moves. [s]
    """

    name: str
    parts: tuple[Part, ...]
    hinges: tuple[Hinge, ...]
    num_closing: int
    span: float
    gravity: tuple[float, float, float] = _GRAVITY

    def mechanism(self) -> mb.Mechanism:
        """Return the model in mbkit."""
        mech = mb.Mechanism(self.name, gravity=self.gravity)
        for part in self.parts:
            pose = np.eye(4)
            pose[:3, 3] = part.com
            inertia = mb.SpatialInertia.from_com(part.mass, (0, 0, 0), part.moment)
            mech.add_body(mb.Body(part.name, inertia, pose))
        for k, hinge in enumerate(self.hinges):
            if hinge.axis is None:
                joint: mb.Joint = mb.SphericalJoint(f"joint{k}", point=hinge.point)
            else:
                joint = mb.RevoluteJoint(f"joint{k}", axis=hinge.axis, point=hinge.point)
            mech.add_joint(joint, hinge.predecessor, hinge.successor)
        return mech

    @functools.cached_property
    def system(self) -> mb.System:
        """The model in mbkit, in relative coordinates."""
        count = len(self.hinges)
        closing = [f"joint{k}" for k in range(count - self.num_closing, count)]
        return self.mechanism().assemble(mb.RelativeCoordinates(loop_joints=closing))

    @functools.cached_property
    def velocity(self) -> Any:
        """The velocities of mbkit's joints at the start."""
        v = np.zeros(self.system.nv)
        if len(self.parts) == 1:
            v[:] = self.parts[0].spin
        return v

    def centres(self, q: Any) -> Any:
        """Return the centres of mass of all bodies (bodies, 3) at mbkit's q."""
        return self.system.poses(q)[1:, :3, 3]

    def reference(self, steps: int) -> Any:
        """Return the centres at the end, by mbkit's method of order 5."""
        run = mb.simulate(
            self.system, (0.0, self.span), self.span / steps, v=self.velocity, save_every=steps,
            integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5), progress=False,
        )  # fmt: skip
        return self.centres(run.q[-1])


def heavy_top() -> Model:
    """Return the heavy top of Bruels, Cardona and Arnold 2012, which spins with 150 rad/s."""
    com, spin = np.array([0.0, 1.0, 0.0]), np.array([0.0, 150.0, -4.61538])
    moment = np.diag([0.234375, 0.46875, 0.234375])
    part = Part("top", 15.0, com, moment, spin, np.cross(spin, com))
    return Model("heavy top", (part,), (Hinge("world", "top", np.zeros(3)),), 0, 0.5)


def bridge(bodies: int = RODS, span: float = 0.5) -> Model:
    """Return a chain of flat rods that hangs between two ball joints of the world, and falls.

    Ball joints and hinges in turn join them; the rods lie along a winding curve in space at the
    start. With 20 rods there are 11 ball joints, 10 hinges and 37 freedoms.
    """
    points = np.zeros((bodies + 1, 3))
    for k in range(bodies):
        turn, fall = 2.0 * np.pi * k / 7.0, 1.2 * (2 * k + 1 - bodies) / bodies
        along = np.array([1.0, 0.4 * np.cos(turn), 0.4 * np.sin(turn) + fall])
        points[k + 1] = points[k] + LENGTH * along / np.linalg.norm(along)
    parts, hinges = [], []
    for k in range(bodies):
        along = (points[k + 1] - points[k]) / LENGTH
        broad = np.cross(along, (0.0, 0.6, 0.8))
        broad /= np.linalg.norm(broad)
        axes = np.column_stack([along, broad, np.cross(along, broad)])
        inertia = mb.SpatialInertia.box(0.5, size=(LENGTH, 0.08, 0.06))
        moment = axes @ inertia.moment_about_com @ axes.T
        parts.append(Part(f"rod{k}", 0.5, (points[k] + points[k + 1]) / 2, moment))
        axis = None if k % 2 == 0 else broad
        before = "world" if k == 0 else f"rod{k - 1}"
        hinges.append(Hinge(before, f"rod{k}", points[k], axis))
    hinges.append(Hinge("world", f"rod{bodies - 1}", points[-1]))
    return Model(f"bridge of {bodies} rods", tuple(parts), tuple(hinges), 1, span)


#: What is compared.
MODELS: tuple[Callable[[], Model], ...] = (heavy_top, bridge)

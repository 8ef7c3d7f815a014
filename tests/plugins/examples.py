"""Things that plugins of the tests provide, and plugins made of functions."""

from __future__ import annotations

import types

import attrs
import numpy as np

import mbkit as mb
from mbkit.plugins import Plugin, hookimpl


@attrs.frozen
class Parabola(mb.Joint):
    """A slider on z = c x^2 / 2."""

    name: str
    curvature: float = attrs.field()

    num_positions = 1
    num_velocities = 1

    @curvature.validator
    def _check(self, _, value):
        if value <= 0.0:
            raise mb.JointError(f"curvature must be positive, got {value}.")

    def pose(self, q):
        T = np.eye(4)
        T[:3, 3] = q[0], 0.0, 0.5 * self.curvature * q[0] ** 2
        return T

    def motion_subspace(self, q):
        return np.array([[0.0, 0.0, 0.0, 1.0, 0.0, self.curvature * q[0]]]).T

    def bias(self, q, v):
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, self.curvature * v[0] ** 2])


@attrs.frozen
class Pull(mb.Force):
    """A constant force along a joint."""

    name: str
    joint: str
    size: float

    @property
    def joints(self):
        return (self.joint,)

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = self.size


def plugin_module(name="sample", **hooks):
    """Return a module whose hooks return these values."""
    module = types.ModuleType(name)
    for hook, value in hooks.items():
        setattr(module, hook, _hook(hook, value))
    return module


def _hook(name, value):
    def function():
        if isinstance(value, BaseException):
            raise value
        return value

    function.__name__ = name
    return hookimpl(function)


def added(registry, module, name="sample"):
    """Add a plugin to a registry; return what became of it."""
    return registry.add(Plugin(name, "1.2", f"mbkit-{name}"), lambda: module)

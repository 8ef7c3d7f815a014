"""Cost of joints and of their coordinates, in forward dynamics of chains of 30 bodies."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

import mbkit as mb
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from tests.trees import random_inertia, random_pose, random_state

BODIES = sized(30, 4)

Makers = Sequence[Callable[[str], mb.Joint]]


def _coordinates(kind: type[mb.Joint], **options: object) -> dict[str, Makers]:
    title = kind.__name__.removesuffix("Joint")
    return {
        f"{title}, group": [functools.partial(kind, **options)],
        f"{title}, first kind": [functools.partial(kind, coordinates="first kind", **options)],
        f"{title}, second kind": [functools.partial(kind, coordinates="second kind", **options)],
    }


#: Joints between two bodies, one after another with bodies without mass between them.
CASES: dict[str, Makers] = {
    "Revolute": [mb.RevoluteJoint],
    "Cylindrical": [mb.CylindricalJoint],
    "Universal": [mb.UniversalJoint],
    "Universal, as chain of two": [
        functools.partial(mb.RevoluteJoint, axis=(1, 0, 0)),
        functools.partial(mb.RevoluteJoint, axis=(0, 1, 0)),
    ],
    "ConstantVelocity": [mb.ConstantVelocityJoint],
    **_coordinates(mb.SphericalJoint),
    "Spherical, in a composite joint": [
        lambda name: mb.CompositeJoint(name, mb.SphericalJoint("ball"))
    ],
    **_coordinates(mb.PlanarJoint),
    "Planar, as chain of three": [
        functools.partial(mb.RevoluteJoint),
        functools.partial(mb.PrismaticJoint, axis=(1, 0, 0)),
        functools.partial(mb.PrismaticJoint, axis=(0, 1, 0)),
    ],
    **_coordinates(mb.SchoenfliesJoint),
}


def joints() -> list[Table]:
    """Return the times, body-fixed."""
    calls = {}
    for name, makers in CASES.items():
        system = _chain(makers)
        state = random_state(np.random.default_rng(1), system, 0.5)
        calls[name] = functools.partial(system.forward_dynamics, state.q, state.v, state.tau)
    times = interleaved(calls)
    rows = [Row(name, mbkit=times.best(name)) for name in CASES]
    return [Table(f"Joints: forward dynamics of {BODIES} bodies", rows)]


def _chain(makers: Makers) -> mb.System:
    rng = np.random.default_rng(0)
    mech = mb.Mechanism("chain")
    near = mech.world
    for i in range(BODIES):
        frames = [random_pose(rng, 0.2), random_pose(rng, 0.2)]
        for k, make in enumerate(makers):
            last = k == len(makers) - 1
            inertia = random_inertia(rng) if last else mb.SpatialInertia.zero()
            body = mech.add_body(mb.Body(f"body{i}.{k}", inertia))
            ends = (frames[0] if k == 0 else np.eye(4), frames[1] if last else np.eye(4))
            mech.add_joint(make(f"joint{i}.{k}"), near, body, frames=ends)
            near = body
    return mech.assemble()

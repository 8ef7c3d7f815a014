"""Random closed mechanisms: a random tree, and joints that fit between its bodies as they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import mbkit as mb
from tests.trees import (
    MAKERS,
    Generator,
    random_inertia,
    random_mechanism,
    random_pose,
    random_state,
)

#: All kinds that leave something to close.
LOOP_KINDS = tuple(
    kind for kind in MAKERS if kind not in ("free", "screw coordinates", "composite")
)


def random_loops(
    rng: Generator, count: int, kinds: Sequence[str], tree: Sequence[str] = tuple(MAKERS)
) -> tuple[mb.Mechanism, Any, tuple[str, ...]]:
    """Return a mechanism whose loops close at q, q, and the names of the joints that close them.

    Parameters
    ----------
    rng : Generator
        Where all numbers come from.
    count : int
        Bodies.
    kinds : sequence of str
        Of the joints that close loops, keys of `MAKERS`.
    tree : sequence of str
        Kinds of the joints of the tree.
    """
    mech = random_mechanism(rng, count, tree)
    system = mech.assemble()
    q = random_state(rng, system).q
    poses = system.poses(q)
    names = []
    for k, kind in enumerate(kinds):
        joint = MAKERS[kind](rng, f"loop{k}")
        a, b = rng.choice(count + 1, size=2, replace=False)
        near = random_pose(rng)
        T = joint.pose(joint.random(rng))
        far = np.linalg.inv(poses[b]) @ poses[a] @ near @ T
        bodies = system.body_names
        mech.add_joint(joint, bodies[a], bodies[b], frames=(near, far))
        names.append(joint.name)
    return mech, q, tuple(names)


def closed(mech: mb.Mechanism, loops: Sequence[str], representation: Any = None) -> mb.System:
    """Return the system with these joints cut."""
    chosen = mb.BodyFixed() if representation is None else representation
    return mech.assemble(mb.RelativeCoordinates(representation=chosen, loop_joints=loops))


def mobile_loops(
    rng: Generator,
    count: int,
    kinds: Sequence[str],
    representation: Any = None,
    tree: Sequence[str] = tuple(MAKERS),
) -> tuple[mb.System, Any]:
    """Return a system whose loops are closed at q, and q: no row depends on others or holds all."""
    while True:
        mech, q, loops = random_loops(rng, count, kinds, tree)
        system = closed(mech, loops, representation)
        A = system.constraint_jacobian(q)
        if len(A) < system.nv and np.linalg.svd(A, compute_uv=False).min() > 0.05:
            return system, q


def consistent(system: mb.System, q: Any, v: Any) -> Any:
    """Return the velocity nearest to v that the constraints allow."""
    A = system.constraint_jacobian(q)
    return v - np.linalg.pinv(A, rcond=1e-9) @ (A @ v)


def closed_chain(
    seed: int = 1, last: mb.Joint | None = None, turn: Any = None
) -> tuple[mb.Mechanism, Any]:
    """Return a closed chain of four bodies that moves in space, and where it closes by "last".

    By default a hinge; `turn` (4, 4) is the pose of its frames in those that they have by default.
    """
    rng = np.random.default_rng(seed)
    kinds = ("universal", "revolute", "spherical", "revolute")
    makers = [mb.UniversalJoint, mb.RevoluteJoint, mb.SphericalJoint, mb.RevoluteJoint]
    mech = mb.Mechanism("ring")
    before = mech.world
    for k, make in enumerate(makers):
        body = mech.add_body(mb.Body(f"b{k}", random_inertia(rng)))
        frames = (random_pose(rng), random_pose(rng))
        ends = (before, body) if k != 1 else (body, before)
        mech.add_joint(make(f"{kinds[k]} {k}"), *ends, frames=frames)
        before = body
    tree = mech.assemble()
    q = tree.retract(tree.reference_configuration(), 0.4 * rng.normal(size=tree.nv))
    near = random_pose(rng)
    far = tree.poses(q)[-1] @ near
    if turn is not None:
        near, far = near @ turn, far @ turn
    mech.add_joint(last or mb.RevoluteJoint("last"), before, mech.world, frames=(near, far))
    return mech, q

"""The trees that are measured."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import mbkit as mb
from tests.trees import random_inertia, random_pose

REVOLUTE = ("revolute",)
MIXED = ("revolute", "prismatic", "spherical")

_JOINTS: dict[str, Any] = {
    "revolute": mb.RevoluteJoint,
    "prismatic": mb.PrismaticJoint,
    "spherical": mb.SphericalJoint,
    "helical": partial(mb.HelicalJoint, pitch=0.05),
    "universal": mb.UniversalJoint,
}

#: A parent is one of this many bodies before: a tree that branches now and then.
REACH = 3


def benchmark_tree(
    count: int,
    kinds: Sequence[str],
    seed: int = 0,
    *,
    reach: int = REACH,
    misaligned: bool = False,
    place: Sequence[float] = (0.0, 0.0, 0.0),
) -> mb.Mechanism:
    """Return a tree with random branches, frames and inertias.

    Each body's frame is its joint's, with z along the axis: the form that is fastest in Pinocchio
    and MuJoCo too. (In mbkit any other form costs the same, unless the recursions are told to run
    in it.)

    Parameters
    ----------
    count : int
        Bodies.
    kinds : sequence of str
        Kinds of joints, in turn.
    seed : int
        Of the random numbers.
    reach : int
        A parent is one of this many bodies before; 1 makes a chain.
    misaligned : bool
        Whether bodies have any frames instead.
    place : sequence of 3 floats
        Where the tree stands in the world. [m]

    Returns
    -------
    Mechanism
        The tree.
    """
    rng = np.random.default_rng(seed)
    mech = mb.Mechanism(f"{'mixed' if len(kinds) > 1 else kinds[0]} tree of {count}")
    bodies = [mech.world]
    for i in range(count):
        parent = bodies[rng.integers(max(0, i + 1 - reach), i + 1)]
        bodies.append(mech.add_body(mb.Body(f"body{i}", inertia=random_inertia(rng))))
        joint = _JOINTS[kinds[i % len(kinds)]](f"joint{i}")
        S_pred, S_succ = random_pose(rng, 0.3), np.eye(4)
        if misaligned:
            S_succ = random_pose(rng, 0.3)
        if parent is mech.world:
            S_pred[:3, 3] += place
        mech.add_joint(joint, parent, bodies[-1], frames=(S_pred, S_succ))
    return mech

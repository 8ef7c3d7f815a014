"""All that absolute joints can be, and their maps by products and inverses of matrices alone."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.linalg import expm

import mbkit as mb
from mbkit.joints import LOCAL_COORDINATES

ORIENTATIONS = (mb.UnitQuaternion(), mb.RotationVector(), mb.EulerAngles())
LOCALS = tuple(kind() for kind in LOCAL_COORDINATES.values())
SIDES = ("left", "right")

#: The twelve orders of three axes.
SEQUENCES = tuple(
    "".join(axes) for axes in itertools.product("xyz", repeat=3) if axes[0] != axes[1] != axes[2]
)

#: Every map on either side, with each orientation; every other sequence of angles with one map.
ABSOLUTE_JOINTS = [
    *(
        mb.AbsoluteJoint(f"{orientation.name} {local.name} {side}", orientation, local, side)
        for orientation, local, side in itertools.product(ORIENTATIONS, LOCALS, SIDES)
    ),
    *(
        mb.AbsoluteJoint(f"angles {sequence}", mb.EulerAngles(sequence), mb.RodriguesPosition())
        for sequence in SEQUENCES
        if sequence != "zyx"
    ),
]

#: Every map on either side, with one orientation in turn, and some sequences: for laws that all
#: joints are asked. Orientations and maps do not know each other.
SOME_ABSOLUTE_JOINTS = [
    *(ABSOLUTE_JOINTS[14 * (k % 3) + k] for k in range(14)),
    *ABSOLUTE_JOINTS[3 * 14 :: 4],
]

#: Turns of a step, or what a map makes of such a vector: at the identity, next to it, anywhere,
#: near a half turn.
SIZES = (0.0, 1e-8, 0.3, 1.3, np.pi - 1e-5)


def hat(x):
    """The matrix of u -> x cross u, or of a screw, 4x4."""
    if len(x) == 3:
        return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])
    screw = np.zeros((4, 4))
    screw[:3, :3], screw[:3, 3] = hat(x[:3]), x[3:]
    return screw


def adjoint(X):
    """The matrix of brackets with a screw, 6x6."""
    zero = np.zeros((3, 3))
    return np.block([[hat(X[:3]), zero], [hat(X[3:]), hat(X[:3])]])


def cayley(A):
    """(I - A)^-1 (I + A)."""
    one = np.eye(len(A))
    return np.linalg.solve(one - A, one + A)


def pose_of(Ad):
    """The pose whose adjoint this is: [[R, 0], [r~ R, R]]."""
    C = np.eye(4)
    C[:3, :3] = Ad[:3, :3]
    shift = Ad[3:, :3] @ Ad[:3, :3].T
    C[:3, 3] = shift[2, 1], shift[0, 2], shift[1, 0]
    return C


def apart(R, r):
    """A pose of a rotation and a translation."""
    C = np.eye(4)
    C[:3, :3], C[:3, 3] = R, r
    return C


#: psi(X), as a pose, of steps as they are scaled.
MAPS = {
    "screw_coordinates": lambda X: expm(hat(X)),
    "rotation_vector_position": lambda X: apart(expm(hat(X[:3])), X[3:]),
    "rodrigues_position": lambda X: apart(cayley(hat(X[:3] / 2)), X[3:]),
    "extended_rodrigues": lambda X: cayley(hat(X / 2)),
    "wiener_milenkovic_position": lambda X: apart(
        np.linalg.matrix_power(cayley(hat(X[:3] / 4)), 2), X[3:]
    ),
    "extended_wiener_milenkovic": lambda X: pose_of(
        np.linalg.matrix_power(cayley(adjoint(X / 4)), 2)
    ),
    "dual_rodrigues": lambda X: pose_of(cayley(adjoint(X / 2))),
}


def product(group, A, B):
    """The product of two poses in a group."""
    if group.__name__ == "SE3":
        return A @ B
    return apart(A[:3, :3] @ B[:3, :3], A[:3, 3] + B[:3, 3])


def step(size, seed=7):
    """A random step whose first three entries have a length."""
    x = np.random.default_rng(seed).normal(size=6)
    return x * np.where(np.arange(6) < 3, size / np.linalg.norm(x[:3]), 1.0)

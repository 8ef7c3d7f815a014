"""Joint screws and constraint wrenches of loops, all in the world; what screws generate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.diagnosis.cycles import cycles
from mbkit.kernels.constraints import layout
from mbkit.results.diagnosis import LoopScrews
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.rank import singular_values

if TYPE_CHECKING:
    from mbkit.joints import Joint
    from mbkit.systems import System

__all__ = ["LoopJoint", "adjoint", "algebra", "loop_joints", "loop_screws", "span"]

#: Part of the largest singular value below which screws count as dependent.
_RANK_TOLERANCE = 1e-8
#: Configurations in which the screws of each joint are looked at, beside the given one.
_SAMPLES = 6
#: The connected groups of motions by (dimension, dimension of their rotations).
_GROUPS = {
    (0, 0): "none",
    (1, 0): "translations along a line",
    (1, 1): "one screw motion",
    (2, 0): "translations in a plane",
    (2, 1): "cylindrical motions",
    (3, 0): "translations",
    (3, 1): "planar motions",
    (3, 3): "spherical motions",
    (4, 1): "Schoenflies motions",
    (6, 3): "all motions",
}


def adjoint(C: Any) -> FloatArray:
    """Return the matrices (..., 6, 6) that take twists by poses (..., 4, 4) to the outer frame."""
    R, p = C[..., :3, :3], C[..., :3, 3]
    Ad = np.zeros((*C.shape[:-2], 6, 6))
    Ad[..., :3, :3] = Ad[..., 3:, 3:] = R
    Ad[..., 3:, :3] = np.cross(p[..., None, :], np.swapaxes(R, -1, -2)).swapaxes(-1, -2)
    return Ad


@final
@attrs.frozen(eq=False)
class LoopJoint:
    """A joint that closes a loop, at a configuration.

    Attributes
    ----------
    name : str
        Its name.
    bodies : tuple of int
        Rows of its predecessor and its successor among the system's bodies.
    joint : Joint or None
        What it is; None for a weld.
    near, far : ndarray, shape (4, 4)
        The canonical frame on either body, in the world.
    q : ndarray
        Its configuration.
    """

    name: str
    bodies: tuple[int, int]
    joint: Joint | None
    near: FloatArray
    far: FloatArray
    q: FloatArray

    def screws(self, q: FloatArray | None = None) -> FloatArray:
        """Return the screws (nv, 6) in the world, of its configuration or another one."""
        if self.joint is None:
            return np.zeros((0, 6))
        K = self.joint.canonical_frame
        out = np.linalg.inv(K)
        C = self.far if q is None else self.near @ out @ self.joint.pose(q) @ K
        S = self.joint.motion_subspace(self.q if q is None else q)
        return np.asarray((adjoint(C @ out) @ S).T)


def loop_joints(system: System, q: FloatArray) -> tuple[LoopJoint, ...]:
    """Return the joints that close the loops of a system."""
    closure = system.arrays.closure
    poses = system.poses(q)
    found = []
    for k, name in enumerate(closure.names):
        row = closure.constraints[k]
        if row["kind"] != layout.LOOP_JOINT:
            continue
        at = int(row["first_site"])
        sites, bodies = closure.sites[at : at + 2], closure.site_bodies[at : at + 2]
        near, far = (
            poses[body]
            @ np.linalg.inv(_pose(system.arrays.frames[body], ""))
            @ _pose(site, "place_")
            for body, site in zip(bodies, sites, strict=True)
        )
        joint = closure.joints[int(row["joint"])]
        own = np.zeros(0)
        if joint is not None:
            K = joint.canonical_frame
            own = joint.configuration_from_pose(K @ np.linalg.inv(near) @ far @ np.linalg.inv(K))
        found.append(LoopJoint(name, (bodies[0], bodies[1]), joint, near, far, own))
    return tuple(found)


def _pose(record: Any, prefix: str) -> FloatArray:
    C = np.eye(4)
    C[:3, :3], C[:3, 3] = record[f"{prefix}R"], record[f"{prefix}p"]
    return C


def loop_screws(system: System, q: FloatArray) -> tuple[LoopScrews, ...]:
    """Return what the joints of each loop generate.

    The screws of a joint in all its configurations, in the frame of its predecessor, generate the
    motions that it makes; those of some random configurations span the same, but by chance.
    """
    samples = _Samples.of(system, q)
    length = system.arrays.closure.length
    scale = np.array([1.0] * 3 + [1.0 / length] * 3)
    found = []
    for joints in cycles(system):
        parts = [samples.screws(name) for name in joints]
        here = np.concatenate([each[0] for each in parts])
        everywhere = np.concatenate([screws for each in parts for screws in each])
        centre = adjoint(np.linalg.inv(samples.near(joints[0]))).T
        generated = algebra(everywhere @ centre * scale)
        rotations = len(span(generated[:, :3], 1e-6))
        found.append(
            LoopScrews(
                name=joints[0],
                joints=joints,
                span=len(span(here @ centre * scale)),
                dimension=len(generated),
                motions=_GROUPS.get((len(generated), rotations), "motions of no group"),
            )
        )
    return tuple(found)


@final
@attrs.frozen(eq=False)
class _Samples:
    """The screws of joints, at a configuration and at random ones.

    Attributes
    ----------
    system : System
        Whose joints.
    loops : dict of str to LoopJoint
        Those that close loops.
    poses, subspaces : ndarray
        Of the tree, where only one joint counts each time: the configuration first.
    """

    system: System
    loops: dict[str, LoopJoint]
    poses: FloatArray
    subspaces: FloatArray

    @classmethod
    def of(cls, system: System, q: FloatArray) -> _Samples:
        rng = np.random.default_rng(0)
        configurations = np.tile(q, (_SAMPLES + 1, 1))
        for joint in system.arrays.joints:
            if joint is not None:
                for sample in configurations[1:]:
                    sample[system.position_slice(joint.name)] = joint.random(rng)
        loops = {loop.name: loop for loop in loop_joints(system, q)}
        return cls(
            system, loops, system.poses(configurations), system.motion_subspaces(configurations)
        )

    def near(self, name: str) -> FloatArray:
        """Return the frame of a joint on its predecessor, in the world."""
        if name in self.loops:
            return self.loops[name].near
        edge = self.system.parts.joints[name]
        C: FloatArray = self.poses[0, self.system.body_index(edge.predecessor)]
        return np.asarray(C @ edge.S_pred @ edge.joint.canonical_frame)

    def screws(self, name: str) -> list[FloatArray]:
        """Return the screws (nv, 6) of a joint in the world: here, then in other configurations."""
        if name in self.loops:
            loop, rng = self.loops[name], np.random.default_rng(1)
            if loop.joint is None:
                return [loop.screws()]
            random = [loop.screws(loop.joint.random(rng)) for _ in range(_SAMPLES)]
            return [loop.screws(), *random]
        tree = self.system.tree
        body = tree.joints.index(name)
        parent, first = int(tree.parents[body]), int(tree.first_velocity[body])
        own = slice(first, first + int(tree.num_velocities[body]))
        # where the parent stands now, with the joint as it is in each sample
        C = self.poses[0, parent] @ np.linalg.inv(self.poses[:, parent]) @ self.poses[:, body]
        return list(self.subspaces[:, own] @ adjoint(C).swapaxes(-1, -2))


def span(rows: FloatArray, tolerance: float = _RANK_TOLERANCE) -> FloatArray:
    """Return an orthonormal basis, by rows, of what rows span."""
    if not rows.size:
        return np.zeros((0, rows.shape[-1]))
    _, sizes, Vt = singular_values(rows, full_matrices=False)
    return np.asarray(Vt[sizes > tolerance * sizes.max()] if sizes.max() > 0.0 else Vt[:0])


def algebra(screws: FloatArray) -> FloatArray:
    """Return a basis, by rows, of the smallest subalgebra of se(3) that holds some screws.

    Brackets of all pairs are added until nothing new comes. Screws as (angular, linear), in lengths
    that make both of a size.

    Examples
    --------
    Two parallel axes generate planar motions, with the translations across them:

    >>> import numpy as np
    >>> one, other = [0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0]
    >>> len(algebra(np.array([one, other], dtype=float)))
    3
    """
    lengths = np.linalg.norm(screws, axis=1, keepdims=True)
    basis = span(screws / np.where(lengths > 0.0, lengths, 1.0))
    while True:
        a, b = basis[:, None], basis[None, :]
        angular = np.cross(a[..., :3], b[..., :3])
        linear = np.cross(a[..., :3], b[..., 3:]) + np.cross(a[..., 3:], b[..., :3])
        brackets = np.concatenate([angular, linear], axis=-1).reshape(-1, 6)
        larger = span(np.concatenate([basis, brackets]))
        if len(larger) == len(basis):
            return basis
        basis = larger

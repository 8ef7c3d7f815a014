"""The robots of example-robot-data: their files, and what Pinocchio itself makes of them."""

from __future__ import annotations

import importlib.metadata
import pathlib
from typing import Any

import numpy as np
import pinocchio as pin

import mbkit as mb
from mbkit.joints.defaults.differences import central_differences
from tests.peers.pinocchio_twin import SWAP

#: Frames of Pinocchio's Jacobians, by mbkit's representations; mixed has rows of two of them.
FRAMES = {
    "body_fixed": (pin.LOCAL, pin.LOCAL),
    "spatial": (pin.WORLD, pin.WORLD),
    "hybrid": (pin.LOCAL_WORLD_ALIGNED, pin.LOCAL_WORLD_ALIGNED),
    "mixed": (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED),  # angular, linear
}

ROOT_JOINT = "root_joint"

#: Pinocchio's inertial parameters (.., xx, xy, yy, xz, yz, zz) in mbkit's order.
MOMENTS = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


def robot_files() -> dict[str, pathlib.Path]:
    """Return all URDF files by folder and stem, such as "talos_data/talos_full_v2"."""
    distribution = importlib.metadata.distribution("example-robot-data")
    files = [pathlib.Path(str(file.locate())) for file in distribution.files or ()]
    urdfs = sorted(file for file in files if file.suffix == ".urdf")
    return {f"{file.parents[1].name.removesuffix('_description')}/{file.stem}": file
            for file in urdfs}  # fmt: skip


class PinocchioRobot:
    """A URDF as Pinocchio reads it; takes and gives mbkit's coordinates, frames and orders.

    The joints are found by their names, the frames by those of the links. Velocities differ by
    their order alone, so that tau, vdot and M do too; positions also by quaternions with the scalar
    last, and by continuous joints, for which Pinocchio has (cos, sin).
    """

    def __init__(self, path: pathlib.Path, system: mb.System, *, floating: bool) -> None:
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        self.model = pin.buildModelFromUrdf(str(path), *root)
        self.model.gravity.linear = np.array(system.gravity)
        self.data = self.model.createData()
        self.system = system
        self.joints = {
            name: self.model.joints[self.model.getJointId(name)]
            for name in system.joint_names
            if system.velocity_slice(name).stop > system.velocity_slice(name).start
        }
        # where each of Pinocchio's velocities stands among mbkit's
        self.order = np.empty(system.nv, dtype=int)
        for name, joint in self.joints.items():
            own = np.arange(system.nv)[system.velocity_slice(name)]
            self.order[joint.idx_v : joint.idx_v + joint.nv] = own[SWAP] if joint.nv == 6 else own
        links = system.body_names[1:]
        self.frames = [0] + [self.model.getFrameId(link, pin.FrameType.BODY) for link in links]

    def positions(self, q: Any) -> Any:
        """Return Pinocchio's positions."""
        found = np.empty(self.model.nq)
        for name, joint in self.joints.items():
            block = q[self.system.position_slice(name)]
            if joint.nv == 6:
                block = block[[4, 5, 6, 1, 2, 3, 0]]
            elif joint.nq == 2:
                block = np.array([np.cos(block[0]), np.sin(block[0])])
            found[joint.idx_q : joint.idx_q + joint.nq] = block
        return found

    def poses(self, q: Any) -> Any:
        """Return the poses of all bodies, the world first."""
        pin.framesForwardKinematics(self.model, self.data, self.positions(q))
        return np.array([self.data.oMf[frame].homogeneous for frame in self.frames])

    def jacobians(self, q: Any, representation: str) -> Any:
        """Return the Jacobians of all bodies, (bodies + 1, 6, nv)."""
        pin.computeJointJacobians(self.model, self.data, self.positions(q))
        return self._of_frames(pin.getFrameJacobian, representation)

    def jacobian_rates(self, q: Any, v: Any, representation: str) -> Any:
        """Return the rates of the Jacobians of all bodies, (bodies + 1, 6, nv)."""
        given = self.model, self.data, self.positions(q), v[self.order]
        pin.computeJointJacobiansTimeVariation(*given)
        return self._of_frames(pin.getFrameJacobianTimeVariation, representation)

    def _of_frames(self, matrix: Any, representation: str) -> Any:
        pin.updateFramePlacements(self.model, self.data)
        found = np.zeros((len(self.frames), 6, self.system.nv))
        for J, frame in zip(found[1:], self.frames[1:], strict=True):
            for rows, reference in zip(
                (slice(3), slice(3, 6)), FRAMES[representation], strict=True
            ):
                own = matrix(self.model, self.data, frame, reference)
                J[rows, self.order] = own[SWAP][rows]
        return found

    def _back(self, vector: Any) -> Any:
        found = np.empty_like(vector)
        found[self.order] = vector
        return found

    def inverse_dynamics(self, q: Any, v: Any, vdot: Any) -> Any:
        """Return tau."""
        q_own, order = self.positions(q), self.order
        return self._back(pin.rnea(self.model, self.data, q_own, v[order], vdot[order]))

    def forward_dynamics(self, q: Any, v: Any, tau: Any) -> Any:
        """Return vdot."""
        q_own, order = self.positions(q), self.order
        return self._back(pin.aba(self.model, self.data, q_own, v[order], tau[order]))

    def mass_matrix(self, q: Any) -> Any:
        """Return M."""
        upper = np.triu(pin.crba(self.model, self.data, self.positions(q)))
        found = np.empty_like(upper)
        found[np.ix_(self.order, self.order)] = upper + np.triu(upper, 1).T
        return found

    def inverse_dynamics_derivatives(self, q: Any, v: Any, vdot: Any) -> tuple[Any, ...]:
        """Return d tau by d q, along steps, and by d v."""
        given = self.positions(q), v[self.order], vdot[self.order]
        found = pin.computeRNEADerivatives(self.model, self.data, *given)
        return tuple(map(self._matrix_back, found[:2]))

    def forward_dynamics_derivatives(self, q: Any, v: Any, tau: Any) -> tuple[Any, ...]:
        """Return d vdot by d q, along steps, by d v and by d tau."""
        given = self.positions(q), v[self.order], tau[self.order]
        found = pin.computeABADerivatives(self.model, self.data, *given)
        return tuple(map(self._matrix_back, found))

    def _matrix_back(self, matrix: Any) -> Any:
        found = np.empty_like(matrix)
        found[np.ix_(self.order, self.order)] = matrix
        return found

    def inverse_dynamics_second_derivatives(self, q: Any, v: Any, vdot: Any) -> tuple[Any, ...]:
        """Return d2 tau by dq dq, dv dv and dq dv, by differences of the first derivatives.

        Pinocchio's own second ones have no binding in Python. Along a step the derivatives of the
        first are of one order of both steps; half the sum of both orders is meant.
        """
        q_own, order = self.positions(q), self.order
        steps, weights = central_differences(8, 1.0 / 32.0)

        def first(q: Any, v: Any) -> Any:
            return np.array(
                pin.computeRNEADerivatives(self.model, self.data, q, v, vdot[order])[:2]
            )

        nv = self.model.nv
        found = np.zeros((3, nv, nv, nv))  # the last index is that of the step
        for k, unit in enumerate(np.eye(nv)):
            for e, weight in zip(steps, weights, strict=True):
                by_q, by_v = first(pin.integrate(self.model, q_own, e * unit), v[order])
                found[0, :, :, k] += weight * by_q
                found[2, :, k, :] += weight * by_v
                found[1, :, :, k] += weight * first(q_own, v[order] + e * unit)[1]
        found[0] = 0.5 * (found[0] + np.swapaxes(found[0], -1, -2))
        back = np.empty_like(found)
        back[np.ix_(range(3), order, order, order)] = found
        return tuple(back)

    def coriolis_matrix(self, q: Any, v: Any) -> Any:
        """Return C."""
        own = pin.computeCoriolisMatrix(self.model, self.data, self.positions(q), v[self.order])
        found = np.empty_like(own)
        found[np.ix_(self.order, self.order)] = own
        return found

    def regressor(self, q: Any, v: Any, vdot: Any) -> tuple[list[int], Any]:
        """Return the bodies whose frames are those of their joints, and their columns of Y.

        Pinocchio has no columns for links that fixed joints hold: they are part of the others.
        """
        q_own, order = self.positions(q), self.order
        own = pin.computeJointTorqueRegressor(self.model, self.data, q_own, v[order], vdot[order])
        blocks = own.reshape((len(order), -1, 10))
        bodies, columns = [], []
        for body, frame in enumerate(self.frames[1:]):
            seat = self.model.frames[frame]
            if seat.parentJoint > 0 and seat.placement.isIdentity():
                bodies.append(body)
                columns.append(blocks[:, seat.parentJoint - 1, MOMENTS])
        found = np.empty((len(order), len(bodies), 10))
        found[order] = np.stack(columns, axis=1)
        return bodies, found

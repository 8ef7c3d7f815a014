"""The same mechanism in Pinocchio, and the maps between its coordinates and mbkit's.

Pinocchio lists the linear part of a twist first and the scalar of a quaternion last, knows no
joint that is turned round, and no screw with any other rate than 1 rad or 1 m by unit of q. A joint
from the tip towards the world has there the inverse motion, whose velocity is -Ad_T v; its
coordinates follow by conversion. For every joint here the velocities are related by a matrix G(q)
with G-dot v = 0 (for -Ad_T v because [v, v] = 0), so that

    v' = G v,   vdot' = G vdot,   tau = G^T tau',   M = G^T M' G,   J = J' G.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pinocchio as pin

import mbkit as mb

#: Rows of a twist: Pinocchio's from mbkit's, and back.
SWAP = [3, 4, 5, 0, 1, 2]


def pose_matrix(R: Any, p: Any) -> Any:
    """Return the 4x4 matrix of a pose."""
    C = np.eye(4)
    C[:3, :3], C[:3, 3] = R, p
    return C


def adjoint(C: Any) -> Any:
    """Return Ad_C for twists (angular, linear)."""
    R, p = C[:3, :3], C[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [pin.skew(p) @ R, R]])


def _rotation(quaternion_wxyz: Any) -> Any:
    w, x, y, z = quaternion_wxyz
    return pin.Quaternion(w, x, y, z).matrix()


@attrs.frozen
class _Twin:
    """One joint in Pinocchio: its model, and where its axis or centre stands in the joint frame."""

    joint: mb.Joint
    turned: bool

    @property
    def sign(self) -> float:
        return -1.0 if self.turned else 1.0

    def model(self) -> tuple[Any, Any]:
        """Return the joint model and the constant pose of its frame in mbkit's joint frame."""
        joint = self.joint
        if type(joint) in _MODELS:
            assert not self.turned  # their velocities turned round are no multiples of ours
            return _MODELS[type(joint)](joint)
        if isinstance(joint, mb.SphericalJoint) and joint.coordinates == "second kind":
            assert not self.turned
            assert joint.factors == ("z", "y", "x")
            return pin.JointModelSphericalZYX(), pose_matrix(np.eye(3), joint.point)
        if isinstance(joint, mb.SphericalJoint):
            return pin.JointModelSpherical(), pose_matrix(np.eye(3), joint.point)
        if isinstance(joint, mb.FreeJoint):
            return pin.JointModelFreeFlyer(), np.eye(4)
        w, v = np.split(joint.screw, 2)
        if not w.any():
            return _prismatic(v / np.linalg.norm(v)), np.eye(4)
        axis = w / np.linalg.norm(w)
        point = np.cross(w, v) / (w @ w)
        pitch = (w @ v) / (w @ w)
        # what is left of w.v for a revolute joint is round-off
        model = (
            _revolute(axis) if abs(pitch) < 1e-14 else pin.JointModelHelicalUnaligned(axis, pitch)
        )
        return model, pose_matrix(np.eye(3), point)

    def rate(self) -> float:
        """Return Pinocchio's coordinate by mbkit's, of a screw."""
        w, v = np.split(self.joint.screw, 2)
        return self.sign * float(np.linalg.norm(w) if w.any() else np.linalg.norm(v))

    def same(self) -> bool:
        """Whether the coordinates are the same in both."""
        joint = self.joint
        angles = isinstance(joint, mb.SphericalJoint) and joint.coordinates == "second kind"
        return angles or type(joint) in _MODELS

    def positions(self, q: Any) -> Any:
        """Return Pinocchio's positions."""
        if isinstance(self.joint, mb.PlanarJoint):
            return np.array([*q[1:], np.cos(q[0]), np.sin(q[0])])
        if self.same():
            return q
        if isinstance(self.joint, mb.SphericalJoint):
            w, x, y, z = q
            return np.array([self.sign * x, self.sign * y, self.sign * z, w])
        if isinstance(self.joint, mb.FreeJoint):
            T = pose_matrix(_rotation(q[:4]), q[4:])
            T = np.linalg.inv(T) if self.turned else T
            w, x, y, z = q[:4]
            return np.array([*T[:3, 3], self.sign * x, self.sign * y, self.sign * z, w])
        return self.rate() * q

    def rates(self, q: Any) -> Any:
        """Return G of this joint, square."""
        if isinstance(self.joint, mb.PlanarJoint):
            return np.eye(3)[[1, 2, 0]]
        if self.same():
            return np.eye(self.joint.num_velocities)
        if isinstance(self.joint, mb.SphericalJoint):
            return -_rotation(q) if self.turned else np.eye(3)
        if isinstance(self.joint, mb.FreeJoint):
            T = pose_matrix(_rotation(q[:4]), q[4:])
            return (-adjoint(T) if self.turned else np.eye(6))[SWAP]
        return np.array([[self.rate()]])


def _cylindrical(joint: Any) -> Any:
    model = pin.JointModelComposite(2)
    model.addJoint(pin.JointModelRZ())
    model.addJoint(pin.JointModelPZ())
    return model, joint.canonical_frame


def _universal(joint: Any) -> Any:
    axes = (axis / np.linalg.norm(axis) for axis in (joint.axis1, joint.axis2))
    return pin.JointModelUniversal(*axes), pose_matrix(np.eye(3), joint.point)


#: What Pinocchio has of joints of several freedoms, and where its axes stand in the joint frame.
_MODELS: dict[type, Callable[[Any], Any]] = {
    mb.CylindricalJoint: _cylindrical,
    mb.UniversalJoint: _universal,
    mb.PlanarJoint: lambda joint: (pin.JointModelPlanar(), joint.canonical_frame),
    mb.TranslationalJoint: lambda joint: (
        pin.JointModelTranslation(),
        pose_matrix(joint.axes.T, np.zeros(3)),
    ),
}


def _revolute(axis: Any) -> Any:
    aligned = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    return (
        aligned[int(axis.argmax())]()
        if axis.max() == 1.0
        else pin.JointModelRevoluteUnaligned(axis)
    )


def _prismatic(axis: Any) -> Any:
    aligned = (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)
    return (
        aligned[int(axis.argmax())]()
        if axis.max() == 1.0
        else pin.JointModelPrismaticUnaligned(axis)
    )


class PinocchioTwin:
    """A mechanism in Pinocchio; takes and gives mbkit's coordinates, frames and orders.

    Its joints are in depth-first order, which Pinocchio's crba and aba ask for.
    """

    def __init__(self, mechanism: mb.Mechanism, system: mb.System) -> None:
        self.system = system
        self.model = pin.Model()
        self.model.gravity.linear = np.array(mechanism.gravity)
        self.twins: dict[str, _Twin] = {}
        self.joint_ids: dict[str, int] = {}
        self.frame_ids: list[int] = []
        self._build(mechanism)
        self.data = self.model.createData()

    def _build(self, mechanism: mb.Mechanism) -> None:
        topology = mechanism.topology()
        seats: dict[str, tuple[int, Any]] = {"world": (0, np.eye(4))}
        for child, parent, name, turned in zip(
            topology.bodies[1:],
            topology.parent[1:],
            topology.joint_of_body[1:],
            topology.reversed[1:],
            strict=True,
        ):
            edge = mechanism.joints[name]
            carrier, seat = seats[topology.bodies[parent]]
            near, far = (edge.S_succ, edge.S_pred) if turned else (edge.S_pred, edge.S_succ)
            if edge.joint.num_velocities == 0:
                seats[child] = carrier, seat @ near @ np.linalg.inv(far)
            else:
                twin = _Twin(edge.joint, turned)
                joint_model, K = twin.model()
                index = self.model.addJoint(carrier, joint_model, pin.SE3(seat @ near @ K), name)
                self.twins[name], self.joint_ids[name] = twin, index
                seats[child] = index, np.linalg.inv(far @ K)
            index, pose = seats[child]
            inertia = mechanism.bodies[child].inertia
            self.model.appendBodyToJoint(
                index,
                pin.Inertia(
                    inertia.mass, np.array(inertia.com), np.array(inertia.moment_about_com)
                ),
                pin.SE3(pose),
            )
        for name in self.system.body_names:
            index, pose = seats[name]
            frame = pin.Frame(name, index, pin.SE3(pose), pin.FrameType.OP_FRAME)
            self.frame_ids.append(self.model.addFrame(frame))

    # ------------------------------------------------------------------------- coordinates

    def positions(self, q: Any) -> Any:
        """Return Pinocchio's positions."""
        result = np.empty(self.model.nq)
        for name, twin in self.twins.items():
            joint = self.model.joints[self.joint_ids[name]]
            block = q[self.system.position_slice(name)]
            result[joint.idx_q : joint.idx_q + joint.nq] = twin.positions(block)
        return result

    def rates(self, q: Any) -> Any:
        """Return G(q), shape (nv, nv)."""
        G = np.zeros((self.model.nv, self.system.nv))
        for name, twin in self.twins.items():
            joint = self.model.joints[self.joint_ids[name]]
            block = twin.rates(q[self.system.position_slice(name)])
            rows = slice(joint.idx_v, joint.idx_v + joint.nv)
            G[rows, self.system.velocity_slice(name)] = block
        return G

    # ---------------------------------------------------------------- what mbkit computes too

    def poses(self, q: Any) -> Any:
        """Return the poses of all bodies, the world first."""
        pin.framesForwardKinematics(self.model, self.data, self.positions(q))
        return np.array([self.data.oMf[i].homogeneous for i in self.frame_ids])

    def jacobian(self, body: str, q: Any) -> Any:
        """Return the body-fixed Jacobian of a body."""
        frame = self.frame_ids[self.system.body_index(body)]
        J = pin.computeFrameJacobian(self.model, self.data, self.positions(q), frame, pin.LOCAL)
        return J[SWAP] @ self.rates(q)

    def jacobian_rate(self, body: str, q: Any, v: Any, frame: Any) -> Any:
        """Return the rate of the Jacobian of a body in LOCAL or WORLD, where G is constant."""
        G = self.rates(q)
        x = self.positions(q)
        pin.computeJointJacobiansTimeVariation(self.model, self.data, x, G @ v)
        pin.updateFramePlacements(self.model, self.data)
        place = self.frame_ids[self.system.body_index(body)]
        return pin.getFrameJacobianTimeVariation(self.model, self.data, place, frame)[SWAP] @ G

    def inverse_dynamics(self, q: Any, v: Any, vdot: Any) -> Any:
        """Return tau."""
        G = self.rates(q)
        return G.T @ pin.rnea(self.model, self.data, self.positions(q), G @ v, G @ vdot)

    def forward_dynamics(self, q: Any, v: Any, tau: Any) -> Any:
        """Return vdot."""
        G = self.rates(q)
        forces = np.linalg.solve(G.T, tau)
        return np.linalg.solve(G, pin.aba(self.model, self.data, self.positions(q), G @ v, forces))

    def mass_matrix(self, q: Any) -> Any:
        """Return M."""
        G = self.rates(q)
        upper = np.triu(pin.crba(self.model, self.data, self.positions(q)))
        return G.T @ (upper + np.triu(upper, 1).T) @ G

    def inverse_dynamics_derivatives(self, q: Any, v: Any, vdot: Any) -> tuple[Any, Any]:
        """Return d tau by d q, along steps, and by d v, where G is constant."""
        G = self.rates(q)
        found = pin.computeRNEADerivatives(
            self.model, self.data, self.positions(q), G @ v, G @ vdot
        )
        return G.T @ found[0] @ G, G.T @ found[1] @ G

    def forward_dynamics_derivatives(self, q: Any, v: Any, tau: Any) -> tuple[Any, Any, Any]:
        """Return d vdot by d q, along steps, by d v and by d tau, where G is constant."""
        G = self.rates(q)
        back = np.linalg.inv(G)
        found = pin.computeABADerivatives(
            self.model, self.data, self.positions(q), G @ v, back.T @ tau
        )
        return back @ found[0] @ G, back @ found[1] @ G, back @ found[2] @ back.T

    def coriolis_matrix(self, q: Any, v: Any) -> Any:
        """Return C, where G is constant."""
        G = self.rates(q)
        C = pin.computeCoriolisMatrix(self.model, self.data, self.positions(q), G @ v)
        return G.T @ C @ G

"""From a compiled model of MuJoCo to a mechanism.

MuJoCo places a body by C = B T_1(q_1) T_2(q_2) ..., with B its pose in its parent and the joints'
screws in the frame of the body where all are at zero. Here each joint leads to a body of its own:
those but the last have no inertia.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

import mbkit.io.mjcf.kinds as k
from mbkit.constraints import GearRatio, PolynomialCoupling
from mbkit.errors import MbkitError, ModelFileError, check_choice, printable
from mbkit.forces import BodyWrench, JointDamper, JointSpring
from mbkit.io.mjcf.names import Names, names_of
from mbkit.io.mjcf.shapes import shapes_of
from mbkit.io.xml.quoting import free_name
from mbkit.joints import (
    FixedJoint,
    FreeJoint,
    Joint,
    PrismaticJoint,
    RevoluteJoint,
    SphericalJoint,
)
from mbkit.model import Body, JointFriction, JointLimits, Mechanism
from mbkit.spatial import FloatArray, SpatialInertia, inverse, pose_from_quaternion

if TYPE_CHECKING:
    from mbkit.io.mjcf.document import Mjcf

__all__ = ["build_mechanism"]

_ONE = np.eye(4)


def build_mechanism(mjcf: Mjcf, armature: str) -> Mechanism:
    """Return the mechanism of a document; see `Mjcf.mechanism`."""
    check_choice("armature", armature, ("rotors", "ignore"))
    try:
        return _Build(mjcf).run(with_rotors=armature == "rotors")
    except MbkitError as error:
        raise ModelFileError(f"MJCF file '{printable(mjcf.source)}': {error}") from error


class _Build:
    def __init__(self, mjcf: Mjcf) -> None:
        self.mjcf = mjcf
        self.model = mjcf.model
        self.names: Names = names_of(self.model)
        self.off = int(self.model.opt.disableflags)
        gravity = np.zeros(3) if self.off & k.GRAVITY else np.array(self.model.opt.gravity)
        shapes = shapes_of(mjcf.model, mjcf.meshes, 0)
        self.mechanism = Mechanism(mjcf.name, gravity, world_shapes=shapes)

    @functools.cached_property
    def held(self) -> dict[int, float]:
        """Positions of joints that an equality holds where they are, by MuJoCo's numbers."""
        m, found = self.model, {}
        for e in range(0 if self.off & k.EQUALITY else m.neq):
            if m.eq_active0[e] and m.eq_type[e] == k.COUPLING and m.eq_obj2id[e] < 0:
                j = int(m.eq_obj1id[e])
                found[j] = float(m.qpos0[m.jnt_qposadr[j]] + m.eq_data[e, 0])
        return found

    def run(self, *, with_rotors: bool) -> Mechanism:
        for body in range(1, self.model.nbody):
            self.body(body)
        if with_rotors:
            for joint in range(self.model.njnt):
                self.rotor(joint)
        if not self.off & k.EQUALITY:
            for equality in range(self.model.neq):
                self.equality(equality)
        return self.mechanism

    # ------------------------------------------------------------------------------ bodies

    def body(self, i: int) -> None:
        """Add a body, and the joints between it and its parent."""
        m, name = self.model, self.names.bodies[i]
        frames = {
            self.names.sites[s]: pose_from_quaternion(m.site_pos[s], m.site_quat[s])
            for s in range(m.nsite)
            if m.site_bodyid[s] == i and self.names.sites[s]
        }
        shapes = shapes_of(m, self.mjcf.meshes, i)
        self.mechanism.add_body(Body(name, _inertia(m, i), frames=frames, shapes=shapes))
        before = self.names.bodies[m.body_parentid[i]]
        B = pose_from_quaternion(m.body_pos[i], m.body_quat[i])
        joints = range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i])
        if not joints:
            weld = FixedJoint(free_name(f"{name} fixed", self.names.joints))
            self.mechanism.add_joint(weld, before, name, frames=(B, _ONE))
        for j in joints:
            after = name
            if j != joints[-1]:
                after = free_name(f"{name} after {self.names.joints[j]}", self.names.bodies)
                self.mechanism.add_body(Body(after))
            self.joint(j, before, after, B)
            before, B = after, _ONE
        if m.body_gravcomp[i] and m.body_mass[i] and self.mechanism.gravity.any():
            lift = -m.body_gravcomp[i] * m.body_mass[i] * self.mechanism.gravity
            wrench = np.concatenate([np.zeros(3), lift])
            what = f"gravity compensation of {name}"
            self.mechanism.add_force(BodyWrench(what, name, wrench, point=m.body_ipos[i]))

    # ------------------------------------------------------------------------------ joints

    def joint(self, j: int, before: str, after: str, B: FloatArray) -> None:
        """Add a joint with its limits, its friction, its spring and its damper."""
        m, name, kind = self.model, self.names.joints[j], int(self.model.jnt_type[j])
        joint = _joint(name, kind, np.array(m.jnt_axis[j]), np.array(m.jnt_pos[j]))
        at, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        T = _ONE
        if kind == k.FREE:  # its position is the pose itself
            B, T = _ONE, B
        elif kind != k.BALL and m.qpos0[at]:  # B is where the position is qpos0
            T = joint.pose(np.array(m.qpos0[at : at + 1]))
            B = B @ inverse(T)
        frames = (B, _ONE) if T is _ONE else (B, _ONE, T)
        limits = self.limits(j) if kind in (k.SLIDE, k.HINGE) else None
        losses = np.array(m.dof_frictionloss[dof : dof + joint.num_velocities])
        friction = JointFriction(friction=losses) if losses.any() else None
        held = self.held.get(j)
        self.mechanism.add_joint(
            joint if held is None else joint.prescribe(repr(held)), before, after, frames=frames,
            limits=limits, friction=friction,
        )  # fmt: skip
        stiffness, damping = float(m.jnt_stiffness[j]), float(m.dof_damping[dof])
        if stiffness and kind in (k.SLIDE, k.HINGE) and not self.off & k.SPRING:
            rest = float(m.qpos_spring[at])
            spring = JointSpring(f"spring of {name}", name, stiffness=stiffness, rest=rest)
            self.mechanism.add_force(spring)
        if damping and not self.off & k.DAMPER:
            self.mechanism.add_force(JointDamper(f"damper of {name}", name, damping=damping))

    def limits(self, j: int) -> JointLimits | None:
        """Return the limits of a hinge or a slide, None without any."""
        m, found = self.model, {}
        if m.jnt_limited[j] and not self.off & k.LIMIT:
            found["lower"], found["upper"] = (float(x) for x in m.jnt_range[j])
        if m.jnt_actfrclimited[j]:
            found["effort"] = float(np.abs(m.jnt_actfrcrange[j]).max())
        return JointLimits(**found) if found else None

    def rotor(self, j: int) -> None:
        """Add a disc on the world that turns with a hinge or a slide: its inertia is the armature.

        The disc's centre of mass is on its axis, so that gravity does nothing to it.
        """
        m, name = self.model, self.names.joints[j]
        a = float(m.dof_armature[m.jnt_dofadr[j]])
        if not a or m.jnt_type[j] not in (k.SLIDE, k.HINGE):
            return
        disc = free_name(f"rotor of {name}", self.mechanism.bodies)
        axle = free_name(f"rotor of {name}", self.names.joints)
        inertia = SpatialInertia.from_com(a, np.zeros(3), np.diag([0.5 * a, 0.5 * a, a]))
        self.mechanism.add_body(Body(disc, inertia))
        self.mechanism.add_joint(RevoluteJoint(axle), "world", disc, frames=(_ONE, _ONE))
        gear = free_name(f"{axle} turns with it", self.names.joints)
        self.mechanism.add_constraint(GearRatio(gear, name, axle, ratio=1.0))

    # -------------------------------------------------------------------------- equalities

    def equality(self, e: int) -> None:
        """Add the constraint of an equality, if it is active and mbkit has such a constraint."""
        m, name, kind = self.model, self.names.equalities[e], int(self.model.eq_type[e])
        if not m.eq_active0[e]:
            return
        if kind == k.COUPLING and m.eq_obj2id[e] >= 0:
            self.coupling(e, name)
        elif kind in (k.CONNECT, k.WELD):
            data = m.eq_data[e]
            ends = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
            if int(m.eq_objtype[e]) == k.SITE:
                frames = [pose_from_quaternion(m.site_pos[s], m.site_quat[s]) for s in ends]
                ends = [int(m.site_bodyid[s]) for s in ends]
            elif kind == k.CONNECT:
                frames = [pose_from_quaternion(data[:3]), pose_from_quaternion(data[3:6])]
            else:  # the place in the second body stands first
                quaternion = data[6:10] / np.linalg.norm(data[6:10])
                frames = [
                    pose_from_quaternion(data[3:6], quaternion),
                    pose_from_quaternion(data[:3]),
                ]
            joint = SphericalJoint(name) if kind == k.CONNECT else FixedJoint(name)
            first, second = (self.names.bodies[i] for i in ends)
            self.mechanism.add_joint(joint, first, second, frames=frames)

    def coupling(self, e: int, name: str) -> None:
        """Add q_1 - r_1 = a_0 + a_1 (q_2 - r_2) + ..., with r the positions in qpos0."""
        m = self.model
        first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        r = [float(m.qpos0[m.jnt_qposadr[j]]) for j in (first, second)]
        polynomial = np.polynomial.Polynomial(np.trim_zeros(m.eq_data[e][:5], "b"))
        moved: Any = polynomial(np.polynomial.Polynomial([-r[1], 1.0])) + r[0]
        c = np.atleast_1d(getattr(moved, "coef", moved))
        ends = self.names.joints[second], self.names.joints[first]
        if c.size == 2:
            self.mechanism.add_constraint(GearRatio(name, *ends, ratio=c[1], offset=c[0]))
        else:
            self.mechanism.add_constraint(PolynomialCoupling(name, *ends, coefficients=c))


def _joint(name: str, kind: int, axis: FloatArray, point: FloatArray) -> Joint:
    if kind == k.FREE:
        return FreeJoint(name)
    if kind == k.BALL:
        return SphericalJoint(name, point=point)
    if kind == k.SLIDE:
        return PrismaticJoint(name, axis=axis)
    return RevoluteJoint(name, axis=axis, point=point)


def _inertia(m: Any, i: int) -> SpatialInertia:
    if not m.body_mass[i]:
        return SpatialInertia.zero()
    R = pose_from_quaternion(quaternion_wxyz=m.body_iquat[i])[:3, :3]
    moment = (R * m.body_inertia[i]) @ R.T
    moment = 0.5 * (moment + moment.T)
    return SpatialInertia.from_com(float(m.body_mass[i]), m.body_ipos[i], moment, unphysical=True)

"""Plan of an MJCF: the bodies of MuJoCo's tree, with one or more joints each, and all losses.

MuJoCo's bodies that move must have a mass: a body without one between two joints is left out, and
its joint becomes one more joint of the body behind. A disc on the world that turns with a joint by
a `GearRatio`, as `load_mjcf` makes it of an armature, becomes an armature again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs
import numpy as np

from mbkit.constraints import GearRatio, PolynomialCoupling
from mbkit.errors import ModelFileError, listed
from mbkit.forces import BodyWrench, DryFriction, JointDamper, JointSpring
from mbkit.io.xml.quoting import numbers_text
from mbkit.joints import FixedJoint, FreeJoint, PrismaticJoint, RevoluteJoint, SphericalJoint
from mbkit.model import Connection, Mechanism
from mbkit.spatial import FloatArray, SpatialInertia, inverse

__all__ = ["Plan", "Step", "plan_of"]

_KINDS: dict[type[Any], str] = {
    RevoluteJoint: "hinge", PrismaticJoint: "slide", SphericalJoint: "ball", FreeJoint: "free",
    FixedJoint: "weld",
}  # fmt: skip
_SCALAR = ("hinge", "slide")

#: Polynomials of MuJoCo's equalities have five coefficients.
_COEFFICIENTS = 5


class PlannedJoint(NamedTuple):
    """A joint of a body of MuJoCo: axis and point in the frame of the body in the reference."""

    name: str
    kind: str
    axis: FloatArray
    point: FloatArray


class Step(NamedTuple):
    """From a body's parent to the body: its pose in the reference, and its joints."""

    parent: str
    B: FloatArray
    joints: list[PlannedJoint]


@attrs.define(eq=False)
class Plan:
    """The elements of a mechanism that are written, and notes on those that are not."""

    mechanism: Mechanism
    kinds: dict[str, str]  # of joints
    loops: tuple[str, ...]
    steps: dict[str, Step] = attrs.field(factory=dict)
    data: dict[str, dict[str, str]] = attrs.field(factory=dict)  # further attributes of joints
    references: dict[str, float] = attrs.field(factory=dict)  # of hinges and slides
    lifts: dict[str, float] = attrs.field(factory=dict)  # parts of the weight of bodies
    couplings: dict[str, tuple[str, str, Any]] = attrs.field(factory=dict)
    sites: list[tuple[str, str, FloatArray]] = attrs.field(factory=list)
    size: float = 0.1  # between points of an axis [m]
    notes: list[str] = attrs.field(factory=list)


def plan_of(mechanism: Mechanism) -> Plan:
    """Return the plan; ModelFileError, with the reason, where MJCF cannot hold the mechanism."""
    what = f"Mechanism '{mechanism.name}' cannot be written as MJCF"
    kinds = {}
    for name, edge in mechanism.joints.items():
        if type(edge.joint) not in _KINDS:
            raise ModelFileError(
                f"{what}: joint '{name}' is a {type(edge.joint).__name__}, and an MJCF has hinges, "
                "slides, balls, free joints and welds alone; write a TOML file."
            )
        kinds[name] = _KINDS[type(edge.joint)]
    topology = mechanism.topology(_closing(mechanism, kinds) or None)
    plan = Plan(mechanism, kinds, tuple(topology.loop_joints))
    if wrong := [name for name in plan.loops if kinds[name] in ("slide", "free")]:
        raise ModelFileError(
            f"{what}: loops are closed by {listed(wrong)}, and equalities of MuJoCo are those of "
            "hinges, balls and welds; write a TOML file."
        )
    rotors = _rotors(mechanism)
    for body, parent, joint, turned in topology.tree_edges:
        if joint not in rotors:
            plan.steps[body] = _step(plan, what, parent, joint, turned=turned)
    _fold(plan)
    _check_masses(plan, what)
    _data(plan, rotors)
    _constraints(plan, rotors)
    _other_notes(plan)
    return plan


def _closing(mechanism: Mechanism, kinds: dict[str, str]) -> list[str]:
    """Return joints that close loops: welds first, then balls, then those that were added last.

    The tree is that of Kruskal, "On the shortest spanning subtree of a graph", Proc. Amer. Math.
    Soc. 7 (1956) 48-50.
    """
    group = {name: name for name in ("world", *mechanism.bodies)}

    def leader(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    order = {"free": 0, "slide": 0, "hinge": 0, "ball": 1, "weld": 2}
    loop_joints = []
    for name in sorted(kinds, key=lambda each: order[kinds[each]]):
        first, second = (leader(body) for body in _ends(mechanism.joints[name]))
        if first == second:
            loop_joints.append(name)
        group[first] = second
    return loop_joints


def _step(plan: Plan, what: str, parent: str, name: str, *, turned: bool) -> Step:
    """Return the way over a joint: C = B (S_succ T S_succ^-1) from the reference on."""
    edge, kind = plan.mechanism.joints[name], plan.kinds[name]
    joint: Any = edge.joint
    if kind in ("ball", "free") and (turned or joint.coordinates != "group"):
        raise ModelFileError(
            f"{what}: joint '{name}' must lead away from the world and have coordinates='group', "
            "as MuJoCo's balls and free joints do; write a TOML file."
        )
    if kind == "free" and parent != "world":
        raise ModelFileError(
            f"{what}: the free joint '{name}' must begin at the world, as MuJoCo's do; write a "
            "TOML file."
        )
    near, far = (edge.S_succ, edge.S_pred) if turned else (edge.S_pred, edge.S_succ)
    T = inverse(edge.T_reference) if turned else edge.T_reference
    B = near @ T @ inverse(far)
    if kind == "weld":
        return Step(parent, B, [])
    own = getattr(joint, "axis", np.zeros(3))
    axis = far[:3, :3] @ (-own if turned else own)
    point = (far @ np.append(getattr(joint, "point", np.zeros(3)), 1.0))[:3]
    if kind in _SCALAR:
        plan.references[name] = float(edge.reference[0])
    moved = kind == "free" and not np.array_equal(edge.S_pred, np.eye(4))
    if kind in ("ball", "free") and (moved or not np.array_equal(far[:3, :3], np.eye(3))):
        plan.notes.append(f"the axes of '{name}', whose positions are those of the body's axes")
    if kind == "free" and far[:3, 3].any():
        plan.notes.append(f"the point of '{name}', whose positions are those of the body's origin")
    return Step(parent, B, [PlannedJoint(name, kind, axis, point)])


def _fold(plan: Plan) -> None:
    """Leave out bodies without mass between two joints, with all that stands on them."""
    mechanism = plan.mechanism
    held = {body for force in mechanism.forces.values() for body in force.bodies}
    held |= {body for each in mechanism.constraints.values() for body in each.bodies}
    for name in plan.loops:
        held |= {mechanism.joints[name].predecessor, mechanism.joints[name].successor}
    for name in list(plan.steps):
        body = mechanism.bodies[name]
        behind = [child for child, step in plan.steps.items() if step.parent == name]
        is_bare = body.inertia == SpatialInertia.zero() and not (body.frames or body.shapes)
        if not (is_bare and len(behind) == 1 and name not in held):
            continue
        first, second = plan.steps[name], plan.steps[behind[0]]
        kinds = [joint.kind for joint in (*first.joints, *second.joints)]
        if not (first.joints and second.joints) or "free" in kinds:
            continue
        back = inverse(second.B)
        seen = [
            each._replace(
                axis=back[:3, :3] @ each.axis, point=(back @ np.append(each.point, 1.0))[:3]
            )
            for each in first.joints
        ]
        plan.steps[behind[0]] = Step(first.parent, first.B @ second.B, [*seen, *second.joints])
        del plan.steps[name]
    _order(plan)


def _order(plan: Plan) -> None:
    """Let parents stand before their children again."""
    ordered: dict[str, Step] = {}
    while len(ordered) < len(plan.steps):
        for name, step in plan.steps.items():
            if name not in ordered and (step.parent == "world" or step.parent in ordered):
                ordered[name] = step
    plan.steps = ordered


def _check_masses(plan: Plan, what: str) -> None:
    """Refuse bodies that MuJoCo does not take."""
    for name, step in plan.steps.items():
        inertia = plan.mechanism.bodies[name].inertia
        rigid = [name, *_welded(plan, name)]
        whole = [plan.mechanism.bodies[each].inertia for each in rigid]
        is_solid = any((np.linalg.eigvalsh(each.moment_about_com) > 0.0).all() for each in whole)
        if step.joints and not is_solid:
            raise ModelFileError(
                f"{what}: body '{name}' moves, and MuJoCo wants mass and moments about all axes of "
                "it, or of a body that is welded to it; give it some."
            )
        if inertia.unphysical:
            raise ModelFileError(
                f"{what}: body '{name}' has moments of inertia that no body has, which MuJoCo "
                "refuses; correct them."
            )


def _welded(plan: Plan, name: str) -> list[str]:
    own = [child for child, step in plan.steps.items() if step.parent == name and not step.joints]
    return own + [each for child in own for each in _welded(plan, child)]


def _rotors(mechanism: Mechanism) -> dict[str, tuple[str, float]]:
    """Return joints of discs on the world: the joint that each turns with, and its armature there.

    The disc does nothing else: its centre of mass is on its axis, and no other part names it.
    """
    found = {}
    for gear in mechanism.constraints.values():
        if not isinstance(gear, GearRatio):
            continue
        edge: Connection = mechanism.joints[gear.driven]
        if type(edge.joint) is not RevoluteJoint or edge.predecessor != "world":
            continue
        body = mechanism.bodies[edge.successor]
        joints = [each for each in mechanism.joints.values() if body.name in _ends(each)]
        parts: list[Any] = [*mechanism.forces.values(), *mechanism.constraints.values()]
        others = [each for each in parts if gear.driven in each.joints or body.name in each.bodies]
        if len(joints) > 1 or others != [gear] or body.frames or body.shapes or edge.motion:
            continue
        axis = edge.S_succ[:3, :3] @ edge.joint.axis
        point = (edge.S_succ @ np.append(edge.joint.point, 1.0))[:3]
        if np.abs(np.cross(axis, body.inertia.com - point)).max() > 1e-12:
            continue
        moment = float(axis @ body.inertia.moment_about_com @ axis)
        found[gear.driven] = (gear.driver, gear.ratio**2 * moment)
    return found


def _ends(edge: Connection) -> tuple[str, str]:
    return edge.predecessor, edge.successor


def _data(plan: Plan, rotors: dict[str, tuple[str, float]]) -> None:
    """Fill in limits, references, springs, dampers, friction and armature of joints."""
    mechanism = plan.mechanism
    in_tree = [joint for step in plan.steps.values() for joint in step.joints]
    armature: dict[str, float] = {}
    for driver, value in rotors.values():
        armature[driver] = armature.get(driver, 0.0) + value
    lost = []
    for name, kind, *_ in in_tree:
        edge, about = mechanism.joints[name], {}
        if kind in _SCALAR:
            lower, upper = edge.limits.of_positions(edge.joint)[0]
            effort = edge.limits.of_efforts(edge.joint)[0]
            if np.isfinite([lower, upper]).all():
                about["range"] = numbers_text([lower, upper])
            elif np.isfinite([lower, upper]).any():
                lost.append(name)
            if np.isfinite(effort):
                about["actuatorfrcrange"] = numbers_text([-effort, effort])
            if plan.references[name]:
                about["ref"] = numbers_text(plan.references[name])
            if name in armature:
                about["armature"] = numbers_text(armature[name])
        if np.isfinite(edge.limits.of_velocities(edge.joint)).any():
            lost.append(name)
        plan.data[name] = about
    if lost:
        plan.notes.append(f"limits of velocities, and those of one side, of {listed(lost)}")
    forces = []
    for name, force in mechanism.forces.items():
        if not (_passive(plan, force) or _lifts(plan, force)):
            forces.append(name)
    if forces:
        plan.notes.append(f"the forces {listed(forces)}")


def _passive(plan: Plan, force: Any) -> bool:
    """Whether a force is a spring, a damper or friction of a joint, of which each has one."""
    keys = {JointSpring: "stiffness", JointDamper: "damping", DryFriction: "frictionloss"}
    key = keys.get(type(force))
    about = None if key is None else plan.data.get(force.joint)
    if key is None or about is None or key in about:
        return False
    if plan.kinds[force.joint] not in _SCALAR and key != "damping":
        return False
    if type(force) is JointSpring:
        about |= {"stiffness": numbers_text(force.stiffness), "springref": numbers_text(force.rest)}
    else:
        about[key] = numbers_text(getattr(force, "damping", getattr(force, "friction", 0.0)))
    if type(force) is DryFriction:
        plan.notes.append(f"the smoothing of '{force.name}': MuJoCo's friction sticks")
    return True


def _lifts(plan: Plan, force: Any) -> bool:
    """Whether a force holds a part of the weight of a body, as `load_mjcf` makes it of gravcomp."""
    if not isinstance(force, BodyWrench) or len(force.wrench) != 1 or force.axes != "world":
        return False
    inertia, g = plan.mechanism.bodies[force.body].inertia, plan.mechanism.gravity
    if force.body in plan.lifts or not np.array_equal(force.point, inertia.com) or not g.any():
        return False
    weight = np.concatenate([np.zeros(3), inertia.mass * g])
    part = float(-force.wrench[0] @ weight / (weight @ weight))
    if part <= 0.0 or np.abs(force.wrench[0] + part * weight).max() > 1e-12 * np.abs(weight).max():
        return False
    plan.lifts[force.body] = part
    return True


def _constraints(plan: Plan, rotors: dict[str, tuple[str, float]]) -> None:
    lost = []
    for name, each in plan.mechanism.constraints.items():
        if isinstance(each, GearRatio | PolynomialCoupling):
            if each.driven in rotors:
                continue
            c: Any = (
                np.array([each.offset, each.ratio])
                if isinstance(each, GearRatio)
                else np.trim_zeros(each.coefficients, "b")
            )
            if {each.driver, each.driven} <= {*plan.references} and len(c) <= _COEFFICIENTS:
                plan.couplings[name] = (each.driven, each.driver, c)
                continue
        lost.append(name)
    if lost:
        plan.notes.append(f"the constraints {listed(lost)}")


def _other_notes(plan: Plan) -> None:
    mechanism, notes = plan.mechanism, plan.notes
    edges = mechanism.joints.items()
    if damped := [n for n, edge in edges if np.any(edge.friction.damping)]:
        notes.append(f"damping that is data of {listed(damped)}")
    if rough := [n for n, edge in edges if np.any(edge.friction.friction)]:
        notes.append(f"friction that is data of {listed(rough)}")
    if moved := [n for n, edge in edges if edge.motion is not None]:
        notes.append(f"the prescribed motion of joints {listed(moved)}")
    if any(not np.array_equal(body.pose, np.eye(4)) for body in mechanism.bodies.values()):
        notes.append("the reference poses of bodies, which joints no longer need")

"""The first day of a robotics student: an arm from URDF, and a Stewart platform.

The arm has two links in a vertical plane, as in every textbook, and a tool on the second one:
poses, inverse kinematics, torques and a controller are compared with formulas. Run it:

    python examples/first_days/robotics_student.py
"""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import numpy as np

import mbkit as mb
from mbkit.spatial import rotation, translation

MODEL = pathlib.Path(__file__).parents[1] / "models" / "two_link_arm.urdf"


def textbook(q: Any, v: Any, vdot: Any) -> Any:
    """Return the torques of the arm's two motors: M vdot + C v + g."""
    (q1, q2), (v1, v2), (a1, a2) = q, v, vdot
    m22 = 0.03 + 2 * 0.2**2
    m12 = m22 + 2 * 0.5 * 0.2 * np.cos(q2)
    m11 = 0.06 + 3 * 0.25**2 + 2 * 0.5**2 + m12 + 2 * 0.5 * 0.2 * np.cos(q2)
    c = 2 * 0.5 * 0.2 * np.sin(q2)
    g2 = 2 * 9.81 * 0.2 * np.cos(q1 + q2)
    g1 = (3 * 0.25 + 2 * 0.5) * 9.81 * np.cos(q1) + g2
    return [
        m11 * a1 + m12 * a2 - c * (2 * v1 * v2 + v2**2) + g1,
        m12 * a1 + m22 * a2 + c * v1**2 + g2,
    ]


def check(what: str, found: Any, expected: Any, tolerance: float) -> None:
    """Print the error, and refuse one beyond the tolerance."""
    error = np.abs(np.asarray(found) - expected).max()
    print(f"  {what}: {error:.1e} from the formula")
    assert error < tolerance, (what, found, expected)


def arm() -> None:
    """Look at the arm, reach a point, and follow a path."""
    mechanism = mb.load_urdf(MODEL)
    system = mechanism.assemble()
    q, v, vdot = np.array([0.4, 0.9]), np.array([1.0, -2.0]), np.array([3.0, 0.5])

    print("The tool, its Jacobian, and the torques:")
    s1, c1, s12, c12 = 0.5 * np.sin(0.4), 0.5 * np.cos(0.4), 0.4 * np.sin(1.3), 0.4 * np.cos(1.3)
    check("position [m]", system.pose("tool", q)[:3, 3], [c1 + c12, 0, s1 + s12], 1e-14)
    jacobian = system.jacobian("tool", q, representation=mb.Hybrid())[[3, 5]]
    check("Jacobian [m]", jacobian, [[-s1 - s12, -s12], [c1 + c12, c12]], 1e-14)
    check("torques [N m]", system.inverse_dynamics(q, v, vdot), textbook(q, v, vdot), 1e-13)
    check("torques at rest [N m]", system.bias_force(q, 0 * v), textbook(q, 0 * v, 0 * v), 1e-13)

    print("Inverse kinematics of a point, and of one out of reach:")
    point = mb.PoseTarget(translation((0.6, 0, 0.3)), rows="linear")
    found = mb.inverse_kinematics(system, {"tool": point}, q=q)
    elbow = np.arccos((0.6**2 + 0.3**2 - 0.5**2 - 0.4**2) / (2 * 0.5 * 0.4))  # law of cosines
    check("elbow [rad]", found.q[1], elbow, 1e-9)
    far = mb.PoseTarget(translation((0.8, 0, 0.6)), rows="linear")
    found = mb.inverse_kinematics(system, {"tool": far}, q=q)
    print(f"  {found.reason}")
    check("distance left [m]", np.linalg.norm(found.errors["tool"]), 1.0 - 0.9, 1e-9)

    print("Computed torque:")

    def motors(t: float, q: Any, v: Any) -> Any:
        target = np.array([0.5 + 0.3 * np.sin(2 * t), 1.0])
        target_v = np.array([0.6 * np.cos(2 * t), 0.0])
        target_a = np.array([-1.2 * np.sin(2 * t), 0.0])
        return system.inverse_dynamics(q, v, target_a - 20 * (v - target_v) - 100 * (q - target))

    def difference(tau: Any) -> Any:
        """Return what the error of a run differs from the solution of e'' + 20 e' + 100 e = 0."""
        run = mb.simulate(system, (0.0, 1.0), q=[0.6, 1.0], v=[0.6, 0.0], tau=tau)
        error = run["shoulder"] - 0.5 - 0.3 * np.sin(2 * run.t)
        return np.abs(error - 0.1 * (1 + 10 * run.t) * np.exp(-10 * run.t)).max()

    check("error, motors asked at all times [rad]", difference(motors), 0.0, 1e-7)
    held = [difference(mb.Sampled(motors, period)) for period in (0.004, 0.002)]
    print(f"  asked every 4 ms, every 2 ms: {held[0]:.1e} rad, {held[1]:.1e} rad from it")
    check("their ratio, of a hold of first order", held[0] / held[1], 2.0, 0.1)

    print("A locked elbow, and limits:")
    torque = system.with_locked({"elbow": 0.9}).inverse_dynamics([0.4], [1.0], [3.0])
    check("torque [N m]", torque, textbook(q, [1.0, 0.0], [3.0, 0.0])[0], 1e-13)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")  # a warning, not an error: the limits are passed
        free = mb.simulate(system, (0.0, 1.0), q=q)
    print(f"  {free.warnings[0]}")
    mechanism.add_limit_stops()
    stopped = mb.simulate(mechanism.assemble(), (0.0, 1.0), q=q)
    print(f"  elbow between {stopped['elbow'].min():.3f} and {stopped['elbow'].max():.3f} rad")
    assert stopped["elbow"].min() > -0.1


def platform() -> None:
    """Give a Stewart platform a pose, and read off the lengths of its legs."""
    mech = mb.Mechanism("platform")
    plate = mb.SpatialInertia.cylinder(20.0, radius=0.6, length=0.05)
    mech.add_body(mb.Body("platform", plate, translation((0, 0, 1))))
    turns = np.radians([[-10, -50], [10, 50], [110, 70], [130, 170], [230, 190], [250, 290]])
    feet = np.array([[np.cos(a), np.sin(a), 0.0] for a, _ in turns])
    balls = np.array([[0.6 * np.cos(b), 0.6 * np.sin(b), 1.0] for _, b in turns])
    for k, (foot, ball) in enumerate(zip(feet, balls, strict=True), 1):
        leg = ball - foot
        side = np.cross((0, 0, 1), leg)
        rod = mb.SpatialInertia.sphere(1.0, radius=0.05)
        mech.add_body(mb.Body(f"lower{k}", rod, translation(foot)))
        mech.add_body(mb.Body(f"upper{k}", rod, translation(ball)))
        cross = mb.UniversalJoint(f"foot{k}", axis1=side, axis2=np.cross(leg, side), point=foot)
        mech.add_joint(cross, mech.world, f"lower{k}")
        mech.add_joint(mb.PrismaticJoint(f"leg{k}", axis=leg), f"lower{k}", f"upper{k}")
        mech.add_joint(mb.SphericalJoint(f"ball{k}", point=ball), f"upper{k}", "platform")
    system = mech.assemble()

    print("A Stewart platform:")
    pose = translation((0.1, 0.05, 1.1)) @ rotation((0, 0, 1), 0.2)
    found = mb.inverse_kinematics(system, {"platform": pose})
    legs = [found[f"leg{k}"] for k in range(1, 7)]
    there = (balls - (0, 0, 1)) @ pose[:3, :3].T + pose[:3, 3]
    change = np.linalg.norm(there - feet, axis=1) - np.linalg.norm(balls - feet, axis=1)
    check("lengths of the legs [m]", legs, change, 1e-9)


if __name__ == "__main__":
    arm()
    platform()

"""The first day of a robotics student: an arm from URDF, and a Stewart platform.

The arm has two links in a vertical plane, as in every textbook, and a tool on the second one:
poses, inverse kinematics, torques and a controller are compared with formulas. Run it:

    python examples/first_days/robotics_student.py
"""

import pathlib
import warnings

import numpy as np

import mbkit as mb
from mbkit.spatial import rotation, translation

MODEL = pathlib.Path(__file__).parents[1] / "models" / "two_link_arm.urdf"


def textbook(q, v, vdot):
    """Return the torques of the arm's two motors: M vdot + C v + g."""
    a, b = 0.1 * np.cos(q[1]) * 2, 0.1 * np.sin(q[1]) * 2  # m2 l1 r2 by cosine and sine
    M = np.array([[0.8575 + 2 * a, 0.11 + a], [0.11 + a, 0.11]])
    C = b * np.array([[-v[1], -v[0] - v[1]], [v[0], 0.0]])
    g2 = 2 * 9.81 * 0.2 * np.cos(q[0] + q[1])
    return M @ vdot + C @ v + [1.75 * 9.81 * np.cos(q[0]) + g2, g2]


def check(what, found, expected, tolerance):
    """Print the error, and refuse one beyond the tolerance."""
    error = np.abs(np.asarray(found) - expected).max()
    print(f"  {what}: {error:.1e} from the formula")
    assert error < tolerance, (what, found, expected)


mechanism = mb.load_urdf(MODEL)
system = mechanism.assemble()
q, v, vdot = np.array([0.4, 0.9]), np.array([1.0, -2.0]), np.array([3.0, 0.5])

print("The tool, its Jacobian, and the torques:")
s1, c1, s12, c12 = 0.5 * np.sin(0.4), 0.5 * np.cos(0.4), 0.4 * np.sin(1.3), 0.4 * np.cos(1.3)
check("position [m]", system.pose("tool", q)[:3, 3], [c1 + c12, 0, s1 + s12], 1e-14)
J = system.jacobian("tool", q, representation=mb.Hybrid())[[3, 5]]
check("Jacobian [m]", J, [[-s1 - s12, -s12], [c1 + c12, c12]], 1e-14)
check("torques [N m]", system.inverse_dynamics(q, v, vdot), textbook(q, v, vdot), 1e-13)

print("Inverse kinematics of a line of points, and of one out of reach:")
x = np.linspace(0.6, 0.3, 50)
line = mb.PoseTarget([translation((each, 0, 0.3)) for each in x], rows="linear")
path = mb.inverse_kinematics(system, {"tool": line}, q)
cosine = (x**2 + 0.3**2 - 0.5**2 - 0.4**2) / (2 * 0.5 * 0.4)  # law of cosines
check("elbow [rad]", path["elbow"], np.arccos(cosine), 1e-8)
far = mb.PoseTarget(translation((0.8, 0, 0.6)), rows="linear")
found = mb.inverse_kinematics(system, {"tool": far}, q)
print(f"  {found.reason}")
check("distance left [m]", np.linalg.norm(found.errors["tool"]), 1.0 - 0.9, 1e-9)

print("Computed torque, whose error e has e'' + 20 e' + 100 e = 0:")


def motors(t, q, v):
    """Return the torques that lead the arm along 0.5 + 0.3 sin 2t, with the elbow at 1."""
    e = q - [0.5 + 0.3 * np.sin(2 * t), 1.0]
    rate = v - [0.6 * np.cos(2 * t), 0.0]
    return system.inverse_dynamics(q, v, [-1.2 * np.sin(2 * t), 0.0] - 20 * rate - 100 * e)


def difference(tau):
    """Return how far the error of a run is from (1 + 10 t) exp(-10 t) / 10."""
    run = mb.simulate(system, (0.0, 1.0), q=[0.6, 1.0], v=[0.6, 0.0], tau=tau)
    error = run["shoulder"] - 0.5 - 0.3 * np.sin(2 * run.t)
    return np.abs(error - 0.1 * (1 + 10 * run.t) * np.exp(-10 * run.t)).max()


check("error, motors asked at all times [rad]", difference(motors), 0.0, 1e-7)
held = [difference(mb.Sampled(motors, period)) for period in (0.004, 0.002)]
check("asked every 4 ms by every 2 ms, a hold of first order", held[0] / held[1], 2.0, 0.1)

print("A locked elbow, and limits:")
torque = system.with_locked({"elbow": 0.9}).inverse_dynamics([0.4], [1.0], [3.0])
check("torque [N m]", torque, textbook(q, np.array([1, 0]), np.array([3, 0]))[0], 1e-13)
warnings.simplefilter("ignore", mb.LimitsNotAppliedWarning)  # which this run tells of
print(f"  {mb.simulate(system, (0.0, 1.0), q=q).warnings[0]}")
mechanism.add_limit_stops()
stopped = mb.simulate(mechanism.assemble(), (0.0, 1.0), q=q)
assert stopped["elbow"].min() > -0.1

print("A Stewart platform, from its pose to the lengths of its legs:")
mech = mb.Mechanism("platform")
mech.add_body(
    mb.Cylinder("platform", mass=20.0, radius=0.6, length=0.05, pose=translation((0, 0, 1)))
)
angles = np.radians([[-10, 10, 110, 130, 230, 250], [-50, 50, 70, 170, 190, 290]])
on_circle = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=2)
feet, balls = on_circle * np.array([1.0, 0.6])[:, None, None]
legs = balls + np.array([0, 0, 1]) - feet
for k in range(6):
    foot, leg = feet[k], legs[k]
    for name, point in (("lower", foot), ("upper", foot + leg)):
        mech.add_body(mb.Sphere(f"{name}{k}", mass=1.0, radius=0.05, pose=translation(point)))
    side = np.cross((0, 0, 1), leg)
    cross = mb.UniversalJoint(f"foot{k}", axis1=side, axis2=np.cross(leg, side), point=foot)
    mech.add_joint(cross, "world", f"lower{k}")
    mech.add_joint(mb.PrismaticJoint(f"leg{k}", axis=leg), f"lower{k}", f"upper{k}")
    mech.add_joint(mb.SphericalJoint(f"ball{k}", point=foot + leg), f"upper{k}", "platform")
pose = translation((0.1, 0.05, 1.1)) @ rotation((0, 0, 1), 0.2)
found = mb.inverse_kinematics(mech.assemble(), {"platform": pose})
there = balls @ pose[:3, :3].T + pose[:3, 3] - feet
change = np.linalg.norm(there, axis=1) - np.linalg.norm(legs, axis=1)
check("lengths of the legs [m]", [found[f"leg{k}"] for k in range(6)], change, 1e-9)

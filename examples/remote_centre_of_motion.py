"""One mechanism, three descriptions of its geometry.

A surgical device: three parallel revolute joints position a remote-centre-of-motion wrist, two
revolute joints whose axes meet in one point, about which the instrument on the last body pivots.
It is the example of sections 2.5 and 3.6 of

    A. Mueller, Screw and Lie group theory in multibody kinematics,
    Multibody System Dynamics 43 (2018), 37-70,

with the symbols of its figure 6. Run it:

    python examples/remote_centre_of_motion.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import numpy as np

import mbkit as mb

SQRT_HALF = np.sqrt(0.5)


@attrs.frozen
class Geometry:
    """Distances of figure 6; in metres. The paper gives no numbers; these are ours."""

    d2: float = 0.21
    d3: float = 0.47
    d4: float = 0.83
    d5: float = 1.13
    h4: float = 0.39
    x1: float = 0.11
    z1: float = 0.05
    x2: float = 0.17
    z2: float = 0.08
    x3: float = 0.31
    z3: float = 0.13
    x4: float = 0.71
    z4: float = 0.29
    x5: float = 1.21
    z5: float = 0.23

    def reference_poses(self) -> list[np.ndarray]:
        """Return A_1 to A_5: where the bodies stand in the world while q = 0."""
        origins = [
            (-self.x1, 0.0, self.z1),
            (-self.x2, 0.0, -self.z2),
            (self.x3, 0.0, self.z3),
            (self.x4, 0.0, self.z4),
            (self.x5, 0.0, self.z5),
        ]
        poses = [np.eye(4) for _ in origins]
        for A, origin in zip(poses, origins, strict=True):
            A[:3, 3] = origin
        # body 4 is turned by -45 degrees about y, so that its z axis lies along its joint
        poses[3][:3, :3] = [[SQRT_HALF, 0, -SQRT_HALF], [0, 1, 0], [SQRT_HALF, 0, SQRT_HALF]]
        return poses

    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return directions e_1 to e_5 of the axes and points y_1 to y_5 on them, in the world."""
        directions = np.array(
            [(0, 0, 1), (0, 0, 1), (0, 0, 1), (-SQRT_HALF, 0, SQRT_HALF), (0, 0, 1)]
        )
        points = np.zeros((5, 3))
        points[:, 0] = 0.0, -self.d2, self.d3, self.d4, self.d5
        points[3, 2] = self.h4
        return directions, points

    def centre(self) -> np.ndarray:
        """Return the remote centre of motion at q = 0, where the axes of joints 4 and 5 meet."""
        return np.array([self.d5, 0.0, self.h4 + self.d4 - self.d5])


Builder = Callable[[Geometry, Sequence[mb.SpatialInertia]], mb.Mechanism]

#: Bodies of some kilograms: a box each, in the axes of the body.
BOXES = [mb.SpatialInertia.box(mass, size=(0.3, 0.1, 0.1)) for mass in (4.0, 3.0, 2.0, 1.0, 0.5)]


def spatial(geometry: Geometry, inertias: Sequence[mb.SpatialInertia] = BOXES) -> mb.Mechanism:
    """Give all in the world while q = 0: neither joint frames nor relative poses are needed."""
    mech = mb.Mechanism("remote centre of motion, spatial")
    previous = mech.world
    poses = geometry.reference_poses()
    for i, (A, e, y) in enumerate(zip(poses, *geometry.axes(), strict=True)):
        body = mech.add_body(mb.Body(f"body{i + 1}", inertia=inertias[i], pose=A))
        mech.add_joint(mb.RevoluteJoint(f"joint{i + 1}", axis=e, point=y), previous, body)
        previous = body
    return mech


def body_fixed(geometry: Geometry, inertias: Sequence[mb.SpatialInertia] = BOXES) -> mb.Mechanism:
    """Give each screw in the frame of its body, and the pose of the body in the one before."""
    g = geometry
    levers = (
        -g.x1,
        g.d2 - g.x2,
        g.x3 - g.d3,
        (g.x4 + g.z4 - g.d4 - g.h4) * SQRT_HALF,
        g.x5 - g.d5,
    )
    mech = mb.Mechanism("remote centre of motion, body-fixed")
    previous, A_previous = mech.world, np.eye(4)
    for i, (A, lever) in enumerate(zip(g.reference_poses(), levers, strict=True)):
        body = mech.add_body(mb.Body(f"body{i + 1}", inertia=inertias[i]))
        joint = mb.ScrewJoint(f"joint{i + 1}", screw=(0, 0, 1, 0, lever, 0))
        mech.add_joint(joint, previous, body, reference=np.linalg.inv(A_previous) @ A)
        previous, A_previous = body, A
    return mech


def joint_frames(geometry: Geometry, inertias: Sequence[mb.SpatialInertia] = BOXES) -> mb.Mechanism:
    """Give a frame on either side of each joint; with z along its axis all screws are alike."""
    mech = mb.Mechanism("remote centre of motion, joint frames")
    previous, A_previous = mech.world, np.eye(4)
    poses = geometry.reference_poses()
    for i, (A, e, y) in enumerate(zip(poses, *geometry.axes(), strict=True)):
        S = np.eye(4)  # the joint frame in the world at q = 0: axes (e2 x e, e2, e), origin y
        S[:3, :3] = np.column_stack([np.cross((0, 1, 0), e), (0, 1, 0), e])
        S[:3, 3] = y
        body = mech.add_body(mb.Body(f"body{i + 1}", inertia=inertias[i]))
        frames = np.linalg.inv(A_previous) @ S, np.linalg.inv(A) @ S
        mech.add_joint(mb.RevoluteJoint(f"joint{i + 1}"), previous, body, frames=frames)
        previous, A_previous = body, A
    return mech


#: The descriptions by name.
DESCRIPTIONS: dict[str, Builder] = {
    "spatial": spatial,
    "body-fixed": body_fixed,
    "joint frames": joint_frames,
}


def main() -> None:
    """Compare the three descriptions, and show that the remote centre stays where it is."""
    geometry = Geometry()
    q = np.array([0.3, -0.7, 1.1, 0.4, -0.9])
    reference = spatial(geometry).assemble()
    print(f"{reference!r}\n")
    print(f"at q = {q}\n")
    for name, build in DESCRIPTIONS.items():
        mechanism = build(geometry, BOXES)
        system = mechanism.assemble()
        print(f"{name}: the screws (w, v) as the joints have them")
        for joint in mechanism.joints.values():
            print(f"  {joint.joint.name}  {np.array2string(joint.joint.screw, precision=3)}")
        poses = np.abs(system.poses(q) - reference.poses(q)).max()
        masses = np.abs(system.mass_matrix(q) - reference.mass_matrix(q)).max()
        print(f"  poses differ from the first by {poses:.0e} m,")
        print(f"  mass matrices by {masses:.0e} kg m^2\n")

    # The centre is a point of body 3 and of body 5: the wrist may move as it likes.
    A3, A5 = (geometry.reference_poses()[i] for i in (2, 4))
    on_body3 = np.linalg.solve(A3, [*geometry.centre(), 1.0])
    on_body5 = np.linalg.solve(A5, [*geometry.centre(), 1.0])
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(1000):
        q[3:] = rng.uniform(-np.pi, np.pi, size=2)
        C = reference.poses(q)
        worst = max(worst, np.abs(C[5] @ on_body5 - C[3] @ on_body3).max())
    print(f"In 1000 poses of the wrist the remote centre moved by at most {worst:.0e} m.")


if __name__ == "__main__":
    main()

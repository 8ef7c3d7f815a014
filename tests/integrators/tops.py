"""Heavy tops, held by a ball joint or by a constraint, on several groups."""

from __future__ import annotations

import functools

import numpy as np

import mbkit as mb

#: Angular velocity at the start, of the slow one.
SPIN = np.array([1.0, 3.0, -2.0])

#: From the tip to the centre of mass, of the slow one.
ARM = np.array([0.2, 0.6, -0.1])


def held_by_its_joint() -> tuple[mb.System, np.ndarray]:
    """Return a top on a ball joint: SO(3), no constraints."""
    mech = mb.Mechanism("top", gravity=(0, 0, -9.81))
    top = mech.add_body(_top(ARM))
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, top)
    return mech.assemble(), SPIN


def held_on_se3() -> tuple[mb.System, np.ndarray]:
    """Return a free body that a ball joint closes a loop with: SE(3), three constraints."""
    mech = mb.Mechanism("top on SE(3)", gravity=(0, 0, -9.81))
    top = mech.add_body(_top(np.zeros(3), at=ARM))
    mech.add_joint(mb.FreeJoint("free"), mech.world, top, frames=(_place(ARM), np.eye(4)))
    return _closed(mech, top)


def held_on_so3_and_r3() -> tuple[mb.System, np.ndarray]:
    """Return the same with the position of its centre of mass in the world: SO(3) x R3."""
    mech = mb.Mechanism("top on SO(3) x R3", gravity=(0, 0, -9.81))
    top = mech.add_body(_top(np.zeros(3), at=ARM))
    free = mb.CompositeJoint(
        "free", mb.TranslationalJoint("place"), mb.SphericalJoint("attitude", point=ARM)
    )
    mech.add_joint(free, mech.world, top)
    return _closed(mech, top)


TOPS = {
    "SO(3)": held_by_its_joint,
    "SE(3), closed": held_on_se3,
    "SO(3) x R3, closed": held_on_so3_and_r3,
}


def _top(com: np.ndarray, at: np.ndarray | None = None) -> mb.Body:
    inertia = mb.SpatialInertia.from_com(2.0, com, moment_about_com=np.diag([0.3, 0.5, 0.75]))
    return mb.Body("top", inertia, pose=_place(np.zeros(3) if at is None else at))


def _place(point: np.ndarray) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = point
    return pose


def _closed(mech: mb.Mechanism, top: mb.Body) -> tuple[mb.System, np.ndarray]:
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, top)
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["tip"]))
    q = system.reference_configuration()
    J = system.jacobian("top", q)
    twist = np.concatenate([SPIN, np.cross(SPIN, ARM)])
    return system, np.linalg.solve(J, twist)


@functools.cache
def reference(name: str) -> tuple[mb.System, np.ndarray, mb.Result]:
    """Return a top, its velocity at the start, and its motion at 21 times in a second."""
    system, v = TOPS[name]()
    run = mb.simulate(
        system, (0.0, 1.0), 5e-4, v=v, save_every=100, progress=False,
        integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5),
    )  # fmt: skip
    return system, v, run

"""Closed mechanisms of the literature, whose mobility and assemblies are known."""

from __future__ import annotations

import itertools

import numpy as np

import mbkit as mb


def rod(name, *points):
    """Return a body with its mass at and around the centre of some points."""
    centre = np.mean(points, axis=0)
    inertia = mb.SpatialInertia.from_com(1.0, centre, 0.01 * np.diag([1.0, 1.5, 2.0]))
    return mb.Body(name, inertia)


def hinge(name, point, axis):
    return mb.RevoluteJoint(name, axis=axis, point=point)


def cycle(name, points, joints):
    """Return one loop, ``joints[k]`` at ``points[k]``, from the world and back to it."""
    mech = mb.Mechanism(name)
    ends = enumerate(itertools.pairwise(points), start=1)
    rods = [mech.add_body(rod(f"rod {k}", *pair)) for k, pair in ends]
    for joint, pair in zip(joints[:-1], itertools.pairwise([mech.world, *rods]), strict=True):
        mech.add_joint(joint, *pair)
    mech.add_joint(joints[-1], mech.world, rods[-1])  # the world is its predecessor, too
    return mech


def assembled(mech, *cut, **options):
    """Return the system with some joints cut, the last one if none is named."""
    cut = cut or (list(mech.joints)[-1],)
    return mech.assemble(mb.RelativeCoordinates(loop_joints=cut, **options))


def four_bar(A=(0, 0, 0), B=(0, 0, 0.3), C=(0.8, 0, 0.5), D=(0.9, 0, 0), axis=(0, 1, 0)):
    points = [A, B, C, D]
    return cycle(
        "four-bar", points, [hinge(n, p, axis) for n, p in zip("ABCD", points, strict=True)]
    )


def parallelogram():
    """Return it in its stretched posture, where it may become an antiparallelogram."""
    return four_bar((0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0))


def bricard():
    """Return A04 of the IFToMM library of computational benchmark problems."""
    points = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    joints = [hinge(f"J{k}", p, a) for k, (p, a) in enumerate(zip(points, axes, strict=True))]
    return cycle("Bricard", points, joints)


def bricard_angles(theta):
    """Return the angles of its tree joints, (theta, phi, theta, phi, theta)."""
    phi = -np.arcsin(np.sin(theta) / (1.0 + np.sin(theta)))
    return np.array([theta, phi, theta, phi, theta])


def sarrus():
    points = [(1, 0, 0), (1.5, 0, 0.5), (1, 0, 1), (0, 1, 1), (0, 1.5, 0.5), (0, 1, 0)]
    axes = [(0, 1, 0)] * 3 + [(1, 0, 0)] * 3
    joints = [hinge(f"J{k}", p, a) for k, (p, a) in enumerate(zip(points, axes, strict=True))]
    return cycle("Sarrus", points, joints)


def bennett(alpha=0.6, beta=1.1, theta=0.9):
    """Return Bennett's linkage: lengths in the ratio of the sines of the twists.

    With tan(theta_1 / 2) tan(theta_2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2).
    """
    lengths = 0.7 * np.sin([alpha, beta, alpha, beta])
    half = np.sin((beta + alpha) / 2.0) / np.sin((beta - alpha) / 2.0) / np.tan(theta / 2.0)
    angles = [theta, 2.0 * np.arctan(half)]
    angles += [-angles[0], -angles[1]]
    pose = np.eye(4)
    points, axes = [], []
    for length, twist, angle in zip(lengths, [alpha, beta] * 2, angles, strict=True):
        points.append(pose[:3, 3])
        axes.append(pose[:3, 2])
        pose = pose @ mb.spatial.rotation((0, 0, 1), angle) @ mb.spatial.translation((length, 0, 0))
        pose = pose @ mb.spatial.rotation((1, 0, 0), twist)
    assert np.allclose(pose, np.eye(4))
    joints = [hinge(f"J{k}", p, a) for k, (p, a) in enumerate(zip(points, axes, strict=True))]
    return cycle("Bennett", points, joints)


def slider_crank(crank=0.3, coupler=0.7):
    """Return it at its dead centre, all along x."""
    points = [(0, 0, 0), (crank, 0, 0), (crank + coupler, 0, 0), (crank + coupler, 0, 0)]
    joints = [hinge(n, p, (0, 1, 0)) for n, p in zip("ABC", points[:3], strict=True)]
    return cycle("slider-crank", points, [*joints, mb.PrismaticJoint("slider", axis=(1, 0, 0))])


def stewart():
    """Return six legs with universal, prismatic and spherical joints: nothing is redundant."""
    mech = mb.Mechanism("Stewart platform")
    feet = [(np.cos(a), np.sin(a), 0.0) for a in np.deg2rad([-10, 10, 110, 130, 230, 250])]
    tops = [
        (0.6 * np.cos(a), 0.6 * np.sin(a), 1.0) for a in np.deg2rad([-50, 50, 70, 170, 190, 290])
    ]
    platform = mech.add_body(rod("platform", *tops))
    for k, (foot, top) in enumerate(zip(map(np.array, feet), map(np.array, tops), strict=True)):
        way = (top - foot) / np.linalg.norm(top - foot)
        lower = mech.add_body(rod(f"lower {k}", foot, foot + 0.3 * way))
        upper = mech.add_body(rod(f"upper {k}", top, top - 0.3 * way))
        side = np.cross(way, (0.0, 0.0, 1.0))
        side /= np.linalg.norm(side)
        axes = (tuple(side), tuple(np.cross(way, side)))
        mech.add_joint(
            mb.UniversalJoint(f"foot {k}", axis1=axes[0], axis2=axes[1], point=foot),
            mech.world,
            lower,
        )
        mech.add_joint(mb.PrismaticJoint(f"leg {k}", axis=way), lower, upper)
        mech.add_joint(mb.SphericalJoint(f"top {k}", point=top), upper, platform)
    return mech

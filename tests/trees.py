"""Random mechanisms: trees of all joints, in all geometry descriptions, either way round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

import mbkit as mb

Generator = np.random.Generator


def random_rotation(rng: Generator) -> Any:
    """Return a rotation matrix, uniform on SO(3): the frame of a random 3x3 matrix."""
    Q, upper = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(upper))
    return Q * np.linalg.det(Q)


def random_pose(rng: Generator, size: float = 0.5) -> Any:
    """Return a pose with its origin within about `size` [m]."""
    C = np.eye(4)
    C[:3, :3] = random_rotation(rng)
    C[:3, 3] = size * rng.normal(size=3)
    return C


def random_inertia(rng: Generator) -> mb.SpatialInertia:
    """Return the inertia of a few kilograms of random boxes, about a random centre of mass."""
    mass = rng.uniform(0.5, 2.0)
    box = mb.SpatialInertia.box(mass, size=rng.uniform(0.2, 0.8, size=3))
    return box.transformed(random_pose(rng, 0.2))


def _screw(rng: Generator) -> Any:
    """Return a screw of any length: about an axis through a point, with a small pitch."""
    w, point = rng.normal(size=3), 0.3 * rng.normal(size=3)
    return np.concatenate([w, np.cross(point, w) + PITCH * rng.normal() * w])


#: Size of pitches: some centimetres a turn and more. [m/rad]
PITCH = 0.05


def _axis_and_point(rng: Generator) -> dict[str, Any]:
    return {"axis": rng.normal(size=3), "point": 0.3 * rng.normal(size=3)}


def _universal(rng: Generator, name: str) -> mb.Joint:
    R = random_rotation(rng)
    skew = R[:, 1] + 0.5 * R[:, 0]
    return mb.UniversalJoint(name, axis1=R[:, 0], axis2=skew, point=0.3 * rng.normal(size=3))


def _composite(rng: Generator, name: str) -> mb.Joint:
    members = ("spherical", "prismatic", "constant velocity")
    return mb.CompositeJoint(name, *(MAKERS[kind](rng, kind) for kind in members))


#: How to make a joint of each kind from its name.
MAKERS: dict[str, Callable[[Generator, str], mb.Joint]] = {
    "revolute": lambda rng, name: mb.RevoluteJoint(
        name, axis=rng.normal(size=3), point=0.3 * rng.normal(size=3)
    ),
    "prismatic": lambda rng, name: mb.PrismaticJoint(name, axis=rng.normal(size=3)),
    "helical": lambda rng, name: mb.HelicalJoint(
        name, axis=rng.normal(size=3), point=0.3 * rng.normal(size=3), pitch=PITCH * rng.normal()
    ),
    "screw": lambda rng, name: mb.ScrewJoint(name, screw=_screw(rng)),
    "translation": lambda rng, name: mb.ScrewJoint(name, screw=[0, 0, 0, *rng.normal(size=3)]),
    "spherical": lambda rng, name: mb.SphericalJoint(name, point=0.3 * rng.normal(size=3)),
    "free": lambda _, name: mb.FreeJoint(name),
    "fixed": lambda _, name: mb.FixedJoint(name),
    "cylindrical": lambda rng, name: mb.CylindricalJoint(name, **_axis_and_point(rng)),
    "universal": _universal,
    "constant velocity": lambda rng, name: mb.ConstantVelocityJoint(name, **_axis_and_point(rng)),
    "translational": lambda rng, name: mb.TranslationalJoint(
        name, axes=random_rotation(rng)[: rng.integers(2, 4)]
    ),
    "planar": lambda rng, name: mb.PlanarJoint(name, **_axis_and_point(rng)),
    "helical planar": lambda rng, name: mb.HelicalPlanarJoint(
        name, pitch=PITCH * rng.normal(), **_axis_and_point(rng)
    ),
    "Schoenflies": lambda rng, name: mb.SchoenfliesJoint(name, **_axis_and_point(rng)),
    "rotation vector": lambda rng, name: mb.SphericalJoint(
        name, point=0.3 * rng.normal(size=3), coordinates="first kind"
    ),
    "angles": lambda rng, name: mb.SphericalJoint(
        name, point=0.3 * rng.normal(size=3), coordinates="second kind", order="xzy"
    ),
    "planar, first kind": lambda rng, name: mb.PlanarJoint(
        name, coordinates="first kind", **_axis_and_point(rng)
    ),
    "planar, second kind": lambda rng, name: mb.PlanarJoint(
        name, coordinates="second kind", order=("x", "y", "angle"), **_axis_and_point(rng)
    ),
    "screw coordinates": lambda _, name: mb.FreeJoint(name, coordinates="first kind"),
    "composite": _composite,
}

#: Kinds that other programs have as well, with the same coordinates.
ONE_SCREW = ("revolute", "prismatic", "helical", "screw", "translation")
COMMON = (*ONE_SCREW, "spherical", "free", "fixed")


def random_mechanism(
    rng: Generator,
    count: int,
    kinds: Sequence[str] = tuple(MAKERS),
    *,
    name: str = "random",
    gravity: Sequence[float] | None = None,
    turned_round: float = 0.3,
    reach: int = 6,
    floating: bool = False,
) -> mb.Mechanism:
    """Return a tree of `count` bodies, each kind of joint at least once if there are enough bodies.

    Parameters
    ----------
    rng : Generator
        Where all numbers come from.
    count : int
        Bodies.
    kinds : sequence of str
        Keys of `MAKERS`.
    name : str
        Of the mechanism.
    gravity : sequence of 3 floats, optional
        Any of size 9.81 if left out. [m/s^2]
    turned_round : float
        Share of joints whose successor is nearer to the world than their predecessor.
    reach : int
        A parent is one of this many bodies before; 1 makes a chain.
    floating : bool
        Whether one free joint, to the first body, is all that connects the tree to the world.

    Returns
    -------
    Mechanism
        Bodies "body0", ..., joints "joint0", ...; bodies are not in depth-first order.
    """
    direction = rng.normal(size=3)
    if gravity is None:
        gravity = 9.81 * direction / np.linalg.norm(direction)
    mech = mb.Mechanism(name, gravity=gravity)
    if count < len(kinds):
        kinds = rng.permutation(kinds)[:count]
    drawn = [*kinds, *rng.choice(kinds, size=count - len(kinds))]
    drawn = [str(kind) for kind in rng.permutation(drawn)]
    if floating:
        drawn[0] = "free"
    bodies = [mech.world]
    for i, kind in enumerate(drawn):
        body = mb.Body(f"body{i}", inertia=random_inertia(rng), pose=random_pose(rng))
        parent = bodies[rng.integers(max(0, len(bodies) - reach), len(bodies))]
        if floating and i == 1:
            bodies.remove(mech.world)
            parent = bodies[0]
        bodies.append(mech.add_body(body))
        ends = (body, parent) if rng.random() < turned_round else (parent, body)
        mech.add_joint(MAKERS[kind](rng, f"joint{i}"), *ends, **_geometry(rng))
    return mech


def _geometry(rng: Generator) -> dict[str, Any]:
    """Return the arguments of one of the geometry descriptions."""
    descriptions: list[dict[str, Any]] = [
        {"frames": (random_pose(rng), random_pose(rng))},
        {"reference": random_pose(rng)},
        {"reference": random_pose(rng), "screws_in": "predecessor"},
        {},
    ]
    return descriptions[rng.integers(len(descriptions))]


@attrs.frozen
class State:
    """One state of a system, with everything that can be given to its methods."""

    q: Any
    v: Any
    vdot: Any
    tau: Any
    wrenches: Any


def random_state(rng: Generator, system: mb.System, size: float = 1.0) -> State:
    """Return a state well away from the reference configuration, and from singular ones."""
    nv = system.nv
    q = system.retract(system.reference_configuration(), size * rng.normal(size=nv))
    for _ in range(50):
        if not mb.near_singularity(system, q, 0.3):
            break
        q = system.retract(system.reference_configuration(), size * rng.normal(size=nv))
    return State(
        q=q,
        v=size * rng.normal(size=nv),
        vdot=rng.normal(size=nv),
        tau=rng.normal(size=nv),
        wrenches=rng.normal(size=(len(system.body_names), 6)),
    )

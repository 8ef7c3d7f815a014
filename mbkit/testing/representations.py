"""Laws of representations of twists: their maps, and their recursions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from mbkit.coordinates import RelativeCoordinates
from mbkit.errors import UsageError
from mbkit.joints import FreeJoint, HelicalJoint, RevoluteJoint, SphericalJoint
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SE3
from mbkit.model import Body, Mechanism
from mbkit.representations import Representation
from mbkit.spatial import SpatialInertia
from mbkit.systems import System
from mbkit.testing.laws import Found, line_of
from mbkit.testing.report import Report

#: Samples.
_COUNT = 4


@attrs.frozen
class _Sample:
    """Two poses, a body-fixed twist, and a state of the tree with rates and wrenches."""

    number: int
    C: Any
    S: Any
    V: Any
    q: Any
    v: Any
    x: Any
    W: Any

    def __str__(self) -> str:
        return f"sample {self.number}"


@attrs.frozen
class _Subject:
    """A representation, a tree that computes in it, and the same tree in body-fixed twists."""

    representation: Representation
    system: System
    reference: System


def check_representation(representation: Representation, *, seed: int = 0) -> Report:
    """Return a report on the laws that a representation of twists keeps or breaks.

    Its map of twists is a homomorphism, the rate of the map is its derivative, both broadcast; and
    a tree of free, ball, helical and revolute joints that computes in it has the motion, the
    twists, the accelerations and the Jacobians that the same tree has in body-fixed twists, as the
    map takes them over.

    Parameters
    ----------
    representation : Representation
        Any representation.
    seed : int
        Of the random numbers.

    Returns
    -------
    Report
        It prints as a table; ``raise_if_failed()`` makes an exception of it.

    Raises
    ------
    UsageError
        If it is no representation.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.testing.check_representation(mb.Hybrid()).holds
    True
    """
    if not isinstance(representation, Representation):
        raise UsageError(
            f"check_representation needs an mbkit.Representation, got {representation!r}; call it "
            "with an instance, such as check_representation(mbkit.Hybrid())."
        )
    mech = _tree()
    subject = _Subject(
        representation,
        mech.assemble(RelativeCoordinates(representation)),
        mech.assemble(),
    )
    samples = _samples(subject.reference, np.random.default_rng(seed))
    lines = [line_of(law, bound, function, subject, samples) for law, bound, function in _LAWS]
    name = f"Representation '{representation.name}' ({type(representation).__name__})"
    return Report(name, tuple(lines))


def _tree() -> Mechanism:
    """Return a floating body with two branches; nothing is aligned."""
    mech = Mechanism("tree", gravity=(1.0, -2.0, -9.0))
    names = ("trunk", "upper", "lower", "screw")
    trunk, upper, lower, screw = (
        mech.add_body(
            Body(
                name,
                SpatialInertia.from_com(
                    1.0 + k, (0.1, -0.2, 0.1 * k), moment_about_com=np.diag([0.3, 0.4, 0.5])
                ),
            )
        )
        for k, name in enumerate(names)
    )
    mech.add_joint(FreeJoint("float"), mech.world, trunk)
    mech.add_joint(SphericalJoint("ball", point=(0.3, 0.1, -0.4)), trunk, upper)
    mech.add_joint(RevoluteJoint("hinge", axis=(1, 2, -1), point=(0.5, 0.2, -1.0)), upper, lower)
    helical = HelicalJoint("helix", axis=(2, 0, 1), point=(-0.4, 0.3, 0.2), pitch=0.3)
    mech.add_joint(helical, trunk, screw)
    return mech


def _samples(system: System, rng: np.random.Generator) -> list[_Sample]:
    start = system.reference_configuration()
    return [
        _Sample(
            number=number,
            C=SE3.random(rng),
            S=SE3.random(rng),
            V=rng.normal(size=6),
            q=system.retract(start, rng.normal(size=system.nv)),
            v=rng.normal(size=system.nv),
            x=rng.normal(size=system.nv),
            W=rng.normal(size=6),
        )
        for number in range(_COUNT)
    ]


# --------------------------------------------------------------------------------------- laws


def _homomorphism(subject: _Subject, at: _Sample) -> Found:
    T = subject.representation.twist_map
    yield "T(I)", T(np.eye(4)), np.eye(6)
    yield "T(C1 C2)", T(at.C @ at.S), T(at.C) @ T(at.S)
    yield "T^-1 T", subject.representation.inverse_twist_map(at.C) @ T(at.C), np.eye(6)


def _rate(subject: _Subject, at: _Sample) -> Found:
    one = subject.representation
    found = derivative(lambda e: one.twist_map(at.C @ SE3.exp(e * at.V)))
    yield "dT/dt", one.twist_map_rate(at.C, at.V), found


def _broadcast(subject: _Subject, at: _Sample) -> Found:
    one = subject.representation
    several = np.array([at.C, at.S])
    yield "T", one.twist_map(several), [one.twist_map(each) for each in several]
    rates = [one.twist_map_rate(each, at.V) for each in several]
    yield "dT/dt", one.twist_map_rate(several, at.V), rates


def _motion(subject: _Subject, at: _Sample) -> Found:
    system, reference = subject.system, subject.reference
    yield (
        "tau",
        system.inverse_dynamics(at.q, at.v, at.x),
        reference.inverse_dynamics(at.q, at.v, at.x),
    )
    yield (
        "vdot",
        system.forward_dynamics(at.q, at.v, at.x),
        reference.forward_dynamics(at.q, at.v, at.x),
    )
    yield "M", system.mass_matrix(at.q), reference.mass_matrix(at.q)


def _twists(subject: _Subject, at: _Sample) -> Found:
    system, reference = subject.system, subject.reference
    V, V_b = system.twists(at.q, at.v), reference.twists(at.q, at.v)
    A, A_b = (each.accelerations(at.q, at.v, at.x) for each in (system, reference))
    maps = subject.representation
    for k, C in enumerate(reference.poses(at.q)):
        T = maps.twist_map(C)
        yield f"twist of body {k}", V[k], T @ V_b[k]
        expected = T @ A_b[k] + maps.twist_map_rate(C, V_b[k]) @ V_b[k]
        yield f"acceleration of body {k}", A[k], expected
    C = reference.poses(at.q)[reference.body_names.index("lower")]
    J_b = reference.jacobian("lower", at.q)
    yield "Jacobian", system.jacobian("lower", at.q), maps.twist_map(C) @ J_b


def _wrenches(subject: _Subject, at: _Sample) -> Found:
    system, reference = subject.system, subject.reference
    C = reference.poses(at.q)[reference.body_names.index("lower")]
    W = np.linalg.inv(subject.representation.twist_map(C)).T @ at.W
    found = system.forward_dynamics(at.q, at.v, at.x, wrenches={"lower": W})
    expected = reference.forward_dynamics(at.q, at.v, at.x, wrenches={"lower": at.W})
    yield "vdot", found, expected


_LAWS: tuple[tuple[str, float, Callable[..., Found]], ...] = (
    ("the map of twists is a homomorphism", 1e-12, _homomorphism),
    ("the rate of the map is its derivative", 1e-8, _rate),
    ("maps broadcast over leading axes", 1e-13, _broadcast),
    ("motion is what it is in body-fixed twists", 1e-10, _motion),
    ("twists, accelerations, Jacobians go by the map", 1e-11, _twists),
    ("wrenches go by the inverse transpose of the map", 1e-10, _wrenches),
)

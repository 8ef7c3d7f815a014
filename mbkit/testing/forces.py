"""Laws that forces obey, above all those of their power."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from mbkit.errors import ForceError, MbkitError
from mbkit.forces import Force
from mbkit.forces.definition import check_force_definition, gives_derivatives
from mbkit.forces.derivatives import checked_derivatives, expected_shapes
from mbkit.joints import FreeJoint, RevoluteJoint, SphericalJoint
from mbkit.joints.defaults.differences import derivative
from mbkit.lie import SE3
from mbkit.model import Body, Mechanism
from mbkit.spatial import SpatialInertia, pose_from_quaternion
from mbkit.systems import System
from mbkit.systems.derivatives.parameter_moves import moves_of, shape_of_parameter
from mbkit.testing.laws import (
    SIZES,
    TIMES,
    Found,
    Nothing,
    line_of,
    random_state,
    refused,
    repeated,
    state_text,
)
from mbkit.testing.report import Line, Report

_METHODS = ("evaluate", "potential_energy", "powers")
#: The arguments of a force, but for `out`.
_Arguments = tuple[float, Any, Any, Any, Any]
_ATTRIBUTES = ("joints", "bodies", "acts_on", "representation", "power")


@attrs.frozen
class _Subject:
    """A system with one force, and one with its methods in Python, where it has both forms.

    And, of a force on bodies alone, one whose bodies move freely in the world: there every part of
    a wrench does work, and velocities are body-fixed twists.
    """

    system: System
    in_python: System | None
    free: System | None


@attrs.frozen
class _Sample:
    """A state of a system at a time, and another time."""

    system: System
    t: float
    q: Any
    v: Any
    other: float

    def __str__(self) -> str:
        return state_text(self.t, self.q, self.v)


def check_force(force: Force, mechanism: Mechanism | None = None, *, seed: int = 0) -> Report:
    """Return a report on the laws that a force keeps or breaks.

    1. Its definition is complete, and the mechanism has the joints and bodies that it names.
    2. Its power is accounted for: tau.v = -dU/dt - dissipated power + supplied power, with the
       rate of the potential energy U while the mechanism moves and time goes on.
    3. Its dissipated power is not negative.
    4. Action equals reaction between bodies: wrenches balance, where one body feels another, and
       neither place, direction nor velocity of all of them together matters.
    5. The same arguments give the same results, in any order of the calls.
    6. Compiled and Python forms agree, where it has both.
    7. The derivatives that it gives, by arguments and by fields, are those of its output.

    It is looked at in random states, near and far from the reference configuration. Of a force that
    acts on bodies and names no joints, 2 to 4 are checked with bodies that move freely, too:
    joints would hide forces that do no work along them. Power that a force declares dissipated or
    supplied is its power by definition: then only laws 3 and 4 test it.

    Parameters
    ----------
    force : Force
        Any force.
    mechanism : Mechanism, optional
        One with the joints and bodies that it names; forces that it has itself do not matter. If it
        is not given, a chain is made of them, of hinges, or of ball joints or free ones where the
        force wants these.
    seed : int
        Of the random numbers.

    Returns
    -------
    Report
        It prints as a table; ``raise_if_failed()`` makes an exception of it.

    Examples
    --------
    >>> import mbkit as mb
    >>> report = mb.testing.check_force(mb.JointSpring("closer", "hinge", stiffness=3.0))
    >>> report.holds
    True
    """
    name = f"Force {getattr(force, 'name', '?')!r} ({type(force).__name__})"
    law = "the definition is complete, and the mechanism has what it names"
    try:
        check_force_definition(force)
        system = _system(force, mechanism)
        twin = _twin(force)
        in_python = None if twin is None else _system(twin, mechanism)
        free = _free(force)
        subject = _Subject(system, in_python, free)
        samples = _samples(system, np.random.default_rng(seed))
        apart = [] if free is None else _samples(free, np.random.default_rng(seed + 1))
    except Exception as error:
        return refused(name, law, error)
    lines = [
        line_of(law, bound, function, subject, [*samples, *apart] if both else samples)
        for law, bound, function, both in _LAWS
    ]
    return Report(name, (Line(law, True), *lines))


# --------------------------------------------------------------------------------- mechanisms


def _system(force: Force, mechanism: Mechanism | None) -> System:
    if mechanism is not None:
        system = mechanism.assemble()
        return system.without_forces().with_forces([force])
    wrong: list[MbkitError] = []
    for kind in (RevoluteJoint, SphericalJoint, FreeJoint):
        try:
            system = _chain(force, kind).assemble().with_forces([force])
            system.generalized_forces(*random_state(system, np.random.default_rng(0), SIZES[1]))
        except MbkitError as error:
            wrong.append(error)
        else:
            return system
    raise ForceError(
        f"{wrong[0]} No chain of hinges, ball joints or free joints suits the force; give a "
        "mechanism that does."
    )


def _free(force: Force) -> System | None:
    """Return a system in which the bodies of a force on bodies alone move freely in the world."""
    bodies = [name for name in dict.fromkeys(force.bodies) if name != "world"]
    if force.acts_on != "bodies" or force.joints:
        return None
    mech = Mechanism("free bodies", gravity=(1.0, -2.0, -9.0))
    for name in bodies or ["body"]:
        body = mech.add_body(Body(name, SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))))
        mech.add_joint(FreeJoint(f"of {name}"), mech.world, body)
    return mech.assemble().with_forces([force])


def _chain(force: Force, kind: Callable[[str], Any]) -> Mechanism:
    """Return bodies of the force's names, on joints of its names, one after another."""
    mech = Mechanism("chain", gravity=(1.0, -2.0, -9.0))
    box = SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))
    bodies = [name for name in dict.fromkeys(force.bodies) if name != "world"]
    joints = list(dict.fromkeys(force.joints))
    count = max(len(bodies), len(joints), 1)
    bodies += [f"body {k}" for k in range(len(bodies), count)]
    joints += [f"joint {k}" for k in range(len(joints), count)]
    before = mech.world
    frame = pose_from_quaternion((0.6, -0.3, 0.5), (0.5, 0.1, -0.7, 0.5))
    for body_name, joint_name in zip(bodies, joints, strict=True):
        body = mech.add_body(Body(body_name, box))
        mech.add_joint(kind(joint_name), before, body, frames=(frame, np.eye(4)))
        before = body
    return mech


def _twin(force: Force) -> Force | None:
    """Return a force that has the methods alone of one with compiled functions beside them."""
    if force.kernels() is None or type(force).evaluate is Force.evaluate:
        return None
    own = [name for name in _METHODS if getattr(type(force), name) is not getattr(Force, name)]
    body = {name: staticmethod(getattr(force, name)) for name in own}
    body |= {name: getattr(force, name) for name in _ATTRIBUTES}
    twin: Force = type(type(force).__name__, (Force,), body)(force.name)
    return twin


def _samples(system: System, rng: np.random.Generator) -> list[_Sample]:
    others = (*TIMES[1:], TIMES[0])
    return [
        _Sample(system, t, *random_state(system, rng, size), other)
        for t, other in zip(TIMES, others, strict=True)
        for size in SIZES
    ]


# --------------------------------------------------------------------------------------- laws


def _accounted(subject: _Subject, at: _Sample) -> Found:
    system = at.system

    def potential(e: float) -> Any:
        return system.force_potentials(system.retract(at.q, e * at.v), at.t + e)[0]

    dissipated, supplied = system.force_powers(at.q, at.v, at.t)[0]
    tau = system.generalized_forces(at.q, at.v, at.t)
    yield "tau.v", tau @ at.v, -derivative(potential) - dissipated + supplied


def _dissipated(subject: _Subject, at: _Sample) -> Found:
    power = at.system.force_powers(at.q, at.v, at.t)[0, 0]
    if power != 0.0:
        yield "what is dissipated", min(power, 0.0), 0.0


def _balanced(subject: _Subject, at: _Sample) -> Found:
    """Check that the wrenches between bodies that act on each other alone balance."""
    system = subject.free
    if system is None or len(system.body_names) < 3:  # the world is one
        raise Nothing("it acts between no two bodies")
    if at.system is not system:
        return
    poses, w = system.poses(at.q), system.generalized_forces(at.q, at.v, at.t)
    size = 1e-9 * (1.0 + float(np.abs(w).max()))
    turn = pose_from_quaternion((0.4, -1.1, 0.7), (0.5, -0.1, 0.7, 0.5))
    carried = np.array([turn @ C for C in poses[1:]])
    v = at.v.reshape(-1, 6).copy()
    v[:, 3:] += np.einsum("kji,j->ki", poses[1:, :3, :3], [0.3, -0.2, 0.9])
    for q, rates in ((_located(system, carried), at.v), (at.q, v.ravel())):
        if np.abs(system.generalized_forces(q, rates, at.t) - w).max() > size:
            raise Nothing("it depends on the world, where its bodies are or how they move there")
    if not _feels(system, at, w, size):
        raise Nothing("its bodies do not feel each other")
    parts = w.reshape(-1, 2, 3)
    moments, forces = (np.einsum("kij,kj->ki", poses[1:, :3, :3], parts[:, k]) for k in (0, 1))
    yield "the sum of forces", forces.sum(axis=0), np.zeros(3)
    centre = poses[1:, :3, 3].mean(axis=0)
    about = moments + np.cross(poses[1:, :3, 3] - centre, forces)
    yield "the sum of moments", about.sum(axis=0), np.zeros(3)


def _feels(system: System, at: _Sample, w: Any, size: float) -> bool:
    """Return whether the wrench on a body changes while that body alone stays as it is."""
    for k in range(len(w) // 6):
        step = np.full(len(w), 0.1)
        own = slice(6 * k, 6 * k + 6)
        step[own] = 0.0
        v = at.v + step
        for q, rates in ((system.retract(at.q, step), at.v), (at.q, v)):
            if np.abs(system.generalized_forces(q, rates, at.t)[own] - w[own]).max() > size:
                return True
    return False


def _located(system: System, poses: Any) -> Any:
    """Return the configuration of free bodies at poses (bodies, 4, 4)."""
    q = system.reference_configuration()
    for name, C in zip(system.body_names[1:], poses, strict=True):
        q[system.position_slice(f"of {name}")] = FreeJoint("free").configuration_from_pose(C)
    return q


def _repeated(subject: _Subject, at: _Sample) -> Found:
    system = subject.system
    calls: tuple[Callable[[], Any], ...] = (
        lambda: system.generalized_forces(at.q, at.v, at.t),
        lambda: system.force_potentials(at.q, at.t),
    )
    return repeated(calls, lambda: system.generalized_forces(at.q, -at.v, at.other))


def _compiled(subject: _Subject, at: _Sample) -> Found:
    twin = subject.in_python
    if twin is None:
        raise Nothing("it has one form")
    for what, arguments in (
        ("generalized_forces", (at.q, at.v, at.t)),
        ("force_potentials", (at.q, at.t)),
        ("force_powers", (at.q, at.v, at.t)),
    ):
        one, other = (getattr(each, what)(*arguments) for each in (subject.system, twin))
        yield what.replace("_", " "), one, other


def _differentiated(subject: _Subject, at: _Sample) -> Found:
    """Compare the derivatives of a force with differences, by each argument and field."""
    (force,) = at.system.forces
    if not gives_derivatives(force):
        raise Nothing("it gives none")
    given = _arguments(at)
    moves: dict[str, list[Any]] = _moves(force, given)
    others: dict[str, list[Any]] = {}
    fields = {}
    out = _written(force, given)
    expected = expected_shapes((*given[1:], out))
    checked_derivatives(force, given, expected)  # that all names are fields
    for name in force.derivatives(*given).parameters:
        full = f"forces.{force.name}.{name}"
        others[name] = moves_of(at.system, full)[1]
        fields[name] = out.shape + shape_of_parameter(at.system, full)
    found = checked_derivatives(force, given, expected, fields)
    for name, each in moves.items():
        if each:
            rates = [derivative(lambda e, m=m: _written(force, m(e))) for m in each]  # type: ignore[misc]
            yield _compared(name, found.get(name), rates)
    for name, each in others.items():
        rates = [
            derivative(lambda e, n=name, m=m: _written(attrs.evolve(force, **{n: m(e)}), given))  # type: ignore[misc]
            for m in each
        ]
        yield _compared(name, found[name], rates)


def _compared(name: str, found: Any, rates: list[Any]) -> tuple[str, Any, Any]:
    expected = np.stack(rates, axis=-1)
    own = np.zeros(expected.shape) if found is None else found.reshape(expected.shape)
    return f"the derivative by {name}", own, expected


def _arguments(at: _Sample) -> _Arguments:
    """Return the arguments of the force of a system at a state."""
    system, (force,) = at.system, at.system.forces
    joints = force.joints or system.joint_names
    q = [at.q[system.position_slice(joint)] for joint in joints]
    v = [at.v[system.velocity_slice(joint)] for joint in joints]
    rows = [system.body_names.index(name) for name in force.bodies]
    poses = system.poses(at.q)[rows]
    twists = system.twists(at.q, at.v)[rows]
    if rows:
        T = force.representation.twist_map(poses) @ system.representation.inverse_twist_map(poses)
        twists = (T @ twists[..., None])[..., 0]
    return at.t, np.concatenate(q), np.concatenate(v), poses, twists


def _written(force: Force, given: _Arguments) -> Any:
    """Return the output of a force."""
    _, _, v, poses, _ = given
    out = np.zeros((len(poses), 6) if force.acts_on == "bodies" else len(v))
    force.evaluate(*given, out)
    return out


def _moves(force: Force, given: _Arguments) -> dict[str, list[Callable[[float], _Arguments]]]:
    """Return, by the name of an argument, how all are while it moves along each of its entries."""
    t, q, v, poses, twists = given

    def turned(b: int, x: Any) -> Callable[[float], _Arguments]:
        def moved(e: float) -> _Arguments:
            other = np.array(poses)
            other[b] = poses[b] @ SE3.exp(e * x)
            return t, q, v, other, twists

        return moved

    units = np.eye(twists.size).reshape((twists.size, *twists.shape))
    back = [force.representation.inverse_twist_map(C) for C in poses]
    return {
        "t": [lambda e: (t + e, q, v, poses, twists)],
        "q": [lambda e, x=x: (t, q + e * x, v, poses, twists) for x in np.eye(q.size)],  # type: ignore[misc]
        "v": [lambda e, x=x: (t, q, v + e * x, poses, twists) for x in np.eye(v.size)],  # type: ignore[misc]
        "poses": [turned(b, x) for b, map_ in enumerate(back) for x in map_.T],
        "twists": [lambda e, x=x: (t, q, v, poses, twists + e * x) for x in units],  # type: ignore[misc]
    }


#: With the largest error allowed, and whether it is checked on freely moving bodies, too.
_LAWS: tuple[tuple[str, float, Callable[..., Found], bool], ...] = (
    ("power is -dU/dt - dissipated + supplied", 1e-7, _accounted, True),
    ("what is dissipated is not negative", 1e-12, _dissipated, True),
    ("what acts between bodies acts back", 1e-9, _balanced, True),
    ("the same arguments give the same results", 0.0, _repeated, False),
    ("compiled and Python forms agree", 1e-10, _compiled, False),
    ("its derivatives are those of what it writes", 1e-7, _differentiated, True),
)

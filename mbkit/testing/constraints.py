"""Laws of constraints: rows, rates and biases are derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from mbkit.constraints import Constraint, check_constraint_definition
from mbkit.coordinates.assembly import Assembly
from mbkit.coordinates.division import CutBodies
from mbkit.errors import ConstraintError, MbkitError
from mbkit.joints import FreeJoint, RevoluteJoint, SphericalJoint
from mbkit.joints.defaults.differences import derivative
from mbkit.model import Body, Mechanism
from mbkit.parts.parts import Parts
from mbkit.representations import BodyFixed
from mbkit.spatial import SpatialInertia, pose_from_quaternion
from mbkit.systems import System
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

#: Corrections that are tried to close a state, and how closed it must be. [m]
_MOST = 60
_CLOSED = 1e-10


@attrs.frozen
class _Subject:
    """A system, and where the rows of the constraint are among its others."""

    system: System
    rows: slice
    position_rows: slice


@attrs.frozen
class _Sample:
    """A state at a time, and an acceleration."""

    t: float
    q: Any
    v: Any
    vdot: Any

    def __str__(self) -> str:
        return state_text(self.t, self.q, self.v)


def check_constraint(
    constraint: Constraint, mechanism: Mechanism | None = None, *, seed: int = 0
) -> Report:
    """Return a report on the laws that a constraint keeps or breaks.

    1. Its definition is complete, and the mechanism has the joints and bodies that it names.
    2. Rows and rate are the derivative of the residual while the mechanism moves and time goes on.
    3. The bias is the derivative of the rate of all rows, with constant velocities.
    4. Velocities and accelerations enter by the same rows.
    5. The same arguments give the same results, in any order of the calls.
    6. Where the residual is zero the rows are independent: none is zero there.

    It is looked at in random states, closed or not, near and far from the reference configuration;
    those where it has no value are left out.

    Parameters
    ----------
    constraint : Constraint
        Any constraint.
    mechanism : Mechanism, optional
        One with the joints and bodies that it names; constraints that it has itself do not matter.
        If it is not given, one is made in which the bodies are free, and the joints are hinges, or
        ball joints or free ones where the constraint wants these.
    seed : int
        Of the random numbers.

    Returns
    -------
    Report
        It prints as a table; ``raise_if_failed()`` makes an exception of it.

    Examples
    --------
    >>> import mbkit as mb
    >>> report = mb.testing.check_constraint(mb.Distance("rod", "a", "b", length=0.5))
    >>> report.holds
    True
    """
    name = f"Constraint {getattr(constraint, 'name', '?')!r} ({type(constraint).__name__})"
    law = "the definition is complete, and the mechanism has what it names"
    try:
        check_constraint_definition(constraint)
        subject = _subject(constraint, mechanism)
        samples = _samples(subject.system, np.random.default_rng(seed))
    except Exception as error:
        return refused(name, law, error)
    lines = [line_of(law, bound, function, subject, samples) for law, bound, function in _LAWS]
    return Report(name, (Line(law, True), *lines))


# --------------------------------------------------------------------------------- mechanisms


def _subject(constraint: Constraint, mechanism: Mechanism | None) -> _Subject:
    if mechanism is not None:
        return _with_constraint(mechanism, constraint)
    wrong: list[MbkitError] = []
    for kind in (RevoluteJoint, SphericalJoint, FreeJoint):
        try:
            subject = _with_constraint(_free_bodies(constraint, kind), constraint)
            _samples(subject.system, np.random.default_rng(0))
        except MbkitError as error:
            wrong.append(error)
        else:
            return subject
    raise ConstraintError(
        f"{wrong[0]} No hinges, ball joints or free joints suit the constraint; give a mechanism "
        "that does."
    )


def _with_constraint(mechanism: Mechanism, constraint: Constraint) -> _Subject:
    """Return the system of a mechanism with one constraint besides its loops."""
    parts = attrs.evolve(Parts.of(mechanism), constraints={constraint.name: constraint})
    division = CutBodies().divide(parts)
    system = Assembly(division, mechanism.topology(), BodyFixed(), "joint").system()
    row = system.arrays.closure.constraints[-1]
    first, second = int(row["first_row"]), int(row["first_position_row"])
    return _Subject(
        system,
        slice(first, first + constraint.num_rows),
        slice(second, second + constraint.num_position_rows),
    )


def _free_bodies(constraint: Constraint, kind: Callable[[str], Any]) -> Mechanism:
    """Return free bodies of the constraint's names, and others on joints of its names."""
    mech = Mechanism("free bodies")
    box = SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))
    frame = pose_from_quaternion((0.6, -0.3, 0.5), (0.5, 0.1, -0.7, 0.5))
    named = {*constraint.joints, *constraint.bodies}
    for k, body in enumerate(name for name in constraint.bodies if name != "world"):
        joint = f"free {k}" if f"free {k}" not in named else f"free {k} of {body}"
        mech.add_body(Body(body, box))
        mech.add_joint(FreeJoint(joint), mech.world, body, frames=(frame, np.eye(4)))
    for k, name in enumerate(constraint.joints):
        link = f"link {k}" if f"link {k}" not in named else f"link {k} of {name}"
        mech.add_body(Body(link, box))
        mech.add_joint(kind(name), mech.world, link, frames=(frame, np.eye(4)))
    return mech


def _samples(system: System, rng: np.random.Generator) -> list[_Sample]:
    """Return states in which the constraint has a value."""
    found, failed = [], None
    for t in TIMES:
        for size in SIZES:
            sample = _Sample(t, *random_state(system, rng, size), rng.normal(size=system.nv))
            try:
                system.constraint_velocity(sample.q, sample.v, sample.t)
            except ConstraintError as error:
                failed = error
            else:
                found.append(sample)
    if not found and failed is not None:
        raise failed
    return found


# --------------------------------------------------------------------------------------- laws


def _moved(system: System, at: _Sample, e: float) -> Any:
    return system.retract(at.q, e * system.rates(at.q, at.v))


def _nearest_derivative(function: Callable[[float], Any], found: Any) -> Any:
    """Return the derivative of both sides or, where these differ as at a kink, of one."""
    each = (derivative(function, side) for side in (0, 1, -1))
    return min(each, key=lambda rate: float(np.abs(rate - found).max()))


def _rate_of_residual(subject: _Subject, at: _Sample) -> Found:
    system, rows = subject.system, subject.position_rows
    count = rows.stop - rows.start
    if count == 0:
        raise Nothing("it has no residual")

    def residual(e: float) -> Any:
        return system.constraint_residual(_moved(system, at, e), at.t + e)[rows]

    found = system.constraint_velocity(at.q, at.v, at.t)[subject.rows][:count]
    yield "the rate", found, _nearest_derivative(residual, found)


def _rate_of_rate(subject: _Subject, at: _Sample) -> Found:
    system, rows = subject.system, subject.rows

    def rate(e: float) -> Any:
        return system.constraint_velocity(_moved(system, at, e), at.v, at.t + e)[rows]

    found = system.constraint_bias(at.q, at.v, at.t)[rows]
    yield "the bias", found, _nearest_derivative(rate, found)


def _same_rows(subject: _Subject, at: _Sample) -> Found:
    system, rows = subject.system, subject.rows
    A = system.constraint_jacobian(at.q, at.t)
    at_rest = system.constraint_velocity(at.q, 0.0 * at.v, at.t)
    found = system.constraint_velocity(at.q, at.v, at.t)
    yield "the rate", found[rows], (A @ at.v + at_rest)[rows]
    bias = system.constraint_bias(at.q, at.v, at.t)
    found = system.constraint_acceleration(at.q, at.v, at.vdot, at.t)
    yield "the acceleration", found[rows], (A @ at.vdot + bias)[rows]


def _repeated(subject: _Subject, at: _Sample) -> Found:
    system = subject.system
    calls: tuple[Callable[[], Any], ...] = (
        lambda: system.constraint_acceleration(at.q, at.v, at.vdot, at.t)[subject.rows],
        lambda: system.constraint_residual(at.q, at.t)[subject.position_rows],
    )
    return repeated(calls, lambda: system.constraint_bias(at.q, -at.v, at.t))


def _independent(subject: _Subject, at: _Sample) -> Found:
    system = subject.system
    q = _closed(subject, at)
    if q is not None:
        A = system.constraint_jacobian(q, at.t)[subject.rows]
        sizes = np.linalg.svd(A, compute_uv=False)
        rank = int((sizes > 1e-5 * max(1.0, sizes[0])).sum())
        yield "the rank of the rows", rank, len(A)


def _closed(subject: _Subject, at: _Sample) -> Any:
    """Return a configuration where the residual is zero, or None where none is found."""
    system, rows, q = subject.system, subject.position_rows, at.q
    count = rows.stop - rows.start
    try:
        for _ in range(_MOST):
            g = system.constraint_residual(q, at.t)[rows]
            if np.abs(g).max(initial=0.0) < _CLOSED:
                return q
            A = system.constraint_jacobian(q, at.t)[subject.rows][:count]
            step = -np.linalg.lstsq(A, g, rcond=None)[0]
            q = system.retract(q, system.rates(q, step))
    except ConstraintError:
        pass
    return None


_LAWS: tuple[tuple[str, float, Callable[..., Found]], ...] = (
    ("rows and rate are the derivative of the residual", 1e-7, _rate_of_residual),
    ("the bias is the derivative of the rate", 1e-7, _rate_of_rate),
    ("velocities and accelerations enter by the same rows", 1e-10, _same_rows),
    ("the same arguments give the same results", 0.0, _repeated),
    ("the rows are independent where it is closed", 0.0, _independent),
)

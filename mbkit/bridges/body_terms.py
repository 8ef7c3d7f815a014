"""Motion of bodies on traced numbers, at any frame, seen from any body, in any representation."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from mbkit.bridges.terms import own_kernel, rate_along, rates_of
from mbkit.errors import UsageError
from mbkit.representations import BodyFixed, Representation
from mbkit.systems.body_motion import (
    Place,
    acceleration_at,
    checked_form,
    jacobian_at,
    pose_of,
    twist_at,
    twist_resolved,
)
from mbkit.systems.parameters.geometric_parameters import JointEnds, joint_ends, regressor_at
from mbkit.tracing.trace import Trace

#: Motion at frames is computed in body-fixed twists, as `mbkit.systems.body_motion` does.
_BODY = BodyFixed()

#: The places of a joint on its predecessor and its successor.
_PLACES = ("S_pred", "S_succ")


def poses(trace: Trace) -> Any:
    """Return the poses of all bodies, (bodies + 1, 4, 4)."""
    from mbkit.kernels.recursions.poses import poses

    count = len(trace.system.body_names)
    return trace.call(poses, 16 * count).reshape(count, 4, 4)


def twists(trace: Trace, representation: Representation | None = None) -> Any:
    """Return the twists of all bodies, (bodies + 1, 6)."""
    count = len(trace.system.body_names)
    kernel = own_kernel(trace, "twists", representation)
    return trace.call(kernel, 6 * count, trace.v).reshape(count, 6)


def accelerations(trace: Trace, vdot: Any, representation: Representation | None = None) -> Any:
    """Return the rates of the twists of all bodies, (bodies + 1, 6)."""
    count = len(trace.system.body_names)
    kernel = own_kernel(trace, "accelerations", representation)
    return trace.call(kernel, 6 * count, trace.v, vdot).reshape(count, 6)


def body_derivatives(
    trace: Trace, *higher: Any, representation: Representation | None = None
) -> Any:
    """Return twists and their rates, those of an order below each other."""
    from mbkit.kernels.higher_orders.motion import body_derivatives as kernel

    every, rows = [trace.v, *higher], len(trace.system.body_names)
    count = len(every)
    form = checked_form(trace.system, representation)
    code = form.kernel_number
    # representations of users and joints in Python have no series on a tape
    if code is None or trace.system.arrays.joint_pieces.given:
        return np.concatenate(
            [rates_of(trace, twists(trace, form), every, k) for k in range(count)]
        )
    made = trace.call_series(kernel, 6 * count * rows, every, count, code=code)
    return made.reshape(count * rows, 6)


def jerks(trace: Trace, vdot: Any, vddot: Any, representation: Representation | None = None) -> Any:
    """Return the second rates of the twists of all bodies, (bodies + 1, 6)."""
    every = body_derivatives(trace, vdot, vddot, representation=representation)
    return every[-len(trace.system.body_names) :]


def pose(trace: Trace, body: str, frame: Any = None, relative_to: str | None = None) -> Any:
    """Return the pose of a frame on a body, (4, 4)."""
    place = Place.of(trace.system, body, frame, relative_to)
    return trace.copies.convert(place).pose(poses(trace))


def twist(
    trace: Trace,
    body: str,
    frame: Any = None,
    relative_to: str | None = None,
    *,
    representation: Representation | None = None,
    measured_in: str | None = None,
    resolved_in: str | None = None,
) -> Any:
    """Return the twist of a frame on a body, (6,)."""
    system, convert = trace.system, trace.copies.convert
    place = Place.of(system, body, frame, relative_to)
    form = checked_form(system, representation, measured_in, resolved_in)
    named = measured_in is not None or resolved_in is not None
    if place.is_plain and not named:
        return twists(trace, form)[place.row]
    C, V, here = poses(trace), twists(trace, _BODY), convert(place)
    if named:
        frames = [
            convert(pose_of)(system, name, body, here, C) for name in (measured_in, resolved_in)
        ]
        return convert(twist_resolved)(here, C, V, *frames)
    return convert(twist_at)(here, convert(form), C, V)


def acceleration(
    trace: Trace,
    vdot: Any,
    body: str,
    frame: Any = None,
    relative_to: str | None = None,
    representation: Representation | None = None,
) -> Any:
    """Return the rate of `twist`, (6,)."""
    system, convert = trace.system, trace.copies.convert
    place = Place.of(system, body, frame, relative_to)
    form = checked_form(system, representation)
    if place.is_plain:
        return accelerations(trace, vdot, form)[place.row]
    moving = poses(trace), twists(trace, _BODY), accelerations(trace, vdot, _BODY)
    return convert(acceleration_at)(convert(place), convert(form), *moving)


def jacobian(
    trace: Trace,
    body: str,
    frame: Any = None,
    relative_to: str | None = None,
    representation: Representation | None = None,
) -> Any:
    """Return the matrix J with ``twist = J v``, (6, nv)."""
    system, convert = trace.system, trace.copies.convert
    place = Place.of(system, body, frame, relative_to)
    form = checked_form(system, representation)
    if place.is_plain:
        return _columns(trace, place.row, form)
    J = _columns(trace, place.row, _BODY)
    base = None if place.base == 0 else _columns(trace, place.base, _BODY)
    return convert(jacobian_at)(convert(place), convert(form), poses(trace), J, base)


def _columns(trace: Trace, row: int, form: Representation) -> Any:
    nv = trace.system.nv
    return trace.call(own_kernel(trace, "jacobian", form), 6 * nv, option=row).reshape(6, nv)


def jacobian_rate(
    trace: Trace,
    *higher: Any,
    body: str,
    frame: Any = None,
    representation: Representation | None = None,
) -> Any:
    """Return the rate of `jacobian` of the order that the rates of v lead to, (6, nv)."""
    from mbkit.kernels.higher_orders.motion import jacobian_rate

    system, every = trace.system, [trace.v, *higher]
    place = Place.of(system, body, frame, None)
    code = checked_form(system, representation).kernel_number
    if code is None or not place.is_plain or system.arrays.joint_pieces.given:
        J = jacobian(trace, body, frame, None, representation)
        return rates_of(trace, J, every, len(every))
    count = len(every) + 1
    made = trace.call_series(jacobian_rate, 6 * system.nv, every, count, body=place.row, code=code)
    return made.reshape(6, system.nv)


def motion_subspaces(trace: Trace) -> Any:
    """Return the motion subspaces of all joints by rows, (nv, 6)."""
    from mbkit.kernels.recursions.motion_subspaces import motion_subspaces

    nv = trace.system.nv
    option = trace.system.tree.address
    return trace.call(motion_subspaces, 6 * nv, option=option).reshape(nv, 6)


def motion_subspace_rates(trace: Trace, *higher: Any) -> Any:
    """Return their rates of the order that the rates of v lead to, (nv, 6)."""
    every = [trace.v, *higher]
    return rates_of(trace, motion_subspaces(trace), every, len(every))


def centre_of_mass(trace: Trace) -> Any:
    """Return the centre of mass of all bodies in the world, (3,)."""
    from mbkit.kernels.recursions.energy import momentum

    return trace.call(momentum, 9)[6:] / _mass(trace)


def centre_of_mass_velocity(trace: Trace) -> Any:
    """Return its velocity, the momentum by the mass, (3,)."""
    return momentum(trace)[3:] / _mass(trace)


def centre_of_mass_acceleration(trace: Trace, vdot: Any) -> Any:
    """Return its acceleration, (3,)."""
    return rate_along(trace, centre_of_mass_velocity(trace), [trace.v, vdot])


def momentum(trace: Trace) -> Any:
    """Return the momentum of all bodies about the world's origin, (6,)."""
    from mbkit.kernels.recursions.energy import momentum

    return trace.call(momentum, 9, trace.v)[:6]


def _mass(trace: Trace) -> Any:
    """Return the mass of all bodies, those that do not move included."""
    from mbkit.kernels.workspace import bodies

    return sum(trace.copies.convert(bodies)(trace.space)["mass"], 0.0)


def geometric_regressor(
    trace: Trace, body: str, frame: Any = None, representation: Representation | None = None
) -> Any:
    """Return the derivative of the pose of a body by the geometry of all joints, (6, 12 joints)."""
    system, convert = trace.system, trace.copies.convert
    count = len(system.geometric_parameter_names) // 12
    place = Place.of(system, body, frame, None)
    form = checked_form(system, representation)
    ends = [_traced_ends(trace, each) for each in joint_ends(system, place.row)]
    C = poses(trace)
    here = convert(place).in_world(C)
    return convert(regressor_at)(convert(form), C, here, [*map(convert, ends)], count)


def _traced_ends(trace: Trace, joint: JointEnds) -> JointEnds:
    """Return the ends of a joint with its places as they are on the tape."""
    check_axes(trace, joint.name, "geometric_regressor")
    near, far = (
        attrs.evolve(end, place=traced_place(trace, joint.name, name))
        for end, name in zip((joint.near, joint.far), _PLACES, strict=True)
    )
    return attrs.evolve(joint, near=near, far=far)


def check_axes(trace: Trace, joint: str, evaluation: str) -> None:
    """Raise UsageError if the axes of a joint stay free in an evaluation that is in these axes."""
    path = f"joints.{joint}."
    for each in trace.free:
        if each.path.startswith(path) and each.path.rpartition(".")[2] not in _PLACES:
            raise UsageError(
                f"{trace.what}: {each.path!r} cannot stay free in {evaluation!r}, which is told in "
                f"the axes of the joint; take its place, {path}S_pred."
            )


def traced_place(trace: Trace, joint: str, name: str) -> Any:
    """Return S_pred or S_succ of a joint as it is on the tape, (4, 4)."""
    path = f"joints.{joint}.{name}"
    if path in {each.path for each in trace.free}:
        return trace.parameter(path)
    place = trace.system.joint_places[joint]
    return place.near if name == "S_pred" else place.far

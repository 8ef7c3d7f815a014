"""The recursion of a representation: the functions that the algorithms are written in."""

from collections.abc import Callable
from typing import Any, NamedTuple

from mbkit.kernels.recursions import columns
from mbkit.kernels.recursions.world import is_placed, start

Step = Callable[..., Any]


class Recursion(NamedTuple):
    """One value that an algorithm takes; numba compiles its functions in, as if written out.

    P takes the motion of the parent to the body, P^T a wrench back. Of body i, `row` is the model,
    `body` the scratch, `parent` that of its parent; S, S-dot v (the bias), R and p are there by
    the joint pass. (w, u) is a motion and (t, f) a wrench as (angular, linear), in the
    representation's own form; "in the world" is in the world's axes, at the body's origin. Those
    with a default here take the columns of S from the scratch.

    Attributes
    ----------
    twist : (model, scratch, i, v)
        V = P V_p + S v, and into A what that adds to the acceleration, c. Where the representation
        wants them, the pose in the world, and S in its own form.
    own_wrench : (row, body)
        F = M A + bias.
    own_bias : (row, body)
        I = M, the articulated inertia of the body alone; F = bias.
    from_parent : (body, parent, w, u) -> (w, u)
        P (w, u).
    to_parent : (body, parent, t, f) -> (t, f)
        P^T (t, f).
    inertia_to_parent : (body, parent)
        I_p += P^T I P, articulated.
    place : (model, scratch, i)
        S and M, for the mass matrix; body 0 too.
    columns_to_parent : (body, parent, F)
        P^T F of all columns of a subtree, six arrays.
    composite_to_parent : (body, parent)
        I_p += P^T I P, rigid.
    twist_to_site : (body, site, w, u) -> (w, u)
        A twist of the body at a frame that sits on it.
    rate_to_site : (body, site, velocity, w, u) -> (w, u)
        The same of the rate of a twist, `velocity` the angular part of the twist.
    column_at : (here, body, w, u) -> (w, u)
        A column of S, body-fixed in `body`, for a body at (here.R, here.p) in the world.
    wrench_from_site : (body, site, t, f) -> (t, f)
        A wrench at a frame that sits on the row, at that of the row.
    needs_poses : bool
        Whether that reads poses in the world.
    twist_in_world : (body) -> (w, u)
        V in the world.
    acceleration_in_world : (body) -> (w, u)
        Angular acceleration, and that of the body's origin, in the world, of A.
    motion_from_world : (body, w, u) -> (w, u)
        A twist in the world, in the representation's own form.
    wrench_from_world : (body, t, f) -> (t, f)
        A wrench in the world, in the representation's own form.
    wrench_in_world : (body, t, f) -> (t, f)
        The way back.
    point_wrench : (body, r, x, f) -> (t, f)
        That of a force f in the world's axes at a point: r in the body's frame, x in the world.
    acceleration : (model, scratch, i, vdot, recursion)
        A = P A_p + S vdot + c.
    column_power : (row, body, c, t, f) -> float
        S . (t, f) of column c.
    add_column : (row, body, c, a, w, u) -> (w, u)
        (w, u) + S a.
    column_inertia : (row, body, c, U) -> (float, float)
        U = I S; S . U, and the size of the terms that it is the sum of.
    column_wrench : (row, body, c) -> (t, f)
        I S, rigid.
    columns_power : (row, body, k, F, entries)
        entries = S . F of column k and of all columns of a subtree, six arrays.
    is_hinge : (row) -> bool
        Whether `mbkit.kernels.recursions.hinges` eliminates the joint: S = (0, 0, rate, 0, 0, 0),
        and P = Ad_C^-1.
    place_for_forces : (model, scratch, i)
        The pose in the world, where `twist` has no use for it.
    start : (scratch, acceleration)
        The motion of the world.
    """

    twist: Step
    own_wrench: Step
    own_bias: Step
    from_parent: Step
    to_parent: Step
    inertia_to_parent: Step
    place: Step
    columns_to_parent: Step
    composite_to_parent: Step
    twist_to_site: Step
    rate_to_site: Step
    column_at: Step
    wrench_from_site: Step
    needs_poses: bool
    twist_in_world: Step
    acceleration_in_world: Step
    motion_from_world: Step
    wrench_from_world: Step
    wrench_in_world: Step
    point_wrench: Step
    acceleration: Step = columns.acceleration
    column_power: Step = columns.column_power
    add_column: Step = columns.add_column
    column_inertia: Step = columns.column_inertia
    column_wrench: Step = columns.column_wrench
    columns_power: Step = columns.columns_power
    is_hinge: Step = columns.is_hinge
    place_for_forces: Step = is_placed
    start: Step = start

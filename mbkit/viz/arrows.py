"""Wrenches as arrows: reactions of joints, and wrenches given on bodies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import ConstraintError, NameUnknownError, ShapeError, UsageError, suggestion
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.viz.film import Arrow
from mbkit.viz.scene.joint_places import drawn_joints

if TYPE_CHECKING:
    from mbkit.results.result import Result
    from mbkit.systems import System

_FORCE, _MOMENT = (0.85, 0.10, 0.10, 1.0), (0.45, 0.15, 0.70, 1.0)

#: Length of the longest arrow in parts of the size of a scene, and of one that is nothing.
_LONGEST, _NOTHING = 0.4, 1e-6

#: A name, points (k, 3), moments and forces (k, 3) each, about and at the points.
Wrenches = list[tuple[str, FloatArray, FloatArray, FloatArray]]


def reactions(
    system: System, joints: Iterable[str], q: FloatArray, v: FloatArray, **given: Any
) -> Wrenches:
    """Return the reactions of joints on their successors, at states (k, nq), (k, nv).

    `given` are ``tau`` and ``t`` of `System.reaction`. Where redundant constraints leave reactions
    open, they are those of multipliers of least norm.
    """
    places = {joint.name: joint for joint in drawn_joints(system)}
    found: Wrenches = []
    for name in joints:
        if name not in places:
            raise NameUnknownError(
                f"reactions: there is no joint {name!r}; {suggestion(str(name), places)}"
            )
        joint = places[name]
        points = (system.poses(q)[:, joint.bodies[1]] @ [*joint.ends[1], 1.0])[:, :3]
        options = {**given, "at": points}
        try:
            W = system.reaction(name, q, v, **options)
        except ConstraintError:
            W = system.reaction(name, q, v, minimum_norm=True, on_error="nan", **options)
        W = np.nan_to_num(W)
        found.append((name, points, W[:, :3], W[:, 3:]))
    return found


def reactions_of_run(system: System, run: Result, rows: Any, joints: Iterable[str]) -> Wrenches:
    """Return reactions at saved instants of a run; UsageError if its efforts are not known."""
    names = list(joints)
    if not names:
        return []
    tau = None
    if run.options.get("tau", "none") != "none":
        tau = getattr(run.origin, "arguments", {}).get("tau")
        if tau is None or callable(tau):
            raise UsageError(
                "animate: the efforts of the run are not in it, so that its reactions are not "
                "known; give them as arrows: run.animate(path, wrenches={body: values})."
            )
    return reactions(system, names, run.q[rows], run.v[rows], tau=tau, t=run.t[rows])


def given_wrenches(
    system: System,
    wrenches: Mapping[str, Any],
    q: FloatArray,
    rows: Any,
    count: int,
    who: str = "animate",
) -> Wrenches:
    """Return wrenches on bodies: (6,), or (count, 6) of which `rows` are seen.

    Moment and force in the axes of the world, at the origin of the body's frame.
    """
    found: Wrenches = []
    for name, value in wrenches.items():
        points = system.pose(name, q)[..., :3, 3]
        W = frozen_array(value)
        if W.shape not in ((6,), (count, 6)):
            raise ShapeError(
                f"{who}: wrenches: that on {name!r} must have the shape (6,), or ({count}, 6) "
                f"for each instant, got {W.shape}."
            )
        check_array(W, W.shape, f"{who}: wrenches: that on {name!r}")
        every = np.broadcast_to(W, (count, 6))[rows]
        found.append((name, points, every[:, :3], every[:, 3:]))
    return found


def arrows_of(wrenches: Wrenches, size: float) -> tuple[Arrow, ...]:
    """Return forces and moments as arrows, the longest of each in parts of a scene's size."""
    found = []
    forces = max((float(np.linalg.norm(f, axis=1).max()) for *_, f in wrenches), default=0.0)
    moments = max((float(np.linalg.norm(m, axis=1).max()) for *_, m, _ in wrenches), default=0.0)
    for name, points, moment, force in wrenches:
        if forces > _NOTHING * moments / size:
            vectors = force * (_LONGEST * size / forces)
            found.append(Arrow(f"force {name}", points, vectors, _FORCE))
        if moments > _NOTHING * forces * size:
            vectors = moment * (_LONGEST * size / moments)
            found.append(Arrow(f"moment {name}", points, vectors, _MOMENT, double=True))
    return tuple(found)

"""Motion of one body: at a frame on it, as seen from another body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NameUnknownError, UsageError, suggestion
from mbkit.lie import SE3
from mbkit.lie.arrays import checked, hat
from mbkit.lie.se3 import require_poses
from mbkit.representations import BodyFixed, Representation
from mbkit.representations.arguments import blocks, check_broadcast, times, transposed
from mbkit.representations.conversions import check_representation
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.evaluations import ACCELERATIONS, JACOBIAN, TWISTS
from mbkit.systems.configurations import is_frame, placed

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["acceleration", "jacobian", "pose", "twist"]

#: All motion is computed in body-fixed twists, which lose no digits far from the world's origin.
_BODY = BodyFixed()


@final
@attrs.frozen
class Place:
    """A frame S on a body i, and the frame on body j from which it is seen; body-fixed throughout.

    The frames are None where they are those of the bodies.
    """

    row: int
    frame: Floats | None
    base: int
    base_frame: Floats | None

    @classmethod
    def of(cls, system: System, body: str, frame: Any, relative_to: str | None) -> Place:
        base = (0, None) if relative_to is None else placed(system, relative_to)
        return cls(*placed_on(system, body, frame), *base)

    @property
    def is_plain(self) -> bool:
        """Whether it is the body's own frame in the world, which the recursions know."""
        return self.frame is None and self.base == 0

    def pose(self, C: Floats) -> Floats:
        """Return C_ji S from the poses of all bodies (..., bodies + 1, 4, 4)."""
        here = self.in_world(C)
        if self.base == 0:
            return here
        base = C[..., self.base, :, :]
        return between(base if self.base_frame is None else base @ self.base_frame, here)

    def in_world(self, C: Floats) -> Floats:
        """Return C_i S from the poses of all bodies."""
        here = C[..., self.row, :, :]
        if self.frame is None:
            return here.copy()
        if self.frame.ndim > 2:
            check_broadcast("frame and q", (self.frame, 2), (here, 2))
        return np.asarray(here @ self.frame)

    def at_frame(self, columns: Floats) -> Floats:
        """Return Ad_S^-1 times the columns (..., 6, n) of the body."""
        if self.frame is None:
            return columns
        if self.frame.ndim > 2:
            check_broadcast("frame, q and v", (self.frame, 2), (columns, 2))
        return _moved_back(self.frame, columns)

    def at_base(self, columns: Floats) -> Floats:
        """Return columns (..., 6, n) of the body from which it is seen, at the frame there."""
        return columns if self.base_frame is None else _moved_back(self.base_frame, columns)


def placed_on(system: System, body: str, frame: Any) -> tuple[int, Floats | None]:
    """Return the row of a body, or of that of a named frame, and the pose of a frame on it.

    A further `frame` is named, of the body, or a pose in the frame `body` names. None for the
    body's own frame.
    """
    row, named = placed(system, body)
    further = frame_on(system, body, frame)
    if named is None or further is None:
        return row, further if named is None else named
    return row, further if isinstance(frame, str) else np.asarray(named @ further)


def frame_on(system: System, body: str, frame: Any) -> Floats | None:
    """Return the pose (..., 4, 4) of a frame on a body, in the frame of the body.

    The forms in which a frame is given are decided here alone: a pose, or a name on the body.
    """
    if frame is None:
        return None
    who = f"System '{system.name}': frame on body '{body}'"
    if isinstance(frame, str):
        row = placed(system, body)[0]
        known = {n: f.pose for n, f in system.frames.items() if system.body_index(f.body) == row}
        if frame not in known:
            raise NameUnknownError(
                f"{who}: the body has no frame {frame!r}; {suggestion(frame, known)} Or give a "
                f"pose (4, 4) in the frame of the body, such as "
                f"mbkit.spatial.translation((0.0, 0.0, 0.1))."
            )
        return known[frame]
    given = checked(frame, (4, 4), who)
    require_poses(given, who)
    return given


def pose(
    system: System,
    body: str,
    q: ArrayLike,
    *,
    frame: ArrayLike | str | None = None,
    relative_to: str | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.pose`."""
    place = Place.of(system, body, frame, relative_to)
    return place.pose(system.poses(q, on_error=on_error))


def twist(
    system: System,
    body: str,
    q: ArrayLike,
    v: ArrayLike,
    *,
    frame: ArrayLike | str | None = None,
    relative_to: str | None = None,
    representation: Representation | None = None,
    measured_in: str | None = None,
    resolved_in: str | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.twist`."""
    place = Place.of(system, body, frame, relative_to)
    chosen = checked_form(system, representation, measured_in, resolved_in)
    named = measured_in is not None or resolved_in is not None
    if place.is_plain and not named:
        V = system.twists(q, v, representation=chosen, on_error=on_error)
        return V[..., place.row, :].copy()
    C = system.poses(q, on_error=on_error)
    V = system.evaluator.compute(TWISTS, q, v, representation=_BODY, on_error=on_error)
    if named:
        frames = [pose_of(system, name, body, place, C) for name in (measured_in, resolved_in)]
        return twist_resolved(place, C, V, *frames)
    return twist_at(place, chosen, C, V)


def acceleration(
    system: System,
    body: str,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    *,
    frame: ArrayLike | str | None = None,
    relative_to: str | None = None,
    representation: Representation | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.acceleration`."""
    place = Place.of(system, body, frame, relative_to)
    chosen = checked_form(system, representation)
    if place.is_plain:
        A = system.accelerations(q, v, vdot, representation=chosen, on_error=on_error)
        return A[..., place.row, :].copy()
    C = system.poses(q, on_error=on_error)
    compute = system.evaluator.compute
    V = compute(TWISTS, q, v, representation=_BODY, on_error=on_error)
    A = compute(ACCELERATIONS, q, v, vdot, representation=_BODY, on_error=on_error)
    return acceleration_at(place, chosen, C, V, A)


def jacobian(
    system: System,
    body: str,
    q: ArrayLike,
    *,
    frame: ArrayLike | str | None = None,
    relative_to: str | None = None,
    representation: Representation | None = None,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.jacobian`."""
    if frame is None and relative_to is None and not is_frame(system, body):
        if representation is not None:
            checked_form(system, representation)
        return system.evaluator.compute(
            JACOBIAN, q, option=system.body_index(body), representation=representation, out=out,
            on_error=on_error,
        )  # fmt: skip
    place = Place.of(system, body, frame, relative_to)
    chosen = checked_form(system, representation)

    def columns_of(row: int) -> Floats:
        return system.evaluator.compute(
            JACOBIAN, q, option=row, representation=_BODY, on_error=on_error
        )

    J = columns_of(place.row)
    base = None if place.base == 0 else columns_of(place.base)
    found = jacobian_at(place, chosen, system.poses(q, on_error=on_error), J, base)
    return system.evaluator.arguments.written("jacobian", found, out)


def twist_at(place: Place, form: Representation, C: Floats, V: Floats) -> Floats:
    """Return the twist at a place, from the poses and the body-fixed twists of all bodies."""
    seen, columns = _seen(place, C, V)
    return np.asarray((form.twist_map(seen) @ columns)[..., 0])


def twist_resolved(
    place: Place, C: Floats, V: Floats, measured: Floats | None, resolved: Floats | None
) -> Floats:
    """Return it measured in one frame, and resolved in another one, by their poses in the world."""
    change = _resolved(place.in_world(C), measured, resolved)
    return np.asarray((change @ _seen(place, C, V)[1])[..., 0])


def acceleration_at(place: Place, form: Representation, C: Floats, V: Floats, A: Floats) -> Floats:
    """Return the rate of the twist at a place; A are the rates of the body-fixed twists V."""
    seen, columns = _seen(place, C, V)
    rate = place.at_frame(A[..., place.row, :, None])
    V_seen = columns[..., 0]
    if place.base:
        # d/dt (Ad_{C_ji S}^-1 V_j) = Ad^-1 A_j - ad_V Ad^-1 V_j, with V the relative twist
        base_V, base_A = (
            _moved_back(seen, place.at_base(X[..., place.base, :, None])) for X in (V, A)
        )
        rate = rate - base_A + SE3.ad(V_seen) @ base_V
    moving = times(form.twist_map_rate(seen, V_seen), V_seen)
    return np.asarray((form.twist_map(seen) @ rate)[..., 0] + moving)


def jacobian_at(
    place: Place, form: Representation, C: Floats, J: Floats, base: Floats | None
) -> Floats:
    """Return the Jacobian at a place from body-fixed ones (..., 6, nv) of both bodies.

    `base` is None where it is seen from the world.
    """
    seen = place.pose(C)
    found = place.at_frame(J)
    if base is not None:
        both = (J != 0.0).any(axis=-2, keepdims=True) & (base != 0.0).any(axis=-2, keepdims=True)
        # joints that carry both bodies: zero, where the difference would leave rounding
        found = np.where(both, 0.0, found - _moved_back(seen, place.at_base(base)))
    return np.asarray(form.twist_map(seen) @ found)


def between(C_A: Floats, C_B: Floats) -> Floats:
    """Return C_AB of two poses in the world; origins are subtracted first, which keeps digits."""
    found = np.zeros(np.broadcast_shapes(C_A.shape, C_B.shape))
    R_back = transposed(C_A[..., :3, :3])
    found[..., :3, :3] = R_back @ C_B[..., :3, :3]
    found[..., :3, 3:] = R_back @ (C_B[..., :3, 3:] - C_A[..., :3, 3:])
    found[..., 3, 3] = 1.0
    return found


def _moved_back(C: Floats, columns: Floats) -> Floats:
    """Return Ad_C^-1 times columns (..., 6, n): the motion at a frame that stands at C.

    Written out, (R^T w; R^T (u - p x w)): faster than by matrices (6, 6).
    """
    R_back, w = transposed(C[..., :3, :3]), columns[..., :3, :]
    u = columns[..., 3:, :] - hat(C[..., :3, 3]) @ w
    return np.concatenate([R_back @ w, R_back @ u], axis=-2)


def _seen(place: Place, C: Floats, V: Floats) -> tuple[Floats, Floats]:
    """Return the pose C_ji S and the twist Ad_S^-1 V_i - Ad_{C_ji S}^-1 V_j as a column."""
    seen = place.pose(C)
    column = place.at_frame(V[..., place.row, :, None])
    if place.base:
        column = column - _moved_back(seen, place.at_base(V[..., place.base, :, None]))
    return seen, column


def pose_of(system: System, name: str | None, body: str, place: Place, C: Floats) -> Floats | None:
    """Return the pose in the world of the frame that a name stands for; None if none."""
    if name is None:
        return None
    if name == body:
        return place.in_world(C)
    row, frame = placed(system, name)
    return C[..., row, :, :] if frame is None else C[..., row, :, :] @ frame


def _resolved(here: Floats, measured: Floats | None, resolved: Floats | None) -> Floats:
    """Return the matrix from body-fixed twists of a frame to those in frames j and k.

    Mueller 2018, appendix A.2: kV^j = diag(R_kj, R_kj) Ad_{C_j^-1 C} V_b. Without k it is j,
    without j the frame itself.
    """
    measured = here if measured is None else measured
    change = SE3.Ad(between(measured, here))
    if resolved is None:
        return change
    R = transposed(resolved[..., :3, :3]) @ measured[..., :3, :3]
    return np.asarray(blocks(R, R) @ change)


def checked_form(
    system: System, representation: Representation | None, *frames: str | None
) -> Representation:
    """Return the representation, by default the system's; names of frames exclude one."""
    for name in frames:
        if name is not None:
            placed(system, name)
    if representation is None:
        return system.representation
    check_representation(representation, f"System '{system.name}': representation")
    if any(name is not None for name in frames):
        raise UsageError(
            f"System '{system.name}': twist: representation says where a twist is measured and "
            f"resolved, and so do measured_in and resolved_in; leave one of them out."
        )
    return representation

"""Twists at rest of joints on the world, along which runs have momenta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbkit.joints.bases.axes import frame_along
from mbkit.kernels.layout import SCREW, SCREW_IN_OWN_FRAME
from mbkit.systems.calls.evaluations import MOMENTA_IN_WORLD
from mbkit.systems.calls.failures import failure

if TYPE_CHECKING:
    from mbkit.systems.calls.evaluator import Evaluator
    from mbkit.systems.memory.arrays import SystemArrays

__all__ = ["RootMotions"]

#: Configurations at which the twists that a joint allows are compared.
_SAMPLES = 5

#: Bound of rounding errors in vectors of length one.
_ROUNDING = 1e-9


class _Twists(NamedTuple):
    """A basis of the twists of a subgroup, in the axes of the world; see ROOT."""

    about: int
    twists: Any  # (n, 6)
    point: Any = (0.0, 0.0, 0.0)  # in the body, about which they are; not for the centre of mass


class RootMotions:
    """The table of joints on the world by which `mbkit.kernels.momentum.root_joints` has momenta.

    A joint stands in it if its motions are a subgroup of SE(3), whatever its coordinates, and the
    momenta along its own velocities are not those along twists at rest already. The subgroup is
    that of the twists, in the body, that the joint allows at several configurations.

    Attributes
    ----------
    table : ndarray of ROOT, shape (bodies,)
        One row a body.
    address : int
        Of the table; 0 if no joint stands in it.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.momentum.root_joints import OTHER, ROOT

        bodies = evaluator.arrays.bodies
        self.table = np.zeros(len(bodies), ROOT)
        rows = [i for i in range(1, len(bodies)) if _may_have_others(bodies[i])]
        for i, (S, R) in _samples(evaluator, rows).items():
            found = _basis(bodies[i], S, R)
            if found is None or (bodies[i]["constant"] and _commute(found.twists)):
                continue
            row, n = self.table[i], len(found.twists)
            row["about"], row["point"] = found.about, found.point
            row["twists"][:n] = row["wrenches"][:n] = found.twists
            turns = np.abs(found.twists[:, :3]).any(axis=1)
            row["wrenches"][:n, 3:][turns] = 0.0  # so that a pitch leaves bases dual
        self.address = array_address(self.table) if (self.table["about"] != OTHER).any() else 0


def _may_have_others(row: Any) -> bool:
    """Return whether p of a joint may be other than the momenta along twists at rest."""
    moves = row["num_velocities"] > 0 and row["num_velocities"] == row["ndx"]
    return bool(row["parent"] == 0 and moves and row["kind"] not in (SCREW, SCREW_IN_OWN_FRAME))


def _samples(evaluator: Evaluator, rows: list[int]) -> dict[int, tuple[Any, Any]]:
    """Return S (samples, nv, 6) in the body, and R, of bodies on the world, at configurations.

    None of them where a joint fails: then nothing is known of others either.
    """
    evaluator = evaluator.doubles or evaluator
    rng, places = np.random.default_rng(0), []
    try:
        for k in range(_SAMPLES if rows else 0):
            scratch = _placed(evaluator, _configuration(evaluator.arrays, rng, float(k > 0)))
            places.append([(scratch[i]["S"].copy(), scratch[i]["R"].copy()) for i in rows])
    except Exception:  # of a joint in Python, which tells where it moves
        return {}
    counts = evaluator.arrays.bodies["num_velocities"]
    return {
        i: (np.array([S[: counts[i]] for S, _ in own]), own[0][1])
        for i, own in zip(rows, zip(*places, strict=True), strict=False)
    }


def _configuration(arrays: SystemArrays, rng: np.random.Generator, size: float) -> Any:
    """Return q with joints on the world moved by a step of this size, and all others neutral."""
    q = np.zeros(int(arrays.bodies[0]["num_positions"]))
    for row, joint in zip(arrays.bodies[1:], arrays.joints[1:], strict=True):
        assert joint is not None  # the world alone has none
        own = np.asarray(joint.neutral(), dtype=float)
        if row["parent"] == 0 and size > 0.0:
            own = joint.retract(own, rng.uniform(-size, size, int(row["ndx"])))
        first = int(row["first_position"])
        q[first : first + len(own)] = own
    return q


def _placed(evaluator: Evaluator, q: Any) -> Any:
    """Return a copy of the scratch memory of a call that has placed the bodies."""
    workspace = evaluator.take()
    try:
        function = evaluator.function(MOMENTA_IN_WORLD)
        result = np.zeros_like(evaluator.zero)
        direct = evaluator.direct(MOMENTA_IN_WORLD, function)
        status = direct(workspace.record, result, q, evaluator.zero)
        if status:
            raise failure(evaluator, status, workspace, {"q": q})
        return workspace.scratch.copy()
    finally:
        evaluator.give_back(workspace)


def _basis(row: Any, S: Any, R: Any) -> _Twists | None:
    """Return a basis at rest of the twists that a joint allows; None if they are no subgroup's.

    S (samples, n, 6) are the columns of the joint in the body, at several configurations; the body
    stands turned by R at the first.
    """
    from mbkit.kernels.momentum.root_joints import FIXED, MASS_CENTRE

    n = S.shape[1]
    if n == 6:
        return _Twists(MASS_CENTRE, np.eye(6))
    X = _span(S)
    if X is None or not _is_closed(X):
        return None
    # twists that turn first, then those that do not
    axes, sizes, _ = np.linalg.svd(X[:, :3])
    num_turns = int((sizes > _ROUNDING).sum())
    X = axes.T @ X
    shifts = X[num_turns:, 3:] @ R.T
    if num_turns == 0:
        return _Twists(FIXED, _pure(shifts=np.eye(3) if n == 3 else shifts))
    if num_turns == 3:
        return _Twists(FIXED, _pure(turns=np.eye(3)), _centre(X))
    w, u = X[0, :3], X[0, 3:]
    square = w @ w
    pitch, normal = float(w @ u) / square, R @ w / np.sqrt(square)
    if n <= 2:  # the point of the axis next to the origin of the body
        twists = _pure(turns=normal[None], shifts=shifts, pitch=pitch if n == 1 else 0.0)
        return _Twists(FIXED, twists, np.cross(w, u) / square)
    frame = np.array(row["R"])  # of the joint, of which z is the axis in most
    if np.linalg.norm(np.cross(frame[:, 2], normal)) > _ROUNDING:
        frame = frame_along(normal)
    if n == 4:
        return _Twists(MASS_CENTRE, _pure(turns=frame.T[2:], shifts=np.eye(3)))
    return _Twists(MASS_CENTRE, _pure(turns=frame.T[2:], shifts=frame.T[:2], pitch=pitch))


def _pure(*, turns: Any = (), shifts: Any = (), pitch: float = 0.0) -> Any:
    """Return twists (n, 6): turns about axes through the point, with a pitch, and shifts."""
    turns, shifts = np.reshape(turns, (-1, 3)), np.reshape(shifts, (-1, 3))
    return np.vstack([np.hstack([turns, pitch * turns]), np.hstack([0.0 * shifts, shifts])])


def _span(S: Any) -> Any:
    """Return an orthonormal basis (n, 6) of the span of the columns, None if it changes with q."""
    n, columns = S.shape[1], S.reshape(-1, 6)
    lengths = np.linalg.norm(columns, axis=1)
    if not (np.isfinite(columns).all() and lengths.all()):
        return None
    _, sizes, X = np.linalg.svd(columns / lengths[:, None])
    if sizes[n - 1] < 1e3 * _ROUNDING * sizes[0] or (sizes[n:] > _ROUNDING * sizes[0]).any():
        return None
    return X[:n]


def _is_closed(X: Any) -> bool:
    """Return whether the brackets of twists (n, 6), orthonormal, are among them."""
    brackets = np.array([_bracket(a, b) for a in X for b in X])
    return bool(np.abs(brackets - brackets @ X.T @ X).max() < _ROUNDING)


def _commute(X: Any) -> bool:
    """Return whether twists commute: they stand still in a body that is moved along them."""
    return not any(np.abs(_bracket(a, b)).max() > _ROUNDING for a in X for b in X)


def _bracket(a: Any, b: Any) -> Any:
    return np.concatenate([np.cross(a[:3], b[:3]), np.cross(a[:3], b[3:]) + np.cross(a[3:], b[:3])])


def _centre(X: Any) -> Any:
    """Return the point r about which three twists (w, u) turn: u = r x w."""
    left = sum(w @ w * np.eye(3) - np.outer(w, w) for w in X[:, :3])
    return np.linalg.solve(left, np.cross(X[:, :3], X[:, 3:]).sum(axis=0))

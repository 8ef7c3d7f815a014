"""Motion subspaces of joints in Python as series along their motion."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mbkit.autodiff.retarget import Retargeting
from mbkit.autodiff.rules import differentiate, substitute
from mbkit.autodiff.runs import numbers, reason
from mbkit.autodiff.tape import Number, Tape
from mbkit.autodiff.taylor import evaluate
from mbkit.errors import JointDerivativeWarning
from mbkit.joints.defaults.derivatives import KeptByJoint, twist_of_pose
from mbkit.joints.defaults.poses import pose_of
from mbkit.joints.joint import Joint
from mbkit.spatial.arrays import FloatArray

#: Tapes that are kept of one joint, one for each way through its branches.
_KEPT = 32
#: How far S and its rate may be from the results of the joint's methods, by the largest entry.
_NEAR = 1e-6
#: Differences: points, the time from the first to the last in which the joint moves by about a
#: unit, and rounds until its positions at all points are known.
_POINTS = 17
_SPAN = 0.5
_ROUNDS = 60


def subspace_series(
    joint: Joint, q: FloatArray, rates: FloatArray, count: int
) -> tuple[FloatArray, FloatArray]:
    """Return the pose of a joint and its motion subspace as a series in time, (count, 6, nv).

    `rates` (k, nv) are v, vdot, vddot, ...; further ones are zero. S(t) = S[0] + S[1] t + ... Exact
    but for rounding where pose, retract and rates can be traced: the tape is evaluated
    with series. Else by a polynomial through points of the motion, with a warning.
    """
    v = np.zeros((count, joint.num_velocities))
    factor = 1.0
    for n, rate in enumerate(rates[:count]):
        factor *= max(n, 1)
        v[n] = rate / factor
    return pose_of(joint, q), _kept.of(joint).along(np.asarray(q), v)


class _JointSeries:
    """The tapes of one joint."""

    def __init__(self, joint: Any) -> None:
        self._reference = joint
        self._tapes: list[tuple[Tape, list[Number]]] = []
        self._by_differences = False

    def along(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return S as a series, (count, 6, nv), for v as a series (count, nv)."""
        joint = self._reference()
        if joint.num_velocities == 0:
            return np.zeros((len(v), 6, 0))
        if not self._by_differences:
            try:
                S = self._traced(q, v)
                if _is_right(joint, q, v, S):
                    return S
                failure = "what is traced is not what its motion subspace and bias are"
            except Exception as error:
                if not np.isfinite(pose_of(joint, q)).all():
                    raise
                failure = reason(error)
            self._by_differences = True
            warnings.warn(
                f"Joint '{joint.name}': its motion cannot be differentiated exactly: {failure}. A "
                f"polynomial through points of the motion takes its place, with about 10 digits in "
                f"jerks and two less in each further derivative; write pose and retract with the "
                f"functions listed in docs/custom-joints.md.",
                JointDerivativeWarning,
                stacklevel=2,
            )
        return _by_differences(joint, q, v)

    def _traced(self, q: FloatArray, v: FloatArray) -> FloatArray:
        joint = self._reference()
        count, nv = v.shape
        positions = np.zeros((count, joint.num_positions))
        positions[0] = q
        for n in range(count - 1):  # q' is known with as many terms as q
            found = self._evaluate(positions[: n + 1], v[: n + 1])
            positions[n + 1] = found[6 * nv :, n] / (n + 1)
        columns = self._evaluate(positions, v)[: 6 * nv]
        S: FloatArray = columns.reshape(nv, 6, count).transpose(2, 1, 0)
        return S

    def _evaluate(self, q: FloatArray, v: FloatArray) -> Any:
        """Return S, column by column, and the rates of q as numbers, (6 nv + nq, count)."""
        inputs = {f"{name}[{k}]": x for name, X in (("q", q), ("v", v)) for k, x in enumerate(X.T)}
        for tape, outputs in self._tapes:
            found = evaluate(tape, outputs, inputs, len(q))
            if found is not None:
                return found
        self._tapes.insert(0, self._trace(q[0], v[0]))
        del self._tapes[_KEPT:]
        return evaluate(*self._tapes[0], inputs, len(q))

    def _trace(self, q: FloatArray, v: FloatArray) -> tuple[Tape, list[Number]]:
        joint = self._reference()
        tape = Tape()
        Q, V = tape.inputs("q", q.tolist()), tape.inputs("v", v.tolist())
        Y = tape.inputs("y", [0.0] * joint.ndx)
        shadow = Retargeting().convert(joint)
        W = numbers(shadow.rates(Q, V), (joint.ndx,))
        moved = numbers(shadow.retract(Q, Y), (joint.num_positions,))
        T = numbers(shadow.pose(moved), (4, 4))
        along = dict(zip(Y, W, strict=True))
        if joint.ndx == joint.num_velocities:
            columns = [twist_of_pose(T, {y: 1.0}) for y in Y]
        else:
            momentary = twist_of_pose(T, along)
            columns = [differentiate(momentary, {v_k: 1.0}) for v_k in V]
        outputs = [number for column in columns for number in column]
        outputs += differentiate(list(moved), along)
        return substitute(outputs, dict.fromkeys(Y, 0.0))


def _is_right(joint: Joint, q: FloatArray, v: FloatArray, S: FloatArray) -> bool:
    """Whether S and its rate agree with the methods of a joint."""
    expected = np.asarray(joint.motion_subspace(q), dtype=np.float64)
    if not np.allclose(S[0], expected, rtol=0.0, atol=_NEAR * (1.0 + np.abs(expected).max())):
        return False
    if len(v) == 1:
        return True
    bias = np.asarray(joint.bias(q, v[0]), dtype=np.float64)
    size = 1.0 + np.abs(bias).max()
    return bool(np.allclose(S[1] @ v[0], bias, rtol=0.0, atol=_NEAR * size))


def _by_differences(joint: Joint, q: FloatArray, v: FloatArray) -> FloatArray:
    """Return S as a series by a polynomial through points of the motion.

    The positions are retract(q, x(t)), with x' = dexp_inv(x, rates(q, v)) integrated over the
    polynomial through the same points, again and again.
    """
    count, nv = v.shape
    span = _SPAN / max(1.0, float(np.abs(v).max()))
    points = np.cos(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
    powers = points[:, None] ** np.arange(_POINTS)
    velocities = (span * points)[:, None] ** np.arange(count) @ v
    x = np.zeros((_POINTS, joint.ndx))
    integral = points[:, None] ** np.arange(1, _POINTS + 1) / np.arange(1, _POINTS + 1)
    for _ in range(_ROUNDS):
        rates = np.array(
            [
                joint.dexp_inv(a, np.asarray(joint.rates(joint.retract(q, a), b)))
                for a, b in zip(x, velocities, strict=True)
            ]
        )
        moved = span * integral @ np.linalg.solve(powers, rates)
        if np.array_equal(moved, x):
            break
        x = moved
    S = np.array([joint.motion_subspace(joint.retract(q, a)) for a in x])
    fitted = np.linalg.solve(powers, S.reshape(_POINTS, 6 * nv))
    series = np.zeros((count, 6, nv))
    known = min(count, _POINTS)
    scale = span ** -np.arange(known, dtype=np.float64)
    series[:known] = scale[:, None, None] * fitted[:known].reshape(known, 6, nv)
    return series


_kept = KeptByJoint(_JointSeries)

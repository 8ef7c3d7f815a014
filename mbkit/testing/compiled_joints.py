"""The compiled forms of a joint, called one by one, beside its methods."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from mbkit.errors import JointError
from mbkit.joints import Joint
from mbkit.lie import SE3
from mbkit.spatial import inverse
from mbkit.systems.memory.arrays import padded


def compiled_differences(joint: Joint, q: Any, v: Any, x: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield names, results of each compiled form, and those of the method in the canonical frame.

    At a configuration q (nq,), velocity v (nv,) and step x (ndx,). JointError if a compiled form
    reports a failure.
    """
    kernels: Any = joint.kernels()
    nv = joint.num_velocities
    K = joint.canonical_frame
    parameters = padded(joint.parameters())

    def call(operation: str, *arguments: Any, out: tuple[int, ...]) -> list[Any]:
        results = [np.full(size, np.nan) for size in out]
        function = getattr(kernels, operation)
        _call(joint, operation, function, (parameters, *arguments, *results))
        return results

    R, p, S, bias = call("motion", q, v, out=(9, 3, 6 * nv, 6))
    T = inverse(K) @ joint.pose(q) @ K
    turn = SE3.Ad(inverse(K))
    yield "R", R.reshape(3, 3), T[:3, :3]
    yield "p", p, T[:3, 3]
    yield "S", S.reshape(nv, 6).T, turn @ joint.motion_subspace(q)
    yield "bias", bias, turn @ joint.bias(q, v)
    moved, w = joint.retract(q, x), joint.rates(q, v)
    for operation, arguments, expected in (
        ("retract", (q, x), moved),
        ("difference", (q, moved), joint.difference(q, moved)),
        ("dexp_inv", (x, w), joint.dexp_inv(x, w)),
        ("rates", (q, v), w),
    ):
        if getattr(kernels, operation) is not None:
            yield operation, call(operation, *arguments, out=(len(expected),))[0], expected
    if kernels.configuration_from_pose is not None:
        for off in (0.0, 1e-7):
            T = joint.pose(q) @ SE3.exp(off * np.linspace(-1.0, 1.0, 6))
            C = inverse(K) @ T @ K
            target = np.concatenate([C[:3, :3].ravel(), C[:3, 3]])
            (found,) = call("configuration_from_pose", target, out=(joint.num_positions,))
            yield (
                "pose(configuration_from_pose(T))",
                joint.pose(found),
                joint.pose(joint.configuration_from_pose(T)),
            )
    if kernels.constraint_wrenches is not None:
        (W,) = call("constraint_wrenches", q, out=(6 * (6 - nv),))
        W = W.reshape(6 - nv, 6).T
        found = W.T @ S.reshape(nv, 6).T / max(1.0, float(np.abs(S).max(initial=0.0)))
        yield "constraint wrenches on S", found, np.zeros((6 - nv, nv))
        yield "rank of the constraint wrenches", np.linalg.matrix_rank(W), 6 - nv


def _call(joint: Joint, operation: str, function: Any, arrays: tuple[Any, ...]) -> None:
    from mbkit.kernels.compile import UNCOMPILED

    if UNCOMPILED:
        status = function.function(0, *arrays)
    else:
        pointer = ctypes.POINTER(ctypes.c_double)
        form = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, *[pointer] * len(arrays))
        status = form(function.address)(0, *(array.ctypes.data_as(pointer) for array in arrays))
    if status != 0:
        raise JointError(
            f"Joint '{joint.name}': the compiled form of {operation} reports failure {status}."
        )

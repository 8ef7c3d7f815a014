"""Inertial parameters that are those of possible bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mbkit.errors import InertiaError, UsageError
from mbkit.identification.measured import Unknown
from mbkit.identification.results import Linear, completed, minimised
from mbkit.spatial import SpatialInertia, from_log_cholesky, log_cholesky, log_cholesky_jacobian
from mbkit.spatial.arrays import FloatArray
from mbkit.systems import BaseParameters, System

_WHO = "identify"

#: Weight of a log-Cholesky parameter that moves by one, against a combination that misses by its
#: whole size: it keeps bodies near their start values where nothing else determines them. Less
#: and less, so that in the end no combination misses.
_HELD = (1e-2, 1e-4, 1e-6)


class Coordinates(NamedTuple):
    """Coordinates z of inertial parameters.

    ``start`` is where to start, ``parameters(z)`` their values, and ``columns(Y, z)`` the
    derivative by z of Y times them.
    """

    start: Any
    parameters: Callable[[Any], Any]
    columns: Callable[[Any, Any], Any]


def of_bodies(unknown: Unknown) -> Coordinates:
    """Return log-Cholesky parameters of whole bodies as coordinates."""

    def columns(Y: Any, z: Any) -> Any:
        blocks = Y.reshape(len(Y), -1, 1, 10) @ log_cholesky_jacobian(z.reshape(-1, 10))
        return blocks.reshape(len(Y), -1)

    return Coordinates(
        _log_cholesky_start(unknown),
        lambda z: from_log_cholesky(z.reshape(-1, 10)).ravel(),
        columns,
    )


def of_combinations(base: BaseParameters, start: FloatArray, sizes: FloatArray) -> Coordinates:
    """Return values of combinations as coordinates; others stay near to where they start."""
    return Coordinates(
        base.combinations @ start,
        lambda z: completed(base, z, start, sizes[: len(start)]),
        lambda Y, _: Y[:, base.independent],
    )


def check_whole(unknown: Unknown) -> None:
    """Raise UsageError unless all ten parameters of bodies are to be identified."""
    if not _are_whole(unknown):
        raise UsageError(
            f"{_WHO}: consistent=True is of whole bodies; give names of bodies, of which all ten "
            f"parameters are found."
        )


def _log_cholesky_start(unknown: Unknown) -> FloatArray:
    """Return the log-Cholesky parameters to start from, those of all bodies in one row."""
    n = len(unknown.inertial)
    for k in range(0, n, 10):
        try:
            log_cholesky(unknown.start[k : k + 10])
        except InertiaError as error:
            body = unknown.names[k].removesuffix(".mass")
            raise InertiaError(
                f"{_WHO}: consistent=True starts from the inertia of body '{body}': {error}"
            ) from None
    return log_cholesky(unknown.start[:n].reshape(-1, 10)).ravel()


def sizes_of(system: System, unknown: Unknown) -> FloatArray:
    """Return the size of each parameter: of a body m, m L, m L^2, L its radius of gyration."""
    rows = system.inertial_parameters.reshape(-1, 10)
    mass = np.where(rows[:, 0] > 0.0, rows[:, 0], max(system.mass, 1.0))
    trace = rows[:, 4] + rows[:, 7] + rows[:, 9]
    length = np.sqrt(np.maximum(trace, 0.0) / (2.0 * mass))
    length = np.where(length > 0.0, length, 1.0)
    powers = np.array([0] + [1] * 3 + [2] * 6)
    sizes = mass[:, None] * length[:, None] ** powers
    numbers = unknown.start[len(unknown.inertial) :]
    return np.concatenate([sizes.ravel()[unknown.inertial], np.maximum(np.abs(numbers), 1.0)])


def with_possible_bodies(
    unknown: Unknown, linear: Linear, sizes: FloatArray, x: FloatArray
) -> FloatArray:
    """Return parameters with the values of the combinations that x has, of possible bodies.

    x itself if its bodies are, or if none are near.
    """
    base, values = linear.base, linear.base.combinations @ x
    n = len(unknown.inertial)
    if not (n and _are_whole(unknown)) or _are_possible(x[:n]):
        return x
    try:
        bodies = of_bodies(unknown)
    except InertiaError:
        return x
    P, rest = base.combinations[:, :n], values - base.combinations[:, n:] @ x[n:]
    large = np.linalg.norm(P * sizes[:n], axis=1)
    counted = large > 0.0
    P, rest = P[counted] / large[counted, None], rest[counted] / large[counted]

    def residual(z: Any, held: float) -> Any:
        missed = P @ bodies.parameters(z) - rest
        return np.concatenate([missed, held * (z - bodies.start)])

    def slopes(z: Any, held: float) -> Any:
        return np.vstack([bodies.columns(P, z), held * np.eye(n)])

    z = bodies.start
    for held in _HELD:
        z = minimised(residual, slopes, z, _WHO, tolerance=1e-6, attempt=True, args=(held,))
    near = np.concatenate([bodies.parameters(z), x[n:]])
    near = completed(base, values, near, sizes)
    return near if _are_possible(near[:n]) else x


def _are_whole(unknown: Unknown) -> bool:
    by_body = np.unique(unknown.inertial // 10, return_counts=True)[1]
    return bool((by_body == 10).all())


def _are_possible(parameters: FloatArray) -> bool:
    try:
        for row in parameters.reshape(-1, 10):
            SpatialInertia.from_parameters(row)
    except InertiaError:
        return False
    return True

"""Reasons why a search for a configuration ended, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs
import numpy as np

from mbkit.closed_loops.closing import Closing
from mbkit.closed_loops.loop_equations import Loops
from mbkit.errors import NameUnknownError, listed, suggestion
from mbkit.kinematics.descent import REACHED, SADDLE, SPENT, Descent, descend
from mbkit.kinematics.freedom import Freedom
from mbkit.kinematics.many_targets import described_many
from mbkit.kinematics.targets import Targets
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.kinematics.found_configuration import InverseKinematics

#: Errors below this, in radians and in parts of the largest coordinate, are those of the poses.
_ROUNDING = 1e-13
#: The weight of a gap of the loops, in parts of an error of the targets, where the least gap with
#: targets reached is looked for.
_LIGHT = 1e-3


def reason(
    targets: Targets,
    freedom: Freedom,
    best: Descent,
    tolerance: float,
    *,
    is_held: bool,
    is_singular: bool,
) -> str:
    """Return why a descent ended, as `InverseKinematics.reason` has it.

    The targets are reached from there without limits if it is held; the posture may be singular.
    """
    if best.end == REACHED:
        return "reached"
    if best.end == SPENT:
        return "iteration limit"
    limits = ", ".join(limits_against(freedom, best))
    if is_held and limits:
        return f"joint limits: {limits}"
    off, is_rounding = _off(targets, best, tolerance)
    if is_rounding:
        return f"stopped at rounding: {off}"
    held = f"; held by limits: {limits}" if limits else ""
    if best.end == SADDLE:
        return f"singular posture: no step was found that lessens the weighted error, {off}{held}"
    posture = ", in a singular posture" if is_singular else ""
    stops = f"no small motion lessens the weighted error, {off}{posture}{held}"
    row, gap = _gap_at_targets(targets, freedom, best, tolerance)
    if row:
        return (
            f"open loops: they cannot be closed where the targets are reached, '{row}' stays open "
            f"by {gap:.3g} m; with closed loops {stops}"
        )
    return f"unreachable: {stops}"


def limits_against(freedom: Freedom, best: Descent) -> tuple[str, ...]:
    """Return the names of the positions that a limit holds where a descent ended."""
    return freedom.active(best.q, best.gradient, best.across)


def open_start(freedom: Freedom, closing: Closing, locked: Iterable[str]) -> str:
    """Return the reason where loops cannot be closed at all."""
    assert freedom.loops is not None
    system = freedom.system
    held = [*locked, *(name for name in system.prescribed_joints if name not in locked)]
    where = f" with {listed(held)} where they are" if held else ""
    limits = freedom.at_limits(closing.q)
    at = f", at the limits of {listed(limits)}" if limits else ""
    row, gap = _widest(freedom.loops, closing.residual)
    return f"open loops: they cannot be closed{where}, '{row}' stays open by {gap:.3g} m{at}"


def _widest(loops: Loops, residual: FloatArray) -> tuple[str, float]:
    """Return the name of the row that is open most, and its gap in metres."""
    worst = int(np.argmax(np.abs(residual)))
    name = loops.system.arrays.closure.position_row_names[worst]
    return name, loops.length * float(np.abs(residual[worst]))


def _gap_at_targets(
    targets: Targets, freedom: Freedom, best: Descent, tolerance: float
) -> tuple[str, float]:
    """Return the row that is open most where the targets are reached with the least gap.

    No name where there are no loops, or the targets are not reached with open loops either.
    """
    if freedom.loops is None:
        return "", 0.0
    loose = attrs.evolve(freedom, loops=None)
    opened = descend(targets, loose, best.q, tolerance, _STEPS, patient=False)
    if opened.end != REACHED:
        return "", 0.0
    both = _Opened(targets, freedom.loops)
    nearest = descend(both, loose, opened.q, tolerance, _STEPS, patient=False)
    return _widest(freedom.loops, freedom.loops.residual(nearest.q))


#: Steps of these descents.
_STEPS = 100


class _Opened(Targets):
    """Targets together with the gaps of loops, which count little: these are never reached."""

    def __init__(self, targets: Targets, loops: Loops) -> None:
        super().__init__(targets.system, dict(zip(targets.names, targets.targets, strict=True)))
        self._loops = loops
        self.count += len(loops.position_rows)

    def reached(self, errors: FloatArray, tolerance: float) -> bool:
        return False

    def weighted(self, q: FloatArray) -> FloatArray:
        gaps = self._loops.length * self._loops.residual(q)
        return np.concatenate([super().weighted(q), _LIGHT * gaps])

    def linearised(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        e, J = super().linearised(q)
        A = self.system.constraint_jacobian(q, self._loops.t)[self._loops.rows]
        gaps = self._loops.length * self._loops.residual(q)
        return np.concatenate([e, _LIGHT * gaps]), np.concatenate([J, _LIGHT * A])


def _off(targets: Targets, best: Descent, tolerance: float) -> tuple[str, bool]:
    """Return which targets are how far off, and whether no more than poses are known."""
    sizes = targets.distances(best.q)
    coordinates = np.abs([target.pose[:3, 3] for target in targets.targets]).max()
    is_rounding = bool((sizes <= _ROUNDING * np.array([1.0, max(1.0, coordinates)])).all())
    told = sizes > tolerance
    if not told.any():  # the rest is rounding, or between a distance and a logarithm
        told = sizes > 0.0
    parts = []
    for name, pair, which in zip(targets.names, sizes.tolist(), told.tolist(), strict=True):
        words = [
            f"{size:.6g} {unit}"
            for size, unit, is_told in zip(pair, ("rad", "m"), which, strict=True)
            if is_told
        ]
        if words:
            parts.append(f"'{name}' {' and '.join(words)} off")
    return f"with {', '.join(parts)}", is_rounding


def described(found: InverseKinematics) -> str:
    """Return the lines that show the result."""
    if found.q.ndim > 1:
        return described_many(found)
    pairs = zip(found.position_names, found.q.tolist(), strict=True)
    lines = [f"q          {', '.join(f'{name} {value:.6g}' for name, value in pairs)}"]
    for body, error in found.errors.items():
        lines.append(f"missed     {body} by {np.linalg.norm(error):.3g} (rad and m)")
    if found.active_limits:
        lines.append(f"at limits  {', '.join(found.active_limits)}")
    state = "converged" if found.converged else "not converged"
    head = f"<InverseKinematics: {state} in {found.iterations} iterations, {found.reason}"
    return "\n  ".join([head, *lines]) + ">"


def position_of(found: InverseKinematics, name: str) -> float | FloatArray:
    """Return the position of a joint, or of one of its entries, or all that a joint has.

    Of many targets with leading axes.
    """
    labels = found.position_names
    if name in labels:
        one = found.q[..., labels.index(name)]
        return one if one.ndim else float(one)
    own = [k for k, label in enumerate(labels) if label.rpartition("[")[0] == name]
    if not own:
        raise NameUnknownError(f"There is no joint '{name}'; {suggestion(name, labels)}")
    return found.q[..., own]

"""Descent to closed loops on the configuration group, and along locked joints from closed ones."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.closed_loops.loop_equations import Loops
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.rank import singular_values

#: Gap at the limit of rounding, in parts of the length; steps often leave far less.
CLOSED = 1e-10
#: The longest that a step moves a joint, in radians or lengths: further on, the same branch may
#: come near another one.
_LONGEST = 0.25
_MOST = 300
#: Damping, in parts of the squared residual, at which steps are too short to change anything.
_STUCK = 1e14
#: Part of the largest singular value below which a direction does not count.
_LEAST = 1e-9
#: Successive steps that together gain less than this part of the residual end a descent.
_SLOW_STEPS = 30
_SLOW = 0.05


@final
@attrs.frozen(eq=False)
class Closing:
    """The end of a descent: configuration (nq,), and residual (m,) in parts of the length."""

    q: FloatArray
    residual: FloatArray

    @property
    def error(self) -> float:
        """The largest entry of the residual, infinite where there is none."""
        error = float(np.abs(self.residual).max(initial=0.0))
        return error if np.isfinite(error) else np.inf

    @property
    def is_closed(self) -> bool:
        """Whether the loops are closed but for rounding."""
        return self.error <= CLOSED


@final
@attrs.frozen(eq=False)
class Linear:
    """The equations J y + r = 0 of a step, J (m, n), with J = U diag(sizes) Vt."""

    J: FloatArray
    U: FloatArray
    sizes: FloatArray
    Vt: FloatArray

    @classmethod
    def of(cls, J: FloatArray) -> Linear:
        """Return the equations; where J is not finite, those without a step."""
        if not (J.size and np.isfinite(J).all()):
            m, n = J.shape
            return cls(np.zeros((m, n)), np.zeros((m, 0)), np.zeros(0), np.zeros((0, n)))
        return cls(J, *singular_values(J, full_matrices=False))

    def step(self, r: FloatArray, damping: float) -> FloatArray:
        """Return the y that minimises |J y + r|^2 + damping |y|^2, of several the shortest.

        Where rows are redundant, J has singular values of the size of r that are zero where r is,
        with parts of r of the size of its square: such a pair is left out, else it would move along
        motions.
        """
        sizes = self.sizes
        damping = max(damping, (_LEAST * float(sizes.max(initial=0.0))) ** 2, 1e-300)
        parts, size = self.U.T @ r, float(np.linalg.norm(r))
        redundant = sizes < 10.0 * size
        if np.linalg.norm(parts[redundant]) < 0.1 * size:
            parts[redundant] = 0.0
        return np.asarray(-self.Vt.T @ (sizes / (sizes * sizes + damping) * parts))


def close(loops: Loops, q: FloatArray, most: int = _MOST) -> Closing:
    """Descend from q (nq,) to the least residual, by at most `most` Levenberg-Marquardt steps.

    Steps are bounded, and each must reduce the residual by half of the linear prediction, so that
    the descent stays on a branch. The damping is a multiple of the squared residual: the steps
    converge quadratically where constraints are redundant, too. They continue until rounding ends
    them. Source: Yamashita and Fukushima, Computing Supplement 15, 2001, 239-249.
    """
    at = Closing(q, loops.residual(q))
    weight, everywhere = 1.0, False
    linear = Linear.of(loops.jacobian(q))
    history = [float(np.linalg.norm(at.residual))]
    for _ in range(most):
        size = history[-1]
        if size == 0.0 or not np.isfinite(size):
            break
        y = linear.step(at.residual, weight * size * size)
        y *= min(1.0, _LONGEST / max(float(np.abs(y).max(initial=0.0)), 1e-300))
        promised = size**2 - float(np.sum((at.residual + linear.J @ y) ** 2))
        there = loops.moved(at.q, y)
        found = Closing(there, loops.residual(there))
        gained = size**2 - float(np.sum(found.residual**2))
        if gained > 0.5 * promised > 0.0:
            at, weight = found, max(weight / 4.0, 1e-3)
            history.append(float(np.linalg.norm(at.residual)))
            linear = Linear.of(loops.differences(at.q) if everywhere else loops.jacobian(at.q))
        elif at.is_closed and not gained > 0.0:
            break
        else:
            weight *= 8.0
        slow = len(history) > _SLOW_STEPS and history[-1] > (1 - _SLOW) * history[-_SLOW_STEPS]
        if weight > _STUCK or slow:
            if everywhere or at.is_closed:
                break
            # the exact derivative may still give a descent where differences are inaccurate
            everywhere, weight, history = True, 1.0, history[-1:]
            linear = Linear.of(loops.differences(at.q))
    return at


#: Smallest share of the path in a step, and the largest motion of joints by closure in one.
_SHORTEST = 1e-4
_NEAR = 0.3


def lead(loops: Loops, q: FloatArray, target: FloatArray) -> tuple[Closing, float]:
    """Move the locked joints from a closed configuration q to their positions in another one.

    With the loops closed, and steps so short that the other joints follow by little and stay on
    their branch. Return the last closed configuration, and the share of the path that was covered:
    1.0 for all of it.
    """
    system = loops.system
    steps, positions = _held(loops)
    way = np.where(steps, system.difference(q, target), 0.0)
    at, gone = Closing(q, loops.residual(q)), 0.0
    share = min(1.0, 0.1 / max(loops.size(way), 1e-12))
    while gone < 1.0 and share >= _SHORTEST:
        ends = gone + share > 1.0 - 1e-12
        start = system.retract(at.q, share * way)
        if ends:
            start = np.where(positions, target, system.retract(at.q, (1.0 - gone) * way))
        found = close(loops, start, most=20)
        if found.is_closed and loops.size(system.difference(start, found.q)) <= _NEAR:
            at, gone, share = found, 1.0 if ends else gone + share, 1.5 * share
        else:
            share *= 0.5
    return at, gone


def _held(loops: Loops) -> tuple[Any, Any]:
    """Return which tangent entries and which positions belong to joints that must not move."""
    system = loops.system
    steps, positions = np.zeros(system.ndx, bool), np.zeros(system.nq, bool)
    for name, joint in system.arrays.tree_joints.items():
        v = system.velocity_slice(name)
        held = ~np.isin(np.arange(v.start, v.stop), loops.free)
        for array, place in (
            (steps, system.tangent_slice(name)),
            (positions, system.position_slice(name)),
        ):
            # entries one by one where positions are added: else a joint is held whole
            array[place] = held if joint.positions_add else held.all() and held.any()
    return steps, positions

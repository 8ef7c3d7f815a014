"""Assembly modes: all closed configurations of a small mechanism that no motion connects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.close_loops import checked_start, random_around
from mbkit.closed_loops.closing import close
from mbkit.closed_loops.loop_equations import Loops, checked_fixed
from mbkit.given_values import positive_number, whole_number
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import turning_positions
from mbkit.systems.memory.body_tree import Integers
from mbkit.systems.rank import Ranked

if TYPE_CHECKING:
    from mbkit.systems import System

_TURN = 2.0 * np.pi
#: Poses that are nearer to each other, in radians and lengths, are the same: at a singular posture
#: a configuration is known to the root of the rounding of its residual.
_SAME = 1e-5
#: Between so many of its nearest and a configuration a motion is looked for.
_NEIGHBOURS = 6
#: The longest step along a motion, in radians or lengths, and how many are tried.
_STEP = 0.1
_MOST_STEPS = 200


def assembly_modes(
    system: System,
    q: ArrayLike | None,
    fixed: Iterable[str],
    *,
    starts: int,
    seed: int,
    t: float,
    tolerance: float,
) -> FloatArray:
    """Return the distinct closed configurations; see `System.assembly_modes`."""
    who = "assembly_modes"
    limit = positive_number(f"{who}: tolerance", tolerance)
    whole_number(f"{who}: starts", starts)
    whole_number(f"{who}: seed", seed)
    begin = checked_start(system, q, t, who)
    loops = Loops.of(system, checked_fixed(system, fixed, who), t)
    turning = turning_positions(system)
    rng = np.random.default_rng(seed)
    closed: list[FloatArray] = []
    for k in range(starts + 1):
        start = random_around(loops, begin, rng) if k else begin
        found = close(loops, start, most=150)
        if found.error <= limit:
            near = _without_turns(found.q, begin, turning)
            if not any(_distance(loops, near, each) < _SAME for each in closed):
                closed.append(near)
    closed.sort(key=lambda each: loops.size(system.difference(begin, each)))
    distinct = [closed[k] for k in _apart(loops, closed, turning)]
    return np.array(distinct).reshape(len(distinct), system.nq)


def _apart(loops: Loops, closed: list[FloatArray], turning: Integers) -> list[int]:
    """Return the first of each set of configurations that motions connect.

    Motions are searched between neighbours, the nearest first.
    """
    lengths = np.zeros((len(closed), len(closed)))
    for k, q in enumerate(closed):
        for j, goal in enumerate(closed):
            way = loops.system.difference(q, _without_turns(goal, q, turning))
            lengths[k, j] = np.linalg.norm(way)
    pairs = {
        (lengths[k, j], min(j, k), max(j, k))
        for k in range(len(closed))
        for j in np.argsort(lengths[k])[1 : _NEIGHBOURS + 1].tolist()
    }
    first = list(range(len(closed)))  # of the set in which each is
    for _, j, k in sorted(pairs):
        if first[j] != first[k] and _is_one_motion(loops, closed[j], closed[k], turning):
            kept, gone = sorted((first[j], first[k]))
            first = [kept if each == gone else each for each in first]
    return sorted(set(first))


def _without_turns(q: FloatArray, near: FloatArray, turning: Integers) -> FloatArray:
    """Return the same poses with positions within half a turn of a configuration."""
    wrapped = q.copy()
    wrapped[turning] -= _TURN * np.round((q[turning] - near[turning]) / _TURN)
    return wrapped


def _distance(loops: Loops, a: FloatArray, b: FloatArray) -> float:
    """Return how far a body's pose in one configuration is from that in another at the most."""
    one, other = loops.system.poses(np.stack([a, b]))
    shifts = np.abs(one[:, :3, 3] - other[:, :3, 3]).max() / loops.length
    return float(max(shifts, np.abs(one[:, :3, :3] - other[:, :3, :3]).max()))


def _is_one_motion(loops: Loops, a: FloatArray, b: FloatArray, turning: Integers) -> bool:
    """Whether a motion with closed loops was found between two configurations."""
    return any(_approaches(loops, *pair, turning) for pair in ((a, b), (b, a)))


def _approaches(loops: Loops, q: FloatArray, goal: FloatArray, turning: Integers) -> bool:
    """Whether steps along motions, each of which leads nearer, come to the goal."""
    system = loops.system
    if system.ndx != system.nv:
        return False
    scales = loops.scales[loops.free]
    longest = _STEP
    for _ in range(_MOST_STEPS):
        if _distance(loops, q, goal) < _SAME:
            return True
        Z = Ranked.of(loops.jacobian(q)).null
        if not Z.size or longest < 1e-6:
            return False
        way = system.difference(q, _without_turns(goal, q, turning))
        y = Z @ (Z.T @ (way[loops.free] / scales))
        size = float(np.abs(y).max())
        found = close(loops, loops.moved(q, y * min(1.0, longest / max(size, 1e-300))), most=20)
        there = system.difference(found.q, _without_turns(goal, found.q, turning))
        nearer = np.linalg.norm(there / loops.scales) < np.linalg.norm(way / loops.scales) - 1e-9
        if found.is_closed and nearer:
            q = found.q
        else:
            longest = 0.25 * min(longest, size)
    return False

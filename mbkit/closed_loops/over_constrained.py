"""Faults of starts: joints that cannot have their given positions or velocities, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.closed_loops.closing import close
from mbkit.closed_loops.loop_equations import Loops, checked_fixed
from mbkit.errors import listed
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.rank import Ranked, largest_row, rank_of

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["why_loops_stay_open", "why_velocities_contradict"]

#: Part of the largest velocity of a motion below which a joint rests in it.
_RESTS = 1e-6
#: Most joints that a message lists.
_NAMES = 6


def why_loops_stay_open(loops: Loops, q: FloatArray, held: Any) -> str:
    """Return why loops that are open at q stay open with the velocities `held` (nv,) at zero.

    In sentences, of which the last has no full stop. Of prescribed joints, which are held as well,
    it speaks where nothing else is held.
    """
    system = loops.system
    driven = checked_fixed(system, (), "close_loops")
    asked, how = held & ~driven, "fixed"
    if not asked.any():
        asked, driven, how = driven, np.zeros_like(driven), "prescribed"
    names = _names(system, asked)
    if not names:
        return "Look for joints that are misplaced, or start nearer"
    alone = attrs.evolve(loops, free=np.flatnonzero(~driven))
    found = close(alone, q)
    without = f"Without {listed(names)} {how} they"
    if not found.is_closed:
        return (
            f"{without} are not closed from there either: look for joints that are misplaced, or "
            f"start nearer"
        )
    left = len(alone.free) - rank_of(alone.velocity_jacobian(found.q))
    if left == 0 and driven.any():
        return f"{without} close: prescribed joints leave no further freedom, so fix nothing"
    if left == 0:
        return (
            f"{without} close, and leave no freedom: the mechanism cannot move. If it shall, look "
            f"for axes that miss a common direction or point; print(system.diagnose()) says more"
        )
    if len(names) > left:
        rest = "; the others follow" if how == "fixed" else ""
        return f"{without} close, and have {_freedoms(left)}: {left} can be {how}, not more{rest}"
    there = ", ".join(_position(system, name, found.q, q) for name in names)
    return f"{without} close, nearby with {there}: take such positions, or other lengths"


def why_velocities_contradict(system: System, A: FloatArray, fixed: Any) -> str:
    """Return why the velocities `fixed` (nv,) are not those of a motion, by the scaled rows A."""
    driven = checked_fixed(system, (), "consistent_velocity")
    names = _names(system, fixed)
    if rank_of(A) == system.nv:
        leave = "It cannot be driven either" if driven.any() else "Leave the velocities out"
        return (
            f"The mechanism cannot move: at this configuration its constraints have rank "
            f"{system.nv}, as many as it has velocities: its mobility is 0. {leave}. If it shall "
            f"move, look for axes that miss a common direction or point; "
            f"print(system.diagnose(q)) says more."
        )
    motions = Ranked.of(A, largest_row(A)).null
    freedoms = motions.shape[1]
    if len(names) > freedoms:
        return (
            f"The mechanism has {_freedoms(freedoms)} at this configuration, and these are "
            f"{len(names)}: give {freedoms} of them, and the others follow."
        )
    sizes = np.linalg.norm(motions, axis=1)
    moves = sizes > _RESTS * sizes.max()
    rest, move = _names(system, fixed & ~moves), _names(system, moves)[:_NAMES]
    if rest:
        return (
            f"Here {listed(rest)} cannot move, as at a dead centre: give the velocity of what can, "
            f"such as {listed(move)}."
        )
    return "Give fewer of them; at a dead centre, give that of another joint."


def _names(system: System, chosen: Any) -> list[str]:
    return [system.velocity_names[k] for k in np.flatnonzero(chosen)]


def _freedoms(count: int) -> str:
    return f"{count} freedom{'s' if count > 1 else ''}"


def _position(system: System, name: str, found: FloatArray, q: FloatArray) -> str:
    """Return where a joint is and where it was to be; its name alone where it has no one number."""
    if name not in system.position_names:
        return f"'{name}' elsewhere"
    k = system.position_names.index(name)
    at, wanted = (float(f"{round(float(x[k]), 9) + 0.0:.4g}") for x in (found, q))
    return f"'{name}' at {at}, not {wanted}"

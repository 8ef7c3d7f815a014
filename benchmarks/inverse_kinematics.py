"""Success rate and time of inverse kinematics for poses of random configurations."""

from __future__ import annotations

import time
from typing import Any

import attrs
import numpy as np

import mbkit as mb
from benchmarks.report import Row, Table
from benchmarks.timing import sized
from tests.kinematics.arms import PANDA_LIMITS, panda, six_joint_arm, two_hands

#: Searches by case.
COUNT = sized(300, 3)


@attrs.frozen
class Case:
    """What is searched for.

    Attributes
    ----------
    title : str
        For the table.
    system : System
        The arm.
    hands : tuple of str
        Bodies whose poses are targets.
    low, high : ndarray, shape (nq,)
        Between which the configurations of the targets and the starts are drawn.
    limited : bool
        Whether the search keeps to them.
    restarts : int
        Random starts besides the first.
    near : float or None
        Deviation of the target's configuration from the start; None: drawn like the start. [rad]
    bar : float
        Most of the searches that may fail.
    """

    title: str
    system: mb.System
    hands: tuple[str, ...]
    low: Any
    high: Any
    limited: bool = False
    restarts: int = 0
    near: float | None = None
    bar: float = 0.0


def cases() -> list[Case]:
    """Return what is measured."""
    arm, six, both = panda(), six_joint_arm(), two_hands()
    turn = 3.0 * np.ones(7)
    low, high = PANDA_LIMITS.T
    seven: dict[str, Any] = {"system": arm, "hands": ("link7",)}
    wide = 2.0 * np.concatenate([[0.1], np.ones(13)])
    hands = ("left5", "right5")
    return [
        Case("7 joints, start within 0.1 rad", **seven, low=-turn, high=turn, near=0.1),
        Case("7 joints", **seven, low=-turn, high=turn, bar=0.15),
        Case("7 joints, 10 restarts", **seven, low=-turn, high=turn, restarts=10),
        Case("7 joints with limits", **seven, low=low, high=high, limited=True, bar=0.6),
        Case(
            "7 joints with limits, 30 restarts",
            **seven, low=low, high=high, limited=True, restarts=30,
        ),
        Case("6 joints, 5 restarts", six, ("arm5",), -turn[:6], turn[:6], restarts=5),
        Case("two hands, 14 joints, 10 restarts", both, hands, -wide, wide, restarts=10),
    ]  # fmt: skip


def inverse_kinematics() -> Table:
    """Return times and shares of failures."""
    return Table(
        "Inverse kinematics: median time, and the share of searches that fail",
        [_row(case) for case in cases()],
    )


def _row(case: Case) -> Row:
    rng = np.random.default_rng(0)
    limits = np.stack([case.low, case.high], axis=1) if case.limited else None
    times, steps, failed = [], [], 0
    for k in range(COUNT + 1):
        start = rng.uniform(case.low, case.high)
        goal = rng.uniform(case.low, case.high)
        if case.near is not None:
            goal = start + case.near * rng.normal(size=len(start))
        C = case.system.poses(goal)
        targets = {name: C[case.system.body_index(name)] for name in case.hands}
        begin = time.perf_counter()
        found = mb.inverse_kinematics(
            case.system, targets, start, limits=limits, restarts=case.restarts, seed=k
        )
        if k:  # the first loads what is compiled
            times.append(time.perf_counter() - begin)
            steps.append(found.iterations)
            failed += not found.converged
    what = f"{case.title}: {COUNT - failed} of {COUNT}, {np.median(steps):.0f} steps"
    return Row(what, mbkit=float(np.median(times)), value=failed / COUNT, bar=case.bar)

"""Phase portraits: the velocity of a joint over its position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import NameUnknownError, UsageError
from mbkit.given_values import as_list
from mbkit.results.columns import columns_of
from mbkit.results.result import Result
from mbkit.viz.figure import legend_of_runs, looks_of_runs, new_figure, verbatim

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["phase_portraits"]


def phase_portraits(runs: Mapping[str, Result], joints: Any, *, of_pyplot: bool) -> Figure:
    """Return a panel for each coordinate of the joints, with a curve a run and a dot at its start.

    UsageError for a name of no joint, or one with more positions than velocities; NameUnknownError
    where no run has the joint.
    """
    names = as_list(joints)
    if not names or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"plot: phase must name at least one joint, such as 'elbow', got {joints!r}."
        )
    pairs: dict[str, dict[int, tuple[int, int]]] = {}
    for name in names:
        _find(name, [*runs.values()], pairs)
    wide = min(len(pairs), 3)
    deep = -(-len(pairs) // wide)
    beside = 3.2 if len(runs) > 1 else 0.0  # the legend
    figure = new_figure(size=(4.4 * wide + beside, 3.8 * deep), of_pyplot=of_pyplot)
    grid = [*figure.subplots(deep, wide, squeeze=False).flat]
    looks, all_runs = looks_of_runs(len(runs)), [*runs.values()]
    for axes, (label, columns) in zip(grid, pairs.items(), strict=False):
        axes.grid(visible=True, alpha=0.3)
        for number, (column, rate) in columns.items():
            run, look = all_runs[number], looks[number]
            axes.plot(run.q[:, column], run.v[:, rate], **look)
            axes.plot(run.q[:1, column], run.v[:1, rate], "o", color=look["color"], markersize=5.0)
            units = (run.position_units or ("rad or m",) * run.q.shape[1])[column] or "1"
            axes.set_xlabel(f"{verbatim(label)} [{units}]")
            rates = (run.velocity_units[rate : rate + 1] or ("",))[0] or "rad/s or m/s"
            axes.set_ylabel(f"velocity of {verbatim(label)} [{rates}]")
    for axes in grid[len(pairs) :]:
        axes.remove()
    legend_of_runs(figure, [*runs])
    return figure


def _find(name: str, runs: Sequence[Result], pairs: dict[str, dict[int, tuple[int, int]]]) -> None:
    """Add the columns of a joint in q and v, by label and run."""
    errors = []
    for number, run in enumerate(runs):
        try:
            of_q, of_v = (
                np.atleast_1d(columns_of(name, labels, run.joint_names, run.options, "plot: phase"))
                for labels in (run.position_names, run.velocity_names)
            )
        except NameUnknownError as error:
            errors.append(error)
            continue
        if len(of_q) != len(of_v) or not len(of_q):
            raise UsageError(
                f"plot: phase: joint '{name}' has {len(of_q)} positions and {len(of_v)} "
                "velocities, which are not their rates; a joint with as many of both has a phase "
                "portrait."
            )
        for column, rate in zip(of_q, of_v, strict=True):
            pairs.setdefault(run.position_names[column], {})[number] = (int(column), int(rate))
    if len(errors) == len(runs):
        raise errors[0]

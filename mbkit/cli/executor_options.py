"""Options of commands for the place where the cases of a study run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

__all__ = ["where_options", "with_options"]

_OPTIONS = (
    click.option(
        "--executor",
        metavar="NAME",
        help="Where cases run: serial, threads, processes, dask, or a plugin's. Default: serial.",
    ),
    click.option(
        "--workers", type=click.IntRange(min=1), help="How many. Default: all processors."
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="Of a cluster of dask, instead of a local one."
    ),
    click.option("--time-limit", type=float, help="Of one case [s]; processes and dask end it."),
)


def where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options ``executor``, ``workers``, ``scheduler`` and ``time_limit``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def with_options(table: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of a study with such options instead; another executor has its own."""
    given = {name: each for name, each in options.items() if each is not None}
    others = ("workers", "scheduler") if "executor" in given else ()
    return {name: each for name, each in table.items() if name not in others} | given

"""Progress of long work: nothing for two seconds, then a bar, or a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Any

from mbkit.errors import check_switch

__all__ = ["ProgressDisplay"]

#: Seconds before anything is shown.
PATIENCE = 2.0

#: Seconds between lines where the output is no terminal.
LINE_INTERVAL = 10.0


class ProgressDisplay:
    """Shows how far a simulation has come between two times, on the standard error stream.

    Or how many things are done of so many, if `counted` names them; `title` names the task.
    Work that goes on has been done up to `since`, which is no measure of its pace.

    Used as a context manager; `update` is called between chunks of steps. By time, not by step: a
    short run shows nothing, and a call costs less than a microsecond.
    """

    def __init__(
        self,
        start: float,
        end: float,
        *,
        since: float | None = None,
        enabled: bool = True,
        counted: str = "",
        title: str = "simulate",
    ) -> None:
        check_switch("progress", enabled)
        self._title = title
        self._start = start
        self._end = end
        self._since = start if since is None else since
        self._enabled = enabled
        self._counted = counted
        self._began = time.monotonic()
        self._shown = self._began
        self._first: tuple[float, float] | None = None  # when the first was done, and how many
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, t: float) -> None:
        """Show that the simulation has reached the time t [s]."""
        now = time.monotonic()
        if self._first is None:
            # of things that are counted, the time before the first one is not of their pace
            self._first = (now, t) if self._counted else (self._began, self._since)
        if not self._enabled or now - self._began < PATIENCE:
            return
        if sys.stderr.isatty():
            self._update_bar(t)
        elif self._shown == self._began or now - self._shown >= LINE_INTERVAL:
            self._shown = now
            done = (t - self._start) / (self._end - self._start)
            since, before = self._first
            left = (now - since) * (self._end - t) / (t - before) if t > before else -1.0
            about = f", about {left:.0f} s left" * (left >= 0.0)
            print(
                f"{self._title}: {self._text(t)} ({100 * done:.0f} %){about}",
                file=sys.stderr,
                flush=True,
            )

    def _text(self, t: float) -> str:
        if self._counted:
            return f"{t:.0f} of {self._end:.0f} {self._counted}"
        return f"t = {t:.6g} s of {self._end:.6g} s"

    def _update_bar(self, t: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn(self._title),
                BarColumn(),
                TextColumn("{task.fields[text]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            span = self._end - self._start
            self._task = self._bar.add_task(
                "", total=span, completed=self._since - self._start, text=self._text(t)
            )
            self._bar.start()
        self._bar.update(self._task, completed=t - self._start, text=self._text(t))

"""Progress of a long run, told on the screen now and then."""

from __future__ import annotations

import sys
import time

__all__ = ["Progress", "say"]

#: A line is written so often. [s]
PERIOD = 30.0


def say(text: str) -> None:
    """Write a line at once, also where the output is a file."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Progress:
    """Tells how many things were done in how much time, and how many faults they had."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.since = self.told = time.monotonic()

    def tell(self, count: int, faults: int) -> None:
        """Say how far it is, unless that was said a moment ago."""
        if time.monotonic() - self.told > PERIOD:
            self.close(count, faults)

    def close(self, count: int, faults: int) -> None:
        """Say how far it is."""
        self.told = time.monotonic()
        say(f"{self.told - self.since:6.0f} s: {count} {self.what}, {faults} faults")

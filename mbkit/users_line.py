"""The line of a user's program that a warning points at."""

from __future__ import annotations

import sys


def users_line() -> int:
    """Return the `stacklevel` by which a warning of the caller points outside of mbkit.

    As ``skip_file_prefixes`` of `warnings.warn` does from Python 3.12 on.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("mbkit."):
        frame, level = frame.f_back, level + 1
    return level

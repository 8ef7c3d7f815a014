"""Python's search for garbage, spared where there is none: among objects loaded at the start.

It goes through all objects again and again while modules are imported, through what they have left
during a run, and through everything at the end of the process: a sixth of a short command.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
from collections.abc import Iterator

_of_program = False


def spare_program() -> None:
    """Look for garbage neither among objects `loading`, from now on, nor at the end.

    For a process that is a command's; one that calls commands, such as a test, may go on for long.
    """
    global _of_program
    _of_program = True
    atexit.register(gc.freeze)


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Let the search wait while modules are imported inside, and leave them out later."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if _of_program:
            gc.freeze()
        if enabled:
            gc.enable()

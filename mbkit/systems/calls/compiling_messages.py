"""Messages that kernels are compiled, at the first start of an installation."""

from __future__ import annotations

import functools
import logging
import time

_logger = logging.getLogger("mbkit")

#: Seconds between two lines.
INTERVAL = 10.0


@functools.cache
def tell_of_compiling() -> None:
    """Log a line when the first kernel of this process must be compiled, and one now and then.

    The lines are warnings of the logger "mbkit": they are written to the standard error stream,
    unless the program configures logging otherwise. Nothing is logged if all kernels are in the
    cache, or if another listener reports compilation, as the command line does.
    """
    from mbkit.kernels.compiling import caching

    count, told = 0, 0.0

    def tell(kernel: str) -> None:
        nonlocal count, told
        count += 1
        now = time.monotonic()
        if len(listeners) > 1 or (told and now - told < INTERVAL):
            return
        if told:
            _logger.warning("mbkit compiles: %d kernels so far, now %s.", count, kernel)
        else:
            _logger.warning(
                "mbkit compiles what this needs for this processor, %s to begin with: once per "
                "installation, for seconds to a few minutes. 'mbkit warmup' compiles everything.",
                kernel,
            )
        told = now

    listeners = caching._listeners  # for good: its context manager would end
    listeners.append(tell)

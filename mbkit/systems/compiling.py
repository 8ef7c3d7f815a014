"""The message that kernels are compiled, at the first start of an installation."""

from __future__ import annotations

import functools
import logging

_logger = logging.getLogger("mbkit")


@functools.cache
def tell_of_compiling() -> None:
    """Log one line when the first kernel of this process must be compiled.

    The line is a warning of the logger "mbkit": it is written to the standard error stream, unless
    the program configures logging otherwise. Nothing is logged if all kernels are in the cache, or
    if another listener reports compilation, as the command line does.
    """
    from mbkit.kernels import caching

    def tell(kernel: str) -> None:
        if len(listeners) == 1:
            listeners.remove(tell)
            _logger.warning(
                "mbkit compiles what this needs for this processor, %s to begin with: once per "
                "installation, for seconds to a few minutes. 'mbkit warmup' compiles everything.",
                kernel,
            )

    listeners = caching._listeners  # for good: what it has as a context manager would end
    listeners.append(tell)

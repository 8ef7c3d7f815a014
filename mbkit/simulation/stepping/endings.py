"""Endings of steps, beside the statuses of kernels."""

from mbkit.integrators.integrator import FAILED

__all__ = ["FAILED", "INTERRUPTED", "TERMINAL"]

#: The user has pressed Ctrl-C.
INTERRUPTED = -1

#: An event has ended the run.
TERMINAL = -2

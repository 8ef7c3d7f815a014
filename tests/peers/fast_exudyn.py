"""Exudyn as fast as it comes: compiled without range checks, with AVX2 where the machine has it.

Whoever imports Exudyn in tests and benchmarks takes it from here: which of its two modules is
loaded is decided by the first import.
"""

from __future__ import annotations

import sys

sys.exudynFast = True  # type: ignore[attr-defined]

import exudyn  # noqa: E402
from exudyn import itemInterface as items  # noqa: E402

exudyn.config.printToConsole = False

__all__ = ["exudyn", "items"]

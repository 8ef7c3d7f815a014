"""Colours and lines that everybody can distinguish, for plots of results."""

from __future__ import annotations

__all__ = ["COLOURS", "FAULT", "LINES"]

#: Okabe and Ito, "Color universal design", 2008: distinct with any kind of colour blindness;
#: yellow last, for it is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")

#: Lines of matplotlib, where colours are used up or mean something else.
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)), (0, (8, 3)))

#: Text of warnings: the vermilion of COLOURS, darker, for thin letters on white.
FAULT = "#A03A00"

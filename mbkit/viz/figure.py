"""Figures: where pictures are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbkit.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(size: tuple[float, float], *, of_pyplot: bool) -> Figure:
    """Return an empty figure whose panels keep clear of each other, of a size in inches.

    pyplot keeps it, to be shown in a window, if it is one of its own. UsageError if matplotlib is
    not installed.
    """
    try:
        import matplotlib.figure
    except ImportError as error:
        raise UsageError(
            "Plots need matplotlib, which is not installed; install it with "
            "pip install 'mbkit[plot]'."
        ) from error
    if not of_pyplot:
        # No window and no memory kept: what writes files must run where there is no screen.
        return matplotlib.figure.Figure(figsize=size, layout="constrained")
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="constrained")

"""Packages that mbkit uses where they are installed: those of its extras."""

from __future__ import annotations

import importlib
from typing import Any

from mbkit.errors import UsageError

__all__ = ["extra_package"]


def extra_package(name: str, need: str, extra: str, remedy: str = "") -> Any:
    """Return a package; UsageError with the command that installs it if it is not there.

    Examples
    --------
    >>> extra_package("mbkit_colours", "Pictures need mbkit_colours", "colours")
    Traceback (most recent call last):
    mbkit.errors.UsageError: Pictures need mbkit_colours, which is not installed; install it with \
    pip install 'mbkit[colours]'.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"{need}, which is not installed; install it with pip install 'mbkit[{extra}]'."
            f"{remedy and f' {remedy}'}"
        ) from error

"""Packages that only these bridges need."""

from __future__ import annotations

import importlib
from typing import Any

from mbkit.errors import UsageError

_EXTRAS = {"sympy": "symbolic", "casadi": "casadi", "jax": "jax"}


def imported(what: str, package: str) -> Any:
    """Return a package; UsageError with the command that installs it if it is not there."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise UsageError(
            f"{what} needs {package}, which is not installed: pip install "
            f"'mbkit[{_EXTRAS[package]}]'."
        ) from error

"""Attributes of elements as they are written, and names that are free."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np


def quoteattr(text: str) -> str:
    """Return a value in its quotes, with the special characters of XML as references."""
    from xml.sax.saxutils import quoteattr as quoted  # here: it loads modules for the network

    return quoted(text)


def numbers_text(numbers: Any) -> str:
    """Return numbers with all digits, blanks between; no zero is negative."""
    return " ".join(repr(float(number) + 0.0) for number in np.ravel(numbers))


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name, with as many underscores behind it as it takes to be none of those taken."""
    while name in taken:
        name += "_"
    return name

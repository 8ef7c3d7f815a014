"""Attributes of elements, as they are written."""

from __future__ import annotations


def quoteattr(text: str) -> str:
    """Return a value in its quotes, with what XML would read otherwise written as references."""
    from xml.sax.saxutils import quoteattr as quoted  # here: it loads what reads from the network

    return quoted(text)

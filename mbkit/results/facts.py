"""Heads and facts by label: lines of text, and tables of HTML."""

from __future__ import annotations

import html

from mbkit.errors import printable

__all__ = ["Facts", "as_html", "as_text"]

#: Labels and texts; empty texts are left out.
Facts = list[tuple[str, str]]

_LABEL = 12  # characters of the longest label and of two blanks


def as_text(head: str, facts: Facts) -> str:
    """Return it as lines, in angle brackets, with control characters of terminals escaped."""
    lines = [f"  {label:<{_LABEL}}{printable(text)}" for label, text in facts if text]
    return "\n".join([f"<{head}", *lines]) + ">"


def as_html(head: str, facts: Facts) -> str:
    """Return it as a table."""
    rows = "".join(
        f'<tr><th style="text-align: left; vertical-align: top">{html.escape(label)}</th>'
        f'<td style="text-align: left">{html.escape(printable(text))}</td></tr>'
        for label, text in facts
        if text
    )
    return f"<table><caption>{html.escape(head)}</caption><tbody>{rows}</tbody></table>"

"""Which names bodies, joints and mechanisms may have."""

from __future__ import annotations

from typing import Any

from mbkit.errors import ModelError

__all__ = ["check_name"]


def check_name(kind: str, name: Any) -> None:
    """Raise unless `name` can name something in tables, files and messages.

    Parameters
    ----------
    kind : str
        What it names, such as "Body".
    name : str
        Printable, not empty, without blanks at its ends. Joints must do without square brackets,
        which number the positions of a joint: ``ball[2]``.

    Raises
    ------
    ModelError
        If it does not fit.

    Examples
    --------
    >>> check_name("Body", "rod ")
    Traceback (most recent call last):
    mbkit.errors.ModelError: Body name must have no blanks at its ends, got 'rod '.
    """
    if not isinstance(name, str):
        raise ModelError(f"{kind} name must be a string, got {name!r}.")
    if not name:
        raise ModelError(f"{kind} name must not be empty.")
    if name != name.strip():
        raise ModelError(f"{kind} name must have no blanks at its ends, got {name!r}.")
    if not name.isprintable():
        raise ModelError(f"{kind} name must be printable, got {name!r}.")
    if kind == "Joint" and ("[" in name or "]" in name):
        raise ModelError(
            f"Joint name must have no square brackets, got {name!r}; "
            "they number a joint's positions."
        )

"""Everything mbkit raises: one tree under `MbkitError`, each child also the fitting built-in.

Also what the messages of all packages share: suggestions, and which names are possible.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

__all__ = [
    "ConfigurationError",
    "DuplicateNameError",
    "ForceError",
    "GeometryError",
    "InertiaError",
    "JointError",
    "MbkitError",
    "ModelError",
    "ModelFileError",
    "ModelFileWarning",
    "NameUnknownError",
    "NotFiniteError",
    "QuantityError",
    "ResultFileError",
    "ShapeError",
    "SingularMassMatrixError",
    "TopologyError",
    "UsageError",
    "check_name",
    "suggestion",
]


class MbkitError(Exception):
    """Root of everything that mbkit raises.

    Attributes
    ----------
    key : str
        The argument at fault, where it is one; readers of files add it to the key's path.
    """

    key: str = ""


class ModelError(MbkitError, ValueError):
    """A mechanism, or a part of one, that cannot be."""


class NameUnknownError(ModelError, KeyError):
    """A name that is not there."""

    # KeyError prints the repr of its argument, quotes and all.
    __str__ = Exception.__str__


class DuplicateNameError(ModelError):
    """A name given twice."""


class TopologyError(ModelError):
    """A graph of bodies and joints that cannot be assembled."""


class InertiaError(ModelError):
    """A distribution of mass that no body has, or that leaves a motion without inertia."""


class GeometryError(ModelError):
    """A vector, rotation, pose or screw that is none."""


class ShapeError(MbkitError, ValueError):
    """An array of the wrong shape or type."""


class ConfigurationError(MbkitError, ValueError):
    """Positions that are not on the configuration group, such as a quaternion not of length one."""


class JointError(MbkitError, RuntimeError):
    """A joint whose functions failed, or do not keep the contract of `mbkit.Joint`."""


class ForceError(MbkitError, RuntimeError):
    """A force whose functions failed, or do not keep the contract of `mbkit.Force`."""


class SingularMassMatrixError(MbkitError, ArithmeticError):
    """A mass matrix without inverse at the given configuration."""


class NotFiniteError(MbkitError, ArithmeticError):
    """A computation that ended in NaN or infinity."""


class ModelFileError(MbkitError, ValueError):
    """A model file with faults; the message lists all of them with their places."""


class ModelFileWarning(UserWarning):
    """What a model file holds and mbkit does not take, or the other way round."""


class ResultFileError(MbkitError, ValueError):
    """A result file that cannot be read."""


class QuantityError(MbkitError, TypeError):
    """Two quantities that do not combine: of other kinds, bodies, frames or representations."""


class UsageError(MbkitError, ValueError):
    """An argument or option that does not fit the call."""


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


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: what may have been meant, what there is.

    Parameters
    ----------
    name : str
        The unknown name; anything else gets no guess.
    known : iterable of str
        The names there are.

    Returns
    -------
    str
        One sentence.

    Examples
    --------
    >>> suggestion("elbo", ["shoulder", "elbow"])
    "did you mean 'elbow'?"
    >>> suggestion("x", ["shoulder", "elbow"])
    "known are 'shoulder', 'elbow'."
    >>> suggestion("x", [])
    'there are none.'
    """
    names = list(known)
    close: list[str] = []
    # names that are far too long are no slips, and comparing takes time by their square
    if isinstance(name, str) and len(name) <= _LONGEST_NAME:
        close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    if not names:
        return "there are none."
    shown = ", ".join(repr(each) for each in names[:_SHOWN])
    more = len(names) - _SHOWN
    return f"known are {shown} and {more} more." if more > 0 else f"known are {shown}."


_LONGEST_NAME = 200  # characters of a name that gets a guess
_SHOWN = 12  # names in a message; more would hide it

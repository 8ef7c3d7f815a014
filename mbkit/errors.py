"""Everything mbkit raises: one tree under `MbkitError`, each child also the fitting built-in.

Also parts of the messages of all packages: suggestions, lists of names, text of files.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any, Self, TypeGuard

import numpy as np

__all__ = [
    "ConfigurationError",
    "ContractError",
    "ConvergenceError",
    "ConstraintDerivativeWarning",
    "ConstraintError",
    "DegreesWarning",
    "DistanceWarning",
    "DuplicateNameError",
    "EnergyBalanceWarning",
    "EventError",
    "ForceDerivativeWarning",
    "ForceError",
    "GeometryError",
    "InertiaError",
    "IntegratorError",
    "JointDerivativeWarning",
    "JointError",
    "JumpWarning",
    "LargeStepWarning",
    "LockedMechanismWarning",
    "MbkitError",
    "ModelError",
    "ModelFileError",
    "ModelFileWarning",
    "NameUnknownError",
    "NotFiniteError",
    "PluginWarning",
    "RedundantConstraintsWarning",
    "QuantityError",
    "ResultFileError",
    "ResultFileWarning",
    "ShapeError",
    "SingularMassMatrixError",
    "StartDerivativeWarning",
    "StiffnessWarning",
    "StudyFileError",
    "TopologyError",
    "UsageError",
    "check_choice",
    "check_kind",
    "check_switch",
    "listed",
    "no_coordinates",
    "printable",
    "several",
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

    def about(self, key: str) -> Self:
        """Return the error itself, with the argument that is at fault."""
        self.key = key
        return self


class ModelError(MbkitError, ValueError):
    """A mechanism, or a part of one, that cannot be."""


class ParameterError(ModelError, ValueError):
    """A value that a parameter of a system cannot have."""


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


class ContractError(MbkitError, AssertionError):
    """A joint or an integrator that does not keep its contract; the message is the report."""


class JointError(MbkitError, RuntimeError):
    """A joint whose functions failed, or do not keep the contract of `mbkit.Joint`."""


class JointDerivativeWarning(UserWarning):
    """A joint whose pose cannot be differentiated exactly: differences take the place."""


class DegreesWarning(UserWarning):
    """An angle of many turns of radians, which was most likely meant in degrees."""


class ForceError(MbkitError, RuntimeError):
    """A force whose functions failed, or do not keep the contract of `mbkit.Force`."""


class ForceDerivativeWarning(UserWarning):
    """A force in Python that gives no derivatives and cannot be traced: differences take over."""


class IntegratorError(MbkitError, RuntimeError):
    """An integrator whose functions do not keep the contract of `mbkit.Integrator`."""


class EventError(MbkitError, RuntimeError):
    """Events that follow each other without end."""


class SingularMassMatrixError(MbkitError, ArithmeticError):
    """A mass matrix without inverse at the given configuration."""


class NotFiniteError(MbkitError, ArithmeticError):
    """A computation that ended in NaN or infinity."""


class ModelFileError(MbkitError, ValueError):
    """A model file with faults; the message lists all of them with their places."""


class ModelFileWarning(UserWarning):
    """Content of a model file that mbkit does not read, or of a model that a format cannot hold."""


class ConvergenceError(MbkitError, ArithmeticError):
    """An iteration that does not come to its end, such as Newton's in a step of an integrator.

    Attributes
    ----------
    iterations : Iterations or None
        Where a step of an implicit integrator failed, how its iteration went: arrays
        ``corrections`` and ``residuals``, a number an iteration, and ``residual``, the last one by
        name; else None.
    """

    iterations: Any = None


class ConstraintError(MbkitError, ValueError):
    """The constraints of a system do not hold, or cannot.

    Attributes
    ----------
    q : ndarray or None
        Where loops could not be closed, the configuration in which they are open the least of those
        that were found; else None.
    """

    q: Any = None


class ConstraintDerivativeWarning(UserWarning):
    """A constraint that cannot be differentiated exactly: differences take the place."""


class StartDerivativeWarning(UserWarning):
    """A start of a run that was searched for, of which derivatives are those of one nearby."""


class RedundantConstraintsWarning(UserWarning):
    """Constraints depend on each other, so that their multipliers are not unique."""


class LockedMechanismWarning(UserWarning):
    """A mechanism that its constraints leave no motion, or none with its loops closed."""


class SingularityWarning(UserWarning):
    """A joint comes near a singular configuration, or a closed mechanism starts at one."""


class DistanceWarning(UserWarning):
    """Bodies are so far from a point of reference that digits of their inertia are lost."""


class EnergyBalanceWarning(UserWarning):
    """The error of the energy balance of a run is large beside the energy that moves."""


class JumpWarning(UserWarning):
    """A prescribed motion jumps, or is faster than the steps of a run; or a loop joint jumps."""


class MissingTimeWarning(UserWarning):
    """A state whose prescribed joints are not where their motions are at t = 0, without a t."""


class FailedRunsWarning(UserWarning):
    """Runs of an ensemble that ended by an error; the ensemble holds the reasons."""


class PoorFitWarning(UserWarning):
    """The residuals of a fit are far above the noise of measurement, or as large as the data."""


class StiffnessWarning(UserWarning):
    """A motion whose stiff parts keep the steps of an explicit integrator small."""


class LimitsNotAppliedWarning(UserWarning):
    """A joint passes a limit of its position, velocity or effort: data that no equation has."""


class NoEquilibriumWarning(UserWarning):
    """Modes are computed at a state in which forces do not balance: motion leaves it at once."""


class LargeStepWarning(UserWarning):
    """A body turns farther in a step than the local coordinates of the step reach."""


class StudyFileError(ModelFileError):
    """A study file with faults, or changes of one; the message lists all with their places."""


class PluginWarning(UserWarning):
    """A plugin that was skipped, and why."""


class ResultFileError(MbkitError, ValueError):
    """A result file that cannot be read."""


class ResultFileWarning(UserWarning):
    """A result file without a checksum: damage to its numbers would not be seen."""


class QuantityError(MbkitError, TypeError):
    """Two quantities that do not combine: of other kinds, bodies, frames or representations."""


class UsageError(MbkitError, ValueError):
    """An argument or option that does not fit the call."""


def check_kind(
    what: str, value: Any, kind: type | tuple[type, ...], words: str, remedy: str = ""
) -> None:
    """Raise UsageError unless a value is of a kind, `words` in the message; `remedy` may end it."""
    if not isinstance(value, kind):
        raise UsageError(f"{what} must be {words}, got {value!r}{remedy and f'; {remedy}'}.")


def check_choice(
    what: str, value: Any, choices: Iterable[str], error: type[MbkitError] = UsageError
) -> None:
    """Raise UsageError (or `error`) unless a value is one of some words."""
    words = tuple(choices)
    if not (isinstance(value, str) and value in words):
        raise error(f"{what} must be {' or '.join(map(repr, words))}, got {value!r}.")


def check_switch(what: str, value: Any) -> None:
    """Raise UsageError unless a value is True or False."""
    check_kind(what, value, (bool, np.bool_), "True or False")


def several(value: Any) -> TypeGuard[Iterable[Any]]:
    """Whether it can be gone through, as a list or a tuple can."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: likely names, or the known ones.

    A sentence. A name that is no text gets no guess.

    Examples
    --------
    >>> suggestion("elbo", ["shoulder", "elbow"])
    "did you mean 'elbow'?"
    >>> suggestion("L", ["l", "mass"])  # too short for a guess by its letters
    "did you mean 'l'?"
    >>> suggestion("x", ["shoulder", "elbow"])
    "known are 'shoulder', 'elbow'."
    """
    names = list(known)
    close: list[str] = []
    # names that are far too long are no slips, and comparing takes time by their square
    if isinstance(name, str) and len(name) <= _LONGEST_NAME:
        close = [each for each in names if each.casefold() == name.casefold()]
        close = close or difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    if not names:
        return "there are none."
    return f"known are {listed(names)}."


def no_coordinates(joint: str, remedy: str) -> str:
    """Return the end of a message about a joint that closes a loop, where one of the tree is meant.

    A sentence; `remedy` is a way to give it coordinates, as `System.remedy`.
    """
    closed = f"joint '{joint}' closes a loop and has no entries in q and v"
    return f"{closed}; name a joint of the tree, or {remedy}."


def listed(names: Iterable[Any], form: Callable[[Any], str] = repr) -> str:
    """Return names for a message, separated by commas, of many the first twelve.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    >>> listed(range(14), str)
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more'
    """
    every = list(names)
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(form(each) for each in every[:_SHOWN]) + more


def printable(text: object) -> str:
    r"""Return text of a file, or the name of one, such that a terminal shows it and obeys nothing.

    In one line, with escapes such as ``\x1b`` for control characters, marks of direction and all
    else that is not printable.

    Examples
    --------
    >>> print(printable("red \x1b[31m, turned \u202e"))
    red \x1b[31m, turned \u202e
    """
    string = str(text)
    if string.isprintable():
        return string
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in string
    )


_LONGEST_NAME = 200  # characters of a name that gets a guess
_SHOWN = 12  # names in a message; more would hide it

"""Checks of the methods of a joint's class: their names and their arguments."""

from __future__ import annotations

import difflib
import inspect
import types
from typing import Any

import numpy as np

from mbkit.errors import GeometryError, JointError, ShapeError
from mbkit.joints.defaults.own_methods import is_of_user
from mbkit.joints.joint import Joint
from mbkit.joints.kernels import JointKernels
from mbkit.spatial.arrays import check_array, frozen_array
from mbkit.spatial.frames import check_pose

#: Names that no class has a reason to define.
_NOT_MEANT = {"name", "prescribe", "positions_add"}

#: How alike two names are that are taken for one, from 0 to 1.
_ALIKE = 0.8

_GROUP = ("retract", "difference", "dexp_inv")

#: The results of the methods, for messages.
_RESULTS = {
    "pose": "(4, 4)",
    "motion_subspace": "(6, nv)",
    "bias": "(6,)",
    "retract": "(nq,)",
    "difference": "(ndx,)",
    "dexp_inv": "(ndx,)",
    "rates": "(ndx,)",
    "position_rates": "(nq,)",
    "neutral": "(nq,)",
    "constraint_wrenches": "(6, 6 - nv)",
    "configuration_from_pose": "(nq,)",
}


def check_methods(joint: Joint, what: str) -> None:
    """Raise JointError for a method that nothing would call, or that takes other arguments."""
    kind = type(joint)
    known = {name: inspect.getattr_static(Joint, name) for name in dir(Joint) if name[0] != "_"}
    known |= dict.fromkeys(("name", "num_positions", "num_velocities"))
    own = {
        name
        for base in kind.__mro__
        if base not in (Joint, *Joint.__mro__)
        for name in vars(base)
        if not name.startswith("_")
    }
    _check_spelling(own, known, kind.__name__, what)
    _check_letters(kind, known, what)
    for name, expected in known.items():
        if isinstance(expected, types.FunctionType):
            if name in vars(joint):
                raise JointError(
                    f"{what}: {name} is an attribute of this one joint, which nothing calls; "
                    f"define {_form(name)} in the class {kind.__name__}."
                )
            if inspect.getattr_static(kind, name) is not expected:
                _check_signature(joint, name, what)
        elif isinstance(expected, property):
            found = inspect.getattr_static(kind, name)
            if isinstance(found, types.FunctionType):
                raise JointError(
                    f"{what}: {name} of {kind.__name__} must be a property or a value, not a "
                    f"method; put @property above it."
                )


def _check_spelling(own: set[str], known: dict[str, Any], kind: str, what: str) -> None:
    for name in sorted(own - set(known)):
        # a name next to one that the class has as well is a helper
        missing = set(known) - own - _NOT_MEANT
        if "ndx" not in own:  # then `rates` has no meaning
            missing.discard("rates")
        meant = difflib.get_close_matches(name, sorted(missing), n=1, cutoff=_ALIKE)
        if meant:
            raise JointError(
                f"{what}: {kind} defines {name}, which nothing calls; did you mean "
                f"{_form(meant[0])}? A helper of your own needs another name, or one that begins "
                f"with _."
            )


def _check_letters(kind: type[Joint], known: dict[str, Any], what: str) -> None:
    """Raise JointError where a class of a user writes the name of a method in other letters."""
    by_letters = {name.casefold().replace("_", ""): name for name in known}
    for base in kind.__mro__:
        if base.__module__.startswith("mbkit.") or base is object:
            continue
        for name in vars(base):
            meant = by_letters.get(name.casefold().replace("_", ""))
            if meant is not None and name != meant and name[0] != "_" and meant not in vars(base):
                raise JointError(
                    f"{what}: {base.__name__} defines {name}, which nothing calls; did you mean "
                    f"{_form(meant)}? A helper of your own needs another name."
                )


def _parameters(name: str) -> list[str]:
    return list(inspect.signature(getattr(Joint, name)).parameters)[1:]


def _form(name: str) -> str:
    if not isinstance(inspect.getattr_static(Joint, name, None), types.FunctionType):
        return name
    result = f" -> {_RESULTS[name]}" if name in _RESULTS else ""
    return f"{name}({', '.join(_parameters(name))}){result}"


def _check_signature(joint: Joint, name: str, what: str) -> None:
    method, expected = getattr(joint, name), _parameters(name)
    kind = type(joint).__name__
    if not callable(method):
        raise JointError(f"{what}: {name} of {kind} must be a method, {_form(name)}.")
    try:
        signature = inspect.signature(method)
    except ValueError:  # of compiled code: there is nothing to look at
        return
    try:
        signature.bind(*expected)
    except TypeError:
        raise JointError(
            f"{what}: {kind} defines {name}{signature}, and must define {_form(name)}."
        ) from None
    given = list(signature.parameters)[: len(expected)]
    if sorted(given) == sorted(expected) and given != expected:
        raise JointError(
            f"{what}: {kind} defines {name}{signature}, with arguments in another order than "
            f"{_form(name)}."
        )


def check_compiled(joint: Joint, what: str) -> None:
    """Raise JointError if an attribute for compiled code is of a wrong type."""
    kernels: Any = joint.kernels()
    if not (kernels is None or isinstance(kernels, JointKernels)):
        raise JointError(
            f"{what}: kernels() must return an mbkit.joints.JointKernels or None, got {kernels!r}."
        )
    if kernels is not None:
        _check_compiled_rates(joint, kernels, what)
    missing = [name for name in _GROUP if kernels is not None and getattr(kernels, name) is None]
    adds = joint.positions_add or type(joint).retract is Joint.retract
    if missing and (not adds or any(is_of_user(joint, name) for name in _GROUP)):
        raise JointError(
            f"{what}: {type(joint).__name__} has a retract of its own and compiled forms, but none "
            f"of {' and '.join(missing)}; compiled, coordinates would simply be added. Give them "
            f"in JointKernels."
        )
    numbers = np.asarray(joint.parameters())
    if numbers.ndim != 1 or numbers.dtype.kind not in "fiu":
        raise JointError(
            f"{what}: parameters() must return an array of real numbers of one axis, got "
            f"{joint.parameters()!r}."
        )
    units: Any = joint.position_units
    if len(units) != joint.num_positions or not all(isinstance(unit, str) for unit in units):
        raise JointError(
            f"{what}: position_units must be {joint.num_positions} strings, got {units!r}."
        )
    frame = frozen_array(joint.canonical_frame)
    try:
        check_pose(frame, f"{what}: canonical_frame")
    except (ShapeError, GeometryError) as error:
        raise JointError(str(error)) from None
    form: Any = joint.screw_form()
    if form is not None:
        try:
            check_array(frozen_array(form), (2,), f"{what}: screw_form()", error=JointError)
        except ShapeError as error:
            raise JointError(str(error)) from None


def _check_compiled_rates(joint: Joint, kernels: JointKernels, what: str) -> None:
    wanted = joint.ndx != joint.num_velocities
    if wanted != (kernels.rates is not None):
        why = f"{joint.ndx} steps and {joint.num_velocities} velocities"
        remedy = "give a compiled form of rates" if wanted else "leave rates out"
        raise JointError(f"{what}: {type(joint).__name__} has {why}; {remedy} in JointKernels.")

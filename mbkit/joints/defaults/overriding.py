"""Methods of joints that a subclass overrides, and new defaults of those that follow from them.

The definitions of a motion in a class of mbkit belong together: its pose, motion subspace, closed
and compiled forms. Where a subclass gives one of them, those that follow from it and that it does
not give are the defaults of `Joint` again: a revolute joint with another pose is a joint given by
its pose. The same holds of subclasses of joints with compiled forms of their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard, TypeVar, cast

from mbkit.errors import UsageError

__all__ = ["derive_anew", "moves_as"]

_Kind = TypeVar("_Kind")

#: Members with the ones that they follow from, each behind all of these.
_FOLLOWS = {
    "retract": ("num_positions",),
    "difference": ("retract",),
    "dexp_inv": ("retract",),
    "position_rates": ("retract",),
    "time_to_lock": ("position_rates",),
    "quaternions": ("num_positions",),
    "neutral": ("num_positions",),
    "random": ("num_positions",),
    "position_units": ("num_positions",),
    "positions_add": ("retract", "rates", "ndx", "num_velocities"),
    "motion_subspace": ("pose", "retract", "rates", "ndx", "num_velocities"),
    "bias": ("motion_subspace", "pose", "retract", "rates"),
    "constraint_wrenches": ("motion_subspace",),
    "configuration_from_pose": ("pose", "num_positions", "num_velocities", "ndx"),
    "singularity": ("motion_subspace",),
    "singularities": ("singularity",),
    "singularity_remedy": ("motion_subspace",),
    "zero_reference": ("pose", "neutral"),
    "constant_subspace": ("motion_subspace", "bias", "constraint_wrenches"),
    "velocity_twist": ("motion_subspace",),
    "kernels": (
        "pose", "motion_subspace", "bias", "retract", "difference", "dexp_inv", "rates",
        "constraint_wrenches", "configuration_from_pose",
    ),
    "screw_form": ("kernels",),
}  # fmt: skip

#: Forms by which a joint is computed in the place of its methods.
_FORMS = ("kernels", "screw_form")


def moves_as(joint: object, kind: Callable[..., _Kind]) -> TypeGuard[_Kind]:
    """Whether a joint is of a class, and moves as that class defines.

    A subclass that overrides its motion does not; the closed forms of the class, its screws and
    compiled forms, are then not those of the joint.

    Examples
    --------
    >>> import mbkit as mb
    >>> class Named(mb.RevoluteJoint):
    ...     def random(self, rng):
    ...         return rng.uniform(0.0, 1.0, 1)
    >>> class Weld(mb.RevoluteJoint):
    ...     def pose(self, q):
    ...         return np.eye(4)
    >>> [moves_as(kind("a"), mb.RevoluteJoint) for kind in (mb.RevoluteJoint, Named, Weld)]
    [True, True, False]
    """
    # type checkers take an abstract class for a function that makes its objects, for a type not
    if not isinstance(joint, cast("type", kind)):
        return False
    overridden: frozenset[str] = getattr(joint, "_overridden", frozenset())
    return overridden.isdisjoint(_FORMS)


def derive_anew(kind: Any, contract: Any) -> None:
    """Give a new class the defaults of the contract for all that follows from what it overrides.

    Parameters
    ----------
    kind : type
        A new subclass of the contract. It gets `_overridden`: the names whose meaning differs
        from that in the class of mbkit that it derives from.
    contract : type
        `mbkit.Joint`.

    Raises
    ------
    UsageError
        If it gives parameters of compiled forms, and no compiled forms.
    """
    for whole in _wholes(kind, contract):
        _derive_anew(kind, whole, contract)


def _derive_anew(kind: Any, whole: Any, contract: Any) -> None:
    known = {name for name in dir(contract) if name[0] != "_"} | {"num_positions", "num_velocities"}
    changed = {name for name in known if _differs(kind, name, whole)}
    given = {name for name in changed if _differs(kind, name, contract)}
    if whole.__module__.startswith("mbkit."):
        _check_parameters(kind, whole, given)
    if _changes_pose(kind, whole, known):
        changed.add("pose")
    anew = []
    for name, sources in _FOLLOWS.items():
        if name not in given and not changed.isdisjoint((name, *sources)):
            changed.add(name)
            anew.append(name)
    for name in anew:
        setattr(kind, name, _static(contract, name))
    kind._overridden = getattr(kind, "_overridden", frozenset()) | changed


def _wholes(kind: Any, contract: Any) -> Iterator[Any]:
    """Give the bases of a class whose methods belong together, the nearest first."""
    for base in kind.__mro__[1:]:
        if base.__module__.startswith("mbkit."):
            is_whole = "__final__" in vars(base)
        else:
            compiled = any(_differs(base, each, contract) for each in _FORMS if each in vars(base))
            is_whole = compiled and issubclass(base, contract) and not _is_abstract(base.pose)
        if is_whole:
            yield base


def _changes_pose(kind: Any, whole: Any, known: set[str]) -> bool:
    """Whether a class overrides a member that its pose depends on, such as a screw's rate.

    Numbers of a user's joint may come from its parameters: compiled forms get these.
    """
    fields = {field.name for field in getattr(whole, "__attrs_attrs__", ())}
    names = {name for name in dir(whole) if name[0] != "_"} - fields - known
    if whole.__module__.startswith("mbkit."):
        names.add("canonical_frame")
    else:
        names = {name for name in names if hasattr(_static(whole, name), "__get__")}
    names = {name for name in names if not _is_abstract(_static(whole, name))}
    return any(_differs(kind, name, whole) for name in names)


def _check_parameters(kind: Any, whole: Any, given: set[str]) -> None:
    """Raise UsageError if a class gives parameters for the compiled forms of mbkit."""
    if "parameters" in vars(kind) and "kernels" not in given:
        raise UsageError(
            f"{kind.__qualname__} overrides parameters of mbkit's {whole.__name__}, which are "
            f"numbers of its compiled forms alone: give kernels as well, or override pose."
        )


def _is_abstract(method: Any) -> bool:
    return bool(getattr(method, "__isabstractmethod__", False))


def _differs(kind: Any, name: str, other: Any) -> bool:
    return _static(kind, name) is not _static(other, name)


def _static(kind: Any, name: str) -> Any:
    return inspect.getattr_static(kind, name, None)

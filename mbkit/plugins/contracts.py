"""Contracts of the hooks: what each must return, checked when a plugin is loaded."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from mbkit.constraints import Constraint
from mbkit.errors import JointError
from mbkit.executors import Executor
from mbkit.forces import Force
from mbkit.integrators import Integrator
from mbkit.joints import Joint
from mbkit.joints.checks.methods import check_methods
from mbkit.model import Body, Mechanism
from mbkit.representations import Representation

#: The hook that gives examples of the others' objects.
EXAMPLES = "mbkit_examples"


class BrokenContract(Exception):
    """A violation of the contract of a hook by a plugin."""


@attrs.frozen
class Kind:
    """One kind of thing that plugins provide.

    Attributes
    ----------
    hook : str
        Name of the hook.
    title : str
        The name of one of them in messages and tables.
    names : str
        Which names there may be.
    is_name : callable
        Whether a string is such a name.
    things : str
        The kind that each of them must have.
    fits : callable
        Whether a name and a thing go together.
    lacks : callable
        The fault of a class, as a sentence; empty where nothing is.
    """

    hook: str
    title: str
    names: str
    is_name: Callable[[str], bool]
    things: str
    fits: Callable[[str, Any], bool]
    lacks: Callable[[Any], str] = lambda _: ""


def _derives(base: type) -> Callable[[str, Any], bool]:
    return lambda _, thing: isinstance(thing, type) and issubclass(thing, base)


def _is_viewer(_: str, thing: Any) -> bool:
    # `mbkit.viz` stands above this package
    return not isinstance(thing, type) and all(
        callable(getattr(thing, key, None)) for key in ("write", "show")
    )


def _is_command(_: str, thing: Any) -> bool:
    import click

    return isinstance(thing, click.Command)


def _is_word(name: str) -> bool:
    return name.replace("-", "_").isidentifier()


def _is_suffix(name: str) -> bool:
    return name.startswith(".") and name[1:].isalnum() and name == name.lower()


def _abstract(kind: type) -> str:
    missing = sorted(getattr(kind, "__abstractmethods__", ()))
    return f"{kind.__name__} must define {', '.join(missing)}" if missing else ""


def _body_lacks(kind: type[Body]) -> str:
    if found := _abstract(kind):
        return found
    if kind.inertia is Body.inertia:
        return f"{kind.__name__} must have the property inertia"
    made = "__attrs_attrs__" in vars(kind)
    return "" if made else f"{kind.__name__} must be decorated by attrs.frozen"


def _joint_lacks(kind: type[Joint]) -> str:
    if found := _abstract(kind):
        return found
    try:
        check_methods(object.__new__(kind), "")
    except JointError as error:
        return str(error).removeprefix(": ").rstrip(".")
    return ""


def _force_lacks(kind: type[Force]) -> str:
    if found := _abstract(kind):
        return found
    if kind.evaluate is Force.evaluate and kind.kernels is Force.kernels:
        return f"{kind.__name__} must define evaluate(t, q, v, poses, twists, out), or kernels()"
    return _misdefined(kind, Force, "evaluate potential_energy powers parameters kernels")


#: A constraint has one of these.
_SAYS = ("residual", "rows", "kernel")


def _constraint_lacks(kind: type[Constraint]) -> str:
    if found := _abstract(kind):
        return found
    own = (getattr(kind, key) is not getattr(Constraint, key) for key in _SAYS)
    if not any(own):
        return f"{kind.__name__} must define residual(t, q, poses), or kernel()"
    return _misdefined(kind, Constraint, "residual rows rate bias row_units parameters kernel")


def _executor_lacks(kind: type[Executor]) -> str:
    if found := _abstract(kind):
        return found
    signature = inspect.signature(kind.run)
    try:
        signature.bind(None, abs, [], time_limit=None)
    except TypeError:
        return (
            f"{kind.__name__} defines run{signature}, and must define "
            "run(function, tasks, *, time_limit)"
        )
    return ""


def _misdefined(kind: type, contract: type[Any], methods: str) -> str:
    """Return the methods that cannot be called as in the contract; empty if all can."""
    for name in methods.split():
        expected = inspect.signature(getattr(contract, name))
        found_here = inspect.signature(getattr(kind, name))
        try:
            found_here.bind(*expected.parameters)
        except TypeError:
            names = ", ".join(list(expected.parameters)[1:])
            return f"{kind.__name__} defines {name}{found_here}, and must define {name}({names})"
    return ""


_WORDS = "words of letters, digits, '_' and '-'"

#: Everything that plugins can provide.
KINDS: dict[str, Kind] = {
    "body": Kind(
        "mbkit_body_types", "body type", _WORDS, _is_word,
        "a class that derives from mbkit.Body", _derives(Body), _body_lacks,
    ),
    "joint": Kind(
        "mbkit_joint_types", "joint type", _WORDS, _is_word,
        "a class that derives from mbkit.Joint", _derives(Joint), _joint_lacks,
    ),
    "force": Kind(
        "mbkit_force_types", "force type", _WORDS, _is_word,
        "a class that derives from mbkit.Force", _derives(Force), _force_lacks,
    ),
    "constraint": Kind(
        "mbkit_constraint_types", "constraint type", _WORDS, _is_word,
        "a class that derives from mbkit.Constraint", _derives(Constraint), _constraint_lacks,
    ),
    "integrator": Kind(
        "mbkit_integrators", "integrator", _WORDS, _is_word,
        "a class that derives from mbkit.Integrator", _derives(Integrator), _abstract,
    ),
    "representation": Kind(
        "mbkit_representations", "representation", _WORDS, _is_word,
        "an mbkit.Representation under its own name",
        lambda name, thing: isinstance(thing, Representation) and thing.name == name,
    ),
    "executor": Kind(
        "mbkit_executors", "executor", _WORDS, _is_word,
        "a class that derives from mbkit.studies.Executor", _derives(Executor), _executor_lacks,
    ),
    "reader": Kind(
        "mbkit_file_readers", "file reader", "suffixes in lower case, such as '.sdf'", _is_suffix,
        "a function of the path", lambda _, thing: callable(thing),
    ),
    "command": Kind(
        "mbkit_commands", "command", _WORDS, _is_word, "a click.Command", _is_command,
    ),
    "viewer": Kind(
        "mbkit_viewers", "viewer", _WORDS, _is_word,
        "an instance with the methods of mbkit.viz.Viewer", _is_viewer,
    ),
}  # fmt: skip


def checked(kind: Kind, returned: Any, *, closely: bool = True) -> dict[str, Any]:
    """Return what a hook returned, things by name, as a dictionary.

    Looked at closely, classes have the methods that they need. BrokenContract if it is no mapping,
    or has a name or a thing that cannot be, or a class that lacks something.
    """
    if not isinstance(returned, Mapping):
        raise BrokenContract(
            f"{kind.hook}() must return a dictionary by name, and returned {returned!r:.200}"
        )
    for name, thing in returned.items():
        if not isinstance(name, str) or not kind.is_name(name):
            raise BrokenContract(f"{kind.hook}(): names must be {kind.names}, got {name!r:.200}")
        if not kind.fits(name, thing):
            raise BrokenContract(
                f"{kind.hook}(): '{name}' must be {kind.things}, got {thing!r:.200}"
            )
        if closely and (lacks := kind.lacks(thing)):
            raise BrokenContract(f"{kind.hook}(): '{name}': {lacks}")
    return dict(returned)


def checked_examples(returned: Any, provides: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """Return what the hook for examples returned, as a list of joints, forces and so on.

    `provides` has what the plugin provides: things by name, by kind. BrokenContract if it is no
    list, or has what is no example of anything that the plugin provides.
    """
    if not isinstance(returned, Iterable) or isinstance(returned, str | Mapping):
        raise BrokenContract(f"{EXAMPLES}() must return a list, and returned {returned!r:.200}")
    examples = list(returned)
    types = tuple(
        each
        for kind in ("body", "joint", "force", "constraint", "integrator", "executor")
        for each in provides[kind].values()
    )
    for example in examples:
        if type(example) not in types and not isinstance(example, Mechanism):
            what = f"the class {example.__name__}" if isinstance(example, type) else repr(example)
            raise BrokenContract(
                f"{EXAMPLES}() must return instances of the bodies, joints, forces, constraints "
                f"and integrators that the plugin provides, or mechanisms with them, and has "
                f"{what:.200}"
            )
    return examples

"""Factors of a study, by names or as objects, with the labels that tables show."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from mbkit.catalogue import file_name
from mbkit.coordinates import AbsoluteCoordinates, RelativeCoordinates
from mbkit.errors import ModelFileError, UsageError, check_choice, several, suggestion
from mbkit.integrators import Composition, Integrator, RungeKuttaMuntheKaas, Tableau, tableaus
from mbkit.io.toml_text.document import read_document
from mbkit.joints import LOCAL_COORDINATES, ORIENTATIONS, EulerAngles
from mbkit.joints.bases.subgroup_joint import COORDINATES
from mbkit.representations import Representation
from mbkit.simulation import Baumgarte, Projection
from mbkit.solvers import ConstraintSolver, built_in

__all__ = [
    "coordinates_of",
    "integrators_of",
    "joint_coordinates_of",
    "label_of",
    "labelled",
    "representations_of",
    "solvers_of",
    "stabilisations_of",
]

#: Runge-Kutta-Munthe-Kaas methods by their order, as "rkmk4".
_BY_ORDER = (
    tableaus.EULER, tableaus.HEUN, tableaus.KUTTA3, tableaus.RK4, tableaus.DORMAND_PRINCE5,
    tableaus.VERNER6, tableaus.FEHLBERG7, tableaus.DORMAND_PRINCE8,
)  # fmt: skip

#: A name with options, as "generalized_alpha(rho_inf=0.6)"; with a number, as "bliedf3".
_CALL = re.compile(r"\s*([\w-]+?)\s*(?:\((.*)\))?\s*", re.DOTALL)
_NUMBERED = re.compile(r"(.*?\D)(\d+)")

#: The absolute coordinates of Mueller 2021: two orientations, four local coordinates.
EIGHT = tuple(
    f"{orientation}/{local}"
    for orientation in ("unit_quaternion", "rotation_vector")
    for local in (
        "screw_coordinates", "rotation_vector_position", "rodrigues_position", "extended_rodrigues",
    )
)  # fmt: skip


def labelled(
    argument: str,
    given: Any,
    kind: Any,
    named: Callable[[str], Any],
    every: Callable[[], Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the objects that are given for a factor, by label.

    Parameters
    ----------
    argument : str
        Name of the factor, for messages.
    given : object
        A name or an object of `kind`, several of them, a mapping from labels to them, or "all".
    kind : type or tuple of types
        The type that objects must have.
    named : callable
        Returns the object of a name, or raises UsageError.
    every : callable, optional
        Returns all of them, by name.

    Raises
    ------
    UsageError
        If there is no such name, an object has another type, or two have one label.
    """
    if isinstance(given, str) and given == "all" and every is not None:
        return dict(every())
    if isinstance(given, Mapping):
        pairs = [(str(label), each) for label, each in given.items()]
    else:
        single = isinstance(given, (str, kind)) or not several(given)
        items = [given] if single else list(given)
        pairs = [(label_of(each), each) for each in items]
    found: dict[str, Any] = {}
    for label, each in pairs:
        if label in found:
            raise UsageError(f"{argument}: {label!r} is given twice; give each a label, in a dict.")
        if isinstance(each, str):
            found[label] = named(each)
        elif isinstance(each, kind):
            found[label] = each
        else:
            raise UsageError(
                f"{argument}: {each!r} is neither a name nor fits; see docs/studies.md."
            )
    if not found:
        raise UsageError(f"{argument}: nothing is given; leave it out for the default.")
    return found


def joint_coordinates_of(given: Any) -> tuple[str, ...] | None:
    """Return kinds of joint coordinates; None for those that joints have.

    UsageError if there are none of a name; in files and options "first_kind" is "first kind".
    """
    if given is None:
        return None
    if isinstance(given, str) and given == "all":
        return COORDINATES
    names = [given] if isinstance(given, str) or not several(given) else list(given)
    kinds = [name.replace("_", " ") if isinstance(name, str) else name for name in names]
    for kind in kinds:
        check_choice("joint_coordinates", kind, COORDINATES)
    if not kinds:
        raise UsageError("joint_coordinates: nothing is given; leave it out for those of joints.")
    return tuple(dict.fromkeys(kinds))


def label_of(thing: Any) -> str:
    """Return a short text of an object: its class and the fields that are not as by default.

    Examples
    --------
    >>> import mbkit as mb
    >>> label_of(mb.GeneralizedAlpha(0.6))
    'GeneralizedAlpha(rho_inf=0.6)'
    >>> label_of(mb.AbsoluteCoordinates())
    'unit_quaternion/screw_coordinates'
    """
    if thing is None:
        return "none"
    if isinstance(thing, Tableau | Composition | Representation):
        return str(thing.name)
    if isinstance(thing, AbsoluteCoordinates):
        parts = [thing.orientation.name, thing.local.name]
        if isinstance(thing.orientation, EulerAngles) and thing.orientation.sequence != "zyx":
            parts[0] += f":{thing.orientation.sequence}"
        return "/".join(parts + ["right"] * (thing.trivialised == "right"))
    if isinstance(thing, RelativeCoordinates):
        return "relative"
    if not attrs.has(type(thing)):
        return str(thing)
    fields = [
        f"{field.name}={label_of(value)}"
        for field in attrs.fields(type(thing))
        if field.init and (value := getattr(thing, field.name)) is not None
        and value != _default(field, thing)
    ]  # fmt: skip
    return type(thing).__name__ + (f"({', '.join(fields)})" if fields else "")


def _default(field: Any, thing: Any) -> Any:
    if isinstance(field.default, attrs.Factory):  # type: ignore[arg-type]
        made = field.default
        return made.factory(thing) if made.takes_self else made.factory()
    return field.default


# -------------------------------------------------------------------------------------- names


def _called(argument: str, text: str) -> tuple[str, dict[str, Any]]:
    """Return name and options of "name(key=value, ...)"; values are TOML, or words."""
    match = _CALL.fullmatch(text)
    if match is None:
        raise UsageError(f"{argument}: {text!r} is no name; write it as name(option=value).")
    name, options = match[1], match[2] or ""
    words = re.sub(r"(=\s*)([A-Za-z]\w*)(?=\s*(?:,|$))", r'\1"\2"', options)
    words = re.sub(r'"(true|false|inf|nan)"', r"\1", words)
    try:
        table = read_document(f"x = {{{words}}}", "", "")["x"]
    except ModelFileError as error:
        raise UsageError(
            f"{argument}: {text!r} has options that cannot be read; write them as "
            "name(option=value, option=value)."
        ) from error
    return name, dict(table)


def _made(argument: str, text: str, known: Mapping[str, Any], kind: Any = None) -> Any:
    """Return an object of a class by its name and options."""
    name, options = _called(argument, text)
    kind = known.get(name) if kind is None else kind
    number = _NUMBERED.fullmatch(name)
    numbers: tuple[int, ...] = ()
    if kind is None and number is not None and number[1].rstrip("_") in known:
        kind, numbers = known[number[1].rstrip("_")], (int(number[2]),)
    if kind is None:
        raise UsageError(f"{argument}: there is none called {name!r}; {suggestion(name, known)}")
    if numbers or not attrs.has(kind):
        return kind(*numbers, **options)
    from mbkit.io.toml.faults import Faults
    from mbkit.io.toml.fields import converter  # which imports cattrs

    faults = Faults()
    made: Any = None
    with faults.at():
        made = converter().structure(options, kind)
    if faults.found:
        raise UsageError(f"{argument}: {text!r}: " + "; ".join(each[1] for each in faults.found))
    return made


def _integrator(name: str) -> Integrator:
    order = re.fullmatch(r"\s*rkmk(\d+)\s*", name)
    if order is not None:
        if not 1 <= int(order[1]) <= len(_BY_ORDER):
            raise UsageError(f"integrators: there is none called {name!r}; orders are 1 to 8.")
        return RungeKuttaMuntheKaas(_BY_ORDER[int(order[1]) - 1])
    from mbkit.plugins import registry

    own, _ = _called("integrators", name)
    if own in tableaus.TABLEAUS:
        number = tableaus.TABLEAUS[own].order
        method = "CrouchGrossman" if "crouch" in own else "RungeKuttaMuntheKaas"
        raise UsageError(
            f"integrators: {own!r} is a tableau, and no integrator; did you mean 'rkmk{number}', "
            f"the Runge-Kutta-Munthe-Kaas method of order {number}? A method with this tableau is "
            f"an object, such as mbkit.{method}(mbkit.tableaus.{own.upper()})."
        )
    known = {**registry().known("integrator"), "rkmk": RungeKuttaMuntheKaas}
    if own not in known and _NUMBERED.fullmatch(own) is None:
        registry().find("integrator", own)  # which loads plugins
        known |= registry().known("integrator")
    made: Integrator = _made("integrators", name, known)
    return made


def integrators_of(given: Any) -> dict[str, Integrator]:
    """Return integrators by label: names such as "rkmk4", "bliedf3", "generalized_alpha"."""
    return labelled("integrators", given, Integrator, _integrator)


def representations_of(given: Any) -> dict[str, Representation]:
    """Return representations by label; "all" are mbkit's and those of plugins."""
    from mbkit.plugins import registry

    def named(name: str) -> Any:
        found = registry().find("representation", name)
        if found is None:
            known = registry().all("representation")
            raise UsageError(
                f"representations: there is none called {name!r}; {suggestion(name, known)}"
            )
        return found

    def every() -> Mapping[str, Any]:
        return registry().all("representation")

    return labelled("representations", given, Representation, named, every)


def coordinates_of(given: Any) -> dict[str, AbsoluteCoordinates | RelativeCoordinates]:
    """Return coordinates by label: "relative", "unit_quaternion/screw_coordinates[/right]", ...

    "absolute" is the first of the eight of `EIGHT`, "eight" all of these, "all" relative ones too.
    """

    def named(name: str) -> AbsoluteCoordinates | RelativeCoordinates:
        if name == "relative":
            return RelativeCoordinates()
        if name == "absolute":
            return AbsoluteCoordinates()
        parts = name.split("/")
        orientation, _, sequence = parts[0].partition(":")
        known: tuple[tuple[str, Mapping[str, Any]], ...] = (
            (orientation, ORIENTATIONS), (parts[1] if len(parts) > 1 else "", LOCAL_COORDINATES)
        )  # fmt: skip
        for part, names in known:
            if part not in names:
                raise UsageError(
                    f"coordinates: {name!r} is neither 'relative' nor ORIENTATION/LOCAL: there is "
                    f"no {part!r}; {suggestion(part, names)}"
                )
        made = ORIENTATIONS[orientation](*([sequence] if sequence else []))
        trivialised = parts[2] if len(parts) > 2 else "left"
        return AbsoluteCoordinates(made, LOCAL_COORDINATES[parts[1]](), trivialised)

    if isinstance(given, str) and given in ("eight", "all"):
        given = [*(["relative"] if given == "all" else []), *EIGHT]
    return labelled("coordinates", given, (AbsoluteCoordinates, RelativeCoordinates), named)


def solvers_of(given: Any) -> dict[str, ConstraintSolver | None]:
    """Return constraint solvers by label; "automatic" is the one that assembly chooses."""
    known = {
        file_name(kind, ConstraintSolver): kind
        for kind in vars(built_in).values()
        if isinstance(kind, type)
    }

    def named(name: str) -> Any:
        return None if name == "automatic" else _made("constraint_solvers", name, known)

    def every() -> dict[str, Any]:
        return {name: kind() for name, kind in known.items()}

    return labelled("constraint_solvers", given, ConstraintSolver, named, every)


def stabilisations_of(given: Any) -> dict[str, Projection | Baumgarte | None]:
    """Return stabilisations by label: "projection", "none", "baumgarte(frequency=...)"."""
    known = {"projection": Projection, "baumgarte": Baumgarte}

    def named(name: str) -> Any:
        return None if name == "none" else _made("stabilisations", name, known)

    return labelled("stabilisations", given, (Projection, Baumgarte, type(None)), named)

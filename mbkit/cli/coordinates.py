"""Coordinates on the command line, by names."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import mbkit as mb
from mbkit.errors import ModelError, UsageError, suggestion
from mbkit.joints import LOCAL_COORDINATES, ORIENTATIONS, EulerAngles

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbkit.coordinates import AbsoluteCoordinates, RelativeCoordinates
    from mbkit.representations import Representation

coordinate_option = click.option(
    "--coordinates",
    type=click.Choice(["relative", "absolute"]),
    default="relative",
    show_default=True,
    help="relative: joint coordinates on a tree; absolute: every body by itself, every joint a "
    "constraint.",
)

_OPTIONS = (
    click.option(
        "--representation",
        help="Of twists, in which the recursions run: body_fixed (default), spatial, hybrid, "
        "mixed.",
    ),
    coordinate_option,
    click.option(
        "--orientation",
        help="Of absolute coordinates: unit_quaternion (default), rotation_vector, euler_angles; "
        "the sequence of these after a colon, as in euler_angles:zxz, zyx if left out.",
    ),
    click.option(
        "--local",
        help="Of absolute coordinates, what steps are: screw_coordinates (default), "
        "rotation_vector_position, rodrigues_position, extended_rodrigues, "
        "wiener_milenkovic_position, extended_wiener_milenkovic, dual_rodrigues.",
    ),
    click.option(
        "--trivialised",
        type=click.Choice(["left", "right"]),
        help="Of absolute coordinates: velocities in the axes of the bodies (left, default), or of "
        "the world.",
    ),
)


class CoordinateChoice(NamedTuple):
    """Options of `coordinate_options`, by their names; None for options not given."""

    coordinates: str
    representation: str | None
    orientation: str | None
    local: str | None
    trivialised: str | None


def coordinate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--coordinates`` and its options to a command, which gets a `CoordinateChoice`."""

    @functools.wraps(command)
    def with_choice(**options: Any) -> Any:
        choice = CoordinateChoice(**{key: options.pop(key) for key in CoordinateChoice._fields})
        return command(coordinates=choice, **options)

    wrapped: Callable[..., Any] = with_choice
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def chosen_coordinates(
    choice: CoordinateChoice,
) -> tuple[AbsoluteCoordinates | RelativeCoordinates, str]:
    """Return the coordinates that options name, and the package of the recursions of runs.

    UsageError if there is no such name, or options do not go together: the representation is one of
    relative coordinates, the three others are of absolute ones.
    """
    representation = None
    if choice.representation is not None:
        representation = _representation(choice.representation)
    options = {key: getattr(choice, key) for key in ("orientation", "local", "trivialised")}
    given = {key: value for key, value in options.items() if value is not None}
    if choice.coordinates == "relative":
        if given:
            raise UsageError(
                f"--{next(iter(given))} is for absolute coordinates; add --coordinates absolute."
            )
        if representation is None:
            return mb.RelativeCoordinates(), "body_fixed"
        return mb.RelativeCoordinates(representation), representation.kernel_package
    if representation is not None:
        raise UsageError(
            "--representation is for relative coordinates: in absolute ones twists are what the "
            "velocities are, by --local and --trivialised; leave it out."
        )
    made: dict[str, Any] = dict(given)
    sequence = None
    if choice.orientation is not None:
        given["orientation"], colon, letters = choice.orientation.partition(":")
        sequence = letters if colon else None
    for key, known in (("orientation", ORIENTATIONS), ("local", LOCAL_COORDINATES)):
        if key in given:
            if given[key] not in known:
                raise UsageError(
                    f"--{key}: there is none called '{given[key]}'; {suggestion(given[key], known)}"
                )
            made[key] = known[given[key]]()
    if sequence is not None:
        made["orientation"] = _with_sequence(given["orientation"], sequence)
    return mb.AbsoluteCoordinates(**made), "body_fixed"


def _with_sequence(name: str, sequence: str) -> EulerAngles:
    """Return the angles of a sequence; UsageError where there is none, or the name is another."""
    if name != EulerAngles.name:
        raise UsageError(
            f"--orientation: only {EulerAngles.name} have a sequence; take {name}, or "
            f"{EulerAngles.name}:{sequence}."
        )
    try:
        return EulerAngles(sequence)
    except ModelError as error:
        raise UsageError(f"--orientation: {error}") from error


def _representation(name: str) -> Representation:
    from mbkit.plugins import registry

    found: Representation | None = registry().find("representation", name)
    if found is None:
        known = registry().all("representation")
        raise UsageError(
            f"--representation: there is none called '{name}'; {suggestion(name, known)}"
        )
    return found

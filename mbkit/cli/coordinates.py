"""Coordinates on the command line, by names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

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


def coordinate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--coordinates`` and what goes with absolute ones to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def chosen_coordinates(
    name: str,
    orientation: str | None,
    local: str | None,
    trivialised: str | None,
    representation: Representation | None,
) -> AbsoluteCoordinates | RelativeCoordinates:
    """Return the coordinates that options name, "relative" or "absolute".

    UsageError if there is no such name, or options do not go together: the representation is one of
    relative coordinates, the three others are of absolute ones.
    """
    import mbkit as mb

    options = {"orientation": orientation, "local": local, "trivialised": trivialised}
    given = {key: value for key, value in options.items() if value is not None}
    if name == "relative":
        if given:
            raise UsageError(
                f"--{next(iter(given))} is for absolute coordinates; add --coordinates absolute."
            )
        if representation is None:
            return mb.RelativeCoordinates()
        return mb.RelativeCoordinates(representation)
    if representation is not None:
        raise UsageError(
            "--representation is for relative coordinates: in absolute ones twists are what the "
            "velocities are, by --local and --trivialised; leave it out."
        )
    made: dict[str, Any] = dict(given)
    sequence = None
    if orientation is not None:
        given["orientation"], colon, letters = orientation.partition(":")
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
    return mb.AbsoluteCoordinates(**made)


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

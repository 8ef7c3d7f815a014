"""Motion of all bodies of a system: twists, accelerations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from mbkit.errors import UsageError, check_switch
from mbkit.lie.arrays import as_floats
from mbkit.representations import Representation
from mbkit.representations.conversions import check_representation
from mbkit.spatial import Acceleration, Twist
from mbkit.spatial.typed import typed_accelerations, typed_twists
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.evaluations import ACCELERATIONS, TWISTS

if TYPE_CHECKING:
    from mbkit.systems.system import System


def twists(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    *,
    representation: Representation | None = None,
    typed: bool = False,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats | tuple[Twist, ...]:
    """See `System.twists`."""
    chosen = checked_choice(system, representation)
    check_switch("typed", typed)
    if typed:
        _check_single(q, v)
    V = system.evaluator.compute(TWISTS, q, v, representation=chosen, out=out, on_error=on_error)
    return _typed_twists(system, q, V, chosen) if typed else V


def accelerations(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    *,
    representation: Representation | None = None,
    typed: bool = False,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats | tuple[Acceleration, ...]:
    """See `System.accelerations`."""
    chosen = checked_choice(system, representation)
    check_switch("typed", typed)
    if typed:
        _check_single(q, v, vdot)
    A = system.evaluator.compute(
        ACCELERATIONS, q, v, vdot, representation=chosen, out=out, on_error=on_error
    )
    if not typed:
        return A
    V = system.twists(q, v, representation=chosen, typed=True, on_error=on_error)
    return typed_accelerations(A, V)


def checked_choice(system: System, representation: Representation | None) -> Representation | None:
    """Return a representation that a user chose; UsageError if it is none."""
    if representation is not None:
        check_representation(representation, f"System '{system.name}': representation")
    return representation


def _typed_twists(
    system: System, q: ArrayLike, V: Floats, representation: Representation | None
) -> tuple[Twist, ...]:
    chosen = representation or system.representation
    return typed_twists(V, chosen, system.body_names, system.poses(q))


def _check_single(*arguments: ArrayLike) -> None:
    given = [as_floats(argument, "typed=True") for argument in arguments]
    if any(array.ndim > 1 for array in given):
        shapes = ", ".join(str(array.shape) for array in given)
        raise UsageError(
            f"typed=True is for one sample, and the arguments have shapes {shapes}; take the "
            f"arrays, or one sample at a time."
        )

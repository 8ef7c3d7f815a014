"""Bodies that a joint is to connect, given as bodies or by their names."""

from __future__ import annotations

from collections.abc import Mapping

from mbkit.errors import UsageError
from mbkit.parts.body import Body

__all__ = ["end_name"]


def end_name(end: Body | str, world: Body, bodies: Mapping[str, Body], mechanism: str) -> str:
    """Return the name of a body, which must be the mechanism's own if there is one of that name.

    A name is not looked up here. UsageError if `end` is neither a body nor a name, or another body
    of the same name.
    """
    if isinstance(end, str):
        return end
    if not isinstance(end, Body):
        raise UsageError(f"A joint connects bodies or names of bodies, got {end!r}.")
    own = world if end.name == world.name else bodies.get(end.name, end)
    if own != end:
        raise UsageError(
            f"Body {end.name!r} is not the one that was added to mechanism {mechanism!r}; "
            "use the body that add_body returned, or its name."
        )
    return end.name

"""Split bodies: second parts of bodies, on joints of their own and welded to the first part."""

from __future__ import annotations

from typing import final

import attrs

__all__ = ["SplitBody"]


@final
@attrs.frozen
class SplitBody:
    """The second part of a split body.

    Attributes
    ----------
    whole : str
        The body that it is welded to, with the same frame.
    origin : str
        The body that gave its inertia: the same, or one that is fixed to it.
    """

    whole: str
    origin: str

"""Bodies that are there twice: a part of a body that hangs on a joint, welded to the body."""

from __future__ import annotations

from typing import final

import attrs

__all__ = ["SplitBody"]


@final
@attrs.frozen
class SplitBody:
    """What a part of a body stands for.

    Attributes
    ----------
    whole : str
        The body that it is welded to, in whose frame it is.
    origin : str
        The body that its inertia was taken from: the same, or one that is fixed to it.
    """

    whole: str
    origin: str

"""Named frames on a body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError
from mbkit.given_values import check_name
from mbkit.spatial.arrays import FloatArray, frozen_array
from mbkit.spatial.frames import check_pose


@final
class Frames(Mapping[str, FloatArray]):
    """Poses (4, 4) of frames in the frame of their body, by name: the type of `Body.frames`.

    Parameters
    ----------
    poses : mapping of str to array_like (4, 4)
        The frames.

    Raises
    ------
    UsageError, ModelError
        If it is no mapping, or a name does not fit.
    ShapeError, GeometryError
        If a pose is none.

    Examples
    --------
    >>> import mbkit as mb
    >>> hand = mb.Body("hand", frames={"tip": mb.spatial.translation((0.0, 0.0, 0.1))})
    >>> hand.frames
    <Frames: tip>
    >>> hand.frames["tip"][:3, 3]
    array([0. , 0. , 0.1])
    """

    def __init__(self, poses: Mapping[str, ArrayLike]) -> None:
        if not isinstance(poses, Mapping):
            raise UsageError(
                f"Body: frames must be poses by name, such as {{'tip': pose}}, got {poses!r}."
            )
        self._poses: dict[str, FloatArray] = {}
        for name, value in poses.items():
            check_name("Frame", name)
            pose = frozen_array(value)
            check_pose(pose, f"Body: frame {name!r}")
            self._poses[name] = pose

    def __getitem__(self, name: str) -> FloatArray:
        return self._poses[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._poses)

    def __len__(self) -> int:
        return len(self._poses)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same frames; their order has no meaning."""
        if not isinstance(other, Frames):
            return NotImplemented
        return {*self} == {*other} and all(np.array_equal(self[n], other[n]) for n in self)

    __hash__ = None  # type: ignore[assignment]  # of arrays

    def __repr__(self) -> str:
        return f"<Frames: {', '.join(self) or 'none'}>"

"""`Film`: a scene over time, as it is to be seen: frames, traces of points, arrows."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np
import numpy.typing as npt

from mbkit.spatial.arrays import FloatArray, frozen_array
from mbkit.viz.image_size import SIZE
from mbkit.viz.scene.scene import Color, Scene

__all__ = ["Arrow", "Film", "Trace"]


@final
@attrs.frozen(eq=False)
class Trace:
    """The way of a point.

    Attributes
    ----------
    name : str
        Of the body or frame.
    points : ndarray, shape (n, 3)
        Where it has been, in the world, more often than there are frames. [m]
    color : tuple of float
        Red, green, blue, opacity.
    counts : ndarray of int, shape (k,), optional
        How many of the points it has reached at each frame; by default one more a frame.
    """

    name: str
    points: FloatArray = attrs.field(converter=frozen_array)
    color: Color = (0.85, 0.1, 0.35, 1.0)
    counts: npt.NDArray[np.int64] | None = None

    def until(self, frame: int) -> FloatArray:
        """Return the points (m, 3) that it has reached at a frame.

        Examples
        --------
        >>> way = Trace("hand", np.zeros((6, 3)), counts=np.array([1, 3, 6]))
        >>> [len(way.until(frame)) for frame in range(3)]
        [1, 3, 6]
        """
        return self.points[: frame + 1 if self.counts is None else self.counts[frame]]


@final
@attrs.frozen(eq=False)
class Arrow:
    """A vector that is seen as an arrow.

    Attributes
    ----------
    name : str
        The name of the quantity.
    origins, vectors : ndarray, shape (k, 3)
        Its beginning, and the way to its end, in the world. [m]
    color : tuple of float
        Red, green, blue, opacity.
    double : bool
        Whether it has two heads, as moments have.
    """

    name: str
    origins: FloatArray = attrs.field(converter=frozen_array)
    vectors: FloatArray = attrs.field(converter=frozen_array)
    color: Color = (0.85, 0.1, 0.1, 1.0)
    double: bool = False


@final
@attrs.frozen(eq=False)
class Film:
    """A scene at the instants that are frames; one of a single frame is a picture.

    Attributes
    ----------
    scene : Scene
        The scene that is shown.
    t : ndarray, shape (k,)
        Times of the frames, in the motion. [s]
    q : ndarray, shape (k, nq)
        Configurations.
    speed : float
        Seconds of the motion in a second of the film.
    title : str
        For the head of a page.
    traces : tuple of Trace
    arrows : tuple of Arrow
    layers : mapping of str to bool
        Layers shown other than the scene's `layers`, of `mbkit.viz.scene.LAYERS`.
    size : (int, int)
        Width and height of images. [pixels]
    """

    scene: Scene
    t: FloatArray = attrs.field(converter=frozen_array)
    q: FloatArray = attrs.field(converter=frozen_array)
    speed: float = 1.0
    title: str = ""
    traces: tuple[Trace, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    layers: dict[str, bool] = attrs.field(factory=dict)
    size: tuple[int, int] = SIZE

    @property
    def shown(self) -> dict[str, bool]:
        """Whether each layer is shown."""
        return self.scene.layers | self.layers

    @property
    def duration(self) -> float:
        """How long the film is at its speed. [s]."""
        return float(self.t[-1] - self.t[0]) / self.speed


def frames_of(t: FloatArray, rate: float, speed: float) -> npt.NDArray[np.int64]:
    """Return which saved instants t (k,) are the frames of a film, as rows in their order.

    At most `rate` frames in each second of the film, at even times as far as there are instants;
    the first and the last are always there.

    Examples
    --------
    >>> frames_of(np.linspace(0.0, 1.0, 101), 10.0, 1.0)
    array([  0,  10,  20,  30,  40,  50,  60,  70,  80,  90, 100])
    """
    if len(t) < 2:
        return np.arange(len(t), dtype=np.int64)
    count = max(2, round((t[-1] - t[0]) / speed * rate) + 1)
    wanted = np.linspace(t[0], t[-1], min(count, len(t) * 4))
    after = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
    rows = np.where(wanted - t[after - 1] < t[after] - wanted, after - 1, after)
    return np.unique(rows).astype(np.int64)

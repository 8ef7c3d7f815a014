"""Names in images: letters with a halo beside the objects, none over another or over a body."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.spatial.arrays import FloatArray

__all__ = ["draw_labels"]

#: Height of letters, in parts of that of the image, and at least so many pixels.
_LETTERS, _LEAST = 0.03, 11

#: How far a pixel is from white to be part of something, and which part of a label's box may be.
_WHITE, _COVERED = 30, 0.02

#: Where a label may stand, from its point, in heights of letters: the first place that is free.
_PLACES = tuple(
    (1.1 * reach * np.cos(angle), -1.1 * reach * np.sin(angle))
    for reach in (1.0, 1.8, 2.8)
    for angle in np.deg2rad([45.0, -45.0, 135.0, -135.0, 0.0, 180.0, 90.0, -90.0])
)

Box = tuple[float, float, float, float]


def draw_labels(image: Any, texts: list[str], points: FloatArray, taken: dict[int, int]) -> None:
    """Write texts beside points (n, 2) into an image of Pillow, as far as there is room.

    Where little else is in the image. `taken` remembers the place of each from image to image, so
    that labels of a film stand still while they can.
    """
    from PIL import ImageDraw, ImageFont

    size = max(_LEAST, round(_LETTERS * image.height))
    font, pen = ImageFont.load_default(size), ImageDraw.Draw(image)
    boxes: list[Box] = []
    covered = _covered(image)
    for number, (text, point) in enumerate(zip(texts, points, strict=True)):
        if not np.isfinite(point).all():
            continue
        width = font.getlength(text)
        places = {k: _box(point, each, width, size) for k, each in enumerate(_PLACES)}
        order = sorted(places, key=lambda k: k != taken.get(number))
        free = [
            k for k in order if _is_inside(places[k], image)
            and not any(_overlap(places[k], other) for other in boxes)
        ]  # fmt: skip
        if not free:
            continue
        # in quarters, or labels over a large body would jump from image to image
        shares = [np.ceil(4.0 * (_share(covered, places[k]) - _COVERED)) for k in free]
        place = taken[number] = free[int(np.argmin(shares))]
        boxes.append(places[place])
        pen.text(
            places[place][:2], text, fill=(25, 25, 30), font=font, stroke_width=max(1, size // 7),
            stroke_fill=(255, 255, 255),
        )  # fmt: skip


def _covered(image: Any) -> Any:
    """Return how many pixels above and left of each corner of pixels are not white."""
    colors = np.asarray(image.convert("RGB"))
    found = np.zeros((image.height + 1, image.width + 1))
    found[1:, 1:] = (colors.min(axis=2) < 255 - _WHITE).cumsum(axis=0).cumsum(axis=1)
    return found


def _share(covered: Any, box: Box) -> float:
    """Return which part of a box in the image is covered."""
    left, top, right, bottom = (round(each) for each in box)
    count = covered[bottom, right] - covered[top, right] - covered[bottom, left]
    return float(count + covered[top, left]) / max((bottom - top) * (right - left), 1)


def _is_inside(box: Box, image: Any) -> bool:
    return min(box[:2]) >= 0 and box[2] <= image.width and box[3] <= image.height


def _box(point: FloatArray, place: tuple[float, float], width: float, size: float) -> Box:
    """Return left, top, right and bottom of a text at one of the places beside a point."""
    x, y = point[0] + size * place[0], point[1] + size * place[1]
    left = x if place[0] > 0.1 else x - width if place[0] < -0.1 else x - 0.5 * width
    return left, y - 0.6 * size, left + width, y + 0.7 * size


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]

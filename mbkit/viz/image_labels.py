"""Names in images: letters with a halo beside the points that they name, none over another."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.spatial.arrays import FloatArray

__all__ = ["draw_labels"]

#: Height of letters, in parts of that of the image, and at least so many pixels.
_LETTERS, _LEAST = 0.03, 11

#: Where a label may stand, from its point, in heights of letters: the first place that is free.
_PLACES = tuple(
    (1.1 * reach * np.cos(angle), -1.1 * reach * np.sin(angle))
    for reach in (1.0, 1.8, 2.8)
    for angle in np.deg2rad([45.0, -45.0, 135.0, -135.0, 0.0, 180.0, 90.0, -90.0])
)

Box = tuple[float, float, float, float]


def draw_labels(image: Any, texts: list[str], points: FloatArray, taken: dict[int, int]) -> None:
    """Write texts beside points (n, 2) into an image of Pillow, as far as there is room.

    `taken` remembers the place of each from image to image, so that labels of a film stand still
    while they can.
    """
    from PIL import ImageDraw, ImageFont

    size = max(_LEAST, round(_LETTERS * image.height))
    font, pen = ImageFont.load_default(size), ImageDraw.Draw(image)
    boxes: list[Box] = []
    for number, (text, point) in enumerate(zip(texts, points, strict=True)):
        if not np.isfinite(point).all():
            continue
        width = font.getlength(text)
        order = list(range(len(_PLACES)))
        if number in taken:
            order.insert(0, taken[number])
        for place in order:
            box = _box(point, _PLACES[place], width, size)
            inside = (
                box[0] >= 0 and box[1] >= 0 and box[2] <= image.width and box[3] <= image.height
            )
            if inside and not any(_overlap(box, other) for other in boxes):
                taken[number] = place
                boxes.append(box)
                pen.text(
                    box[:2], text, fill=(25, 25, 30), font=font, stroke_width=max(1, size // 7),
                    stroke_fill=(255, 255, 255),
                )  # fmt: skip
                break


def _box(point: FloatArray, place: tuple[float, float], width: float, size: float) -> Box:
    """Return left, top, right and bottom of a text at one of the places beside a point."""
    x, y = point[0] + size * place[0], point[1] + size * place[1]
    left = x if place[0] > 0.1 else x - width if place[0] < -0.1 else x - 0.5 * width
    return left, y - 0.6 * size, left + width, y + 0.7 * size


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]

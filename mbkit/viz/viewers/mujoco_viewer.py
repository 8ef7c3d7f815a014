"""Pictures and films drawn without a window, by MuJoCo's renderer: PNG, GIF and MP4."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, final

import numpy as np

from mbkit.simulation.progress import ProgressDisplay
from mbkit.viz.film import Film
from mbkit.viz.image_files import WRITERS, check_installed
from mbkit.viz.image_labels import draw_labels
from mbkit.viz.viewers.mujoco_stage import Stage
from mbkit.viz.viewers.viewer import Viewer

__all__ = ["MujocoViewer", "images"]


@final
class MujocoViewer(Viewer):
    """Writes pictures and films, where nothing is displayed as well; see docs/pictures.md."""

    suffixes: ClassVar[tuple[str, ...]] = tuple(WRITERS)

    def write(self, film: Film, path: pathlib.Path) -> None:
        """Write a film, or a picture if it has one frame.

        UsageError if MuJoCo, Pillow or ffmpeg is not installed and needed.
        """
        check_installed(path)
        WRITERS[path.suffix.lower()](film, path, lambda rows: images(film, rows))


def images(film: Film, rows: Iterable[int]) -> Iterator[Any]:
    """Go through images of Pillow of some frames of a film."""
    from PIL import Image

    scene, size = film.scene, film.size
    camera = scene.camera(film.q, aspect=size[0] / size[1])
    layers = film.shown
    labels = tuple(label for label in scene.labels if layers[label.layer])
    taken: dict[int, int] = {}
    rows = list(rows)
    shown = ProgressDisplay(0.0, float(len(rows)), counted="images", title="animate")
    with Stage(film, camera) as stage, shown:
        for count, row in enumerate(rows):
            drawn = Image.fromarray(
                np.ascontiguousarray(stage.image(scene.poses(film.q[row]), row))
            )
            image = drawn.resize(size, Image.Resampling.LANCZOS)
            if labels:
                points = camera.project(scene.points(labels, film.q[row]), size)
                draw_labels(image, [label.text for label in labels], points, taken)
            yield image
            shown.update(float(count + 1))

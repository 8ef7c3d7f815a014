"""Images as files: PNG, GIF by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mbkit.errors import UsageError
from mbkit.extras import extra_package
from mbkit.viz.film import Film, frames_of

__all__ = ["WRITERS", "check_installed"]

#: Frames a second of a GIF, at most: browsers show faster ones slowly, and files grow.
_GIF_RATE = 20.0

#: Frames a second of MP4: those of a film are repeated where it has fewer.
_MP4_RATE = 30

#: Function that makes images of the frames of a film, by their rows.
Images = Callable[[Iterable[int]], Iterator[Any]]


def check_installed(path: pathlib.Path) -> None:
    """Raise UsageError unless the writer of files of this suffix is installed."""
    extra_package("PIL", "Pictures need Pillow", "pictures")
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise UsageError(
            f"Film '{path}' needs the program ffmpeg, which is not found; install it (on Debian "
            "and Ubuntu: apt install ffmpeg), or write a .gif or an .html file."
        )


def _write_png(film: Film, path: pathlib.Path, images: Images) -> None:
    """Write a picture, and of several frames a PNG that browsers play."""
    if len(film.t) == 1:
        next(images([0])).save(path)
        return
    rows = _thinned(film)
    first, *others = images(rows)
    times = _milliseconds(film, rows)
    first.save(path, save_all=True, append_images=others, duration=times, loop=0)


def _write_gif(film: Film, path: pathlib.Path, images: Images) -> None:
    from PIL import Image

    rows = _thinned(film)
    drawn = list(images(rows))
    # one table of colours for all: of the first, middle and last frame beside each other
    few = [drawn[k] for k in {0, len(drawn) // 2, len(drawn) - 1}]
    sample = Image.new("RGB", (few[0].width, few[0].height * len(few)))
    for k, image in enumerate(few):
        sample.paste(image, (0, k * image.height))
    table = sample.quantize(128, method=Image.Quantize.MEDIANCUT)
    # the background is white, not nearly
    colors = np.array(table.getpalette()).reshape(-1, 3)
    colors[colors.min(axis=1) >= 240] = 255
    table.putpalette(colors.ravel().tolist())
    first, *others = [image.quantize(palette=table, dither=Image.Dither.NONE) for image in drawn]
    first.save(
        path, save_all=True, append_images=others, duration=_milliseconds(film, rows), loop=0,
        optimize=True,
    )  # fmt: skip


def _thinned(film: Film) -> list[int]:
    return [int(row) for row in frames_of(film.t, _GIF_RATE, film.speed)]


def _milliseconds(film: Film, rows: list[int]) -> list[int]:
    """Return how long frames are seen, in whole hundredths of a second that do not add up wrong.

    The last one stays for a second.
    """
    at = np.round((film.t[rows] - film.t[0]) / film.speed * 100.0)
    return [*(10 * np.maximum(np.diff(at), 2.0)).astype(int).tolist(), 1000]


def _write_mp4(film: Film, path: pathlib.Path, images: Images) -> None:
    """Write a film by ffmpeg, which is given images one after the other."""
    wanted = film.t[0] + np.arange(0.0, film.duration + 1e-9, 1.0 / _MP4_RATE) * film.speed
    rows = np.clip(np.searchsorted(film.t, wanted + 1e-12, side="right") - 1, 0, None)
    frames = images(dict.fromkeys(rows.tolist()))
    command: list[str] = []
    with tempfile.TemporaryFile() as said:
        process: Any = None
        image: Any = None
        shown = -1
        for row in rows:
            if row != shown:
                image, shown = next(frames), row
            if process is None:
                command = _ffmpeg(path, image.size)
                process = subprocess.Popen(  # noqa: S603  # the program that the user has installed
                    command, stdin=subprocess.PIPE, stdout=said, stderr=said
                )
            try:
                process.stdin.write(image.tobytes())
            except BrokenPipeError:
                break
        process.stdin.close()
        if process.wait():
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            reason = lines[-1] if lines else "no reason given"
            raise UsageError(
                f"Film '{path}' could not be written by ffmpeg ({reason}); write a "
                ".gif or an .html file."
            )


def _ffmpeg(path: pathlib.Path, size: tuple[int, int]) -> list[str]:
    """Return the command; sides of films are even numbers of pixels."""
    return [
        shutil.which("ffmpeg") or "ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo",
        "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(_MP4_RATE), "-i", "-",
        "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-movflags", "+faststart",
        str(path),
    ]  # fmt: skip


#: The writers of films, by the suffix of the file.
WRITERS: dict[str, Callable[[Film, pathlib.Path, Images], None]] = {
    ".png": _write_png,
    ".gif": _write_gif,
    ".mp4": _write_mp4,
}

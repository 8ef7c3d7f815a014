"""Settings of the gallery for sphinx-gallery, which runs scripts; films that they write."""

from __future__ import annotations

import math
import pathlib
import shutil
from typing import Any

from sphinx_gallery.scrapers import figure_rst

from mbkit.simulation import progress

#: Folder of the scripts, and of their pages from the root of the project.
SCRIPTS, PAGES = "examples/gallery", "build/gallery"


def films(block: tuple[Any, ...], variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Take the films that a block of a script has written, and return what shows them."""
    names = variables["image_path_iterator"]
    shown = []
    for film in sorted(pathlib.Path(variables["src_file"]).parent.glob("*.gif")):
        shown.append(str(pathlib.Path(next(names)).with_suffix(".gif")))
        shutil.move(film, shown[-1])
    return figure_rst(shown, settings["src_dir"])


def show_no_progress(settings: dict[str, Any], script: str) -> None:
    """Let a script show no progress, which would be part of its page on a busy machine."""
    progress.PATIENCE = math.inf


#: For `sphinx_gallery_conf`.
SETTINGS = {
    "examples_dirs": [SCRIPTS],
    "gallery_dirs": [PAGES],
    "filename_pattern": r"\.py$",
    "image_scrapers": ["tools.pages.gallery.films"],
    "reset_modules": ["tools.pages.gallery.show_no_progress"],
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "remove_config_comments": True,
    "copyfile_regex": r"",
}

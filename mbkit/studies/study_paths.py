"""Places of a study's model and result."""

from __future__ import annotations

import os
import pathlib

from mbkit.errors import UsageError, suggestion
from mbkit.io.robots import is_robot, model_file

__all__ = ["RESULTS", "model_path", "output_path"]

#: The folder of a project to which its studies write.
RESULTS = "results"


def output_path(root: pathlib.Path, study: pathlib.Path, text: str) -> tuple[pathlib.Path, bool]:
    """Return where a study of a project writes, and whether that is a run directory.

    The key ``output`` is a file ending in ``.nc``, or a directory ending in ``/``, below the folder
    ``results`` of the project; else the name of the study file stands for it. UsageError if it is
    not below that folder, by its name or by a link: a study that came from elsewhere writes nowhere
    else.
    """
    text = text or f"{study.stem}.nc"
    is_directory = text.endswith("/")
    relative = pathlib.PurePosixPath(text)
    remedy = "give another place on the command line by -o, or in Python by run(output=...)"
    if not text.isprintable() or relative.is_absolute() or ".." in relative.parts:
        raise UsageError(
            f"must be a place below the folder '{RESULTS}' of the project, got {text!r}; {remedy}."
        )
    if relative.suffix != ".nc" and not is_directory:
        raise UsageError(
            "must be a file that ends in .nc, or a directory, for a run that can be resumed, that "
            f"ends in /; got {text!r}."
        )
    target = root / RESULTS / relative
    if not target.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"leads out of the project by a link, to '{target.resolve()}'; {remedy}.")
    inside = target.iterdir() if os.path.isdir(target) else ()
    if link := next(filter(pathlib.Path.is_symlink, inside), None):
        raise UsageError(f"has a link in it, '{link}', by which files elsewhere could be written.")
    return target, is_directory


def model_path(study: pathlib.Path, text: str) -> pathlib.Path:
    """Return the model file of a study, as seen from its folder, or that of a robot."""
    if is_robot(text):
        return model_file(text, "model")
    path = study.parent / text
    if not os.path.isfile(path):  # also where the name is too long, or has null characters
        if os.path.exists(path):
            kind = "a folder" if os.path.isdir(path) else "a device or a pipe"
            raise UsageError(
                f"must be a file, seen from the folder of the study; {text!r} is {kind}."
            )
        beside = path.parent.glob("*") if os.path.isdir(path.parent) else ()
        known = [str(pathlib.Path(text).parent / each.name) for each in sorted(beside)]
        raise UsageError(
            f"must be a file, seen from the folder of the study, got {text!r}; "
            f"{suggestion(text, known)}"
        )
    short = os.path.normpath(path)  # without `..`, unless a link makes that another file
    is_same = os.path.exists(short) and os.path.samefile(short, path)
    return pathlib.Path(short) if is_same else path

"""New projects: a folder that a team can keep, made from the files in ``template``."""

from __future__ import annotations

import importlib.resources
import importlib.util
import keyword
import os
import pathlib
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.resources.abc import Traversable

from mbkit.errors import UsageError, printable
from mbkit.io.text_file import checked_path

__all__ = ["new_project"]

_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
_LONGEST = 50

#: Names that a project's own folders have.
_OWN = ("models", "notebooks", "results", "scripts", "src", "studies", "test", "tests")

#: In names and texts of the template; `MODULE` stands for the name as Python can import it.
_PROJECT, _MODULE = "@PROJECT@", "@MODULE@"

#: The end of names of files in the template, so that nobody takes them for files of mbkit.
_SUFFIX = ".template"


def new_project(path: str | os.PathLike[str]) -> pathlib.Path:
    """Make the folder of a new project, with a model, studies and a plugin that run.

    Parameters
    ----------
    path : str or path
        The folder to be made, or an empty one, which is filled and keeps its permissions; its last
        part is the name of the project.

    Returns
    -------
    path
        The folder.

    Raises
    ------
    UsageError
        If the name cannot be one of a Python package, or is taken; if there is something in the
        folder; or if the folder around it is not there. Nothing is written then.
    OSError
        If it cannot be written; nothing is left of it.
    """
    target = checked_path(path, "new_project").absolute()
    _check_name(target.name)
    _check_place(target)
    names = {_PROJECT: target.name, _MODULE: _module(target.name)}
    # Whole or not at all: it is made beside its place, and renamed. A folder that is there, which
    # may be where somebody works, is not replaced: the draft is made in it, and its files moved up.
    is_there = os.path.isdir(target)
    place = target if is_there else target.parent
    draft = pathlib.Path(tempfile.mkdtemp(dir=place, prefix=f".{target.name}."))
    try:
        template = importlib.resources.files("mbkit.studies") / "template"
        for parts, text in _files(template):
            file = draft.joinpath(*(_replaced(part, names) for part in parts))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_replaced(text, names), encoding="utf-8", newline="\n")
        if is_there:
            _move_up(draft)
        else:
            mask = os.umask(0)
            os.umask(mask)
            draft.chmod(0o777 & ~mask)
            draft.replace(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return target


def _move_up(draft: pathlib.Path) -> None:
    """Move the content of a folder to the one around it; if that fails, delete those moved."""
    moved: list[pathlib.Path] = []
    try:
        for entry in sorted(draft.iterdir()):
            place = draft.parent / entry.name
            _check_free(place)
            entry.rename(place)
            moved.append(place)
        draft.rmdir()
    except BaseException:
        for place in moved:
            if os.path.isdir(place):
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink(missing_ok=True)
        raise


def _check_free(place: pathlib.Path) -> None:
    if os.path.lexists(place):
        raise UsageError(
            f"'{printable(place)}' was made by another program in the meantime; choose another "
            "folder."
        )


def _module(name: str) -> str:
    return name.replace("-", "_")


def _check_name(name: str) -> None:
    """Raise UsageError unless a project can be called by this name."""
    what = f"A project cannot be called '{printable(name)}'"
    if len(name) > _LONGEST:
        raise UsageError(f"{what:.200}: it must have at most {_LONGEST} letters.")
    if not _NAME.fullmatch(name):
        words = re.findall("[a-z0-9]+", name.lower())
        better = "-".join(words).lstrip("0123456789-")
        hint = f"; '{better}' would do" if better else ""
        raise UsageError(
            f"{what}: it names a Python package, so it must be small letters, digits, '-' and '_', "
            f"and begin with a letter{hint}."
        )
    module = _module(name)
    if keyword.iskeyword(module) or keyword.issoftkeyword(module):
        raise UsageError(f"{what}: it is a word of the language Python; choose another.")
    if module in _OWN:
        raise UsageError(f"{what}: a folder of the project has this name; choose another.")
    if module in sys.stdlib_module_names or _is_installed(module):
        raise UsageError(
            f"{what}: there is a Python module '{module}' already, which its plugin would hide; "
            "choose another."
        )


def _is_installed(module: str) -> bool:
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return module in sys.modules
    return found is not None and found.origin is not None  # else: some folder of that name


def _check_place(target: pathlib.Path) -> None:
    """Raise UsageError unless a folder can be made there, or an empty one taken."""
    shown = printable(target)
    if not os.path.isdir(target.parent):
        raise UsageError(f"'{shown}': the folder '{printable(target.parent)}' does not exist.")
    if target.is_symlink() or (os.path.exists(target) and not os.path.isdir(target)):
        raise UsageError(f"'{shown}' exists already, and is no folder; choose another name.")
    if os.path.isdir(target) and any(target.iterdir()):
        raise UsageError(f"'{shown}' has something in it already; choose another name.")


def _files(folder: Traversable, *parts: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Return the files of a template, each with the parts of its name."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, *parts, entry.name)
        elif entry.name.endswith(_SUFFIX):
            name = entry.name.removesuffix(_SUFFIX)
            yield (*parts, name), entry.read_text(encoding="utf-8")


def _replaced(text: str, names: dict[str, str]) -> str:
    for mark, name in names.items():
        text = text.replace(mark, name)
    return text

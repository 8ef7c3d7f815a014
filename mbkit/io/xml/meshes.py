"""Meshes that a file names: looked for below given folders alone, never opened."""

from __future__ import annotations

import os
import pathlib
import re
import urllib.parse
import warnings
from collections.abc import Iterable
from typing import NamedTuple

from mbkit.errors import ModelFileWarning, UsageError, printable

#: Folders, given as one path or several.
Roots = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SHOWN = 3  # names in a warning


class _NotFoundError(Exception):
    """Why a mesh is not found."""


def checked_roots(package_roots: Roots) -> list[pathlib.Path]:
    """Return the folders, given as one path or several; UsageError where something is no path."""
    # A string could be walked through as well, character by character: "/tmp" would hold "/".
    if isinstance(package_roots, (str, os.PathLike)):
        package_roots = [package_roots]
    given = list(package_roots) if isinstance(package_roots, Iterable) else None
    if given is None or not all(map(_is_path, given)):
        raise UsageError(
            f"package_roots must be a folder, or a list of folders, got {package_roots!r}; give "
            "paths."
        )
    return [pathlib.Path(root).resolve() for root in given]


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike)) and bool(str(value)) and "\0" not in str(value)


def _own_package(folder: pathlib.Path) -> list[pathlib.Path]:
    """Return the package that a folder belongs to: the nearest one above with a package.xml."""
    return [each for each in (folder, *folder.parents) if (each / "package.xml").is_file()][:1]


class Meshes(NamedTuple):
    """Meshes that a file names; see `Urdf.mesh_files`.

    Attributes
    ----------
    names : tuple of str
        As they stand in the file.
    folder : path or None
        That of the file; None for a text.
    what : str
        Name of the file in warnings.
    """

    names: tuple[str, ...]
    folder: pathlib.Path | None
    what: str

    def found(self, package_roots: Roots, *, warn: bool = True) -> dict[str, pathlib.Path]:
        """Return the files of those that are found; warn of the others at the caller's caller."""
        roots = checked_roots(package_roots)
        if self.folder is not None:
            folder = self.folder.resolve()
            roots[:0] = [folder, *_own_package(folder)]
        names = tuple(dict.fromkeys(self.names))
        found = {}
        lost: list[str] = []
        for name in names:
            try:
                found[name] = _find(name, roots)
            except _NotFoundError as error:
                lost.append(f"'{printable(name[:80])}' {error}")
        if lost and warn:
            more = f"; and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
            warnings.warn(
                f"{self.what}: {len(lost)} of {len(names)} meshes are not "
                f"found: {'; '.join(lost[:_SHOWN])}{more}. Name the folders of the packages "
                "by package_roots.",
                ModelFileWarning,
                stacklevel=3,
            )
        return found


def _find(name: str, roots: list[pathlib.Path]) -> pathlib.Path:
    """Return the file of a mesh; raise with the reason if there is none."""
    if "\0" in name or not name:
        raise _NotFoundError("is no name of a file")
    scheme = _SCHEME.match(name)
    kind = scheme[1].lower() if scheme else ""
    if kind not in ("", "package", "model", "file"):
        raise _NotFoundError(f"is an address ({kind}), and nothing is fetched")
    rest = urllib.parse.unquote(name[scheme.end() :]) if scheme else name
    if kind in ("package", "model"):
        package, _, inside = rest.partition("/")
        candidates = [root / package / inside for root in roots]
        # a root may be the package itself
        candidates += [root / inside for root in roots if root.name == package]
    elif kind == "file" or rest.startswith("/"):
        candidates = [pathlib.Path(rest)] if rest.startswith("/") else []
    else:
        candidates = [root / rest for root in roots]
    outside = False
    for candidate in candidates:
        # first by the name alone, so that nothing outside is even looked at
        plain = pathlib.Path(os.path.normpath(candidate))
        if not any(plain.is_relative_to(root) for root in roots):
            outside = True
            continue
        try:
            file = plain.resolve()
            is_inside = any(file.is_relative_to(root) for root in roots)
            if is_inside and file.is_file():
                return file
        except (OSError, RuntimeError, ValueError):
            continue
        outside |= not is_inside
    raise _NotFoundError("is outside of the given folders" if outside else "is no file there")

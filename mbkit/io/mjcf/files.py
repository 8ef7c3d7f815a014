"""The files that an MJCF names: looked through before MuJoCo opens any of them.

MuJoCo follows every path. Here all files have to lie in one folder, after links of the file system
are resolved, so that a model from elsewhere reads only files that came with it.
"""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Iterator

from mbkit.errors import ModelFileError, printable
from mbkit.io.text_file import read_text
from mbkit.io.xml.elements import Element, parse_elements

__all__ = ["check_files"]

#: Largest file of XML that is read, in bytes; and how many a model may include.
MAX_SIZE = 32 * 1024 * 1024
MAX_FILES = 1000

_FOLDERS = ("meshdir", "texturedir", "assetdir")


def check_files(source: pathlib.Path, what: str) -> None:
    """Raise ModelFileError unless an MJCF and all files that it names lie in its folder.

    `what` begins messages. The root element has to be <mujoco>; see `parse_elements` for what XML
    is refused.
    """
    _Scan(source, what).run()


class _Scan:
    def __init__(self, source: pathlib.Path, what: str) -> None:
        self.source, self.what = source, what
        self.folder = source.parent
        self.root = self.folder.resolve()
        self.read: set[pathlib.Path] = set()
        self.folders = {""}  # in which assets are looked for
        self.named: list[tuple[str, str]] = []  # assets, and where they are named

    def run(self) -> None:
        self._file(self.source)
        for folder, (file, place) in itertools.product(sorted(self.folders), self.named):
            self._check(self.folder / folder / file, file, place)

    def _file(self, path: pathlib.Path) -> None:
        self.read.add(path.resolve())
        if len(self.read) > MAX_FILES:
            raise ModelFileError(f"{self.what} includes more than {MAX_FILES} files.")
        name = printable(path.name)
        root = parse_elements(read_text(path, self.what, MAX_SIZE), self.what, name)
        if path == self.source and root.tag != "mujoco":
            hint = "; a URDF has the suffix .urdf" if root.tag == "robot" else ""
            raise ModelFileError(
                f"{self.what} must have the root element <mujoco>, got <{printable(root.tag[:40])}>"
                f" ({name}:{root.line}){hint}."
            )
        for element in _all(root):
            self._element(element, path, f"{name}:{element.line}")

    def _element(self, element: Element, path: pathlib.Path, place: str) -> None:
        if element.tag == "compiler":
            for key in _FOLDERS:
                self.folders.add(element.attributes.get(key, ""))
        for key, file in element.attributes.items():
            if not key.startswith("file"):
                continue
            if element.tag not in ("include", "model"):
                self.named.append((file, place))
                continue
            # from the folder of the model, or of the file that includes
            for folder in {self.folder, path.parent}:
                found = folder / file
                self._check(found, file, place)
                if found.resolve() not in self.read and found.is_file():
                    self._file(found)

    def _check(self, path: pathlib.Path, file: str, place: str) -> None:
        try:
            is_inside = path.resolve().is_relative_to(self.root)
        except (
            OSError,
            RuntimeError,
            ValueError,
        ):  # of names that cannot be, and of loops of links
            is_inside = False
        if not is_inside:
            raise ModelFileError(
                f"{self.what} names a file outside its folder, {printable(file[:200])!r} ({place});"
                " put what belongs to a model into one folder, with the model at its top."
            )


def _all(element: Element) -> Iterator[Element]:
    yield element
    for child in element.children:
        yield from _all(child)

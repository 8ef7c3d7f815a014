"""The directory of a study: manifest, cases one file each, tables, report."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import platform
import uuid
from collections.abc import Mapping
from typing import Any, final

import attrs

from mbkit.errors import ResultFileError, UsageError, printable
from mbkit.io.replacement import replacement
from mbkit.simulation.long_runs.identity import environment, fingerprints_of_code
from mbkit.simulation.preparation import versions
from mbkit.studies.commit import commit_of
from mbkit.studies.study import Study
from mbkit.systems import System

__all__ = ["StudyDirectory", "code_of", "digest"]

FORMAT = 1
MANIFEST, CASES = "manifest.json", "cases"


def digest(about: Any) -> str:
    """Return a hash of a value that JSON can hold."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:24]


def code_of(system: System | None, **methods: Any) -> dict[str, Any]:
    """Return, under "code", the identity of the user's code of a system and methods.

    Hashes by name, such as "force 'wind'"; nothing where all of it is mbkit's own.
    """
    found = fingerprints_of_code(system, **methods)
    return {"code": {name: digest(each) for name, each in found.items()}} if found else {}


@final
@attrs.frozen
class StudyDirectory:
    """A study on disk: each case is a file, written whole, and a rerun computes only missing ones.

    Attributes
    ----------
    path : path
        The directory.
    study : Study or None
        The study file that it belongs to.
    text : str
        Or the text of an equivalent study file, with the directory's own model.
    """

    path: pathlib.Path = attrs.field(converter=pathlib.Path)
    study: Study | None = None
    text: str = ""

    @classmethod
    def of(cls, given: str | os.PathLike[str], what: Any = None) -> StudyDirectory:
        """Return the directory that was given; if `what` is a study, the directory is for it."""
        if isinstance(given, cls):
            return given
        return cls(given, what if isinstance(what, Study) else None)

    def __fspath__(self) -> str:
        """Return the path, as functions take it."""
        return os.fspath(self.path)

    def open(self, about: Mapping[str, Any]) -> None:
        """Make the directory with a manifest, or go on with the one that is there.

        Parameters
        ----------
        about : mapping
            The settings of the study; all of them must be the same where a study goes on, except
            the cases, under "factors".

        Raises
        ------
        UsageError
            If there is another study, or something else, in the directory.
        """
        ours: dict[str, Any] = {"mbkit_study": FORMAT, **about, **_circumstances(self.study)}
        if (self.path / MANIFEST).exists():
            there = self.manifest()
            for name in ("kind", "setting", "environment"):
                wanted = json.loads(json.dumps(ours[name]))
                if there.get(name) != wanted:
                    raise UsageError(
                        f"The study in '{printable(self.path)}' has another {name}: "
                        f"{_differences(there.get(name), wanted)}. Choose a new directory, or "
                        "delete that one."
                    )
            ours["cases"] = list(dict.fromkeys([*there["cases"], *ours["cases"]]))
        elif self.path.exists() and any(self.path.iterdir()):
            raise UsageError(
                f"'{printable(self.path)}' has something else in it; choose a new directory."
            )
        (self.path / CASES).mkdir(parents=True, exist_ok=True)
        self.write(MANIFEST, json.dumps(ours, indent=1) + "\n")
        text = self.text if self.study is None else self.study.text()
        if text:
            self.write("study.toml", text)

    def manifest(self) -> dict[str, Any]:
        """Return the manifest; ResultFileError if there is none."""
        found = self._json(self.path / MANIFEST)
        if found.get("mbkit_study") != FORMAT:
            raise ResultFileError(
                f"'{printable(self.path / MANIFEST)}' is not the manifest of a study of format "
                f"{FORMAT}; see docs/studies.md."
            )
        return found

    def known(self, key: str) -> dict[str, Any] | None:
        """Return the row of a case that was finished, or None."""
        file = self.case(key)
        # An empty file is one that a power cut left: see `put`.
        return self._json(file) if file.exists() and file.stat().st_size else None

    def case(self, key: str) -> pathlib.Path:
        """Return the file of a case."""
        return self.path / CASES / f"{key}.json"

    def put(self, key: str, row: Mapping[str, Any]) -> None:
        """Keep the row of a case: at once, so that no process that ends leaves half of it.

        The disk is not waited for, which takes longer than a short run.
        """
        temporary = self.path / CASES / f".{key}.{uuid.uuid4().hex}.part"
        temporary.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
        temporary.replace(self.case(key))

    def table(self, name: str) -> dict[str, Any]:
        """Return the JSON content of a file of the directory; nothing if it is not there."""
        file = self.path / name
        return self._json(file) if file.exists() else {}

    def write(self, name: str, text: str) -> None:
        """Write a file of the directory at once."""
        with replacement(self.path / name) as file:
            file.write_text(text, encoding="utf-8")

    def _json(self, file: pathlib.Path) -> dict[str, Any]:
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ResultFileError(f"'{printable(file)}' cannot be read: {error}.") from error
        if not isinstance(found, dict):
            raise ResultFileError(f"'{printable(file)}' must hold a table.")
        return found


def _circumstances(study: Study | None) -> dict[str, Any]:
    """Return the machine and code of a run; the commit is its project's, or this folder's."""
    code = commit_of(pathlib.Path.cwd()) if study is None else study.code_notes()
    return {
        "environment": environment(versions()),
        "machine": {
            "system": f"{platform.system()} {platform.machine()}", "cores": os.cpu_count(),
            "processor": _processor(), "python": platform.python_version(),
        },
        **code,
    }  # fmt: skip


def _processor() -> str:
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")


def _differences(there: Any, ours: Any) -> str:
    """Return the differences of two settings: the paths, with both values."""
    if there is None and isinstance(ours, Mapping):
        there = {}
    if isinstance(there, Mapping) and (ours is None or isinstance(ours, Mapping)):
        ours = ours or {}
        names = [name for name in {**ours, **there} if there.get(name) != ours.get(name)]
        return ", ".join(
            f"{name}: {_differences(there.get(name), ours.get(name))}" for name in names
        )
    values = ("nothing" if each is None else f"{each!r:.80}" for each in (there, ours))
    return f"{next(values)} there, {next(values)} here"

"""The directory of a study: manifest, cases one file each, tables, report."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import platform
from collections.abc import Mapping
from typing import Any, final

import attrs

from mbkit.errors import ResultFileError, UsageError, printable
from mbkit.io.replacement import replacement
from mbkit.simulation.long_runs.identity import environment
from mbkit.simulation.preparation import versions
from mbkit.studies.commit import commit_of

__all__ = ["StudyDirectory", "digest"]

FORMAT = 1
MANIFEST, CASES = "manifest.json", "cases"


def digest(about: Any) -> str:
    """Return a hash of what JSON can say."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:24]


@final
@attrs.frozen
class StudyDirectory:
    """A study on disk: each case is a file, written whole, and going on does what is missing.

    Attributes
    ----------
    path : path
        The directory.
    """

    path: pathlib.Path = attrs.field(converter=pathlib.Path)

    def open(self, about: Mapping[str, Any]) -> None:
        """Make the directory with a manifest, or go on with the one that is there.

        Parameters
        ----------
        about : mapping
            What the study is; all of it has to be the same where a study goes on, but for the
            cases that are asked for, under "factors".

        Raises
        ------
        UsageError
            If there is another study, or something else, in the directory.
        """
        ours: dict[str, Any] = {"mbkit_study": FORMAT, **about, **_circumstances()}
        if (self.path / MANIFEST).exists():
            there = self.manifest()
            for name in ("kind", "setting", "environment"):
                if there.get(name) != json.loads(json.dumps(ours[name])):
                    raise UsageError(
                        f"The study in '{printable(self.path)}' has another {name}: "
                        f"{_differences(there.get(name), ours[name])}. Choose a new directory, or "
                        "delete that one."
                    )
            ours["cases"] = list(dict.fromkeys([*there["cases"], *ours["cases"]]))
        elif self.path.exists() and any(self.path.iterdir()):
            raise UsageError(
                f"'{printable(self.path)}' has something else in it; choose a new directory."
            )
        (self.path / CASES).mkdir(parents=True, exist_ok=True)
        self.write(MANIFEST, json.dumps(ours, indent=1) + "\n")

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
        file = self.path / CASES / f"{key}.json"
        return self._json(file) if file.exists() else None

    def put(self, key: str, row: Mapping[str, Any]) -> None:
        """Keep the row of a case."""
        self.write(f"{CASES}/{key}.json", json.dumps(row, indent=1) + "\n")

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


def _circumstances() -> dict[str, Any]:
    """Return where and by what a study is run."""
    return {
        "environment": environment(versions()),
        "machine": {
            "system": f"{platform.system()} {platform.machine()}", "cores": os.cpu_count(),
            "processor": _processor(), "python": platform.python_version(),
        },
        **commit_of(pathlib.Path.cwd()),
    }  # fmt: skip


def _processor() -> str:
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")


def _differences(there: Any, ours: Any) -> str:
    if isinstance(there, Mapping) and isinstance(ours, Mapping):
        names = [name for name in ours if there.get(name) != json.loads(json.dumps(ours[name]))]
        return ", ".join(names) or "entries are missing"
    return f"{there!r:.80} there, {ours!r:.80} here"

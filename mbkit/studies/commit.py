"""The commit of git that a folder is at, for results to carry."""

from __future__ import annotations

import os
import pathlib
import shutil
from typing import Any

__all__ = ["commit_of"]

_TIMEOUT = 5.0  # seconds: rather a result without its commit than one that comes late


def commit_of(folder: pathlib.Path) -> dict[str, Any]:
    """Return the commit that a folder is at, and whether it has other changes.

    ``commit``, the hash, and ``uncommitted_changes``, whether files of the folder differ from it or
    are not in it, ignored ones apart. Empty where there is no repository, no commit, or no git:
    then nothing is run. Empty also where the commit has nothing of the folder, or the repository
    ignores it: then it is of something else around the folder.
    """
    folder = folder.absolute()
    if not any((each / ".git").exists() for each in (folder, *folder.parents)):
        return {}
    git = shutil.which("git")
    if git is None:
        return {}
    status = _answer(git, folder, "status", "--porcelain=v2", "--branch",
                     "--untracked-files=normal", "--", ".")  # fmt: skip
    if status is None:
        return {}
    lines = status.splitlines()
    about = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# ") and " " in line)
    commit = about.get("branch.oid", "")
    if not commit or not all(each in "0123456789abcdef" for each in commit):  # "(initial)"
        return {}
    if not _answer(git, folder, "ls-tree", "--name-only", commit):
        return {}
    if _answer(git, folder, "check-ignore", "--no-index", "--quiet", ".") is not None:
        return {}
    changed = any(not line.startswith("# ") for line in lines)
    return {"commit": commit, "uncommitted_changes": changed}


def _answer(git: str, folder: pathlib.Path, *arguments: str) -> str | None:
    """Return the output of git in a folder; None where it fails, as for a negative answer."""
    import subprocess  # which `import mbkit` would load otherwise

    # No hooks, no monitor and no locks: a look that changes nothing and starts nothing else.
    command = (
        git, "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
        *arguments,
    )  # fmt: skip
    # Within a hook of git these would name another repository.
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    try:
        done = subprocess.run(  # noqa: S603 - no part of the command is from outside
            command, cwd=folder, env=environment, timeout=_TIMEOUT, check=True, capture_output=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace")

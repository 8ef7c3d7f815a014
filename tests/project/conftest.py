"""The files of the project, for the tests that read them."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def project_files() -> list[pathlib.Path]:
    """Return all files that git has or would take; none in a tree that is not git's."""
    if not (shutil.which("git") and (ROOT / ".git").exists()):
        return []
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    files = (ROOT / name for name in listing.stdout.split("\0") if name)
    return sorted(path for path in files if path.is_file())


@pytest.fixture(scope="session")
def files():
    """All files of the project."""
    found = project_files()
    if not found:
        pytest.skip("needs a git checkout, to tell the project's files from others")
    return found


@pytest.fixture(scope="session")
def modules():
    """All Python files of the package."""
    return sorted((ROOT / "mbkit").rglob("*.py"))


def pytest_generate_tests(metafunc):
    """Run what takes a `document` once for each page."""
    if "document" in metafunc.fixturenames:
        found = _documents()
        names = [str(path.relative_to(ROOT)) for path in found]
        metafunc.parametrize("document", found, ids=names)


def _documents() -> list[pathlib.Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

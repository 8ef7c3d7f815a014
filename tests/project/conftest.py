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


#: Pages whose code takes seconds, for many runs and projects that tests/studies has smaller.
LONG = (
    "docs/projects.md", "docs/studies.md", "docs/tutorials/comparing-formulations.md",
    "docs/tutorials/custom-integrator.md", "docs/tutorials/plugin.md",
    "docs/tutorials/team-project.md",
)  # fmt: skip

#: Pages whose code needs packages beyond the extra `test`: tests/peers/test_page_code.py runs them.
WITH_PEERS = (
    "docs/fmu.md", "docs/mjcf.md", "docs/pictures.md", "docs/tutorials/first-closed-mechanism.md",
    "docs/coming-from-other-programs.md", "docs/symbolic.md",
)  # fmt: skip


def pytest_generate_tests(metafunc):
    """Run what takes a `document` once for each page."""
    if "document" in metafunc.fixturenames:
        found = _documents()
        runs = metafunc.function.__name__ == "test_code_runs"
        cases = []
        for path in found:
            name = str(path.relative_to(ROOT))
            if runs and name in WITH_PEERS:
                continue
            marks = [pytest.mark.long] if runs and name in LONG else []
            cases.append(pytest.param(path, id=name, marks=marks))
        metafunc.parametrize("document", cases)


def _documents() -> list[pathlib.Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

"""tools/make_venv on machines that lack something: it says what, or installs it."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "tools" / "make_venv"

OLD = """case "$*" in --version) echo "Python 3.9.2";; *) exit 1;; esac"""

# Python 3.11 that has no ensurepip until apt-get has installed it.
LACKING = """case "$*" in
    *ensurepip*) [ -f installed ];;
    *"print("*) echo 3.11;;
    *venv*) mkdir -p "$4/bin" && echo made;;
esac"""

APT_GET = """echo "$*" >>asked; case "$1" in install) touch installed;; esac"""


@pytest.fixture
def run(tmp_path):
    """Run the script where only the given commands are there."""

    def run(**commands):
        for name in ("mkdir", "touch"):
            (tmp_path / name).symlink_to(f"/bin/{name}")
        for name, text in commands.items():
            command = tmp_path / name.replace("_", "-")
            command.write_text(f"#!/bin/sh\n{text}\n")
            command.chmod(0o755)
        return subprocess.run(
            ["/bin/sh", str(SCRIPT), "env", "python3"],
            check=False, cwd=tmp_path, env={"PATH": str(tmp_path)}, capture_output=True, text=True,
        )  # fmt: skip

    return run


def test_python_that_is_too_old_is_named(run):
    failed = run(python3=OLD)
    assert failed.returncode == 1
    assert failed.stderr.splitlines() == [
        "mbkit needs Python 3.11 or later, and 'python3' is not: Python 3.9.2.",
        "Install one, then name it: make PYTHON=/path/to/python3",
    ]


def test_another_python_is_found(run, tmp_path):
    (tmp_path / "installed").touch()
    done = run(python3=OLD, **{"python3.12": LACKING})
    assert done.returncode == 0, done.stderr
    assert "made" in done.stdout


def test_the_missing_package_is_named(run):
    failed = run(python3=LACKING, id="echo 1000", apt_get=APT_GET)
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1] == (
        "Install it, then run make again: sudo apt install python3.11-venv"
    )


def test_root_gets_the_missing_package(run, tmp_path):
    done = run(python3=LACKING, id="echo 0", apt_get=APT_GET)
    assert done.returncode == 0, done.stderr
    update, install = (tmp_path / "asked").read_text().splitlines()
    assert update.startswith("update")
    assert install.startswith("install -y")
    assert install.endswith("python3.11-venv")
    assert "made" in done.stdout

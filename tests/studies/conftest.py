"""Projects made for a test, and what runs in them."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from mbkit.studies import new_project

ROOT = pathlib.Path(__file__).parents[2]


def environment(**more):
    """The environment of a process that imports this mbkit, and knows no other git."""
    kept = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def python(*arguments, folder, check=True):
    """Run Python in a folder, in a process of its own."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=folder, check=check, capture_output=True,
        text=True, env=environment(),
    )  # fmt: skip


def mbkit(*arguments, folder, check=True):
    """Run the command in a folder, in a process of its own."""
    return python("-W", "error", "-m", "mbkit", *arguments, folder=folder, check=check)


def git(*arguments, folder):
    """Run git in a folder, as nobody."""
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    command = ["git", *who, "-c", "commit.gpgsign=false", *arguments]
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, env=environment()
    )
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def plugins_apart(monkeypatch, registry):
    """Projects whose plugins a test loads in this process end with it."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "pendulum":
            del sys.modules[name]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A new project; tests leave it as it is, results apart."""
    return new_project(tmp_path_factory.mktemp("made") / "pendulum")


@pytest.fixture
def study_folder(tmp_path):
    """A folder with a model and a study that need no plugin; it is in no project."""
    (tmp_path / "arm.toml").write_text(MODEL)
    (tmp_path / "swing.toml").write_text(STUDY)
    return tmp_path


MODEL = """
mbkit_model = 1
name = "arm"

[bodies.upper]
mass = 2.0
moment_about_com = [0.2, 0.2, 0.01]
com = [0.0, 0.0, -0.5]

[bodies.lower]
mass = 1.0
moment_about_com = [0.1, 0.1, 0.01]
com = [0.0, 0.0, -0.5]
pose = {position = [0.0, 0.0, -1.0]}

[joints.shoulder]
type = "revolute"
predecessor = "world"
successor = "upper"
axis = [0.0, 1.0, 0.0]

[joints.ball]
type = "spherical"
predecessor = "upper"
successor = "lower"
point = [0.0, 0.0, -1.0]

[forces.oil]
type = "joint_damper"
joint = "shoulder"
damping = 0.5
"""

STUDY = """mbkit_study = 1
model = "arm.toml"
t_span = [0.0, 1.0]
h = 1e-2
save_every = 10
representation = "hybrid"

[integrator]
tableau = "heun"

[initial.q]
shoulder = 0.4
ball = [0.6, 0.8, 0.0, 0.0]

[initial.v]
"ball[2]" = 3.0

[forces.spring]
type = "joint_spring"
joint = "shoulder"
stiffness = 4.0

[parameters]
bodies.upper.mass = 2.5
gravity = [0.0, 0.0, -1.62]
"""

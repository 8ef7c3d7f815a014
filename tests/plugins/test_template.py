"""The template becomes a plugin by the commands that the pages give, and passes its tests."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

import numpy as np
import pytest

import mbkit as mb

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ("CONTRIBUTING.md", "docs/tutorials/custom-joint.md")
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def clone(tmp_path):
    """A folder with a copy of the template, and an environment of its own that has mbkit."""
    environment = tmp_path / "environment"
    command = [sys.executable, "-m", "venv", "--without-pip", environment]
    subprocess.run(command, check=True, capture_output=True)
    (site,) = environment.glob("lib/python*/site-packages")
    shared = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "shared.pth").write_text("\n".join([str(ROOT), *sorted(shared)]))
    for name, module in (("pip", "pip"), ("mbkit", "mbkit")):
        program = environment / "bin" / name
        program.write_text(f'#!/bin/sh\nexec "{environment}/bin/python" -m {module} "$@"\n')
        program.chmod(0o755)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(
        ROOT / "plugins" / "template", tmp_path / "mbkit" / "plugins" / "template", ignore=ignored
    )
    return tmp_path / "mbkit"


def run(script, clone):
    """Run a script in the clone, as bash does with -e, without fetching anything."""
    kept = {name: value for name, value in os.environ.items() if name[:4] not in ("PIP_", "PYTE")}
    environment = {
        **kept,
        "PATH": f"{clone.parent / 'environment' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PIP_NO_BUILD_ISOLATION": "0",  # that is how pip is told not to isolate
        "PIP_NO_DEPS": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        # the fixtures of mbkit, whatever mbkit is installed
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_PLUGINS": "mbkit_pytest",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=clone, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


MODEL = """
mbkit_model = 1
name = "chair on a rail"

[bodies.chair]
mass = 12.0
shape = {type = "box", size = [0.4, 0.4, 0.9]}

[joints.rail]
type = "rail"
predecessor = "world"
successor = "chair"
steepness = 2.0
"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_commands_of_the_pages_make_a_plugin(clone):
    """Copied, renamed, installed, tested and checked; files name its joint then."""
    texts = [(ROOT / page).read_text() for page in PAGES]
    script, other = (script for text in texts for script in SHELL.findall(text))
    assert script == other
    shown = run(script, clone)
    assert re.search(r"^=+ 2 passed", shown, re.MULTILINE)
    checked = shown[shown.index("rail 0.1.0 (mbkit-rail)") :]
    assert checked.splitlines()[-1] == "Everything that was checked holds."
    printed = "".join(f"    {line}\n" for line in checked.splitlines())
    assert sum(printed in text for text in texts) == sum("rail 0.1.0" in text for text in texts) > 0
    copy = clone.parent / "mbkit-rail"
    for path in copy.rglob("*"):
        assert "template" not in path.name
        if path.suffix in (".py", ".toml", ".md"):
            assert "template" not in path.read_text().lower(), path
    (clone / "chair.toml").write_text(MODEL)
    (clone / "typo.toml").write_text(MODEL.replace("steepness", "stepness"))
    assert re.search(
        r"rail +│ 0\.1\.0 +│ mbkit-rail +│ joint type: rail", run("mbkit plugins", clone)
    )
    assert "RailJoint" in run("mbkit info chair.toml", clone)
    run("mbkit simulate chair.toml -o chair.nc --q rail=1 --t-end 1", clone)
    # (1 + z'^2) v^2 / 2 = g (z0 - z), z = 2 x^4
    result = mb.load_result(clone / "chair.nc")
    x, v = result.q[:, 0], result.v[:, 0]
    fallen = 0.5 * (1.0 + (8.0 * x**3) ** 2) * v**2 / 9.81
    np.testing.assert_allclose(fallen, 2.0 * (1.0 - x**4), atol=1e-6)
    faulty = run("mbkit info typo.toml 2>&1 || true", clone)
    assert "typo.toml:13: joints.rail.stepness: unknown key; did you mean 'steepness'?" in faulty
    assert "('type' is of the plugin 'rail 0.1.0'.)" in faulty

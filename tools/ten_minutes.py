"""Do the page of the first ten minutes literally: its commands in a shell, then its Python.

    python tools/ten_minutes.py          # packages are installed from the network
    python tools/ten_minutes.py .venv    # packages are those of an environment that is there

Either way, the environment that the page makes is new, and mbkit is installed into it from a copy
of the files that a user has. In the second one these files have the compiled kernels that are here,
which Python finds in the folder where it is started, so that it takes seconds and not minutes.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tutorials" / "first-closed-mechanism.md"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What an installation needs of the project.
FILES = ("pyproject.toml", "README.md", "LICENSE", "mbkit_pytest.py", "mbkit")


def main(given: str | None = None) -> float:
    """Run the page in a folder of its own; return the seconds that it took."""
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    commands = "".join(text for kind, text in blocks if kind == "sh").strip().splitlines()
    code = "".join(text for kind, text in blocks if kind == "python")
    with tempfile.TemporaryDirectory() as folder:
        copy(pathlib.Path(folder), compiled=given is not None)
        started = time.monotonic()
        env = offline(pathlib.Path(given).absolute()) if given else {**os.environ}
        for k, command in enumerate(commands):
            last = k == len(commands) - 1  # it starts Python, which reads the code
            print(f"$ {command}", flush=True)  # noqa: T201
            subprocess.run(  # noqa: S603
                ["bash", "-ec", f"exec {command} -" if last else command],  # noqa: S607
                cwd=folder, input=code if last else None, text=True, check=True, env=env,
            )  # fmt: skip
            if given and k == 0:
                lend_packages(pathlib.Path(given).absolute(), pathlib.Path(folder))
        # what was installed, and not the folder that Python was started in
        (installed,) = pathlib.Path(folder).glob("*/bin/mbkit")
        subprocess.run([installed, "--version"], cwd=folder, check=True, env=env)  # noqa: S603
        film = pathlib.Path(folder, "run.html")
        if film.stat().st_size < 10_000:
            sys.exit(f"{film.name} is no film: {film.stat().st_size} bytes.")
        return time.monotonic() - started


def copy(folder: pathlib.Path, *, compiled: bool) -> None:
    """Copy the project, with or without its compiled kernels."""
    left_out = shutil.ignore_patterns("*.pyc" if compiled else "__pycache__")
    for name in FILES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=left_out)
        else:
            shutil.copy(ROOT / name, folder)


def offline(given: pathlib.Path) -> dict[str, str]:
    """Return variables for pip without a network, and for `python3` to be that of `given`."""
    path = os.pathsep.join((str(given / "bin"), os.environ.get("PATH", os.defpath)))
    env = {**os.environ, "PATH": path, "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    env.pop("PYTHONPATH", None)
    return env


def lend_packages(given: pathlib.Path, folder: pathlib.Path) -> None:
    """Let the new environment see the packages of another one, behind its own."""
    (own,) = folder.glob("*/lib/python*/site-packages")
    (other,) = given.glob("lib/python*/site-packages")
    (own / "lent.pth").write_text(f"{other}\n", encoding="utf-8")


if __name__ == "__main__":
    print(f"The page took {main(*sys.argv[1:]):.0f} s.")  # noqa: T201

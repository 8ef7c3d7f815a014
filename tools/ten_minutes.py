"""Do the page of the first ten minutes literally: its commands in a shell, then its Python.

python tools/ten_minutes.py                 # installs into a new environment, from the network
python tools/ten_minutes.py .venv/bin/python  # with an environment that is there
"""

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


def main(python=None):
    """Run the page in a folder of its own; return the seconds that it took."""
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    commands = "".join(text for kind, text in blocks if kind == "sh")
    code = "".join(text for kind, text in blocks if kind == "python")
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        if python is None:
            for name in FILES:
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                copy(ROOT / name, pathlib.Path(folder, name))
            *install, last = commands.strip().splitlines()
            script = "\n".join(["set -e", *install, f"exec {last} -"])
            subprocess.run(["bash", "-c", script], cwd=folder, input=code, text=True, check=True)  # noqa: S603, S607
        else:
            start = [str(pathlib.Path(python).absolute()), "-"]
            subprocess.run(start, cwd=folder, input=code, text=True, check=True)  # noqa: S603
        film = pathlib.Path(folder, "run.html")
        if film.stat().st_size < 10_000:
            sys.exit(f"{film.name} is no film: {film.stat().st_size} bytes.")
        return time.monotonic() - started


if __name__ == "__main__":
    print(f"The page took {main(*sys.argv[1:]):.0f} s.")  # noqa: T201

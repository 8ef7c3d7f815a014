"""Time of a start: the import, and the command line with and without compiled kernels."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import time

import mbkit as mb
from benchmarks.mechanisms import REVOLUTE, benchmark_tree
from benchmarks.report import Row, Table
from benchmarks.timing import sized

IMPORT = (
    "import time; start = time.perf_counter(); import mbkit; print(time.perf_counter() - start)"
)

#: Most that each may take. [s]
BARS = {"import mbkit": 0.3, "second start": 0.8, "compiling": 60.0}


def starting() -> Table:
    """Return the times of new processes."""
    imports = [float(_run([sys.executable, "-c", IMPORT])) for _ in range(sized(7, 1))]
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.toml"
        mb.save_model(benchmark_tree(2, REVOLUTE), model)
        # the small size takes what is there already: to compile takes a minute
        cache = sized({"NUMBA_CACHE_DIR": str(pathlib.Path(folder) / "cache")}, {})
        first = _simulate(model, cache)
        second = min(_simulate(model, cache) for _ in range(sized(3, 1)))
    rows = [
        ("import mbkit", "import mbkit", sorted(imports)[len(imports) // 2]),
        ("second start", "mbkit simulate, two bodies, second start", second),
        ("compiling", "mbkit simulate, two bodies, first start (compiles)", first),
    ]
    return Table("Starting", [Row(what, value=t, bar=BARS[key], unit="s") for key, what, t in rows])


def _simulate(model: pathlib.Path, environment: dict[str, str]) -> float:
    """Return the seconds of a whole `mbkit simulate`."""
    command = [sys.executable, "-m", "mbkit", "simulate", str(model), "--force"]
    start = time.perf_counter()
    _run([*command, "-o", str(model.with_suffix(".nc"))], environment)
    return time.perf_counter() - start


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, env=os.environ | (environment or {}), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout

"""Memory of a long run and what writing costs.

python benchmarks/long_runs.py [--steps 10000000] [--save-every 1]

A double pendulum in a directory. The resident memory of the process is looked at every 0.02 s; what
counts is by how much its largest value exceeds that after the first 100 000 steps. Then the time of
a step with and without a directory, by turns, the best of five.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
import threading
import time

import mbkit as mb
from benchmarks.kills import double_pendulum
from benchmarks.timing import sized


def resident():
    """Return the resident memory of this process [MiB]."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


class Watch(threading.Thread):
    """Notes the largest resident memory until it is told to end."""

    def __init__(self):
        super().__init__(daemon=True)
        self.largest, self.going_on = 0.0, True

    def run(self):
        """Look every 0.02 s."""
        while self.going_on:
            self.largest = max(self.largest, resident())
            time.sleep(0.02)


def timed(system, steps, **options):
    """Return a result and the seconds it took."""
    began = time.perf_counter()
    run = mb.simulate(system, (0.0, steps * 1e-3), 1e-3, q=[1.0, 0.5], progress=False, **options)
    return run, time.perf_counter() - began


def main():
    """Print times and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=sized(10_000_000, 20_000))
    parser.add_argument("--save-every", type=int, default=1)
    args = parser.parse_args()
    system, saved = double_pendulum(), {"save_every": args.save_every}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        timed(system, sized(100_000, 1000), output=folder / "first", **saved)
        start = resident()
        watch = Watch()
        watch.start()
        _, there = timed(system, args.steps, output=folder / "run", **saved)
        watch.going_on = False
        watch.join()
        size = (folder / "run" / "result.nc").stat().st_size / 2**20
        print(f"resident memory after the first 100000 steps: {start:.1f} MiB")
        print(f"largest over {args.steps} steps: {watch.largest - start:.1f} MiB more")
        print(f"{there:.1f} s, {size:.0f} MiB written")
        tenth, times = args.steps // 10, {"in memory": [], "in a directory": []}
        for k in range(5):
            times["in memory"].append(timed(system, tenth, **saved)[1])
            times["in a directory"].append(timed(system, tenth, output=folder / f"{k}", **saved)[1])
    for way, seconds in times.items():
        print(f"{way}, {tenth} steps: {1e6 * min(seconds) / tenth:.3f} us a step")


if __name__ == "__main__":
    main()

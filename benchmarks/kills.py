"""Kill a run with signal 9 at random moments, resume it, and compare the final file.

python benchmarks/kills.py --kills 200 [--force] [--events]

Each process is a fork of this one, which has loaded everything and computed nothing, so that most
of its time is the run itself: its start, its steps, its parts, and the putting together at the end.
Parts are made a hundred times more often than by default.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import pathlib
import random
import signal
import sys
import tempfile
import time
import traceback

import numpy as np

import mbkit as mb
from benchmarks.timing import sized
from mbkit.io.results.run_directory import RunDirectory

STIFFNESS = np.array([3.0, 0.5])


def double_pendulum():
    """Return two rods in a row."""
    mech = mb.Mechanism("double pendulum")
    moment = np.diag([1.0, 1.0, 0.01]) / 12.0
    rod = mb.SpatialInertia.from_com(mass=1.0, com=(0, 0, -0.5), moment_about_com=moment)
    upper = mech.add_body(mb.Body("upper", rod))
    lower = mech.add_body(mb.Body("lower", rod))
    mech.add_joint(mb.RevoluteJoint("shoulder", axis=(0, 1, 0)), mech.world, upper)
    mech.add_joint(mb.RevoluteJoint("elbow", axis=(0, 1, 0), point=(0, 0, -1)), upper, lower)
    return mech.assemble()


def springs(t, q, v):
    """Return the torques of springs and dampers, and of a motor."""
    return -STIFFNESS * q - 0.1 * v + np.array([np.sin(3.0 * t), 0.0])


EVENTS = (
    mb.Event("through", "shoulder"),
    mb.Event("stop", mb.JointPosition("elbow", 2.0), direction="rising", reset=mb.Impact(1.0)),
    mb.Event("turned", lambda t, q, v: v[0] + 0.1 * v[1]),
)


def run(system, path, args):
    """Start the run in `path`, or go on with it."""
    again = {"tau": args.tau, "events": args.events, "progress": False}
    if RunDirectory(path).has_run():
        mb.resume(path, **again)
    else:
        span = (0.0, args.steps * 1e-3)
        mb.simulate(system, span, 1e-3, q=[1.0, 0.5], save_every=3, output=path, **again)


def forked(action):
    """Run a function in a fork of this process; return the fork's number."""
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def finished(child, after):
    """Kill the child after some seconds; return whether it had come to its end by itself."""
    end = time.perf_counter() + after
    while time.perf_counter() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if status != 0:
                sys.exit(f"A process ended with status {status}.")
            return True
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return not os.WIFSIGNALED(status)


def digest(path):
    """Return a hash of the final file."""
    return hashlib.sha256((path / "result.nc").read_bytes()).hexdigest()


def confirmed(path):
    """Return which parts there are, and that each of them is whole."""
    directory = RunDirectory(path)
    if not directory.has_run() or directory.result.exists():
        return None
    numbers = directory.parts()
    for number in numbers:
        directory.read_part(number)
    return len(numbers)


def survive(system, folder, args, reference, longest):
    """Kill and resume runs until there were enough kills; return what was counted."""
    chance = random.Random(args.seed)  # noqa: S311 - moments, no secrets
    count = {"kills": 0, "runs": 0, "before the manifest": 0, "at the end": 0, "parts found": 0}
    while count["kills"] < args.kills:
        path, before = folder / f"run-{count['runs']}", 0
        while True:
            child = forked(lambda path=path: run(system, path, args))
            if finished(child, chance.uniform(0.0, longest)):
                break
            count["kills"] += 1
            parts = confirmed(path)
            if parts is None:
                done = (path / "result.nc").exists()
                count["at the end" if done else "before the manifest"] += 1
            else:
                if parts < before:
                    sys.exit(f"{path}: there were {before} parts, and now {parts}.")
                before = parts
                count["parts found"] += parts
        if digest(path) != reference:
            sys.exit(f"{path}: the result is not that of the uninterrupted run.")
        left = sorted(entry.name for entry in path.iterdir())
        if left != ["lock", "manifest.json", "model.toml", "result.nc"]:
            sys.exit(f"{path}: {left} are left.")
        count["runs"] += 1
    return count


def main():
    """Print how many kills were survived, or end with the first that was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=sized(200, 3))
    parser.add_argument("--force", action="store_true", help="with forces in Python")
    parser.add_argument("--events", action="store_true", help="with events, one in Python")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.tau = springs if args.force else None
    args.events = EVENTS if args.events else ()
    args.steps = sized(20_000, 2000) if args.force or args.events else sized(400_000, 20_000)
    recording = importlib.import_module("mbkit.simulation.long_runs.recording")
    recording.SHORTEST, recording.CHUNK = 0.02, 0.005
    system = double_pendulum()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for _ in range(2):  # the first one loads compiled code
            began = time.perf_counter()
            finished(forked(lambda: run(system, folder / "whole", args)), 600.0)
            took = time.perf_counter() - began
            reference = digest(folder / "whole")
            (folder / "whole").rename(folder / f"whole-{began}")
        count = survive(system, folder, args, reference, took)
    print(f"one run without kills: {took:.2f} s, with forces in Python: {args.force}")
    print(", ".join(f"{name}: {number}" for name, number in count.items()))
    print("every final file is that of the uninterrupted run, bit for bit")


if __name__ == "__main__":
    main()

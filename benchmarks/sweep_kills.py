"""A sweep of short simulations on dask, with a worker and then the client killed by signal 9.

python benchmarks/sweep_kills.py --points 10000 [--executor processes]

The worker is killed when a quarter of the points is there, the client at half; the client is
started again, and the table compared with that of one process, bit for bit.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import mbkit as mb

ROOT = pathlib.Path(__file__).parents[1]

#: Seconds after which nothing is waited for any more.
PATIENCE = 3600.0


def double_pendulum():
    """Return two rods in a row."""
    mech = mb.Mechanism("double pendulum", gravity=(0, 0, -9.81))
    moment = np.diag([1.0, 1.0, 0.01]) / 12.0
    rod = mb.SpatialInertia.from_com(mass=1.0, com=(0, 0, -0.5), moment_about_com=moment)
    upper = mech.add_body(mb.Body("upper", rod))
    lower = mech.add_body(mb.Body("lower", rod))
    mech.add_joint(mb.RevoluteJoint("shoulder", axis=(0, 1, 0)), mech.world, upper)
    mech.add_joint(mb.RevoluteJoint("elbow", axis=(0, 1, 0), point=(0, 0, -1)), upper, lower)
    return mech


def sweep(points, directory, executor):
    """Run the sweep, or go on with it; each point writes down the worker that it is run by."""
    masses, angles = 20, points // 20
    workers = pathlib.Path(f"{directory}-workers")

    def elbow(run):
        with workers.open("a") as file:
            file.write(f"{os.getppid()}\n")
        return run.q[-1, 1]

    return mb.studies.sweep(
        double_pendulum(),
        (0.0, 0.2),
        1e-2,
        vary={
            "bodies.lower.mass": np.linspace(0.5, 2.0, masses),
            "q.shoulder": np.linspace(-3.0, 3.0, angles),
        },
        outputs={"elbow": elbow, "energy": lambda run: run.energy[-1]},
        directory=directory,
        executor=executor,
        progress=True,
    )


def started(points, directory, executor):
    """Return the process of a client."""
    command = [
        sys.executable, str(pathlib.Path(__file__)), "--points", str(points), "--client",
        str(directory), "--executor", executor,
    ]  # fmt: skip
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths})


def finished(directory):
    """Return the files of the points that are there, with the time at which each was written."""
    return {file.name: file.stat().st_mtime_ns for file in directory.glob("cases/*.json")}


def wait_for(count, directory, client):
    """Wait until so many points are there."""
    began = time.monotonic()
    cases = directory / "cases"
    while not cases.exists() or sum(name.endswith(".json") for name in os.listdir(cases)) < count:
        assert client.poll() is None, "the client has ended"
        assert time.monotonic() - began < PATIENCE, "nothing happens"
        time.sleep(0.05)


def killed(points, directory, executor):
    """Run the sweep, kill a worker and the client, start again; return the seconds of both runs."""
    client, began = started(points, directory, executor), time.monotonic()
    wait_for(points // 4, directory, client)
    if executor == "dask":  # that of `processes` is the client
        worker = int(pathlib.Path(f"{directory}-workers").read_text().split()[-1])
        os.kill(worker, signal.SIGKILL)
    wait_for(points // 2, directory, client)
    client.kill()
    client.wait()
    first = time.monotonic() - began
    time.sleep(0.5)  # what it started ends by itself
    there, began = finished(directory), time.monotonic()
    assert started(points, directory, executor).wait() == 0
    again = finished(directory)
    assert len(there) < points == len(again)
    assert there.items() <= again.items(), "a finished point was run again"
    return first, time.monotonic() - began


def main():
    """Compare the sweep with the one in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--executor", default="dask")
    parser.add_argument("--client", type=pathlib.Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.client:
        executor = mb.studies.laboratory.tasks.executor_of(args.executor, workers=2)
        sweep(args.points, args.client, executor)
        return
    with tempfile.TemporaryDirectory() as folder:
        directory = pathlib.Path(folder)
        first, second = killed(args.points, directory / args.executor, args.executor)
        began = time.monotonic()
        serial = sweep(args.points, directory / "serial", "serial").table
        one = time.monotonic() - began
        table = mb.studies.load_findings(directory / args.executor).table
        assert set(table["status"]) == {"completed"}
        assert table.csv() == serial.csv()
        runs = pathlib.Path(f"{directory / args.executor}-workers").read_text().count("\n")
    print(
        f"{args.points} points by {args.executor}, two workers: {first:.1f} s until the client "
        f"was killed, {second:.1f} s when started again; one process {one:.1f} s. "
        f"{runs - args.points} points began twice. Equal to the last bit."
    )


if __name__ == "__main__":
    main()

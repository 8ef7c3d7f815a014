"""The first day of a team lead: a project under version control, whose results can be trusted.

The project is the one that `mbkit new` makes: a cart on a curved track with a pendulum in the wind.
Its equations, written down by hand and solved by scipy, say whether the numbers are right; the rest
is about whether they can be had again. It writes to a folder `cart` where it is run:

    python examples/first_days/team_lead.py
"""

from __future__ import annotations

import pathlib
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import mbkit as mb

PROJECT = pathlib.Path("cart")
SWING, LONG = "studies/swing.toml", "studies/long.toml"


def mbkit(*arguments: str) -> None:
    """Run a command of mbkit in the project, as in a shell."""
    print("$ mbkit", *arguments, flush=True)
    folder = PROJECT if PROJECT.exists() else None
    subprocess.run([sys.executable, "-m", "mbkit", *arguments], cwd=folder, check=True)


def git(*arguments: str) -> str:
    """Run git in the project, and return what it prints."""
    who = ("-c", "user.name=team", "-c", "user.email=team@example.org")
    command = ["git", *who, *arguments]
    return subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout


def by_hand(t: float, y: Any) -> Any:
    """Return the rates of x, a, x' and a': the cart at (x, 0.4 x^2), the rod 1 m long."""
    x, a, *v = y
    s, c = np.sin(a), np.cos(a)
    cart, cart_rate = np.array([[1, 0], [0.8 * x, 0]]), np.array([0, 0.8 * v[0] ** 2])
    rod = cart + np.array([[0, -0.5 * c], [0, 0.5 * s]])
    rod_rate = cart_rate + 0.5 * np.array([s, c]) * v[1] ** 2
    u = np.array([6 + 3 * np.sin(2 * np.pi * t / 2.5), 0]) - rod @ v  # wind, as the rod feels it
    weight = np.array([0, -9.81])
    moment = 0.4 * (3 * 0.01**2 + 1) / 12
    M = cart.T @ cart + 0.4 * rod.T @ rod + np.diag([0, moment])
    f = cart.T @ (weight - cart_rate) + rod.T @ (0.4 * (weight - rod_rate))
    f += rod.T @ (0.02 * np.linalg.norm(u) * u) - [0, 0.01 * v[1]]
    return [*v, *np.linalg.solve(M, f)]


def the_same(first: mb.Result, second: mb.Result) -> None:
    """Refuse two results that differ in a single bit."""
    for name in ("t", "q", "v", "kinetic_energy", "dissipated_energy", "supplied_energy"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    print("  the same to the last bit")


def main() -> None:
    """Go through the day."""
    shutil.rmtree(PROJECT, ignore_errors=True)
    mbkit("new", "cart")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "The project as mbkit made it")

    print("\nA run, and what a result knows:")
    mbkit("run", SWING, "--set", "t_span=[0,1]")
    run = mb.load_result(PROJECT / "results" / "swing.nc")
    options = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12, "t_eval": run.t}
    solution = solve_ivp(by_hand, (0.0, 1.0), [-0.5, 0.3, 0.0, 0.0], **options).y
    for name, expected in zip(("track", "hinge"), solution, strict=False):
        error = np.abs(run[name] - expected).max()
        print(f"  {name}: {error:.1e} from the equations written by hand")
        assert error < 1e-9
    notes = run.options["notes"]
    assert notes["commit"] == git("rev-parse", "HEAD").strip()
    assert not notes["uncommitted_changes"]
    print(f"  study {notes['study']}, t_span {notes['settings']['t_span']}, {notes['plugin']}, "
          f"commit {notes['commit'][:8]}")  # fmt: skip

    print("\nThe same study in Python, in another process:")
    study = mb.load_study(PROJECT / SWING, {"t_span": [0, 1]})
    the_same(run, study.run())

    print("\nA long run that is interrupted:")
    short = ("--set", "t_span=[0,20]")
    process = subprocess.Popen([sys.executable, "-m", "mbkit", "run", LONG, *short], cwd=PROJECT)
    while process.poll() is None and not (PROJECT / "results" / "long").exists():
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)  # Ctrl-C; kill -9 leaves what is a few seconds older
    process.wait()
    print(f"  until t = {mb.load_result(PROJECT / 'results' / 'long').t[-1]:.2f} s")
    mbkit("run", LONG, *short, "--resume")
    whole = mb.load_study(PROJECT / LONG, {"t_span": [0, 20]}).run(output=PROJECT / "results/whole")
    the_same(mb.load_result(PROJECT / "results" / "long"), whole)

    print("\nA sweep over the wind, of which one point is the run above:")
    found = mb.studies.sweep(study, vary={"forces.wind.speed": [0.0, 6.0, 12.0]}, outputs=["end"])
    print(found.table.markdown(["forces.wind.speed", "end.q.track", "end.q.hinge"]))
    assert found.table["end.q.hinge"][1] == run["hinge"][-1]

    print("\nThe tests of the project's own joint and force:")
    tests = ("tests/test_track.py", "tests/test_wind.py")
    subprocess.run([sys.executable, "-m", "pytest", "-q", *tests], cwd=PROJECT, check=True)


if __name__ == "__main__":
    main()

"""Interruptions of batches, runs and run directories."""

from __future__ import annotations

import itertools
import os
import pathlib
import shutil
import tempfile
import time
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

import mbkit as mb
from mbkit.io.results.run_directory import RunDirectory


def _pendulum() -> Any:
    moment = np.diag([1.0, 1.0, 0.01]) / 12.0
    rod = mb.SpatialInertia.from_com(mass=1.0, com=(0, 0, -0.5), moment_about_com=moment)
    mech = mb.Mechanism("double pendulum", gravity=(0, 0, -9.81))
    upper, lower = (mech.add_body(mb.Body(name, rod)) for name in ("upper", "lower"))
    mech.add_joint(mb.RevoluteJoint("shoulder", axis=(0, 1, 0)), mech.world, upper)
    mech.add_joint(mb.RevoluteJoint("elbow", axis=(0, 1, 0), point=(0, 0, -1)), upper, lower)
    return mech.assemble()


def _four_bar() -> Any:
    """Return one whose constraints are independent."""
    across = (0, 1, 0)
    joints = (
        mb.RevoluteJoint("A", axis=across),
        mb.SphericalJoint("B", point=(0, 0, 0.3)),
        mb.UniversalJoint("C", axis1=across, axis2=(1, 0, 0), point=(0.8, 0, 0.5)),
        mb.RevoluteJoint("D", axis=across, point=(0.9, 0, 0)),
    )
    mech = mb.Mechanism("four-bar", gravity=(0, 0, -9.81))
    bar = mb.SpatialInertia.sphere(1.0, radius=0.1)
    bodies = [mech.add_body(mb.Body(name, bar)) for name in ("crank", "coupler", "rocker")]
    ends = itertools.pairwise([mech.world, *bodies, mech.world])
    for joint, (inner, outer) in zip(joints, ends, strict=True):
        mech.add_joint(joint, inner, outer)
    return mech.assemble()


def _spring(t: float, q: Any, v: Any) -> Any:
    return [-3.0 * q[0] - 0.1 * v[0], np.sin(3.0 * t)]


_EVENTS = (
    mb.Event("through", "shoulder"),
    mb.Event("stop", mb.JointPosition("elbow", 0.6), direction="rising", reset=mb.Impact(0.5)),
    mb.Event("turned", lambda t, q, v: v[0] + 0.1 * v[1]),
)


@attrs.frozen
class Case:
    """What is called, and what is looked at in its result.

    Attributes
    ----------
    call : callable
        Returns a result, or an array.
    settle : callable
        After an interrupt: makes the whole of what was interrupted, or returns None.
    prepare : callable
        Before a call, and never interrupted.
    """

    call: Callable[[], Any]
    settle: Callable[[], Any] = lambda: None
    prepare: Callable[[], Any] = lambda: None


def _batch(method: str, count: int, **options: Any) -> Case:
    system = _pendulum()
    rng = np.random.default_rng(1)
    q, v, vdot = rng.normal(size=(3, count, 2))
    arguments = {"mass_matrix": (q,), "inverse_dynamics": (q, v, vdot)}.get(method, (q, v))
    return Case(lambda: getattr(system, method)(*arguments, **options))


def batch_to_out(count: int = 3000) -> Case:
    """Nothing is written into the array any more once the call has ended."""
    system = _pendulum()
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, count, 2))
    out = np.empty((count, 2))

    def call() -> Any:
        try:
            return system.forward_dynamics(q, v, out=out).copy()
        except KeyboardInterrupt:
            out[...] = np.nan
            time.sleep(2e-3)
            assert np.isnan(out).all(), "a thread writes into an array that was given back"
            raise

    return Case(call)


def _run(system: Any, steps: int, **options: Any) -> Case:
    return Case(lambda: mb.simulate(system, (0.0, steps * 1e-3), 1e-3, progress=False, **options))


def _directory() -> Case:
    os.fsync = lambda _: None  # moments spent in waiting for the disk are no use
    system = _pendulum()
    root = pathlib.Path(tempfile.mkdtemp())
    path = root / "run"
    options = {"tau": _spring, "events": _EVENTS, "progress": False}

    def call() -> Any:
        return mb.simulate(
            system, (0.0, 0.05), 1e-3, q=[0.1, 0.5], save_every=3, output=path, **options
        )

    def settle() -> Any:
        return mb.resume(path, **options) if RunDirectory(path).has_run() else None

    return Case(call, settle, lambda: shutil.rmtree(path, ignore_errors=True))


#: Makers of cases, by name.
CASES: dict[str, Callable[[], Case]] = {
    "batch": lambda: _batch("forward_dynamics", 1000),
    "batch with failures": lambda: _batch("forward_dynamics", 1000, on_error="nan"),
    "small batch": lambda: _batch("mass_matrix", 50),
    "batch to out": batch_to_out,
    "one call": lambda: _batch("inverse_dynamics", 1),
    "tree": lambda: _run(_pendulum(), 30, q=[1.0, 0.5]),
    "energies": lambda: _run(_pendulum(), 600, q=[1.0, 0.5]),
    "constrained": lambda: _run(_four_bar(), 30),
    "events": lambda: _run(_pendulum(), 100, q=[0.1, 0.5], events=_EVENTS),
    "force in Python": lambda: _run(_pendulum(), 30, q=[1.0, 0.5], tau=_spring),
    "directory": _directory,
}

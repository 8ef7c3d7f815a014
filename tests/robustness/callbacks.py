"""Code of users that raises, returns what it should not, comes back in, or is interrupted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import mbkit as mb
from tests.robustness.odd_values import odd, odd_array
from tests.robustness.subjects import Slide, subject

__all__ = ["Mine", "calls"]


class Mine(Exception):
    """What users' code raises: it comes out as it is."""


def _faulty(rng: np.random.Generator, right: Callable[..., Any], system: Any) -> Callable[..., Any]:
    """Return a function that goes wrong from some call on."""
    kind, since, count = rng.integers(7), int(rng.integers(1, 12)), [0]
    value = odd(rng)

    def function(*given: Any) -> Any:
        count[0] += 1
        if count[0] < since:
            return right(*given)
        if kind == 0:
            raise Mine
        if kind == 1:
            raise KeyboardInterrupt
        if kind == 2:
            return value
        if kind == 3:
            found = right(*given)
            if isinstance(found, tuple):
                return tuple(odd_array(rng, each) for each in found)
            return odd_array(rng, found)
        if kind == 4:  # comes back into the same system, or another one
            other = system() if callable(system) else system
            if other is not None and count[0] < since + 3:
                other.mass_matrix(other.reference_configuration())
            return right(*given)
        if kind == 5:
            for each in given:
                if isinstance(each, np.ndarray) and each.flags.writeable:
                    each[...] = np.nan
            return right(*given)
        raise StopIteration

    return function


def _pose(q: Any) -> Any:
    return mb.spatial.translation((q[0], 0.0, 0.0))


def _sliding(joint: mb.Joint, *forces: Any) -> mb.System:
    mech = mb.Mechanism("sliding")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(joint, mech.world, body)
    for force in forces:
        mech.add_force(force)
    return mech.assemble()


class _Steps(mb.Integrator):
    """Euler's method, of which something goes wrong."""

    order, looks = 1, True

    def __init__(self, rng: np.random.Generator) -> None:
        self.kind, self.rng = rng.integers(4), rng

    def prepare(self, problem: Any) -> Any:
        vdot, powers, q = np.zeros(problem.nv), np.zeros(2), np.zeros(problem.nq)
        rng, kind = self.rng, self.kind

        def advance(first: int, steps: int, rows: Any) -> Any:
            given = [problem.t0, problem.q, problem.v, vdot, powers]
            if kind == 0:
                k = rng.integers(len(given))
                given[k] = odd_array(rng, given[k])
            problem.accelerate(*given)
            step = odd_array(rng, problem.v) if kind == 1 else problem.h * problem.v
            problem.retract(problem.q, step, q)
            if kind == 2:
                return odd(rng)
            problem.look(problem.t0, odd_array(rng, q) if kind == 3 else q, problem.v)
            return 0, 1, 0

        other = odd(rng)  # what can be called is somebody's code, and raises what it likes
        return advance if kind != 3 or rng.random() < 0.9 or callable(other) else other


def _run(system: Any, **options: Any) -> Any:
    options = {"t_span": (0.0, 0.02), "h": 0.005, "progress": False, **options}
    return mb.simulate(system, **options)


def _faults(rng: np.random.Generator) -> tuple[str, Callable[[], Any]]:
    cell: list[Any] = [None]

    def back() -> Any:
        return cell[0]

    def joint() -> Any:
        cell[0] = _sliding(Slide("slide", _faulty(rng, _pose, back)))
        q = cell[0].reference_configuration()
        cell[0].mass_matrix(q)
        cell[0].forward_dynamics(np.zeros((3, 1)), [1.0])
        return _run(cell[0], v=[1.0])

    def force() -> Any:
        function = _faulty(rng, lambda t, q, v: -q - v, back)
        cell[0] = _sliding(mb.PrismaticJoint("slide"), mb.ForceFunction("push", function))
        cell[0].generalized_forces([0.1], [0.2], np.zeros(4))
        return _run(cell[0])

    def tau() -> Any:
        cell[0] = subject("tree")
        function = _faulty(rng, lambda t, q, v: -v, back)
        return _run(cell[0], tau=function)

    def motion() -> Any:
        moved = mb.PrismaticJoint("slide").prescribe(_faulty(rng, np.sin, back))
        cell[0] = _sliding(moved)
        return _run(cell[0])

    def event() -> Any:
        cell[0] = subject("tree")
        function = _faulty(rng, lambda t, q, v: t - 0.007, back)
        return _run(cell[0], events=[mb.Event("at", function, terminal=bool(rng.integers(2)))])

    def reset() -> Any:
        cell[0] = subject("tree")
        function = _faulty(rng, lambda t, q, v: (q, v), back)
        level = mb.Event("at", lambda t, q, v: t - 0.007, reset=function)
        return _run(cell[0], events=[level])

    def constraint() -> Any:
        mech = mb.Mechanism("coupled")
        for k in range(2):
            body = mech.add_body(mb.Body(f"body {k}", mb.SpatialInertia.sphere(1.0, radius=0.1)))
            mech.add_joint(mb.PrismaticJoint(f"slide {k}"), mech.world, body)
        function = _faulty(rng, lambda x: 2.0 * x, back)
        mech.add_constraint(mb.JointCoupling("coupling", "slide 0", "slide 1", function))
        cell[0] = mech.assemble()
        cell[0].solve_dynamics(cell[0].reference_configuration(), np.zeros(2))
        return _run(cell[0])

    def steps() -> Any:
        return _run(
            subject(("tree", "four-bar", "in python")[rng.integers(3)]), integrator=_Steps(rng)
        )

    def threads() -> Any:
        system = subject(("tree", "four-bar", "in python")[rng.integers(3)])
        q, v = system.reference_configuration(), np.zeros(system.nv)
        failed: list[BaseException] = []

        def work() -> None:
            try:
                for _ in range(20):
                    system.solve_dynamics(q, v)
                    system.poses(np.broadcast_to(q, (50, len(q))))
            except BaseException as error:
                failed.append(error)

        workers = [threading.Thread(target=work) for _ in range(8)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        if failed:
            raise failed[0]

    def forked() -> Any:
        system = subject("tree")
        q = np.broadcast_to(system.reference_configuration(), (2000, system.nq))
        system.mass_matrix(q)
        child = os.fork()
        if child == 0:
            try:
                system.mass_matrix(q)
                system.forward_dynamics(q[0], np.zeros(system.nv))
            except BaseException:
                os._exit(1)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            raise AssertionError("a child after a fork did not come to its end")

    every = (joint, force, tau, motion, event, reset, constraint, steps, steps, threads, forked)
    chosen = every[rng.choice(len(every), p=[*[1 / 9.2] * 9, 0.1 / 9.2, 0.1 / 9.2])]
    return chosen.__name__, chosen


def calls(rng: np.random.Generator) -> tuple[str, Callable[[], Any], None]:
    """Return what is tried in words, and a function that does it."""
    name, function = _faults(rng)

    def guarded() -> Any:
        try:
            return function()
        except (Mine, KeyboardInterrupt, StopIteration):
            return None

    return f"callbacks: {name}", guarded, None

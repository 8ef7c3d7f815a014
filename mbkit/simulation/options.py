"""Options of a run, as its result has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mbkit.coordinates.description import described as described_coordinates
from mbkit.events import Event
from mbkit.forces import Force
from mbkit.integrators import Integrator
from mbkit.integrators.integrator import Problem
from mbkit.interrupts import HeldInterrupts
from mbkit.simulation.sampled_control import Sampled
from mbkit.simulation.stepping.output_times import OutputTimes
from mbkit.solvers import described as described_solver
from mbkit.systems import System


def options_of(
    system: System,
    integrator: Integrator,
    t_span: tuple[float, float],
    problem: Problem,
    *,
    steps: int,
    tau: Any,
    forces: Sequence[Force],
    events: Sequence[Event],
    times: OutputTimes | None,
    keeping: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the options of a run as texts and numbers."""
    options = {
        "integrator": described_part(integrator), "representation": system.representation.name,
        "h": problem.h, "t_span": [float(t) for t in t_span],
        "save_every": None if times else problem.save_every, "steps": steps,
        "tau": "none" if tau is None else "callable" if callable(tau) else "constant",
        "forces": [described_part(force) for force in forces],
    }  # fmt: skip
    if integrator.adaptive:
        options["adaptive"] = True
    if system.num_velocity_constraints:
        assert system.constraint_solver is not None
        options |= {
            "loop_joints": list(system.loop_joints), "stabilisation": keeping,
            "constraint_solver": described_solver(system.constraint_solver),
        }  # fmt: skip
    coordinates = described_coordinates(system.coordinates)
    if coordinates is not None:
        options["coordinates"] = coordinates
    if isinstance(tau, Sampled):
        sizes = {name: getattr(tau, name) for name in ("quantum", "resolution")}
        options["sampled"] = {
            "period": tau.period,
            "delay": tau.delay,
            **{name: size.tolist() for name, size in sizes.items() if size.any()},
        }
    if times is not None:
        options["save_at"] = f"{times.times.size} times"
    if events:
        options["events"] = [_described_event(event) for event in events]
    return options


def described_part(thing: Any) -> str:
    """Return the text of an object; not its address, which is another one in each process."""
    kind: Any = type(thing)
    if kind.__repr__ is not object.__repr__:
        with HeldInterrupts():  # attrs writes "..." ever after where Ctrl-C came in between
            return repr(thing)
    name = getattr(thing, "name", None)
    return f"{kind.__qualname__}({'' if name is None else repr(name)})"


def _described_event(event: Event) -> str:
    """Return the text of an event, the same in each process."""
    reset = "" if event.reset is None else f", reset {described_part(event.reset)}"
    return (
        f"{event.name}: {described_part(event.when)} {event.direction}{reset}"
        f"{', terminal' if event.terminal else ''}, within {event.tolerance!r} s"
    )

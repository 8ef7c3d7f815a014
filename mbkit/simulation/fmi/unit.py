"""A system that another program steps: its inputs, its outputs, its state between steps."""

from __future__ import annotations

import json
import math
import os
import pathlib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, UsageError, check_kind, suggestion
from mbkit.integrators.description import from_description
from mbkit.integrators.integrator import Integrator, Rows
from mbkit.io.toml.loading import parse_model
from mbkit.results.columns import velocity_units
from mbkit.simulation.long_runs.resume import strategies
from mbkit.simulation.outputs.by_name import Output, by_label, checked_outputs
from mbkit.simulation.simulate import simulate
from mbkit.systems import System

__all__ = ["Channel", "Unit", "input_names", "output_channels", "read_unit"]

MODEL, SETTINGS = "model.toml", "mbkit.json"

#: Part of a step h by which the other program's steps may be longer than a whole number of them.
_ROUNDED = 1e-9


class Channel(NamedTuple):
    """A number that goes in or out: its name, its unit, "" where there is none."""

    name: str
    unit: str


@final
@attrs.define(eq=False)
class Unit:
    """A system, its state, inputs and outputs."""

    system: System
    inputs: dict[str, int]  # entries of tau by the names of inputs
    outputs: list[tuple[str, str | Output]]
    h: float
    q: Any
    v: Any
    integrator: Integrator | None = None
    t: float = 0.0
    tau: Any = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.tau = np.zeros(self.system.nv)

    def values(self) -> Any:
        """Return all outputs, in the order of `output_channels`."""
        rows = Rows(
            np.array([self.t]), self.q[None].copy(), self.v[None].copy(), np.zeros((1, 2)),
            np.zeros((1, 0)),
        )  # fmt: skip
        found = []
        for _, what in self.outputs:
            if isinstance(what, Output):
                found.append(np.ravel(what.values(self.system, rows, self.tau[None])))
            else:
                vector, names = _entries(self.system)[what[0]], (self.q, self.v)
                found.append(names["qv".index(what[0])][[vector.index(what[2:])]])
        return np.concatenate(found) if found else np.zeros(0)

    def advance(self, t: float, span: float) -> None:
        """Go from the time t on, in steps of at most h that divide the span, efforts held."""
        steps = max(1, math.ceil(span / self.h - _ROUNDED))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are issued when the unit is exported
            run = simulate(
                self.system, (t, t + span), span / steps, q=self.q, v=self.v, tau=self.tau,
                integrator=self.integrator, save_every=steps, progress=False,
            )  # fmt: skip
        self.t, self.q, self.v = float(run.t[-1]), np.array(run.q[-1]), np.array(run.v[-1])


def _entries(system: System) -> dict[str, list[str]]:
    return {"q": list(system.position_names), "v": list(system.velocity_names)}


def input_names(system: System, given: Iterable[str] | Mapping[str, str] | None) -> dict[str, str]:
    """Return entries of the velocity by names of inputs, all of them as "tau.NAME" by default."""
    names = list(system.velocity_names)
    if given is None:
        return {f"tau.{name}": name for name in names}
    pairs = _by_label(given, "inputs", "['main'] or {'torque': 'main'}")
    found = {label if isinstance(given, Mapping) else f"tau.{label}": x for label, x in pairs}
    for what in found.values():
        if what not in names:
            raise NameUnknownError(
                f"export_fmu: inputs are efforts of joints, and system '{system.name}' has no "
                f"velocity '{what}'; {suggestion(what, names)}"
            )
    return found


def output_channels(
    system: System, given: Iterable[str] | Mapping[str, str] | None
) -> tuple[list[tuple[str, str | Output]], dict[str, str]]:
    """Return outputs as a `Unit` has them, and as a file holds them, names by labels.

    By default all positions and velocities.
    """
    entries = _entries(system)
    every = [f"{kind}.{name}" for kind, names in entries.items() for name in names]
    pairs = [(name, name) for name in every] if given is None else []
    pairs = pairs or list(_by_label(given, "outputs", "['q.main', 'hand.position']"))
    found: list[tuple[str, str | Output]] = []
    for label, what in pairs:
        if what in every:
            found.append((label, what))
        elif what[:2] in ("q.", "v."):
            raise NameUnknownError(
                f"export_fmu: outputs: system '{system.name}' has no '{what}'; "
                f"{suggestion(what, every)}"
            )
        else:
            found.append((label, checked_outputs(system, {label: what})[0]))
    return found, dict(pairs)


def _by_label(given: Any, what: str, example: str) -> Iterable[tuple[str, str]]:
    pairs = by_label(given)
    if pairs is None:
        raise UsageError(f"export_fmu: {what} must be names, such as {example}, got {given!r}.")
    taken: set[str] = set()
    for label, name in pairs:
        for each in (label, name):
            check_kind(f"export_fmu: each of {what}", each, str, f"a name, as in {example}")
        if label in taken:
            raise UsageError(f"export_fmu: {what} have '{label}' twice; leave one out.")
        taken.add(label)
    return pairs


def channels(unit: Unit) -> tuple[list[Channel], list[Channel]]:
    """Return the inputs and the outputs of a unit, number by number."""
    system = unit.system
    rates = velocity_units(system.position_names, system.position_units, system.velocity_names)
    efforts = {"rad/s": "N m", "m/s": "N"}
    inputs = [Channel(name, efforts.get(rates[k], "")) for name, k in unit.inputs.items()]
    outputs = []
    for label, what in unit.outputs:
        if isinstance(what, Output):
            alone = attrs.evolve(unit, outputs=[(label, what)])
            count, own = alone.values().size, what.units(system)
            units = own if len(own) == count else ("",) * count
            names = [label] if count == 1 else [f"{label}[{k}]" for k in range(count)]
            outputs += [Channel(*each) for each in zip(names, units, strict=True)]
        else:
            k = _entries(system)[what[0]].index(what[2:])
            outputs.append(Channel(label, (system.position_units if what[0] == "q" else rates)[k]))
    return inputs, outputs


def read_unit(folder: str | os.PathLike[str]) -> Unit:
    """Return the unit of the files in a folder: a model file, and its inputs and outputs."""
    from mbkit.plugins import registry

    place = pathlib.Path(folder)
    about = json.loads((place / SETTINGS).read_text(encoding="utf-8"))
    mechanism = parse_model((place / MODEL).read_text(encoding="utf-8"), source=MODEL)
    representation = registry().find("representation", about["options"]["representation"])
    system = mechanism.assemble(strategies(about["options"], representation)[0])
    places = {name: k for k, name in enumerate(system.velocity_names)}
    outputs, _ = output_channels(system, about["outputs"])
    return Unit(
        system,
        {label: places[name] for label, name in about["inputs"].items()},
        outputs,
        about["h"],
        np.array(about["q"]),
        np.array(about["v"]),
        from_description(about["integrator"]) if about["integrator"] else None,
    )

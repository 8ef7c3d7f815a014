"""The side of an FMU that pythonfmu calls."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from mbkit.errors import MbkitError
from mbkit.simulation.fmi.unit import Unit, channels, read_unit

__all__ = ["Slave"]


class Slave:
    """A unit behind the variables of an FMU; `owner` is pythonfmu's object.

    `variable` and `causality` are pythonfmu's classes of the version of FMI, `error` its status.
    """

    def __init__(self, owner: Any, variable: Any, causality: Any, error: Any) -> None:
        self.owner, self._error = owner, error
        self.unit: Unit = read_unit(owner.resources)
        self._values: Any = None
        owner.author, owner.description = "mbkit", f"Mechanism '{self.unit.system.name}'"
        inputs, outputs = channels(self.unit)
        for each, entry in zip(inputs, self.unit.inputs.values(), strict=True):
            self._register(
                variable, each, causality=causality.input, getter=self._effort(entry),
                setter=self._set_effort(entry),
            )  # fmt: skip
        for k, each in enumerate(outputs):
            self._register(variable, each, causality=causality.output, getter=self._output(k))

    def _register(self, kind: Any, channel: Any, **options: Any) -> None:
        about = f"[{channel.unit}]" if channel.unit else None
        self.owner.register_variable(kind(channel.name, description=about, **options), nested=False)

    def _effort(self, k: int) -> Any:
        return lambda: float(self.unit.tau[k])

    def _set_effort(self, k: int) -> Any:
        def set_effort(value: float) -> None:
            self.unit.tau[k] = value
            self._values = None

        return set_effort

    def _output(self, k: int) -> Any:
        def output() -> float:
            if self._values is None:
                self._values = self.unit.values()
            return float(self._values[k])

        return output

    def completed(self, root: Any) -> Any:
        """Return pythonfmu's description with the list of initial unknowns, which it leaves out."""
        structure = root.find("ModelStructure")
        found = structure.find("Outputs")
        if found is not None:
            again = ET.SubElement(structure, "InitialUnknowns")
            for each in found:
                ET.SubElement(again, "Unknown", index=each.get("index"))
        return root

    def do_step(self, t: float, span: float) -> bool:
        """Take a step of the other program; errors of mbkit go to its log."""
        self._values = None
        try:
            self.unit.advance(t, span)
        except MbkitError as error:
            self.owner.log(str(error), self._error)
            return False
        return True

    def state(self) -> dict[str, Any]:
        """Return the state and memory of the unit, as lists of numbers."""
        unit = self.unit
        return {name: np.asarray(getattr(unit, name)).tolist() for name in ("t", "q", "v", "tau")}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore the values that `state` returned."""
        self.unit.t = state["t"]
        self.unit.q, self.unit.v, self.unit.tau = (
            np.array(state[name]) for name in ("q", "v", "tau")
        )
        self._values = None

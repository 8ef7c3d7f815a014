"""Implicit steps of several runs side by side, in the lanes of vector registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from mbkit.integrators.step_memory import Record, StepMemory
from mbkit.kernels.implicit_integrators.layout import IMPLICIT, OF_EACH_SAMPLE, STARTING

__all__ = ["ImplicitStepInLanes"]

#: Forms of functions by address, with lanes: see `address_in_lanes`. Times and step sizes, `t`, are
#: the same for all runs where steps have one size.
_EVALUATION = "sipppp"
_OF_STEP = {
    "make": "ss", "solve": "sp", "solve_step": "ssttdd", "solve_end": "sssttt",
    "accelerate": "sstpppp", "dynamics_derivatives": _EVALUATION, "predict": "ssst",
}  # fmt: skip
#: Integers of a step that it writes, the same for all runs, by the name of their number; None: one.
_OWN_INTEGERS = {"prescribed": "nv", "count": None}

_OF_CONSTRAINTS = {
    "add_least": "sstpppt", "constraint_state": _EVALUATION, "constraint_jacobian": _EVALUATION
}  # fmt: skip
_OF_LOOPS = {"velocity_derivative": _EVALUATION, "force_derivative": _EVALUATION}
_OF_FORCES = {"generalized_forces": _EVALUATION, "force_derivatives": _EVALUATION}


@attrs.frozen(eq=False)
class ImplicitStepInLanes:
    """How several runs take implicit steps side by side, as `StepInLanes` for explicit ones.

    Attributes
    ----------
    function : callable
        One step, which is compiled for lanes when such runs are there.
    step : StepMemory
        The memory of the step of one run.
    dtype : dtype
        The record of the method.
    sizes : dict of str to int
        Numbers of entries of the method's arrays beside the memory of the step, by name.
    fields : dict
        The fields of its record that are the same for all runs.
    starting : tuple, optional
        The function of its first steps, and their sizes and fields.
    adaptive : bool
        Whether each run chooses its steps: then `function` is an attempt at one.
    """

    function: Callable[..., Any]
    step: StepMemory
    dtype: Any
    sizes: dict[str, int]
    fields: dict[str, Any]
    starting: tuple[Callable[..., Any], dict[str, int], dict[str, Any]] | None = None
    adaptive: bool = False
    linearises = True
    forgets = False  # Newton's method begins with values of earlier steps
    evaluations = 0  # counted by themselves

    @property
    def form(self) -> str:
        """The form of the function."""
        return "ssp" if self.adaptive else "ssdddp"

    @property
    def num_numbers(self) -> int:
        """How many numbers of a run it needs, those of the state included."""
        return sum(sum(sizes.values()) for sizes in self._sizes.values())

    @property
    def _sizes(self) -> dict[str, dict[str, int]]:
        """How many numbers each array has, by whose it is; the state comes first."""
        state = {name: self.step.sizes[name] for name in ("q", "v", "work")}
        starting = {} if self.starting is None else self.starting[1]
        return {"step": state | self.step.sizes, "method": self.sizes, "starting": starting}

    def called(self, *, forces: bool) -> dict[str, tuple[Callable[..., Any], str]]:
        """Return further functions compiled for lanes, by name, and forms; `forces`: if any act."""
        functions = self.step.functions
        forms = _OF_STEP | _OF_CONSTRAINTS | _OF_LOOPS | (_OF_FORCES if forces else {})
        called = {
            name: (functions[name].function, form if self.adaptive else form.replace("t", "d"))
            for name, form in forms.items()
            if name in functions
        }
        return (
            called
            if self.starting is None
            else called | {"starting_step": (self.starting[0], "ssddd")}
        )

    def multipliers_in(self, numbers: Any) -> Any:
        """Return the rows in which steps leave multipliers."""
        return self._parts(numbers)["step"]["multipliers"]

    def progress_in(self, numbers: Any) -> tuple[Any, Any]:
        """Return the rows of the progress of the runs, and those of their counts."""
        own = self._parts(numbers)["method"]
        return own["progress"], own["counts"]

    def begin(self) -> None:
        """Forget earlier steps: all of them are in the numbers, which are zero at a start."""

    def in_memory(self, workspace: Any, numbers: Any, functions: Mapping[str, Any]) -> Record:
        """Return the record of the method for steps, with its numbers in the rows of an array.

        The workspace of these runs gets the functions that steps call; `functions` are addresses.
        """
        from mbkit.kernels.compile import array_address

        address_of = workspace.address_of
        step, space = self.step, workspace.record[0]
        space["num_columns"] = step["width"]
        space["column_of"] = array_address(step["column_of"])
        workspace.have_trial(step["nq"] + 2 * step["nv"])
        parts = self._parts(numbers)
        places: dict[str, Any] = {name: address_of(rows) for name, rows in parts["step"].items()}
        mass = 2 * step["nv"] * step["width"]
        places["mass"] = address_of(parts["step"]["derivatives"][mass:])
        shared: dict[str, Any] = {
            name: step[name]
            for name in IMPLICIT.names or ()
            if name not in OF_EACH_SAMPLE | step.functions.keys() | _OWN_INTEGERS.keys()
        }
        own = Record(
            IMPLICIT, **shared, **places, **functions,
            integers={name: step[size] if size else 1 for name, size in _OWN_INTEGERS.items()},
        )  # fmt: skip
        fields = dict(self.fields)
        if self.starting is not None:
            state = {name: places[name] for name in ("q", "v", "work")}
            rows: dict[str, Any] = {
                name: address_of(each) for name, each in parts["starting"].items()
            }
            fields["starting"] = Record(STARTING, **state, **rows, **self.starting[2])
        places = {name: address_of(rows) for name, rows in parts["method"].items()}
        return Record(self.dtype, **places, step=own, **fields)

    def _parts(self, numbers: Any) -> dict[str, dict[str, Any]]:
        """Return the rows of each array, by whose it is."""
        found: dict[str, dict[str, Any]] = {}
        first = 0
        for owner, sizes in self._sizes.items():
            found[owner] = {}
            for name, size in sizes.items():
                found[owner][name] = numbers[first : first + size]
                first += size
        return found

    def counts(self, numbers: Any, lane: int, _taken: int, counted: Any) -> dict[str, int]:
        """Return the counts of the run in a lane, with those that were `counted` apart."""
        total = self._parts(numbers)["step"]["total"][:, lane]
        iterations, factorisations = map(int, total)
        evaluations, rejected = map(int, counted)
        return {
            "evaluations": evaluations + iterations, "rejected_steps": rejected,
            "newton_iterations": iterations, "factorisations": factorisations,
        }  # fmt: skip

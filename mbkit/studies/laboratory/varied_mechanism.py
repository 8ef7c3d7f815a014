"""A mechanism of which numbers vary from run to run."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import UsageError, check_kind, suggestion
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas
from mbkit.model import Mechanism
from mbkit.model.parameters import unknown_parameter
from mbkit.results import Result
from mbkit.simulation.simulate import simulate
from mbkit.simulation.start import initial_state, number_of_steps
from mbkit.studies.changes import entry_of, with_entries
from mbkit.studies.laboratory.directory import code_of, digest
from mbkit.systems import System
from mbkit.systems.calls.by_name import slice_of_name

__all__ = ["Varied", "distribution", "row_of", "varied_of"]


@attrs.define(eq=False, on_setattr=attrs.setters.frozen)
class Varied:
    """A mechanism of which numbers vary.

    It keeps the system of the last point: in a grid most points have the parameters of the point
    before, and a system costs more than a short run.

    `held` are the joints that the start names, under "q" and "v": in a closed mechanism they are
    where they were put at each point, and the others close the loops.
    """

    system: System
    q: Any
    v: Any
    t_span: tuple[float, float]
    h: float | None
    integrator: Integrator | None
    vary: tuple[str, ...]
    held: Mapping[str, tuple[str, ...]]
    outputs: tuple[str, ...] = ()
    # the numbers of parameters that were used last, and the system with these
    _last: tuple[dict[str, float], System] | None = attrs.field(
        default=None, init=False, on_setattr=attrs.setters.NO_OP
    )

    @property
    def setting(self) -> dict[str, Any]:
        """Settings that identify the runs, without the numbers that vary."""
        return {
            "model": digest(self.system.model_text), "q": self.q.tolist(), "v": self.v.tolist(),
            "t_span": list(self.t_span), "h": self.h, "integrator": repr(self.integrator),
            "coordinates": repr(self.system.coordinates),
            **{f"{name} held": list(each) for name, each in self.held.items()},
            **code_of(self.system, integrator=self.integrator),
        }  # fmt: skip

    def __call__(self, values: Mapping[str, float]) -> Result:
        """Return the run with these numbers."""
        system, q, v = self._changed(values)
        return simulate(
            system, self.t_span, self.h, q=q, v=v, integrator=self.integrator, save_every=1,
            outputs=self.outputs, progress=False,
        )  # fmt: skip

    def _changed(self, values: Mapping[str, float]) -> tuple[System, Any, Any]:
        q, v = self.q.copy(), self.v.copy()
        numbers: dict[str, Any] = {}
        for name, value in values.items():
            kind, _, rest = name.partition(".")
            if kind in ("q", "v"):
                (q if kind == "q" else v)[self._entry(kind, rest)] = value
            else:
                numbers[name] = value
        system = self._with_parameters(numbers) if numbers else self.system
        if system.num_velocity_constraints:
            q, v = self._closed(system, q, v, values)
        return system, q, v

    def _with_parameters(self, numbers: dict[str, float]) -> System:
        last = self._last  # read once and written at once: several threads do this
        if last is not None and last[0] == numbers:
            return last[1]
        system = self.system.with_parameters(with_entries(self.system.parameters, numbers))
        self._last = numbers, system
        return system

    def _closed(
        self, system: System, q: Any, v: Any, values: Mapping[str, float]
    ) -> tuple[Any, Any]:
        """Return the start with its loops closed; named and varied numbers are kept.

        Where a start is no mapping by names, joints of which q or v varies keep both.
        """
        kept = {}
        for kind in ("q", "v"):
            begins = f"{kind}." if kind in self.held else ("q.", "v.")
            varied = (name[2:] for name in values if name.startswith(begins))
            kept[kind] = dict.fromkeys((*self.held.get(kind, ()), *varied))
        t = self.t_span[0]
        q = system.close_loops(q, fixed=list(kept["q"]), t=t)
        rates = {name: v[slice_of_name(system, "v", name)] for name in kept["v"]}
        return q, system.consistent_velocity(rates, q, v, t=t)

    def _entry(self, kind: str, name: str) -> slice:
        found = slice_of_name(self.system, kind, name)
        if found.stop - found.start != 1:
            raise UsageError(
                f"vary: '{kind}.{name}' has {found.stop - found.start} numbers; name one of them, "
                f"such as '{kind}.{name}[0]'."
            )
        return found

    def check(self) -> None:
        """Raise UsageError where a name, a range or an output is none."""
        for name in self.vary:
            kind, _, rest = name.partition(".")
            if kind in ("q", "v") and name not in self.system.parameters:
                self._entry(kind, rest)
                continue
            base, index = entry_of(name)
            if base not in self.system.parameters:
                raise UsageError(
                    f"vary: {name!r} is unknown; {unknown_parameter(name, self._known())}"
                )
            size = np.size(self.system.parameters[base])
            if (index is None) != (size == 1) or (index is not None and index >= size):
                raise UsageError(
                    f"vary: {base!r} has {size} numbers; name one of them, as in '{base}[0]'."
                )

    def _known(self) -> list[str]:
        joints = [f"{kind}.{joint}" for kind in "qv" for joint in self.system.joint_names]
        return [*self.system.parameters, *joints]


def row_of(
    run: Callable[[Any], Result], asked: Callable[[Result], dict[str, Any]], values: Any
) -> dict[str, Any]:
    """Return the outputs of the run with some values, or the reason why there are none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = run(values)
            found = asked(result)
    except Exception as error:  # of the run, or of an output of the user
        text = " ".join(str(error).split())
        return {**values, "status": f"{type(error).__name__}: {text:.300}"}
    return {**values, "status": "completed" if result.completed else result.message, **found}


def varied_of(
    mechanism: Any, t_span: Any, h: Any, vary: Iterable[str], options: dict[str, Any]
) -> Varied:
    """Return the mechanism whose numbers, by name, vary, checked; UsageError names faults."""
    check_kind("mechanism", mechanism, Mechanism, "an mbkit.Mechanism")
    known = ("q", "v", "integrator", "coordinates")
    if unknown := next((name for name in options if name not in known), None):
        raise UsageError(f"There is no argument {unknown!r}; {suggestion(unknown, known)}")
    integrator = options.get("integrator", None if h is None else RungeKuttaMuntheKaas())
    system = mechanism.assemble(options.get("coordinates"))
    span, step, _ = number_of_steps(t_span, h)
    start = initial_state(system, span[0], options.get("q"), options.get("v"))
    h = None if h is None else step
    named = {kind: options.get(kind) for kind in ("q", "v")}
    held = {kind: tuple(each) for kind, each in named.items() if isinstance(each, Mapping)}
    made = Varied(system, start.q, start.v, span, h, integrator, tuple(vary), held)
    made.check()
    return made


def distribution(name: str, given: Any) -> Any:
    """Return a distribution: uniform from a pair of numbers, by name, or the one that was given.

    By name it is a mapping, of "distribution" to a name of `scipy.stats` and of its parameters.
    """
    if callable(getattr(given, "ppf", None)):
        return given
    from scipy import stats

    if isinstance(given, Mapping) and "distribution" in given:
        own = {key: value for key, value in given.items() if key != "distribution"}
        known = [key for key, each in vars(stats).items() if hasattr(each, "ppf")]
        if given["distribution"] not in known:
            raise UsageError(
                f"vary: {name!r}: scipy.stats has no distribution {given['distribution']!r}; "
                f"{suggestion(given['distribution'], known)}"
            )
        try:
            made = getattr(stats, given["distribution"])(**own)
            middle = float(made.ppf(0.5))
        except (TypeError, ValueError) as error:
            raise UsageError(f"vary: {name!r}: {given['distribution']}: {error}.") from error
        if not math.isfinite(middle):
            raise UsageError(f"vary: {name!r}: {given!r} has no median; look at its parameters.")
        return made
    try:
        low, high = (float(each) for each in given)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UsageError(
            f"vary: {name!r} must be a pair of numbers, low and high, or a distribution of "
            f"scipy.stats, got {given!r}."
        )
    return stats.uniform(low, high - low)

"""The beginning of a run, from which it can be taken again."""

from __future__ import annotations

import copy
import warnings
from typing import Any, final

import attrs

from mbkit.simulation.preparation import Prepared, prepare
from mbkit.simulation.stabilisation import from_description


@final
@attrs.frozen(eq=False)
class Origin:
    """A run before its first step, without its memory."""

    arguments: dict[str, Any]  # those of `prepare`, of which the system has all forces of the run
    given: tuple[Any, Any] | None  # q and v of the caller, from which the start was found

    @classmethod
    def of(cls, run: Prepared) -> Origin:
        """Return the origin of a run."""
        assert run.start is not None
        q, v = run.start
        times, options = run.course.times, run.options
        described = options.get("stabilisation", {"kind": "none"})
        return cls({
            "system": run.system, "integrator": run.integrator,
            "t_span": tuple(options["t_span"]), "h": options["h"],
            "q": q, "v": v, "tau": run.tau if callable(run.tau) else run.workspace.tau.copy(),
            "events": run.course.events, "save_every": options["save_every"] or 1,
            "save_at": None if times is None else times.times,
            "stabilisation": from_description(described), "in_momenta": run.momenta is not None,
        }, copy.deepcopy(run.given))  # fmt: skip

    def prepared(self) -> Prepared:
        """Return the run, before its first step; its warnings were issued already."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = prepare(**self.arguments, forces=(), constraint_solver=None)
        return attrs.evolve(again, given=self.given)

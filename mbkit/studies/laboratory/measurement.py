"""The measurement of a case: its errors, drifts, time and work."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from mbkit.errors import UsageError
from mbkit.results import Result
from mbkit.studies.laboratory.cases import Case
from mbkit.studies.laboratory.outputs import NAMED
from mbkit.studies.laboratory.reference import Reference, Setting
from mbkit.systems import System, near_singularity

__all__ = ["DONE", "UNITS", "measure"]

#: The measured quantities, in the order of tables, with units.
UNITS = {
    "steps": "", "error": "", "error_rotation": "rad", "error_position": "m",
    "error_angular_velocity": "rad/s", "error_velocity": "m/s", "events": "",
    "error_event_time": "s",
    "time": "s", "time_least": "s", "time_spread": "s",
    "evaluations": "", "newton_iterations": "", "factorisations": "", "rejected_steps": "",
    "operations": "", "operations_dynamics": "", "operations_constraints": "",
    "operations_matrices": "", "operations_steps": "", "operations_per_body": "",
    "energy_drift": "J", "momentum_drift": "kg m/s", "angular_momentum_drift": "kg m^2/s",
    "constraint_position": "m", "constraint_velocity": "m/s", "constraint_acceleration": "m/s^2",
    "singularity_distance": "", "warnings": "",
}  # fmt: skip

#: The status of a case that came to its end.
DONE = "completed"


def measure(case: Case, setting: Setting, reference: Reference) -> dict[str, Any]:
    """Return the measurements of a case, by the columns of `UNITS`, and its ``status``.

    An error becomes the status; it is not raised.
    """
    try:
        system = case.assemble()
        return {"status": DONE, **_measured(case, setting, reference, system)}
    except Exception as error:  # whatever a joint of the user raises
        text = " ".join(str(error).split())
        return {"status": f"{type(error).__name__}: {text:.300}"}


def _measured(case: Case, setting: Setting, reference: Reference, system: System) -> dict[str, Any]:
    span = setting.t_span[1] - setting.t_span[0]
    steps = round(span / case.h)
    if steps % setting.samples:
        raise UsageError(
            f"{steps} steps of h = {case.h:g} s are no multiple of the {setting.samples} instants "
            "that are compared; give samples that divide all numbers of steps."
        )
    more: dict[str, Any] = {}
    if system.num_velocity_constraints and not case.integrator.keeps_constraints:
        more["stabilisation"] = case.stabilisation

    def run(save_every: int) -> Result:
        return setting.run(system, case.h, case.integrator, save_every, **more)

    saved = run(steps // setting.samples)
    found = {"steps": saved.options["steps_taken"], **saved.options.get("counts", {})}
    found |= reference.errors(setting, system, saved)
    found |= {f"{name}_drift": _drift(each(system, saved.q, saved.v))
              for name, each in setting.invariants.items()}  # fmt: skip
    found["energy_drift"] = float(np.abs(saved.energy_balance).max())
    for level, worst in zip(
        ("position", "velocity", "acceleration"), np.abs(saved.residuals).max(axis=0), strict=True
    ):
        found[f"constraint_{level}"] = float(worst)
    found |= NAMED["warnings"](saved)
    found["singularity_distance"] = _least_distance(system, saved.q)
    times = [run(steps).options["wall_time"] for _ in range(setting.repeats)]
    if times:
        found |= {
            "time": statistics.median(times), "time_least": min(times),
            "time_spread": max(times) - min(times),
        }  # fmt: skip
    return found


def _drift(values: Any) -> float:
    values = np.asarray(values)
    return float(np.abs(values - values[0]).max())


def _least_distance(system: System, q: Any) -> float:
    """Return how near to a singular configuration joints come; not a number where none has any."""
    near = [near_singularity(system, each, threshold=np.inf) for each in q]
    return min((each[0].distance for each in near if each), default=float("nan"))

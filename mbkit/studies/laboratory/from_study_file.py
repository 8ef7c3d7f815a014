"""Studies of the laboratory by the tables of a study file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from mbkit.errors import UsageError
from mbkit.io.toml.loading import parse_model
from mbkit.simulation.step_sizes import INTERVALS
from mbkit.studies.laboratory.compare import compare
from mbkit.studies.laboratory.convergence import convergence, work_precision
from mbkit.studies.laboratory.directory import StudyDirectory
from mbkit.studies.laboratory.findings.findings import Findings
from mbkit.studies.laboratory.scaling import scaling
from mbkit.studies.laboratory.variation import ensemble, sensitivity
from mbkit.studies.laboratory_tables import KINDS, parted
from mbkit.studies.study import Study

__all__ = ["findings_of"]


def findings_of(
    study: Study, directory: str | os.PathLike[str] | None, *, progress: bool
) -> Findings:
    """Return the findings of the table of a study; see `Study.findings`."""
    if not study.kind:
        raise UsageError(
            f"Study '{study.name}' has none of the tables {', '.join(KINDS)}, and is one run: take "
            "its method run."
        )
    place = None if directory is None else StudyDirectory(directory, study)
    return _RUN[study.kind](study, directory=place, progress=progress)


def _compared(function: Callable[..., Findings]) -> Callable[..., Findings]:
    """Return a function that calls `compare`, or one based on it, with the settings of a study."""

    def run(study: Study, **how: Any) -> Findings:
        given, where = parted(study.tables[study.kind])
        given.setdefault("integrators", study.integrator)
        if "coordinates" not in given:
            given["coordinates"] = study.system.coordinates
        h = given.pop("h", study.h)
        if h is None:  # the interval between the states that a run without h saves
            h = (study.t_span[1] - study.t_span[0]) / INTERVALS
        if isinstance(given.get("reference"), str):
            given["reference"] = study.path.parent / given["reference"]
        mechanism = parse_model(study.system.model_text)
        base, q, v = mechanism.assemble(), study.q, study.v
        if study.system.num_velocity_constraints and not study.system.free_joints:
            initial = study.settings.get("initial", {})  # joints that are named keep their values
            named = [name for table in ("q", "v") for name in initial.get(table, {})]
            q, v = study.system.close_loops(q, v, fixed=list(dict.fromkeys(named)))
        q, v = base.state_of(study.system, q, v)
        return function(
            mechanism, study.t_span, h, q=q, v=v, events=study.events, **given, **where, **how
        )

    return run


def _scaled(study: Study, **how: Any) -> Findings:
    return scaling(**study.tables["scaling"], **how)


_RUN: Mapping[str, Callable[..., Findings]] = {
    "compare": _compared(compare),
    "convergence": _compared(convergence),
    "work_precision": _compared(work_precision),
    "ensemble": ensemble,
    "sensitivity": sensitivity,
    "scaling": _scaled,
}

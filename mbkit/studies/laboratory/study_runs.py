"""Runs of a study, or of a mechanism, with other numbers, for sweeps and ensembles."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import attrs

from mbkit.errors import MbkitError, UsageError, check_kind
from mbkit.model import Mechanism
from mbkit.results import Result
from mbkit.simulation.outputs.by_name import checked_outputs
from mbkit.simulation.simulate import simulate
from mbkit.studies.laboratory.directory import code_of, digest
from mbkit.studies.laboratory.outputs import Outputs, unit_of_varied, units_of, units_of_recorded
from mbkit.studies.laboratory.varied_mechanism import Varied, varied_of
from mbkit.studies.laboratory_tables import parted
from mbkit.studies.study import Study
from mbkit.studies.study_file import changed_study, load_study
from mbkit.systems import System

__all__ = ["Runs", "StudyRuns", "code_of_study", "loaded", "runs_of", "units_with", "with_table"]

Point = Mapping[str, Any]


class Runs(NamedTuple):
    """The function that runs a point, the settings that identify all runs, and the given system."""

    run: Varied | StudyRuns
    setting: dict[str, Any]
    system: System

    def recording(self, names: tuple[str, ...]) -> Runs:
        """Return them with outputs of `simulate` recorded; NameUnknownError where one is none."""
        checked_outputs(self.system, names)
        return self._replace(run=attrs.evolve(self.run, outputs=names))


def loaded(given: Any) -> Mechanism | Study:
    """Return a mechanism or a study that is given, or the study of a file."""
    kinds = (Mechanism, Study, str, os.PathLike)
    check_kind("what", given, kinds, "a Mechanism, a Study or its file")
    return load_study(given) if isinstance(given, str | os.PathLike) else given


def with_table(given: dict[str, Any], what: Mechanism | Study, kind: str) -> dict[str, Any]:
    """Return arguments, and those that are left out as the table of a study has them."""
    if isinstance(what, Mechanism):
        return given
    table, where = parted(what.tables.get(kind, {}))
    own = {name: each for name, each in given.items() if each is not None}
    return dict.fromkeys(given) | table | where | own


def runs_of(
    what: Mechanism | Study,
    t_span: Any,
    h: Any,
    vary: Mapping[str, Any],
    points: Sequence[Point],
    options: dict[str, Any],
) -> Runs:
    """Return the runs of a mechanism or a study at points.

    UsageError, StudyFileError if a key of `vary` names no number.
    """
    if isinstance(what, Mechanism):
        varied = varied_of(what, t_span, h, vary, options)
        return Runs(varied, varied.setting, varied.system)
    if t_span is not None or h is not None or options:
        named = [*options, *(("t_span",) if t_span is not None else ("h",))]
        raise UsageError(f"{named[0]}: a study has its own; vary it, or change the study.")
    return _of_study(what, points)


def units_with(system: System, vary: Mapping[str, Any], asked: Outputs) -> dict[str, str]:
    """Return the units of the columns of runs: of varied numbers, and of outputs by name."""
    named = {name: unit_of_varied(system, name) for name in vary}
    recorded = units_of_recorded(system, asked.recorded)
    return {**named, "status": "", **recorded, **units_of(system)}


def _of_study(study: Study, points: Sequence[Point]) -> Runs:
    """Return the runs of a study; StudyFileError where it takes none of some far points.

    Then there is no such name. A value that it does not take fails alone.
    """
    run = StudyRuns(study.path, json.loads(json.dumps(dict(study.settings))))
    first, last = points[0], points[-1]
    refused = []
    for point in (first, *({**first, name: last[name]} for name in last), last):
        try:
            changed_study(run.path, run.settings, point)
        except MbkitError as error:
            refused.append(error)
        else:
            break
    else:
        raise refused[0]
    setting = {
        "settings": run.settings, "model": digest(study.system.model_text), **code_of_study(study)
    }  # fmt: skip
    return Runs(run, setting, study.system)


def code_of_study(study: Study) -> dict[str, Any]:
    """Return the identity of the user's code of a study; see `code_of`."""
    return code_of(study.system, integrator=study.integrator, events=study.events)


@attrs.frozen
class StudyRuns:
    """Runs of a study: its tables are sent to workers, and changed there as --set does.

    They record `outputs` besides those of the study.
    """

    path: pathlib.Path
    settings: dict[str, Any]
    outputs: tuple[str, ...] = ()

    def __call__(self, point: Point) -> Result:
        """Return the run at a point."""
        study = changed_study(self.path, self.settings, point)
        return simulate(
            study.system, study.t_span, study.h, integrator=study.integrator, q=study.q, v=study.v,
            events=study.events, save_every=study.save_every, save_at=study.save_at,
            outputs=list(dict.fromkeys((*study.outputs, *self.outputs))), progress=False,
        )  # fmt: skip

"""Runs with a directory: begun by `simulate`, continued by `resume`."""

from __future__ import annotations

import functools
import hashlib
import math
import os
import pathlib
import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

import numpy as np

from mbkit.errors import ResultFileError, UsageError, printable
from mbkit.integrators.description import described, is_described
from mbkit.io.results.run_directory import RunDirectory
from mbkit.io.results.run_result import consolidate
from mbkit.io.results.saving import WRITERS
from mbkit.io.text_file import checked_place
from mbkit.results import Result
from mbkit.results.labelled import LABELS
from mbkit.simulation.long_runs.identity import (
    environment,
    fingerprint,
    fingerprints_of_parts,
    system_digest,
)
from mbkit.simulation.long_runs.recording import Recorder, new_buffer, reserve_size
from mbkit.simulation.monitors.findings import UNKNOWN, balance_is_known, least_energy, tell
from mbkit.simulation.outputs.by_name import check_at_start, outputs_of_part
from mbkit.simulation.outputs.energies import energies
from mbkit.simulation.outputs.multipliers import constraints_of
from mbkit.simulation.preparation import Prepared, versions
from mbkit.simulation.progress import ProgressDisplay
from mbkit.simulation.start import checked_saving
from mbkit.simulation.stepping.chunks import INTERRUPTED, TERMINAL
from mbkit.simulation.stepping.failed_step import explain
from mbkit.simulation.watched_states import Samples

#: The ending of names of files, which those of directories lack.
_OF_FILES = {
    *WRITERS, ".txt", ".dat", ".json", ".toml", ".yaml", ".npz", ".npy", ".pkl", ".zip", ".parquet",
    ".png", ".svg", ".pdf",
} - {""}  # fmt: skip


def begin(
    run: Prepared,
    output: str | os.PathLike[str],
    *,
    save: Sequence[str],
    dtype: str,
    progress: bool,
) -> Result:
    """Start a run in a new directory, and take its steps; see `simulate`."""
    save, dtype = checked_saving(save, dtype)
    shapes = check_at_start(run)
    directory = RunDirectory(_checked_directory(output))
    directory.create()
    with directory.locked():
        directory.create()  # another process may have been faster
        directory.clean()
        manifest = _manifest(run, save, dtype)
        recorder = recorder_for(run, directory, manifest, run.steps, shapes)
        try:
            directory.write_model(run.system.model_text)
            recorder.begin()
            directory.write_manifest(manifest)
        except BaseException as error:
            directory.release()
            if not isinstance(error, OSError):
                raise
            raise ResultFileError(
                f"Run directory '{directory.path}' cannot be written: {error.strerror or error}; "
                "nothing was computed."
            ) from error
        return go_on(run, recorder, manifest, step=0, part=1, progress=progress)


def _checked_directory(output: Any) -> pathlib.Path:
    """Return the place of a new directory; UsageError if its name is that of a file."""
    place = checked_place(output, "simulate")
    if place.suffix.lower() in _OF_FILES:
        file = place if place.suffix.lower() in WRITERS else place.with_suffix(".nc")
        raise UsageError(
            f"simulate: output must be the name of a directory, got '{printable(place)}', which "
            f"ends as a file does; for a file use run.save('{printable(file)}') after the run, "
            f"or choose a name without '{place.suffix}'."
        )
    return place


def go_on(
    run: Prepared,
    recorder: Recorder,
    manifest: dict[str, Any],
    *,
    step: int,
    part: int,
    progress: bool,
) -> Result:
    """Take the steps that are left, and put the result together, whatever ends the run."""
    directory, problem, course = recorder.directory, run.problem, run.course
    since = problem.t0 + step * problem.h
    end = problem.t0 + run.steps * problem.h
    began = time.perf_counter()
    status = 0
    if step < run.steps and course.ended is None:
        with ProgressDisplay(problem.t0, end, since=since, enabled=progress) as display:
            step, status = recorder.record(step, part, display)
    error = recorder.error
    if isinstance(error, OSError):
        _stopped(directory, problem.t0, problem.h, error)
    if status == INTERRUPTED:
        error = KeyboardInterrupt()
    elif status not in (0, TERMINAL):
        error = explain(run, status, step)
    directory.release()
    t = problem.t0 + step * problem.h
    remedy = f"; mbkit.resume('{directory.path}') goes on from there"
    message = course.message(error, step, t, remedy)
    spent = manifest.get("wall_time", 0.0) + time.perf_counter() - began
    counts = Counter(manifest.get("counts", {}))
    counts.update(problem.counted())
    work = {"wall_time": spent, "counts": dict(counts)}
    result, checksum = consolidate(
        directory, manifest, completed=error is None, message=message,
        unknown="" if balance_is_known(run) else UNKNOWN, work=work,
    )  # fmt: skip
    manifest = {**manifest, **work, "result": checksum}
    ended = "completed" if error is None else "stopped"
    directory.write_manifest({**manifest, "status": ended, "steps_taken": step})
    tell(result, error, course.findings, stacklevel=5)
    if error is None or isinstance(error, KeyboardInterrupt):
        return result
    error.result = result  # type: ignore[attr-defined]
    error.add_note(f"What was computed until then is in '{directory.result}'.")
    raise error


def _stopped(directory: RunDirectory, t0: float, h: float, error: OSError) -> NoReturn:
    """Raise the message on a disk that takes no more."""
    numbers = directory.parts()
    step = int(directory.read_part(numbers[-1])["step"]) if numbers else 0
    raise ResultFileError(
        f"Run directory '{directory.path}' cannot be written any more: "
        f"{error.strerror or error}. All that was saved until t = {t0 + step * h:.9g} s, step "
        f"{step}, is kept in it; once there is room, mbkit.resume('{directory.path}') goes on."
    ) from error


def recorder_for(
    run: Prepared,
    directory: RunDirectory,
    manifest: Mapping[str, Any],
    steps_left: int,
    shapes: Mapping[str, tuple[int, ...]],
) -> Recorder:
    """Return the recorder of a run, after a look at the room on the disk.

    `shapes` are those of its outputs at an instant, by name.
    """
    problem, save = run.problem, tuple(manifest["save"])
    if "energies" not in save:  # which are in balance all the same, or not
        run.course.samples = Samples(problem, run.steps)
    num_rows = run.course.num_rows(run.steps, run.steps - steps_left)
    least = 1 if run.course.times is None else run.course.times.most
    buffer = new_buffer(num_rows, problem.nq, problem.nv, problem.multipliers.size, least)
    number = np.dtype(manifest["dtype"]).itemsize
    m = run.system.num_velocity_constraints
    sizes = {
        "q": problem.nq * number, "v": problem.nv * number, "energies": 32,
        "constraints": 8 * (3 + m) if m else 0,
    }  # fmt: skip
    of_outputs = 8 * sum(math.prod(shape) for shape in shapes.values())
    rows = 8 + sum(sizes[name] for name in save) + of_outputs
    # parts and result are there at the same time in the end
    directory.check_room(2.0 * rows * num_rows)
    directory.reserve(reserve_size(buffer) + of_outputs * buffer.t.size)
    return Recorder(
        directory, problem, run.course, run.steps, save, manifest["dtype"],
        functools.partial(energies, run.system), constraints_of(run), buffer,
        manifest["run"], functools.partial(outputs_of_part, run, shapes),
    )  # fmt: skip


def identity(run: Prepared) -> dict[str, Any]:
    """Return the settings that must be the same for a run to go on, as in a manifest."""
    callables = dict(fingerprints_of_parts(run.system))
    if callable(run.tau):
        callables["tau"] = fingerprint(run.tau)
    for event in run.course.events:
        callables[f"when of event '{event.name}'"] = fingerprint(event.when)
        if event.reset is not None:
            callables[f"reset of event '{event.name}'"] = fingerprint(event.reset)
    for each in run.outputs:
        if each.function is not None:
            callables[f"output '{each.label}'"] = fingerprint(each.function)
    if not is_described(run.integrator):
        callables["integrator"] = fingerprint(run.integrator)
    constant = run.tau is not None and not callable(run.tau)
    return {
        "model_sha256": hashlib.sha256(run.system.model_text.encode()).hexdigest(),
        "system": system_digest(run.system),
        "integrator": described(run.integrator),
        "tau": run.workspace.tau.tolist() if constant else None,
        "callables": callables,
        "environment": environment(versions()),
    }


def _manifest(run: Prepared, save: tuple[str, ...], dtype: str) -> dict[str, Any]:
    fields = (*LABELS.values(), "position_units", "constraint_names")
    return {
        "status": "running",
        "run": secrets.randbelow(2**53),  # exact in the JSON of other programs
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "options": run.options,
        "save": list(save),
        "outputs": {each.label: each.text for each in run.outputs},
        "dtype": dtype,
        "least_energy": least_energy(run.system, run.problem.t0, run.problem.q),
        "events": [event.name for event in run.course.events],
        "labels": {field: list(getattr(run.system, field)) for field in fields},
        "versions": versions(),
        "further_forces": list(run.system.force_names[-len(run.options["forces"]) :])
        if run.options["forces"]
        else [],
        **identity(run),
    }

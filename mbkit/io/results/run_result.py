"""The result of a run directory: parts put together, in a file or in memory."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import ResultFileError
from mbkit.interrupts import HeldInterrupts
from mbkit.io.replacement import replacement
from mbkit.io.results.checksum import add_checksum
from mbkit.io.results.netcdf import write_dataset
from mbkit.io.results.parts import ROWS
from mbkit.io.results.reader import read_result
from mbkit.io.results.run_directory import RunDirectory
from mbkit.results import EventLog, Result
from mbkit.results.balance import EnergyWatch, in_order
from mbkit.results.event_log import FIELDS
from mbkit.results.labelled import CONSTRAINT_VARIABLES, LABELS, VARIABLES

#: The data by which the energy balance is followed, in the order of the arguments.
_BALANCE = ("t", "kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy")
_EVENT_FIELDS = ("event", "t", *FIELDS)
_EVENTS = tuple(f"event_{field}" for field in _EVENT_FIELDS)


def consolidate(
    directory: RunDirectory, manifest: Mapping[str, Any], *, completed: bool, message: str,
    unknown: str = "", work: Mapping[str, Any] | None = None,
) -> tuple[Result, str]:  # fmt: skip
    """Write ``result.nc`` from the parts, one of which is in memory at a time; return it opened.

    With its checksum, which goes into the manifest before the file takes its name, so that a result
    which is there is known to be that of the run whenever the process is killed. If the run is
    completed the parts are deleted: the file has everything. `message` is why it ended, `unknown`
    why its energy balance is not known, `work` the result of `work_of`. ResultFileError if a
    part is not as it was written, or the file cannot be written; the parts are left as they are.
    """
    numbers, counts, events = [], [], []
    findings = _Findings(manifest)
    for number, part in directory.checked_parts(manifest):
        numbers.append(number)
        counts.append(part["t"].size)
        events.append({name: part[name] for name in _EVENTS if name in part})
        findings.look(part)
        last = part
    if not numbers:
        raise _no_parts(directory)
    header = _header(directory, manifest, last, completed=completed, message=message)
    found = findings.texts(unknown)
    header = attrs.evolve(header, events=_event_log(manifest, events), warnings=found)
    dtypes = dict.fromkeys(("q", "v"), manifest["dtype"])
    try:
        with (
            HeldInterrupts() as interrupts,
            replacement(directory.result, follow=False) as temporary,
            temporary.open("w+b", 0) as file,
        ):
            target = _Target(file)
            if sum(counts):
                names = (*ROWS, *_output_names(manifest).values())
                blocks = _blocks(directory, numbers, names, target, interrupts)
                write_dataset(target, header, sum(counts), blocks, dtypes)
            else:
                write_dataset(target, header, 1, [_only_row(manifest, last)], dtypes)
            target.check()
            checksum = add_checksum(file)
            directory.write_manifest({**manifest, "result": checksum})
    except OSError as error:
        raise ResultFileError(
            f"Result file '{directory.result}' cannot be written: {error.strerror or error}. All "
            f"{sum(counts)} instants are kept in the parts beside it; make room, then call "
            f"mbkit.resume('{directory.path}'), which writes the file."
        ) from error
    if completed:
        directory.delete_parts()
    result = read_result(directory.result, stored=True, checksum=checksum, written=True, work=work)
    return result, checksum


def _no_parts(directory: RunDirectory) -> ResultFileError:
    return ResultFileError(f"'{directory.path}' has a manifest and no parts; they were deleted.")


def load_run(path: pathlib.Path) -> Result:
    """Return the result of a run directory.

    From its result file; of a run that is going on or was killed, the confirmed rows, in memory.
    ResultFileError if there is no run in it, or its files are damaged.
    """
    directory = RunDirectory(path)
    while True:
        before = _stamp(directory)
        try:
            return _loaded(directory)
        except ResultFileError:
            if _stamp(directory) == before:  # or the run came to its end amid the reading
                raise


def _stamp(directory: RunDirectory) -> list[tuple[str, int]]:
    """Return which files there are, and when they were written."""
    try:
        with os.scandir(directory.path) as entries:
            return sorted((each.name, each.stat().st_mtime_ns) for each in entries)
    except OSError:
        return []


def open_run(directory: RunDirectory, manifest: Mapping[str, Any]) -> Result:
    """Return the result in ``result.nc``; ResultFileError unless the run has written it."""
    checksum = manifest.get("result")
    if checksum is None:
        raise ResultFileError(
            f"'{directory.result}' is not of the run beside it, whose manifest tells of none; "
            "move it elsewhere."
        )
    return read_result(directory.result, stored=True, checksum=checksum, work=work_of(manifest))


def work_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the time and evaluations that a run has spent.

    They are in the manifest alone: ``result.nc`` is the same whenever a run was interrupted.
    """
    return {name: manifest[name] for name in ("wall_time", "counts") if name in manifest}


def _loaded(directory: RunDirectory) -> Result:
    has_result = os.path.isfile(directory.result)
    if has_result and not directory.has_run():
        return read_result(directory.result, stored=True)
    manifest = directory.read_manifest()
    if has_result:
        return open_run(directory, manifest)
    parts = [part for _, part in directory.checked_parts(manifest)]
    if not parts:
        raise _no_parts(directory)
    steps, step = manifest["options"]["steps"], int(parts[-1]["step"])
    message = f"Not at its end: {step} of {steps} steps are confirmed."
    header = _header(directory, manifest, parts[-1], completed=False, message=message)
    names = [name for name in ROWS if name in parts[0]]
    whole: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in names}
    if whole["t"].size == 0:
        whole = _only_row(manifest, parts[-1])
    findings = _Findings(manifest)
    for part in parts:
        findings.look(part)
    header = attrs.evolve(header, events=_event_log(manifest, parts), warnings=findings.texts())
    whole |= _unsaved(header, whole, len(whole["t"]))
    outputs: Mapping[str, Any] = header.outputs
    if sum(part["t"].size for part in parts):
        outputs = {
            label: np.concatenate([part[name] for part in parts])
            for label, name in _output_names(manifest).items()
        }
    return attrs.evolve(header, **whole, outputs=outputs)


def _output_names(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of outputs in parts, by those of the user."""
    return {label: f"output_{k}" for k, label in enumerate(manifest.get("outputs", {}))}


class _Findings:
    """Warnings about the accuracy of a run, collected part by part."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._manifest = manifest
        self._watch = EnergyWatch(float(manifest.get("least_energy", 0.0)))
        self._said: dict[str, None] = {}

    def look(self, part: Mapping[str, Any]) -> None:
        """Look at the next part."""
        self._said |= dict.fromkeys(map(str, part.get("warnings", ())))
        rows = [part[name] if name in part else np.nan * part["t"] for name in _BALANCE]
        self._watch.look(*in_order(rows, part.get("samples", np.zeros((5, 0)))))

    def texts(self, unknown: str | None = None) -> list[str]:
        """Return the warnings.

        unknown: why the energy balance is not known, empty where it is; None where the caller does
        not know: then the balance of an integrator that a user wrote is not checked.
        """
        is_known = unknown == "" or (unknown is None and "fields" in self._manifest["integrator"])
        text = self._watch.finding(self._manifest["options"], self._said) if is_known else unknown
        return [*self._said, text] if text else list(self._said)


def _header(
    directory: RunDirectory,
    manifest: Mapping[str, Any],
    last: Mapping[str, Any],
    *,
    completed: bool,
    message: str,
) -> Result:
    """Return a result with the names and options of a run, and one row of no meaning."""
    labels: dict[str, Any] = {field: tuple(manifest["labels"][field]) for field in LABELS.values()}
    sizes = {"q": len(labels["position_names"]), "v": len(labels["velocity_names"])}
    rows: dict[str, Any] = {
        name: np.zeros((1, sizes[name]) if name in sizes else 1) for name in VARIABLES
    }
    return Result(
        t=np.zeros(1), **rows, **labels, position_units=manifest["labels"]["position_units"],
        model=directory.read_model(manifest),
        options={**manifest["options"], "steps_taken": int(last["step"])},
        versions=manifest["versions"], completed=completed, message=message,
        constraint_names=manifest["labels"].get("constraint_names", ()),
        outputs={
            label: np.full((1, *last[name].shape[1:]), np.nan)
            for label, name in _output_names(manifest).items()
        },
    )  # fmt: skip


def _event_log(manifest: Mapping[str, Any], parts: list[dict[str, Any]]) -> EventLog:
    """Return the events that the parts have."""
    names = tuple(manifest.get("events", ()))
    if not names:
        sizes = (len(manifest["labels"][f"{each}_names"]) for each in ("position", "velocity"))
        return EventLog.empty(*sizes)
    columns = {
        field: np.concatenate([part[name] for part in parts])
        for field, name in zip(_EVENT_FIELDS, _EVENTS, strict=True)
    }
    return EventLog.from_columns(columns, names)


def _only_row(manifest: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state that was reached, where none of the output times was."""
    options = manifest["options"]
    t = options["t_span"][0] + int(last["step"]) * options["h"]
    states = {name: last[f"state_{name}"][None] for name in ("q", "v") if name in manifest["save"]}
    return {"t": np.array([t]), **states}


def _unsaved(header: Result, saved: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return arrays of NaN, which take no memory, for data that a run did not save."""
    arrays = {name: getattr(header, name) for name in (*VARIABLES, *CONSTRAINT_VARIABLES)}
    fill = {"residuals": 0.0} if not header.constraint_names else {}
    return {
        name: np.broadcast_to(fill.get(name, np.nan), (count, *array.shape[1:]))
        for name, array in arrays.items()
        if name not in saved
    }


def _blocks(
    directory: RunDirectory,
    numbers: list[int],
    names: tuple[str, ...],
    target: _Target,
    interrupts: HeldInterrupts,
) -> Iterator[dict[str, Any]]:
    for number in numbers:
        interrupts.look()
        target.check()  # a disk that is full already need not be written to for another hour
        yield directory.read_part(number, names, known=True)


class _Target:
    """A file for HDF5, which ends the process where a write fails: it never hears of it.

    Nor of Ctrl-C, which is held back meanwhile.

    An error is remembered, and raised by `check`. Bytes that were not written are kept until then,
    because HDF5 may read it again, and does not survive finding something else: no more than a
    block and the tables of the file, since nobody goes on for long after that.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._error: OSError | None = None
        self._lost: list[tuple[int, bytes]] = []
        self.seek, self.tell = file.seek, file.tell

    def check(self) -> None:
        """Raise the error of an earlier write, if any."""
        if self._error is not None:
            raise self._error

    def readinto(self, buffer: Any) -> int:
        """Read bytes, those that could not be written included; zeros beyond the end."""
        whole = memoryview(buffer).cast("B")
        start = self.tell()
        count = self._file.readinto(whole) or 0
        if self._error is not None:
            whole[count:] = bytes(len(whole) - count)
            for first, data in self._lost:
                begin, end = max(first, start), min(first + len(data), start + len(whole))
                if begin < end:
                    whole[begin - start : end - start] = data[begin - first : end - first]
            count = len(whole)
            self.seek(start + count)
        return count

    def read(self, size: int) -> bytes:
        """Read as many bytes, or as many as there are."""
        buffer = bytearray(size)
        return bytes(buffer[: self.readinto(buffer)])

    def write(self, data: Any) -> int:
        """Write bytes, or remember why not."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        start = self.tell()
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._error = self._error or error
            self._lost.append((start + size - len(rest), bytes(rest)))
            self.seek(start + size)
        return size

    def truncate(self, size: int | None = None) -> int:
        """Set the length of the file, or remember why not."""
        try:
            return int(self._file.truncate(size))
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def flush(self) -> None:
        """Nothing waits: the file has no buffer."""

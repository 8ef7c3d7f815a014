"""Ensembles as netCDF: the variables of a result with the axes of the samples in front."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from mbkit.errors import MbkitError, ResultFileError, printable
from mbkit.interrupts import HeldInterrupts
from mbkit.io.results.checksum import checksum_line
from mbkit.io.results.reader import Reader
from mbkit.io.text_file import checked_place
from mbkit.results.ensemble import ROWS, Ensemble, Models
from mbkit.results.event_log import FIELDS, EventLog
from mbkit.results.labelled import CONSTRAINT_VARIABLES, LABELS, LEVELS, VARIABLES, to_json

__all__ = ["load_ensemble", "write_ensemble"]

#: In the attribute "mbkit_ensemble"; to be raised when an older reader would misread the file.
FORMAT_VERSION = 1

_OF_RUNS = {
    "lengths": np.int64, "steps_taken": np.int64, "wall_times": np.float64, "completed": np.int8,
    "failed": np.int8,
}  # fmt: skip
_ABOUT = VARIABLES | CONSTRAINT_VARIABLES | {"t": (("time",), {"units": "s"})}
_LABELS = {**LABELS, "constraint": "constraint_names"}


def write_ensemble(runs: Ensemble, file: Any) -> None:
    """Write an ensemble to an open file, with its checksum in the last line."""
    image = io.BytesIO()  # as of a result, because HDF5 does not survive a full disk
    with HeldInterrupts():
        _write(runs, image)
    content = image.getbuffer()
    file.write(content)
    file.write(checksum_line(content))


def _write(runs: Ensemble, target: Any) -> None:
    import h5netcdf
    import h5py

    text = h5py.string_dtype()
    samples = tuple(f"sample_{k}" for k in range(len(runs.shape)))
    with h5netcdf.File(target, "w") as file:

        def put(
            name: str, dimensions: tuple[str, ...], values: Any, dtype: Any, **about: str
        ) -> None:
            values = np.asarray(values, dtype=object if dtype is text else dtype)
            for dimension, size in zip(dimensions, values.shape, strict=True):
                if dimension not in file.dimensions:
                    file.dimensions[dimension] = size
            variable = file.create_variable(name, dimensions, dtype)
            variable[...] = values
            variable.attrs.update(about)

        for label, field in _LABELS.items():
            put(label, (label,), runs.labels[field], text)
        put("level", ("level",), LEVELS, text)
        for name in ROWS:
            axes, about = _ABOUT[name]
            put(name, (*samples, *axes), getattr(runs, name), np.float64, **about)
        for name, dtype in _OF_RUNS.items():
            put(name, samples, getattr(runs, name), dtype)
        for name, counts in runs.counts.items():
            put(f"count_{name}", samples, counts, np.int64)
        for k, (name, values) in enumerate(runs.parameters.items()):
            own = tuple(f"parameter_{k}_axis_{j}" for j in range(values.ndim - len(samples)))
            put(f"parameter_{k}", (*samples, *own), values, np.float64, long_name=name)
        for k, (name, values) in enumerate(runs.outputs.items()):
            own = tuple(f"output_{k}_axis_{j}" for j in range(1, values.ndim - len(samples)))
            put(f"output_{k}", (*samples, "time", *own), values, np.float64, long_name=name)
        put("model", ("model",), runs.models, text)
        put("message", ("run",), runs.messages.ravel(), text)
        _put_events(runs, put, text)
        file.attrs["mbkit_ensemble"] = FORMAT_VERSION
        file.attrs.update(_attributes(runs))


def _put_events(runs: Ensemble, put: Any, text: Any) -> None:
    """Write the events of all runs, one run behind the other."""
    logs = [(number, runs._events[number]) for number in sorted(runs._events)]
    if not logs:
        return
    numbers = [np.full(len(log), number) for number, log in logs]
    put("event_run", ("event",), np.concatenate(numbers), np.int64)
    put("event_time", ("event",), np.concatenate([log.t for _, log in logs]), np.float64, units="s")
    put("event_name", ("event",), [name for _, log in logs for name in log.names], text)
    for field in FIELDS:
        width = "position" if field.startswith("q") else "velocity"
        rows = np.concatenate([getattr(log, field) for _, log in logs])
        put(f"event_{field}", ("event", width), rows, np.float64)


def _attributes(runs: Ensemble) -> dict[str, Any]:
    return {
        "shape": to_json(runs.shape),
        "options": to_json(runs.options),
        "versions": to_json(runs.versions),
        "position_units": to_json(runs.labels["position_units"]),
        "warnings": to_json([[number, *texts] for number, texts in runs._warnings.items()]),
        "counts": to_json(list(runs.counts)),
        "parameters": to_json(list(runs.parameters)),
        "outputs": to_json(list(runs.outputs)),
    }


def load_ensemble(path: str | os.PathLike[str]) -> Ensemble:
    """Read an ensemble from a netCDF file that `Ensemble.save` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Ensemble
        Equal to the one that was saved, bit by bit, but for one need of `mbkit.sensitivities`: the
        ``origin`` of its runs is None.

    Raises
    ------
    ResultFileError
        If there is no such file, if it holds no ensemble, or if it is damaged.
    """
    source = checked_place(path, "load_ensemble")
    with Reader.opened(source, None, written=False) as reader:
        if "mbkit_ensemble" not in reader.file.attrs:
            raise ResultFileError(
                f"{reader.what} holds no ensemble: it has no attribute 'mbkit_ensemble'. One run "
                f"is read by mbkit.load_result."
            )
        version = reader.attribute("mbkit_ensemble", int)
        if version > FORMAT_VERSION or not reader.sealed:
            why = "a format of a newer mbkit" if reader.sealed else "lost its checksum"
            raise ResultFileError(f"{reader.what} has {why}; take the file that mbkit saved.")
        try:
            return _Ensembles(reader).ensemble()
        except (MbkitError, TypeError, ValueError, KeyError, RecursionError) as error:
            if isinstance(error, ResultFileError):
                raise
            raise ResultFileError(
                f"{reader.what} does not fit together: {printable(error)}"
            ) from error


class _Ensembles:
    """A file with an ensemble, which is open."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def _numbers(self, name: str, dtype: Any = np.float64) -> Any:
        return np.array(self._reader.array(name), dtype=dtype)

    def _json(self, name: str, kind: type) -> Any:
        return self._reader.json(name, self._reader.attribute(name, str), kind)

    def ensemble(self) -> Ensemble:
        """Return the content of the file."""
        reader = self._reader
        labels = {field: tuple(reader.texts(label)) for label, field in _LABELS.items()}
        labels["position_units"] = tuple(map(str, self._json("position_units", list)))
        shape = tuple(int(size) for size in self._json("shape", list))
        parameters = map(str, self._json("parameters", list))
        outputs: Any = self._json("outputs", list) if "outputs" in reader.file.attrs else ()
        warnings = {int(number): tuple(texts) for number, *texts in self._json("warnings", list)}
        of_runs = {name: self._numbers(name, dtype) for name, dtype in _OF_RUNS.items()}
        of_runs |= {name: of_runs[name].astype(bool) for name in ("completed", "failed")}
        counts = {n: self._numbers(f"count_{n}", np.int64) for n in self._json("counts", list)}
        return Ensemble(
            **{name: self._numbers(name) for name in ROWS}, **of_runs, counts=counts,
            messages=np.array(reader.texts("message"), dtype=object).reshape(shape),
            parameters={n: self._numbers(f"parameter_{k}") for k, n in enumerate(parameters)},
            outputs={str(n): self._numbers(f"output_{k}") for k, n in enumerate(outputs)},
            options=self._json("options", dict), versions=self._json("versions", dict),
            labels=labels, warnings=warnings, events=self._events(),
            origins=Models(reader.texts("model")),
        )  # fmt: skip

    def _events(self) -> dict[int, EventLog]:
        """Return the events of each run."""
        if not self._reader.has("event_run"):
            return {}
        numbers = self._numbers("event_run", np.int64)
        t, names = self._numbers("event_time"), self._reader.texts("event_name")
        states = {field: self._numbers(f"event_{field}") for field in FIELDS}
        logs = {}
        for number in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == number)
            own = {field: array[rows] for field, array in states.items()}
            logs[number] = EventLog(t=t[rows], names=[names[k] for k in rows], **own)
        return logs

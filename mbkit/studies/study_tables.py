"""From the tables of a study file to a study."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Mapping
from typing import Annotated, Any, cast

import attrs
import cattrs
import numpy as np

from mbkit.coordinates import AbsoluteCoordinates, RelativeCoordinates
from mbkit.errors import MbkitError, UsageError
from mbkit.integrators import Integrator
from mbkit.io.toml.coordinates import read_coordinates
from mbkit.io.toml.faults import Faults
from mbkit.io.toml.fields import converter
from mbkit.io.toml.loading import load_model, parameters_of
from mbkit.io.toml.mechanism import add_force
from mbkit.model import Mechanism
from mbkit.plugins import registry
from mbkit.representations import Representation
from mbkit.simulation.outputs.by_name import checked_outputs
from mbkit.simulation.start import SAVED, checked_saving, number_of_steps, saving_interval
from mbkit.simulation.start_by_name import start_of
from mbkit.simulation.step_sizes import check_step_size, default_integrator
from mbkit.simulation.stepping.output_times import OutputTimes
from mbkit.spatial import FloatArray
from mbkit.studies.changes import STUDY_KEYS, entry_of, flattened, with_entries
from mbkit.studies.event_tables import read_events
from mbkit.studies.laboratory_tables import KEYS, read_tables
from mbkit.studies.study import Study
from mbkit.studies.study_paths import model_path, output_path
from mbkit.systems import System
from mbkit.systems.calls.by_name import fill

__all__ = ["read_study"]

#: Keys that do not influence results.
_NO_SETTINGS = ("mbkit_study", "about", "output", *KEYS)


@attrs.frozen
class Initial:
    """Positions and velocities at the start, by joint."""

    q: dict[str, Any] = attrs.field(factory=dict)
    v: dict[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class Keys:
    """The keys of a study file, as docs/projects.md explains them."""

    mbkit_study: int
    model: str
    t_span: Annotated[FloatArray, (2,)]
    h: float | None = None
    about: str = ""
    coordinates: dict[str, Any] = attrs.field(factory=dict)
    representation: str | None = None
    body_frames: str | None = None
    integrator: dict[str, Any] = attrs.field(factory=dict)
    save_every: int = 1
    save_at: FloatArray | None = None
    output: str = ""
    outputs: list[str] = attrs.field(factory=list)
    save: list[str] = attrs.field(factory=lambda: list(SAVED))
    dtype: str = "float64"
    initial: Initial = attrs.field(factory=Initial)
    forces: dict[str, Any] = attrs.field(factory=dict)
    events: dict[str, Any] = attrs.field(factory=dict)
    parameters: dict[str, Any] = attrs.field(factory=dict)
    compare: dict[str, Any] = attrs.field(factory=dict)
    convergence: dict[str, Any] = attrs.field(factory=dict)
    work_precision: dict[str, Any] = attrs.field(factory=dict)
    ensemble: dict[str, Any] = attrs.field(factory=dict)
    sensitivity: dict[str, Any] = attrs.field(factory=dict)
    scaling: dict[str, Any] = attrs.field(factory=dict)
    sweep: dict[str, Any] = attrs.field(factory=dict)


def read_study(
    source: pathlib.Path, root: pathlib.Path, document: Mapping[str, Any], plugin: str
) -> tuple[Study | None, Faults]:
    """Return the study of a document with changes, None if there are faults, and the faults.

    `plugin` is name and version of the project's plugin. ModelFileError if the model file has
    faults, ModelError if the model cannot be assembled.
    """
    faults = Faults()
    settings = {key: value for key, value in document.items() if key not in _NO_SETTINGS}
    given: dict[str, Any] = {"path": source, "root": root, "plugin": plugin, "settings": settings}
    given["document"] = document
    if "scaling" in document:  # its mechanisms are made by functions
        document = {"model": "", "t_span": [0.0, 1.0], **document}
    if isinstance(document.get("outputs"), str):  # a single name
        document = {**document, "outputs": [document["outputs"]]}
    keys: Any = None
    with faults.at():
        keys = converter().structure(document, Keys)
    if keys is None:  # known keys are checked all the same
        known = {field.name for field in attrs.fields(Keys)}
        with contextlib.suppress(cattrs.BaseValidationError, MbkitError, TypeError):
            keys = converter().structure({k: x for k, x in document.items() if k in known}, Keys)
    if keys is None:
        return None, faults
    given["about"] = keys.about
    given |= _numbers(keys, faults)
    given |= _places(keys, source, root, faults)
    given["integrator"] = _integrator(keys.integrator, keys.h, faults)
    given["tables"] = read_tables({name: getattr(keys, name) for name in KEYS}, faults)
    coordinates = _coordinates(keys, faults)
    try:
        mechanism, own = _mechanism(keys, source, given["tables"], faults)
    except MbkitError:
        if not faults.found:
            raise
        return None, faults
    if mechanism is None or coordinates is None or faults.found:
        return None, faults
    system = mechanism.assemble(coordinates)
    system = _with_parameters(system, flattened(keys.parameters), own, faults)
    named = _named(system, mechanism, keys)
    given |= {"system": system, **_start(system, named, given["t_span"][0], keys.initial, faults)}
    given["events"] = read_events(keys.events, system, faults)
    with faults.at("outputs"):
        given["outputs"] = tuple(each.label for each in checked_outputs(system, keys.outputs))
    return (None if faults.found else Study(**given)), faults


def _numbers(keys: Keys, faults: Faults) -> dict[str, Any]:
    """Return span, step, output times, and the choice of saved rows."""
    t_span = (float(keys.t_span[0]), float(keys.t_span[1]))
    with faults.at("h"):
        _, h, steps = number_of_steps(t_span, keys.h)
        with faults.at("save_at"):
            if keys.save_at is not None:
                OutputTimes.checked(keys.save_at, t_span, h, steps)
                if keys.save_every != 1:
                    raise UsageError("is given beside save_every; leave one of them out.")
    with faults.at("save_every"):
        saving_interval(keys.save_every)
    save: tuple[str, ...] = SAVED
    dtype = "float64"
    with faults.at("save"):
        save, dtype = checked_saving(keys.save, keys.dtype)
    return {
        "t_span": t_span, "h": keys.h, "save_every": keys.save_every, "save_at": keys.save_at,
        "save": save, "dtype": dtype,
    }  # fmt: skip


def _places(keys: Keys, source: pathlib.Path, root: pathlib.Path, faults: Faults) -> dict[str, Any]:
    output, is_directory = source, False
    with faults.at("output"):
        output, is_directory = output_path(root, source, keys.output)
        for key, default in (("save", list(SAVED)), ("dtype", "float64")):
            if not is_directory and getattr(keys, key) != default:
                raise UsageError(
                    f"must be a directory, ending in /, where '{key}' is given: a file is written "
                    "at the end, with everything."
                )
    return {"output": output, "is_directory": is_directory}


def _integrator(table: Mapping[str, Any], h: float | None, faults: Faults) -> Integrator | None:
    if not table:
        return default_integrator(h)
    fields = dict(table)
    name = fields.pop("type", "runge_kutta_munthe_kaas")
    kind = registry().find("integrator", name) if isinstance(name, str) else None
    if kind is None:
        known = registry().all("integrator")
        faults.add_unknown(("integrator", "type"), f"there is no integrator {name!r}", name, known)
        return None
    made: Any = None
    with faults.of_plugin(registry().owner("integrator", kind)), faults.at("integrator"):
        if attrs.has(kind):
            made = converter().structure(fields, kind)
        elif fields:
            raise UsageError(f"{kind.__name__} takes no keys, got {', '.join(fields)}.")
        else:
            made = kind()
    with faults.at("h"):
        if made is not None:
            check_step_size(made, h)
    return cast("Integrator | None", made)


def _coordinates(keys: Keys, faults: Faults) -> AbsoluteCoordinates | RelativeCoordinates | None:
    name = keys.representation
    found: Representation | None = None
    if name is not None:
        found = registry().find("representation", name)
        if found is None:
            known = registry().all("representation")
            what = f"there is no representation {name!r}"
            faults.add_unknown(("representation",), what, name, known)
            return None
    made: Any = None
    if keys.body_frames is not None:
        with faults.at("body_frames"):
            RelativeCoordinates(body_frames=keys.body_frames)
        if faults.found:
            return None
    with faults.at("coordinates"):
        made = read_coordinates(keys.coordinates, found, keys.body_frames)
    return cast("AbsoluteCoordinates | RelativeCoordinates | None", made)


def _mechanism(
    keys: Keys, source: pathlib.Path, tables: Mapping[str, Any], faults: Faults
) -> tuple[Mechanism | None, tuple[str, ...]]:
    """Return the model with the study's forces, and the names of the parameters of its file.

    Faults in its own file are raised. Without a file it is the smallest of a scaling.
    """
    if not keys.model and keys.scaling:
        table = {} if faults.found else tables["scaling"]
        return next(
            (make(min(table["sizes"])) for make in table.get("make", {}).values()), None
        ), ()
    path: Any = None
    with faults.at("model"):
        path = model_path(source, keys.model)
    if path is None:
        return None, ()
    own = parameters_of(path) if keys.parameters else ()
    values = {name: x for name, x in flattened(keys.parameters).items() if name in own}
    for name in values:  # the others are those of the system
        keys.parameters.pop(name)
    mechanism = load_model(path, parameters=values or None)
    types = registry().known("force")
    for name, table in keys.forces.items():
        add_force(mechanism, name, table, types, faults, sound=True)
    return mechanism, own


def _with_parameters(
    system: System, values: Mapping[str, Any], own: tuple[str, ...], faults: Faults
) -> System:
    """Return the system with other numbers; names neither of parameters nor in `own` are faults."""
    known = system.parameters
    fitting = {}
    for name, value in values.items():
        if name not in known and entry_of(name)[0] not in known:
            what = "there is no such key of a study, and no such parameter of its model"
            faults.add_unknown(("parameters", name), what, name, [*STUDY_KEYS, *own, *known])
        elif not _are_numbers(value):
            faults.add(("parameters", name), f"must be a number or numbers, got {value!r}.")
        else:
            fitting[name] = value
    if not fitting:
        return system
    try:
        return system.with_parameters(with_entries(known, fitting))
    except MbkitError as error:
        # the message begins with the names of those that do not go together
        name = next((name for name in fitting if str(error).startswith(entry_of(name)[0])), "")
        faults.add(("parameters", name), str(error).removeprefix(f"{name}: "))
        return system


def _are_numbers(value: Any) -> bool:
    if isinstance(value, np.ndarray | list | tuple):
        return all(map(_are_numbers, value))
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _named(system: System, mechanism: Mechanism, keys: Keys) -> System:
    """Return the system whose joints the state at the start is given by.

    In absolute coordinates that is the one in relative coordinates.
    """
    if not system.free_joints or not (keys.initial.q or keys.initial.v):
        return system
    relative = mechanism.assemble()
    values = {
        name: value
        for name, value in flattened(keys.parameters).items()
        if name in relative.parameters
    }
    return relative.with_parameters(values) if values else relative


def _start(
    system: System, named: System, t: float, initial: Initial, faults: Faults
) -> dict[str, Any]:
    q, v = named.reference_configuration(), named.checked("v", [0.0] * named.nv)
    for key, vector in (("q", q), ("v", v)):
        for name, value in getattr(initial, key).items():
            with faults.at("initial", key, name):
                fill(named, vector, key, name, value)
    if not faults.found:
        with faults.at("initial", "q"):
            named.potential_energy(q)
    if not faults.found:
        with faults.at("initial"):
            q, v, _ = start_of(system, t, dict(initial.q), dict(initial.v))
    return {"q": q, "v": v}

"""Comparison of representations, coordinates, integrators and steps on one mechanism."""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from mbkit.errors import MbkitError, UsageError, check_kind
from mbkit.events import Event
from mbkit.executors import Executor
from mbkit.given_values import whole_number
from mbkit.model import Mechanism
from mbkit.simulation.long_runs.identity import fingerprint
from mbkit.simulation.start import initial_state
from mbkit.simulation.stepping.event_watch import checked_events
from mbkit.studies.laboratory.cases import FACTORS, Case, cases_of
from mbkit.studies.laboratory.counting.steps import operations_of, scaled
from mbkit.studies.laboratory.directory import StudyDirectory, code_of, digest
from mbkit.studies.laboratory.findings.findings import Findings
from mbkit.studies.laboratory.findings.saving import kept
from mbkit.studies.laboratory.findings.table import Table
from mbkit.studies.laboratory.measurement import UNITS, measure
from mbkit.studies.laboratory.reference import Setting, reference_of
from mbkit.studies.laboratory.tasks import checked_executor, run_tasks
from mbkit.systems import System

__all__ = ["compare"]

#: Instants at which motions are compared, at most.
MOST_SAMPLES = 64


def compare(
    mechanism: Mechanism | Mapping[str, Mechanism],
    t_span: tuple[float, float],
    h: Any,
    *,
    q: Any = None,
    v: Any = None,
    tau: Any = None,
    events: Iterable[Event] = (),
    joint_coordinates: Any = None,
    coordinates: Any = "relative",
    representations: Any = None,
    body_frames: Any = None,
    loop_joints: Any = None,
    integrators: Any = "rkmk4",
    constraint_solvers: Any = "automatic",
    stabilisations: Any = "projection",
    reference: Any = None,
    quantity: Callable[[System, Any, Any], Any] | None = None,
    invariants: Mapping[str, Callable[[System, Any, Any], Any]] | None = None,
    length: float = 1.0,
    samples: int | None = None,
    repeats: int | None = None,
    operations: bool = False,
    directory: str | os.PathLike[str] | None = None,
    executor: str | Executor = "serial",
    time_limit: float | None = None,
    progress: bool = False,
) -> Findings:
    """Run a mechanism in every combination of the arguments, and measure error, time and work.

    Factors are names, objects, lists of them, mappings from labels of tables to them, or "all";
    docs/studies.md lists the names. A combination that fails or is refused is a row with the
    reason, and stops nothing.

    Parameters
    ----------
    mechanism : Mechanism, or mapping of str to Mechanism
        The mechanism; several are variants with the same bodies, such as other joints.
    t_span : tuple of two floats
        Start and end. [s]
    h : float or sequence of floats
        Steps; the span is a whole number of each. [s]
    q, v : array_like or mapping of str to float or sequence, optional
        The start, of ``mechanism.assemble()`` of the first mechanism, as of `simulate`: vectors, or
        numbers by joint, from which loops are closed.
    tau : array_like, PiecewiseEfforts or callable, optional
        Efforts along the velocities of ``mechanism.assemble()``, as of `simulate`. Combinations
        that have other velocities are refused.
    events : iterable of Event, optional
        Events during the run, as of `simulate`, except ends of the run: columns ``events`` and
        ``error_event_time``. Combinations with other coordinates refuse functions of q and v.
    joint_coordinates : {"group", "first kind", "second kind"}, "all", or several, optional
        Coordinates of the joints that have such a choice; the others keep theirs. All keep theirs
        if left out, and in absolute coordinates.
    coordinates, representations, body_frames, loop_joints : names or objects, or several
        Coordinates; of relative ones also the representation of twists, the frames of the
        recursions, and the cut, a list of loop joints.
    integrators, constraint_solvers, stabilisations : names or objects, or several
        As of `simulate`.
    reference : Integrator, callable, Result or path, optional
        An integrator with tolerances by which it is computed; a closed form ``reference(t)`` of
        `quantity`; a result in relative coordinates, or its file. If left out, a
        Runge-Kutta-Munthe-Kaas method of order 8 with rtol = 1e-12, whose errors are estimated by
        one of order 5.
    quantity : callable, optional
        ``quantity(system, q, v)`` returns at states (k, nq), (k, nv) the quantity (k, ...) of
        the column ``error``. If left out, the largest error of any body's pose, in radians, and
        positions in parts of `length`.
    invariants : mapping of str to callable, optional
        Likewise: quantities that should stay constant; columns ``NAME_drift``.
    length : float, default 1
        Error of a position that counts as much as one of 1 rad. [m]
    samples : int, optional
        Instants that are compared, equally spaced; a divisor of all numbers of steps. If left
        out, the largest one up to 64.
    repeats : int, optional
        How often each case is timed, after a first run that is not: 3 times if left out; not at all
        where the executor runs cases side by side, which take each other's time.
    operations : bool, default False
        Whether operations are counted, in another process, by some steps of each combination; that
        takes some seconds for each.
    directory : str or path, optional
        Where the study is kept; in one that exists, only missing cases are run.
    executor : str or Executor, default "serial"
        Where cases run: "threads", "processes", "dask", those of plugins, or an object.
    time_limit : float, optional
        Of one case, by executors that can end it. [s]
    progress : bool, default False
        Whether to show progress on the standard error stream.

    Returns
    -------
    Findings
        ``table`` has a row a combination: see docs/studies.md for its columns.

    Raises
    ------
    UsageError
        If an argument is wrong, or the directory has another study.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    >>> rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.from_com(1.0, (0, 0, -0.5))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    >>> found = mb.studies.compare(
    ...     mech, (0.0, 1.0), [0.02, 0.01], q={"hinge": 1.0}, integrators=["rkmk2", "rkmk4"]
    ... )
    >>> for row in found.table:
    ...     print(row["integrator"], row["h"], row["evaluations"], f"{row['error']:.0e}")
    rkmk2 0.02 100 3e-03
    rkmk2 0.01 200 8e-04
    rkmk4 0.02 200 1e-06
    rkmk4 0.01 400 7e-08
    """
    given = {
        "joint_coordinates": joint_coordinates, "coordinates": coordinates, "h": h,
        "representations": representations, "body_frames": body_frames, "loop_joints": loop_joints,
        "integrators": integrators,
        "constraint_solvers": constraint_solvers, "stabilisations": stabilisations,
    }  # fmt: skip
    executor = checked_executor(executor, time_limit)
    check_kind("invariants", invariants, (Mapping, type(None)), "a dict of functions by name")
    for name, each in (("quantity", quantity), *(invariants or {}).items()):
        if each is not None and (isinstance(each, type) or not callable(each)):
            raise UsageError(f"{name} must be a function of a System, q and v, got {each!r}.")
    more: dict[str, Any] = {
        "length": length, "samples": samples, "repeats": _repeats(repeats, executor),
        "quantity": quantity, "invariants": invariants or {}, "tau": tau, "events": events,
    }  # fmt: skip
    mechanisms = _mechanisms(mechanism)
    cases = cases_of(mechanisms, **given)
    steps = [case.h for case in cases]
    setting = setting_of(next(iter(mechanisms.values())), t_span, steps, q=q, v=v, **more)
    table, about = completed(
        "compare", cases, setting, reference, directory, operations=operations, progress=progress,
        executor=executor, time_limit=time_limit,
    )  # fmt: skip
    found = Findings("compare", {"cases": table}, about)
    return found if directory is None else kept(found, directory)


def _repeats(given: Any, executor: Executor) -> Any:
    """Return how often cases are timed; UsageError where times would mean nothing."""
    if given is None:
        return 0 if executor.side_by_side else 3
    given = whole_number("repeats", given)
    if given and executor.side_by_side:
        raise UsageError(
            f"repeats = {given!r}: times of cases that run side by side mean nothing; take "
            f"repeats=0, or executor='serial' instead of {type(executor).__name__}."
        )
    return given


def _mechanisms(given: Any) -> dict[str, Mechanism]:
    mechanisms = dict(given) if isinstance(given, Mapping) else {getattr(given, "name", ""): given}
    if not mechanisms:
        raise UsageError("mechanism: there is none; give an mbkit.Mechanism.")
    for each in mechanisms.values():
        check_kind("mechanism", each, Mechanism, "an mbkit.Mechanism, or a dict of them by label")
    return mechanisms


def setting_of(
    mechanism: Mechanism, t_span: Any, steps: list[float], *, q: Any, v: Any, samples: int | None,
    **more: Any,
) -> Setting:  # fmt: skip
    """Return the setting that all cases have in common, checked."""
    try:
        start, end = (float(each) for each in t_span)
    except (TypeError, ValueError):
        raise UsageError(f"t_span must be start and end in seconds, got {t_span!r}.") from None
    if not (math.isfinite(start) and math.isfinite(end) and end > start):
        raise UsageError(f"t_span must be a start and a later end in seconds, got {t_span!r}.")
    counts = [round((end - start) / h) for h in steps]
    for h, count in zip(steps, counts, strict=True):
        if count < 1 or abs(count * h - (end - start)) > 1e-6 * h:
            raise UsageError(
                f"h = {h:g} s does not divide t_span into whole steps; take "
                f"h = {(end - start) / max(count, 1):.9g} s."
            )
    common = math.gcd(*counts)
    if samples is None:
        samples = max(k for k in range(1, min(common, MOST_SAMPLES) + 1) if common % k == 0)
    samples = whole_number("samples", samples, 1)
    if common % samples:
        raise UsageError(f"samples = {samples} divides not all numbers of steps; {common} does.")
    length = more["length"]
    if not (isinstance(length, int | float) and 0.0 < length <= sys.float_info.max):
        raise UsageError(f"length must be a positive number of metres, got {length!r}.")
    base = mechanism.assemble()
    begin = initial_state(base, start, q, v)
    more["events"] = _checked_events(more["events"], base)
    if more["tau"] is not None and not callable(more["tau"]):
        more["tau"] = base.checked("tau", more["tau"], finite=True)
    return Setting(base, begin.q, begin.v, (start, end), samples, **more)


def _checked_events(given: Any, base: System) -> tuple[Event, ...]:
    events = checked_events(given, base)
    for event in events:
        if event.terminal:
            raise UsageError(
                f"events: '{event.name}' ends the run, and motions are compared over the whole "
                "span; let it be recorded, with terminal=False, or reset the state."
            )
    return events


# ------------------------------------------------------------------------------- running


def completed(
    kind: str,
    cases: list[Case],
    setting: Setting,
    reference: Any,
    directory: str | os.PathLike[str] | None,
    *,
    operations: bool,
    progress: bool,
    executor: Executor,
    time_limit: float | None,
) -> tuple[Table, dict[str, Any]]:
    """Return the table of all cases, those that a directory has already among them.

    And the description of the study.
    """
    if not isinstance(operations, bool):
        raise UsageError(f"operations must be True or False, got {operations!r}.")
    about = described(kind, cases, setting, reference)
    about["setting"]["operations"] = operations
    base = digest([about["kind"], about["setting"]])
    others = _others(cases, setting.base)
    keys = [digest([base, _identity(case, others)]) for case in cases]
    about["cases"] = keys
    place = None if directory is None else StudyDirectory.of(directory)
    if place is not None:
        place.open(about)
        place.write("model.toml", setting.base.model_text)
    missing = [c for key, c in zip(keys, cases, strict=True) if not (place and place.known(key))]
    counts = operations_of(missing, setting) if operations else None
    exact = reference_of(setting, reference) if missing else None
    rows = run_tasks(
        functools.partial(_row, setting, exact, counts), dict(zip(keys, cases, strict=True)), place,
        lost=lambda case: dict(case.choices), progress=progress, executor=executor,
        time_limit=time_limit,
    )  # fmt: skip
    return Table(rows, about["units"], FACTORS), about


def _row(setting: Setting, exact: Any, counts: Any, case: Case) -> dict[str, Any]:
    """Return the row of a case; `counts` of operations are None where they are not counted."""
    found = measure(case, setting, exact)
    if counts is not None:
        found |= scaled(case, counts, found)
    return {**case.choices, **found, "doubt": exact.doubt.get("error", 0.0)}


def described(kind: str, cases: list[Case], setting: Setting, reference: Any) -> dict[str, Any]:
    """Return the description of a study, for JSON."""
    functions = {"quantity": setting.quantity, **setting.invariants}
    more = {"reference": reference, "tau": setting.tau}
    functions |= {name: each for name, each in more.items() if callable(each)}
    factors = {name: list(dict.fromkeys(case.choices[name] for case in cases)) for name in FACTORS}
    drifts = {f"{name}_drift": "" for name in setting.invariants}
    units = {**dict.fromkeys(FACTORS, ""), "h": "s", "status": "", **UNITS, **drifts}
    units |= {"doubt": "", "uncounted": ""}
    return {
        "kind": kind,
        "setting": {
            "model": digest(setting.base.model_text), "q": setting.q.tolist(),
            "v": setting.v.tolist(), "t_span": list(setting.t_span), "samples": setting.samples,
            "length": setting.length, "repeats": setting.repeats,
            "reference": None if reference is None else _text(reference),
            "functions": {k: fingerprint(f) for k, f in functions.items() if f is not None},
            **_acting(setting),
            **code_of(setting.base, reference=None if callable(reference) else reference),
        },
        "factors": factors,
        "units": units,
        "mechanism": setting.base.name,
    }  # fmt: skip


def _acting(setting: Setting) -> dict[str, Any]:
    """Return the efforts, if they are numbers, and the events of a run."""
    tau = setting.tau
    found: dict[str, Any] = {}
    if tau is not None and not callable(tau):
        found["tau"] = np.asarray(tau).tolist()
    if setting.events:
        found["events"] = {each.name: fingerprint(each) for each in setting.events}
    return found


def _text(reference: Any) -> str:
    if isinstance(reference, str | os.PathLike):
        return os.fspath(reference)
    return "function" if callable(reference) else repr(reference)


def _others(cases: list[Case], base: System) -> dict[int, dict[str, Any]]:
    """Return the identity of mechanisms whose model differs from that of the base."""
    systems = {id(case.mechanism): case.mechanism for case in cases}
    found = {}
    for key, mechanism in systems.items() if len(systems) > 1 else ():
        try:
            system = mechanism.assemble()
        except MbkitError:  # which is the row of its cases
            continue
        if system.model_text != base.model_text:
            found[key] = {"model": digest(system.model_text), **code_of(system)}
    return found


def _identity(case: Case, others: Mapping[int, Any]) -> list[Any]:
    objects = (case.coordinates, case.integrator, case.constraint_solver, case.stabilisation)
    names = ("coordinates", "integrator", "constraint solver", "stabilisation")
    code = code_of(None, **dict(zip(names, objects, strict=True)))
    own = [each for each in (code, others.get(id(case.mechanism))) if each]
    return [dict(case.choices), *map(repr, objects), *own]

"""Time and operations of dynamics over the size of a mechanism."""

from __future__ import annotations

import gc
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mbkit.coordinates import RelativeCoordinates
from mbkit.coordinates.body_frames import BODY_FRAMES
from mbkit.errors import UsageError, check_choice, check_kind, several
from mbkit.given_values import whole_number
from mbkit.model import Mechanism
from mbkit.simulation.long_runs.identity import fingerprint
from mbkit.studies.laboratory.counting.operations import (
    ALGORITHMS,
    KINDS,
    checked_algorithms,
    counts_of,
)
from mbkit.studies.laboratory.directory import StudyDirectory, digest
from mbkit.studies.laboratory.factors import representations_of
from mbkit.studies.laboratory.findings.findings import Findings
from mbkit.studies.laboratory.findings.saving import kept
from mbkit.studies.laboratory.findings.table import Table
from mbkit.studies.laboratory.tasks import run_tasks
from mbkit.systems import System

__all__ = ["checked_sizes", "scaling"]

#: Seconds that calls are repeated for one measurement.
SECONDS = 2e-3

UNITS = {
    "mechanism": "", "size": "", "representation": "", "algorithm": "", "status": "", "bodies": "",
    "velocities": "", "constraints": "", "time": "s", "time_least": "s", "time_spread": "s",
    **dict.fromkeys(KINDS, ""),
}  # fmt: skip
FACTORS = ("mechanism", "size", "representation", "algorithm")


def scaling(
    make: Callable[[int], Mechanism] | Mapping[str, Callable[[int], Mechanism]],
    sizes: Iterable[int],
    *,
    representations: Any = "all",
    body_frames: str = "joint",
    algorithms: Sequence[str] = ALGORITHMS,
    operations: bool = False,
    repeats: int = 5,
    directory: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Findings:
    """Return the time of inverse and forward dynamics over the size of a mechanism.

    Parameters
    ----------
    make : callable, or mapping of str to callable
        ``make(size)`` returns the mechanism of a size: of so many bodies, or loops. Several, by
        label, are other kinds of mechanisms: of other joints, for example.
    sizes : iterable of int
        The sizes.
    representations, directory, progress
        As of `compare`. Times are measured one after the other: there is no `executor`.
    body_frames, algorithms
        As of `operations`. "forward_dynamics" of a closed mechanism finds multipliers too.
    operations : bool, default False
        Whether operations are counted, of the trees, which takes seconds.
    repeats : int, default 5
        How often a time is measured, each over some milliseconds of calls.

    Returns
    -------
    Findings
        ``table`` has the ``exponent`` by which time, and multiplications, grow with the number of
        bodies over the larger half of the sizes; ``tables["cases"]`` has a row for each size,
        representation and algorithm: the time of a call of the method of `System` [s], its
        checks included, and operations.

    Examples
    --------
    >>> import mbkit as mb
    >>> def chain(size):
    ...     mech = mb.Mechanism("chain")
    ...     last = mech.world
    ...     for k in range(size):
    ...         inertia = mb.SpatialInertia.from_com(1.0, (0, 0, -0.5))
    ...         body = mech.add_body(mb.Body(f"rod{k}", inertia))
    ...         _ = mech.add_joint(mb.RevoluteJoint(f"hinge{k}", axis=(0, 1, 0)), last, body)
    ...         last = body
    ...     return mech
    >>> found = mb.studies.scaling(
    ...     chain, [2, 4], representations="body_fixed", algorithms=["inverse_dynamics"]
    ... )
    >>> [row["bodies"] for row in found.tables["cases"]]
    [2, 4]
    """
    names = representations_of(representations)
    algorithms = checked_algorithms(algorithms)
    check_choice("body_frames", body_frames, BODY_FRAMES)
    repeats = whole_number("repeats", repeats, 1)
    makes = dict(make) if isinstance(make, Mapping) else {getattr(make, "__name__", ""): make}
    mechanisms = _made(makes, sizes)
    cases = [(*which, name, what) for which in mechanisms for name in names for what in algorithms]

    def row(case: tuple[str, int, str, str]) -> dict[str, Any]:
        label, size, name, what = case
        choices = dict(zip(FACTORS, case, strict=True))
        try:
            coordinates = RelativeCoordinates(names[name], body_frames)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = _timed(mechanisms[label, size].assemble(coordinates), what, repeats)
        except Exception as error:  # whatever a joint of the user raises
            return {**choices, "status": f"{type(error).__name__}: {error!s:.300}"}
        return {**choices, "status": "completed", **found}

    prints = {label: fingerprint(each) for label, each in makes.items()}
    setting = {"make": prints, "body_frames": body_frames, "repeats": repeats}
    keys = [digest(["scaling", setting, case]) for case in cases]
    about = {
        "kind": "scaling", "setting": setting, "factors": dict.fromkeys(FACTORS, ""),
        "cases": keys, "units": UNITS, "mechanism": next(iter(mechanisms.values())).name,
    }  # fmt: skip
    place = None if directory is None else StudyDirectory.of(directory)
    if place is not None:
        place.open(about)
    rows = run_tasks(
        row, dict(zip(keys, cases, strict=True)), place, progress=progress,
        lost=lambda case: dict(zip(FACTORS, case, strict=True)),
    )  # fmt: skip
    if operations:
        counted = counts_of(list(mechanisms.values()), list(names), body_frames, algorithms)
        rows = _with_counts(rows, dict(zip(mechanisms, counted, strict=True)))
        for key, each in zip(keys, rows, strict=True):
            if place is not None:
                place.put(key, each)
    table = Table(rows, UNITS, FACTORS)
    found = Findings("scaling", {"exponents": _exponents(table), "cases": table}, about)
    return found if directory is None else kept(found, directory)


def _made(makes: Mapping[str, Any], sizes: Any) -> dict[tuple[str, int], Mechanism]:
    if not makes or not all(map(callable, makes.values())):
        raise UsageError(f"make must be a function of a size, or several by label, got {makes!r}.")
    ordered = checked_sizes(sizes)
    mechanisms = {(label, n): make(n) for label, make in makes.items() for n in ordered}
    for (_, size), each in mechanisms.items():
        check_kind(f"make({size})", each, Mechanism, "an mbkit.Mechanism")
    return mechanisms


def checked_sizes(given: Any) -> list[int]:
    """Return sizes, each once, the smallest first; UsageError if they are none."""
    found = list(given) if several(given) else [given]
    if not found or not all(type(size) is int and size > 0 for size in found):
        raise UsageError(f"sizes must be positive integers, got {given!r}.")
    return sorted(set(found))


def _with_counts(
    rows: Iterable[Mapping[str, Any]], counted: Mapping[Any, Iterable[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """Return rows with the operations of their mechanism, representation and algorithm."""
    counts = {
        (*which, each["representation"], each["algorithm"]): each
        for which, found in counted.items()
        for each in found
    }
    return [{**each, **counts[tuple(each[f] for f in FACTORS)]} for each in rows]


def _timed(system: System, what: str, repeats: int) -> dict[str, Any]:
    """Return sizes of a system, and the time of a call of one of its methods."""
    rng = np.random.default_rng(0)
    q = system.retract(system.reference_configuration(), rng.uniform(-0.3, 0.3, system.ndx))
    v, x = rng.uniform(-1.0, 1.0, (2, system.nv))
    constrained = system.num_velocity_constraints > 0
    if constrained:
        q, v = system.close_loops(q, v)
    calls: dict[str, Callable[[], Any]] = {
        "inverse_dynamics": lambda: system.inverse_dynamics(q, v, x),
        "forward_dynamics": (lambda: system.solve_dynamics(q, v, x)) if constrained
        else (lambda: system.forward_dynamics(q, v, x)),
        "mass_matrix": lambda: system.mass_matrix(q),
    }  # fmt: skip
    call = calls[what]
    call()
    count = max(1, int(SECONDS / max(_loop(call, 3), 1e-9)))
    gc.collect()
    times = [_loop(call, count) for _ in range(repeats)]
    return {
        "bodies": len(system.body_names) - 1, "velocities": system.nv,
        "constraints": system.num_velocity_constraints, "time": statistics.median(times),
        "time_least": min(times), "time_spread": max(times) - min(times),
    }  # fmt: skip


def _loop(call: Callable[[], Any], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - began) / count


def _exponents(cases: Table) -> Table:
    """Return the slopes of time and operations over bodies, of the larger half of the sizes."""
    rows = []
    for group in cases.groups("size").values():
        part = slice(len(group) // 2 - (len(group) < 4), None)
        bodies = group["bodies"][part]
        row = {name: group.rows[0][name] for name in FACTORS if name != "size"}
        for name in ("time_least", "multiplications"):
            numbers = group[name][part] if name in group.columns else np.zeros(0)
            if len(numbers) > 1 and (numbers > 0.0).all() and np.ptp(bodies) > 0:
                slope = np.polyfit(np.log(bodies), np.log(numbers), 1)[0]
                row[f"exponent of {name.removesuffix('_least')}"] = float(slope)
        rows.append(row)
    return Table(rows, {}, tuple(name for name in FACTORS if name != "size"))

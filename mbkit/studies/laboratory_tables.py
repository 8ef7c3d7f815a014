"""Tables of a study file for studies of the laboratory: their keys, and their faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mbkit.errors import UsageError, check_choice, check_switch
from mbkit.given_values import whole_number
from mbkit.studies.changes import flattened, several_values
from mbkit.studies.laboratory import cases, factors
from mbkit.studies.laboratory.counting.operations import checked_algorithms
from mbkit.studies.laboratory.outputs import function_of_module, outputs_of
from mbkit.studies.laboratory.scaling import checked_sizes
from mbkit.studies.laboratory.tasks import checked_executor, executor_of
from mbkit.studies.laboratory.varied_mechanism import distribution

if TYPE_CHECKING:
    from mbkit.io.toml.faults import Faults  # which imports cattrs

__all__ = ["KEYS", "KINDS", "parted", "read_tables"]

#: Keys for the place where the cases of a study run.
WHERE = ("executor", "workers", "scheduler", "time_limit")

_COMPARED = (
    "joint_coordinates", "coordinates", "representations", "body_frames", "loop_joints",
    "integrators", "constraint_solvers", "stabilisations", "h", "reference", "length", "samples",
    "repeats", "operations", *WHERE,
)  # fmt: skip

#: Keys of each table; they are arguments of the function of its name in `mbkit.studies`.
KEYS: Mapping[str, tuple[str, ...]] = {
    "compare": _COMPARED,
    "convergence": (*_COMPARED, "halvings"),
    "work_precision": (*_COMPARED, "errors", "by"),
    "ensemble": ("vary", "outputs", "samples", "seed", *WHERE),
    "sensitivity": ("vary", "outputs", "method", "samples", "seed", *WHERE),
    "scaling": (
        "make", "sizes", "representations", "body_frames", "algorithms", "operations", "repeats",
    ),
    "sweep": ("vary", "outputs", *WHERE),
}  # fmt: skip

#: Tables that make a study another than one run; ``sweep`` is for ``mbkit sweep``.
KINDS = tuple(name for name in KEYS if name != "sweep")

#: Functions that check the value of a key, and raise UsageError.
_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "joint_coordinates": factors.joint_coordinates_of,
    "coordinates": factors.coordinates_of,
    "representations": factors.representations_of,
    "body_frames": cases.frames_of,
    "loop_joints": cases.cuts_of,
    "integrators": factors.integrators_of,
    "constraint_solvers": factors.solvers_of,
    "stabilisations": factors.stabilisations_of,
    "h": cases.steps_of,
    "outputs": outputs_of,
    "operations": lambda given: check_switch("operations", given),
    "algorithms": checked_algorithms,
    "method": lambda given: check_choice("method", given, ("one_at_a_time", "sobol")),
    "sizes": checked_sizes,
    "samples": lambda given: whole_number("samples", given, 1),
    "seed": lambda given: whole_number("seed", given),
    "repeats": lambda given: whole_number("repeats", given),
    "halvings": lambda given: whole_number("halvings", given, 2),
}


def read_tables(given: Mapping[str, Any], faults: Faults) -> dict[str, dict[str, Any]]:
    """Return the tables that a study has, as its functions take them; all faults are noted.

    Values that vary are lists in ``sweep``, distributions in the others; functions of modules are
    found.
    """
    tables = {name: dict(table) for name, table in given.items() if table}
    if len(kinds := [name for name in KINDS if name in tables]) > 1:
        faults.add(
            (kinds[1],),
            f"stands beside [{kinds[0]}]; a study has one of them: write another file.",
        )
    for name, table in tables.items():
        for key in table:
            if key not in KEYS[name]:
                what = f"there is no such argument of mbkit.studies.{name}"
                faults.add_unknown((name, key), what, key, KEYS[name])
            elif key in _CHECKS:
                with faults.at(name, key):
                    _CHECKS[key](table[key])
        _check_where(name, table, faults)
        if "vary" in table:
            table["vary"] = _read_varied(name, table["vary"], faults)
        if name == "scaling":
            _read_scaling(table, faults)
    return tables


def parted(table: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments in a table of a study, and where it runs: executor and time limit."""
    given = {name: value for name, value in table.items() if name not in WHERE}
    options = {name: table.get(name) for name in ("workers", "scheduler")}
    executor = executor_of(table.get("executor"), **options)
    return given, {"executor": executor, "time_limit": table.get("time_limit")}


def _check_where(name: str, table: Mapping[str, Any], faults: Faults) -> None:
    key = next((key for key in WHERE if key in table), None)
    if key is None or "executor" not in KEYS[name]:
        return
    where: dict[str, Any] = {}
    with faults.at(name, key):
        where = parted(table)[1]
    if where.get("time_limit") is not None:
        with faults.at(name, "time_limit"):
            checked_executor(where["executor"], where["time_limit"])


def _read_varied(name: str, vary: Any, faults: Faults) -> dict[str, Any]:
    """Return the varied numbers, by path: values of a sweep, distributions of the others."""
    if not isinstance(vary, dict):
        faults.add((name, "vary"), f"must be a table of values by what varies, got {vary!r}.")
        return {}
    found: dict[str, Any] = {}
    leaf = "" if name == "sweep" else "distribution"
    for path, each in flattened(vary, leaf=leaf).items():
        with faults.at(name, "vary", path):
            found[path] = (
                several_values(each, f"{path}={each}")
                if name == "sweep"
                else distribution(path, each)
            )
    return found


def _read_scaling(table: dict[str, Any], faults: Faults) -> None:
    """Put functions of modules in the place of their names."""
    for key in ("make", "sizes"):
        if key not in table:
            faults.add(("scaling", key), "is missing.")
    with faults.at("scaling", "make"):
        given = table.get("make", {})
        labelled = given if isinstance(given, dict) else {str(given).rpartition(":")[2]: given}
        if not all(isinstance(each, str) and ":" in each for each in labelled.values()):
            raise UsageError(
                "must be 'MODULE:FUNCTION', or a table of such by labels: a function of a size "
                f"that returns the Mechanism, got {given!r}."
            )
        table["make"] = {k: function_of_module("make", text) for k, text in labelled.items()}

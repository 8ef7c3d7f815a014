"""Changes of a study from outside of its file: ``h=1e-4``, ``bodies.arm.mass=2``."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from mbkit.errors import ModelFileError, StudyFileError, UsageError
from mbkit.io.toml_text.document import read_document

__all__ = [
    "STUDY_KEYS", "Changed", "changed_document", "entry_of", "flattened", "parsed_change",
    "parsed_values", "several_values", "with_entries",
]  # fmt: skip

#: Keys of a study file that hold one value.
STUDY_KEYS = (
    "model", "t_span", "h", "representation", "body_frames", "save_every", "save_at", "save",
    "dtype", "output", "outputs", "about",
)  # fmt: skip

# Tables of a study, by how many parts of a path lead to a value.
_TABLES = (
    ("integrator",), ("coordinates",), ("initial", "q"), ("initial", "v"),
    ("ensemble", "vary"), ("sensitivity", "vary"),
    *((name,) for name in (
        "compare", "convergence", "work_precision", "ensemble", "sensitivity", "scaling",
    )),
)  # fmt: skip

# A change: the first equals sign that is not within a quoted key parts it.
_CHANGE = re.compile(r"""((?:"[^"]*"|'[^']*'|[^=])*?)=(.*)""", re.DOTALL)

# A whole key in quotes.
_QUOTED = re.compile(r"""(?:(?<=\.)|^)[ ]*("(?:[^"\\]|\\.)*"|'[^']*')[ ]*(?=\.|$)""")

# Values at equal distances: start, stop, count.
_RANGE = re.compile(r"([^:]+):([^:]+):([^:]+)")

# One number of several: "gravity[2]".
_ENTRY = re.compile(r"(.*)\[(\d+)\]")

# Two numbers of a range whose count is not there.
_NO_COUNT = re.compile(r"[-+.\deE]+:[-+.\deE]+")

Path = tuple[str, ...]

#: Paths within the document that were changed, with the change as the user wrote it.
Changed = dict[Path, str]


def parsed_values(text: str) -> tuple[str, list[Any]]:
    """Return path and values of ``PATH=START:STOP:COUNT``, or of values separated by commas.

    UsageError if there are none.

    Examples
    --------
    >>> parsed_values("bodies.rod.mass=1:2:5")
    ('bodies.rod.mass', [1.0, 1.25, 1.5, 1.75, 2.0])
    >>> parsed_values("integrator.tableau=heun, rk4")
    ('integrator.tableau', ['heun', 'rk4'])
    >>> parsed_values("initial.q.arm=[1, 2], [3, 4]")
    ('initial.q.arm', [[1, 2], [3, 4]])
    """
    path, value = parsed_change(text, "--vary", "bodies.rod.mass=1:2:11")
    return path, several_values(value, f"--vary {text}")


def several_values(value: Any, said: str) -> list[Any]:
    """Return the values of a list, of START:STOP:COUNT, or of words with commas between.

    UsageError, with the text of the user, `said`, if there are none.

    Examples
    --------
    >>> several_values("0:1:3", "--vary q.hinge=0:1:3")
    [0.0, 0.5, 1.0]
    """
    match = _RANGE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        if isinstance(value, str) and _NO_COUNT.fullmatch(value):
            raise UsageError(
                f"{said}: how many values? Write START:STOP:COUNT, such as {value}:11, or "
                "values separated by commas."
            )
        if isinstance(value, str) and "," in value:
            return [part.strip() for part in value.split(",") if part.strip()]
        return value if isinstance(value, list) else [value]
    try:
        start, stop, count = float(match[1]), float(match[2]), int(match[3])
    except ValueError:
        raise UsageError(
            f"{said}: START:STOP:COUNT are two numbers and how many values there are, such "
            "as 1:2:11."
        ) from None
    if not (np.isfinite([start, stop]).all() and count >= 1):
        raise UsageError(f"{said}: START and STOP must be finite, and COUNT 1 or more.")
    values: list[Any] = np.linspace(start, stop, count).tolist()
    words = match[1] + match[2]
    if not set(words) & set(".eE") and all(each.is_integer() for each in values):
        values = [int(each) for each in values]  # of keys that count something
    return values


def parsed_change(text: str, option: str = "--set", example: str = "h=1e-4") -> tuple[str, Any]:
    """Return path and value of ``PATH=VALUE``; UsageError if there is no path or no value.

    The value is TOML; numbers separated by commas are an array, and a word that is no TOML is a
    string.

    Examples
    --------
    >>> parsed_change("initial.q.ball=1, 0, 0, 0")
    ('initial.q.ball', [1, 0, 0, 0])
    >>> parsed_change("integrator.tableau=heun")
    ('integrator.tableau', 'heun')
    """
    match = _CHANGE.fullmatch(text)
    path, value = ("", "") if match is None else (part.strip() for part in match.groups())
    if not (path and value):
        raise UsageError(f"{option} {text}: write it as PATH=VALUE, such as {example}.")
    for attempt in (value, f"[{value}]" if "," in value else value):
        try:
            document = read_document(f"x = {attempt}", "", "")
        except ModelFileError:
            continue
        if list(document) == ["x"]:
            return path, document["x"]
    return path, value


def changed_document(
    document: Mapping[str, Any], changes: Mapping[str, Any]
) -> tuple[dict[str, Any], Changed]:
    """Return the document of a study with other values, by paths, and the paths that were changed.

    Parameters are flat in it. A path that a study does not have is a parameter's, which is compared
    with those of the system later. StudyFileError if the value is a table for a place where tables
    are not values.
    """
    changed = copy.deepcopy(dict(document))
    if isinstance(changed.get("parameters"), dict):
        changed["parameters"] = flattened(changed["parameters"])
    given: Changed = {}
    for text, value in changes.items():
        path = _place(text, changed)
        if path[0] == "parameters" and isinstance(value, Mapping):
            first = next(iter(value), "KEY")
            raise StudyFileError(
                f"set {text}: a table cannot be given as a whole; give its values one by one, as "
                f"in {text}.{first}=VALUE."
            )
        table: Any = changed
        for step in path[:-1]:
            inner = table.setdefault(step, {})
            if not isinstance(inner, dict):
                break  # a fault of the file, which is reported as such
            table = inner
        else:
            table.pop(path[-1], None)  # it comes last: `ball` counts although `ball[0]` was given
            table[path[-1]] = _as_toml(value)
            given[path] = f"{text}={value}"
    return changed, given


def _unquoted(path: str) -> str:
    """Return a path without the quotes that TOML has around some keys: ``initial.q."a[0]"``."""

    def plain(match: re.Match[str]) -> str:
        try:
            return str(read_document(f"x = {match[1]}", "", "")["x"])
        except ModelFileError:  # an escape that is none
            return match[0]

    return _QUOTED.sub(plain, path)


def _place(text: str, document: Mapping[str, Any]) -> Path:
    """Return the keys that lead to the value that a path names; names may have points in them."""
    text = _unquoted(text)
    if text.startswith("parameters."):
        return ("parameters", text.removeprefix("parameters."))
    if text in STUDY_KEYS:
        return (text,)
    for keys in _TABLES:
        start = ".".join(keys) + "."
        if text.startswith(start):
            return (*keys, text.removeprefix(start))
    for table in ("forces", "events"):
        tables = document.get(table, {})
        for name in tables if isinstance(tables, dict) else ():
            start = f"{table}.{name}."
            if text.startswith(start):
                return (table, name, *_inner(text.removeprefix(start), tables[name]))
    return ("parameters", text)


def _as_toml(value: Any) -> Any:
    """Return a value of Python as TOML would have it: tuples and arrays as lists."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return [_as_toml(each) for each in value] if isinstance(value, list | tuple) else value


def _inner(text: str, table: Any) -> Path:
    """Return the keys of a value in a force or an event, one of whose values may be a table."""
    key, point, rest = text.partition(".")
    return (key, rest) if point and isinstance(table, dict) and key in table else (text,)


def flattened(table: Mapping[str, Any], start: str = "", *, leaf: str = "") -> dict[str, Any]:
    """Return nested tables as one, with keys joined by points.

    A table that has the key `leaf` is a value.

    Examples
    --------
    >>> flattened({"bodies": {"arm": {"mass": 2.0}}, "gravity": [0, 0, 0]})
    {'bodies.arm.mass': 2.0, 'gravity': [0, 0, 0]}
    """
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and not (leaf and leaf in value):
            flat |= flattened(value, f"{start}{key}.", leaf=leaf)
        else:
            flat[f"{start}{key}"] = value
    return flat


def entry_of(name: str) -> tuple[str, int | None]:
    """Return name and index of ``gravity[2]``; without an index it is None.

    Examples
    --------
    >>> entry_of("gravity[2]"), entry_of("bodies.rod.mass")
    (('gravity', 2), ('bodies.rod.mass', None))
    """
    match = _ENTRY.fullmatch(name)
    return (name, None) if match is None else (match[1], int(match[2]))


def with_entries(known: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by the names of parameters, each entry put into the array that is `known`.

    UsageError where the array has no such entry.

    Examples
    --------
    >>> with_entries({"gravity": [0.0, 0.0, -9.8], "mass": 1.0}, {"gravity[2]": -1.6, "mass": 2})
    {'gravity': array([ 0. ,  0. , -1.6]), 'mass': 2}
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        base, index = entry_of(name)
        if index is None or base not in known:
            found[name] = value
            continue
        array = np.array(found.get(base, known[base]), dtype=float)
        if index >= array.size or not array.ndim:
            raise UsageError(f"{name}: '{base}' has {array.size} numbers, from '{base}[0]' on.")
        array.reshape(-1)[index] = value
        found[base] = array
    return found

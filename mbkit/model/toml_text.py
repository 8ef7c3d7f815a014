"""TOML with arrays of numbers on one line: a pose takes four lines, not twenty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_LINE = 100  # length up to which tables and matrices stay on one line


def render(document: Mapping[str, Any]) -> str:
    r"""Return TOML of nested dictionaries, lists, strings, numbers and booleans.

    Keys are strings. Floats are written with all their digits. The text ends in a line feed.

    Examples
    --------
    >>> print(render({"a": {"b": {"x": [1.0, 0.1], "c": {"name": 'say "so"'}}}}))
    [a.b]
    x = [1.0, 0.1]
    c = {name = "say \"so\""}
    <BLANKLINE>
    """
    return "\n".join(_table(document, ())).lstrip("\n") + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    lines, tables = [], {}
    for key, value in table.items():
        is_table = isinstance(value, Mapping)
        if is_table and len(path) < 2:  # the file, its bodies and its joints
            tables[key] = value
            continue
        line = f"{_key(key)} = {_value(value)}"
        if is_table and len(line) > _LINE:
            tables[key] = value
        elif len(line) > _LINE and _has_rows(value):
            rows = "".join(f"    {_value(row)},\n" for row in value)
            lines.append(f"{_key(key)} = [\n{rows}]")
        else:
            lines.append(line)
    # A table that holds nothing but tables needs no heading of its own.
    if path and (lines or not tables):
        yield f"\n[{'.'.join(map(_key, path))}]"
    yield from lines
    for key, value in tables.items():
        yield from _table(value, (*path, key))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(map(_value, value)) + "]"


def _has_rows(value: Any) -> bool:
    """Return whether a value is a matrix, or an array of tables."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(row, (list, Mapping)) for row in value)
    )


def _string(text: str) -> str:
    import tomli_w

    return tomli_w.dumps({"x": text}).removeprefix("x = ").rstrip("\n")


def _key(key: str) -> str:
    import tomli_w

    return tomli_w.dumps({key: 0}).removesuffix(" = 0\n")

"""The manifest of a run directory: JSON that is checked before anything is made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mbkit.errors import ResultFileError

__all__ = ["parsed_manifest"]

# What the keys are that a manifest has, or may have, by the table they are in.
_KINDS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "": {
        "status": str, "options": dict, "save": list, "dtype": str, "events": list,
        "labels": dict, "versions": dict, "further_forces": list, "model_sha256": str,
        "system": str, "integrator": dict, "callables": dict, "environment": dict,
        "wall_time": (int, float),
    },
    "options": {
        "h": (int, float), "t_span": list, "steps": int, "tau": str, "forces": list,
        "representation": str, "integrator": str, "notes": dict, "events": list,
        "began_with": list,
    },
    "labels": dict.fromkeys(
        ("position_names", "velocity_names", "body_names", "joint_names", "position_units"), list
    ),
}  # fmt: skip

_TITLES = {dict: "a table", list: "a list", str: "a text", int: "a whole number"}


def parsed_manifest(content: bytes, what: str) -> dict[str, Any]:
    """Return a manifest.

    Parameters
    ----------
    content : bytes
        The file.
    what : str
        How messages call it.

    Returns
    -------
    dict
        With ``mbkit_run`` and ``options``; the values of keys that are known are of their kinds.

    Raises
    ------
    ResultFileError
        If it is none.
    """
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise ResultFileError(f"{what} is not the manifest of a run: {reason}.") from error
    if not (isinstance(manifest, dict) and {"mbkit_run", "options"} <= set(manifest)):
        raise ResultFileError(
            f"{what} is not the manifest of a run: it must be a table with 'mbkit_run' and "
            "'options'."
        )
    for place, kinds in _KINDS.items():
        _check(manifest if not place else manifest.get(place, {}), kinds, place, what)
    checked: dict[str, Any] = manifest
    return checked


def _check(table: Mapping[str, Any], kinds: Mapping[str, Any], place: str, what: str) -> None:
    for key, kind in kinds.items():
        value = table.get(key)
        if key in table and (not isinstance(value, kind) or isinstance(value, bool)):
            title = _TITLES.get(kind, "a number")
            raise ResultFileError(
                f"{what} is damaged: {f'{place}.{key}'.strip('.')} must be {title}, got "
                f"{value!r:.100}; put the file back, or start a new run."
            )

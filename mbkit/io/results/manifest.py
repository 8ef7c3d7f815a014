"""The manifest of a run directory: JSON that is checked before anything is made of it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from mbkit.errors import ResultFileError

# The types of the keys that a manifest has, or may have, by the table they are in.
_KINDS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "": {
        "status": str, "options": dict, "save": list, "dtype": str, "events": list,
        "labels": dict, "versions": dict, "further_forces": list, "model_sha256": str,
        "outputs": dict,
        "system": str, "integrator": dict, "callables": dict, "environment": dict,
        "wall_time": (int, float), "run": int, "result": str, "crc32": str,
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


# The keys that every manifest has.
_NEEDED = (
    "status", "options", "save", "dtype", "labels", "versions", "model_sha256", "system", "run",
    "integrator", "callables", "environment", "tau", "further_forces",
)  # fmt: skip


def manifest_text(content: Mapping[str, Any]) -> str:
    """Return the text of a manifest with its checksum, which takes the place of an older one."""
    rest = {key: value for key, value in content.items() if key != "crc32"}
    plain = json.loads(json.dumps(rest))  # such as keys that become text
    return json.dumps({**plain, "crc32": _crc32(plain)}, indent=2, ensure_ascii=False) + "\n"


def _crc32(content: Mapping[str, Any]) -> str:
    """Return the checksum of the content of a manifest, without its layout."""
    return f"{zlib.crc32(json.dumps(content, sort_keys=True).encode()):08x}"


def parsed_manifest(content: bytes, what: str, version: int) -> dict[str, Any]:
    """Return a manifest with ``mbkit_run`` and ``options``; ResultFileError if the content is none.

    Values of keys that are known are of their kinds. `version` is the format that is read.
    """
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise ResultFileError(f"{what} is not the manifest of a run: {reason}.") from error
    if isinstance(manifest, dict) and "mbkit_study" in manifest and "mbkit_run" not in manifest:
        raise ResultFileError(
            f"{what} is the manifest of a sweep or comparison, not of a run: open report.html in "
            "its directory, or take mbkit.studies.load_findings."
        )
    if not (isinstance(manifest, dict) and {"mbkit_run", "options"} <= set(manifest)):
        raise ResultFileError(
            f"{what} is not the manifest of a run: it must be a table with 'mbkit_run' and "
            "'options'."
        )
    if manifest["mbkit_run"] != version:
        raise ResultFileError(
            f"{what} has the format {manifest['mbkit_run']!r:.100}; this mbkit reads {version}. Go "
            "on with the mbkit that began the run."
        )
    for place, kinds in _KINDS.items():
        _check(manifest if not place else manifest.get(place, {}), kinds, place, what)
    if missing := [key for key in _NEEDED if key not in manifest]:
        raise ResultFileError(f"{what} is damaged: it lacks {', '.join(missing)}.")
    checksum = _crc32({key: value for key, value in manifest.items() if key != "crc32"})
    if manifest.get("crc32") != checksum:
        raise ResultFileError(
            f"{what} was changed since the run wrote it: its checksum is {checksum}, and it says "
            f"{manifest.get('crc32')!r:.100}. Put the file back, or start a new run."
        )
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

"""The differences between a run that shall go on and the run that its directory holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mbkit.simulation.long_runs.long_run import identity

if TYPE_CHECKING:
    from mbkit.simulation.preparation import Prepared


def differences(run: Prepared, manifest: Mapping[str, Any], *, other_versions: bool) -> list[str]:
    """Return the differences from the manifest of a run directory, in a sentence each."""
    now = identity(run)
    found = []
    if now["model_sha256"] != manifest["model_sha256"]:
        found.append("the system has another model than model.toml.")
    elif now["system"] != manifest["system"]:
        found.append(
            "the system has the same model but other numbers: another representation, other frames "
            "of bodies, or parameters that were changed."
        )
    for name, value in run.options.items():
        if name != "events" and value != manifest["options"][name]:
            found.append(f"{name} was {manifest['options'][name]!r}, is {value!r}.")
    found += _other_events(run.options.get("events", []), manifest["options"].get("events", []))
    if now["integrator"] != manifest["integrator"]:
        found.append("the integrator has other coefficients.")
    if now["tau"] != manifest["tau"]:
        found.append(f"the constant forces tau were {manifest['tau']}, are {now['tau']}.")
    before = manifest["callables"]
    for name in sorted(before.keys() | now["callables"].keys()):
        found += _changed(name, before.get(name), now["callables"].get(name))
    if not other_versions:
        found += _other_environment(manifest, now)
    return found


def _other_events(now: list[str], before: list[str]) -> list[str]:
    """Return which events differ, as they are written; `_changed` looks into their functions."""
    if len(now) != len(before):
        return [f"there were {len(before)} events, are {len(now)}."]
    pairs = zip(before, now, strict=True)
    return [f"an event was {old}, is {new}." for old, new in pairs if old != new]


def _changed(
    what: str, before: Mapping[str, Any] | None, now: Mapping[str, Any] | None
) -> list[str]:
    """Return how a function or an object of the user differs."""
    if before is None or now is None:
        return [] if before is now else [f"{what} is there now, or was then, and not both times."]
    if before == now:
        return []
    name = before["name"].rpartition(".")[2]
    if before["code"] != now["code"] or name != now["name"].rpartition(".")[2]:
        return [f"{what} is not the same code: it was '{before['name']}', is '{now['name']}'."]
    old, new = before["values"], now["values"]
    changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    return [f"{what}: '{each}', which '{now['name']}' uses, is not the same." for each in changed]


def _other_environment(manifest: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    before, after = manifest["environment"], now["environment"]
    return [
        f"{name} was {before[name]}, is {after[name]} (other_versions=True goes on all the same, "
        "with other last bits)."
        for name in before
        if before[name] != after.get(name) and (name != "python" or manifest["callables"])
    ]

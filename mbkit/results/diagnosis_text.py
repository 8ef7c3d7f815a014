"""A diagnosis as text for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.results.diagnosis import Branch, Diagnosis, Reaction

#: Most branches that are followed and listed; many loops that are singular at once have more.
MOST_BRANCHES = 8

_WIDTH = 80
_NO_BREAK = "\N{NO-BREAK SPACE}"
#: Entries of q that are shown, and singular values on either side of the tolerance.
_LONGEST = 6


def text_of(diagnosis: Diagnosis) -> str:
    """Return a diagnosis in lines of 80 columns."""
    q = ", ".join(f"{value:.4g}" for value in diagnosis.q[:_LONGEST] + 0.0)
    more = ", ..." if len(diagnosis.q) > _LONGEST else ""
    head = f"Constraints of '{diagnosis.system}' at q = ({q}{more})"
    if not diagnosis.num_rows:
        return _wrapped(f"{head}: none, a tree of mobility {diagnosis.mobility}.")
    parts = [
        [_wrapped(head)],
        _freedom(diagnosis),
        _posture(diagnosis),
        _loops(diagnosis),
        _rows(diagnosis),
        _reactions(diagnosis.reactions),
    ]
    return "\n".join("\n".join(part) for part in parts if part)


def _freedom(diagnosis: Diagnosis) -> list[str]:
    kept, lost = np.split(diagnosis.singular_values, [diagnosis.rank])
    values = f"{_values(kept)} | {_values(lost)}" if len(lost) else _values(kept)
    around = sorted({branch.mobility for branch in diagnosis.branches})
    generic = " or ".join(map(str, around)) or ("0" if diagnosis.mobility == 0 else "none found")
    still = f" (without prescribed: {', '.join(diagnosis.prescribed)})"
    velocities = f"{diagnosis.num_velocities}{still if diagnosis.prescribed else ''}"
    table = [
        ("velocities", velocities),
        ("constraint rows", str(diagnosis.num_rows)),
        ("Gruebler-Kutzbach count", str(diagnosis.gruebler_count)),
        ("rank", str(diagnosis.rank)),
        ("singular values", f"{values} (zero up to {diagnosis.tolerance:.1e})"),
        ("mobility here", str(diagnosis.mobility)),
        ("generic mobility", generic),
    ]
    return [_wrapped(f"  {name:<24}{value}", 26) for name, value in table]


def _values(sizes: FloatArray) -> str:
    """Return numbers, of many the first and the last ones."""
    texts = [f"{size:.2g}" for size in sizes]
    if len(texts) > _LONGEST:
        texts = [*texts[: _LONGEST // 2], "...", *texts[-(_LONGEST // 2) :]]
    return " ".join(texts)


def _posture(diagnosis: Diagnosis) -> list[str]:
    if not diagnosis.is_singular:
        held = " with its prescribed joints held" if diagnosis.prescribed else ""
        locked = f" Mobility 0: the mechanism cannot move{held}."
        return [_wrapped(f"Posture: regular.{locked if diagnosis.mobility == 0 else ''}", 2)]
    if not diagnosis.branches:
        return [
            _wrapped(
                "Posture: singular. No motion was found from here, though the constraints allow "
                "velocities: it is shaky, or stands where a motion ends.",
                2,
            )
        ]
    return [_wrapped(f"Posture: singular. {_meeting(diagnosis.branches)}", 2)]


def _meeting(branches: tuple[Branch, ...]) -> str:
    if len(branches) == 1:
        return f"Around it mobility is {branches[0].mobility}."
    each = ", ".join(str(branch.mobility) for branch in branches)
    more = " or more" if len(branches) == MOST_BRANCHES else ""
    return (
        f"{len(branches)} branches{more} meet here, of mobility {each}. Rows and reactions are "
        f"better looked at elsewhere."
    )


def _loops(diagnosis: Diagnosis) -> list[str]:
    lines = ["Loops: joint screws, the motions that they generate, rows redundant by that"]
    for loop in diagnosis.loops:
        joints = ", ".join(loop.joints)
        what = (
            f"  {joints}: screws span {loop.span}, generate {loop.motions} ({loop.dimension}): "
            f"{loop.num_redundant} redundant"
        )
        lines.append(_wrapped(what, 4))
    return lines if diagnosis.loops else []


def _rows(diagnosis: Diagnosis) -> list[str]:
    count = len(diagnosis.redundant)
    if not count:
        return ["Rows: none is redundant."]
    named = [
        f"{name} ({diagnosis.rows[name]})" if diagnosis.rows[name] else name
        for name in diagnosis.redundant
    ]
    one = "1 of them is" if count == 1 else f"{count} of them are"
    return [
        f"Rows: {one} redundant at generic configurations",
        *(_wrapped(f"  {'drop' if k == 0 else '    '} {each}", 7) for k, each in enumerate(named)),
        _wrapped(f"  keep {', '.join(diagnosis.independent) or 'none'}", 7),
    ]


def _reactions(reactions: Iterable[Reaction]) -> list[str]:
    unique = [each.name for each in reactions if each.is_unique]
    lines = [_wrapped(f"Joints whose reactions are unique: {', '.join(unique) or 'none'}", 2)]
    loose = [each for each in reactions if not each.is_unique]
    if loose:
        lines.append("Unique but for components that internal stress leaves open, in the world:")
    lines += [_wrapped(f"  {each.name}: {'; '.join(each.undetermined)}", 4) for each in loose]
    return lines


def _wrapped(text: str, indent: int = 0) -> str:
    """Return lines that are not broken in vectors."""
    parts = re.split(r"(\([^()]*\))", text)
    parts[1::2] = [each.replace(", ", f",{_NO_BREAK}") for each in parts[1::2]]
    lines = textwrap.fill(
        "".join(parts), _WIDTH, subsequent_indent=" " * indent, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return lines.replace(_NO_BREAK, " ")

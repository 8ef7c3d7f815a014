"""Names of elements of an MJCF: MuJoCo has some twice, and some parts have none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import mbkit.io.mjcf.kinds as k


class Names(NamedTuple):
    """Names in the mechanism, by MuJoCo's numbers; and those that are not MuJoCo's."""

    bodies: list[str]
    joints: list[str]
    equalities: list[str]
    sites: list[str]  # empty where the site has none
    renamed: list[str]


def names_of(model: Any) -> Names:
    """Return the names of bodies, joints, equalities and sites.

    Bodies and frames have one space of names, joints and equalities, which are joints or
    constraints, another. Joints have no square brackets.
    """
    renamed: list[str] = []

    def unique(own: str, otherwise: str, taken: set[str]) -> str:
        name = own.replace("[", "(").replace("]", ")").strip() or otherwise
        while name in taken:
            name += "_"
        taken.add(name)
        if own not in (name, ""):
            renamed.append(f"'{own}' is '{name}'")
        return name

    def all_of(own: Iterable[str], otherwise: Callable[[int], str], taken: set[str]) -> list[str]:
        return [unique(name, otherwise(i), taken) for i, name in enumerate(own)]

    frames: set[str] = set()
    given = [model.body(i).name for i in range(model.nbody)]
    bodies = all_of(["world", *given[1:]], lambda i: f"body {i}", frames)
    edges: set[str] = set()

    def joint_name(i: int) -> str:
        word = k.JOINTS[int(model.jnt_type[i])]
        return f"{word} of {bodies[model.jnt_bodyid[i]]}"

    joints = all_of((model.joint(i).name for i in range(model.njnt)), joint_name, edges)
    equalities = all_of(
        (model.equality(i).name for i in range(model.neq)), lambda i: f"equality {i}", edges
    )
    sites = [
        unique(own, own, frames) if (own := model.site(i).name) else "" for i in range(model.nsite)
    ]
    return Names(bodies, joints, equalities, sites, renamed)

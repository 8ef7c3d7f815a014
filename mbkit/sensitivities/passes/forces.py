"""Forces that a pass of the adjoint of a tree differentiates, and others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mbkit.forces.built_in import Bushing, Drag, SpringDamper
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.memory.in_lanes.forces import forces_have_lanes

__all__ = [
    "by_closed_forms",
    "called_forces",
    "closed_form_parameters",
    "known_forces",
    "other_forces",
    "owner_of",
    "table_of_bushings",
    "table_of_drags",
]

#: Where derivatives by parameters are in the rows of kernels: `springs` and others in
#: `mbkit.kernels.vector_jacobian_products`.
_OF_SPRING = {
    "stiffness": slice(0, 1), "rest_length": slice(1, 2), "damping": slice(2, 3),
    "point_a": slice(3, 6), "point_b": slice(6, 9),
}  # fmt: skip
_OF_BUSHING = {
    "stiffness": slice(38, 44), "damping": slice(44, 50), "frame_a": slice(50, 56),
    "frame_b": slice(56, 62),
}  # fmt: skip
_OF_DRAG = {
    "linear": slice(11, 12), "quadratic": slice(12, 13), "angular": slice(13, 14),
    "angular_quadratic": slice(14, 15), "point": slice(15, 18), "wind": slice(18, 21),
}  # fmt: skip


def other_forces(system: System, called: Iterable[int]) -> System | None:
    """Return the system with the forces that no pass differentiates, if there are some.

    `called` are rows of those that a pass differentiates besides fields and closed forms.
    """
    forces = system.arrays.forces
    if not forces.forces:
        return None
    fields = forces.order[: forces.num_fields].tolist()
    taken = {*_in_closed_form(system), *fields, *called}
    if len(taken) == len(forces.forces):
        return None
    names = [forces.names[k] for k in taken]
    return system.without_forces(names) if names else system


def called_forces(system: System) -> list[int]:
    """Return the rows of the forces that a pass calls for their derivatives.

    By their functions on dual numbers, or, in Python, by derivatives of their outputs.
    """
    forces, exact = system.arrays.forces, system._exact_forces
    if exact is None:
        return []
    fields = forces.order[: forces.num_fields].tolist()
    others = {*_in_closed_form(system), *fields}
    rows = (k for k in range(len(forces.forces)) if k not in others)
    return [k for k in rows if exact.are_known([k], exactly=False)]


def known_forces(system: System) -> set[str]:
    """Return the forces by whose parameters a pass has derivatives, each as "forces.name"."""
    if system._exact_forces is None:
        return set()
    forces = system.arrays.forces
    named = ((k, name) for k, name in enumerate(forces.names) if name in forces.parameters)
    return {f"forces.{name}" for k, name in named if forces_have_lanes(forces, [k])}


def owner_of(name: str) -> str:
    """Return the part of a mechanism whose parameter a name is, "forces.spring"."""
    return name.rpartition(".")[0]


def _rows_of(system: System, kind: type) -> list[int]:
    return [k for k, each in enumerate(system.arrays.forces.forces) if type(each) is kind]


def _in_closed_form(system: System) -> list[int]:
    """Return the rows of the forces whose derivatives are closed forms."""
    return [*system.arrays.forces.springs, *_rows_of(system, Bushing), *_rows_of(system, Drag)]


def table_of_bushings(system: System) -> Floats:
    """Return the bushings as kernels read them, (bushings, 50), frames on rows of the tree."""
    from mbkit.kernels.vector_jacobian_products import bushings as layout

    forces, frames = system.arrays.forces, system.arrays.frames
    which = _rows_of(system, Bushing)
    table = np.zeros((len(which), layout.SIZE))
    for row, k in zip(table, which, strict=True):
        bushing: Any = forces.forces[k]
        row[layout.STIFFNESS : layout.DAMPING] = bushing.stiffness
        row[layout.DAMPING : layout.R_A] = bushing.damping
        ends = (layout.ROW_A, layout.R_A, layout.P_A), (layout.ROW_B, layout.R_B, layout.P_B)
        poses = bushing.frame_a, bushing.frame_b
        for body, C, (own, R, p) in zip(forces.bodies[k][:2], poses, ends, strict=True):
            frame = frames[forces.sites[body]]
            row[own] = frame["row"]
            row[R : R + 9] = (frame["R"] @ C[:3, :3]).ravel()
            row[p : p + 3] = frame["R"] @ C[:3, 3] + frame["p"]
    return table


def table_of_drags(system: System) -> Floats:
    """Return the drags as kernels read them, (drags, 21), points on rows of the tree."""
    from mbkit.kernels.vector_jacobian_products import drags as layout

    forces, frames = system.arrays.forces, system.arrays.frames
    which = _rows_of(system, Drag)
    table = np.zeros((len(which), layout.SIZE))
    for row, k in zip(table, which, strict=True):
        drag: Any = forces.forces[k]
        frame = frames[forces.sites[forces.bodies[k][0]]]
        row[layout.ROW] = frame["row"]
        row[layout.LINEAR], row[layout.QUADRATIC] = drag.linear, drag.quadratic
        row[layout.ANGULAR], row[layout.ANGULAR_QUADRATIC] = drag.angular, drag.angular_quadratic
        row[layout.POINT : layout.WIND] = frame["R"] @ drag.point + frame["p"]
        row[layout.WIND : layout.BY_LINEAR] = drag.wind
    return table


class Parameter(NamedTuple):
    """A parameter of a force in closed form.

    Attributes
    ----------
    kind, row : str, int
        The sums that it is found in, and the number of the force among those.
    entries : slice
        Where it is in the row.
    site : int, optional
        The body of the user in whose axes a point is, which those of the row are turned to.
    """

    kind: str
    row: int
    entries: slice
    site: int | None


def closed_form_parameters(system: System, names: Iterable[str]) -> dict[str, Parameter]:
    """Return those of some parameters that are of forces in closed form."""
    forces, found = system.arrays.forces, {}
    own = [k for k in forces.springs if type(forces.forces[k]) is SpringDamper]
    rows = {k: ("springs", forces.springs.index(k), _OF_SPRING) for k in own}
    for kind, type_, fields in (("bushings", Bushing, _OF_BUSHING), ("drags", Drag, _OF_DRAG)):
        rows |= {k: (kind, row, fields) for row, k in enumerate(_rows_of(system, type_))}
    known = {f"forces.{forces.names[k]}": (k, *each) for k, each in rows.items()}
    for name in names:
        field = name.rpartition(".")[2]
        if owner_of(name) not in known:
            continue
        k, kind, row, fields = known[owner_of(name)]
        if field in fields:
            bodies = forces.bodies[k]
            site = forces.sites[bodies[int(field == "point_b")]] if "point" in field else None
            found[name] = Parameter(kind, row, fields[field], site)
    return found


def by_closed_forms(system: System, sums: Any, names: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return derivatives (k,) by name, from the sums of the adjoint.

    Points are in the axes of the row of their body there.
    """
    found = {}
    for name, (kind, row, entries, site) in names.items():
        part = np.array(getattr(sums, kind)[row, entries])
        found[name] = part if site is None else system.arrays.frames[site]["R"].T @ part
    return found

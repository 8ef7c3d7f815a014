"""Notes on parts of an MJCF that the mechanism does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbkit.io.mjcf.kinds as k
from mbkit.errors import listed
from mbkit.io.mjcf.names import Names
from mbkit.io.mjcf.shapes import is_shown

__all__ = ["notes_of", "warnings_of"]


def warnings_of(m: Any, names: Names) -> list[str]:
    """Return elements that influence the motion in MuJoCo, but for contacts, and are left out."""
    joints = range(m.njnt)
    turning = [j for j in joints if m.jnt_type[j] in (k.FREE, k.BALL)]

    def of(found: list[int]) -> str:
        return listed(names.joints[j] for j in found)

    def entries(values: Any) -> list[int]:
        """Return the joints of whose velocities one has such a value."""
        rows = np.flatnonzero(np.reshape(values, (m.nv, -1)).any(axis=1))
        return sorted({int(m.dof_jntid[row]) for row in rows})

    heavy = [j for j in entries(m.dof_armature) if j in turning]
    bent = [j for j in joints if np.any(getattr(m, "jnt_stiffnesspoly", np.zeros((m.njnt, 1)))[j])]
    bent += [j for j in entries(getattr(m, "dof_dampingpoly", np.zeros(m.nv))) if j not in bent]
    equalities = [
        names.equalities[e]
        for e in range(m.neq)
        if m.eq_active0[e] and not m.opt.disableflags & k.EQUALITY and m.eq_type[e] > k.COUPLING
    ]
    fluid = m.opt.density or m.opt.viscosity
    found = [
        ("the armature of joints that turn freely", of(heavy)),
        ("springs of joints that turn freely", of([j for j in turning if m.jnt_stiffness[j]])),
        ("springs and dampers that are not linear", of(bent)),
        ("limits of joints that turn freely", of([j for j in turning if m.jnt_limited[j]])),
        (
            "friction, which is data of joints (mbkit.DryFriction acts)",
            of(entries(m.dof_frictionloss)),
        ),
        ("equalities", listed(equalities)),
        ("tendons", listed(_own(m.tendon, m.ntendon, "tendon"))),
        ("deformable bodies (flex)", str(m.nflex) if m.nflex else ""),
        ("the fluid around", "its density and viscosity" if fluid else ""),
        ("plugins", str(m.nplugin) if m.nplugin else ""),
        ("the armature of actuators", _count(getattr(m, "actuator_armature", ()), "actuator")),
        ("the damping of actuators", _count(getattr(m, "actuator_damping", ()), "actuator")),
    ]
    return [f"{what}: {which}" for what, which in found if which]


def notes_of(m: Any, names: Names) -> list[str]:
    """Return the other elements that the mechanism lacks."""
    geoms = range(m.ngeom)
    hidden = sum(not is_shown(m, g) for g in geoms)
    touching = sum(bool(m.geom_contype[g] or m.geom_conaffinity[g]) for g in geoms)
    sites = sum(m.site_bodyid[s] == 0 for s in range(m.nsite))
    counts = [
        (m.nu, "actuator", "data, in Mjcf.actuators: efforts of a run stand for them"),
        (m.nsensor, "sensor", "data, in Mjcf.sensors"),
        (touching, "geom", "without contact: bodies pass through each other"),
        (hidden, "geom", "no shape: for contact alone, or planes and height fields"),
        (sites, "site", "on the world, which has no frames of other names"),
        (m.ncam, "camera", "not read"),
        (m.nlight, "light", "not read"),
        (m.nkey, "keyframe", "not read"),
        (m.nskin, "skin", "not read"),
        (m.nmocap, "mocap body", "fixed in place"),
        (int(np.sum(~np.asarray(m.eq_active0, dtype=bool))), "equality", "not active"),
    ]
    found = []
    for count, word, fate in counts:
        several = word[:-1] + "ies" if word.endswith("y") and word != "mocap body" else word + "s"
        if count:
            found.append(f"{count} {word if count == 1 else several}: {fate}.")
    if names.renamed:
        found.append(f"names that are taken, or that joints cannot have: {listed(names.renamed)}.")
    return found


def _own(get: Any, count: int, word: str) -> list[str]:
    return [get(i).name or f"{word} {i}" for i in range(count)]


def _count(values: Any, word: str) -> str:
    rows = np.asarray(values)
    count = int(np.count_nonzero(rows.reshape(len(rows), -1).any(axis=1))) if rows.size else 0
    return f"{count} {word}{'' if count == 1 else 's'}" if count else ""

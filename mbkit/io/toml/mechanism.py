"""From the tables of a model file to a mechanism."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Mapping
from typing import Any

import attrs

from mbkit.constraints import Constraint
from mbkit.errors import suggestion
from mbkit.forces import Force
from mbkit.io.toml.bodies import read_body
from mbkit.io.toml.expressions import evaluate_all, with_parameters
from mbkit.io.toml.faults import Faults
from mbkit.io.toml.fields import Shapes, Vector, converter, in_folder
from mbkit.io.toml.forces import read_constraint, read_force
from mbkit.io.toml.joints import JointPlace, read_joint
from mbkit.joints.prescribed.prescribed_joint import PrescribedJoint
from mbkit.model import Mechanism
from mbkit.plugins import registry
from mbkit.spatial.arrays import frozen_array
from mbkit.topology import WORLD


@attrs.frozen
class _World:
    """The table of the world in a model file."""

    shapes: Shapes = ()


@attrs.frozen
class _Head:
    """The keys of the file outside of its tables."""

    mbkit_model: int
    name: str
    parameters: dict[str, Any] = attrs.field(factory=dict)
    gravity: Vector = attrs.field(factory=lambda: frozen_array((0.0, 0.0, -9.81)))
    world: _World = attrs.field(factory=_World)
    bodies: dict[str, Any] = attrs.field(factory=dict)
    joints: dict[str, Any] = attrs.field(factory=dict)
    forces: dict[str, Any] = attrs.field(factory=dict)
    constraints: dict[str, Any] = attrs.field(factory=dict)


def read_mechanism(
    document: dict[str, Any],
    types: Mapping[str, Mapping[str, type[Any]] | None],
    parameters: Mapping[str, float],
    folder: pathlib.Path,
) -> tuple[Mechanism, Faults]:
    """Return the mechanism of a document without its faulty parts, and the faults.

    Classes besides those of mbkit come by the names that the file calls them, under "body",
    "joint", "force" and "constraint"; `parameters` count instead of those of the file, and
    meshes are looked for in its `folder`.
    """
    faults = Faults()
    given = {**_tables(document, "parameters"), **parameters}
    values = evaluate_all(given, lambda name, fault: faults.add(("parameters", name), fault))
    known = {kind: {**_known(document, kind), **(own or {})} for kind, own in types.items()}
    with with_parameters(values), in_folder(folder):
        return _mechanism(document, known, faults), faults


#: Where parts are by the kinds of their classes.
_PARTS = {"body": "bodies", "joint": "joints", "force": "forces", "constraint": "constraints"}


def _known(document: dict[str, Any], kind: str) -> Mapping[str, type[Any]]:
    """Return the classes of a kind that are known, none where the document needs none."""
    return registry().known(kind) if _tables(document, _PARTS[kind]) else {}


def _mechanism(
    document: dict[str, Any], types: Mapping[str, Mapping[str, Any]], faults: Faults
) -> Mechanism:
    mechanism = Mechanism("faulty")
    head = None
    with faults.at():
        head = converter().structure(document, _Head)
    if head is not None:
        with faults.at("name"):
            mechanism = Mechanism(head.name, head.gravity, world_shapes=head.world.shapes)
    for key, table in _tables(document, "bodies").items():
        with faults.at("bodies", key):
            mechanism.add_body(read_body(key, table, types["body"], faults))
    for key, table in _tables(document, "joints").items():
        joint, place, data = read_joint(key, table, types["joint"], faults)
        if place is not None and _are_known(place, mechanism, key, faults):
            own = joint.joint if isinstance(joint, PrescribedJoint) else joint
            plugin = registry().owner("joint", type(own))
            with faults.of_plugin(plugin), faults.at("joints", key):
                mechanism.add_joint(
                    joint, place.predecessor, place.successor, **place.options(), **data
                )
    sound = not faults.found  # else a force may report parts that lack by their own faults
    for key, table in _tables(document, "forces").items():
        add_force(mechanism, key, table, types["force"], faults, sound=sound)
    for key, table in _tables(document, "constraints").items():
        _add_constraint(mechanism, key, table, types["constraint"], faults, sound=sound)
    return mechanism


def add_force(
    mechanism: Mechanism,
    key: str,
    table: Any,
    types: Mapping[str, type[Force]],
    faults: Faults,
    *,
    sound: bool,
) -> None:
    """Read a force, and add it to the mechanism if that is `sound`; note its faults."""
    force = read_force(key, table, types, faults)
    if force is not None and sound:
        with faults.of_plugin(registry().owner("force", type(force))), faults.at("forces", key):
            mechanism.add_force(force)


def _add_constraint(
    mechanism: Mechanism,
    key: str,
    table: Any,
    types: Mapping[str, type[Constraint]],
    faults: Faults,
    *,
    sound: bool,
) -> None:
    constraint = read_constraint(key, table, types, faults)
    if constraint is not None and sound:
        plugin = registry().owner("constraint", type(constraint))
        with faults.of_plugin(plugin), faults.at("constraints", key):
            mechanism.add_constraint(constraint)


def _are_known(place: JointPlace, mechanism: Mechanism, joint: str, faults: Faults) -> bool:
    """Return whether a joint's bodies are there; those missing are noted."""
    are_known = True
    for role in ("predecessor", "successor"):
        body = getattr(place, role)
        if body != WORLD and body not in mechanism.bodies:
            what = f"Joint {joint!r} has the {role} {body!r}, which is no body of the mechanism"
            hint = functools.partial(_meant, body, mechanism)
            faults.add(("joints", joint, role), f"{what}; ", hint)
            are_known = False
    return are_known


def _meant(body: str, mechanism: Mechanism) -> str:
    return suggestion(body, (WORLD, *mechanism.bodies))


def _tables(document: dict[str, Any], key: str) -> dict[str, Any]:
    tables = document.get(key, {})
    return tables if isinstance(tables, dict) else {}  # else: reported with the head

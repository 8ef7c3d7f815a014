"""``mbkit info``: the content of a model file, or how a result was computed."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

import mbkit as mb
from mbkit.cli.compiling import compiling_announced
from mbkit.cli.coordinates import coordinate_option
from mbkit.cli.mobility import planar_loops, rank_of_gears
from mbkit.cli.models import MODEL_OR_RESULT, floating_option, read
from mbkit.cli.provenance import is_result, tell_result
from mbkit.cli.remedies import on_the_command_line
from mbkit.coordinates.cut_bodies import all_cuts, cut_bodies, weld_name
from mbkit.errors import InertiaError, UsageError, listed
from mbkit.model import check_inertias
from mbkit.model.graph import graph_of
from mbkit.parts.parts import Parts
from mbkit.topology import Topology, build_topology

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.console import Console
    from rich.tree import Tree

    from mbkit.constraints import Constraint
    from mbkit.forces import Force
    from mbkit.model import Connection, Mechanism

#: Entries of a vector that is shown.
_LONGEST = 8

#: Columns that stand to the right.
_COUNTS = {"mass [kg]", "positions", "velocities", "rows"}


@click.command(short_help="Show what is in a model file, or what a result was computed from.")
@click.argument("model", type=MODEL_OR_RESULT, metavar="MODEL|RESULT")
@floating_option
@coordinate_option
@click.option(
    "--diagnose",
    is_flag=True,
    help="Close the loops, near the reference configuration, and diagnose their constraints there: "
    "mobility, redundant rows, unique reactions.",
)
def info(model: pathlib.Path, floating: bool, coordinates: str, diagnose: bool) -> None:
    """Show the bodies, joints, forces, constraints, tree, loops, mobility and mass of MODEL.

    MODEL is a TOML, URDF, SDF or MJCF file, or robot:NAME for a robot of the package
    example-robot-data. Without --diagnose nothing is computed or compiled. Warnings name what keeps
    the model from being simulated, notes what is unusual, and what of the file is not read.

    Of RESULT, a result file or a run directory: what happened in the run, which study it was, at
    which commit, with which versions and settings.

    \b
    Examples:
      mbkit info arm.toml
      mbkit info robot:panda
      mbkit info four-bar.toml --diagnose
      mbkit info four-bar.toml --coordinates absolute
      mbkit info results/swing.nc
    """
    if is_result(model):
        if floating or diagnose or coordinates != "relative":
            raise UsageError(f"'{model}' is a result; options of 'mbkit info' are for models.")
        tell_result(model)
        return

    mechanism, notes, warnings = read(model, floating=floating)
    console = _console()
    _show_summary(console, mechanism)
    _show_bodies(console, mechanism)
    _show_joints(console, mechanism)
    if mechanism.forces:
        _show_forces(console, mechanism)
    if mechanism.constraints:
        _show_constraints(console, mechanism)
    try:
        parts, topology, note = _as_assembled(mechanism, coordinates)
    except (mb.TopologyError, mb.InertiaError) as error:
        warnings.append(on_the_command_line(str(error)))
    else:
        _show_mobility(console, parts, topology)
        _show_prescribed(console, parts)
        console.print(_tree(parts, topology))
        if topology.loop_joints:
            _show_loops(console, parts, topology)
        if note:
            console.print(f"Note: {note}", markup=False)
        warnings += _warnings(mechanism, parts, topology, coordinates)
    _note_massless(console, mechanism)
    for note in notes:
        console.print(f"Note: {note}", markup=False)
    for warning in warnings:
        console.print(f"Warning: {warning}", style="yellow", markup=False)
    if diagnose:
        _diagnose(mechanism, coordinates)


def _as_assembled(mechanism: Mechanism, coordinates: str) -> tuple[Parts, Topology, str]:
    """Return the parts of a mechanism, their tree, and which bodies had to be cut for it."""
    if coordinates == "absolute":
        return _by_bodies(mechanism)

    whole = Parts.of(mechanism)
    cuts = all_cuts(whole, {})
    parts = cut_bodies(whole, cuts)
    topology = build_topology(graph_of(parts, [weld_name(body) for body in cuts]))
    if not cuts:
        return parts, topology, ""
    note = (
        f"all joints of a loop must stay in the tree, so that {listed(cuts)} "
        f"{'is' if len(cuts) == 1 else 'are'} cut in two, and welded; see "
        f"mbkit.RelativeCoordinates(cut_bodies=...)."
    )
    return parts, topology, note


def _by_bodies(mechanism: Mechanism) -> tuple[Parts, Topology, str]:
    """Return the same in absolute coordinates, and the joints cut and inertia transferred."""
    whole = Parts.of(mechanism)
    bodies, division, topology = mb.AbsoluteCoordinates().divided(whole)
    notes = []
    if bodies.hanging:
        kept = [each.joint for each in bodies.hanging]
        notes.append(
            f"{listed(kept)} {'keeps its' if len(kept) == 1 else 'keep their'} coordinates, by a "
            f"part of a body{'' if len(kept) == 1 else ' each'}."
        )
    receivers = sorted(bodies.transfers.receivers)
    if receivers:
        notes.append(
            f"without a moment of inertia about all axes, which neighbours transfer to them: "
            f"{listed(receivers)}."
        )
    return division.parts, topology, " ".join(notes)


def _diagnose(mechanism: Mechanism, coordinates: str) -> None:

    strategy = mb.AbsoluteCoordinates() if coordinates == "absolute" else None
    with compiling_announced():
        system = mechanism.assemble(strategy)
        diagnosis = system.diagnose(system.close_loops())
    click.echo(str(diagnosis))


def _console() -> Console:
    import sys

    from rich.console import Console

    # Into a file or a pipe, lines are as long as they need to be: names must not be cut.
    return Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def _show_summary(console: Console, mechanism: Mechanism) -> None:
    mass = sum(body.inertia.mass for body in mechanism.bodies.values())
    gravity = ", ".join(f"{component:g}" for component in mechanism.gravity)
    console.print(f"Mechanism '{mechanism.name}'", style="bold", markup=False)
    console.print(
        f"{len(mechanism.bodies)} bodies, {len(mechanism.joints)} joints, "
        f"total mass {mass:.6g} kg, gravity ({gravity}) m/s^2"
    )


def _show(
    console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """Print a table; columns of counts stand to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for name in columns:
        table.add_column(name, justify="right" if name in _COUNTS else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def _show_bodies(console: Console, mechanism: Mechanism) -> None:
    rows = []
    for body in mechanism.bodies.values():
        com = ", ".join(f"{component:.4g}" for component in body.inertia.com)
        massive = body.inertia.mass > 0.0
        rows.append((body.name, f"{body.inertia.mass:.6g}", f"({com})" if massive else "-"))
    _show(console, "Bodies", ("body", "mass [kg]", "centre of mass [m]"), rows)


def _show_joints(console: Console, mechanism: Mechanism) -> None:
    data = {name: _data(connection) for name, connection in mechanism.joints.items()}
    given = [k for k in (0, 1) if any(texts[k] for texts in data.values())]
    rows = []
    for name, connection in mechanism.joints.items():
        joint = connection.joint
        kind = type(joint).__name__ + (", prescribed" if connection.motion is not None else "")
        texts = (name, kind, connection.predecessor, connection.successor)
        counts = (str(joint.num_positions), str(joint.num_velocities))
        rows.append((*texts, *counts, *(data[name][k] for k in given)))
    columns = ("joint", "type", "predecessor", "successor", "positions", "velocities")
    _show(console, "Joints", (*columns, *(("limits", "friction")[k] for k in given)), rows)


def _show_forces(console: Console, mechanism: Mechanism) -> None:
    rows = []
    for name, force in mechanism.forces.items():
        everything = f"all {force.acts_on}" if force.acts_on == "bodies" else "all joints"
        on = ", ".join((*force.joints, *force.bodies)) or everything
        rows.append((name, type(force).__name__, on, ", ".join(_values(force))))
    _show(console, "Forces", ("force", "type", "on", "values"), rows)


def _show_constraints(console: Console, mechanism: Mechanism) -> None:
    rows = []
    for name, constraint in mechanism.constraints.items():
        on = ", ".join((*constraint.joints, *constraint.bodies))
        values, count = ", ".join(_values(constraint)), str(constraint.num_rows)
        rows.append((name, type(constraint).__name__, on, values, count))
    _show(console, "Constraints", ("constraint", "type", "on", "values", "rows"), rows)


def _values(force: Force | Constraint) -> list[str]:
    """Return the fields that differ from the defaults, but for the names of joints and bodies."""
    import attrs
    import numpy as np

    kind: Any = type(force)
    names = (force.name, *force.joints, *force.bodies)
    found = []
    for field in attrs.fields(kind) if attrs.has(kind) else ():
        value = getattr(force, field.name)
        if isinstance(value, str):
            if value not in (*names, field.default):
                found.append(f"{field.name} {value}")
        elif value is not force.bodies and not np.array_equal(value, field.default):
            found.append(f"{field.name} {_short(np.asarray(value))}")
    return found


def _short(values: npt.NDArray[np.float64]) -> str:
    """Return a number or a vector; of anything larger how large it is."""
    if values.dtype.kind != "f" or values.size > _LONGEST or values.ndim > 1:
        return f"of {' x '.join(map(str, values.shape))} numbers"
    return _numbers(values)


def _data(connection: Connection) -> tuple[str, str]:
    """Return limits and friction of a joint as texts, empty where there are none."""
    import numpy as np

    limits, friction = connection.limits, connection.friction
    parts = []
    if np.isfinite(limits.lower).any() or np.isfinite(limits.upper).any():
        parts.append(f"{_numbers(limits.lower)} to {_numbers(limits.upper)}")
    parts += [
        f"{name} {_numbers(value)}"
        for name, value in (("velocity", limits.velocity), ("effort", limits.effort))
        if np.isfinite(value).any()
    ]
    rubbing = [
        f"{name} {_numbers(value)}"
        for name, value in (("damping", friction.damping), ("dry", friction.friction))
        if value.any()
    ]
    return ", ".join(parts), ", ".join(rubbing)


def _numbers(values: npt.NDArray[np.float64]) -> str:
    if values.ndim == 0:
        return f"{float(values):.6g}"
    return f"({', '.join(f'{value:.6g}' for value in values.tolist())})"


def _show_prescribed(console: Console, parts: Parts) -> None:
    """Print how many of the freedoms are those of joints whose motion is prescribed."""
    driven = {name: each.joint for name, each in parts.joints.items() if each.motion is not None}
    if driven:
        count = sum(joint.num_velocities for joint in driven.values())
        console.print(
            f"Of these {count} {'is' if count == 1 else 'are'} prescribed: {listed(tuple(driven))}."
        )


def _show_mobility(console: Console, parts: Parts, topology: Topology) -> None:
    """Print the counts: joints, loops, sizes, and the mobility that follows."""
    loops, planar = len(topology.loop_joints), len(planar_loops(parts, topology))
    count = topology.mobility + 3 * planar
    mobility = f"Mobility: {count} degree{'' if count == 1 else 's'} of freedom"
    if not loops:
        less = len(parts.constraints)
        rank = rank_of_gears(parts)
        if rank:
            few = f"Mobility: {count - rank} degree{'' if count - rank == 1 else 's'} of freedom"
            console.print(f"{few} (a tree: the joints' in sum, less {rank} by gears)")
            return
        console.print(
            f"{mobility.replace(':', ': at most')} (a tree: the joints' in sum, less what "
            f"{'the constraint takes' if less == 1 else f'{less} constraints take'}; --diagnose "
            "computes the mobility)"
            if less
            else f"{mobility} (a tree: the joints' in sum)"
        )
        return
    joints = topology.mobility + 6 * loops
    each = "the loop" if loops == 1 else f"each of {loops} loops"
    if planar:
        flat = "the planar loop" if planar == 1 else f"each of {planar} planar loops"
        rest = f", 6 for each of {loops - planar} others" if planar < loops else ""
        console.print(
            f"{mobility} by count (joints {joints}, less 3 for {flat}{rest}; {topology.mobility} "
            "by the count in space, as planar loops have 3 redundant constraints each)"
        )
    else:
        console.print(
            f"{mobility} by count (joints {joints}, less 6 for {each}; more where the loops are of "
            "special dimensions)"
        )
    if count < 1:
        console.print(
            "Counts below 1 are usual for loops of special dimensions, whose constraints are "
            "redundant; --diagnose computes the mobility."
        )
    positions = sum(
        edge.num_positions for edge in topology.edges if edge.name not in topology.loop_joints
    )
    console.print(
        f"Tree joints: {len(topology.tree_joints)}, with nq {positions} and nv "
        f"{sum(topology.freedoms)}; loop joints: {loops}, with {topology.num_constraints} "
        "constraint rows"
    )


def _show_loops(console: Console, parts: Parts, topology: Topology) -> None:
    """Show the joints that are not in the tree, each with the cycle that it closes."""
    loops = zip(topology.loop_joints, topology.loop_freedoms, topology.cycles, strict=True)
    rows = [
        (name, type(parts.joints[name].joint).__name__, str(6 - freedom), ", ".join(cycle[1:]))
        for name, freedom, cycle in loops
    ]
    columns = ("loop joint", "type", "rows", "closes a cycle with the tree joints")
    _show(console, "Loops", columns, rows)


def _tree(parts: Parts, topology: Topology) -> Tree:
    """Return the spanning tree, each body with the joint that leads to it."""
    from rich.text import Text
    from rich.tree import Tree

    branches = [Tree(Text(topology.bodies[0], style="bold"))]
    for body in range(1, len(topology.bodies)):
        joint = topology.joint_of_body[body]
        direction = ", against its direction" if topology.reversed[body] else ""
        kind = type(parts.joints[joint].joint).__name__
        label = Text.assemble((topology.bodies[body], "bold"), f"  by {joint} ({kind}{direction})")
        branches.append(branches[topology.parent[body]].add(label))
    return branches[0]


def _warnings(
    mechanism: Mechanism, parts: Parts, topology: Topology, coordinates: str
) -> list[str]:

    try:
        if coordinates == "absolute":
            bodies, division, _ = mb.AbsoluteCoordinates().divided(Parts.of(mechanism))
            bodies.check(division, topology)
        else:
            check_inertias(parts, topology)
    except InertiaError as error:
        return [on_the_command_line(str(error))]
    return []


def _note_massless(console: Console, mechanism: Mechanism) -> None:
    """Name the bodies without mass: legal, but perhaps forgotten."""
    massless = [body.name for body in mechanism.bodies.values() if body.inertia.mass == 0.0]
    if massless:
        console.print(f"Note: without mass of their own: {listed(massless)}.", markup=False)

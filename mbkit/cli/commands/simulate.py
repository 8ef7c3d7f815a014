"""``mbkit simulate``: from a model file to a result file."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

import mbkit as mb
from mbkit.cli.assignments import (
    assign,
    changed_system,
    numbers_of,
    own_changes,
    parameters_option,
    read_changes,
)
from mbkit.cli.compiling import compiling_announced, kernels_of_runs
from mbkit.cli.coordinates import CoordinateChoice, chosen_coordinates, coordinate_options
from mbkit.cli.models import MODEL, floating_option, load, mimic_option
from mbkit.cli.remedies import goes_on_by
from mbkit.cli.results import (
    check_output,
    checked_places,
    directory_options,
    go_on,
    keep,
    refuse_more,
    tell_directory,
)
from mbkit.errors import ConfigurationError, NotFiniteError, UsageError, listed, suggestion
from mbkit.integrators import RungeKuttaMuntheKaas
from mbkit.integrators.coefficients.tableaus import TABLEAUS
from mbkit.simulation.step_sizes import RTOL

if TYPE_CHECKING:
    from mbkit.integrators import Tableau
    from mbkit.systems import System


@click.command(short_help="Simulate a model file.")
@click.argument("model", type=MODEL, required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    help="Result file to write (netCDF); ending in '/', a directory as with --directory.",
)
@directory_options
@click.option("--force", is_flag=True, help="Replace the result file if it exists.")
@click.option("--t-end", type=float, default=10.0, show_default=True, help="End time [s].")
@click.option(
    "--h",
    type=float,
    help="Step size [s]; if left out, steps have the size that --rtol asks for, and 1001 states "
    "are saved, evenly spaced.",
)
@click.option(
    "--rtol", type=float, help="Relative tolerance of a step, 1e-8 where --h is left out."
)
@click.option(
    "--tableau",
    help="Coefficients of the Runge-Kutta-Munthe-Kaas method, by order: euler, heun or midpoint, "
    "kutta3 or bogacki_shampine3, rk4, dormand_prince5, verner6, fehlberg7, dormand_prince8; rk4 "
    "with --h, and dormand_prince5 with a tolerance if left out.",
)
@coordinate_options
@click.option(
    "--q",
    "positions",
    multiple=True,
    metavar="NAME=VALUE",
    help="Initial position of a joint; several values separated by commas. May be repeated. "
    "What is not given starts at the reference configuration; loops are closed from there.",
)
@click.option(
    "--v",
    "velocities",
    multiple=True,
    metavar="NAME=VALUE",
    help="Initial velocity of a joint, likewise. What is not given is at rest, or follows.",
)
@click.option(
    "--save-every",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Steps between saved instants, thousandths of the span without --h.",
)
@parameters_option
@floating_option
@mimic_option
def simulate(
    *,
    model: pathlib.Path | None,
    output: str | None,
    directory: pathlib.Path | None,
    resume: pathlib.Path | None,
    other_versions: bool,
    save: str,
    dtype: str,
    force: bool,
    t_end: float,
    h: float | None,
    rtol: float | None,
    tableau: str | None,
    coordinates: CoordinateChoice,
    positions: tuple[str, ...],
    velocities: tuple[str, ...],
    save_every: int,
    changes: tuple[str, ...],
    floating: bool,
    mimic: str,
) -> None:
    """Simulate MODEL, a TOML, URDF, SDF or MJCF file or robot:NAME, and write the result.

    The first start compiles kernels, which takes up to a minute, with a message. A run that is
    stopped by Ctrl-C, or by numbers that are no longer finite, is written as far as it got, and
    the exit code is 1.

    A long run is written to a directory while it goes, and goes on with --resume after whatever
    stopped it: Ctrl-C, a kill, a power cut, a full disk.

    \b
    Examples:
      mbkit simulate arm.toml -o run.nc --t-end 2
      mbkit simulate arm.toml -o run.nc --t-end 2 --h 1e-4 --q elbow=0.5 --v wrist=-1
      mbkit simulate arm.toml -o heavy.nc --set bodies.hand.mass=2 --set gravity[2]=-1.62
      mbkit simulate top.toml -o top.nc --v tip=0,0,30 --save-every 10
      mbkit simulate robot:solo12 -o solo.nc --floating --t-end 0.5
      mbkit simulate arm.toml -o runs/arm/ --t-end 1e5 --save-every 100 --dtype float32
      mbkit simulate four-bar.toml -o bar.nc --coordinates absolute --local rodrigues_position
      mbkit simulate --resume runs/arm
    """
    if resume is not None:
        refuse_more(model, output, directory)
        go_on(resume, other_versions=other_versions)
        return
    model, target, in_directory = checked_places(model, output, directory)
    if not in_directory:
        check_output(target, force=force)

    integrator = _integrator(tableau, h, rtol)
    strategy, recursion = chosen_coordinates(coordinates)
    others = read_changes(changes)
    own = own_changes(model, others)
    mechanism = load(model, floating=floating, mimic=mimic, parameters=own)
    kernels = kernels_of_runs(chosen_steps=integrator.rtol is not None, recursion=recursion)
    with compiling_announced(kernels):
        system = changed_system(mechanism.assemble(strategy), model, others, own)
        # states are given by joints, which absolute coordinates cut
        named = mechanism.assemble() if system.free_joints else system
        _check_start(named, positions, velocities)
        q, v = numbers_of(positions, "--q"), numbers_of(velocities, "--v")
        run = functools.partial(
            mb.simulate, system, (0.0, t_end), h, integrator=integrator, q=q, v=v,
            save_every=save_every, output=target if in_directory else None, save=save.split(","),
            dtype=dtype,
        )  # fmt: skip
        if in_directory:
            goes_on_by(("mbkit", "simulate", "--resume", str(target)))
            tell_directory(run(), target)
        else:
            keep(run, target)


def _check_start(system: System, positions: Sequence[str], velocities: Sequence[str]) -> None:
    """Raise UsageError, which names the option, where a joint does not take the numbers given."""
    q = system.reference_configuration()
    v = system.checked("v", [0.0] * system.nv)
    assign(system, q, "q", positions)
    assign(system, v, "v", velocities)
    try:
        system.potential_energy(q)
    except (ConfigurationError, NotFiniteError) as error:
        given = " ".join(f"--q {text}" for text in positions)
        raise UsageError(f"{given}: {error}") from error


def _integrator(tableau: str | None, h: float | None, rtol: float | None) -> RungeKuttaMuntheKaas:
    """Return the method of the options."""
    rtol = RTOL if h is None and rtol is None else rtol
    default = "rk4" if rtol is None else "dormand_prince5"
    chosen = _tableau(default if tableau is None else tableau)
    if rtol is not None and chosen.b_embedded is None:
        pairs = [name for name, each in TABLEAUS.items() if each.b_embedded is not None]
        raise UsageError(
            f"--tableau {tableau} does not estimate its error, by which it would choose its steps: "
            f"give --h, the size of a step, and no --rtol; or take {listed(pairs)}."
        )
    return RungeKuttaMuntheKaas(chosen, rtol=rtol)


def _tableau(name: str) -> Tableau:
    if name not in TABLEAUS:
        raise UsageError(f"--tableau: there is no tableau '{name}'; {suggestion(name, TABLEAUS)}")
    return TABLEAUS[name]

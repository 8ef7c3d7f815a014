"""``mbkit convert``: model files from one format to another, and to FMUs."""

from __future__ import annotations

import pathlib

import click

import mbkit as mb
from mbkit.cli.files import TARGET, check_target
from mbkit.cli.models import MODEL, floating_option, load, mimic_option, told
from mbkit.errors import UsageError, printable

_FORMATS = (".toml", ".urdf", ".xml", ".mjcf", ".fmu")


@click.command(short_help="Write a model file in another format, or as an FMU.")
@click.argument("model", type=MODEL)
@click.argument("output", type=TARGET)
@click.option("--force", is_flag=True, help="Replace OUTPUT if it exists.")
@floating_option
@mimic_option
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME",
    help="FMU: an effort that goes in, by the name of its joint, such as elbow or ball[0]; "
    "several times; all without it.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="NAME",
    help="FMU: what goes out, such as q.elbow, v.elbow, hand.position; several times; all "
    "positions and velocities without it.",
)
@click.option(
    "--fmi",
    "version",
    type=click.Choice(["2.0", "3.0"]),
    help="FMU: version of FMI; 2.0 without it.",
)
@click.option("--step", "h", type=float, metavar="SECONDS", help="FMU: longest step; 1e-3.")
def convert(
    *,
    model: pathlib.Path,
    output: pathlib.Path,
    force: bool,
    floating: bool,
    mimic: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    version: str | None,
    h: float | None,
) -> None:
    """Read MODEL, a TOML, URDF, SDF or MJCF file or robot:NAME, and write it to OUTPUT.

    OUTPUT ends in .toml, .urdf or .xml (an MJCF), or in .fmu: an FMU (FMI, co-simulation) for
    other simulation programs, which needs a Python with mbkit where it runs.

    Parts that the other format cannot hold are listed on stderr; what would be another mechanism
    is refused. A URDF holds trees of revolute, prismatic, planar, free and fixed joints, and
    loops as an addition that few programs know; an MJCF revolute, prismatic, spherical, free and
    fixed joints, and closed loops.

    \b
    Examples:
      mbkit convert arm.urdf arm.toml
      mbkit convert arm.toml arm.urdf --force
      mbkit convert four-bar.toml four-bar.xml
      mbkit convert rover.sdf rover.toml
      mbkit convert robot:panda panda.toml --mimic independent
      mbkit convert arm.toml arm.fmu --input elbow --output q.elbow --output hand.position
    """
    suffix = output.suffix.lower()
    if suffix not in _FORMATS:
        raise UsageError(
            f"'{output}' must end in .toml, .urdf, .xml (MJCF) or .fmu, which says what is written."
        )
    if suffix != ".fmu" and (inputs or outputs or version or h is not None):
        raise UsageError(
            f"--input, --output, --fmi and --step are for FMUs, and '{output}' is none."
        )
    check_target(output, force=force)

    mechanism = load(model, floating=floating, mimic=mimic)
    if suffix == ".fmu":
        mb.export_fmu(
            mechanism.assemble(),
            output,
            inputs=inputs or None,
            outputs=outputs or None,
            h=1e-3 if h is None else h,
            version=version or "2.0",
        )
    else:
        told(lambda: mb.save_model(mechanism, output))
    counts = f"{len(mechanism.bodies)} bodies, {len(mechanism.joints)} joints"
    click.echo(f"Wrote {printable(output)}: {counts}.")

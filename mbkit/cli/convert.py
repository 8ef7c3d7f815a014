"""``mbkit convert``: model files from one format to another."""

from __future__ import annotations

import pathlib

import click

from mbkit.cli.files import TARGET, check_target
from mbkit.cli.models import MODEL, floating_option, load, mimic_option, told
from mbkit.errors import UsageError, printable

_FORMATS = (".toml", ".urdf")


@click.command(short_help="Write a model file in another format.")
@click.argument("model", type=MODEL)
@click.argument("output", type=TARGET)
@click.option("--force", is_flag=True, help="Replace OUTPUT if it exists.")
@floating_option
@mimic_option
def convert(
    model: pathlib.Path, output: pathlib.Path, force: bool, floating: bool, mimic: str
) -> None:
    """Read MODEL, a TOML or URDF file or robot:NAME, and write it to OUTPUT, .toml or .urdf.

    What the other format cannot hold is told on stderr; what would be another mechanism is
    refused. A URDF holds trees of revolute, prismatic, planar, free and fixed joints.

    \b
    Examples:
      mbkit convert arm.urdf arm.toml
      mbkit convert arm.toml arm.urdf --force
      mbkit convert robot:panda panda.toml --mimic independent
    """
    if output.suffix.lower() not in _FORMATS:
        raise UsageError(f"'{output}' must end in .toml or .urdf, which says what is written.")
    check_target(output, force=force)

    import mbkit as mb

    mechanism = load(model, floating=floating, mimic=mimic)
    told(lambda: mb.save_model(mechanism, output))
    counts = f"{len(mechanism.bodies)} bodies, {len(mechanism.joints)} joints"
    click.echo(f"Wrote {printable(output)}: {counts}.")

"""``mbkit new``: the folder of a project."""

from __future__ import annotations

import pathlib

import click

from mbkit.errors import printable


@click.command(short_help="Make the folder of a new project.")
@click.argument("name", type=click.Path(path_type=pathlib.Path))
def new(name: pathlib.Path) -> None:
    """Make the folder NAME with a project that runs: models, studies, a plugin, tests, a notebook.

    NAME is small letters, digits, '-' and '_'; it may be a path, whose last part is the name. An
    empty folder that is there, such as '.', is filled. The README in the folder explains what is in
    it.

    \b
    Example:
      mbkit new pendulum
    """
    from mbkit.studies import new_project

    folder = new_project(name)
    shown = printable(name)
    click.echo(
        f"Made {shown}: {printable(folder / 'README.md')} says what is in it. To begin with:"
    )
    click.echo(f"  mbkit run {shown}/studies/swing.toml")
    click.echo(f"  mbkit plot {shown}/results/swing.nc")

"""Models on the command line: files, and robots of an installed collection by their names."""

from __future__ import annotations

import os
import pathlib
import warnings
from typing import TYPE_CHECKING, Any

import click

import mbkit as mb
from mbkit.cli.files import EXISTING
from mbkit.errors import ModelFileWarning, PluginWarning, printable
from mbkit.io.robots import is_robot, model_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbkit.model import Mechanism


class ModelPath(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 alone
    """A file that has to be there, or ``robot:NAME``."""

    name = "model"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> pathlib.Path:
        """Return the path of the file."""
        if is_robot(value):
            return model_file(value, "MODEL")
        path: pathlib.Path = EXISTING.convert(value, param, ctx)
        return path


class ModelOrResultPath(ModelPath):
    """The same, or a folder with a run."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> pathlib.Path:
        """Return the path of the file or the folder."""
        return pathlib.Path(value) if os.path.isdir(value) else super().convert(value, param, ctx)


MODEL, MODEL_OR_RESULT = ModelPath(), ModelOrResultPath()


#: Options of commands that read a model which may be a URDF.
floating_option = click.option(
    "--floating",
    is_flag=True,
    help="URDF: a free joint, named root_joint, between the world and the root link; without it "
    "the root link is welded to the world.",
)
mimic_option = click.option(
    "--mimic",
    type=click.Choice(["couple", "refuse", "independent"]),
    default="couple",
    show_default=True,
    help="URDF: what becomes of joints that <mimic> couples: a constraint between them, an error, "
    "or motion of their own.",
)

#: An option of commands that show motions.
trace_option = click.option(
    "--trace",
    "traces",
    multiple=True,
    metavar="NAME",
    help="A body or frame whose origin leaves a line behind. May be given several times.",
)


def load(
    path: pathlib.Path,
    *,
    floating: bool,
    mimic: str,
    parameters: Mapping[str, Any] | None = None,
) -> Mechanism:
    """Return the mechanism of a file; warnings of mbkit are written to stderr.

    `parameters` are values of the table of that name in a model file.
    """
    if path.suffix.lower() != ".urdf":
        for option, given in (("--floating", floating), ("--mimic", mimic != "couple")):
            if given:
                raise click.UsageError(f"{option} is for URDF files, and '{path}' is none.")
        other: Mechanism = told(lambda: mb.load_model(path, parameters=parameters or None))
        return other
    root = mb.FreeJoint("root_joint") if floating else None
    mechanism: Mechanism = told(lambda: mb.load_urdf(path, root_joint=root, mimic=mimic))
    return mechanism


def read(path: pathlib.Path, *, floating: bool) -> tuple[Mechanism, tuple[str, ...], list[str]]:
    """Return the mechanism of a file, notes on the parts not read, and warnings."""
    suffix = path.suffix.lower()
    if suffix == ".urdf":
        from mbkit.io.urdf.reader import warning_of

        urdf = mb.read_urdf(path)
        root = mb.FreeJoint("root_joint") if floating else None
        mechanism = urdf.mechanism(root_joint=root, mimic="couple")
        return mechanism, urdf.notes, [*filter(None, [warning_of(urdf, are_loose=False)])]
    if suffix in (".xml", ".mjcf") and not floating:
        from mbkit.io.mjcf.reader import warning_of_mjcf

        mjcf = mb.read_mjcf(path)
        return mjcf.mechanism(), mjcf.notes, [*filter(None, [warning_of_mjcf(mjcf)])]
    if suffix == ".sdf" and not floating:
        from mbkit.io.sdf.reader import warning_of_sdf

        sdf = mb.read_sdf(path)
        return sdf.mechanism(), sdf.notes, [*filter(None, [warning_of_sdf(sdf)])]
    return load(path, floating=floating, mimic="couple"), (), []


def told(action: Callable[[], Any]) -> Any:
    """Return the result of `action`; write its warnings to stderr, as lines."""
    kinds = (ModelFileWarning, PluginWarning)
    with warnings.catch_warnings(record=True) as caught:
        for kind in kinds:
            warnings.simplefilter("always", kind)
        try:
            result = action()
        finally:  # they may be the reason of the error
            _tell(caught, kinds)
    return result


def _tell(caught: list[warnings.WarningMessage], kinds: tuple[type[Warning], ...]) -> None:
    for warning in caught:
        if issubclass(warning.category, kinds):
            click.echo(f"Warning: {printable(warning.message)}", err=True)

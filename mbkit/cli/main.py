"""The command ``mbkit``: where its subcommands come from, and how errors leave them."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from mbkit import __version__
from mbkit.cli.collector import loading, spare_program
from mbkit.cli.remedies import on_the_command_line
from mbkit.errors import (
    EnergyBalanceWarning,
    JumpWarning,
    LimitsNotAppliedWarning,
    LockedMechanismWarning,
    MbkitError,
    PluginWarning,
    RedundantConstraintsWarning,
    StiffnessWarning,
    UsageError,
    printable,
)

if TYPE_CHECKING:
    from mbkit.plugins import Registry


class ErrorsAsMessages(click.Group):
    """A group whose commands end with a message on stderr where mbkit raises.

    So do files that the system refuses and memory that is not there. The exit code is 2 where the
    command line was wrong, as with click's own checks, and 1 for everything else. With ``--debug``
    the exception passes.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn errors of mbkit into those that click reports."""
        try:
            return super().invoke(ctx)
        except (MbkitError, OSError, MemoryError) as error:
            if ctx.params.get("debug"):
                raise
            message = on_the_command_line(str(error)) if isinstance(error, MbkitError) else error
            if isinstance(error, UsageError):
                raise click.UsageError(_lines(message)) from error
            if isinstance(error, MemoryError) and not isinstance(error, MbkitError):
                raise click.ClickException(_of_memory(error)) from error
            raise click.ClickException(_lines(message)) from error
        except KeyboardInterrupt as error:
            raise click.ClickException("Interrupted by the user before the end.") from error
        except click.ClickException as error:
            error.message = _lines(error.message)  # type: ignore[misc]  # final for typing alone
            raise


class Commands(ErrorsAsMessages):
    """The commands that plugins provide, those of mbkit first.

    Plugins are loaded for a command that mbkit has not, and for the list of all.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program; click's tests of commands call `main`."""
        spare_program()
        return super().__call__(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        with plugin_warnings_told(), loading():
            return list(registry().all("command"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name, or None."""
        with plugin_warnings_told(), loading():
            command: click.Command | None = registry().find("command", cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and report the plugins that were skipped meanwhile."""
        with plugin_warnings_told():
            return super().invoke(ctx)


#: Warnings that are lines.
_TOLD = (
    PluginWarning, EnergyBalanceWarning, JumpWarning, LimitsNotAppliedWarning,
    LockedMechanismWarning, RedundantConstraintsWarning, StiffnessWarning,
)  # fmt: skip


@functools.cache
def registry() -> Registry:
    """Return the plugins, those of the project in the working directory among them."""
    from mbkit.plugins import registry as all_plugins
    from mbkit.studies.project import load_working_project

    found = all_plugins()
    found.add_built_in("command", "mbkit.cli.built_in")
    found.add_source(load_working_project)
    return found


@contextlib.contextmanager
def plugin_warnings_told() -> Iterator[None]:
    """Tell on stderr which plugins are skipped inside, and the warnings, as lines."""
    show = warnings.showwarning

    def tell(message: Warning | str, category: type[Warning], *place: Any) -> None:
        if issubclass(category, _TOLD):
            click.echo(f"Warning: {on_the_command_line(printable(message))}", err=True)
        else:
            show(message, category, *place)

    with warnings.catch_warnings():
        for each in _TOLD:
            warnings.simplefilter("always", each)
        warnings.showwarning = tell  # type: ignore[assignment]  # takes the same arguments
        yield


def _lines(message: object) -> str:
    """Return a message for a terminal, its lines kept: names of files may hold escapes."""
    return "\n".join(map(printable, str(message).split("\n")))


def _of_memory(error: MemoryError) -> str:
    found = f" ({error})" if str(error) else ""
    return (
        f"The command must fit into memory, and does not{found}; save fewer instants "
        "(--save-every), or compute a shorter time."
    )


@click.group("mbkit", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
@click.option("--debug", is_flag=True, help="Show where an error was raised.")
def main(debug: bool) -> None:
    """Rigid multibody systems: look at a model, simulate it, plot the result.

    \b
    A model is a TOML file (see examples/models/), a URDF or an MJCF. A first session:
      mbkit info arm.toml
      mbkit view arm.toml
      mbkit simulate arm.toml -o run.nc --t-end 5
      mbkit plot run.nc -o run.png
      mbkit animate run.nc -o run.html

    \b
    A project, with models, studies and a plugin of its own:
      mbkit new pendulum
      mbkit run pendulum/studies/swing.toml

    Angles are in radians, all else in SI units.
    """

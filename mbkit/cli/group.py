"""How errors leave the command line: one message and an exit code, or all of it for debugging."""

from __future__ import annotations

from typing import Any

import click

from mbkit.errors import MbkitError, UsageError, printable


class ErrorsAsMessages(click.Group):
    """A group whose commands end with a message on stderr where mbkit raises.

    So do files that the system refuses and memory that is not there. The exit code is 2 where the
    command line was wrong, as with click's own checks, and 1 for everything else. With ``--debug``
    the exception passes.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn what mbkit raises into what click reports."""
        try:
            return super().invoke(ctx)
        except (MbkitError, OSError, MemoryError) as error:
            if ctx.params.get("debug"):
                raise
            if isinstance(error, UsageError):
                raise click.UsageError(_lines(error)) from error
            if isinstance(error, MemoryError):
                raise click.ClickException(_of_memory(error)) from error
            raise click.ClickException(_lines(error)) from error
        except click.ClickException as error:
            error.message = _lines(error.message)  # type: ignore[misc]  # final for typing alone
            raise


def _lines(message: object) -> str:
    """Return a message for a terminal, its lines kept: names of files may hold escapes."""
    return "\n".join(map(printable, str(message).split("\n")))


def _of_memory(error: MemoryError) -> str:
    found = f" ({error})" if str(error) else ""
    return (
        f"The command must fit into memory, and does not{found}; save fewer instants "
        "(--save-every), or compute a shorter time."
    )

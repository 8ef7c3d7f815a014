"""Progress of compilation at the first start of an installation."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click


@contextlib.contextmanager
def compiling_announced() -> Iterator[None]:
    """Write a line to stderr before each kernel that has to be compiled."""
    from mbkit.kernels.caching import compilation_listener

    def announce(name: str) -> None:
        click.echo(f"Compiling {name} (first start only) ...", err=True)

    with compilation_listener(announce):
        yield

"""``mbkit warmup``: compile every kernel now."""

from __future__ import annotations

import importlib
import pkgutil
import time

import click


@click.command(short_help="Compile all kernels now.")
def warmup() -> None:
    """Compile all kernels and keep them for later starts.

    mbkit compiles its numerical kernels when they are first used, once per installation and kind of
    processor. This command does it all at once, so that nothing else has to wait: before tests
    in parallel, or when an image for other machines is built.

    \b
    Example:
      mbkit warmup
    """
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from mbkit.kernels.compile import FunctionAddress, compilation_listener

    started = time.perf_counter()
    compiled: list[str] = []
    modules = kernel_modules()
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("modules with kernels", total=len(modules))

        def announce(name: str) -> None:
            compiled.append(name)
            progress.console.print(f"Compiling {name} ...")

        with compilation_listener(announce):
            for name in modules:
                module = importlib.import_module(name)
                for function in vars(module).values():
                    if isinstance(function, FunctionAddress):
                        _ = function.address  # the look compiles
                progress.advance(task)
    seconds = time.perf_counter() - started
    if compiled:
        click.echo(f"Compiled {len(compiled)} kernels in {seconds:.0f} s.")
    else:
        click.echo(f"All kernels were compiled already (checked in {seconds:.1f} s).")


def kernel_modules() -> list[str]:
    """Return the names of all modules that hold kernels."""
    import mbkit.kernels

    found = pkgutil.walk_packages(mbkit.kernels.__path__, "mbkit.kernels.")
    return [module.name for module in found]

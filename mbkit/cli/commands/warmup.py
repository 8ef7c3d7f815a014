"""``mbkit warmup``: compile every kernel now."""

from __future__ import annotations

import pkgutil
import time

import click

from mbkit.cli.compiling import PACKAGE, kernels_of_trees
from mbkit.systems.calls.threads import cores

#: The slowest modules, in this order: several processes begin with it. Any order is right.
SLOWEST = (
    "time_loops.generalized_alpha_adaptive",
    "time_loops.bliedf",
    "time_loops.munthe_kaas_adaptive",
    "explicit_integrators.adaptive_dense_output",
    "time_loops.multistep_munthe_kaas",
)

#: Beyond that many processes the slowest modules set the time.
MOST_PROCESSES = 8


@click.command(short_help="Compile all kernels now.")
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    help=f"How many compile side by side: one for each core, at most {MOST_PROCESSES}.",
)
@click.option(
    "--trees",
    is_flag=True,
    help="Compile only what simulating a mechanism without loops needs, by the default method.",
)
def warmup(processes: int | None, trees: bool) -> None:
    """Compile all kernels and keep them for later starts.

    mbkit compiles its numerical kernels when they are first used, once per installation and kind of
    processor. This command does it all at once, before tests in parallel, or when an image for
    other machines is built. Second forms of some kernels, for batches that compute several samples
    at once and for exact derivatives of constraints, still wait for their first use. Each process
    takes half a gigabyte of memory.

    \b
    Example:
      mbkit warmup
      mbkit warmup --trees
    """
    which = "the kernels for trees" if trees else "all kernels"
    click.echo(f"Looking which of {which} are compiled ...", err=True)  # imports take seconds

    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from mbkit.cli.workers import compile_here, compile_side_by_side, workers

    started = time.perf_counter()
    compiled: list[str] = []
    modules = kernels_of_trees() if trees else kernel_modules()
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("modules with kernels", total=len(modules))

        def announce(name: str) -> None:
            compiled.append(name)
            progress.console.print(f"Compiling {name} ...")

        def advance() -> None:
            progress.advance(task)

        def tick() -> None:
            if not progress.console.is_terminal:  # where no clock is shown
                progress.console.print(f"... {time.perf_counter() - started:.0f} s")

        processes = processes or min(cores(), MOST_PROCESSES)
        if processes == 1:
            compile_here(modules, announce, advance)
        else:
            with workers(min(processes, len(modules))) as connections:
                compile_side_by_side(modules, connections, announce, advance, tick)
    seconds = time.perf_counter() - started
    if compiled:
        click.echo(f"Compiled {len(compiled)} kernels in {seconds:.0f} s.")
    else:
        click.echo(f"{which.capitalize()} were compiled already (checked in {seconds:.1f} s).")


def kernel_modules() -> list[str]:
    """Return the names of all modules that hold kernels, the slowest first."""
    import mbkit.kernels

    found = [module.name for module in pkgutil.walk_packages(mbkit.kernels.__path__, PACKAGE)]
    slowest = [PACKAGE + name for name in SLOWEST]
    return [*slowest, *(name for name in found if name not in slowest)]

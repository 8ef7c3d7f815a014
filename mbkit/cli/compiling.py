"""Progress of compilation at the first start of an installation, and the kernels compiled then."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from mbkit.cli.collector import loading
from mbkit.systems.calls.threads import cores

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

PACKAGE = "mbkit.kernels."

#: Beyond that many processes the slowest kernel of a run sets the time.
MOST_PROCESSES = 4


#: Kernels that scripts call besides a simulation, the demonstration for one.
OF_SCRIPTS = (
    "recursions.poses:poses",
    "body_fixed.algorithms:inverse_dynamics",
    "forces.generalized_force",
    "calls.direct_calls",
)

#: Kernels that runs call besides whose method chooses its steps.
OF_CHOSEN_STEPS = ("calls.integration_steps",)


def kernels_of_runs(*, chosen_steps: bool = False, recursion: str = "body_fixed") -> list[str]:
    """Return the kernels of the default method for a mechanism without loops, the slowest first.

    They are modules, or functions of modules, "module:function". `recursion` is the package of the
    representation's recursions; `chosen_steps`: whether the method chooses its steps.
    """
    names = (
        f"{recursion}.algorithms:forward_dynamics",
        "time_loops.munthe_kaas_adaptive" if chosen_steps else "time_loops.munthe_kaas",
        *(OF_CHOSEN_STEPS if chosen_steps else ()),
        "recursions.energy:energies",
        "joints.screw_product:motion",
        "calls.chunks",
        "calls.spin_waits",
        "calls.direct_calls:direct",
    )
    return [PACKAGE + name for name in names]


def kernels_of_trees() -> list[str]:
    """Return the kernels of scripts that simulate a mechanism without loops, the slowest first."""
    first, loop, *others = kernels_of_runs()
    return [first, loop, *(PACKAGE + name for name in OF_SCRIPTS), *others]


@contextlib.contextmanager
def compiling_announced(kernels: Sequence[str] = ()) -> Iterator[None]:
    """Write a line to stderr before each kernel that has to be compiled.

    Where the first one is, `kernels` are compiled on all cores, as `compile_side_by_side` has them:
    if one is missing, most likely all are. Their processes start at once where the
    first of them never was compiled, and are ready when this one has loaded numba.
    """
    todo = [*kernels] if cores() > 1 else []
    with contextlib.ExitStack() as stack:
        processes = stack.enter_context(_processes(todo)) if _are_new(todo) else None
        with loading():  # numba
            from mbkit.kernels.compiling.caching import compilation_listener

        announced: set[str] = set()

        def tell(name: str) -> None:
            announced.add(name)
            click.echo(f"Compiling {name} (first start only) ...", err=True)

        def announce(name: str) -> None:
            if todo:
                with contextlib.nullcontext(processes) if processes else _processes(todo) as ready:
                    _compile_all(todo, ready, tell)
                todo.clear()
            if name not in announced:  # otherwise it is there by now
                tell(name)

        with compilation_listener(announce):
            yield


def _processes(kernels: Sequence[str]) -> contextlib.AbstractContextManager[list[Connection]]:
    from mbkit.cli.workers import workers

    return workers(min(cores(), MOST_PROCESSES, len(kernels)))


def _are_new(kernels: Sequence[str]) -> bool:
    """Return whether the cache has nothing of the module of the first kernel, without numba.

    Where its folder cannot be written to, numba has a cache elsewhere: then nothing is known.
    """
    if not kernels:
        return False
    module = kernels[0].partition(":")[0].split(".")
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return not any(pathlib.Path(chosen).glob(f"*/{module[-1]}.*.nbi"))
    folder = pathlib.Path(__file__).parents[2].joinpath(*module[:-1])
    written = any((folder / "__pycache__").glob(f"{module[-1]}.*.nbi"))
    return not written and os.access(folder, os.W_OK)


def _compile_all(
    kernels: Sequence[str], processes: Sequence[Connection], tell: Callable[[str], None]
) -> None:
    from mbkit.cli.workers import compile_side_by_side

    # where a process ends, for example for want of memory, the rest is compiled here
    with contextlib.suppress(click.ClickException):
        compile_side_by_side(kernels, processes, tell, lambda: None)

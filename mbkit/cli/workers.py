"""Compiling the kernels of modules, in this process or in several, into one cache."""

from __future__ import annotations

import collections
import contextlib
import importlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

import click

__all__ = ["compile_here", "compile_side_by_side", "workers"]


#: Seconds between messages that the work goes on.
TICK = 3.0


def compile_here(
    modules: Sequence[str], announce: Callable[[str], None], advance: Callable[[], None]
) -> None:
    """Compile the kernels of modules; the arguments are those of `compile_side_by_side`."""
    from mbkit.kernels.compiling.caching import compilation_listener

    with compilation_listener(announce):
        for name in modules:
            _compile(name)
            advance()


def compile_side_by_side(
    modules: Sequence[str],
    connections: Sequence[Connection],
    announce: Callable[[str], None],
    advance: Callable[[], None],
    tick: Callable[[], None] = lambda: None,
) -> None:
    """Compile the kernels of modules in several processes of `workers`, each kernel in one of them.

    A worker sends a request before it compiles a kernel that is not in the cache. If another one is
    compiling it, the answer comes when that one has written it. Workers keep no state that others
    need: they may be ended at any time, and end by themselves where this process does. Modules are
    handed out in their order, the slowest first; "module:function" names one function of a module.
    ``announce(kernel)`` is called before a kernel is compiled, ``advance()`` after each module,
    ``tick()`` whenever nothing else was for `TICK` seconds.
    """
    todo = collections.deque(modules)
    module_of: dict[Connection, str] = {}
    compiling: dict[Connection, str] = {}
    waiting: dict[str, list[Connection]] = {}
    done: set[str] = set()
    busy = set(connections)
    while busy:
        ready = wait(list(busy), TICK)
        if not ready:
            tick()
        for connection in ready:
            assert isinstance(connection, Connection)
            kernel = _received(connection, module_of)
            before = compiling.pop(connection, None)
            if before is not None:
                done.add(before)
                for other in waiting.pop(before, ()):
                    other.send(None)
            if kernel is None:
                if module_of.pop(connection, None) is not None:
                    advance()
                if not todo:
                    busy.remove(connection)
                    continue
                module_of[connection] = todo.popleft()
                connection.send(module_of[connection])
            elif kernel in compiling.values():
                waiting.setdefault(kernel, []).append(connection)
            else:
                if kernel not in done:
                    announce(kernel)
                    compiling[connection] = kernel
                connection.send(None)


def _compile(name: str) -> None:
    """Compile the kernels of a module, or one of its functions: "module:function".

    Kernels that are not called by address are compiled by the import.
    """
    from mbkit.kernels.compile import FunctionAddress

    name, _, wanted = name.partition(":")
    for attribute, function in vars(importlib.import_module(name)).items():
        if wanted and attribute != wanted:
            continue
        if isinstance(function, FunctionAddress) and function.function.__module__ == name:
            _ = function.address  # the look compiles


def _received(connection: Connection, module_of: dict[Connection, str]) -> str | None:
    """Return the kernel that a worker requests, or None where it requests a module."""
    try:
        kernel: str | None = connection.recv()
    except (EOFError, ConnectionError):
        module = module_of.get(connection, "a module")
        raise click.ClickException(
            f"The process that compiled the kernels of {module} has ended; what it said stands "
            "above. If it said nothing, memory may have run out: try again with --processes 1."
        ) from None
    return kernel


@contextlib.contextmanager
def workers(count: int) -> Iterator[list[Connection]]:
    """Start processes that compile, and end them, whatever they are at."""
    context = multiprocessing.get_context("spawn")
    connections: list[Connection] = []
    started: list[SpawnProcess] = []
    try:
        for _ in range(count):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there,), daemon=True)
            process.start()
            there.close()  # so that its end is seen from here
            connections.append(here)
            started.append(process)
        yield connections
    finally:
        for process in started:
            process.terminate()
        for connection in connections:
            connection.close()
        for process in started:
            process.join()


def _work(connection: Connection) -> None:
    """Compile the modules that the other end names, until it closes; that is one process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    from mbkit.kernels.compiling.caching import compilation_listener

    def ask(kernel: str) -> None:
        connection.send(kernel)
        connection.recv()

    with contextlib.suppress(EOFError, ConnectionError), compilation_listener(ask):
        while True:
            connection.send(None)
            _compile(connection.recv())

"""A process that calls one function again and again, and is replaced where it ends.

`concurrent.futures` gives up all tasks where one of its processes dies; here the one that died is
known, and the others go on.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import pickle
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mbkit.errors import UsageError

if TYPE_CHECKING:
    import subprocess
    from multiprocessing.connection import Connection

__all__ = ["Helper", "packed", "serve"]

#: The program of a new process. It needs only Python before it has the places of modules.
_START = """
import sys
from multiprocessing.connection import Connection
line = Connection(int(sys.argv[1]))
sys.path[:] = line.recv()
from mbkit.executors.worker_process import serve
serve(line)
"""

#: Seconds that the first task of a process may take beside its limit: it loads compiled kernels.
STARTING = 10.0

#: How often a task is tried again whose process others have ended.
RETRIES = 2

#: Signals by which others end a process: the user, the system for want of memory, a cluster.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

_BEGUN, _VALUE, _RAISED, _UNUSABLE = b"b", b"v", b"r", b"u"

_PR_SET_PDEATHSIG = 1  # of Linux: <sys/prctl.h>


def packed(thing: Any) -> bytes:
    """Return an object as bytes for another process; by cloudpickle, functions too.

    Raises
    ------
    UsageError
        If it cannot be pickled.
    """
    dumps, remedy = _dumps()
    try:
        return dumps(thing)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise UsageError(
            f"The study cannot be sent to another process: {error}. {remedy}"
        ) from error


@functools.cache
def _dumps() -> tuple[Callable[[Any], bytes], str]:
    """Return the function that pickles, and the remedy where it cannot."""
    if importlib.util.find_spec("cloudpickle") is None:
        return pickle.dumps, (
            "Functions must be those of modules, at their top, or install cloudpickle: pip install "
            "'mbkit[sweep]'."
        )
    import cloudpickle

    return cloudpickle.dumps, "Use executor='threads', which stays in this process."


class Helper:
    """A process that calls a function for one argument after the other.

    It starts with the first call, and a new one takes its place where it has ended.

    Parameters
    ----------
    function : bytes
        The function, packed.
    path : list of str
        Where it finds modules.
    """

    def __init__(self, function: bytes, path: list[str]) -> None:
        self._function = function
        self._path = path
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None
        self._stopped = False
        self._is_warm = False

    def call(self, argument: bytes, time_limit: float | None) -> tuple[Any, str]:
        """Return the result of the function for a packed argument, or why there is none.

        It is tried again where others have ended the process. The first argument of a process has
        `STARTING` seconds more. UsageError if the process cannot load the function.
        """
        reason = ""
        for _ in range(1 + RETRIES):
            value, reason, again = self._call(argument, time_limit)
            if not again:
                return value, reason
        return None, f"{reason}, {1 + RETRIES} times"

    def _call(self, argument: bytes, time_limit: float | None) -> tuple[Any, str, bool]:
        try:
            line = self._started()
            line.send_bytes(argument)
            kind = line.recv_bytes()
            if kind == _BEGUN:
                more = 0.0 if self._is_warm else STARTING
                if time_limit is not None and not line.poll(time_limit + more):
                    self.close()
                    return None, f"it took longer than {time_limit:g} s", False
                kind = line.recv_bytes()
            content = pickle.loads(line.recv_bytes())  # noqa: S301 - our own process
        except (EOFError, OSError):
            return (None, "stopped", False) if self._stopped else (None, *self._ended())
        self._is_warm = True
        if kind == _UNUSABLE:
            raise UsageError(f"A worker cannot load what the study is about: {content}")
        return (content, "", False) if kind == _VALUE else (None, content, False)

    def _started(self) -> Connection:
        if self._line is not None:
            return self._line
        import multiprocessing  # which `import mbkit` would load otherwise, and the next
        import subprocess

        here, there = multiprocessing.Pipe()
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-c", _START, str(there.fileno()), str(os.getpid())],
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
        )
        there.close()  # so that its end is seen from here
        self._line = here
        if self._stopped:
            raise EOFError
        here.send(self._path)
        here.send_bytes(self._function)
        return here

    def _ended(self) -> tuple[str, bool]:
        """Return why the process has ended, and whether others have ended it."""
        assert self._process is not None
        code = self._process.wait()
        self.close()
        if code >= 0:
            return f"its process ended with code {code}", False
        name = signal.Signals(-code).name
        return f"its process was ended by signal {-code} ({name})", -code in _FROM_OUTSIDE

    def stop(self) -> None:
        """End the process that another thread waits for in `call`, which calls `close` then."""
        self._stopped = True
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._line is not None:
            self._line.close()
        self._process = self._line = None
        self._is_warm = False


def serve(line: Connection) -> None:
    """Call the function that comes first with each argument that follows, until the other end goes.

    That is one process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    # The other end is seen to go between tasks; the system sees it during one.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(sys.argv[2]):
        return
    function: Callable[[Any], Any] | None = None
    first = line.recv_bytes()
    while True:
        try:
            argument = line.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            if function is None:
                function = pickle.loads(first)  # noqa: S301 - from the process that started this
        except Exception as error:
            kind, content = _UNUSABLE, _text(error)
        else:
            line.send_bytes(_BEGUN)
            kind, content = _answer(function, argument)
        line.send_bytes(kind)
        line.send_bytes(content)


def _answer(function: Callable[[Any], Any], argument: bytes) -> tuple[bytes, bytes]:
    try:
        value = function(pickle.loads(argument))  # noqa: S301 - from the process that started this
        return _VALUE, pickle.dumps(value)
    except Exception as error:
        return _RAISED, _text(error)


def _text(error: Exception) -> bytes:
    return pickle.dumps(f"{type(error).__name__}: {error}")

"""Settings of the whole test suite."""

from __future__ import annotations

import os
import signal

import hypothesis
import pytest

# Pictures in tests never open a window.
os.environ["MPLBACKEND"] = "Agg"

# A shell starts jobs in the background with Ctrl-C ignored, which tests send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time: a test that fails must fail again. No deadline, since the first
# example may load compiled code from the disk.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture
def sealed_folder():
    """A folder in which nobody can make a file, root included: the one of Linux's processes."""
    if not os.path.exists("/proc/self"):
        pytest.skip("there are no processes under /proc on this machine")
    return "/proc"


@pytest.fixture
def registry():
    """The registry of plugins, new, with what comes with mbkit alone until it is asked for more."""
    from mbkit.cli import group
    from mbkit.plugins import registry as the_registry

    caches = (the_registry, group.registry)
    for each in caches:
        each.cache_clear()
    yield the_registry()
    for each in caches:
        each.cache_clear()

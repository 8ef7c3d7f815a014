"""Settings of the whole test suite."""

from __future__ import annotations

import gc
import os
import signal
import zlib

import hypothesis
import pytest

# Pictures in tests never open a window.
os.environ["MPLBACKEND"] = "Agg"

# A shell starts jobs in the background with Ctrl-C ignored, which tests send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time: a test that fails must fail again. No deadline, since the first
# example may load compiled code from the disk.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption(
        "--some-cases",
        nargs="?",
        type=int,
        const=8,
        metavar="N",
        help="of each test with N cases or more (8), run about every fifth",
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays: looking for garbage in it takes 5 % of the time of all tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """No examples are looked for in docstrings of tests: it takes a quarter of the collection."""
    found = yield
    return [each for each in found if type(each) is pytest.Module]


def pytest_itemcollected(item):
    """Let all but the k-th cases of a test that is marked `some(k)` be long."""
    mark = item.get_closest_marker("some")
    if mark and _diagonal(item) % mark.args[0]:
        item.add_marker(pytest.mark.long)
        _OTHERS.add(item)


#: Cases that the mark `some` leaves out: of their laws, others are run.
_OTHERS = set()

#: Of each test over lists, the values of each of its arguments by identity, in their order.
_LISTS = {}


def _diagonal(item):
    """Return the sum of the indices of a case in the lists of its arguments.

    Cases of which it is a multiple of k are a Latin square: of two lists that are no shorter than k
    each value occurs. Of one list they are each k-th value. The indices that pytest keeps count the
    cases, and not the values of a list.
    """
    values = dict(item.callspec.params)
    for each in item.iter_markers("parametrize"):
        names = each.args[0].split(",") if isinstance(each.args[0], str) else each.args[0]
        for name in names[1:]:  # they have one list
            del values[name.strip()]
    test = item.nodeid.partition("[")[0]
    indices = 0
    for name, value in values.items():
        known = _LISTS.setdefault((test, name), {})
        indices += known.setdefault(id(value), len(known))
    return indices


@pytest.hookimpl(trylast=True)  # after what marks deselect
def pytest_collection_modifyitems(config, items):
    """Leave cases out where lines are to be run once, and not all that the tests assert."""
    fewest = config.getoption("some_cases")
    if fewest is None:
        return
    by_name = {}  # fixtures of modules have put cases of one test apart
    for item in items:
        if item not in _OTHERS:
            by_name.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {item for name, cases in by_name.items() for item in _some(name, cases, fewest)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _some(name, cases, fewest):
    """Return every fifth case; every seventh or third where fives are in step with an argument.

    Where tests begin differs, so that all of them together have each joint, and each system. Of
    fewer than five it is one.
    """
    if len(cases) < fewest or cases[0].get_closest_marker("every_case"):
        return cases
    stride = next((each for each in (5, 7, 3) if len(cases) % each), 1)
    return cases[zlib.crc32(name.encode()) % min(stride, len(cases)) :: stride]


@pytest.fixture
def sealed_folder():
    """A folder in which nobody can make a file, root included: the one of Linux's processes."""
    if not os.path.exists("/proc/self"):
        pytest.skip("there are no processes under /proc on this machine")
    return "/proc"


@pytest.fixture
def registry():
    """The registry of plugins, new, with what comes with mbkit alone until it is asked for more."""
    from mbkit.cli import main
    from mbkit.plugins import registry as the_registry

    caches = (the_registry, main.registry)
    for each in caches:
        each.cache_clear()
    yield the_registry()
    for each in caches:
        each.cache_clear()

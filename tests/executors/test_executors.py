"""Executors: their laws, what becomes of tasks whose process ends, and what is refused."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import types

import attrs
import pytest

import mbkit as mb
from mbkit.executors import EXECUTORS
from mbkit.executors.worker_process import Helper, packed
from mbkit.plugins import hookimpl
from mbkit.studies.laboratory.tasks import executor_of
from tests.plugins.examples import added

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["serial", "threads"])
def test_laws_hold_in_this_process(name):
    mb.testing.check_executor(EXECUTORS[name]()).raise_if_failed()


@pytest.mark.long
@pytest.mark.parametrize("name", ["processes", "dask"])
def test_laws_hold_in_other_processes(name):
    """Tasks that end their process or do not end among them; where threads of dask end with it."""
    code = (
        "import mbkit as mb; from mbkit.executors import EXECUTORS\n"
        f"if __name__ == '__main__': print(mb.testing.check_executor(EXECUTORS['{name}'](2)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert "3 of 3 laws hold" in done.stdout


@pytest.mark.long
def test_a_task_whose_process_others_end_is_tried_again(tmp_path):
    """By signal 9, once; one that always happens to is given up, and the next one goes on."""
    marker = tmp_path / "marker"

    def fall(always):
        if always or not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "there"

    helper = Helper(packed(fall), sys.path)
    assert helper.call(packed(False), None) == ("there", "")
    value, reason = helper.call(packed(True), None)
    assert value is None
    assert reason == "its process was ended by signal 9 (SIGKILL), 3 times"
    assert helper.call(packed(False), None) == ("there", "")
    helper.close()


def test_executors_of_plugins_are_found_by_name(registry):
    @attrs.frozen
    class Twice(mb.studies.Executor):
        workers: int | None = None

        def run(self, function, tasks, *, time_limit=None):
            for index in range(len(tasks)):
                function(tasks[index])
                yield mb.studies.Outcome(index, function(tasks[index]))

    module = types.ModuleType("doubles")
    module.mbkit_executors = hookimpl(lambda: {"twice": Twice})
    plugin = added(registry, module)
    assert not plugin.fault
    assert executor_of("twice", workers=3) == Twice(3)
    report = mb.testing.check_executor(Twice())
    assert report.holds
    with pytest.raises(mb.UsageError, match="takes no scheduler"):
        executor_of("twice", scheduler="tcp://localhost:1")


@pytest.mark.parametrize(
    ("run", "fault"),
    [
        ("def run(self, function): ...", r"must define run\(function, tasks, \*, time_limit\)"),
        ("def walk(self): ...", "must define run"),
    ],
)
def test_an_executor_without_its_method_is_skipped(registry, run, fault):
    space = {}
    exec(run, space)  # noqa: S102 - the text stands above
    kind = type("Faulty", (mb.studies.Executor,), space)
    module = types.ModuleType("faulty")
    module.mbkit_executors = hookimpl(lambda: {"faulty": kind})
    with pytest.warns(mb.PluginWarning, match=fault):
        added(registry, module)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: executor_of("proceses"), "did you mean 'processes'"),
        (lambda: executor_of(3), "a name, or an mbkit.studies.Executor"),
        (lambda: executor_of("serial", workers=2), "takes no workers"),
        (
            lambda: executor_of("threads", workers=0),
            "a whole number from 1 on, got 0",
        ),
        (lambda: mb.studies.ProcessesExecutor(True), "workers must be a whole number from 1 on"),
        (lambda: mb.studies.DaskExecutor(2, "tcp://localhost:1"), "leave out one of the two"),
        (lambda: mb.testing.check_executor("serial"), "an mbkit.studies.Executor"),
    ],
)
def test_bad_input_is_refused_by_name(change, message):
    with pytest.raises(mb.UsageError, match=message):
        change()

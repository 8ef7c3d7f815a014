"""Studies on several workers: the same rows, and those that are lost are named."""

from __future__ import annotations

import os
import pathlib
import time
import warnings
from typing import Any

import pytest

import mbkit as mb
from mbkit.studies import ensemble, load_findings
from tests.studies.test_variation import HEIGHT, VARIED, drop

GIVEN: dict[str, Any] = {"vary": VARIED, "samples": 12, "seed": 5}


@pytest.mark.parametrize("executor", ["threads", pytest.param("processes", marks=pytest.mark.long)])
def test_rows_are_those_of_one_worker_to_the_last_bit(
    executor: str, tmp_path: pathlib.Path
) -> None:
    one = ensemble(drop(), (0.0, 1.0), 0.5, outputs=HEIGHT, **GIVEN)
    two = ensemble(
        drop(), (0.0, 1.0), 0.5, outputs=HEIGHT, executor=executor, directory=tmp_path / "study",
        **GIVEN,
    )  # fmt: skip
    assert two.tables["cases"].csv() == one.tables["cases"].csv()
    assert load_findings(tmp_path / "study").tables["cases"].csv() == one.tables["cases"].csv()


@pytest.mark.long
def test_lost_points_are_rows_with_the_reason(tmp_path: pathlib.Path) -> None:
    """Those that end their process or do not end; what is there is not done again."""

    def height(run: mb.Result) -> float:
        if run.q[0, 0] in ends:
            os._exit(3)
        if run.q[0, 0] in stays:
            time.sleep(600.0)
        return float(run.q[-1, 0])

    points = ensemble(drop(), (0.0, 1.0), 0.5, outputs=HEIGHT, **GIVEN).tables["cases"]["q.fall"]
    ends, stays = points[[3, 8]].tolist(), points[[5]].tolist()
    given: dict[str, Any] = GIVEN | {
        "outputs": {"height": height}, "directory": tmp_path / "study", "time_limit": 4.0,
        "executor": mb.studies.ProcessesExecutor(1),
    }  # fmt: skip
    found = ensemble(drop(), (0.0, 1.0), 0.5, **given)
    for row in found.tables["cases"]:
        if row["q.fall"] in ends:
            assert row["status"] == "Lost: its process ended with code 3."
        elif row["q.fall"] in stays:
            assert row["status"] == "Lost: it took longer than 4 s."
        else:
            assert row["status"] == "completed"
    assert len(found.failed) == 3
    began = time.monotonic()
    again = ensemble(drop(), (0.0, 1.0), 0.5, **given)
    assert again.tables["cases"].csv() == found.tables["cases"].csv()
    assert time.monotonic() - began < 4.0


def test_times_are_not_measured_side_by_side() -> None:
    given: dict[str, Any] = {"q": [1.0], "executor": "threads"}
    found = mb.studies.compare(drop(), (0.0, 1.0), [0.1, 0.05], **given)
    assert "time" not in found.table.columns
    assert list(found.table["status"]) == ["completed"] * 2
    with pytest.raises(mb.UsageError, match="side by side"):
        mb.studies.compare(drop(), (0.0, 1.0), 0.1, repeats=2, **given)
    with pytest.raises(mb.UsageError, match="cannot end a task"):
        mb.studies.compare(drop(), (0.0, 1.0), 0.1, time_limit=1.0, **given)
    with pytest.raises(mb.UsageError, match="positive and finite"):
        mb.studies.compare(drop(), (0.0, 1.0), 0.1, time_limit=-1.0, q=[1.0], executor="processes")


@pytest.mark.parametrize("executor", ["serial", "threads"])
def test_warnings_of_runs_are_no_errors_of_others(executor: str) -> None:
    """Also where Python makes errors of them, and tasks in threads leave filters in any order."""

    def height(run: mb.Result) -> float:
        with warnings.catch_warnings():
            time.sleep(1e-3)
        warnings.warn("of a task", RuntimeWarning, stacklevel=2)
        return float(run.q[-1, 0])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        found = ensemble(
            drop(), (0.0, 1.0), 0.5, vary=VARIED, outputs={"height": height}, samples=40,
            executor=executor,
        )  # fmt: skip
        assert warnings.filters == before
    assert len(found.failed) == 0

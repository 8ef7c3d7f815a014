"""Operations of runs: told apart by where they are done, and those of a count of all steps."""

from __future__ import annotations

import pickle
from typing import Any

import attrs
import pytest

from mbkit.studies import compare
from mbkit.studies.laboratory.counting import steps as counted_steps
from mbkit.studies.laboratory.counting.counted import Counted, counting, counting_places
from mbkit.studies.laboratory.counting.step_places import ALGORITHMS, place_of
from tests.studies.test_compare import four_bar


def function(file: str, name: str, inner: Any = None) -> Any:
    """Return a function, as of a file of the kernels, that adds a number and calls another."""
    names: dict[str, Any] = {"inner": inner or (lambda x: x)}
    text = f"def {name}(x):\n    return inner(x + 1.0)\n"
    exec(compile(text, f"/some/mbkit/kernels/{file}", "exec"), names)  # noqa: S102
    return names[name]


def test_an_operation_belongs_to_the_outermost_algorithm_of_its_calls() -> None:
    joint = function("joints/revolute_prismatic_screw.py", "motion")
    cases = {
        ("dynamics", "evaluations"): function(
            "equations_of_motion.py",
            "acceleration",
            function("recursions/newton_euler.py", "out", joint),
        ),
        ("constraints", "steps"): function("constraints/solve/project.py", "project", joint),
        ("matrices", "factorisations"): function(
            "implicit_integrators/newton.py",
            "solve_step",
            function("implicit_integrators/newton_matrix.py", "make", joint),
        ),
        ("matrices", "steps"): function(
            "time_loops/rattlie.py",
            "arrive",
            function("variational_integrators/layout.py", "factorised", joint),
        ),
        ("steps", "steps"): function("configuration.py", "retract_rows", joint),
    }
    for (algorithm, each), call in cases.items():
        with counting() as kinds, counting_places(place_of) as places:
            call(Counted(1.0))
        assert kinds["additions"] == sum(places.values())
        deepest = {place for place in places if place.algorithm == algorithm}
        assert {place.each for place in deepest} == {each}
        assert sum(places[place] for place in deepest) >= 2  # the joint's own too
    with counting_places(place_of) as places:
        pass
    Counted(1.0) * 2.0
    assert not places


@pytest.mark.long
def test_operations_are_those_of_all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact for an explicit method; for implicit ones within 3 %, of each algorithm within 6 %."""
    methods = {"rkmk4": 1e-3, "generalized_alpha": 0.03, "bliedf3": 0.03, "rattlie": 0.03}
    given: dict[str, Any] = {
        "q": {"motor": 1.0}, "v": {"motor": 3.0}, "integrators": [*methods], "operations": True,
        "repeats": 0,
    }  # fmt: skip
    found = compare(four_bar(), (0.0, 0.4), 0.01, **given).table
    send = counted_steps._by_python

    def all_steps(tasks: dict[str, bytes]) -> Any:
        steps = {key: pickle.loads(text) for key, text in tasks.items()}  # noqa: S301
        return send({
            key: pickle.dumps(attrs.evolve(each, before=0, steps=40)) for key, each in steps.items()
        })  # fmt: skip

    monkeypatch.setattr(counted_steps, "_by_python", all_steps)
    exact = compare(four_bar(), (0.0, 0.4), 0.01, **given).table
    columns = [name for each in ALGORITHMS if (name := f"operations_{each}") in exact.columns]
    assert len(columns) == 4
    for row, counted in zip(found, exact, strict=True):
        within = methods[row["integrator"]]
        assert row["operations"] == pytest.approx(counted["operations"], rel=within)
        assert row["operations"] == pytest.approx(sum(row.get(name) or 0.0 for name in columns))
        for name in columns:
            if counted.get(name):
                assert row[name] == pytest.approx(counted[name], rel=2.0 * within)
        one = row["operations_per_body"] * row["evaluations"] * 3
        assert one == pytest.approx(row["operations"])

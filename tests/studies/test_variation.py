"""Ensembles and sensitivities, against closed forms of a falling ball."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from scipy import stats

import mbkit as mb
from mbkit.studies import ensemble, load_findings, sensitivity

#: After one second the ball is at q + v - 5.
VARIED: dict[str, Any] = {"v.fall": (4.0, 6.0), "q.fall": (0.0, 1.0)}
HEIGHT: dict[str, Any] = {"height": lambda run: run.q[-1, 0]}


def drop() -> mb.Mechanism:
    mech = mb.Mechanism("drop", gravity=(0, 0, -10.0))
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
    return mech


@pytest.mark.long
def test_statistics_are_those_of_the_closed_form() -> None:
    varied = VARIED | {"gravity[2]": stats.norm(-10.0, 0.2)}
    found = ensemble(drop(), (0.0, 1.0), 0.5, vary=varied, outputs=HEIGHT, samples=400, seed=3)
    row = found.table.rows[0]
    variance = 4.0 / 12.0 + 1.0 / 12.0 + (0.2 / 2.0) ** 2
    assert row["runs"] == 400
    assert row["mean"] == pytest.approx(0.5, abs=4.0 * (variance / 400) ** 0.5)
    assert row["deviation"] == pytest.approx(variance**0.5, rel=0.1)
    for case in found.tables["cases"].rows[:5]:
        height = case["q.fall"] + case["v.fall"] + case["gravity[2]"] / 2.0
        assert case["height"] == pytest.approx(height, rel=1e-12)
    few, again = (
        ensemble(drop(), (0.0, 1.0), 0.5, vary=varied, outputs=HEIGHT, samples=20, seed=3)
        for _ in range(2)
    )
    assert again.tables["cases"].csv() == few.tables["cases"].csv()


def test_shares_of_variance_are_those_of_a_sum() -> None:
    found = sensitivity(
        drop(), (0.0, 1.0), 0.5, vary=VARIED, outputs=HEIGHT, method="sobol", samples=64
    )
    shares = {row["number"]: row for row in found.table}
    assert shares["v.fall"]["first"] == pytest.approx(0.8, abs=0.05)
    assert shares["q.fall"]["total"] == pytest.approx(0.2, abs=0.05)
    assert shares["v.fall"]["first_low"] < 0.8 < shares["v.fall"]["first_high"]
    assert len(found.tables["cases"]) == 64 * (2 + 2)


def test_slopes_of_parameters_are_derivatives() -> None:
    mech = drop()
    mech.add_force(mb.JointSpring("spring", "fall", stiffness=8.0))
    found = sensitivity(
        mech, (0.0, 1.0), 0.01, vary={"forces.spring.stiffness": (7.99, 8.01)}, q={"fall": 0.3},
        outputs={"work": lambda run: run.potential_energy[0] - run.potential_energy[-1],
                 "start": lambda run: run.potential_energy[0]},
    )  # fmt: skip
    slopes = {row["output"]: row["slope"] for row in found.table}
    assert slopes["start"] == pytest.approx(0.3**2 / 2.0, rel=1e-6)


def test_a_run_that_fails_is_a_row(tmp_path: pathlib.Path) -> None:
    def height(run: mb.Result) -> float:
        if run.q[0, 0] > 0.5:
            raise ArithmeticError("too high")
        return float(run.q[-1, 0])

    given: dict[str, Any] = {"vary": VARIED, "outputs": {"height": height}, "samples": 20}
    found = ensemble(drop(), (0.0, 1.0), 0.5, directory=tmp_path / "study", **given)
    assert 0 < len(found.failed) < 20
    assert all(row["q.fall"] > 0.5 and "too high" in row["status"] for row in found.failed)
    assert found.table.rows[0]["runs"] == 20 - len(found.failed)
    assert len(load_findings(tmp_path / "study").tables["cases"]) == 20
    first = next((tmp_path / "study" / "cases").iterdir())
    content = json.loads(first.read_text())
    first.write_text(json.dumps(content | {"height": 7.0, "status": "completed"}))
    kept = ensemble(drop(), (0.0, 1.0), 0.5, directory=tmp_path / "study", **given)
    assert 7.0 in kept.tables["cases"]["height"]  # what is there is not run again


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vary": {"bodies.ball.mas": (1, 2)}}, "did you mean 'bodies.ball.mass'"),
        ({"vary": {"gravity": (1, 2)}}, "3 numbers"),
        ({"vary": {"gravity[3]": (1, 2)}}, "3 numbers"),
        ({"vary": {"q.fal": (1, 2)}}, "fall"),
        ({"vary": {"q.fall": (2, 1)}}, "a pair of numbers"),
        ({"vary": {}}, "vary must be a dict"),
        ({"outputs": {"height": 1.0}}, "function of a Result"),
        ({"samples": 1}, "from 2 on"),
        ({"integrater": 1}, "integrator"),
    ],
)
def test_bad_input_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"vary": VARIED, "outputs": HEIGHT} | change
    with pytest.raises((mb.UsageError, mb.NameUnknownError), match=message.replace("[", r"\[")):
        ensemble(drop(), (0.0, 1.0), 0.5, **given)


def test_sobols_samples_are_a_power_of_two() -> None:
    with pytest.raises(mb.UsageError, match="power of"):
        sensitivity(
            drop(), (0.0, 1.0), 0.5, vary=VARIED, outputs=HEIGHT, method="sobol", samples=60
        )

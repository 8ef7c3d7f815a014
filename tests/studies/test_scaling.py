"""Operations and times over the size of a mechanism."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import mbkit as mb
from benchmarks.mechanisms import benchmark_tree
from mbkit.studies import Table, operations, scaling
from mbkit.studies.laboratory.findings.plots import curves


def chain(size: int) -> mb.Mechanism:
    return benchmark_tree(size, ["revolute"], reach=1)


@pytest.mark.long
def test_operations_grow_by_the_same_number_with_each_body() -> None:
    few, more, most = (operations(chain(size)) for size in (4, 5, 6))
    for kind in ("multiplications", "additions"):
        linear = few["algorithm"] != "mass_matrix"
        steps = np.diff([table[kind] for table in (few, more, most)], axis=0)[:, linear]
        assert np.array_equal(steps[0], steps[1])
    # one hinge more: sine and cosine
    inverse = [table.select(algorithm="inverse_dynamics")["angles"] for table in (few, more)]
    assert np.array_equal(inverse[1] - inverse[0], [2, 2, 2, 2])
    assert (operations(chain(5), representations="spatial")["multiplications"] > 0).all()


@pytest.mark.long
def test_scaling_has_times_operations_and_exponents(tmp_path: pathlib.Path) -> None:
    given: dict[str, Any] = {"representations": ["body_fixed", "spatial"], "repeats": 2}
    found = scaling(chain, [4, 8, 16], operations=True, directory=tmp_path / "study", **given)
    cases = found.tables["cases"]
    assert len(cases) == 3 * 2 * 3
    assert (cases["time"] > 0.0).all()
    grows = {row["algorithm"]: row["exponent of multiplications"] for row in found.table}
    assert grows["inverse_dynamics"] == pytest.approx(1.0, abs=0.1)
    assert grows["mass_matrix"] > grows["inverse_dynamics"]  # O(n^2), of few bodies hardly seen
    assert "Multiplications" in (tmp_path / "study" / "report.html").read_text()


@pytest.mark.long
def test_loops_are_sizes_too() -> None:
    def bars(size: int) -> mb.Mechanism:
        mech = mb.Mechanism("bars", gravity=(0, -9.81, 0))
        rod, along = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1)), mb.spatial.translation
        last = mech.world
        for k in range(size + 1):
            body = mech.add_body(mb.Body(f"post{k}", rod))
            mech.add_joint(
                mb.RevoluteJoint(f"foot{k}"), mech.world, body, reference=along((k, 0, 0))
            )
            if k:
                beam = mech.add_body(mb.Body(f"beam{k}", rod))
                top = along((k - 1, 1, 0))
                mech.add_joint(mb.RevoluteJoint(f"left{k}"), last, beam, reference=top)
                mech.add_joint(
                    mb.RevoluteJoint(f"right{k}"), beam, body, reference=along((k, 1, 0))
                )
            last = body
        return mech

    kinds = {"bars": bars, "chain": chain}
    found = scaling(kinds, [1, 2], representations="body_fixed", algorithms=["forward_dynamics"])
    cases = found.tables["cases"]
    assert list(cases["status"]) == ["completed"] * 4
    assert list(cases.select(mechanism="bars")["constraints"]) == [5, 10]
    assert list(cases.select(mechanism="chain")["constraints"]) == [0, 0]
    assert list(found.table["mechanism"]) == ["bars", "chain"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": [0]}, "sizes must be positive"),
        ({"sizes": []}, "sizes must be positive"),
        ({"make": 1}, "make must be a function"),
        ({"make": lambda _size: 1}, "an mbkit.Mechanism"),
        ({"algorithms": ["inverse"]}, "algorithms must be"),
        ({"repeats": 0}, "repeats"),
    ],
)
def test_bad_input_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"make": chain, "sizes": [1]} | change
    with pytest.raises(mb.UsageError, match=message):
        scaling(**given)


@pytest.mark.parametrize(
    ("sizes", "ticks"), [([2, 4, 8, 16, 32, 64], [2, 4, 8, 16, 32, 64]), ([4593231, 9186462], None)]
)
def test_few_sizes_are_the_ticks_of_their_axis(sizes: list[int], ticks: list[int] | None) -> None:
    """Labels of powers of ten, and of what is between them, would overlap within two decades."""
    pytest.importorskip("matplotlib")
    rows = [{"algorithm": "mass_matrix", "size": n, "bodies": n, "work": n**2} for n in sizes]
    table = Table(rows, {"bodies": "", "work": ""})
    figure = curves(table, "bodies", "work", step="size")
    (axes,) = figure.axes
    figure.draw_without_rendering()
    found = axes.get_xticks()
    labels = [each.get_text() for each in axes.get_xticklabels()]
    assert (labels == [str(n) for n in sizes]) is (ticks is not None)
    assert ticks is None or found.tolist() == ticks

"""Orders with their range, work at equal errors, tables in every form, the page of a study."""

from __future__ import annotations

import csv
import io
import math
import pathlib
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import mbkit as mb
from mbkit.studies import Table, compare, convergence, load_findings, work_precision
from mbkit.studies.laboratory.orders import order_of
from tests.studies.test_compare import OMEGA, oscillator, top

CLOSED_FORM: dict[str, Any] = {
    "q": [1.0],
    "quantity": lambda _system, q, _v: q[:, 0],
    "reference": lambda t: math.cos(OMEGA * t),
}


def test_an_order_is_found_between_coarse_steps_and_rounding() -> None:
    h = 0.5 ** np.arange(14)
    errors = h**3 * (1.0 + 40.0 * h**2) + 1e-9  # higher terms first, rounding last
    found = order_of(h, errors)
    assert found.low <= 3.0 <= found.high
    assert found.high - found.low < 0.3
    assert found.h_largest < 0.1
    assert found.h_smallest > 1e-3
    scattered = order_of(h[:4], [1.0, 0.9, 0.1, 0.09])
    assert math.isnan(scattered.order)
    assert "no asymptotic range" in scattered.note
    assert math.isnan(order_of(h, errors, floor=1.0).order)


def test_the_confidence_interval_holds_the_order_as_often_as_it_says() -> None:
    rng, h = np.random.default_rng(7), 0.5 ** np.arange(6)
    inside = 0
    for _ in range(300):
        found = order_of(h, h**2 * np.exp(rng.normal(0.0, 0.02, h.size)))
        inside += found.points == h.size and found.low <= 2.0 <= found.high
    assert 0.9 < inside / 300 < 0.99


@pytest.mark.long
def test_orders_of_methods_are_those_they_claim() -> None:
    methods = ["rkmk3", "crouch_grossman", "generalized_alpha", "bliedf2", "rattlie"]
    found = convergence(top(), (0.0, 0.5), 0.02, v=[1.0, 0.4, 5.0], integrators=methods, halvings=4)
    claimed = {"rkmk3": 3, "crouch_grossman": 3}
    for row in found.table:
        assert row["order"] == pytest.approx(claimed.get(row["integrator"], 2), abs=0.12), row


def test_work_at_an_error_is_that_of_the_method_that_needs_less() -> None:
    found = work_precision(
        oscillator(), (0.0, 2.0), [0.1, 0.05, 0.02, 0.01], integrators=["rkmk2", "rkmk4"],
        by="evaluations", errors=[1e-2, 1e-5, 1e-30], repeats=0, **CLOSED_FORM,
    )  # fmt: skip
    second, fourth = found.table.rows
    assert second["evaluations at 1e-02"] > fourth["evaluations at 1e-02"]
    assert second["evaluations at 1e-05"] is None
    assert fourth["evaluations at 1e-30"] is None
    # its largest step is more precise than 1e-2: larger ones might do
    assert "at 1e-02: the largest step" in fourth["note"]
    assert not second.get("note")
    assert f"<= {fourth['evaluations at 1e-02']:.3g}".replace("<= <= ", "<= ") in (
        found.table.markdown()
    )
    # the error of RK4 is (omega h)^5 / 120 a step; 2 s of them make 1e-5
    steps = (2.0 * OMEGA**5 / 120 / 1e-5) ** 0.25 * 2.0
    assert fourth["evaluations at 1e-05"] == pytest.approx(4 * steps, rel=0.25)


def test_tables_are_the_same_in_every_form() -> None:
    rows = [{"name": "a_b", "h": 0.1, "error": 1.0 / 3.0}, {"name": "c", "h": 0.2, "error": None}]
    table = Table(rows, {"name": "", "h": "s", "error": "rad"}, ("name", "h"))
    read = list(csv.DictReader(io.StringIO(table.csv())))
    assert [float(row["h [s]"]) for row in read] == [0.1, 0.2]
    assert float(read[0]["error [rad]"]) == 1.0 / 3.0
    frame, data = table.to_pandas(), table.to_xarray()
    assert frame.attrs["units"]["error"] == data["error"].attrs["units"] == "rad"
    assert np.array_equal(frame["error"], table["error"], equal_nan=True)
    assert np.array_equal(data["error"], table["error"], equal_nan=True)
    assert r"a\_b & 0.1 & 0.333 \\" in table.latex()
    assert "| a_b  | 0.1   | 0.333       |" in table.markdown()
    assert "0.33333" in table.markdown("error", digits=5)
    assert table.latex("error").count("&") == 0
    for call in (lambda: table["eror"], lambda: table.latex("eror")):
        with pytest.raises(mb.UsageError, match="no column 'eror'"):
            call()
    with pytest.raises(mb.UsageError, match="digits must be a whole number"):
        table.markdown(digits=0)


class _Addresses(HTMLParser):
    """All attributes by which a page could fetch something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [tag] if tag in ("script", "link", "iframe", "img", "object") else []
        names = ("src", "href", "xlink:href", "srcset", "action")
        self.found += [str(value) for name, value in attributes if name in names]


@pytest.mark.long
def test_a_directory_has_all_forms_and_a_page_that_fetches_nothing(tmp_path: pathlib.Path) -> None:
    place = tmp_path / "study"
    methods = ["rkmk2", "generalized_alpha"]
    given: dict[str, Any] = {"integrators": methods, "directory": place, **CLOSED_FORM}
    found = compare(oscillator(), (0.0, 1.0), [0.1, 0.05, 0.025], **given)
    names = {file.name for file in place.iterdir()}
    tables = {f"{name}.{end}" for name in ("cases", "orders", "work") for end in ("csv", "nc")}
    assert names == {
        "manifest.json", "model.toml", "cases", "report.html", "tables.md", "tables.tex", *tables
    }  # fmt: skip
    text = (place / "report.html").read_text()
    parser = _Addresses()
    parser.feed(text)
    assert all(address.startswith("#") for address in parser.found)
    assert "url(" not in text.replace("url(#", "")
    assert "@import" not in text
    assert text.count("<svg") == 4  # constraints there are none
    assert [m[1] for m in re.finditer(r"<td>(rkmk2|generalized_alpha)</td>", text)]
    again = load_findings(place)
    assert again.table.csv() == found.table.csv() == (place / "cases.csv").read_text()
    before = (place / "report.html").read_text()
    compare(oscillator(), (0.0, 1.0), [0.1, 0.05, 0.025], **given)
    assert (place / "report.html").read_text() == before

"""Results in Excel's format, read again by openpyxl."""

from __future__ import annotations

import numpy as np
import openpyxl
import pytest

import mbkit as mb
from mbkit.io.results import exports

pytestmark = pytest.mark.peers


def test_sheets_are_those_of_the_data_frame(tmp_path, monkeypatch):
    """Sixteen digits, heads with units, events beside; ensembles too; too much is refused."""
    mech = mb.Mechanism("ball")
    mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail"), mech.world, "ball")
    system = mech.assemble()
    floor = mb.Event("floor", mb.JointPosition("rail"), direction="falling")
    run = mb.simulate(system, (0.0, 0.5), 0.01, q=[1.0], v=[0.1], events=[floor])
    runs = mb.simulate(system, (0.0, 0.1), 0.01, v=[[1.0], [2.0]])
    for each in (run, runs):
        each.save(tmp_path / "run.xlsx")
        book = openpyxl.load_workbook(tmp_path / "run.xlsx")
        head, *rows = book["run"].iter_rows(values_only=True)
        frame = each.to_dataframe()
        assert [name.partition(" [")[0] for name in head] == list(frame)
        assert "v.rail [m/s]" in head
        np.testing.assert_allclose(np.array(rows, dtype=float), frame, rtol=1e-15)
    run.save(tmp_path / "run.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "run.xlsx")["events"]
    assert [row[1] for row in sheet.iter_rows(values_only=True)] == ["event", *run.events.names]
    monkeypatch.setattr(exports, "_SHEET", (50, 16_384))
    with pytest.raises(mb.ResultFileError, match="has 50 rows and 16384 columns"):
        run.save(tmp_path / "long.xlsx")

"""Results as data frames, CSV and MAT, and ensembles in files: the same numbers everywhere."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pytest
from scipy.io import loadmat

import mbkit as mb
from mbkit.io.results.checksum import LINE_SIZE


def ball(floor):
    """A ball on a rail, and one that turns beside; a drop below `floor` ends a run by an error."""
    mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    for name in ("ball", "top"):
        mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail", axis=(0, 0, 1)), mech.world, "ball")
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, "top")

    def fail(t, q, v):
        if q[0] < floor:
            raise RuntimeError("below the floor")
        return np.zeros(1)

    mech.add_force(mb.ForceFunction("guard", fail, joints="rail", power="supplied"))
    return mech.assemble()


@pytest.fixture(scope="module")
def runs():
    """2 x 2 runs with a parameter, events, and one that fails."""
    bounce = mb.Event("bounce", "rail", direction="falling", reset=mb.Impact(0.5))
    q = np.array([[0.02, 1, 0, 0, 0], [-0.03, 0.8, 0.6, 0, 0]])
    v = np.array([0.0, 3.0, 2.0, 1.0])
    with pytest.warns(
        mb.FailedRunsWarning, match=r"^2 of 4 .* sample \(0, 1\): RuntimeError: below"
    ):
        return mb.simulate(
            ball(-0.05), (0.0, 0.1), 0.01, q=q, v=v, events=[bounce], save_every=2, progress=False,
            parameters={"bodies.ball.mass": np.array([[1.0], [2.0]])},
        )  # fmt: skip


def test_an_ensemble_is_read_as_it_was_saved(runs, tmp_path):
    assert runs.failed.tolist() == [[False, True], [False, True]]
    path = tmp_path / "runs.nc"
    runs.save(path)
    read = mb.load_ensemble(path)
    assert repr(read) == repr(runs)
    assert read.shape == (2, 2)
    assert (read.failures, read.warnings) == (runs.failures, runs.warnings)
    assert read.options == runs.options
    assert read.labels == dict(runs.labels)
    np.testing.assert_array_equal(
        read.parameters["bodies.ball.mass"], runs.parameters["bodies.ball.mass"]
    )
    for one, other in zip(read, runs, strict=True):
        for name in ("t", "q", "v", "kinetic_energy", "residuals"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert (one.model, one.message, dict(one.options)) == (
            other.model, other.message, dict(other.options)
        )  # fmt: skip
        assert len(one.events) == len(other.events)
        np.testing.assert_array_equal(one.events.v_after, other.events.v_after)
    assert len(read[0, 0].events) > 0
    with pytest.raises(mb.ResultFileError, match=r"read it by mbkit\.load_ensemble"):
        mb.load_result(path)
    runs[0, 0].save(tmp_path / "run.nc")
    with pytest.raises(mb.ResultFileError, match=r"read by mbkit\.load_result"):
        mb.load_ensemble(tmp_path / "run.nc")


def test_files_of_ensembles_that_are_damaged_are_refused(runs, tmp_path):
    path = tmp_path / "runs.nc"
    runs.save(path)
    content = path.read_bytes()
    for at in range(0, len(content), 997):
        path.write_bytes(content[:at] + bytes([content[at] ^ 16]) + content[at + 1 :])
        with pytest.raises(mb.ResultFileError, match=r"runs\.nc"):
            mb.load_ensemble(path)
    path.write_bytes(content[:-LINE_SIZE])
    with pytest.raises(mb.ResultFileError, match="lost its checksum"):
        mb.load_ensemble(path)


def test_a_data_frame_has_a_row_for_each_instant(runs):
    run = runs[1, 0]
    frame = run.to_dataframe()
    np.testing.assert_array_equal(frame["q.tip[2]"], run["tip[2]"])
    np.testing.assert_array_equal(frame["v.rail"], run.velocity("rail"))
    assert frame.attrs["units"]["v.tip[0]"] == "rad/s"
    assert frame.attrs["units"]["kinetic_energy"] == "J"
    whole = runs.to_dataframe()
    assert list(whole)[:4] == ["sample[0]", "sample[1]", "bodies.ball.mass", "time"]
    assert len(whole) == runs.lengths.sum() < runs.t.size
    own = whole[(whole["sample[0]"] == 1) & (whole["sample[1]"] == 0)]
    np.testing.assert_array_equal(own[frame.columns], frame)
    assert set(own["bodies.ball.mass"]) == {2.0}


def test_csv_has_all_digits_and_units_in_its_heads(runs, tmp_path):
    for each in (runs, runs[0, 0]):
        each.save(tmp_path / "runs.CSV")
        head, *rows = csv.reader((tmp_path / "runs.CSV").read_text().splitlines())
        frame = each.to_dataframe()
        assert [name.partition(" [")[0] for name in head] == list(frame)
        assert {"time [s]", "q.rail [m]", "v.rail [m/s]", "kinetic_energy [J]"} <= set(head)
        np.testing.assert_array_equal(np.array(rows, dtype=float), frame)
    with pytest.raises(
        mb.ResultFileError, match=r"not a netCDF 4 file.* \.CSV files are for other programs"
    ):
        mb.load_result(tmp_path / "runs.CSV")


def test_matlab_files(runs, tmp_path):
    run = runs[0, 0]
    run.save(tmp_path / "run.mat")
    data = loadmat(tmp_path / "run.mat", simplify_cells=True)
    np.testing.assert_array_equal(data["q"], run.q)
    assert list(data["velocity_names"]) == list(run.velocity_names)
    assert data["message"] == run.message
    np.testing.assert_array_equal(data["events"]["t"], run.events.t)
    runs.save(tmp_path / "runs.mat")
    data = loadmat(tmp_path / "runs.mat", simplify_cells=True)
    np.testing.assert_array_equal(data["v"], runs.v)
    assert data["messages"][0, 1] == runs.messages[0, 1]


def test_a_closed_mechanism_has_columns_for_its_constraints(changed):
    names = tuple(f"pin[{k}]" for k in range(2))
    run = changed(constraint_names=names, multipliers=np.arange(10.0).reshape(5, 2))
    frame = run.to_dataframe()
    np.testing.assert_array_equal(frame["multiplier.pin[1]"], run.multipliers[:, 1])
    assert frame.attrs["units"]["residual.acceleration"] == "m/s^2"


def test_data_frames_say_what_is_missing(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(mb.UsageError, match=r"pip install 'mbkit\[xarray\]'.*\.csv"):
        run.to_dataframe()

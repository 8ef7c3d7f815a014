"""Result files: the round trip is exact, old files survive failures, faults are named."""

from __future__ import annotations

import errno
import pickle
import subprocess
import sys

import attrs
import h5netcdf
import numpy as np
import pytest
import xarray as xr

import mbkit as mb


def assert_same(one, other):
    for field in attrs.fields(mb.Result):
        np.testing.assert_array_equal(
            getattr(one, field.name), getattr(other, field.name), err_msg=field.name
        )


def test_round_trip_is_exact(run, tmp_path):
    run.save(tmp_path / "run.nc")
    assert_same(mb.load_result(tmp_path / "run.nc"), run)


def test_round_trip_without_joints(changed, tmp_path):
    """A mechanism that cannot move has a result too."""
    names = ("joint_names", "position_names", "velocity_names", "position_units")
    still = changed(q=np.zeros((5, 0)), v=np.zeros((5, 0)), **dict.fromkeys(names, ()))
    still.save(tmp_path / "run.nc")
    assert_same(mb.load_result(tmp_path / "run.nc"), still)


def test_long_models_fit(changed, tmp_path):
    """HDF5 has a limit of 64 KiB for short attributes; a model text must not meet it."""
    run = changed(model="# a thousand bodies\n" * 100_000)
    run.save(tmp_path / "run.nc")
    assert mb.load_result(tmp_path / "run.nc").model == run.model


def test_file_has_double_precision(run, tmp_path):
    run.save(tmp_path / "run.nc")
    with h5netcdf.File(tmp_path / "run.nc", "r") as file:
        numbers = [file.variables[name] for name in ("time", "q", "v", "kinetic_energy")]
        assert {variable.dtype for variable in numbers} == {np.dtype(np.float64)}


def test_xarray_reads_the_file_as_to_xarray_shows_it(run, tmp_path):
    run.save(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as read:
        xr.testing.assert_equal(read, run.to_xarray())
        assert {**run.to_xarray().attrs, "mbkit_result": 2} == read.attrs


def test_existing_file_is_replaced_and_nothing_else_is_left(run, changed, tmp_path):
    run.save(tmp_path / "run.nc")
    changed(message="second").save(tmp_path / "run.nc")
    assert mb.load_result(tmp_path / "run.nc").message == "second"
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


def test_failed_writing_leaves_the_old_file(run, changed, tmp_path, monkeypatch):
    """A disk that is full when the last attribute is written costs the new file, not the old."""
    run.save(tmp_path / "run.nc")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("mbkit.io.replacement._flush_to_disk", fail)
    with pytest.raises(mb.ResultFileError, match=r"run\.nc' cannot be written: No space left"):
        changed(message="second").save(tmp_path / "run.nc")
    assert mb.load_result(tmp_path / "run.nc").message == run.message
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


@pytest.mark.long
@pytest.mark.parametrize("size", [0, 100, 1000])
def test_full_disks_are_an_error_and_no_crash(run, tmp_path, size):
    """HDF5 itself would end the process; the limit on the size of files stands for the disk's."""
    (tmp_path / "run.pickle").write_bytes(pickle.dumps(run))
    code = (
        "import pathlib, pickle, resource, sys\n"
        "import mbkit as mb\n"
        "folder, size = pathlib.Path(sys.argv[1]), int(sys.argv[2])\n"
        "run = pickle.loads((folder / 'run.pickle').read_bytes())\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    run.save(folder / 'run.nc')\n"
        "except mb.ResultFileError as error:\n"
        "    print(error)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == (
        f"Result file '{tmp_path / 'run.nc'}' cannot be written: File too large; choose a folder "
        "that can be written to and has room.\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["run.pickle"]


def test_places_that_take_no_files_are_named_as_the_user_named_them(run, sealed_folder):
    """Neither the temporary file nor HDF5 is in the message."""
    with pytest.raises(mb.ResultFileError) as caught:
        run.save(f"{sealed_folder}/run.nc")
    start = "Result file '/proc/run.nc' cannot be written: No such file"
    assert str(caught.value).startswith(start)
    with pytest.raises(mb.ResultFileError, match=r"'/dev/null' cannot be .*is no regular file"):
        run.save("/dev/null")


def test_long_names_are_written(run, tmp_path):
    """The longest that the file system takes: the temporary file's name must not be longer."""
    path = tmp_path / ("a" * 252 + ".nc")
    run.save(path)
    assert mb.load_result(path).message == run.message


def test_impossible_places_are_named(run, tmp_path):
    with pytest.raises(mb.ResultFileError, match="directory that does not exist; make it first"):
        run.save(tmp_path / "none" / "run.nc")
    with pytest.raises(mb.ResultFileError, match="is a directory; give a file name in it"):
        run.save(tmp_path)


def test_what_is_no_result_is_refused_by_name(tmp_path):
    with pytest.raises(mb.ResultFileError, match=r"'.*run\.nc' does not exist"):
        mb.load_result(tmp_path / "run.nc")
    (tmp_path / "text.nc").write_text("no numbers")
    with pytest.raises(mb.ResultFileError, match=r"'.*text\.nc' is not a netCDF 4 file"):
        mb.load_result(tmp_path / "text.nc")
    xr.Dataset({"a": 1.0}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(mb.ResultFileError, match=r"other\.nc' is a netCDF file, but not a result"):
        mb.load_result(tmp_path / "other.nc")


def _rewrite(run, path, change):
    """Write a result file whose data set went through `change`."""
    data = run.to_xarray()
    data.attrs["mbkit_result"] = 1
    change(data).to_netcdf(path, engine="h5netcdf")


def _without_attributes(data, *names):
    data.attrs = {name: value for name, value in data.attrs.items() if name not in names}
    return data


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.drop_vars("v"), r"lacks variable 'v'\."),
        (
            lambda data: _without_attributes(data.drop_vars("body"), "options", "model"),
            "lacks variable 'body', attribute 'model', attribute 'options'",
        ),
        (lambda data: data.assign_attrs(options="{"), "attribute 'options' is not JSON"),
        (lambda data: data.assign_attrs(mbkit_result=3), "format 3; this mbkit reads up to"),
        (lambda data: data.assign_attrs(mbkit_result=2), "has lost its checksum, which is its"),
        (lambda data: data.assign_attrs(mbkit_result="1"), "'mbkit_result' must be a whole number"),
        (lambda data: data.assign_attrs(options="[]"), r"'options' must be a table in JSON, got"),
        (lambda data: data.assign_attrs(model=[1.0, 2.0]), "'model' must be a single value"),
        (
            lambda data: data.assign(q=("time", np.zeros(5))),
            r"does not fit together: Result: q has shape \(5,\)",
        ),
    ],
)
def test_damaged_results_are_refused_with_the_reason(run, tmp_path, change, message):
    _rewrite(run, tmp_path / "run.nc", change)
    with pytest.raises(mb.ResultFileError, match=message):
        mb.load_result(tmp_path / "run.nc")


def test_files_of_xarray_are_read(run, tmp_path):
    """The file is what the data set is: other programs may have written it."""
    _rewrite(run, tmp_path / "run.nc", lambda data: data)
    with pytest.warns(mb.ResultFileWarning, match=r"run\.nc' has no checksum, since an earlier"):
        assert_same(mb.load_result(tmp_path / "run.nc"), run)

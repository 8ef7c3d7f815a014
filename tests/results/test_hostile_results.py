"""Result files that are damaged, or made to harm: refused by name, and nothing else is read."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import h5py
import numpy as np
import pytest

import mbkit as mb
from mbkit.cli.main import main
from tests.results.test_netcdf import assert_same


@pytest.fixture
def path(run, tmp_path):
    run.save(tmp_path / "run.nc")
    return tmp_path / "run.nc"


def as_of_others(path):
    """Take the checksum off, as a file made by another program has none."""
    with h5py.File(path, "r+") as file:
        file.attrs["mbkit_result"] = 1
        size = file.id.get_filesize()
    os.truncate(path, size)


def replaced(path, name, make):
    """Put what `make` makes in the place of a variable."""
    as_of_others(path)
    with h5py.File(path, "r+") as file:
        del file[name]
        make(file)


# ------------------------------------------------------------------------------- names and marks


@pytest.mark.parametrize("name", ["a.xls", "a.ODS", "a.csv.gz", "a.npz", "run.v2"])
def test_suffixes_of_other_formats_are_refused(run, tmp_path, name):
    with pytest.raises(mb.UsageError, match=rf"'.*{name}' must end in \.nc .* got '\.\w+'\. For"):
        run.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.some(3)
@pytest.mark.parametrize("name", ["a.nc", "a.NC", "a.nc4", "a.h5", "a.hdf5", "a"])
def test_suffixes_that_are_written(run, tmp_path, name):
    run.save(tmp_path / name)
    assert_same(mb.load_result(tmp_path / name), run)


def test_a_missing_openpyxl_is_told(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(mb.UsageError, match=r"pip install 'mbkit\[excel\]'.*\.csv"):
        run.save(tmp_path / "run.xlsx")


@pytest.mark.parametrize("path", [3, None, b"run.nc"])
def test_what_is_no_path_is_refused(run, path):
    for action in (run.save, mb.load_result):
        with pytest.raises(mb.UsageError, match="path must be a string or a path, got"):
            action(path)


def test_the_command_line_refuses_suffixes_before_it_computes(tmp_path, monkeypatch):
    from click.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mb, "simulate", None)
    model = pathlib.Path(__file__).parents[1] / "data" / "gripper.toml"
    done = CliRunner().invoke(main, ["simulate", str(model), "-o", "run.xls"])
    assert done.exit_code != 0
    assert "'run.xls' must end in .nc" in done.output


# ------------------------------------------------------------------------------- damage


def test_every_byte_counts(run, path):
    """One bit of every 31st byte, and lengths."""
    content = path.read_bytes()
    for at in range(0, len(content), 31):
        changed = bytearray(content)
        changed[at] ^= 1 << at % 8
        path.write_bytes(changed)
        with pytest.raises(mb.ResultFileError, match=r"run\.nc' "):
            mb.load_result(path)
    for size in range(0, len(content), 521):
        path.write_bytes(content[:size])
        with pytest.raises(mb.ResultFileError, match=r"run\.nc' "):
            mb.load_result(path)
    path.write_bytes(content)
    assert_same(mb.load_result(path), run)


def test_the_message_says_what_became_of_the_file(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(mb.ResultFileError, match="its content was changed after it was written, b"):
        mb.load_result(path)
    path.write_bytes(content[:-8])
    with pytest.raises(mb.ResultFileError, match="has lost its checksum, which is its last line"):
        mb.load_result(path)
    path.write_bytes(bytes(content[:-500]) + bytes(content[-62:]))
    with pytest.raises(mb.ResultFileError, match=r"was written with \d+ bytes before its last li"):
        mb.load_result(path)


def test_other_programs_read_the_file(run, path):
    """The line behind the end of HDF5 is none of theirs."""
    with h5py.File(path, "r") as file:
        np.testing.assert_array_equal(file["q"], run.q)
    assert path.read_bytes().endswith(b" bytes\n")


# ------------------------------------------------------------------------------- other files


def test_external_storage_is_refused(path, tmp_path):
    """Numbers that are the bytes of another file of this machine."""
    (tmp_path / "secret").write_bytes(b"0123456789abcdef" * 10)

    def make(file):
        file.create_dataset("q", (5, 4), "f8", external=[(str(tmp_path / "secret"), 0, 160)])

    replaced(path, "q", make)
    with pytest.raises(mb.ResultFileError, match="variable 'q' lies in other files"):
        mb.load_result(path)


def test_virtual_datasets_are_refused(path, tmp_path):
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["q"] = np.ones((5, 4))

    def make(file):
        layout = h5py.VirtualLayout((5, 4), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "q", (5, 4))
        file.create_virtual_dataset("q", layout)

    replaced(path, "q", make)
    with pytest.raises(mb.ResultFileError, match="variable 'q' lies in other files"):
        mb.load_result(path)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["q", "time", "body"])
@pytest.mark.parametrize("kind", ["external", "soft"])
def test_links_are_refused(path, tmp_path, name, kind):
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["q"] = np.ones((5, 4))
    link = {"external": h5py.ExternalLink(str(tmp_path / "secret.h5"), "q"),
            "soft": h5py.SoftLink("/v")}[kind]  # fmt: skip
    replaced(path, name, lambda file: file.__setitem__(name, link))
    with pytest.raises(mb.ResultFileError, match=f"variable '{name}' is a link to another place"):
        mb.load_result(path)


# ------------------------------------------------------------------------------- kinds and sizes

BOUNDED = """
import resource, sys, warnings
import mbkit as mb
from mbkit.io.results import reader as result_reader
import h5py
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 200 * 2**20, size + 200 * 2**20))
warnings.simplefilter("ignore")
for path in sys.argv[1:]:
    try:
        run = mb.load_result(path)
        print(run.t.size, run.v.max())
    except mb.ResultFileError as error:
        print(error)
"""


def loaded_with_little_memory(*paths):
    """Return what loading says in a process that may take 200 MiB more, a line for a file."""
    command = [sys.executable, "-c", BOUNDED, *map(str, paths)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


BOMBS = [
    {"chunks": (2**16, 4), "compression": 9},
    {"chunks": (2**16, 4), "fillvalue": 1.0},
    {"chunks": (2**27, 4), "maxshape": (None, 4)},
]


def test_arrays_that_claim_more_than_the_file_holds_are_refused(run, tmp_path):
    """Of 5 GB, of which a few rows were written, or in one chunk larger than memory."""
    paths = []
    for number, options in enumerate(BOMBS):
        for name, rank in (("q", 2), ("time", 1)):
            path = tmp_path / f"{number}-{name}.nc"
            run.save(path)
            cut = {k: v[:rank] if isinstance(v, tuple) else v for k, v in options.items()}

            def make(file, name=name, rank=rank, cut=cut):
                data = file.create_dataset(name, (160_000_000, 4)[:rank], "f8", **cut)
                if cut["chunks"][0] < 2**20:
                    data[:10] = 1.0

            replaced(path, name, make)
            assert path.stat().st_size < 3e6
            paths.append(path)
    for path, said in zip(paths, loaded_with_little_memory(*paths), strict=True):
        assert f"variable '{path.stem[2:]}' claims" in said, said


def test_arrays_that_were_never_written_take_no_memory(run, tmp_path):
    """Those of a run that did not save them read as their fill value; times must be there."""
    kinds = {"v": ("f8", (5, 3)), "time": ("f8", (10**9,)), "body": (h5py.string_dtype(), (10**9,))}
    for name, (kind, shape) in kinds.items():
        run.save(tmp_path / name)
        replaced(tmp_path / name, name, lambda file, name=name, kind=kind, shape=shape: (
            file.create_dataset(name, shape, kind, chunks=(5, 3)[: len(shape)])
        ))  # fmt: skip
    v, time, body = loaded_with_little_memory(*(tmp_path / name for name in kinds))
    assert v == "5 0.0"
    assert "variable 'time' was never written" in time
    assert "variable 'body' claims" in body


def test_one_long_text_many_times_is_refused(path):
    """A reference to a text takes 16 bytes, whatever the length of the text."""
    replaced(path, "body", lambda file: file.create_dataset(
        "body", data=np.array(["x" * 1_000_000] + ["y"] * 9999, dtype=object),
        dtype=h5py.string_dtype(),
    ))  # fmt: skip
    content = path.read_bytes()
    with h5py.File(path, "r") as file:
        at = file["body"].id.get_offset()
    first = content[at : at + 16]
    path.write_bytes(content[:at] + first * 10_000 + content[at + 160_000 :])
    (said,) = loaded_with_little_memory(path)
    assert "variable 'body' has more text than the file can hold" in said


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("q", lambda f: f.create_group("q"), "'q' is no array"),
        ("q", lambda f: f.create_dataset("q", data=np.array(["x"], "S9")), "must be of numbers"),
        ("q", lambda f: f.create_dataset("q", data=np.ones((5, 4)) * 1j), "must be of numbers"),
        ("q", lambda f: f.create_dataset("q", (5, 4), "f8", scaleoffset=3), "unusual filters"),
        ("body", lambda f: f.create_dataset("body", data=[1.0, 2.0]), "must be a list of texts"),
        ("body", lambda f: f.create_dataset("body", data=np.array([b"\xff", b"x"])), "is damaged"),
        ("q", lambda f: f.create_dataset("q", data=np.ones((4, 5))), "does not fit together"),
    ],
)  # fmt: skip
def test_variables_of_other_kinds_are_refused(path, name, make, message):
    replaced(path, name, make)
    with pytest.raises(mb.ResultFileError, match=message):
        mb.load_result(path)


def test_packed_files_are_read(run, path):
    """As other programs write them."""
    replaced(path, "q", lambda file: file.create_dataset(
        "q", data=run.q.astype(">f8"), compression=4, shuffle=True, fletcher32=True
    ))  # fmt: skip
    with pytest.warns(mb.ResultFileWarning, match="no checksum"):
        assert_same(mb.load_result(path), run)


# ------------------------------------------------------------------------------- open results


@pytest.fixture
def large(changed, tmp_path):
    """A result in a folder, so large that its arrays stay there."""
    count = 300_000
    rng = np.random.default_rng(3)
    run = changed(
        t=np.arange(count), q=rng.normal(size=(count, 4)), v=rng.normal(size=(count, 3)),
        kinetic_energy=rng.normal(size=count), potential_energy=np.zeros(count),
    )  # fmt: skip
    folder = tmp_path / "folder"
    folder.mkdir()
    run.save(folder / "result.nc")
    return run, folder


def test_arrays_that_stay_in_the_file_are_those_of_the_run(large):
    run, folder = large
    opened = mb.load_result(folder)
    assert repr(opened) == repr(run)
    (folder / "result.nc").unlink()  # which does not take it away
    assert opened.q is opened.q
    assert_same(opened, run)
    with pytest.raises(AttributeError, match="'Result' object has no attribute 'velocities'"):
        opened.velocities  # noqa: B018
    assert not opened.q.flags.writeable


@pytest.mark.some(2)
@pytest.mark.parametrize("change", ["cut", "overwritten"])
def test_a_file_that_is_changed_under_an_open_result_is_an_error(large, change):
    """In a process of its own: a mapped file would end it by SIGBUS."""
    _, folder = large
    code = (
        "import sys, os, mbkit as mb\n"
        "run = mb.load_result(sys.argv[1])\n"
        "name = sys.argv[1] + '/result.nc'\n"
        "if sys.argv[2] == 'cut':\n"
        "    os.truncate(name, 100)\n"
        "else:\n"
        "    with open(name, 'r+b') as file:\n"
        "        file.seek(20_000_000); file.write(b'x')\n"
        "try:\n"
        "    print(run.q[-1])\n"
        "except mb.ResultFileError as error:\n"
        "    print(error)\n"
    )
    command = [sys.executable, "-c", code, str(folder), change]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done
    assert "result.nc' was changed while it was open; load it again" in done.stdout

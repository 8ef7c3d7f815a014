"""Directories of long runs: used, locked, full, damaged; and the commands that write them."""

import contextlib
import errno
import importlib
import json
import os
import re
import subprocess
import sys
import types

import numpy as np
import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main
from mbkit.io.results.manifest import manifest_text
from mbkit.io.results.run_directory import RunDirectory
from tests.simulation.long_runs import assert_same, ball_and_hinge, manifest, simulate

pytestmark = pytest.mark.slow

recording = importlib.import_module("mbkit.simulation.long_runs.recording")


@pytest.fixture(scope="module")
def system():
    return ball_and_hinge().assemble()


@pytest.fixture
def small_parts(monkeypatch):
    """Sixteen rows a part: nine of them in the run of these tests."""
    monkeypatch.setattr(recording, "PART_SIZE", 0)


def refuse(number):
    """Return a function that raises as a system call does."""

    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    return fail


@contextlib.contextmanager
def writing(monkeypatch, allowed, number=errno.ENOSPC):
    """Let so many parts be written, and no more."""
    write, left = RunDirectory.write_part, [allowed]

    def limited(self, part, arrays):
        left[0] -= 1
        if left[0] < 0:
            refuse(number)()
        write(self, part, arrays)

    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "write_part", limited)
        yield


# ------------------------------------------------------------------------------ before a run


def test_used_directories_are_refused_before_the_run(system, tmp_path):
    simulate(system, tmp_path / "run")
    with pytest.raises(
        mb.UsageError,
        match=r"has a run already; continue it by mbkit\.resume.* mbkit run STUDY --resume",
    ):
        simulate(system, tmp_path / "run")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/thesis.tex").touch()
    with pytest.raises(mb.UsageError, match=r"must be a new or an empty .* 'thesis.tex' in it"):
        simulate(system, tmp_path / "notes")
    (tmp_path / "file").touch()
    with pytest.raises(mb.ResultFileError, match=r"'.*file' cannot be written: File exists"):
        simulate(system, tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "file"), [("run.nc", "run.nc"), ("runs/x.txt", "runs/x.nc"), ("a.CSV", "a.CSV")]
)
def test_names_of_files_are_refused_before_anything_is_made(system, tmp_path, name, file):
    with pytest.raises(mb.UsageError, match=rf"got .*{name}', .* use run\.save\('.*{file}'\)"):
        mb.simulate(system, (0.0, 0.1), 0.1, output=tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_directories_that_take_no_files_are_refused_before_the_run(system, sealed_folder):
    with pytest.raises(mb.ResultFileError, match="'/proc/run' cannot be written: No such file"):
        simulate(system, f"{sealed_folder}/run")


def test_a_disk_without_room_is_refused_before_the_run(system, tmp_path, monkeypatch):
    """For the whole run, from its number of rows; and for the reserve."""
    free = types.SimpleNamespace(f_bavail=1000, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda _: free)
    with pytest.raises(mb.ResultFileError, match=r"needs about 21\d\.\d MiB .* and 3\.9 MiB are"):
        mb.simulate(system, (0.0, 1000.0), 1e-3, output=tmp_path / "run")
    monkeypatch.undo()
    monkeypatch.setattr(os, "posix_fallocate", refuse(errno.ENOSPC))
    with pytest.raises(mb.ResultFileError, match="No space left on device"):
        simulate(system, tmp_path / "full")
    monkeypatch.setattr(os, "posix_fallocate", refuse(errno.EOPNOTSUPP))
    assert simulate(system, tmp_path / "full").completed


def test_a_file_system_without_room_for_the_first_part(system, tmp_path, monkeypatch):
    with writing(monkeypatch, 0), pytest.raises(mb.ResultFileError, match="nothing was computed"):
        simulate(system, tmp_path / "run")
    assert simulate(system, tmp_path / "run").completed


def test_a_start_that_was_killed_before_its_manifest_is_begun_again(system, tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    for name in ("lock", "reserve", "model.toml", "part-000000.npz", ".manifest.json.x1.part"):
        (path / name).write_text("half")
    with pytest.raises(mb.ResultFileError, match=r"has no run: there is no manifest\.json in it"):
        mb.resume(path)
    assert_same(simulate(system, path), simulate(system))
    assert not (path / ".manifest.json.x1.part").exists()


@pytest.mark.parametrize("path", ["none", "empty"])
def test_what_is_no_run_is_not_resumed(tmp_path, path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(mb.ResultFileError, match="has no run"):
        mb.resume(tmp_path / path)
    with pytest.raises(mb.ResultFileError):
        mb.load_result(tmp_path / path)
    assert not list((tmp_path / "empty").iterdir())


def test_two_runs_do_not_write_into_one_directory(system, tmp_path):
    """The lock has the name of who holds it, and ends with its process, killed or not."""
    path = tmp_path / "run"
    path.mkdir()
    code = (
        "import sys; from mbkit.io.results.run_directory import RunDirectory\n"
        "with RunDirectory(sys.argv[1]).locked():\n"
        "    print('locked', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"locked\n"
        with pytest.raises(mb.UsageError, match=f"is being written by process {child.pid} on .*"):
            simulate(system, path)
        child.kill()
        child.wait()
    assert simulate(system, path).completed
    with RunDirectory(path).locked(), pytest.raises(mb.UsageError, match="is being written by"):
        mb.resume(path)


# ------------------------------------------------------------------------------ during a run


@pytest.mark.some(3)
@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_disk_that_takes_no_more_stops_the_run_and_keeps_what_was_written(
    system, tmp_path, monkeypatch, number
):
    """Four parts, up to a time that the message has; then the run goes on bit for bit."""
    whole = simulate(system, tmp_path / "whole")
    with (
        writing(monkeypatch, 4, number),
        pytest.raises(mb.ResultFileError, match=os.strerror(number)) as caught,
    ):
        simulate(system, tmp_path / "run")
    kept = mb.load_result(tmp_path / "run")
    assert kept.t.size == 1 + 3 * 16
    t, step = re.search(r"until t = (.*) s, step (\d+), is kept", str(caught.value)).groups()
    assert 7 * 48 <= int(step) < 7 * 49
    assert float(t) == pytest.approx(0.2 + int(step) * 1e-3)
    assert not (tmp_path / "run/reserve").exists()
    np.testing.assert_array_equal(kept.q, whole.q[:49])
    assert_same(mb.resume(tmp_path / "run"), whole)
    files = [tmp_path / name / "result.nc" for name in ("whole", "run")]
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.usefixtures("small_parts")
def test_the_reserve_takes_the_rows_in_memory(system, tmp_path, monkeypatch):
    """Written where the disk was full the moment before: no row that was computed is lost."""
    write = RunDirectory.write_part

    def limited(self, part, arrays):
        if part == 3 and (self.path / "reserve").exists():
            refuse(errno.ENOSPC)()
        write(self, part, arrays)

    monkeypatch.setattr(RunDirectory, "write_part", limited)
    with pytest.raises(mb.ResultFileError, match=r"step 3(3[6-9]|4[0-2]), is kept"):
        simulate(system, tmp_path / "run")
    assert RunDirectory(tmp_path / "run").parts() == [0, 1, 2, 3]
    assert_same(mb.resume(tmp_path / "run"), simulate(system))


def test_a_disk_that_is_full_at_the_end_keeps_all_rows(system, tmp_path, monkeypatch):
    """HDF5 does not end the process, and the parts stay until the file can be written."""
    netcdf = importlib.import_module("mbkit.io.results.run_result")

    class Full(netcdf._Target):
        def __init__(self, file):
            super().__init__(types.SimpleNamespace(
                write=refuse(errno.ENOSPC), truncate=refuse(errno.ENOSPC), seek=file.seek,
                tell=file.tell, read=file.read, readinto=file.readinto,
            ))  # fmt: skip

    with monkeypatch.context() as patch:
        patch.setattr(netcdf, "_Target", Full)
        with pytest.raises(mb.ResultFileError, match="All 144 instants are kept in the parts"):
            simulate(system, tmp_path / "run")
    assert_same(mb.resume(tmp_path / "run"), simulate(system))


@pytest.mark.parametrize("room", [0, 100, 2000, 30_000])
def test_hdf5_reads_back_what_could_not_be_written(tmp_path, room):
    """A file on a disk that is full after so many bytes is the same to HDF5 as any other."""
    netcdf = importlib.import_module("mbkit.io.results.run_result")
    h5py = importlib.import_module("h5py")
    rows = np.random.default_rng(1).normal(size=(500, 7))
    with (tmp_path / "file").open("w+b", 0) as file:

        def write(data):
            if file.tell() + len(data) > room:
                raise OSError(errno.ENOSPC, "No space left on device")
            return file.write(data)

        target = netcdf._Target(types.SimpleNamespace(
            write=write, truncate=file.truncate, seek=file.seek, tell=file.tell,
            readinto=file.readinto,
        ))  # fmt: skip
        with h5py.File(target, "w") as written:
            for number in range(5):
                written.create_dataset(f"rows {number}", data=rows, chunks=(50, 7))
                written.attrs[f"note {number}"] = "x" * 5000
        target.seek(0)
        with h5py.File(target, "r") as found:
            np.testing.assert_array_equal(found["rows 3"][:], rows)
            assert found.attrs["note 4"] == "x" * 5000
        with pytest.raises(OSError, match="No space left"):
            target.check()


FILL = """
import sys
import mbkit as mb
from tests.simulation.long_runs import ball_and_hinge, start
import mbkit.simulation.long_runs.recording as recording
from mbkit.io.results.run_directory import RunDirectory

recording.SHORTEST = 0.01
RunDirectory.check_room = lambda self, size: None  # as if another program took the room later
system = ball_and_hinge().assemble()
try:
    mb.simulate(system, (0.0, 1000.0), 1e-3, output=sys.argv[1], **start(system))
except mb.ResultFileError as error:
    print(error)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to mount")
def test_a_real_full_disk(system, tmp_path):
    """A file system of 12 MiB, in memory."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("file systems cannot be mounted here")
    try:
        command = [sys.executable, "-c", FILL, str(disk / "run")]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert "No space left on device. All that was saved until t = " in done.stdout
        kept = mb.load_result(disk / "run")
        step = int(done.stdout.partition("step ")[2].partition(",")[0])
        assert kept.t.size == step + 1 > 10_000
    finally:
        subprocess.run(["umount", str(disk)], check=True)


LIMITED = """
import resource, sys
import mbkit as mb
import mbkit.simulation.long_runs.long_run as long_run
from tests.simulation.long_runs import ball_and_hinge, simulate

long_run.reserve_size = lambda buffer: 100
system = ball_and_hinge().assemble()
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    simulate(system, sys.argv[1])
except mb.ResultFileError as error:
    print(error)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "message"),
    [(2000, "nothing was computed"), (12_000, "step 0, is kept"), (26_000, "All 144 instants")],
)
def test_files_that_get_too_large(system, tmp_path, size, message):
    """The limit on the size of files stands for a disk that gets full at each of three places."""
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "run"), str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "File too large" in done.stdout
    assert message in done.stdout
    if size > 2000:
        assert_same(mb.resume(tmp_path / "run"), simulate(system))


# ------------------------------------------------------------------------------ after a run


@pytest.fixture
def killed(system, tmp_path, monkeypatch):
    """A run as a kill leaves it, after five parts."""
    monkeypatch.setattr(recording, "PART_SIZE", 0)
    with writing(monkeypatch, 5), contextlib.suppress(mb.ResultFileError):
        simulate(system, tmp_path / "killed")
    return tmp_path / "killed"


def test_what_was_being_written_is_ignored_and_removed(system, killed):
    for name in (".part-000005.npz.abc.part", ".result.nc.xyz.part"):
        (killed / name).write_bytes(b"half")
    assert_same(mb.resume(killed), simulate(system))
    assert sorted(os.listdir(killed)) == ["lock", "manifest.json", "model.toml", "result.nc"]


@pytest.mark.parametrize("damage", ["cut", "bit", "empty"])
def test_a_damaged_part_is_named_and_can_be_left_out(system, killed, damage):
    """Its check sum tells; without it, the run goes on from the part before."""
    path = killed / "part-000004.npz"
    content = bytearray(path.read_bytes())
    with np.load(path) as part:
        content[content.index(part["state_q"].tobytes())] ^= 1
    path.write_bytes({"cut": content[:-100], "bit": content, "empty": b""}[damage])
    for action in (mb.resume, mb.load_result):
        with pytest.raises(mb.ResultFileError, match=r"part-000004\.npz' is damaged"):
            action(killed)
    path.unlink()
    assert_same(mb.resume(killed), simulate(system))


def test_a_missing_part_is_named(killed):
    (killed / "part-000002.npz").unlink()
    with pytest.raises(mb.ResultFileError, match=r"lacks part-000002\.npz, and has part-000003"):
        mb.resume(killed)


def test_parts_hold_no_pickles(killed):
    for path in killed.glob("part-*.npz"):
        with np.load(path, allow_pickle=False) as part:
            assert {part[name].dtype.kind for name in part.files} <= {"f", "i"}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"mbkit_run": 99}'])
def test_what_is_no_manifest_is_refused(killed, text):
    (killed / "manifest.json").write_text(text)
    with pytest.raises(mb.ResultFileError, match=r"manifest\.json' (is not the|has the format 99)"):
        mb.resume(killed)


@pytest.mark.some(3)
@pytest.mark.parametrize("when", ["before the parts are deleted", "amid", "before the manifest"])
def test_a_kill_between_the_result_and_the_end(system, killed, when):
    """The result is there, and what is left beside it is tidied up.

    The manifest knows the result's checksum by then: it is written before the result has its name.
    """
    parts = {path: path.read_bytes() for path in killed.glob("part-*.npz")}
    before = manifest(killed)
    run = mb.resume(killed)
    before["result"] = manifest(killed)["result"]
    count = {"before the parts are deleted": 5, "amid": 2, "before the manifest": 0}[when]
    for path in sorted(parts)[:count]:
        path.write_bytes(parts[path])
    (killed / "manifest.json").write_text(manifest_text(before))
    assert_same(mb.resume(killed), run)
    assert sorted(os.listdir(killed)) == ["lock", "manifest.json", "model.toml", "result.nc"]
    assert b"completed" in (killed / "manifest.json").read_bytes()


# ------------------------------------------------------------------------------ in a shell


def mbkit(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def model(tmp_path):
    mb.save_model(ball_and_hinge(), tmp_path / "model.toml")
    return tmp_path / "model.toml"


@pytest.mark.some(2)
@pytest.mark.parametrize("way", ["-o", "--directory"])
def test_a_directory_on_the_command_line(model, tmp_path, way):
    path = tmp_path / "runs/a"
    target = f"{path}/" if way == "-o" else path
    options = ("--t-end", 0.1, "--h", 1e-3, "--v", "hinge=1", "--save-every", 3)
    done = mbkit("simulate", model, way, target, *options, "--dtype", "float32")
    assert done.exit_code == 0, done.output
    assert f"Wrote {path}/result.nc: 35 instants." in done.output
    mbkit("simulate", model, "-o", tmp_path / "run.nc", *options)
    run, whole = mb.load_result(path), mb.load_result(tmp_path / "run.nc")
    np.testing.assert_array_equal(run.q, whole.q.astype(np.float32))
    again = mbkit("simulate", "--resume", path)
    assert again.exit_code == 0
    assert again.output.startswith(f"The run in {path} was completed already.\n")
    refused = mbkit("simulate", model, way, target)
    assert refused.exit_code != 0
    assert "has a run already" in refused.output
    drawn = mbkit("plot", path, "-o", tmp_path / "run.png")
    assert drawn.exit_code == 0, drawn.output


def test_a_run_goes_on_on_the_command_line(system, killed):
    done = mbkit("simulate", "--resume", killed)
    assert done.exit_code == 0, done.output
    assert "Simulated from 0.2 s to 1.2 s." in done.output
    assert_same(mb.load_result(killed), simulate(system))


def test_versions_on_the_command_line(killed):
    text = (killed / "manifest.json").read_text().replace('"numba": "', '"numba": "0')
    (killed / "manifest.json").write_text(manifest_text(json.loads(text)))
    refused = mbkit("simulate", "--resume", killed)
    assert refused.exit_code != 0
    assert "numba was 0" in refused.output
    assert mbkit("simulate", "--resume", killed, "--other-versions").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument 'MODEL'"),
        (("MODEL",), "Give one place for the result"),
        (("MODEL", "-o", "a.nc", "--directory", "a"), "Give one place for the result"),
        (("MODEL", "--resume", "a"), "leave out MODEL"),
        (("--resume", "a", "-o", "b/"), "leave out -o"),
        (("--resume", "none"), "has no run"),
        (("MODEL", "-o", "a/", "--save", "q,w"), "nothing is called 'w'"),
        (("MODEL", "-o", "a.nc", "--dtype", "float32"), "this one has none"),
    ],
)
def test_options_that_do_not_fit(model, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    failed = mbkit("simulate", *(model if each == "MODEL" else each for each in arguments))
    assert failed.exit_code != 0
    assert message in failed.output

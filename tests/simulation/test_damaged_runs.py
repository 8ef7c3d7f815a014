"""Run directories that were changed: refused by name; nothing is deleted or followed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil

import numpy as np
import pytest

import mbkit as mb
from mbkit.io.results.manifest import manifest_text
from mbkit.io.results.parts import write_part
from tests.simulation.long_runs import ball_and_hinge, manifest, simulate
from tests.simulation.test_run_directories import recording, writing

pytestmark = pytest.mark.slow


def unfinished(system, path, **options):
    """Write a run as a kill leaves it, after five parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "PART_SIZE", 0)
        with writing(patch, 5), contextlib.suppress(mb.ResultFileError):
            simulate(system, path, **options)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of the same options, which were killed, and one that was stopped by Ctrl-C."""
    folder = tmp_path_factory.mktemp("runs")
    system = ball_and_hinge().assemble()
    unfinished(system, folder / "killed")
    unfinished(system, folder / "other", v=np.ones(4))

    def tau(t, q, v):
        if t > 0.7:
            raise KeyboardInterrupt
        return 0.0 * v

    simulate(system, folder / "stopped", tau=tau)
    return folder


@pytest.fixture
def killed(runs, tmp_path):
    shutil.copytree(runs / "killed", tmp_path / "killed")
    return tmp_path / "killed"


@pytest.fixture
def stopped(runs, tmp_path):
    shutil.copytree(runs / "stopped", tmp_path / "stopped")
    return tmp_path / "stopped"


def content(path):
    return {each.name: each.read_bytes() for each in path.iterdir() if each.name != "lock"}


def assert_refused(path, match):
    """By both who read it, and nothing in the directory is touched."""
    before = content(path)
    for action in (mb.load_result, mb.resume):
        with pytest.raises(mb.ResultFileError, match=match):
            action(path)
    assert content(path) == before


def part(path, number):
    return path / f"part-{number:06d}.npz"


def test_swapped_parts_are_refused(killed):
    first, second = part(killed, 2).read_bytes(), part(killed, 3).read_bytes()
    part(killed, 2).write_bytes(second)
    part(killed, 3).write_bytes(first)
    assert_refused(killed, r"part-000002\.npz' is part 3 of the run under the name of part 2")


def test_doubled_parts_are_refused(killed):
    shutil.copy(part(killed, 4), part(killed, 5))
    assert_refused(killed, r"part-000005\.npz' is part 4 of the run under the name of part 5")


def test_parts_of_another_run_are_refused(killed, runs):
    shutil.copy(part(runs / "other", 3), part(killed, 3))
    assert_refused(killed, r"part-000003\.npz' belongs to another run: to the run \d+, and the man")


def edited(path, **changes):
    """Write a part anew with other arrays, as whole as one of mbkit."""
    with np.load(path) as file:
        arrays = dict(file)
    write_part(path, arrays | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step": np.int64(1000)}, "is an older or a newer one than those beside it"),
        ({"step": np.int64(1001)}, r"must go on from step \d+, to 1000 at most"),
        ({"began": np.int64(3)}, "is an older or a newer one than those beside it"),
        ({"t": np.linspace(5.0, 6.0, 16)}, "its times are not those of its steps"),
        ({"t": np.linspace(5.0, 6.0, 3)}, "is damaged .q, v, kinetic_energy, .* a row for each"),
    ],
)
def test_parts_that_do_not_follow_each_other_are_refused(killed, changes, message):
    edited(part(killed, 3), **changes)
    assert_refused(killed, message)


def test_a_part_that_was_edited_is_refused(killed):
    """76 of 201 instants would be "completed", where the step of the last part is that of the end.

    numpy writes it without the checksum.
    """
    with np.load(part(killed, 4)) as file:
        arrays = dict(file)
    np.savez(part(killed, 4), **arrays | {"step": np.int64(1000)})
    assert_refused(killed, r"part-000004\.npz' is damaged \(its last line, a checksum, is lost")


def test_a_manifest_that_was_edited_is_refused(killed):
    text = (killed / "manifest.json").read_text()
    (killed / "manifest.json").write_text(text.replace('"hinge"', '"hint"'))
    assert_refused(killed, r"manifest\.json' was changed since the run wrote it: its checksum is")


def test_how_a_manifest_is_laid_out_does_not_count(killed):
    before = mb.load_result(killed)
    (killed / "manifest.json").write_text(json.dumps(manifest(killed), indent=7, sort_keys=True))
    np.testing.assert_array_equal(mb.load_result(killed).q, before.q)


def test_manifests_of_other_formats_are_refused(killed):
    text = manifest_text({**manifest(killed), "mbkit_run": 1})
    (killed / "manifest.json").write_text(text)
    assert_refused(killed, "has the format 1; this mbkit reads 2. Go on with the mbkit that began")


def test_results_of_another_run_are_refused(stopped, runs, tmp_path):
    shutil.copy(stopped / "result.nc", tmp_path / "own.nc")
    mb.load_result(runs / "killed").save(stopped / "result.nc")
    assert_refused(stopped, r"result\.nc' is not the one that this run has written: it has CRC-32")
    shutil.copy(tmp_path / "own.nc", stopped / "result.nc")
    assert mb.load_result(stopped).t.size > 1


def test_a_result_beside_a_run_that_has_none_is_refused(killed, runs):
    shutil.copy(runs / "stopped/result.nc", killed / "result.nc")
    assert_refused(killed, r"result\.nc' is not of the run beside it, whose manifest tells of none")


# ------------------------------------------------------------------------------ what is kept


def test_a_run_that_is_not_resumed_keeps_its_result(stopped):
    """The function that it was given is missing, or is another one; leftovers stay, too."""
    (stopped / ".result.nc.xyz.part").write_bytes(b"half")
    before = content(stopped)
    for tau, message in ((None, "give it again"), (lambda t, q, v: v, "is not the same code")):
        with pytest.raises(mb.UsageError, match=message):
            mb.resume(stopped, tau=tau)
        assert content(stopped) == before


def test_a_damaged_result_says_how_to_go_on_without_it(stopped):
    (stopped / "result.nc").write_bytes((stopped / "result.nc").read_bytes()[:-100])
    before = content(stopped)
    with pytest.raises(mb.ResultFileError, match=r"once '.*result\.nc' is deleted, .* goes on"):
        mb.resume(stopped)
    assert content(stopped) == before


# ------------------------------------------------------------------------------ links


@pytest.mark.parametrize("kind", ["symbolic", "hard", "pipe"])
def test_a_lock_that_leads_elsewhere_is_not_written(killed, tmp_path, kind):
    victim = tmp_path / "thesis.tex"
    victim.write_text("years of work")
    (killed / "lock").unlink()
    if kind == "symbolic":
        (killed / "lock").symlink_to(victim)
    elif kind == "hard":
        os.link(victim, killed / "lock")
    else:
        os.mkfifo(killed / "lock")
    with pytest.raises(mb.ResultFileError, match="'lock' is a link or no regular file, by which"):
        mb.resume(killed)
    assert victim.read_text() == "years of work"


def test_no_file_of_a_run_is_written_through_a_link(killed, tmp_path):
    """Neither the room for the last part, nor parts, the result, the manifest and the model."""
    names = ["reserve", "part-000005.npz", "result.nc", "manifest.json", "model.toml"]
    victims = {name: tmp_path / f"victim of {name}" for name in names}
    for name, victim in victims.items():
        own = killed / name
        victim.write_bytes(own.read_bytes() if own.is_file() else b"years of work")
        if name in ("reserve", "manifest.json", "model.toml"):
            own.unlink(missing_ok=True)
            own.symlink_to(victim)
    before = {name: victim.read_bytes() for name, victim in victims.items()}
    assert mb.resume(killed).completed
    after = {name: victim.read_bytes() for name, victim in victims.items()}
    assert after == before
    assert not (killed / "manifest.json").is_symlink()


@pytest.mark.parametrize("name", ["part-000005.npz", "result.nc"])
def test_links_in_the_places_of_new_files_are_refused(killed, tmp_path, name):
    (tmp_path / "thesis.tex").write_text("years of work")
    (killed / name).symlink_to(tmp_path / "thesis.tex")
    with pytest.raises(mb.ResultFileError, match=name.replace(".", r"\.")):
        mb.resume(killed)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("path", [3, b"runs", "a\0b"])
def test_what_is_no_path_is_refused(path):
    system = ball_and_hinge().assemble()
    for action in (mb.load_result, mb.resume, lambda path: simulate(system, path)):
        with pytest.raises(mb.UsageError, match="path must "):
            action(path)

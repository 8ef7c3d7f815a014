"""Files that mean harm: long ones that take time, names that reach elsewhere or into a terminal."""

from __future__ import annotations

import difflib
import os
import pathlib
import warnings

import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main
from mbkit.io.results.checksum import LINE_SIZE, checksum_line
from mbkit.io.toml_text.document import toml_fault
from mbkit.io.toml_text.lines import line_nested_deeper
from tests.results.conftest import make_result

HEAD = 'mbkit_model = 1\nname = "m"\n'


def robot(body):
    return f'<robot name="r">{body}</robot>'


def mesh(name):
    return robot(f'<link name="a"><visual><geometry><mesh filename="{name}"/></geometry></visual>'
                 "</link>")  # fmt: skip


# ------------------------------------------------------------------------------- where it looks


def found_meshes(urdf, *roots):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.ModelFileWarning)
        return [*urdf.mesh_files(*roots).values()]


@pytest.mark.parametrize("kind", [str, pathlib.Path])
def test_one_path_is_one_root(tmp_path, kind):
    """A string is a path, not the list of its characters, of which "/" would be all files."""
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "m.stl").touch()
    (tmp_path / "secret").touch()
    root = kind(tmp_path / "inside")
    assert found_meshes(mb.parse_urdf(mesh(tmp_path / "secret")), root) == []
    inside = tmp_path / "inside" / "m.stl"
    assert found_meshes(mb.parse_urdf(mesh(inside)), root) == [inside.resolve()]
    path = tmp_path / "elsewhere" / "r.urdf"
    path.parent.mkdir()
    path.write_text(mesh(tmp_path / "secret"))
    with pytest.warns(mb.ModelFileWarning, match="is outside of the given folders"):
        mb.load_urdf(path, package_roots=root)


@pytest.mark.parametrize("roots", [3, None, "", [3], ["a\0"], b"/"])
def test_roots_that_are_no_paths_are_refused(roots):
    with pytest.raises(mb.UsageError, match="package_roots must be a folder, or a list of folders"):
        mb.parse_urdf(mesh("m.stl")).mesh_files(roots)


def test_a_text_of_no_file_has_no_folder(tmp_path, monkeypatch):
    """Not even the working directory is looked at."""
    (tmp_path / "m.stl").touch()
    monkeypatch.chdir(tmp_path)
    assert found_meshes(mb.parse_urdf(mesh("m.stl"))) == []
    assert found_meshes(mb.parse_urdf(mesh("m.stl"), source="r.urdf")) != []
    assert found_meshes(mb.parse_urdf(mesh("m.stl")), ".") != []


def test_nothing_outside_of_the_roots_is_looked_at(tmp_path, monkeypatch):
    """The name alone tells: no file system is asked, which may be slow or take note of it."""
    asked = []
    real = pathlib.Path.resolve
    monkeypatch.setattr(
        pathlib.Path, "resolve", lambda path, strict=False: asked.append(path) or real(path)
    )
    urdf = mb.parse_urdf(mesh("package://pack/../../secret"))
    assert found_meshes(urdf, tmp_path / "share") == []
    assert asked == [tmp_path / "share"]


# ----------------------------------------------------------------------------- how long it takes


def test_long_numbers_are_refused_unread():
    """A pattern that can split a run of digits in many ways would try them all."""
    text = robot('<link name="a"><inertial><mass value="{}"/></inertial></link>')
    with pytest.raises(mb.ModelFileError, match="of at most 400 characters, got 2000001: '1111"):
        mb.parse_urdf(text.format("1" * 2_000_000 + "x"))
    with pytest.raises(mb.ModelFileError, match="value must be a number, got '1111"):
        mb.parse_urdf(text.format("1" * 399 + "x"))


@pytest.mark.parametrize(
    ("word", "value"), [("1", 1), ("1.", 1), ("-.5", -0.5), ("+1.5e-3", 1.5e-3), ("0" * 400, 0)]
)
def test_numbers_that_are_read(word, value):
    urdf = mb.parse_urdf(
        robot(f'<link name="a"><visual><origin xyz="{word} 0 0"/><geometry><sphere radius="1"/>'
              "</geometry></visual></link>")
    )  # fmt: skip
    assert urdf.links[0].shapes[0].pose[0, 3] == value


@pytest.fixture
def guesses(monkeypatch):
    """Count how often a name is compared with all others."""
    made = []
    monkeypatch.setattr(
        difflib, "get_close_matches", lambda name, *_, **__: made.append(name) or []
    )
    return made


def test_names_are_guessed_for_the_faults_that_are_shown(guesses):
    """4000 wrong names of 4000 would be 1.6e7 comparisons, which take minutes: here it is 1000."""
    count = 1000
    links = "".join(f'<link name="link_{k}"/>' for k in range(count))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="lnk_{k}"/><child link="link_{k}"/></joint>'
        for k in range(count)
    )
    with pytest.raises(mb.ModelFileError, match="and 950 more"):
        mb.parse_urdf(robot(links + joints))
    assert len(guesses) == 50


@pytest.mark.long
def test_names_are_guessed_for_the_first_couplings_alone(guesses):
    count = 5000
    links = "".join(f'<link name="l{k}"/>' for k in range(count))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="a"/><child link="l{k}"/>'
        f'<mimic joint="k{k}"/></joint>'
        for k in range(count)
    )
    notes = mb.parse_urdf(robot('<link name="a"/>' + links + joints)).notes
    assert sum("is no joint" in note for note in notes) == count
    assert len(guesses) == 50


@pytest.mark.some(3)
@pytest.mark.parametrize("kind", ["bodies", "keys", "types"])
def test_names_in_toml_are_guessed_for_the_faults_that_are_shown(guesses, kind):
    count = 1000
    bodies = "".join(f"[bodies.body_{k}]\n" for k in range(count))
    if kind == "bodies":
        bodies += "".join(
            f"[joints.j{k}]\ntype = 'fixed'\npredecessor = 'world'\nsuccessor = 'bdy_{k}'\n"
            for k in range(count)
        )
    elif kind == "types":
        bodies += "".join(
            f"[joints.j{k}]\ntype = 'fxed'\npredecessor = 'world'\nsuccessor = 'body_{k}'\n"
            for k in range(count)
        )
    else:
        bodies = bodies.replace("]\n", "]\nmas = 1\n")
    path = pathlib.Path("m.toml")
    with pytest.raises(mb.ModelFileError, match="and 950 more"):
        mb.parse_model(HEAD + bodies, source=str(path))
    of_the_file = [each for each in guesses if each.startswith(("bdy_", "mas", "fxed"))]
    assert len(of_the_file) == 50  # classes of plugins that are installed are looked at besides


@pytest.mark.parametrize("text", ['"' + '\\"' * 300_000, '"""' + '\n\\"""' * 300_000])
def test_strings_without_an_end_are_looked_through_once(text):
    """From each quote to the end would take hours."""
    assert line_nested_deeper(f"[a]\n[[b]]\nc = {text}", 1) == 2
    assert line_nested_deeper(f"[a]\n[[b]]\nc = {text}", 2) == 0


def test_a_row_of_blanks_is_looked_through_once():
    """In the search for the table of a key that is given twice; ways to split it grow by cubes."""
    import tomllib

    text = f"[a]\nrow = [\n[{' ' * 100_000}\n1]]\nb = 1\nb = 2\n"
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    assert toml_fault(caught.value, text, "m.toml").startswith("gives a.b twice")


# ------------------------------------------------------------------------ what a terminal is told

# A sequence of escape, one of a single character, a mark that turns the line, and an end of line.
ODD = "\x1b[31m\x9b31m\u202e\u2066\u2028x"
SHOWN = "\\x1b[31m\\x9b31m\\u202e\\u2066\\u2028x"


def assert_harmless(message):
    assert all(line.isprintable() for line in str(message).split("\n")), repr(message)


def refusal(make, *arguments, **options):
    with pytest.raises(mb.MbkitError) as caught:
        make(*arguments, **options)
    assert_harmless(caught.value)
    return str(caught.value)


def test_text_of_a_urdf_is_shown_as_escapes():
    odd = ODD.replace("\x1b", "")  # which XML does not allow
    assert SHOWN[4:] in refusal(mb.parse_urdf, robot(f'<link name="{odd}"/>'))
    with pytest.warns(mb.ModelFileWarning) as caught:
        mb.parse_urdf(mesh(odd)).mesh_files()
    assert SHOWN[4:] in str(caught[0].message)
    assert_harmless(caught[0].message)
    assert SHOWN in refusal(mb.parse_urdf, "<robot/>", source=f"{ODD}.urdf")


def test_text_of_a_model_file_is_shown_as_escapes():
    parse = mb.parse_model
    escaped = '"\\u001b[31m\\u009b31m\\u202e\\u2066\\u2028x"'
    assert SHOWN in refusal(parse, f"{HEAD}{escaped} = 1\n")
    assert SHOWN in refusal(parse, f"{HEAD}[bodies.{escaped}]\nmass = -1\n")
    assert SHOWN in refusal(parse, "", source=f"{ODD}.toml")
    twice = '"a\x9b\u202e" = 1\n'
    assert "a\\x9b\\u202e" in refusal(parse, HEAD + twice * 2)


@pytest.mark.parametrize("suffix", ["toml", "urdf"])
def test_names_of_files_are_shown_as_escapes(tmp_path, suffix):
    path = tmp_path / f"{ODD}\n.{suffix}"
    assert SHOWN in refusal(mb.load_model, path)
    path.write_bytes(b"\xff")
    assert SHOWN in refusal(mb.load_model, path)
    path.unlink()
    path.mkdir()
    assert SHOWN in refusal(mb.save_model, mb.Mechanism("m"), path)


@pytest.mark.parametrize("name", ["a" * 300, "a\0"])
@pytest.mark.parametrize(
    "use",
    [
        lambda path: mb.load_model(f"{path}.toml"),
        lambda path: mb.load_urdf(f"{path}.urdf"),
        lambda path: mb.save_model(mb.Mechanism("m"), f"{path}.toml"),
        mb.load_result,
        lambda path: make_result().save(f"{path}.nc"),
        lambda path: make_result().save(path),
        mb.resume,
        lambda path: mb.load_study(f"{path}.toml"),
    ],
    ids=["model", "URDF", "save a model", "result", "save", "save under a stem", "resume", "study"],
)
def test_names_that_no_file_can_have_are_refused_by_name(tmp_path, use, name):
    with pytest.raises(mb.MbkitError, match="aaaa" if name[1] == "a" else r"a\\x00"):
        use(tmp_path / name)


def test_the_command_line_shows_escapes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path(f"{ODD}.urdf").write_text(mesh("x&#x9b;"))
    pathlib.Path(f"bad{ODD}.urdf").write_text("<robot/>")
    for command in (
        ["info", f"robot:{ODD}"],
        ["info", f"{ODD}.urdf"],
        ["info", f"none{ODD}.urdf"],
        ["info", f"bad{ODD}.urdf"],
        ["convert", f"{ODD}.urdf", f"{ODD}.toml"],
        ["convert", f"{ODD}.urdf", f"{ODD}.txt"],
        [f"comm{ODD}"],
        ["plot", f"{ODD}.urdf"],
    ):
        done = CliRunner().invoke(main, command)
        assert_harmless(done.output)
    assert os.path.exists(f"{ODD}.toml")


@pytest.mark.parametrize("wrong", ["no length", "too long"])
def test_heaps_of_texts_that_do_not_end_are_refused(tmp_path, wrong):
    """HDF5 goes on by the length of an object, which may be zero: it did not come back."""
    path = tmp_path / "run.nc"
    make_result().save(path)
    data = bytearray(path.read_bytes()[:-LINE_SIZE])
    heap = data.index(b"GCOL\1")
    if wrong == "no length":
        data[heap + 16 : heap + 32] = bytes(16)
    else:
        data[heap + 8 : heap + 16] = b"\xff" * 8
    path.write_bytes(bytes(data) + checksum_line(bytes(data)))
    with pytest.raises(mb.ResultFileError, match=r"is damaged: .* at byte"):
        mb.load_result(path)

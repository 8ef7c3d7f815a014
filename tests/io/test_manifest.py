"""The manifest of a run that somebody has changed is refused by name, by all who read it."""

from __future__ import annotations

import json

import pytest

import mbkit as mb
from mbkit.cli.main import main
from tests.studies.conftest import MODEL, STUDY


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A study and the directory of its run, as a process that was killed leaves it."""
    folder = tmp_path_factory.mktemp("stopped")
    (folder / "arm.toml").write_text(MODEL)
    (folder / "swing.toml").write_text(STUDY.replace("save_every", 'output = "run/"\nsave_every'))
    study = mb.load_study(folder / "swing.toml")
    study.run(study.output)
    (study.output / "result.nc").unlink()
    return study, (study.output / "manifest.json").read_text()


def with_value(text, path, value):
    manifest = table = json.loads(text)
    *places, key = path.split(".")
    for place in places:
        table = table[place]
    table[key] = value
    return json.dumps(manifest)


CASES = {
    "options.notes": 3, "options": [], "labels": 3, "labels.body_names": "x", "options.t_span": 1,
    "options.h": "1", "options.steps": True, "model_sha256": None, "integrator": [], "save": 1,
    "versions": 1, "environment": 1, "callables": 1,
}  # fmt: skip


@pytest.mark.parametrize(("path", "value"), CASES.items())
def test_values_of_other_kinds_are_named(stopped, path, value):
    study, text = stopped
    (study.output / "manifest.json").write_text(with_value(text, path, value))
    for read in (study.resume, lambda: mb.resume(study.output)):
        with pytest.raises(mb.ResultFileError, match=rf"is damaged: {path} must be a .*, got "):
            read()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 5000, "nested too deeply|Expecting value"),
        ('{"a":' * 100_000, "nested too deeply|Expecting value"),
        ("[]", "must be a table with 'mbkit_run'"),
        ("3", "must be a table with 'mbkit_run'"),
        ('{"mbkit_run": 1}', "must be a table with 'mbkit_run' and 'options'"),
        ("", "is not the manifest of a run: Expecting value"),
        ('{"mbkit_study": 1}', r"of a sweep or comparison, not of a run: open report\.html"),
    ],
    ids=["brackets", "braces", "list", "number", "bare", "empty", "study"],
)
def test_what_is_no_manifest_is_refused(stopped, capsys, text, message):
    study, _ = stopped
    (study.output / "manifest.json").write_text(text)
    with pytest.raises(mb.ResultFileError, match=message):
        study.resume()
    with pytest.raises(SystemExit, match="1"):
        main(["run", str(study.path), "--resume"])
    assert "Traceback" not in capsys.readouterr().err

"""Study files: TOML to a study that can be run."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mbkit.errors import ModelFileError, StudyFileError, printable
from mbkit.io.text_file import checked_path, read_text, shortened
from mbkit.io.toml_text.document import check_format, read_document
from mbkit.io.toml_text.lines import lines_of_keys
from mbkit.studies.changes import Changed, changed_document
from mbkit.studies.project import Project, find_project, load_plugin
from mbkit.studies.study import Study

if TYPE_CHECKING:
    from mbkit.io.toml.faults import Faults

__all__ = ["FORMAT_VERSION", "changed_study", "load_study"]

#: Version of the format, the value of the key ``mbkit_study``.
FORMAT_VERSION = 1

_MAX_SIZE = 1024 * 1024  # bytes


def load_study(path: str | os.PathLike[str], changes: Mapping[str, Any] | None = None) -> Study:
    """Return the study of a file, with its model assembled.

    The plugin of the project that the file is in is loaded, which runs the project's code.

    Parameters
    ----------
    path : str or path
        A TOML file as ``docs/projects.md`` describes it.
    changes : mapping of str to value, optional
        Other values than those of the file: by its keys, such as ``"h"`` or
        ``"initial.q.elbow"``, or by the parameters of the model, such as ``"bodies.arm.mass"``.

    Returns
    -------
    Study
        The study; ``run()`` simulates it.

    Raises
    ------
    StudyFileError
        If the file cannot be read, or it or the changes have faults. All that can be seen at once
        are in the message, each with its line, or the change. Also if the plugin of its project
        is skipped: its names would mean other objects, or none.
    ModelFileError
        If the model file has faults.
    ModelError
        If the model cannot be assembled.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import mbkit as mb
    >>> from mbkit.studies import new_project
    >>> folder = new_project(pathlib.Path(tempfile.mkdtemp()) / "doctest-study")
    >>> study = mb.load_study(folder / "studies" / "swing.toml", {"t_span": [0, 0.5]})
    >>> run = study.run()
    >>> run.options["notes"]["study"], float(run.t[-1])
    ('studies/swing.toml', 0.5)
    """
    source = checked_path(path, "load_study").absolute()
    what, name = f"Study file '{printable(path)}'", printable(source.name)
    try:
        text = read_text(source, what, _MAX_SIZE)
        document = read_document(text, what, name)
        check_format(document, "mbkit_study", FORMAT_VERSION, text, what, name)
    except ModelFileError as error:
        raise StudyFileError(str(error)) from error
    return _study(source, document, changes or {}, text, what)


def changed_study(
    path: pathlib.Path, settings: Mapping[str, Any], changes: Mapping[str, Any]
) -> Study:
    """Return a study with other values; its file is not read again, but that of its model.

    Parameters
    ----------
    path : path
        Of the file.
    settings : mapping
        Its tables: `Study.settings`.
    changes : mapping of str to value
        As of `load_study`, which raises the same.

    Returns
    -------
    Study
        The study.
    """
    what = f"Study file '{printable(path)}'"
    return _study(path, {"mbkit_study": FORMAT_VERSION, **settings}, changes, "", what)


def _study(
    source: pathlib.Path,
    document: Mapping[str, Any],
    changes: Mapping[str, Any],
    text: str,
    what: str,
) -> Study:
    """Return the study of a document that stands in a text."""
    from mbkit.studies.study_tables import read_study

    name = printable(source.name)
    document, changed = changed_document(document, changes)
    project = find_project(source.parent, source)
    plugin = "" if project is None else _plugin_of(project, what)
    root = source.parent if project is None else project.root
    study, faults = read_study(source, root, document, plugin)
    if study is None:
        lines = _told(faults, changed, text, name)
        count = "a fault" if len(lines) == 1 else f"{len(lines)} faults"
        raise StudyFileError(f"{what} has {count}:\n" + "\n".join(lines))
    return study


def _plugin_of(project: Project, what: str) -> str:
    """Load the plugin of a study's project; return its name and version, empty if it has none."""
    plugin = load_plugin(project, warn=False)
    if plugin is None:
        return ""
    if plugin.fault:
        raise StudyFileError(
            f"{what} cannot be run without the plugin of its project, '{printable(plugin)}' in "
            f"'{printable(project.root)}', which was skipped: {plugin.fault}"
        )
    return str(plugin)


def _told(faults: Faults, changed: Changed, text: str, name: str) -> list[str]:
    """Return a line for each fault: of a change with the change, of the file with its line."""
    by_name = {".".join(path): path for path in lines_of_keys(text)}  # of flat parameters too
    lines, of_file = [], []
    for path, message, hint in faults.found:
        starts = (path[:length] for length in range(len(path), 0, -1))
        given = next((changed[start] for start in starts if start in changed), None)
        if given is None:
            of_file.append((by_name.get(".".join(path), path), message, hint))
        else:
            lines.append(f"set {shortened(given)}: {shortened(message + hint())}")
    faults.found = of_file
    return lines + faults.told(text, name, len(of_file))

"""Projects: folders whose ``pyproject.toml`` has a table ``[tool.mbkit]``, and their plugins."""

from __future__ import annotations

import importlib
import os
import pathlib
import sys
import warnings
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

import attrs

from mbkit.errors import ModelFileError, PluginWarning, UsageError, printable
from mbkit.io.text_file import checked_path, read_text
from mbkit.io.toml_text.document import read_document
from mbkit.studies.sources import changed_sources

if TYPE_CHECKING:
    from mbkit.plugins import Plugin

__all__ = ["Project", "find_project", "load_plugin", "load_project", "load_working_project"]

_FILE = "pyproject.toml"
_MAX_SIZE = 1024 * 1024  # bytes

#: Folders of a project in which its plugin may be.
_SOURCES = ("src", ".")


@attrs.frozen
class Project:
    """A folder with models, studies and, perhaps, a plugin.

    Attributes
    ----------
    root : path
        The folder of its ``pyproject.toml``.
    name, version : str
        As the file has them.
    plugin : str
        The module with the project's hooks; empty where there is none.
    """

    root: pathlib.Path
    name: str
    version: str
    plugin: str


def load_project(path: str | os.PathLike[str] = ".") -> Project:
    """Return the project that a file or folder is in, and load its plugin.

    Its joints, forces and whatever else it provides are known by their names from then on, also to
    `load_model`. The plugin need not be installed. Loading it runs the project's code.

    Parameters
    ----------
    path : str or path
        A file or folder of the project; the working directory if left out.

    Returns
    -------
    Project
        The project. Where its plugin is at fault, a `PluginWarning` has the reason.

    Raises
    ------
    UsageError
        If no folder from there upwards has a ``pyproject.toml`` with a table ``[tool.mbkit]``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mbkit.studies import new_project
    >>> folder = new_project(pathlib.Path(tempfile.mkdtemp()) / "doctest-project")
    >>> load_project(folder / "models").name
    'doctest-project'
    """
    start = checked_path(path, "load_project")
    project = find_project(start, start)
    if project is None:
        raise UsageError(
            f"'{printable(start)}' is in no project: no folder from there upwards has a {_FILE} "
            "with a table [tool.mbkit]; make one by 'mbkit new NAME'."
        )
    load_plugin(project)
    return project


def find_project(start: pathlib.Path, named: pathlib.Path | None) -> Project | None:
    """Return the nearest project upwards of a file or folder, or None. Nothing of it is run.

    The owner of the file or folder that the user has named is trusted by that. Other projects than
    those of that user, the user's own and those of the administrator are passed over with a
    `PluginWarning`: a ``pyproject.toml`` in a folder above, such as one for temporary files, may be
    anyone's, and would decide whose code is run and where results are written.
    """
    start = start.absolute()
    for folder in (start, *start.parents):
        file = folder / _FILE
        if not os.path.isfile(file):
            continue
        document = _read(file)
        table = _table(_table(document, "tool"), "mbkit", None)
        if table is None:
            continue
        if stranger := _stranger(file, named):
            warnings.warn(stranger, PluginWarning, 2)
            continue
        about = _table(document, "project")
        name, version = (str(about.get(key, "")) for key in ("name", "version"))
        return Project(folder, name or folder.name, version, str(table.get("plugin", "")))
    return None


def _table(document: Mapping[str, Any], key: str, default: Any = MappingProxyType({})) -> Any:
    """Return the table of a key; `default` where it is none."""
    value = document.get(key)
    return value if isinstance(value, dict) else default


def load_working_project() -> None:
    """Load the plugin of the project that the working directory is in, if it is in one."""
    project = find_project(pathlib.Path(), None)
    if project is not None:
        load_plugin(project)


def load_plugin(project: Project, *, warn: bool = True) -> Plugin | None:
    """Load the plugin of a trusted project, whose code is run; None if the project has none.

    With its fault where it was skipped, which is issued as a `PluginWarning` on request.
    """
    from mbkit.plugins import Plugin, registry

    if not project.plugin:
        return None
    about = Plugin(project.name, project.version, str(project.root))
    plugin = registry().add(about, lambda: _imported(project), warn=warn)
    changed_sources(project.root)  # from now on
    return plugin


def _stranger(file: pathlib.Path, named: pathlib.Path | None) -> str:
    """Return a warning where a project belongs to somebody who is not trusted by name."""
    owner = file.stat().st_uid
    trusted = {os.getuid(), 0}
    if named is not None and os.path.exists(named):
        trusted.add(named.stat().st_uid)
    if owner in trusted:
        return ""
    return (
        f"The project '{printable(file.parent)}' is passed over: its {_FILE} belongs to another "
        f"user (number {owner}). If you trust it, name a file of the project that is that user's, "
        "as in mbkit run STUDY."
    )


def _read(file: pathlib.Path) -> dict[str, Any]:
    """Return the tables of a pyproject.toml; empty, with a warning, where it is none."""
    what = f"'{printable(file)}'"
    try:
        return read_document(read_text(file, what, _MAX_SIZE), what, file.name)
    except ModelFileError as error:
        warnings.warn(f"{error} What it says of a project is left out.", PluginWarning, 2)
        return {}


def _imported(project: Project) -> ModuleType:
    """Return the module of a project's plugin, from the project and from nowhere else."""
    parts = project.plugin.split(".")
    if not all(map(str.isidentifier, parts)):
        raise ImportError(
            f"'{project.plugin}' in {project.root / _FILE} must be a module, such as 'name.plugin'"
        )
    places = [project.root.joinpath(source, *parts) for source in _SOURCES]
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    found = next((file for file in files if os.path.isfile(file)), None)
    if found is None:
        raise ImportError(
            f"there is no module '{project.plugin}'; {project.root / _FILE} names it, and it would "
            f"be {files[0]}"
        )
    source = str(project.root / _SOURCES[files.index(found) // 2])
    if source not in sys.path:
        sys.path.insert(0, source)
    importlib.invalidate_caches()  # files may be newer than what Python remembers of their folders
    module = importlib.import_module(project.plugin)
    where = getattr(module, "__file__", None) or "nowhere"
    if not os.path.exists(where) or not os.path.samefile(where, found):
        raise ImportError(
            f"the module '{project.plugin}' was imported from {where} before; start anew, or "
            "rename one of them"
        )
    return module

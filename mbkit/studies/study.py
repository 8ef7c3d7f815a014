"""A study: one simulation as its file describes it, ready to be run."""

from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import attrs

import mbkit.studies.laboratory as laboratory
from mbkit.errors import PluginWarning, UsageError, listed, printable
from mbkit.io.results.run_directory import RunDirectory
from mbkit.model.toml_text import render
from mbkit.simulation.long_runs.resume import resume
from mbkit.simulation.simulate import simulate
from mbkit.studies.commit import commit_of
from mbkit.studies.sources import changed_sources

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mbkit.events import Event
    from mbkit.integrators import Integrator
    from mbkit.results import Result
    from mbkit.studies.laboratory.findings.findings import Findings
    from mbkit.systems import System

__all__ = ["Study"]


@final
@attrs.frozen(eq=False, repr=False, kw_only=True)
class Study:
    """The content of a study file, with its model assembled; `load_study` makes it.

    Attributes
    ----------
    path : path
        The study file.
    root : path
        The folder of its project; that of the file where there is none.
    system : System
        The model with the study's forces and parameters.
    integrator : Integrator
        The method.
    t_span : tuple of two floats
        Start and end. [s]
    h : float or None
        Step; None for an integrator that chooses its steps. [s]
    q, v : ndarray, shape (nq,), (nv,)
        State at the start.
    events : tuple of Event
        Events that are looked for during the run.
    save_every : int
        Steps between saved states.
    save_at : ndarray, optional
        Times of the saved states instead. [s]
    outputs : tuple of str
        Further outputs that runs record, as the `outputs` of `simulate`.
    save : tuple of str
        Quantities that a run directory keeps.
    dtype : str
        Number type of positions and velocities in a run directory.
    output : path
        Where ``mbkit run`` writes the result.
    is_directory : bool
        Whether `output` is a run directory and not a file.
    settings : mapping
        The tables of the file, with changes: all settings on which results depend.
    plugin : str
        Name and version of the project's plugin; empty where there is none.
    about : str
        The description in the file.
    tables : mapping of str to mapping
        The tables ``compare``, ``convergence``, ``work_precision``, ``ensemble``, ``sensitivity``,
        ``scaling`` and ``sweep`` that the file has: arguments of the functions of these names in
        `mbkit.studies`, with ``workers`` and ``scheduler`` of the executor.
    document : mapping
        The file, as TOML has it, with changes.
    """

    path: pathlib.Path
    root: pathlib.Path
    system: System
    integrator: Integrator
    t_span: tuple[float, float]
    h: float | None
    q: npt.NDArray[np.float64]
    v: npt.NDArray[np.float64]
    events: tuple[Event, ...]
    save_every: int
    save_at: npt.NDArray[np.float64] | None
    save: tuple[str, ...]
    dtype: str
    output: pathlib.Path
    is_directory: bool
    settings: Mapping[str, Any]
    plugin: str
    outputs: tuple[str, ...] = ()
    about: str = ""
    tables: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    document: Mapping[str, Any] = attrs.field(factory=dict)

    def __repr__(self) -> str:
        by = "" if self.h is None else f" by {self.h} s"
        return f"<Study '{self.path}': {self.t_span} s{by}, {self.system!r}>"

    @property
    def name(self) -> str:
        """Its file, as seen from the project."""
        try:
            return self.path.relative_to(self.root).as_posix()
        except ValueError:  # through a link
            return str(self.path)

    def run(self, output: str | os.PathLike[str] | None = None, *, progress: bool = True) -> Result:
        """Simulate it.

        Parameters
        ----------
        output : str or path, optional
            A new directory to which the run is written while it goes, as for `simulate`. If left
            out, the result is in memory alone; ``self.output`` is where ``mbkit run`` keeps it.
        progress : bool
            As for `simulate`.

        Returns
        -------
        Result
            As of `simulate`. ``options["notes"]`` has the name of the study, all its settings, and
            the commit of the project in git.
        """
        kept: dict[str, Any] = {} if output is None else {"save": self.save, "dtype": self.dtype}
        return simulate(
            self.system, self.t_span, self.h, integrator=self.integrator, q=self.q, v=self.v,
            events=self.events, save_every=self.save_every, save_at=self.save_at, output=output,
            outputs=self.outputs, progress=progress, notes=self.notes(), **kept,
        )  # fmt: skip

    def text(self) -> str:
        """Return the file as TOML, with changes.

        Returns
        -------
        str
            The content of a new study file; ``model`` is as seen from its folder.
        """
        return render(self.document)

    @property
    def kind(self) -> str:
        """The table that makes it another study than one run, such as "compare"; or empty."""
        return next((name for name in self.tables if name != "sweep"), "")

    def findings(
        self, directory: str | os.PathLike[str] | None = None, *, progress: bool = False
    ) -> Findings:
        """Run the study of its table ``compare``, ``convergence``, ``ensemble``, ...

        Integrator, coordinates and step are those of the study where the table has none.

        Parameters
        ----------
        directory : str or path, optional
            Where it is kept; one that is there goes on. In memory alone if left out.
        progress : bool
            As of `mbkit.studies.compare`.

        Returns
        -------
        Findings
            As of the function of that name in `mbkit.studies`.

        Raises
        ------
        UsageError
            If there is no such table, or the function refuses its arguments.
        """
        return laboratory.findings_of(self, directory, progress=progress)

    def resume(
        self,
        output: str | os.PathLike[str] | None = None,
        *,
        other_versions: bool = False,
        progress: bool = True,
    ) -> Result:
        """Continue a run of it that was interrupted, bit for bit; see `mbkit.resume`.

        Parameters
        ----------
        output : str or path, optional
            The directory of the run; ``self.output`` if left out.
        other_versions, progress : bool
            As for `mbkit.resume`.

        Returns
        -------
        Result
            As of `mbkit.resume`. It carries the commit at which the run began.

        Raises
        ------
        UsageError
            If the run was begun with other settings than the study has now, or anything else
            differs that `mbkit.resume` looks at.
        """
        place = RunDirectory(self.output if output is None else output)
        notes = place.read_manifest()["options"].get("notes", {})
        before = {key: x for key, x in notes.get("settings", {}).items() if key != "about"}
        changed = _changed(before, self.settings)
        if changed:
            raise UsageError(
                f"The run in '{place.path}' began with other settings than study '{self.name}' has "
                "now:"
                + "".join(f"\n  {each}" for each in changed)
                + "\nGo on with what it began with, or start a new run."
            )
        return resume(
            place.path, system=self.system, integrator=self.integrator, events=self.events,
            other_versions=other_versions, progress=progress,
        )  # fmt: skip

    def notes(self) -> dict[str, Any]:
        """Return the notes of results on the study, with the current commit of git.

        Returns
        -------
        dict
            ``study``, ``settings`` with the description, and those of `code_notes`.
        """
        settings = ({"about": self.about} if self.about else {}) | dict(self.settings)
        return {"study": self.name, "settings": settings} | self.code_notes()

    def code_notes(self) -> dict[str, Any]:
        """Return the notes of results on the code of the project, as it is now.

        Returns
        -------
        dict
            ``plugin`` where the project has one, and the result of `commit_of`. Where files of the
            project have changed since its plugin was loaded, their names are under
            ``changed_since_loaded`` and there is no commit, for the code that runs may be that of
            none; a `PluginWarning` is issued.
        """
        if not self.plugin:
            return commit_of(self.root)
        notes: dict[str, Any] = {"plugin": self.plugin}
        changed = changed_sources(self.root)
        if not changed:
            return notes | commit_of(self.root)
        warnings.warn(
            f"{listed(map(printable, changed))} of the project '{printable(self.root)}' changed "
            "after being loaded: the study runs with the code as it was then, and its result "
            "carries no commit. Start Python anew to run the new code.",
            PluginWarning,
            stacklevel=4,
        )
        return notes | {"changed_since_loaded": changed}


def _changed(before: Any, now: Any, path: str = "") -> list[str]:
    """Return which settings differ, a line each."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        names = [*before, *(name for name in now if name not in before)]
        return [
            line
            for name in names
            for line in _changed(before.get(name), now.get(name), f"{path}.{name}".strip("."))
        ]
    if before == now:
        return []
    texts = ("left out" if value is None else repr(value) for value in (before, now))
    return [f"{path} was {next(texts)}, is {next(texts)}."]

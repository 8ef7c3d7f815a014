"""``mbkit run``: what a study file describes."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

import click

from mbkit.cli.compare import tell_findings
from mbkit.cli.compiling import compiling_announced
from mbkit.cli.files import EXISTING
from mbkit.cli.long_runs import tell_directory, tell_if_completed
from mbkit.cli.models import told
from mbkit.cli.results import check_output, keep
from mbkit.errors import printable
from mbkit.studies import load_study
from mbkit.studies.changes import parsed_change

if TYPE_CHECKING:
    from mbkit.studies import Study


@click.command(short_help="Run a study of a project.")
@click.argument("study", type=EXISTING)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="PATH=VALUE",
    help="Another value than the file's: of one of its keys, or of a parameter of the model. May "
    "be repeated.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    help="Result file, or directory ending in '/', instead of the study's; anywhere.",
)
@click.option("--force", is_flag=True, help="Replace the result file if it exists.")
@click.option("--resume", is_flag=True, help="Go on with the run in the study's directory.")
@click.option(
    "--other-versions",
    is_flag=True,
    help="Resume although versions or the processor differ; the last bits may too.",
)
def run(
    study: pathlib.Path,
    changes: tuple[str, ...],
    output: str | None,
    force: bool,
    resume: bool,
    other_versions: bool,
) -> None:
    """Run STUDY, a TOML file that names a model and says how it is simulated.

    The result goes below the folder 'results' of the project, and carries the study, all its
    settings, and the commit of git. The plugin of the project is loaded: running a study runs the
    project's code, so look at projects of others first.

    A study with a table [compare] is a comparison: its result is a directory with a report, and
    started again, it does what is missing.

    With --set, keys of the study are changed by their names (h, t_span, initial.q.JOINT,
    integrator.tableau), and parameters of the model (bodies.BODY.mass, joints.JOINT.pitch,
    forces.FORCE.stiffness, gravity).

    \b
    Examples:
      mbkit run studies/swing.toml
      mbkit run studies/swing.toml --set h=1e-4 -o results/fine.nc
      mbkit run studies/swing.toml --set initial.q.hinge=0.5 --set bodies.rod.mass=2 --force
      mbkit run studies/long.toml --resume
    """
    with compiling_announced():
        loaded: Study = told(lambda: load_study(study, dict(map(parsed_change, changes))))
        target, is_directory = loaded.output, loaded.is_directory
        if output is not None:
            target, is_directory = pathlib.Path(output), output.endswith("/")
        else:
            target = _shortest(target)
        if force and (resume or is_directory):
            _refuse_force(target, is_directory=is_directory)
        if resume:
            _go_on(loaded, target, is_directory, other_versions=other_versions)
            return
        if loaded.comparison:
            target.parent.mkdir(parents=True, exist_ok=True)
            place = target if is_directory else target.with_suffix("")
            tell_findings(loaded.compare(place, progress=True))
            return
        if output is None:
            target.parent.mkdir(parents=True, exist_ok=True)  # git keeps no empty folders
        if is_directory:
            tell_directory(loaded.run(target), target)
            return
        check_output(target, force=force)
        keep(loaded.run, target)


def _shortest(path: pathlib.Path) -> pathlib.Path:
    """Return a path as seen from the working directory, if it is in it."""
    try:
        return path.relative_to(pathlib.Path.cwd())
    except ValueError:
        return path


def _refuse_force(target: pathlib.Path, *, is_directory: bool) -> None:
    """Say that --force replaces files alone."""
    what = f"the directory '{printable(target)}'" if is_directory else "a run that goes on"
    remedy = "delete it first, or give another one by -o" if is_directory else "leave one out"
    raise click.UsageError(f"--force replaces a result file, and not {what}; {remedy}.")


def _go_on(study: Study, target: pathlib.Path, is_directory: bool, *, other_versions: bool) -> None:
    if not is_directory:
        raise click.UsageError(
            f"--resume needs a run in a directory, and the study writes the file "
            f"'{printable(target)}' at its end; let its 'output' end in /."
        )
    tell_if_completed(target)
    tell_directory(study.resume(target, other_versions=other_versions), target)

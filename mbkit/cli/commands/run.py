"""``mbkit run``: runs described by study files."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

import mbkit as mb
from mbkit.cli.commands.compare import tell_findings
from mbkit.cli.compiling import compiling_announced
from mbkit.cli.files import EXISTING
from mbkit.cli.models import told
from mbkit.cli.remedies import goes_on_by, on_the_command_line
from mbkit.cli.results import Interrupted, check_output, keep, tell_directory, tell_resumed
from mbkit.errors import MbkitError, listed, printable
from mbkit.studies.changes import parsed_change

if TYPE_CHECKING:
    from mbkit.studies import Study


@click.command(short_help="Run studies of a project.")
@click.argument("studies", type=click.Path(path_type=pathlib.Path), nargs=-1, required=True)
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
    help="Result file, or directory ending in '/', instead of the study's; anywhere. Of one study "
    "alone.",
)
@click.option("--force", is_flag=True, help="Replace the result file if it exists.")
@click.option("--resume", is_flag=True, help="Go on with the run in the study's directory.")
@click.option(
    "--other-versions",
    is_flag=True,
    help="Resume although versions or the processor differ; the last bits may too.",
)
def run(
    studies: tuple[pathlib.Path, ...],
    changes: tuple[str, ...],
    output: str | None,
    force: bool,
    resume: bool,
    other_versions: bool,
) -> None:
    """Run STUDIES, TOML files that name a model and say how it is simulated, one after the other.

    A study that fails stops no other; the last line names those that failed, and the exit code is
    1. Ctrl-C ends the study that runs, and starts none after it.

    The result of a study goes below the folder 'results' of the project, and carries the study,
    all its settings, and the commit of git. The plugin of the project is loaded: running a study
    runs the project's code, so look at projects of others first.

    A study with a table [compare], [convergence], [work_precision], [ensemble], [sensitivity] or
    [scaling] is more than one run: its result is a directory with a report, and started again, it
    does what is missing.

    With --set, keys of the study are changed by their names (h, t_span, initial.q.JOINT,
    integrator.tableau), and parameters of the model (bodies.BODY.mass, joints.JOINT.pitch,
    forces.FORCE.stiffness, gravity).

    \b
    Examples:
      mbkit run studies/swing.toml
      mbkit run studies/swing.toml --set h=1e-4 -o results/fine.nc
      mbkit run studies/swing.toml --set initial.q.hinge=0.5 --set bodies.rod.mass=2 --force
      mbkit run studies/long.toml --resume
      mbkit run studies/swing.toml studies/wind.toml --set h=5e-4
    """
    context = click.get_current_context()

    def run_one(study: pathlib.Path) -> None:
        EXISTING.convert(study, context.command.params[0], context)
        try:
            _run(
                study, changes, output, written, force=force, resume=resume,
                other_versions=other_versions,
            )  # fmt: skip
        except KeyboardInterrupt:  # before the first step, or again while the result was written
            raise Interrupted(
                f"Interrupted by the user in {printable(study)} before there was a result."
            ) from None

    written: dict[pathlib.Path, pathlib.Path] = {}
    if len(studies) == 1:
        run_one(studies[0])
    else:
        if output is not None:
            raise click.UsageError("--output is the place of one study; leave it out, or run one.")
        _run_all(studies, run_one)


def _run_all(studies: Sequence[pathlib.Path], run_one: Callable[[pathlib.Path], None]) -> None:
    """Run studies one after the other; an error that names those that failed, at the end."""
    failed: list[pathlib.Path] = []
    for number, study in enumerate(studies, 1):
        click.echo(f"[{number}/{len(studies)}] {printable(study)}")
        try:
            run_one(study)
        except Interrupted as error:
            _tell_error(error.format_message())
            left = listed(studies[number:], printable)
            raise click.ClickException(
                f"Interrupted in {printable(study)}." + (f" Not started: {left}." if left else "")
            ) from None
        except click.ClickException as error:
            failed.append(study)
            _tell_error(error.format_message())
        except (MbkitError, OSError, MemoryError) as error:
            if click.get_current_context().find_root().params.get("debug"):
                raise
            failed.append(study)
            _tell_error(on_the_command_line(str(error)))
    if failed:
        raise click.ClickException(
            f"{len(failed)} of {len(studies)} studies failed: {listed(failed, printable)}."
        )


def _tell_error(message: str) -> None:
    click.echo("\n".join(map(printable, f"Error: {message}".split("\n"))), err=True)


def _run(
    study: pathlib.Path,
    changes: tuple[str, ...],
    output: str | None,
    written: dict[pathlib.Path, pathlib.Path],
    *,
    force: bool,
    resume: bool,
    other_versions: bool,
) -> None:
    """Run one study; `written` are the places that others have written to."""
    with compiling_announced():
        loaded: Study = told(lambda: mb.load_study(study, dict(map(parsed_change, changes))))
        target, is_directory = loaded.output, loaded.is_directory
        if output is not None:
            target, is_directory = pathlib.Path(output), output.endswith("/")
        else:
            target = _shortest(target)
        if (other := written.setdefault(target.resolve(), study)) is not study:
            raise click.UsageError(
                f"'{printable(target)}' has the result of {printable(other)} already; give the "
                f"studies outputs of their own."
            )
        given = [*(text for each in changes for text in ("--set", each))]
        given += [] if output is None else ["-o", output]
        goes_on_by(("mbkit", "run", str(study), *given, "--resume"))
        if force and (resume or is_directory):
            _refuse_force(target, is_directory=is_directory)
        if resume:
            _go_on(loaded, target, is_directory, other_versions=other_versions)
            return
        if loaded.kind:
            target.parent.mkdir(parents=True, exist_ok=True)
            place = target if is_directory else target.with_suffix("")
            tell_findings(loaded.findings(place, progress=True))
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
    tell_resumed(lambda: study.resume(target, other_versions=other_versions), target)

"""``mbkit compare`` and ``mbkit report``: studies of the cost and accuracy of choices."""

from __future__ import annotations

import pathlib
import re
from typing import TYPE_CHECKING, Any

import click

from mbkit import studies
from mbkit.cli.assignments import numbers_of
from mbkit.cli.compiling import compiling_announced
from mbkit.cli.executor_options import where_options
from mbkit.cli.models import MODEL, floating_option, load, mimic_option
from mbkit.errors import UsageError, printable
from mbkit.model.toml_text import render

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbkit.studies import Findings

#: Commas between choices; those within brackets are of their options.
_BETWEEN = re.compile(r",(?![^(]*\))")


def _choices(text: str | None, *, alone: tuple[str, ...] = ("all", "eight")) -> Any:
    """Return the names of an option, or the word that stands for all of them."""
    if text is None or text in alone:
        return text
    return [part.strip() for part in _BETWEEN.split(text) if part.strip()]


def _factor(name: str, names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(name, metavar="NAMES", help=names)


@click.command(short_help="Compare coordinates, integrators and steps on a model.")
@click.argument("model", type=MODEL)
@click.option("--h", "steps", default="1e-3", show_default=True, help="Steps [s], with commas.")
@click.option("--t-end", type=float, default=1.0, show_default=True, help="End time [s].")
@_factor(
    "--integrators",
    "rkmk1 ... rkmk8, generalized_alpha, bliedf3, rattlie, ...; options in "
    "brackets, as generalized_alpha(rho_inf=0.6). Default: rkmk4.",
)
@_factor(
    "--joint-coordinates",
    "group, first_kind, second_kind, of joints that have the choice; all. Default: their own.",
)
@_factor(
    "--coordinates",
    "relative, absolute, ORIENTATION/LOCAL; eight, those of Mueller 2021; all. Default: relative.",
)
@_factor("--representations", "Of relative coordinates: body_fixed, spatial, hybrid, mixed; all.")
@_factor("--body-frames", "Of relative coordinates: joint, user, com, world; all.")
@_factor("--loop-joints", "Cuts of relative coordinates, with commas; joints of one cut with +.")
@_factor("--constraint-solvers", "schur_complement, null_space, minimum_norm, automatic; all.")
@_factor("--stabilisations", "projection, none, baumgarte(frequency=50).")
@click.option(
    "--q",
    "positions",
    multiple=True,
    metavar="NAME=VALUE",
    help="Initial position of a joint; several values separated by commas. May be repeated.",
)
@click.option(
    "--v",
    "velocities",
    multiple=True,
    metavar="NAME=VALUE",
    help="Initial velocity of a joint, likewise.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=0),
    help="How often each case is timed. Default: 3; 0 where cases run side by side.",
)
@click.option("--operations", is_flag=True, help="Count operations, some seconds a combination.")
@click.option("--samples", type=click.IntRange(min=1), help="Instants that are compared.")
@click.option(
    "--reference",
    type=click.Path(exists=True, path_type=pathlib.Path),
    help="Result file that is taken for exact. Default: computed, of order 8.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    help="Directory for tables and report; one that is there goes on.",
)
@where_options
@floating_option
@mimic_option
def compare(
    *,
    model: pathlib.Path,
    steps: str,
    t_end: float,
    positions: tuple[str, ...],
    velocities: tuple[str, ...],
    repeats: int | None,
    operations: bool,
    samples: int | None,
    reference: pathlib.Path | None,
    output: pathlib.Path | None,
    floating: bool,
    mimic: str,
    loop_joints: str | None,
    executor: str | None,
    workers: int | None,
    scheduler: str | None,
    time_limit: float | None,
    **factors: str | None,
) -> None:
    """Run MODEL in every combination of what is given; compare errors, drifts, time and work.

    Without --output, a table is printed. With it, the directory gets a report in one page of HTML,
    all tables, and each case as soon as it is measured: started again, the command does what is
    missing.

    \b
    Examples:
      mbkit compare arm.toml --h 1e-3,5e-4 --representations all --integrators rkmk4,bliedf3
      mbkit compare top.toml --v tip=0,0,30 --coordinates all --h 1e-2,5e-3 -o top-study
      mbkit compare arm.toml --integrators rkmk4,bliedf3 --executor processes --workers 4
      mbkit compare bars.toml --q motor=1 --loop-joints knee,ankle --integrators rkmk4,rkmk5
    """
    from mbkit.studies.laboratory.directory import StudyDirectory
    from mbkit.studies.laboratory.tasks import executor_of

    given: dict[str, Any] = {
        name: _choices(text) for name, text in factors.items() if text is not None
    }
    if loop_joints is not None:
        given["loop_joints"] = [cut.split("+") for cut in _choices(loop_joints, alone=())]
    both = {"q": numbers_of(positions, "--q"), "v": numbers_of(velocities, "--v")}
    start: dict[str, Any] = {name: values for name, values in both.items() if values}
    given |= {"repeats": repeats, "samples": samples, "operations": operations}
    h = [_step(each) for each in steps.split(",")]
    where = {
        "executor": executor, "workers": workers, "scheduler": scheduler, "time_limit": time_limit
    }  # fmt: skip
    asked = {**given, "h": h, "reference": reference and str(reference.absolute()), **where}
    place = output and StudyDirectory(output, text=_as_study(model.name, t_end, start, asked))
    mechanism = load(model, floating=floating, mimic=mimic)
    with compiling_announced():
        found = studies.compare(
            mechanism, (0.0, t_end), h, reference=reference, directory=place, progress=True,
            executor=executor_of(executor, workers=workers, scheduler=scheduler),
            time_limit=time_limit, **given, **start,
        )  # fmt: skip
    tell_findings(found)


def _as_study(model: str, t_end: float, start: dict[str, Any], asked: dict[str, Any]) -> str:
    """Return the equivalent study file, beside the model in the directory."""
    table = {name: each for name, each in asked.items() if each is not None}
    document: dict[str, Any] = {
        "mbkit_study": 1, "about": f"A comparison of {model}", "model": "model.toml",
        "t_span": [0.0, t_end],
    }  # fmt: skip
    if start:
        document["initial"] = start
    return render({**document, "compare": table})


def _step(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--h: '{text}' is no number of seconds; for example 1e-3,5e-4.") from None


#: Rows of cases and of failures that are printed, at most.
MOST_ROWS = 40


def tell_findings(found: Findings) -> None:
    """Print the main table, of a comparison the fastest methods; and the path of the report."""
    from mbkit.studies.laboratory.findings.report import columns_of, fastest

    cases = found.tables["cases"]
    best = fastest(cases)
    if found.table is not cases:
        click.echo(found.table.markdown(columns_of(found.table)))
    elif found.directory is None or not len(best):
        few = ("error", "time", "evaluations", "energy_drift", "constraint_position", "status")
        click.echo(cases.markdown([n for n in columns_of(cases) if n in (*cases.varied, *few)]))
    if len(best):
        click.echo(f"\nFastest to an error:\n{best.markdown()}")
    for row in found.failed.rows[:MOST_ROWS]:
        choices = ", ".join(str(row[name]) for name in cases.varied)
        click.echo(f"Not completed: {choices}: {printable(row['status'])}", err=True)
    if len(found.failed) > MOST_ROWS:
        click.echo(f"... and {len(found.failed) - MOST_ROWS} more.", err=True)
    for row in found.warned.rows[:1]:
        choices = ", ".join(str(row[name]) for name in cases.varied)
        said = f"{len(found.warned)} of {len(cases)} runs have warned, first {choices}"
        click.echo(f"{said}: {printable(row['warnings'])}", err=True)
    if found.directory is not None:
        click.echo(f"Wrote {printable(found.directory / 'report.html')}: {len(cases)} cases.")


@click.command(short_help="Write the report of a study again.")
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=pathlib.Path))
def report(directory: pathlib.Path) -> None:
    """Write tables and report of DIRECTORY, a study, from the cases that are finished.

    \b
    Example:
      mbkit report top-study
    """
    from mbkit.studies.laboratory.findings.report import write

    found = studies.load_findings(directory)
    write(found, directory)
    tell_findings(found)

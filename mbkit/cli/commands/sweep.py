"""``mbkit sweep``: a study at each point of a grid."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import attrs
import click

import mbkit as mb
from mbkit import studies
from mbkit.cli.compiling import compiling_announced
from mbkit.cli.executor_options import where_options, with_options
from mbkit.cli.files import EXISTING
from mbkit.cli.models import told
from mbkit.errors import UsageError, printable
from mbkit.studies.changes import parsed_change, parsed_values

if TYPE_CHECKING:
    from mbkit.studies import Findings, Study

#: Rows that are printed, at most: of the table, and of the points that failed.
MOST_ROWS = 40


@click.command(short_help="Run a study at each point of a grid.")
@click.argument("study", type=EXISTING)
@click.option(
    "--vary",
    "varied",
    multiple=True,
    metavar="PATH=VALUES",
    help="What varies, as in --set: START:STOP:COUNT, or values separated by commas. May be "
    "repeated: all combinations are run, with what else the study's table [sweep.vary] has.",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="PATH=VALUE",
    help="Another value than the file's, at all points; as of 'mbkit run'. May be repeated.",
)
@click.option(
    "--outputs",
    metavar="NAMES",
    help="Columns, separated by commas: end, energy_drift, constraints, counts, warnings, "
    "wall_time, MODULE:FUNCTION of a result, or what runs record, such as main.effort (its least, "
    "largest and last value). Default: all that have names.",
)
@where_options
@click.option("--retry", is_flag=True, help="Run points again that failed before.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=pathlib.Path),
    help="Directory for the table, the report and all points; one that is there goes on. Default: "
    "that of the study's result, with '-sweep'.",
)
def sweep(
    *,
    study: pathlib.Path,
    varied: tuple[str, ...],
    changes: tuple[str, ...],
    outputs: str | None,
    retry: bool,
    output: pathlib.Path | None,
    **where: Any,
) -> None:
    """Run STUDY at each point of a grid: a row for each, with the state at the end, drifts, work.

    Each point is kept as soon as it is finished: started again, the command runs what is missing. A
    point that fails, ends its process, or exceeds the time limit is listed with the reason, and
    stops no other.

    \b
    Examples:
      mbkit sweep studies/masses.toml
      mbkit sweep studies/swing.toml --vary bodies.rod.mass=1:2:11
      mbkit sweep studies/swing.toml --vary initial.q.hinge=-1:1:21 --vary h=1e-3,1e-4 \\
          --executor dask --workers 2 --time-limit 60 -o masses
      mbkit sweep studies/swing.toml --vary L=0.3,0.4 --outputs energy_drift,pendulum.plugin:height
    """
    vary = dict(map(parsed_values, varied))
    if len(vary) < len(varied):
        raise UsageError("--vary: a path is there twice; give all of its values at once.")
    with compiling_announced():
        loaded: Study = told(lambda: mb.load_study(study, dict(map(parsed_change, changes))))
        place = output
        if place is None:
            place = loaded.output.with_name(f"{loaded.output.with_suffix('').name}-sweep")
            place.parent.mkdir(parents=True, exist_ok=True)  # git keeps no empty folders
        own = loaded.tables.get("sweep", {})
        given: dict[str, Any] = {"vary": {**own.get("vary", {}), **vary}}
        given |= {} if outputs is None else {"outputs": outputs.split(",")}
        table = with_options({**own, **given}, where)
        asked = attrs.evolve(loaded, tables={**loaded.tables, "sweep": table})
        if not table["vary"]:
            raise UsageError(
                "There is nothing that varies: give --vary PATH=VALUES, such as "
                "bodies.rod.mass=1:2:11, or a table [sweep.vary] in the study."
            )
        found = studies.sweep(asked, directory=place, retry=retry, progress=True)
    _tell(found, place)


def _tell(found: Findings, place: pathlib.Path) -> None:
    """Print the table if it is short, the points that failed, and where everything is."""
    points, failed = found.table, found.failed
    if len(points) <= MOST_ROWS:
        click.echo(points.markdown())
    for row in failed.rows[:MOST_ROWS]:
        values = ", ".join(f"{name}={row[name]}" for name in points.factors)
        click.echo(f"Not completed: {printable(values)}: {printable(row['status'])}", err=True)
    if len(failed) > MOST_ROWS:
        click.echo(f"... and {len(failed) - MOST_ROWS} more.", err=True)
    click.echo(
        f"Wrote {printable(place / 'report.html')}: {len(points)} points, {len(failed)} failed."
    )

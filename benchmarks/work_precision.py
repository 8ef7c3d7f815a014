"""Error against time: integrators of mbkit, Exudyn's implicit methods, and MuJoCo's RK4."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

import mbkit as mb
from benchmarks.catalogue import COMPARED
from benchmarks.compared_exudyn import METHODS, ExudynModel
from benchmarks.compared_models import MODELS, Model
from benchmarks.compared_mujoco import MujocoModel
from benchmarks.report import Row, Table
from benchmarks.timing import sized
from mbkit.studies.laboratory.findings.plots import COLOURS, MARKERS
from mbkit.studies.laboratory.work_precision import work_at

#: Where the plot goes, and the page with the tables, between marks as those of the orders.
IMAGE = pathlib.Path(__file__).parents[1] / "docs" / "images" / "work-precision.png"
PAGE = pathlib.Path(__file__).parents[1] / "docs" / "work-precision.md"
#: Not that of a measurement in the least size.
PLOT = sized(IMAGE, None)

#: Steps of the reference solution, and of half as many its error has to be below this. [m]
REFERENCE_STEPS, REFERENCE_ERROR = sized((8192, 1e-9), (400, 1e-2))

#: Numbers of steps, each twice the one before, and errors beyond which nobody goes. [m]
FIRST_STEPS, MOST_STEPS = 50, sized(12800, 100)
LARGEST_ERROR, SMALLEST_ERROR = 0.1, 1e-9

#: How often each run is timed; the shortest time counts.
ROUNDS = sized(5, 1)

#: Errors at which programs are compared [m], and most of Exudyn's time that mbkit may take.
ERRORS = 1e-3, 1e-4, 1e-5
BAR = 0.5

#: Most of the time of Exudyn's fastest implicit method that generalized-alpha may take, by model.
IMPLICIT_BARS = {"heavy top": 0.8, "bridge of 20 rods": 1.0}

#: From a number of steps to the centres of mass at the end and the time of the loop; raises
#: ArithmeticError where the method fails.
Run = Callable[[int], tuple[Any, float]]


@attrs.frozen
class Point:
    """Steps, the error [m] they lead to, and how long they take [s]."""

    steps: int
    error: float
    wall: float


@attrs.frozen
class Curve:
    """What was measured of one method.

    Attributes
    ----------
    program, method : str
        Whose, and which.
    points : tuple of Point
        With ever more steps.
    """

    program: str
    method: str
    points: tuple[Point, ...]

    def time_at(self, error: float) -> float:
        """Return how long an error takes, between points by powers; infinite where none has it."""
        pairs = [(point.error, point.wall) for point in self.points]
        return work_at(*zip(*pairs, strict=True), error) if pairs else np.inf


def work_precision(
    models: Sequence[Callable[[], Model]] = MODELS,
    *,
    most: int = MOST_STEPS,
    rounds: int = ROUNDS,
    image: pathlib.Path | None = PLOT,
) -> list[Table]:
    """Return a table a model: times at equal errors; and write the plot.

    Parameters
    ----------
    models : sequence of callable
        Make the models.
    most : int
        Steps that are not exceeded.
    rounds : int
        How often each run is timed.
    image : path or None
        Where the plot is written.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        found = {}
        for make in models:
            model = make()
            found[model.name] = curves(model, most=most, rounds=rounds)
    if image is not None:
        draw(found, image)
    return [table(name, each) for name, each in found.items()]


def curves(model: Model, *, most: int = MOST_STEPS, rounds: int = ROUNDS) -> list[Curve]:
    """Return what all methods reach on a model, measured in turn, round by round."""
    exact = model.reference(REFERENCE_STEPS)
    doubt = np.abs(model.reference(REFERENCE_STEPS // 2) - exact).max()
    if not doubt < REFERENCE_ERROR:
        raise RuntimeError(
            f"The reference solution of the {model.name} is uncertain by {doubt:.0e}"
        )
    methods = _methods(model)
    errors: dict[tuple[str, str], dict[int, float]] = {key: {} for key in methods}
    for key, run in methods.items():
        for steps in _numbers_of_steps(most):
            try:
                error = float(np.abs(run(steps)[0] - exact).max())
            except ArithmeticError:
                continue
            if np.isfinite(error) and error < LARGEST_ERROR:
                errors[key][steps] = error
            if error < SMALLEST_ERROR:
                break
    walls: dict[tuple[Any, int], float] = {}
    for _ in range(rounds):
        for key, run in methods.items():
            for steps in errors[key]:
                walls[key, steps] = min(run(steps)[1], walls.get((key, steps), np.inf))
    return [
        Curve(*key, tuple(Point(n, error, walls[key, n]) for n, error in errors[key].items()))
        for key in methods
    ]


def _numbers_of_steps(most: int) -> list[int]:
    return [FIRST_STEPS * 2**k for k in range(32) if FIRST_STEPS * 2**k <= most]


def _methods(model: Model) -> dict[tuple[str, str], Run]:
    """Return all methods of the three programs, by program and name."""
    methods: dict[tuple[str, str], Run] = {
        ("mbkit", name): _own(model, integrator) for name, integrator in COMPARED.items()
    }
    exudyn, mujoco = ExudynModel(model), MujocoModel(model)
    for method in METHODS:
        methods["Exudyn", method.name] = lambda n, method=method: exudyn.run(method, n)
    methods["MuJoCo", "RK4"] = mujoco.run
    return methods


def _own(model: Model, integrator: mb.Integrator) -> Run:
    def run(steps: int) -> tuple[Any, float]:
        try:
            with warnings.catch_warnings():  # coarse steps are part of what is compared
                warnings.simplefilter("ignore", mb.EnergyBalanceWarning)
                run = mb.simulate(
                model.system, (0.0, model.span), model.span / steps, v=model.velocity,
                save_every=steps, integrator=integrator, progress=False,
            )  # fmt: skip
        except mb.MbkitError as error:
            raise ArithmeticError(str(error)) from error
        return model.centres(run.q[-1]), run.options["wall_time"]

    return run


# --------------------------------------------------------------------------------------- tables


def table(name: str, found: Sequence[Curve]) -> Table:
    """Return how long equal errors take: the fastest method of each program, and like by like."""
    rows = []
    for error in ERRORS:
        best = {
            program: _fastest(found, program, error) for program in ("mbkit", "Exudyn", "MuJoCo")
        }
        rows.append(_row(f"{error:.0e} m", best["mbkit"], best["Exudyn"], BAR))
        rows.append(_row(f"{error:.0e} m", best["mbkit"], best["MuJoCo"], None))
    like = [
        each for each in found if each.program == "mbkit" and "generalized-alpha" in each.method
    ]
    for error in ERRORS if like else ():
        own, peer = _fastest(like, "mbkit", error), _fastest(found, "Exudyn", error)
        bar = IMPLICIT_BARS.get(name)
        rows.append(_row(f"{error:.0e} m, implicit methods", own, peer, bar))
    return Table(
        f"{name}: time at equal error", [row for row in rows if row is not None],
        peer="peer", extra=("fastest of mbkit", "of the peer"),
    )  # fmt: skip


def _fastest(found: Sequence[Curve], program: str, error: float) -> tuple[float, str]:
    return min(
        (
            (curve.time_at(error), f"{curve.program}: {curve.method}")
            for curve in found
            if curve.program == program
        ),
        default=(np.inf, ""),
    )


def _row(
    what: str, own: tuple[float, str], peer: tuple[float, str], bar: float | None
) -> Row | None:
    if not (np.isfinite(own[0]) and np.isfinite(peer[0])):
        return None
    return Row(what, own[0], peer[0], own[0] / peer[0], bar, extra=(own[1], peer[1]))


# ----------------------------------------------------------------------------------------- plot


def draw(found: Mapping[str, Sequence[Curve]], path: pathlib.Path) -> None:
    """Write the plot, one picture a model, with one legend beside them."""
    import matplotlib.figure

    width = 5.5 * len(found) + 2.5
    figure = matplotlib.figure.Figure(figsize=(width, 5.2), layout="constrained")
    axes = figure.subplots(1, len(found), squeeze=False)
    lines = {"mbkit": "-", "Exudyn": "--", "MuJoCo": ":"}
    shown: dict[str, Any] = {}
    for ax, (name, each) in zip(axes[0], found.items(), strict=True):
        for k, curve in enumerate(each):
            if curve.points:
                label = f"{curve.program}: {curve.method}"
                shown[label] = ax.loglog(
                    [1e3 * point.wall for point in curve.points],
                    [point.error for point in curve.points],
                    lines[curve.program], color=COLOURS[k % len(COLOURS)],
                    marker=MARKERS[k % len(MARKERS)], markersize=4, linewidth=1.0,
                )[0]  # fmt: skip
        ax.set(
            title=name, xlabel="time of the loop [ms]", ylabel="error of the centres of mass [m]"
        )
        ax.set_ylim(SMALLEST_ERROR / 10, LARGEST_ERROR)
        ax.grid(alpha=0.3)
    figure.legend(
        list(shown.values()), list(shown), loc="outside right upper", fontsize=7, frameon=False
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)

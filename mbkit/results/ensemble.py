"""The results of many runs of one system, in memory."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from mbkit.errors import ShapeError, UsageError
from mbkit.given_values import Named
from mbkit.results.columns import columns_of
from mbkit.results.event_log import EventLog
from mbkit.results.facts import as_html, as_text
from mbkit.results.result import Result
from mbkit.results.summary import ensemble_facts
from mbkit.results.tidy import columns_of_ensemble, to_frame
from mbkit.results.values import plain, writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

__all__ = ["ROWS", "Ensemble", "Models", "Origins"]

Floats = npt.NDArray[np.float64]

#: Function of the number of a run, to the text of its model and the model's origin.
Origins = Callable[[int], tuple[str, Any]]

#: The arrays over the instants, by the names of a `Result`.
ROWS = (
    "t", "q", "v", "kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy",
    "multipliers", "residuals",
)  # fmt: skip


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


def _all_frozen(arrays: Mapping[str, Any]) -> Any:
    frozen = {name: _frozen(array) for name, array in arrays.items()}
    return Named(frozen, "The runs have no output")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Ensemble:
    """The results of an ensemble of runs, one run for each of its samples.

    The axes of the samples come first, and then those of a `Result`: k instants, as many as the
    longest run has. A run that ended early has not-a-number behind its last instant.

    Attributes
    ----------
    t : ndarray, shape (..., k)
        Times: the same for all runs, but for those that ended early. [s]
    q, v : ndarray, shape (..., k, nq), (..., k, nv)
        Positions and velocities, as those of a `Result`.
    kinetic_energy, potential_energy, dissipated_energy, supplied_energy : ndarray, shape (..., k)
        Energies. [J]
    multipliers, residuals : ndarray, shape (..., k, rows), (..., k, 3)
        Of the constraints.
    lengths : ndarray of int, shape (...)
        Instants of each run.
    steps_taken, wall_times : ndarray, shape (...)
        Steps of each run, and the time that they took. [s]
    counts : mapping of str to ndarray of int, shape (...)
        Evaluations and iterations of each run, as in ``options["counts"]`` of a `Result`.
    completed, failed : ndarray of bool, shape (...)
        Which runs reached their end, or a terminal event, and which ended by an error. Those that
        are neither were interrupted.
    messages : ndarray of str, shape (...)
        Why each run ended.
    parameters : mapping of str to ndarray, shape (..., shape of the parameter)
        The parameters that were given, by name.
    outputs : mapping of str to ndarray, shape (..., k, shape of the output)
        The ``outputs=`` of `simulate`, by name; not a number where one failed.
    options, versions, labels : mapping
        Common to all runs: options, versions of libraries, and the names of a `Result`.

    See Also
    --------
    Result : one run, which ``ensemble[i]`` returns.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    >>> runs = mb.simulate(mech.assemble(), (0.0, 1.0), 1e-2, q=[[0.1], [0.2], [0.3]])
    >>> runs  # doctest: +ELLIPSIS
    <Ensemble: 3 runs, 101 instants from 0 s to 1 s, nq = 1, nv = 1, 3 completed
      integrator  RungeKuttaMuntheKaas(tableau=Tableau(name='rk4', order=4)), h = 0.01 s
      work        300 steps, 1200 evaluations, 0 rejected steps, in ... s
      energies    change by at most ... of the peak kinetic energy>
    >>> runs.q.shape, runs.positions("hinge").shape
    ((3, 101, 1), (3, 101))
    >>> bool((runs[2]["hinge"] == runs.positions("hinge")[2]).all())
    True
    """

    t: Floats = attrs.field(converter=_frozen)
    q: Floats = attrs.field(converter=_frozen)
    v: Floats = attrs.field(converter=_frozen)
    kinetic_energy: Floats = attrs.field(converter=_frozen)
    potential_energy: Floats = attrs.field(converter=_frozen)
    dissipated_energy: Floats = attrs.field(converter=_frozen)
    supplied_energy: Floats = attrs.field(converter=_frozen)
    multipliers: Floats = attrs.field(converter=_frozen)
    residuals: Floats = attrs.field(converter=_frozen)
    lengths: npt.NDArray[np.int64] = attrs.field(converter=_frozen)
    steps_taken: npt.NDArray[np.int64] = attrs.field(converter=_frozen)
    wall_times: Floats = attrs.field(converter=_frozen)
    counts: Mapping[str, npt.NDArray[np.int64]]
    completed: npt.NDArray[np.bool_] = attrs.field(converter=_frozen)
    failed: npt.NDArray[np.bool_] = attrs.field(converter=_frozen)
    messages: npt.NDArray[np.str_] = attrs.field(converter=_frozen)
    parameters: Mapping[str, Floats]
    options: Mapping[str, Any] = attrs.field(converter=plain)
    versions: Mapping[str, str] = attrs.field(converter=plain)
    labels: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, Floats] = attrs.field(factory=dict, converter=_all_frozen)
    _warnings: Mapping[int, tuple[str, ...]]
    _events: Mapping[int, EventLog]
    _origins: Origins

    # ------------------------------------------------------------------------------ samples

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of the samples."""
        return self.lengths.shape

    def __len__(self) -> int:
        return self.lengths.size

    def __getitem__(self, index: Any) -> Result:
        """Return the run of one sample, by its index: ``ensemble[3]``, or ``ensemble[3, 1]``."""
        place = self._place(index)
        if self.lengths[place] == 0:
            raise UsageError(f"The run of sample {place} was not started: {self.messages[place]}")
        number = int(np.ravel_multi_index(place, self.shape))
        rows = slice(0, int(self.lengths[place]))
        model, origin = self._origins(number)
        own = {name: values[place].tolist() for name, values in self.parameters.items()}
        counts = {name: int(each[place]) for name, each in self.counts.items()}
        options = {
            **self.options, "sample": place, "steps_taken": int(self.steps_taken[place]),
            "wall_time": float(self.wall_times[place]), "counts": counts,
        }  # fmt: skip
        if own:
            options["parameters"] = own
        further: dict[str, Any] = {**self.labels}
        if number in self._events:
            further["events"] = self._events[number]
        return Result(
            **{name: getattr(self, name)[place][rows] for name in ROWS},
            outputs={name: array[place][rows] for name, array in self.outputs.items()},
            model=model, options=options, versions=self.versions, origin=origin,
            completed=bool(self.completed[place]), message=str(self.messages[place]),
            warnings=self._warnings.get(number, ()), **further,
        )  # fmt: skip

    def __iter__(self) -> Iterator[Result]:
        """Go through all runs that were started, the last axis of the samples first."""
        return (self[place] for place in np.ndindex(self.shape) if self.lengths[place])

    def _place(self, index: Any) -> tuple[int, ...]:
        """Return a non-negative index; UsageError unless it is that of one sample."""
        axes = len(self.shape)
        given = index if isinstance(index, tuple) else (index,)
        try:
            place = tuple(operator.index(k) for k in given)
        except TypeError:
            place = ()
        if len(place) != axes:
            raise UsageError(
                f"An ensemble has a run for each sample, and {axes} axes of them: give "
                f"{axes} whole number{'s' * (axes > 1)}, got {index!r}. Its arrays, such as q, "
                f"take any index."
            )
        for k, size in zip(place, self.shape, strict=True):
            if not -size <= k < size:
                raise IndexError(f"ensemble[{index!r}]: the samples have the axes {self.shape}.")
        return tuple(k % size for k, size in zip(place, self.shape, strict=True))

    # ------------------------------------------------------------------------- how they ended

    @property
    def failures(self) -> dict[tuple[int, ...], str]:
        """The reasons of the runs that failed, by sample."""
        return {place: str(self.messages[place]) for place in self._places(self.failed)}

    @property
    def warnings(self) -> dict[tuple[int, ...], tuple[str, ...]]:
        """Warnings about the accuracy of runs, by sample; samples without any are left out."""
        places = {number: np.unravel_index(number, self.shape) for number in self._warnings}
        return {
            tuple(int(k) for k in place): self._warnings[number] for number, place in places.items()
        }

    def positions(self, name: str) -> Floats:
        """Return the positions of a joint, or of a component such as ``"ball[2]"``, by its name.

        Shape (..., k), or (..., k, n) of a joint with n of them; as ``runs[i][name]`` of one run.
        NameUnknownError if there is none.
        """
        return self.q[..., self._columns(name, "position_names", "runs.positions")]

    def velocities(self, name: str) -> Floats:
        """Return the velocities of a joint by its name, as `positions`. [rad/s], [m/s]."""
        return self.v[..., self._columns(name, "velocity_names", "runs.velocities")]

    def _columns(self, name: str, labels: str, who: str) -> Any:
        return columns_of(name, self.labels[labels], self.labels["joint_names"], self.options, who)

    @property
    def energy(self) -> Floats:
        """Kinetic plus potential energy, shape (..., k). [J]."""
        return self.kinetic_energy + self.potential_energy

    @staticmethod
    def _places(which: Any) -> list[tuple[int, ...]]:
        return [tuple(int(k) for k in place) for place in np.argwhere(which)]

    def to_dataframe(self) -> DataFrame:
        """Return all runs as one data frame of pandas, a row for each instant of each run.

        Columns are those of `Result.to_dataframe`, after ``sample`` (``sample[0]``, ``sample[1]``
        where there are more axes) and the parameters that were given, by name.
        """
        return to_frame(columns_of_ensemble(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all runs to a file, in the format of its suffix, as `Result.save`.

        `mbkit.load_ensemble` reads netCDF files.
        """
        from mbkit.io.results.saving import save_result

        save_result(self, path)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        panels: Iterable[str] | str | None = None,
        phase: Iterable[str] | str | None = None,
    ) -> Figure:
        """Draw all runs over time, a panel a column, or their phase portraits; see `mbkit.plot`.

        Of more than 100 runs, 100 evenly chosen ones.
        """
        from mbkit.viz.plotting import plot

        return plot(self, path, panels=panels, phase=phase)

    def __repr__(self) -> str:
        return as_text(*ensemble_facts(self))

    def _repr_html_(self) -> str:
        return as_html(*ensemble_facts(self))

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {
            each.name.lstrip("_"): getattr(self, each.name) for each in attrs.fields(type(self))
        }
        fields |= {name: writable(fields[name]) for name in ("options", "versions")}
        return _from_fields, (fields | {"origins": None}, self.models)

    @property
    def models(self) -> list[str]:
        """The texts of the models: one for each run if there are parameters, else one for all."""
        return [self._origins(k)[0] for k in range(len(self) if self.parameters else 1)]

    def __attrs_post_init__(self) -> None:
        count = self.t.shape[-1]
        for name, array in {**{name: getattr(self, name) for name in ROWS}, **self.outputs}.items():
            found = array.shape[: len(self.shape) + 1]
            if found != (*self.shape, count):
                raise ShapeError(
                    f"Ensemble: {name} begins with the axes {found}; {(*self.shape, count)} are "
                    f"those of the samples and of the instants."
                )
        widths = {
            "q": len(self.labels["position_names"]), "v": len(self.labels["velocity_names"]),
            "multipliers": len(self.labels["constraint_names"]), "residuals": 3,
        }  # fmt: skip
        for name, width in widths.items():
            if (found := getattr(self, name).shape[len(self.shape) + 1 :]) != (width,):
                raise ShapeError(
                    f"Ensemble: {name} ends with the axes {found}; it must be {width}."
                )
        alike = (self.steps_taken, self.wall_times, self.completed, self.failed, self.messages)
        for array in (*alike, *self.counts.values()):
            if array.shape != self.shape:
                raise ShapeError(
                    f"Ensemble: an array with a number for each run has the axes {array.shape}; "
                    f"the samples have {self.shape}."
                )


def _from_fields(fields: dict[str, Any], models: list[str]) -> Ensemble:
    return Ensemble(**fields | {"origins": Models(models)})


@attrs.frozen
class Models:
    """The texts of the models, one a run or one for all, where nothing else is left of them."""

    texts: list[str]

    def __call__(self, number: int) -> tuple[str, Any]:
        """Return the text of one run, and no origin."""
        return self.texts[number if len(self.texts) > 1 else 0], None

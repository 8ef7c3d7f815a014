"""The result of a simulation, in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.errors import ShapeError
from mbkit.results.columns import columns_of, velocity_units
from mbkit.results.event_log import EventLog
from mbkit.results.facts import as_html, as_text
from mbkit.results.labelled import to_dataset
from mbkit.results.summary import result_facts
from mbkit.results.tidy import columns_of_result, to_frame
from mbkit.results.values import Floats, names, plain, read_only, read_only_arrays, writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset


def _none_yet(run: Result) -> Floats:
    return np.zeros(run.t.shape)


def _no_multipliers(run: Result) -> Floats:
    # which takes no memory
    return np.broadcast_to(np.nan, (run.t.size, len(run.constraint_names)))


def _no_residuals(run: Result) -> Floats:
    return np.broadcast_to(np.nan if run.constraint_names else 0.0, (run.t.size, 3))


def _no_events(run: Result) -> EventLog:
    return EventLog.empty(len(run.position_names), len(run.velocity_names))


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Result:
    """The result of a simulation: k saved instants, their labels, the model, the options.

    Attributes
    ----------
    t : ndarray, shape (k,)
        Times. [s]
    q : ndarray, shape (k, nq)
        Positions. [rad], [m], or entries of unit quaternions
    v : ndarray, shape (k, nv)
        Velocities; not the derivatives of `q` (see docs/conventions.md). [rad/s], [m/s]
    kinetic_energy, potential_energy : ndarray, shape (k,)
        Energies of the whole mechanism; the latter of gravity and of all forces that have one. [J]
    dissipated_energy, supplied_energy : ndarray, shape (k,)
        Energies that forces have dissipated and supplied since the start; default zero. [J]
    body_names : tuple of str
        Names of the bodies, the world first.
    joint_names, position_names, velocity_names : tuple of str
        Names of the joints and of the columns of `q` and `v`.
    position_units : tuple of str
        Unit of each column of `q`, such as "rad"; empty where they are not known.
    model : str
        The model as TOML text.
    options : mapping
        How it was computed: the integrator, its step size and so on. Of runs in memory also the
        cost of the steps: ``wall_time`` [s], and ``counts`` of ``evaluations`` of the equations of
        motion, ``rejected_steps``, ``newton_iterations`` and ``factorisations``.
    versions : mapping of str to str
        Versions of mbkit and of the libraries that it computed with.
    completed : bool
        Whether the simulation reached the end of its time span, or a terminal event.
    message : str
        Why it ended.
    warnings : tuple of str
        Warnings about the accuracy, such as an energy balance that is not kept.
    events : EventLog
        The events that were looked for, and the states before and after them.
    constraint_names : tuple of str
        Names of the rows of the constraints; empty for a tree.
    multipliers : ndarray, shape (k, len(constraint_names))
        Lagrange multipliers, those of least norm where they are not unique, by the equations
        of the run; see `System.solve_dynamics` and `Baumgarte`. [N]
    residuals : ndarray, shape (k, 3)
        How well the constraints hold: the largest entry of their residual, of its rate, and of its
        acceleration; with `Baumgarte` of its stabilised law. [m], [m/s], [m/s^2]
    outputs : mapping of str to ndarray, shape (k, ...)
        The ``outputs=`` of `simulate`, by name.
    origin : object
        The arguments of `simulate`, for `mbkit.sensitivities` and `mbkit.gradient`; None in results
        of files, of other processes, and of runs that were written to a directory.

    Notes
    -----
    The arrays are copied and read-only; an array that is read-only already is not copied. They are
    of float64; arrays of single precision remain so. Values that a run did not save are NaN.
    Sequences among the options become tuples, and values other than numbers, texts and sequences
    become text, so that a result read from a file equals the one that was written.

    Examples
    --------
    >>> import mbkit as mb
    >>> run = mb.Result(
    ...     t=[0.0, 1.0],
    ...     q=[[0.0], [0.5]],
    ...     v=[[0.5], [0.5]],
    ...     kinetic_energy=[1.0, 1.0],
    ...     potential_energy=[2.0, 1.5],
    ...     body_names=("world", "wheel"),
    ...     joint_names=("axle",),
    ...     position_names=("axle",),
    ...     velocity_names=("axle",),
    ... )
    >>> run
    <Result: 2 instants from 0 s to 1 s, nq = 1, nv = 1, completed
      energies    change by at most 0.5 J, 5.0e-01 of the peak kinetic energy>
    >>> run["axle"], run.velocity("axle")
    (array([0. , 0.5]), array([0.5, 0.5]))
    >>> run.energy
    array([3. , 2.5])
    """

    t: Floats = attrs.field(converter=read_only)
    q: Floats = attrs.field(converter=read_only)
    v: Floats = attrs.field(converter=read_only)
    kinetic_energy: Floats = attrs.field(converter=read_only)
    potential_energy: Floats = attrs.field(converter=read_only)
    body_names: tuple[str, ...] = attrs.field(converter=names)
    joint_names: tuple[str, ...] = attrs.field(converter=names)
    position_names: tuple[str, ...] = attrs.field(converter=names)
    velocity_names: tuple[str, ...] = attrs.field(converter=names)
    dissipated_energy: Floats = attrs.field(
        default=attrs.Factory(_none_yet, takes_self=True), converter=read_only
    )
    supplied_energy: Floats = attrs.field(
        default=attrs.Factory(_none_yet, takes_self=True), converter=read_only
    )
    position_units: tuple[str, ...] = attrs.field(default=(), converter=names)
    model: str = ""
    options: Mapping[str, Any] = attrs.field(factory=dict, converter=plain)
    versions: Mapping[str, str] = attrs.field(factory=dict, converter=plain)
    completed: bool = attrs.field(default=True, converter=bool)
    message: str = ""
    warnings: tuple[str, ...] = attrs.field(default=(), converter=names)
    events: EventLog = attrs.field(default=attrs.Factory(_no_events, takes_self=True))
    constraint_names: tuple[str, ...] = attrs.field(default=(), converter=names)
    multipliers: Floats = attrs.field(
        default=attrs.Factory(_no_multipliers, takes_self=True), converter=read_only
    )
    residuals: Floats = attrs.field(
        default=attrs.Factory(_no_residuals, takes_self=True), converter=read_only
    )
    outputs: Mapping[str, Floats] = attrs.field(factory=dict, converter=read_only_arrays)
    origin: Any = None

    def __attrs_post_init__(self) -> None:
        if self.t.ndim != 1 or self.t.size == 0:
            raise ShapeError(
                f"Result: t has shape {self.t.shape}; give the times of at least one instant, "
                "shape (k,)."
            )
        count = self.t.size
        expected = {
            "q": (count, len(self.position_names)),
            "v": (count, len(self.velocity_names)),
            "kinetic_energy": (count,),
            "potential_energy": (count,),
            "dissipated_energy": (count,),
            "supplied_energy": (count,),
            "multipliers": (count, len(self.constraint_names)),
            "residuals": (count, 3),
        }
        for name, shape in expected.items():
            if (found := getattr(self, name).shape) != shape:
                raise ShapeError(
                    f"Result: {name} has shape {found}; for {count} instants, "
                    f"{len(self.position_names)} position names, {len(self.velocity_names)} "
                    f"velocity names and {len(self.constraint_names)} constraint names it must be "
                    f"{shape}."
                )
        for name, array in self.outputs.items():
            if array.shape[:1] != (count,):
                raise ShapeError(
                    f"Result: output '{name}' has shape {array.shape}; for {count} instants it "
                    f"must be ({count}, ...)."
                )
        if self.position_units and len(self.position_units) != len(self.position_names):
            raise ShapeError(
                f"Result: there are {len(self.position_units)} position_units for "
                f"{len(self.position_names)} positions; give one each, or none at all."
            )

    @property
    def energy(self) -> Floats:
        """Kinetic plus potential energy, shape (k,). [J]."""
        return self.kinetic_energy + self.potential_energy

    @property
    def energy_drift(self) -> Floats:
        """Change of the energy since the first instant, shape (k,). [J].

        Where nothing is dissipated or supplied it is the error of the integrator.
        """
        energy = self.energy
        return energy - energy[:1]

    @property
    def energy_balance(self) -> Floats:
        """The error of the energy balance, shape (k,): the error of the integrator. [J].

        Kinetic plus potential plus dissipated minus supplied energy, minus that at the first
        instant.
        """
        balance = self.energy + self.dissipated_energy - self.supplied_energy
        return balance - balance[:1]

    def __getitem__(self, name: str) -> Floats:
        """Return the positions of a joint, or an output, over time, by its name.

        Parameters
        ----------
        name : str
            A joint, one of its components, such as ``"ball[2]"``, or one of `outputs`.

        Returns
        -------
        ndarray, shape (k,) or (k, n)
            Of a joint with one coordinate, and of a component, a vector over time; of others the
            columns of `q`. In the units of `position_units`.

        Raises
        ------
        NameUnknownError
            If there is no such joint, or it closes a loop and has no coordinates.

        Examples
        --------
        Of a run of a double pendulum, ``run["elbow"].max()`` is the largest angle of the elbow.
        """
        if isinstance(name, str) and name in self.outputs:
            return self.outputs[name]
        labels = (*self.position_names, *self.outputs)
        column = columns_of(name, labels, self.joint_names, self.options, "run", self.body_names)
        return self.q[:, column]

    def velocity(self, name: str) -> Floats:
        """Return the velocities of a joint over time, by its name, as ``run[name]`` its positions.

        Parameters
        ----------
        name : str
            A joint, or one of its components.

        Returns
        -------
        ndarray, shape (k,) or (k, n)
            Columns of `v`. [rad/s], [m/s]

        Raises
        ------
        NameUnknownError
            If there is no such joint, or it closes a loop and has no coordinates.
        """
        column = columns_of(
            name, self.velocity_names, self.joint_names, self.options, "run.velocity",
            self.body_names,
        )  # fmt: skip
        return self.v[:, column]

    @property
    def velocity_units(self) -> tuple[str, ...]:
        """Unit of each column of `v`; empty where it does not follow from `position_units`."""
        return tuple(velocity_units(self.position_names, self.position_units, self.velocity_names))

    def __repr__(self) -> str:
        return as_text(*result_facts(self))

    def _repr_html_(self) -> str:
        return as_html(*result_facts(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies cannot be pickled, and unpickled arrays would be writable.
        fields = attrs.asdict(self, recurse=False) | {"origin": None}
        return _from_fields, (fields | {key: writable(fields[key]) for key in _MAPPINGS},)

    def to_xarray(self) -> Dataset:
        """Return the result as a labelled data set (needs the extra ``xarray``).

        Returns
        -------
        xarray.Dataset
            Variables ``q``, ``v``, ``kinetic_energy``, ``potential_energy``, ``dissipated_energy``,
            ``supplied_energy`` over the coordinates ``time``, ``position`` and ``velocity``; model,
            options and versions as attributes, the latter two as JSON text. The same names are in
            the file that `save` writes.

        Examples
        --------
        ``run.to_xarray().q.sel(position="elbow").plot()`` draws one joint over time.
        """
        return to_dataset(self)

    def to_dataframe(self) -> DataFrame:
        """Return the result as a data frame of pandas, a row for each instant.

        Returns
        -------
        pandas.DataFrame
            Columns ``time``, ``q.JOINT`` and ``v.JOINT`` (with components such as ``q.ball[0]``),
            the energies, and of systems with constraints ``multiplier.ROW`` and
            ``residual.position``, ``.velocity`` and ``.acceleration``; ``output.NAME``. The
            units are in ``attrs["units"]``, by column; empty where there are none.

        Raises
        ------
        UsageError
            If pandas is not installed; the extra ``xarray`` has it.

        Examples
        --------
        ``run.to_dataframe().set_index("time")["q.elbow"].plot()`` draws one joint over time, and
        ``run.save("run.xlsx")`` makes a spreadsheet where openpyxl is installed.
        """
        return to_frame(columns_of_result(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file: netCDF, CSV, Excel or MAT; see `mbkit.io.results.saving`.

        An existing file of this name is replaced, at the end and at once: whatever happens
        meanwhile, the name stands for the whole old file or for the whole new one.

        Parameters
        ----------
        path : str or path
            Where to; its folder must exist. A name in ``.nc`` (or ``.nc4``, ``.h5``, ``.hdf5``) is
            netCDF, with all that a result has, which `mbkit.load_result` reads. ``.csv`` has the
            columns of `to_dataframe` with units in their heads, and so has ``.xlsx``, for which
            openpyxl must be installed; ``.mat`` arrays and names for MATLAB; none of these is read
            again.

        Raises
        ------
        UsageError
            If the name ends in another suffix.
        ResultFileError
            If it cannot be written there.
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
        """Draw the run over time, a panel a unit; see `mbkit.plot`, which also compares runs.

        Parameters
        ----------
        path : str or path, optional
            Where to write the picture, in the format of the suffix. Without it, the figure is
            one of pyplot's, and ``matplotlib.pyplot.show()`` opens it.
        panels : sequence of str, optional
            Kinds of panels to draw, such as "energies", joints and outputs.
        phase : sequence of str, optional
            Joints whose velocity is drawn over their position instead.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, to be changed or saved further.
        """
        from mbkit.viz.plotting import plot

        return plot(self, path, panels=panels, phase=phase)

    def animate(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a film of the motion to a file, such as ``run.html``, in the format of the suffix.

        See `mbkit.viz.animate.animate`, with its options `speed`, `frame_rate` and others.
        """
        from mbkit.viz.animate import animate

        animate(self, path, **options)


_MAPPINGS = ("options", "versions", "outputs")


def _from_fields(fields: dict[str, Any]) -> Result:
    return Result(**fields)

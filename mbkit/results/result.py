"""The result of a simulation, in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from mbkit.errors import ShapeError
from mbkit.results.event_log import EventLog

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

Floats = npt.NDArray[np.float64]


def _read_only(value: npt.ArrayLike) -> Floats:
    # Taken over without a copy where nobody can write to it any more.
    kept = isinstance(value, np.ndarray) and value.dtype in (np.float64, np.float32)
    if kept and not value.flags.writeable:  # type: ignore[union-attr]
        return value  # type: ignore[return-value]
    array = np.array(value, dtype=value.dtype if kept else np.float64)  # type: ignore[union-attr]
    array.setflags(write=False)
    return array


def _names(value: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in value)


def _plain(value: Any) -> Any:
    """Return `value` built of tuples, mappings and Python numbers, as a file gives it back."""
    if isinstance(value, Mapping):
        return MappingProxyType({str(key): _plain(item) for key, item in value.items()})
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return tuple(_plain(item) for item in value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


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
    """What a simulation leaves behind: k saved instants, their labels, the model, the options.

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
        What forces have dissipated and supplied since the start; zero if left out. [J]
    body_names : tuple of str
        Names of the bodies, the world first.
    joint_names, position_names, velocity_names : tuple of str
        Names of the joints and of the columns of `q` and `v`.
    position_units : tuple of str
        Unit of each column of `q`, such as "rad"; empty where they are not known.
    model : str
        The model as TOML text.
    options : mapping
        How it was computed: the integrator, its step size and so on. Of runs in memory also what
        the steps have cost: ``wall_time`` [s], and ``counts`` of ``evaluations`` of the equations
        of motion, ``rejected_steps``, ``newton_iterations`` and ``factorisations``.
    versions : mapping of str to str
        Versions of mbkit and of the libraries that it computed with.
    completed : bool
        Whether the simulation reached the end of its time span, or a terminal event.
    message : str
        Why it ended.
    warnings : tuple of str
        What may be wrong with the numbers, such as a balance of energies that is not kept.
    events : EventLog
        The events that were looked for, and the states before and after them.
    constraint_names : tuple of str
        Names of the rows of the constraints; empty for a tree.
    multipliers : ndarray, shape (k, len(constraint_names))
        Lagrange multipliers, those of least norm where they are not unique, by the equations
        of the run; see `System.solve_dynamics` and `Baumgarte`. [N]
    residuals : ndarray, shape (k, 3)
        How well the constraints hold: the largest entry of their residual, of its rate, and of its
        acceleration; with `Baumgarte` that of its law, which pulls. [m], [m/s], [m/s^2]

    origin : object
        What `simulate` was given, for `mbkit.sensitivities` and `mbkit.gradient`; None in results
        of files, of other processes, and of runs that were written to a directory.

    Notes
    -----
    The arrays are copied and read-only; an array that is read-only already is taken as it is. They
    are of float64; single precision stays what it is. What a run did not save is not a number.
    Sequences among the options become tuples, and what is no number, text or sequence becomes
    text, so that a result read from a file says the same as the one that was written.

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
    <Result: 2 instants from 0 s to 1 s, nq = 1, nv = 1, completed>
    >>> run.energy
    array([3. , 2.5])
    """

    t: Floats = attrs.field(converter=_read_only)
    q: Floats = attrs.field(converter=_read_only)
    v: Floats = attrs.field(converter=_read_only)
    kinetic_energy: Floats = attrs.field(converter=_read_only)
    potential_energy: Floats = attrs.field(converter=_read_only)
    body_names: tuple[str, ...] = attrs.field(converter=_names)
    joint_names: tuple[str, ...] = attrs.field(converter=_names)
    position_names: tuple[str, ...] = attrs.field(converter=_names)
    velocity_names: tuple[str, ...] = attrs.field(converter=_names)
    dissipated_energy: Floats = attrs.field(
        default=attrs.Factory(_none_yet, takes_self=True), converter=_read_only
    )
    supplied_energy: Floats = attrs.field(
        default=attrs.Factory(_none_yet, takes_self=True), converter=_read_only
    )
    position_units: tuple[str, ...] = attrs.field(default=(), converter=_names)
    model: str = ""
    options: Mapping[str, Any] = attrs.field(factory=dict, converter=_plain)
    versions: Mapping[str, str] = attrs.field(factory=dict, converter=_plain)
    completed: bool = attrs.field(default=True, converter=bool)
    message: str = ""
    warnings: tuple[str, ...] = attrs.field(default=(), converter=_names)
    events: EventLog = attrs.field(default=attrs.Factory(_no_events, takes_self=True))
    constraint_names: tuple[str, ...] = attrs.field(default=(), converter=_names)
    multipliers: Floats = attrs.field(
        default=attrs.Factory(_no_multipliers, takes_self=True), converter=_read_only
    )
    residuals: Floats = attrs.field(
        default=attrs.Factory(_no_residuals, takes_self=True), converter=_read_only
    )
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
        """What the balance of energies misses, shape (k,): the error of the integrator. [J].

        Kinetic plus potential plus dissipated minus supplied energy, minus that at the first
        instant.
        """
        balance = self.energy + self.dissipated_energy - self.supplied_energy
        return balance - balance[:1]

    def __repr__(self) -> str:
        end = "completed" if self.completed else "not completed"
        if self.warnings:
            end += f", {len(self.warnings)} warning{'s' * (len(self.warnings) > 1)}"
        return (
            f"<Result: {self.t.size} instants from {self.t[0]:g} s to {self.t[-1]:g} s, "
            f"nq = {len(self.position_names)}, nv = {len(self.velocity_names)}, {end}>"
        )

    def __str__(self) -> str:
        return "\n".join([repr(self), *(f"Warning: {each}" for each in self.warnings)])

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies cannot be pickled, and unpickled arrays would be writable.
        fields = attrs.asdict(self, recurse=False) | {"origin": None}
        return _from_fields, (fields | {key: _writable(fields[key]) for key in _MAPPINGS},)

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
        from mbkit.results.labelled import to_dataset

        return to_dataset(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a netCDF file; see `mbkit.io.results.netcdf.save_result`.

        An existing file of this name is replaced, at the end and at once: whatever happens
        meanwhile, the name stands for the whole old file or for the whole new one.

        Parameters
        ----------
        path : str or path
            Where to; its folder must exist, and its name must end in ``.nc`` (or ``.nc4``,
            ``.h5``, ``.hdf5``).

        Raises
        ------
        UsageError
            If the name ends in another suffix.
        ResultFileError
            If it cannot be written there.
        """
        from mbkit.io.results.netcdf import save_result

        save_result(self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw positions, velocities and energies over time; see `mbkit.viz.plot.plot_result`.

        Parameters
        ----------
        path : str or path, optional
            Where to write the picture; the suffix says in which format. Without it, the figure is
            one of pyplot's, and ``matplotlib.pyplot.show()`` opens it.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, to be changed or saved further.
        """
        from mbkit.viz.plot import plot_result

        return plot_result(self, path)


_MAPPINGS = ("options", "versions")


def _writable(value: Any) -> Any:
    return {k: _writable(v) for k, v in value.items()} if isinstance(value, Mapping) else value


def _from_fields(fields: dict[str, Any]) -> Result:
    return Result(**fields)

"""Pictures of one configuration, and live pages of a mechanism."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError
from mbkit.given_values import is_whole, positive_number
from mbkit.spatial.arrays import FloatArray
from mbkit.viz.animate import traces_of
from mbkit.viz.arrows import given_wrenches
from mbkit.viz.film import Film
from mbkit.viz.scene import scene_of
from mbkit.viz.viewers.choice import live_viewer, named_viewer, target_of, write_film, writer_of
from mbkit.viz.viewers.viser_stage import LOCAL, T_END
from mbkit.viz.viewers.viser_viewer import page

if TYPE_CHECKING:
    from mbkit.systems import System
    from mbkit.systems.calls.arguments import Configuration


@final
@attrs.frozen(eq=False, repr=False)
class Picture:
    """A system at a configuration: shown by notebooks, or saved.

    Attributes
    ----------
    film : Film
        The film, of one frame.
    """

    film: Film

    def __repr__(self) -> str:
        return f"<Picture of '{self.film.title}': {len(self.film.scene.parts)} parts>"

    def save(self, path: str | os.PathLike[str], *, viewer: str | None = None) -> None:
        """Write the picture to a file, in the format of its suffix, as for `Result.animate`."""
        target = target_of(path)
        write_film(writer_of(target, viewer), self.film, target)

    def _repr_html_(self) -> str:
        text = html.escape(page(self.film), quote=True)
        return f'<iframe srcdoc="{text}" width="100%" height="400" style="border:none"></iframe>'


def draw(system: System, q: Configuration | None) -> Picture:
    """Return a picture of a configuration; see `System.draw`."""
    checked = _configuration(system, q)
    if isinstance(q, Mapping) and system.num_position_constraints:
        checked = system.close_loops(q)
    return Picture(Film(scene_of(system), np.zeros(1), checked[None], 1.0, system.name))


def show(
    system: System,
    q: ArrayLike | None = None,
    *,
    host: str = LOCAL,
    port: int = 8080,
    viewer: str | None = None,
    traces: Iterable[str] = (),
    wrenches: Mapping[str, ArrayLike] | None = None,
    t_end: float = T_END,
) -> Any:
    """Show a system on a live page, with a slider for each coordinate of a joint.

    Prescribed joints have a slider of the time in common.

    Parameters
    ----------
    system : System
        In any coordinates; the sliders are those of its joints, in relative coordinates.
    q : array_like, shape (nq,), optional
        The configuration at first; by default the reference. Its loops are closed.
    host : str
        The address that the page is served at: by default none but this machine sees it.
    port : int
        The first port that is tried.
    viewer : str, optional
        The viewer that shows it, by name; by default the first viewer that is live.
    traces : iterable of str
        Bodies and named frames whose origins leave a line behind.
    wrenches : mapping of str to array_like, shape (6,), optional
        Wrenches (moment, force) on bodies that are arrows: in the axes of the world, about the
        origin of the body's frame.
    t_end : float
        Time at the end of the slider of the time; that of a table of positions ends with it. [s]

    Returns
    -------
    LivePage
        With its `url`, its `q`, and `close`; it returns at once, and ``wait()`` waits.

    Raises
    ------
    UsageError
        If no viewer is live, or viser is not installed.
    NameUnknownError
        If there is no such body or frame.
    ConstraintError
        If the loops cannot be closed near `q`.
    """
    start = _configuration(system, q)
    if not isinstance(host, str) or not host:
        raise UsageError(f"show: host must be an address, such as '{LOCAL}', got {host!r}.")
    if not (is_whole(port) and 0 <= port < 65536):
        raise UsageError(f"show: port must be an integer from 0 to 65535, got {port!r}.")
    last = positive_number("show: t_end", t_end, unit="seconds")
    found = live_viewer() if viewer is None else named_viewer(viewer)
    joints = system._blueprint.relative() if system.free_joints else system
    if joints is not system:
        start = joints.state_of(system, start)[0]
    if joints.prescribed_joints:
        start = joints.prescribed_state(0.0, start)[0]
    if joints.num_position_constraints:
        start = joints.close_loops(start)
    options: dict[str, Any] = {"host": host, "port": port}
    if joints.prescribed_joints:
        options["t_end"] = last
    if paths := traces_of(joints, start[None], traces, "show"):
        options["traces"] = paths
    if wrenches is not None:
        if not isinstance(wrenches, Mapping):
            raise UsageError(
                "show: wrenches must be arrays (moment, force) by names of bodies, such as "
                f"{{'hand': [0, 0, 0, 0, 0, -5.0]}}, got {wrenches!r}."
            )
        given_wrenches(joints, wrenches, start[None], [0], 1, "show")  # whether they are such
        options["wrenches"] = dict(wrenches)
    return found.show(scene_of(joints), start, **options)


def _configuration(system: System, q: Any) -> FloatArray:
    """Return a configuration, by default the reference; ShapeError if it does not fit."""
    return system.reference_configuration() if q is None else system.checked("q", q, finite=True)

"""Films of runs and pictures of configurations, written by the viewer of a file's suffix."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import (
    MbkitError,
    NameUnknownError,
    UsageError,
    check_switch,
    listed,
    several,
    suggestion,
)
from mbkit.given_values import as_list, is_whole, positive_number
from mbkit.io.toml.loading import parse_model
from mbkit.results.palette import COLOURS
from mbkit.simulation.long_runs.resume import strategies
from mbkit.spatial.arrays import FloatArray
from mbkit.viz.arrows import arrows_of, given_wrenches, reactions_of_run
from mbkit.viz.film import Film, Trace, frames_of
from mbkit.viz.image_size import SIZE
from mbkit.viz.scene import LAYERS, scene_of
from mbkit.viz.scene.scene import Color
from mbkit.viz.viewers.choice import target_of, write_film, writer_of

if TYPE_CHECKING:
    from mbkit.results.result import Result
    from mbkit.systems import System


#: Points of a trace, beside those of the frames: every saved instant of runs that are no longer.
_MOST_POINTS = 4000

#: Pixels along a side, of a picture that the graphics can hold twice as fine.
_LARGEST = 4096


def animate(
    run: Result,
    path: str | os.PathLike[str],
    *,
    viewer: str | None = None,
    speed: float = 1.0,
    frame_rate: float = 30.0,
    traces: Iterable[str] | str = (),
    reactions: Iterable[str] | str = (),
    wrenches: Mapping[str, ArrayLike] | None = None,
    layers: Mapping[str, bool] | None = None,
    size: tuple[int, int] = SIZE,
    system: System | None = None,
) -> None:
    """Write a film of a run, for `Result.animate`.

    Parameters
    ----------
    run : Result
        The run that is shown.
    path : str or path
        Where to write it, in the format of the suffix, such as ``.html``. Its folder must exist.
    viewer : str, optional
        The viewer that writes it, by name; by default the first one that writes such files.
    speed, frame_rate, traces, reactions, wrenches, layers, size, system : see `film_of`

    Raises
    ------
    UsageError
        If no viewer writes such files, a package is not installed, the file cannot be written, or
        the run does not give its system.
    """
    target = target_of(path)
    writer = writer_of(target, viewer)
    film = film_of(
        run, speed=speed, frame_rate=frame_rate, traces=traces, reactions=reactions,
        wrenches=wrenches, layers=layers, size=size, system=system,
    )  # fmt: skip
    write_film(writer, film, target)


def film_of(
    run: Result,
    *,
    speed: float = 1.0,
    frame_rate: float = 30.0,
    traces: Iterable[str] | str = (),
    reactions: Iterable[str] | str = (),
    wrenches: Mapping[str, ArrayLike] | None = None,
    layers: Mapping[str, bool] | None = None,
    size: tuple[int, int] = SIZE,
    system: System | None = None,
) -> Film:
    """Return the film of a run.

    Parameters
    ----------
    run : Result
        The run that is shown.
    speed : float
        Seconds of the run in a second of the film.
    frame_rate : float
        Frames in a second of the film, at most; instants that the run has not saved are not seen.
    traces : str or sequence of str
        Bodies and named frames whose origins leave a line behind.
    reactions : str or sequence of str
        Joints whose reactions on their successors are arrows: forces red, moments violet with two
        heads, the longest of each 0.4 of the size of the mechanism. Where redundant constraints
        leave them open, those of multipliers of least norm.
    wrenches : mapping of str to array_like, shape (6,) or (k, 6), optional
        Moment and force on bodies or frames, constant or at the k saved instants, in the axes of
        the world and about the origin of the frame; arrows likewise. [N m], [N]
    layers : mapping of str to bool, optional
        The layers shown, of `mbkit.viz.scene.LAYERS`: ``{"frames": True, "joint names": False}``.
        Names of more than eight joints are not shown by default.
    size : (int, int), default (720, 480)
        Width and height of images; of no meaning for pages. [pixels]
    system : System, optional
        That of the run, where its file does not give it.

    Returns
    -------
    Film
        Frames are saved instants; those whose state is not finite are left out.

    Raises
    ------
    UsageError
        If an option has not the form that it needs, or the run does not give its system.
    NameUnknownError
        If there is no such body or frame.
    """
    for name, value in (("speed", speed), ("frame_rate", frame_rate)):
        positive_number(f"animate: {name}", value)
    system = system_of(run) if system is None else _checked(system, run)
    finite = np.flatnonzero(np.isfinite(run.q).all(axis=1))
    if not len(finite):
        raise UsageError("animate: the run has no instant whose positions are all finite.")
    rows = finite[frames_of(run.t[finite], float(frame_rate), float(speed))]
    joints = [reactions] if isinstance(reactions, str) else reactions
    if not several(joints) or isinstance(wrenches, str) or not isinstance(wrenches or {}, Mapping):
        raise UsageError(
            f"animate: reactions must be names of joints, and wrenches arrays by names of bodies, "
            f"got {reactions!r} and {wrenches!r}."
        )
    scene = scene_of(system)
    shown = reactions_of_run(system, run, rows, joints)
    shown += given_wrenches(system, wrenches or {}, run.q[rows], rows, run.t.size)
    return Film(
        scene, run.t[rows], run.q[rows], float(speed), system.name,
        traces=_paths(system, run, finite, rows, traces), layers=_checked_layers(layers),
        arrows=arrows_of(shown, scene.size),
        size=_checked_size(size),
    )  # fmt: skip


def _paths(system: System, run: Result, finite: Any, rows: Any, given: Any) -> tuple[Trace, ...]:
    """Return the paths of points through saved instants, and how far they are at each frame.

    `finite` are the instants that can be seen, `rows` those of the frames; of long runs some.
    """
    some = np.union1d(finite[:: -(-len(finite) // _MOST_POINTS)], rows)
    counts = np.searchsorted(some, rows, side="right")
    found = traces_of(system, run.q[some], given, "animate")
    return tuple(attrs.evolve(each, counts=counts) for each in found)


def traces_of(system: System, q: FloatArray, given: Any, who: str) -> tuple[Trace, ...]:
    """Return the paths of the origins of bodies and frames, in distinct colours.

    Of configurations (k, nq); messages of UsageError and NameUnknownError begin with `who`.
    """
    names = as_list(given)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"{who}: traces must be names of bodies and frames, such as ['hand'], got {given!r}."
        )
    known = {*system.body_names[1:], *system.frames}
    for name in names:
        if name not in known:
            raise NameUnknownError(
                f"{who}: traces: there is no body or frame {name!r}; {suggestion(name, known)}"
            )
    return tuple(
        Trace(name, system.pose(name, q)[:, :3, 3], _color(k)) for k, name in enumerate(names)
    )


def _color(number: int) -> Color:
    """Return a colour that bodies do not begin with: those of curves, from the second on."""
    hexes = COLOURS[1:7]
    code = hexes[number % len(hexes)]
    red, green, blue = (int(code[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
    return red, green, blue, 1.0


def _checked_layers(layers: Any) -> dict[str, bool]:
    if layers is not None and not isinstance(layers, Mapping):
        raise UsageError(
            f"animate: layers must say what is shown, such as {{'frames': True}}, got {layers!r}."
        )
    for name, shown in (layers or {}).items():
        if name not in LAYERS:
            raise NameUnknownError(
                f"animate: layers: there is no layer {name!r}; {suggestion(str(name), LAYERS)}"
            )
        check_switch(f"animate: layers: {name}", shown)
    return dict(layers or {})


def _checked_size(size: Any) -> tuple[int, int]:
    pixels = tuple(size) if several(size) and not isinstance(size, str | Mapping) else ()
    fits = [is_whole(each) and 16 <= each <= _LARGEST for each in pixels]
    if len(pixels) != 2 or not all(fits):
        raise UsageError(
            f"animate: size must be the width and the height of images, whole numbers of pixels "
            f"from 16 to {_LARGEST}, such as {SIZE}, got {size!r}."
        )
    return int(pixels[0]), int(pixels[1])


def system_of(run: Result) -> System:
    """Return the system of a run: that which was simulated, or that of the model in its file.

    UsageError if the file does not give it, as with joints of one's own.
    """
    from mbkit.plugins.registry import registry

    simulated = getattr(run.origin, "arguments", {}).get("system")
    if simulated is not None:
        return simulated  # type: ignore[no-any-return]
    ask = "give it: run.animate(path, system=system)."
    try:
        mechanism = parse_model(run.model, source="the run")
        name = run.options.get("representation", "body_fixed")
        coordinates = strategies(run.options, registry().find("representation", name))[0]
        system = mechanism.assemble(coordinates)
    except (MbkitError, TypeError) as error:
        raise UsageError(
            f"The run does not give the system that it was computed with ({error}); {ask}"
        ) from error
    return _checked(system, run)


def _checked(system: Any, run: Result) -> System:
    """Return a system, or raise UsageError if it is not that of a run."""
    own = getattr(system, "position_names", None), getattr(system, "body_names", None)
    if own != (run.position_names, run.body_names):
        raise UsageError(
            f"animate: the run has the bodies {listed(run.body_names[1:])} and the positions "
            f"{listed(run.position_names)}, and {system!r} has not; give the system that was "
            f"simulated: run.animate(path, system=system)."
        )
    return system  # type: ignore[no-any-return]

"""A live page: a mechanism in the browser, moved by sliders."""

from __future__ import annotations

import functools
import html
import math
import threading
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import MbkitError, UsageError
from mbkit.spatial.arrays import FloatArray
from mbkit.viz.arrows import Wrenches, arrows_of, given_wrenches, reactions
from mbkit.viz.film import Arrow, Trace
from mbkit.viz.scene import Scene
from mbkit.viz.trails import Trails
from mbkit.viz.viewers.joint_sliders import Posture, last_time, sliders_of
from mbkit.viz.viewers.viser_stage import T_END, Stage, server_at, silence

#: Steps of sliders are powers of ten, at most this part of their range.
_FINE = 1e-3
#: How much more is in view than the mechanism at first.
_ROOM = 1.5


@final
class LivePage:
    """A page at `url`, until `close` is called, or the process ends.

    Attributes
    ----------
    url : str
        The address to open in a browser.
    posture : Posture
        The state that the sliders move: its `q`, the `gap` of its loops.

    See `mbkit.viz.show.show` for the arguments; `traces` have names and colours.
    """

    def __init__(
        self,
        scene: Scene,
        q: FloatArray,
        *,
        host: str,
        port: int,
        traces: Sequence[Trace] = (),
        wrenches: Mapping[str, ArrayLike] | None = None,
        t_end: float = T_END,
    ) -> None:
        system = scene.system
        self._t_end = last_time(system, t_end)
        self.posture = Posture(system, q, sliders_of(system, scene.size))
        self._start, self._seen = q.copy(), q.copy()
        self._server = server_at(host, port)
        self._stage = Stage(self._server, scene, q, scene.layers, room=_ROOM)
        self._trails = Trails(system, traces, 0.06 * scene.glyph)
        self._has_reactions, self._wrenches = False, dict(wrenches or {})
        self._wanted: dict[int | None, float] = {}
        self._lock, self._changed = threading.Lock(), threading.Condition()
        self._closed = threading.Event()
        self.url = f"http://{host}:{self._server.get_port()}"
        self._add_controls()
        self._show()

    def __repr__(self) -> str:
        where = "closed" if self._closed.is_set() else self.url
        return f"<LivePage of '{self._stage.scene.system.name}': {where}>"

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks on this machine."""
        url = html.escape(self.url, quote=True)
        if self._closed.is_set():
            return f"<p>{html.escape(repr(self))}</p>"
        frame = f'<iframe src="{url}" width="100%" height="480" style="border:none"></iframe>'
        return f'<p><a href="{url}" target="_blank">{url}</a></p>{frame}'

    @property
    def q(self) -> FloatArray:
        """The configuration that is seen, (nq,)."""
        return self.posture.q.copy()

    @property
    def t(self) -> float:
        """Time at which prescribed joints are seen. [s]."""
        return self.posture.t

    def move(self, number: int, value: float) -> None:
        """Move a coordinate, as its slider does; the others follow."""
        self._go(number, value)

    def move_to(self, t: float) -> None:
        """Go to a time, as the slider of the time does; prescribed joints go where they are then.

        UsageError if no joint is prescribed.
        """
        if not self.posture.system.prescribed_joints:
            raise UsageError(
                f"move_to: no joint of '{self.posture.system.name}' is prescribed, and nothing "
                f"depends on the time; move its joints: page.move(k, value)."
            )
        self._go(None, t)

    def _go(self, number: int | None, value: float) -> None:
        """Move a coordinate, by the number of its slider, or the time."""
        with self._changed:
            self._wanted = {number: value}  # where the mouse was before does not matter any more
        with self._lock:
            with self._changed:
                wanted, self._wanted = self._wanted, {}
            for each, there in wanted.items():
                if each is None:
                    self.posture.move_to(there)
                else:
                    self.posture.move(each, there)
            if wanted:
                self._show()

    def close(self) -> None:
        """End the page."""
        self._closed.set()
        with silence():
            self._server.stop()

    def wait(self) -> None:
        """Wait until the page is closed, or Ctrl-C."""
        try:
            self._closed.wait()
        except KeyboardInterrupt:
            self.close()

    def _add_controls(self) -> None:
        gui = self._server.gui
        gui.set_panel_label(self._stage.scene.system.name)
        # beside the picture, not over it; a page is not shared through other hosts
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        self._sliders: list[Any] = []
        with gui.add_folder("Joints"):
            self._message = gui.add_markdown("")  # above sliders, which may reach below the window
            self._time = None
            if self._t_end:
                self._time = _slider(gui, "time [s]", 0.0, self._t_end, 0.0)
                self._time.on_update(self._on_time)
            for number, each in enumerate(self.posture.sliders):
                value = self.posture.values()[number]
                label = f"{each.name} [{each.unit}]" if each.unit else each.name
                slider = _slider(gui, label, each.lower, each.upper, value)
                slider.on_update(functools.partial(self._on_slider, number))
                self._sliders.append(slider)
            gui.add_button("Reset").on_click(self._on_reset)
            if self._trails.points:
                gui.add_button("Clear traces").on_click(self._on_clear)
        with gui.add_folder("Show"):
            reactions = gui.add_checkbox("reactions from rest", False)
            reactions.on_update(self._on_reactions)
            for layer, shown in self._stage.scene.layers.items():
                box = gui.add_checkbox(layer, shown)
                box.on_update(functools.partial(self._on_layer, layer))

    def _on_slider(self, number: int, event: Any) -> None:
        if event.client is not None:  # else it has followed
            self.move(number, event.target.value)

    def _on_time(self, event: Any) -> None:
        if event.client is not None:
            self.move_to(event.target.value)

    def _on_layer(self, layer: str, event: Any) -> None:
        self._stage.show_layer(layer, event.target.value)

    def _on_reactions(self, event: Any) -> None:
        with self._lock:
            self._has_reactions = event.target.value
            self._show()

    def _on_reset(self, _event: Any) -> None:
        with self._lock:
            self.posture.q, self.posture.message = self._start.copy(), ""
            self.posture.t = 0.0
            self._show()

    def _on_clear(self, _event: Any) -> None:
        with self._lock:
            self._trails.clear()
            self._show()

    def _loads(self) -> tuple[Arrow, ...]:
        """Return the given wrenches, and the reactions if they are wanted, as arrows."""
        found = given_wrenches(
            self.posture.system, self._wrenches, self.posture.q[None], [0], 1, "show"
        )
        found += self._reactions() if self._has_reactions else []
        return arrows_of(found, self._stage.scene.size)

    def _reactions(self) -> Wrenches:
        """Return the reactions of all joints when it is let go at rest; none where there are none.

        Those of a posture without a unique acceleration, such as a singular one.
        """
        system, q = self.posture.system, self.posture.q[None]
        names = [name for name, place in system.joint_places.items() if not place.is_weld]
        try:
            return reactions(system, names, q, np.zeros((1, system.nv)), t=self.posture.t)
        except MbkitError as error:
            self.posture.message = str(error)
            return []

    def _show(self) -> None:
        """Move the parts and the sliders to the configuration."""
        self._stage.place(self.posture.q)
        self._stage.follow(self._seen, self.posture.q)
        self._seen = self.posture.q.copy()
        values = [*self.posture.values(), *([] if self._time is None else [self.posture.t])]
        sliders = [*self._sliders, *([] if self._time is None else [self._time])]
        for slider, value in zip(sliders, values, strict=True):
            within = _rounded(float(np.clip(value, slider.min, slider.max)), slider.step)
            if abs(slider.value - within) > 0.5 * slider.step:
                slider.value = within
        self._stage.set_arrows(self._loads())
        self._trails.follow(self._server, self.posture.q)
        told = [self.posture.message] if self.posture.message else []
        if self.posture.system.num_position_constraints:
            told.append(f"Loops are closed to {self.posture.gap:.1e} m")
        self._message.content = " ".join(f"{each.removesuffix('.')}." for each in told)


def _slider(gui: Any, label: str, lower: float, upper: float, value: float) -> Any:
    """Add a slider whose numbers have no more digits than its steps, and no sign before zero."""
    low, high = min(lower, value), max(upper, value)
    step = 10.0 ** math.floor(math.log10(max((high - low) * _FINE, 1e-6)))
    low, high = _rounded(low, step), _rounded(high, step)
    return gui.add_slider(label, low, max(high, low + step), step, _rounded(value, step))


def _rounded(value: float, step: float) -> float:
    """Return a number to the decimals of a step, a power of ten; zero has no sign.

    Examples
    --------
    >>> _rounded(-1.2e-17, 1e-3), _rounded(2.00049, 1e-3)
    (0.0, 2.0)
    """
    return round(value, max(0, -round(math.log10(step)))) + 0.0

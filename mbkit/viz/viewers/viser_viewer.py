"""Pages of viser: films in one file of HTML, and live ones with sliders."""

from __future__ import annotations

import html
import pathlib
from typing import TYPE_CHECKING, Any, final

import numpy as np

from mbkit.spatial.arrays import FloatArray
from mbkit.viz.film import Film
from mbkit.viz.scene import Scene
from mbkit.viz.viewers.live_page import LivePage
from mbkit.viz.viewers.viewer import Viewer
from mbkit.viz.viewers.viser_stage import LOCAL, Stage, recorded, server_at, silence

if TYPE_CHECKING:
    from viser import ViserServer


@final
class ViserViewer(Viewer):
    """Writes pages that play in any browser without a connection; shows live ones."""

    suffixes = (".html",)

    def write(self, film: Film, path: pathlib.Path) -> None:
        """Write a page with the film, and its player."""
        path.write_text(page(film), encoding="utf-8")

    def show(self, scene: Scene, q: FloatArray, **options: Any) -> LivePage:
        """Show a page with a slider for each coordinate of a joint; see `mbkit.viz.show.show`."""
        options.setdefault("host", LOCAL)
        options.setdefault("port", 8080)
        return LivePage(scene, q, **options)


def page(film: Film) -> str:
    """Return a page of HTML that plays a film, or shows a picture if it has one frame."""
    server = server_at(LOCAL, 0)
    try:
        stage = Stage(server, film.scene, film.q, film.shown)
        _add_traces(server, film)
        stage.set_arrows(film.arrows)
        waits = np.diff(film.t, append=film.t[-1]) / film.speed
        text: str = recorded(stage, film.q, waits).as_html()
    finally:
        with silence():
            server.stop()
    title = html.escape(film.title or "mbkit")
    return text.replace("<title>Viser</title>", f"<title>{title}</title>", 1)


def _add_traces(server: ViserServer, film: Film) -> None:
    """Add the paths of points, whole from the first frame on."""
    for trace in film.traces:
        if len(trace.points) > 1:
            rgb = np.round(255.0 * np.array(trace.color[:3])).astype(np.uint8)
            segments = np.stack([trace.points[:-1], trace.points[1:]], axis=1)
            server.scene.add_line_segments(
                f"/traces/{trace.name}", segments, rgb, thickness=0.06 * film.scene.glyph
            )

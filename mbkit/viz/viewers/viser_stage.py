"""A scene in viser: its nodes by layers, its camera and its ground, and where its parts are."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
import numpy.typing as npt

from mbkit.extras import extra_package
from mbkit.spatial.arrays import FloatArray
from mbkit.viz.film import Arrow
from mbkit.viz.scene import Camera, Scene
from mbkit.viz.scene.meshes import cone, cylinder, pose_along

if TYPE_CHECKING:
    from viser import ViserServer
    from viser.infra import StateSerializer

#: Width of a letter and height of a line, in parts of the height of a page of usual size.
_LETTER, _LINE = 0.0105, 0.03

#: Length of the head of an arrow, in parts of the length of axes.
_HEAD = 0.35

#: The default address that a page is served at.
LOCAL = "127.0.0.1"

#: Default time up to which prescribed joints can be moved. [s]
T_END = 10.0


def server_at(host: str, port: int) -> ViserServer:
    """Return a server of viser, without its output; UsageError if it is not installed."""
    viser = extra_package("viser", "Pages need viser", "view")
    with silence():
        server: ViserServer = viser.ViserServer(host=host, port=port, verbose=False)
    return server


def silence() -> contextlib.redirect_stdout[io.StringIO]:
    """Return a context in which viser's banner, and its farewell, are not printed."""
    return contextlib.redirect_stdout(io.StringIO())


def quaternions(R: FloatArray) -> npt.NDArray[np.float64]:
    """Return unit quaternions (..., 4), the real part first, of rotations (..., 3, 3)."""
    from viser.transforms import SO3

    return np.asarray(SO3.from_matrix(R).wxyz, dtype=np.float64)


def _rotation(wxyz: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the rotation (3, 3) of a unit quaternion, the real part first."""
    from viser.transforms import SO3

    return np.asarray(SO3(wxyz).as_matrix(), dtype=np.float64)


@final
class Stage:
    """The nodes of a scene on a server, moved by `place`.

    Each layer is a node, ``/joints``, with its parts below it, so that the tree of the page shows
    and hides layers.
    """

    def __init__(
        self,
        server: ViserServer,
        scene: Scene,
        q: FloatArray,
        layers: Mapping[str, bool],
        *,
        room: float = 1.0,
    ) -> None:
        self.server, self.scene = server, scene
        server.scene.set_up_direction(tuple(scene.up))
        server.scene.world_axes.visible = False
        self._groups = {
            layer: server.scene.add_frame(f"/{layer}", show_axes=False, visible=shown)
            for layer, shown in layers.items()
        }
        self._nodes = [self._part(part) for part in scene.parts]
        self._labels = [self._label(label) for label in scene.labels]
        self._last: Any = None
        self._arrows: tuple[Arrow, ...] = ()
        self._arrow_nodes: list[list[Any]] = []
        camera = self._set_view(q, room)
        first = q.reshape(-1, q.shape[-1])[0]
        self._rises = rises(scene, first, camera)[:, None] * scene.up

    def show_layer(self, layer: str, visible: bool) -> None:
        """Show or hide a layer."""
        self._groups[layer].visible = visible

    def _part(self, part: Any) -> Any:
        name, add = f"/{part.layer}/{_word(part.name)}", self.server.scene
        if part.mesh is None:
            length = self.scene.glyph
            return add.add_frame(name, axes_length=length, axes_radius=0.04 * length)
        *rgb, opacity = part.color
        return add.add_mesh_simple(
            name, part.mesh.vertices, part.mesh.faces, color=tuple(rgb),
            opacity=None if opacity == 1.0 else opacity, cast_shadow=opacity == 1.0,
        )  # fmt: skip

    def _label(self, label: Any) -> Any:
        return self.server.scene.add_label(
            f"/{label.layer}/{_word(label.text)}", label.text, anchor="bottom-center",
            font_screen_scale=0.8,
        )  # fmt: skip

    def set_arrows(self, arrows: tuple[Arrow, ...]) -> None:
        """Show arrows, in place of those before, at their first frame."""
        for node in (each for nodes in self._arrow_nodes for each in nodes):
            node.remove()
        self._arrows, self._arrow_nodes = arrows, [self._arrow(each) for each in arrows]
        self._place_arrows(0)

    def _arrow(self, arrow: Arrow) -> list[Any]:
        """Add a shaft of length one, and one head or two."""
        width = 0.06 * self.scene.glyph
        shaft, head = cylinder(width, 1.0), cone(2.5 * width, _HEAD * self.scene.glyph)
        return [
            self.server.scene.add_mesh_simple(
                f"/arrows/{_word(arrow.name)} {k}", mesh.vertices, mesh.faces,
                color=arrow.color[:3], cast_shadow=False,
            )
            for k, mesh in enumerate([shaft, head, head] if arrow.double else [shaft, head])
        ]  # fmt: skip

    def _place_arrows(self, frame: int) -> None:
        for arrow, (shaft, *heads) in zip(self._arrows, self._arrow_nodes, strict=True):
            start, way = arrow.origins[frame], arrow.vectors[frame]
            length = float(np.linalg.norm(way))
            for node in (shaft, *heads):
                node.visible = length > 1e-3 * self.scene.glyph
            if length > 0.0:
                turn, along = quaternions(pose_along(way, start)[:3, :3]), way / length
                head = min(_HEAD * self.scene.glyph, 0.5 * length)
                shaft.wxyz, shaft.position = turn, start + 0.5 * (length - head) * along
                shaft.scale = (1.0, 1.0, max(length - head, 1e-9))
                for k, node in enumerate(heads):
                    node.wxyz, node.position = turn, start + (length - (1 + 0.8 * k) * head) * along
                    node.scale = head / (_HEAD * self.scene.glyph)

    def place(self, q: FloatArray) -> None:
        """Move all parts to where they are at a configuration (nq,)."""
        self.place_at(*self.places(q[None]), 0)

    def places(self, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return quaternions and positions of parts, and positions of labels, of each of q."""
        poses = self.scene.poses(q)
        return (
            quaternions(poses[..., :3, :3]),
            poses[..., :3, 3],
            self.scene.points(self.scene.labels, q) + self._rises,
        )

    def place_at(
        self, turns: FloatArray, points: FloatArray, labels: FloatArray, frame: int
    ) -> None:
        """Move all parts to their places of a frame; those that have not moved send nothing."""
        last = self._last
        with self.server.atomic():
            for k, node in enumerate(self._nodes):
                if last is None or np.abs(turns[frame, k] - last[0][k]).max() > 1e-9:
                    node.wxyz = turns[frame, k]
                if last is None or np.abs(points[frame, k] - last[1][k]).max() > 0.0:
                    node.position = points[frame, k]
            for k, node in enumerate(self._labels):
                if last is None or np.abs(labels[frame, k] - last[2][k]).max() > 0.0:
                    node.position = labels[frame, k]
            if any(len(arrow.origins) > 1 for arrow in self._arrows):
                self._place_arrows(frame)
        self._last = turns[frame], points[frame], labels[frame]

    def follow(self, before: FloatArray, q: FloatArray) -> None:
        """Let cameras go along with a move from one configuration (nq,) to another.

        Those whose picture it leaves: who has turned to a part of the mechanism keeps that in view.
        """
        for client in self.server.get_clients().values():
            view = client.camera
            if view.update_timestamp == 0.0 or not view.image_width * view.image_height:
                continue  # its camera is not known yet, or it has no picture
            up = -_rotation(view.wxyz)[:, 1]
            camera = Camera(view.position, view.look_at, up, view.fov)
            aspect = view.image_width / view.image_height
            if self.scene.is_in_view(camera, before, aspect=aspect) and not self.scene.is_in_view(
                camera, q, aspect=aspect
            ):
                camera = self.scene.stepped_back(camera, q, aspect=aspect)
                with client.atomic():
                    view.position, view.look_at = camera.position, camera.target

    def _set_view(self, q: FloatArray, room: float) -> Camera:
        """Point the camera at all configurations (..., nq), and lay a ground below them."""
        scene, up = self.scene, self.scene.up
        camera = scene.camera(q)
        away = room * (camera.position - camera.target)
        camera = attrs.evolve(camera, position=camera.target + away)
        view = self.server.initial_camera
        distance = float(np.linalg.norm(camera.position - camera.target))
        view.position, view.look_at, view.up = camera.position, camera.target, camera.up
        view.fov, view.near, view.far = camera.field_of_view, 0.01 * distance, 100.0 * distance
        centre, radius = scene.bounds(q)
        cell = _round_length(0.5 * radius)
        ground = pose_along(up, centre - 1.02 * scene.reach(q, -up) * up)
        self.server.scene.add_grid(
            "/grid", infinite_grid=True, fade_distance=4.0 * distance, cell_size=cell,
            section_size=cell, cell_color=(215, 215, 220), section_color=(215, 215, 220),
            wxyz=quaternions(ground[:3, :3]), position=ground[:3, 3],
        )  # fmt: skip
        return camera


def rises(scene: Scene, q: FloatArray, camera: Camera) -> FloatArray:
    """Return by how much labels stand above their points, so that none is over another. [m].

    At one configuration (nq,), seen from where the camera is at first. Names of bodies make room
    for those of joints, which stand alike whether bodies have theirs.
    """
    points = scene.points(scene.labels, q)
    ahead = (camera.target - camera.position) / np.linalg.norm(camera.target - camera.position)
    right = np.cross(ahead, camera.up)
    right /= np.linalg.norm(right)
    way = points - camera.position
    depth = way @ ahead
    # a metre across the line of sight is so much of the height of the picture
    scale = 0.5 / math.tan(0.5 * camera.field_of_view) / depth
    x, y = way @ right * scale, way @ np.cross(right, ahead) * scale
    found = np.zeros(len(points))
    boxes: list[tuple[float, float, float]] = []
    for k in sorted(range(len(y)), key=lambda k: (scene.labels[k].layer != "joint names", y[k])):
        label = scene.labels[k]
        half = 0.5 * _LETTER * (len(label.text) + 1)
        height = y[k] + 0.4 * scene.glyph * scale[k]
        while any(
            abs(x[k] - other) < half + width and abs(height - there) < _LINE
            for other, there, width in boxes
        ):
            height += 0.25 * _LINE
        boxes.append((float(x[k]), float(height), half))
        found[k] = (height - y[k]) / scale[k]
    return found


def _round_length(length: float) -> float:
    """Return the next smaller of 1, 2 and 5, times a power of ten."""
    power = 10.0 ** math.floor(math.log10(length))
    return float(max(step * power for step in (1.0, 2.0, 5.0) if step * power <= length))


def _word(name: str) -> str:
    """Return a name without the separator of names of nodes."""
    return name.replace("/", "∕")


def recorded(stage: Stage, q: FloatArray, waits: FloatArray) -> StateSerializer:
    """Return the recording of configurations (k, nq), each shown for waits (k,). [s]."""
    turns, points, labels = stage.places(q)
    stage.place_at(turns, points, labels, 0)
    recording = stage.server.get_scene_serializer()
    for frame, wait in enumerate(waits):
        if frame:
            stage.place_at(turns, points, labels, frame)
        recording.insert_sleep(float(wait))
    return recording

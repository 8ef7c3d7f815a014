"""Scenes on the renderer of MuJoCo, without a window: an image of each configuration."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
from collections.abc import Mapping
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mbkit.errors import UsageError
from mbkit.extras import extra_package
from mbkit.spatial.arrays import FloatArray
from mbkit.viz.film import Film
from mbkit.viz.scene import Camera, Scene

__all__ = ["Stage"]

#: Pixels that are rendered for each of an image, along each side: edges without steps.
_FINER = 2

#: Geometries of lines and arrows, besides the parts of a scene.
_MOST_LINES = 20_000

_AXES = ((0.84, 0.2, 0.15, 1.0), (0.15, 0.6, 0.2, 1.0), (0.1, 0.35, 0.8, 1.0))

Image = npt.NDArray[np.uint8]


@final
class Stage:
    """The parts of a film's scene as geometries of MuJoCo, seen by a camera that stands still.

    Used as a context manager, which frees the memory of the graphics; in one thread alone.
    UsageError if MuJoCo is not installed, or finds nothing to draw with.
    """

    def __init__(self, film: Film, camera: Camera) -> None:
        self._film = film
        self._camera = camera
        self._width, self._height = (_FINER * pixels for pixels in film.size)
        self._mujoco, make_context = _mujoco_and_graphics()
        layers = film.shown
        self._shown = [part.mesh is not None and layers[part.layer] for part in film.scene.parts]
        self._bare = [
            k for k, part in enumerate(film.scene.parts) if part.mesh is None and layers[part.layer]
        ]
        self._model = self._model_of(film.scene)
        self._data = self._mujoco.MjData(self._model)
        try:
            self._graphics = make_context(self._width, self._height)
            self._graphics.make_current()
            self._context = self._mujoco.MjrContext(
                self._model, self._mujoco.mjtFontScale.mjFONTSCALE_100
            )
        except Exception as error:  # each of the ways to draw raises what it likes
            raise UsageError(
                f"MuJoCo cannot draw here ({error}); install the graphics library EGL, on Debian "
                "and Ubuntu the package libegl1, or set MUJOCO_GL=osmesa where libosmesa6 is "
                "installed."
            ) from error
        self._mujoco.mjr_setBuffer(self._mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        count = len(film.scene.parts) + _MOST_LINES
        self._drawn = self._mujoco.MjvScene(self._model, maxgeom=count)
        self._drawn.flags[self._mujoco.mjtRndFlag.mjRND_SHADOW] = False
        self._drawn.flags[self._mujoco.mjtRndFlag.mjRND_REFLECTION] = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._context.free()
        self._graphics.free()

    def _model_of(self, scene: Scene) -> Any:
        """Return a model with a body for each part, which is moved by hand."""
        mujoco = self._mujoco
        spec = mujoco.MjSpec()
        _, radius = scene.bounds(self._film.q)
        spec.stat.extent = radius
        spec.stat.center = self._camera.target
        spec.visual.global_.offwidth, spec.visual.global_.offheight = self._width, self._height
        distance = float(np.linalg.norm(self._camera.position - self._camera.target))
        spec.visual.map.znear = 0.02 * distance / radius
        spec.visual.map.zfar = 50.0 * distance / radius
        spec.visual.headlight.ambient = (0.45, 0.45, 0.45)
        spec.visual.headlight.diffuse = (0.25, 0.25, 0.25)
        spec.visual.headlight.specular = (0.0, 0.0, 0.0)
        spec.add_texture(
            name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT, rgb1=(1.0, 1.0, 1.0),
            rgb2=(1.0, 1.0, 1.0), width=16, height=96,
        )  # fmt: skip
        spec.add_material(name="plain", specular=0.25, shininess=0.4)
        for direction, strength in self._lights():
            spec.worldbody.add_light(
                type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=direction, castshadow=False,
                diffuse=3 * (strength,), specular=3 * (0.3 * strength,), ambient=(0.0, 0.0, 0.0),
            )  # fmt: skip
        for k, part in enumerate(scene.parts):
            mesh = part.mesh
            # four vertices are the fewest that have a volume, which MuJoCo requires
            if mesh is None or not self._shown[k] or len(mesh.vertices) < 4:
                continue
            spec.add_mesh(
                name=f"mesh {k}", uservert=mesh.vertices.ravel(), userface=mesh.faces.ravel(),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
            )  # fmt: skip
            body = spec.worldbody.add_body(name=f"part {k}", mocap=True)
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"mesh {k}", rgba=part.color,
                contype=0, conaffinity=0, material="plain",
            )  # fmt: skip
        return spec.compile()

    def _lights(self) -> list[tuple[FloatArray, float]]:
        """Return directions and strengths: from above the left shoulder, and from the right."""
        ahead, right, up = self._camera.axes
        return [(ahead + 0.6 * right - 1.1 * up, 0.6), (ahead - 1.2 * right - 0.1 * up, 0.25)]

    def image(self, poses: FloatArray, row: int) -> Image:
        """Return an image (height, width, 3), twice as fine as the film, of one of its frames.

        Parameters
        ----------
        poses : ndarray, shape (parts, 4, 4)
            Of the parts of the scene.
        row : int
            Number of the frame, up to which traces are drawn.
        """
        mujoco, data = self._mujoco, self._data
        for k in range(self._model.nbody - 1):
            part = int(self._model.body(k + 1).name.split()[1])
            data.mocap_pos[k] = poses[part, :3, 3]
            mujoco.mju_mat2Quat(
                data.mocap_quat[k], np.ascontiguousarray(poses[part, :3, :3]).ravel()
            )
        mujoco.mj_forward(self._model, data)
        mujoco.mjv_updateScene(
            self._model, data, mujoco.MjvOption(), None, mujoco.MjvCamera(),
            mujoco.mjtCatBit.mjCAT_ALL, self._drawn,
        )  # fmt: skip
        self._place_camera()
        self._add_lines(poses, row)
        image = np.empty((self._height, self._width, 3), dtype=np.uint8)
        view = mujoco.MjrRect(0, 0, self._width, self._height)
        self._graphics.make_current()
        mujoco.mjr_render(view, self._drawn, self._context)
        mujoco.mjr_readPixels(image, None, view, self._context)
        return image[::-1]

    def _place_camera(self) -> None:
        ahead, _, up = self._camera.axes
        for eye in self._drawn.camera:
            eye.pos, eye.forward, eye.up = self._camera.position, ahead, up
            top = eye.frustum_near * np.tan(0.5 * self._camera.field_of_view)
            eye.frustum_top, eye.frustum_bottom, eye.frustum_center = top, -top, 0.0
            eye.frustum_width = top * self._width / self._height

    def _add_lines(self, poses: FloatArray, row: int) -> None:
        """Add frames, traces up to a frame of the film, and arrows of this frame."""
        film, kinds = self._film, self._mujoco.mjtGeom
        glyph = film.scene.glyph
        for k in self._bare:
            origin = poses[k, :3, 3]
            for axis, color in zip(poses[k, :3, :3].T, _AXES, strict=True):
                self._line(
                    kinds.mjGEOM_CYLINDER, origin, origin + glyph * axis, 0.03 * glyph, color
                )
        for trace in film.traces:
            for start, end in itertools.pairwise(trace.until(row)):
                self._line(kinds.mjGEOM_CAPSULE, start, end, 0.03 * glyph, trace.color)
        for arrow in film.arrows:
            kind = kinds.mjGEOM_ARROW2 if arrow.double else kinds.mjGEOM_ARROW
            start = arrow.origins[row]
            self._line(kind, start, start + arrow.vectors[row], 0.08 * glyph, arrow.color)

    def _line(
        self, kind: Any, start: FloatArray, end: FloatArray, radius: float, color: Any
    ) -> None:
        """Add a line of a kind; none of no length, and none where there are too many."""
        if not np.linalg.norm(end - start) > 1e-9 or self._drawn.ngeom >= self._drawn.maxgeom:
            return
        geometry = self._drawn.geoms[self._drawn.ngeom]
        rgba = np.array(color, dtype=np.float32)
        self._mujoco.mjv_initGeom(geometry, kind, np.zeros(3), np.zeros(3), np.eye(3).ravel(), rgba)
        self._mujoco.mjv_connector(geometry, kind, radius, start, end)
        self._drawn.ngeom += 1


def _mujoco_and_graphics() -> tuple[Any, Any]:
    """Return MuJoCo, and its class of contexts to draw in: by EGL where nothing is displayed."""
    displayed: Mapping[str, str] = os.environ
    if sys.platform.startswith("linux") and not (
        displayed.get("DISPLAY") or displayed.get("WAYLAND_DISPLAY")
    ):
        # MuJoCo looks at it when it is imported first
        os.environ.setdefault("MUJOCO_GL", "egl")
    remedy = "run.animate('run.html') writes a page by another one."
    need = "Pictures and films need MuJoCo's renderer"
    mujoco = extra_package("mujoco", need, "pictures", remedy)
    by_egl = os.environ.get("MUJOCO_GL", "").lower() == "egl"
    contexts = importlib.import_module("mujoco.egl" if by_egl else "mujoco.gl_context")
    return mujoco, contexts.GLContext

"""`Scene`: the visible parts of a system and their poses, for every viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.spatial.arrays import FloatArray, frozen_array
from mbkit.viz.scene.joint_places import DrawnJoint
from mbkit.viz.scene.meshes import Mesh, pose_along
from mbkit.viz.scene.plane_of_motion import plane_of_motion

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["LAYERS", "Camera", "Label", "Part", "Scene"]

#: The layers that can be shown and hidden, and those shown at first.
LAYERS = {
    "bodies": True, "ground": True, "joints": True, "joint names": True, "centres of mass": False,
    "inertia ellipsoids": False, "frames": False, "body names": False,
}  # fmt: skip

#: Joints whose names are seen at first; those of more would hide small bodies.
_NAMED = 8

#: Of the height of a picture. [rad]
FIELD_OF_VIEW = 0.7

#: Directions, all around, in which vertices are outermost.
_AROUND = np.array([each for each in np.ndindex(3, 3, 3) if each != (1, 1, 1)], float) - 1.0

#: Cosine of a normal with gravity from which a plane is level; the tilt of a camera above it,
#: which keeps the world upright.
_LEVEL, _TILT = 0.95, 0.25

#: Size of a picture, in parts of the scene: room for labels.
_MARGIN = 1.3

Color = tuple[float, float, float, float]


@final
@attrs.frozen(eq=False)
class Part:
    """Something rigid that is seen.

    Attributes
    ----------
    name : str
        Unique in the scene.
    layer : str
        One of `LAYERS`.
    body : int
        Row in `System.poses` of the body that it is on; 0 for the world.
    pose : ndarray, shape (4, 4)
        In the frame of the body; of an axis, `axis`, only at the reference configuration.
    mesh : Mesh or None
        None of a frame, which is drawn as three axes of the length `Scene.glyph`.
    color : tuple of float
        Red, green, blue and opacity, each from 0 to 1.
    axis : tuple or None
        A joint and the number of its velocity, of an axis that may turn in the body.
    """

    name: str
    layer: str
    body: int
    pose: FloatArray = attrs.field(converter=frozen_array)
    mesh: Mesh | None
    color: Color
    axis: tuple[DrawnJoint, int] | None = None


@final
@attrs.frozen(eq=False)
class Label:
    """A text at a point (3,) of a body."""

    text: str
    layer: str
    body: int
    point: FloatArray = attrs.field(converter=frozen_array)


@final
@attrs.frozen
class Camera:
    """Where a scene is seen from: positions (3,) of the eye and of its target, in metres.

    `field_of_view` is that of the height of the picture, in radians.
    """

    position: FloatArray = attrs.field(converter=frozen_array)
    target: FloatArray = attrs.field(converter=frozen_array)
    up: FloatArray = attrs.field(converter=frozen_array)
    field_of_view: float = FIELD_OF_VIEW

    @property
    def axes(self) -> FloatArray:
        """Directions ahead, to the right and up in the picture, the rows of (3, 3)."""
        ahead = self.target - self.position
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, self.up)
        right /= np.linalg.norm(right)
        return np.array([ahead, right, np.cross(right, ahead)])

    def project(self, points: FloatArray, size: tuple[int, int]) -> FloatArray:
        """Return where points (..., 3) are in a picture of a size in pixels, (..., 2).

        From its upper left corner, to the right and down; not numbers behind the camera.

        Examples
        --------
        >>> camera = Camera((0.0, -2.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), np.pi / 2)
        >>> camera.project(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]), (400, 200))
        array([[200., 100.],
               [250.,  50.]])
        """
        depth, x, y = np.moveaxis((points - self.position) @ self.axes.T, -1, 0)
        depth = np.where(depth > 0.0, depth, np.nan)
        scale = 0.5 * size[1] / np.tan(0.5 * self.field_of_view)
        return np.stack(
            [0.5 * size[0] + scale * x / depth, 0.5 * size[1] - scale * y / depth], axis=-1
        )


@final
@attrs.frozen(eq=False)
class Scene:
    """The visible objects of a system: meshes on its bodies, frames, and names.

    Made by `mbkit.viz.scene.scene_of`; it does not depend on the program that draws it.

    Attributes
    ----------
    system : System
        The system that is shown.
    parts : tuple of Part
        In the order of the poses that `poses` returns.
    labels : tuple of Label
        Names of joints and bodies.
    size : float
        Radius of a sphere around all of it at the reference configuration. [m]
    glyph : float
        Length of axes of joints and frames. [m]
    """

    system: System
    parts: tuple[Part, ...]
    labels: tuple[Label, ...]
    size: float
    glyph: float

    @property
    def up(self) -> FloatArray:
        """Direction (3,) against gravity; the z axis of the world where there is none."""
        size = float(np.linalg.norm(self.system.gravity))
        up = -self.system.gravity / size if size else np.array([0.0, 0.0, 1.0])
        return up + 0.0

    @property
    def layers(self) -> dict[str, bool]:
        """Whether each layer is shown at first: `LAYERS`, without the names of many joints."""
        count = sum(label.layer == "joint names" for label in self.labels)
        return LAYERS | {"joint names": count <= _NAMED}

    def poses(self, q: ArrayLike) -> FloatArray:
        """Return the poses of all parts in the world.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configurations.

        Returns
        -------
        ndarray, shape (..., parts, 4, 4)
            In the order of `parts`. [m]
        """
        q = np.asarray(q, dtype=np.float64)
        bodies = self.system.poses(q)
        rows = [part.body for part in self.parts]
        own = np.array([part.pose for part in self.parts]).reshape(-1, 4, 4)
        poses: FloatArray = bodies[..., rows, :, :] @ own
        flat = poses.reshape(-1, *poses.shape[-3:])
        every = bodies.reshape(-1, *bodies.shape[-3:])
        for k, part in enumerate(self.parts):
            if part.axis is not None:
                for sample, q_sample in enumerate(q.reshape(-1, q.shape[-1])):
                    flat[sample, k] = _axis_pose(part, q_sample, every[sample])
        return flat.reshape(poses.shape)

    def points(self, labels: tuple[Label, ...], q: ArrayLike) -> FloatArray:
        """Return where labels are, (..., labels, 3), at configurations (..., nq)."""
        bodies = self.system.poses(q)
        rows = [label.body for label in labels]
        own = np.array([[*label.point, 1.0] for label in labels]).reshape(-1, 4, 1)
        found: FloatArray = (bodies[..., rows, :, :] @ own)[..., :3, 0]
        return found

    def bounds(self, q: ArrayLike | None = None) -> tuple[FloatArray, float]:
        """Return centre (3,) and radius of a sphere around bodies and joints. [m].

        Parameters
        ----------
        q : array_like, shape (..., nq), optional
            All configurations that are to be in view; by default the reference configuration.
        """
        points = self._extent(q).reshape(-1, 3)
        low, high = points.min(axis=0), points.max(axis=0)
        centre = 0.5 * (low + high)
        radius = float(np.linalg.norm(points - centre, axis=1).max())
        return centre, radius if radius > 0.0 else 1.0

    def reach(self, q: ArrayLike | None, direction: FloatArray) -> float:
        """Return how far bodies and joints reach from the centre of `bounds` in a direction."""
        found = (self._extent(q).reshape(-1, 3) - self.bounds(q)[0]) @ direction
        return float(found.max())

    def camera(self, q: ArrayLike | None = None, *, aspect: float = 1.5) -> Camera:
        """Return a camera that has all configurations in view.

        A mechanism that moves in a plane is seen along the normal of the plane, nearly so if that
        is along gravity, or if its shape alone is flat; any other from the side and a little from
        above.

        Parameters
        ----------
        q : array_like, shape (..., nq), optional
            As in `bounds`.
        aspect : float
            Width of the picture in parts of its height.
        """
        points = self._extent(q).reshape(-1, 3)
        up = self.up
        plane = plane_of_motion(self.system, q)
        if plane is not None:
            direction = _towards(plane, up)
            return _fitted(points, direction / np.linalg.norm(direction), up, aspect)
        ahead = np.eye(3)[int(np.argmin(np.abs(up)))]
        ahead = (ahead - (ahead @ up) * up) / np.linalg.norm(ahead - (ahead @ up) * up)
        direction = 0.6 * ahead - np.cross(up, ahead) + 0.5 * up
        # pins reach out of the plane in which bodies move
        own = self._extent(q, ("bodies",)).reshape(-1, 3)
        _, sizes, axes = np.linalg.svd(own - own.mean(axis=0), full_matrices=False)
        if len(sizes) == 3 and sizes[2] < 0.25 * sizes[1] and abs(axes[2] @ up) < 0.7:
            normal = _towards(axes[2], up)
            direction = normal + 0.12 * np.cross(up, normal) + 0.2 * up
        return _fitted(points, direction / np.linalg.norm(direction), up, aspect)

    def is_in_view(self, camera: Camera, q: ArrayLike, *, aspect: float = 1.5) -> bool:
        """Return whether a camera has bodies and joints in its picture, at all configurations."""
        places = camera.project(self._extent(q).reshape(-1, 3), (1, 1))
        places[:, 0] = 0.5 + (places[:, 0] - 0.5) / aspect  # of a picture as wide as high
        return bool(((places >= 0.0) & (places <= 1.0)).all())

    def stepped_back(self, camera: Camera, q: ArrayLike, *, aspect: float = 1.5) -> Camera:
        """Return a camera that looks the same way, no nearer, and has all configurations in view.

        Parameters
        ----------
        camera : Camera
            As it looks now.
        q, aspect
            As in `camera`.
        """
        ahead, _, up = camera.axes
        found = _fitted(self._extent(q).reshape(-1, 3), -ahead, up, aspect)
        nearest = np.linalg.norm(camera.position - camera.target)
        distance = max(float(nearest), float(np.linalg.norm(found.position - found.target)))
        return attrs.evolve(camera, position=found.target - distance * ahead, target=found.target)

    def _extent(
        self, q: ArrayLike | None, layers: tuple[str, ...] = ("bodies", "joints")
    ) -> FloatArray:
        """Return the outermost vertices of the parts of layers, (..., vertices, 3)."""
        q = self.system.reference_configuration() if q is None else np.asarray(q, np.float64)
        flat = q.reshape(-1, q.shape[-1]) if q.size else q.reshape(1, -1)
        flat = flat[np.isfinite(flat).all(axis=1)]
        flat = flat[:: max(1, len(flat) // 200)]
        bodies = self.system.poses(flat)
        corners = [np.zeros((len(flat), 0, 3))]
        for part in self.parts:
            if part.layer in layers and part.mesh is not None:
                vertices = part.mesh.vertices
                outermost = vertices[np.argmax(vertices @ _AROUND.T, axis=0)]
                own = outermost @ part.pose[:3, :3].T + part.pose[:3, 3]
                R, p = bodies[:, part.body, :3, :3], bodies[:, part.body, None, :3, 3]
                corners.append(own @ np.swapaxes(R, -1, -2) + p)
        found = np.concatenate(corners, axis=1)
        return found if found.shape[1] else bodies[..., :3, 3]


def _towards(normal: FloatArray, up: FloatArray) -> FloatArray:
    """Return where a camera looks at a plane from, upright; from above at a level one, tilted.

    Points to the right in the picture have the larger coordinate.
    """
    if abs(normal @ up) > _LEVEL:
        across = np.eye(3)[int(np.argmin(np.abs(up)))]
        ahead = np.cross(up, across - (across @ up) * up)
        return up - _TILT * ahead / np.linalg.norm(ahead)
    right = np.cross(up, normal)
    side: FloatArray = normal * np.sign(right[int(np.argmax(np.abs(right)))])
    return side


def _fitted(points: FloatArray, direction: FloatArray, up: FloatArray, aspect: float) -> Camera:
    """Return the nearest camera in a direction (3,) that has points (n, 3) in its picture.

    A point that is x to the right, y up and z towards the camera of its target, from the
    distance d, is in the picture where abs(x) <= (d - z) tan(a), a half the field of view, and y
    likewise.
    """
    right = np.cross(up, direction)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(direction, right), direction])
    own = points @ axes.T
    middle = 0.5 * (own.min(axis=0) + own.max(axis=0))
    slopes = np.tan(0.5 * FIELD_OF_VIEW) * np.array([aspect, 1.0]) / _MARGIN
    offset = own - middle
    distance = float((offset[:, 2] + (np.abs(offset[:, :2]) / slopes).max(axis=1)).max())
    distance = max(distance, 1e-3 * float(np.abs(own).max())) or 1.0
    target = middle @ axes
    return Camera(target + distance * direction, target, up)


def _axis_pose(part: Part, q: FloatArray, bodies: FloatArray) -> FloatArray:
    """Return the pose of the axis of a velocity of a joint whose axes turn in the body."""
    assert part.axis is not None
    joint, k = part.axis
    screw = joint.columns(q, bodies)[k]
    frame = bodies[part.body] @ joint.far
    pose: FloatArray = frame @ screw_pose(screw, joint.point)
    return pose


def screw_pose(screw: FloatArray, point: FloatArray) -> FloatArray:
    """Return a frame (4, 4) with z along the axis of a screw (6,), near a point of its frame.

    The origin is the foot of the point (3,) on the axis; of a translation it is the point.
    """
    w, v = screw[:3], screw[3:]
    size = float(w @ w)
    if size < 1e-18:
        return pose_along(v, point) if v @ v > 0.0 else np.eye(4)
    foot = np.cross(w, v) / size
    return pose_along(w, foot + w * (w @ (point - foot)) / size)

"""Fields of model files, read strictly, with messages of our own."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import math
import operator
import pathlib
import typing
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import attrs
import cattrs
import numpy as np
from cattrs.gen import make_dict_structure_fn, override

from mbkit.errors import ModelFileError, ShapeError, UsageError, suggestion
from mbkit.integrators import Composition, Tableau
from mbkit.integrators.coefficients.composition import COMPOSITIONS
from mbkit.integrators.coefficients.tableaus import TABLEAUS
from mbkit.io.toml.expressions import computed
from mbkit.joints import LOCAL_COORDINATES, ORIENTATIONS, LocalCoordinates, Orientation
from mbkit.parts.body import Body
from mbkit.shapes import SHAPE_TYPES, Color, MeshShape, Shape
from mbkit.spatial import FloatArray, rotation_from_quaternion
from mbkit.spatial.arrays import FINITE_REMEDY, check_array, frozen_array, with_key
from mbkit.spatial.frames import check_pose, check_rotation

__all__ = ["Entries", "Matrix", "Pose", "Shapes", "Vector", "converter"]

#: Annotations of fields: an array of a shape, and a pose in any of its forms.
Vector = Annotated[FloatArray, (3,)]
Quaternion = Annotated[FloatArray, (4,)]
Matrix = Annotated[FloatArray, (3, 3)]
PoseMatrix = Annotated[FloatArray, (4, 4)]
Pose = Annotated[FloatArray, "pose"]

#: An array of tables, each of them a shape.
Shapes = tuple[Shape, ...]

#: A number or a list of numbers, of which `inf` is one: who gets it checks them.
Entries = Annotated[FloatArray, "entries"]


@attrs.frozen
class PoseTable:
    """A pose in a file: an origin and at most one rotation, or a matrix."""

    position: Vector | None = None
    quaternion_wxyz: Quaternion | None = None
    rotation: Matrix | None = None
    matrix: PoseMatrix | None = None

    def build(self) -> FloatArray:
        """Return the pose (4, 4)."""
        given = [
            key
            for key in ("quaternion_wxyz", "rotation", "matrix")
            if getattr(self, key) is not None
        ]
        if len(given) > 1 or (self.matrix is not None and self.position is not None):
            raise ModelFileError(
                "a pose takes either matrix, or position with one of quaternion_wxyz and rotation; "
                f"got {', '.join(['position'] * (self.position is not None) + given)}."
            )
        if self.matrix is not None:
            with_key("matrix", check_pose, self.matrix, "a pose")
            return self.matrix
        C = np.eye(4)
        if self.position is not None:
            C[:3, 3] = self.position
        if self.rotation is not None:
            with_key("rotation", check_rotation, self.rotation, "a pose")
            C[:3, :3] = self.rotation
        if self.quaternion_wxyz is not None:
            C[:3, :3] = with_key("quaternion_wxyz", rotation_from_quaternion, self.quaternion_wxyz)
        return C


@functools.cache
def converter() -> cattrs.Converter:
    """Return cattrs' converter for all tables of a model file.

    It refuses unknown keys, and takes no strings or booleans for numbers.
    """
    made = cattrs.Converter(
        forbid_extra_keys=True,
        detailed_validation=True,
        # fields of users' joints with types that are not known here get the value of TOML
        structure_fallback_factory=lambda _: _as_it_is,
    )
    made.register_structure_hook(float, _number)
    made.register_structure_hook(int, _strict(int, "an integer"))
    made.register_structure_hook(str, _strict(str, "a string"))
    made.register_structure_hook(bool, _strict(bool, "true or false"))
    made.register_structure_hook(Tableau, _one_of("tableau", TABLEAUS))
    made.register_structure_hook(Composition, _one_of("composition", COMPOSITIONS))
    for kind, what, known in (
        (Orientation, "an orientation", ORIENTATIONS),
        (LocalCoordinates, "local coordinates", LOCAL_COORDINATES),
    ):
        made.register_structure_hook_func(
            functools.partial(operator.is_, kind), functools.partial(_named, what, known)
        )
    made.register_structure_hook_func(lambda kind: kind == Color | None, _as_it_is)
    made.register_structure_hook_func(_is_array, _array)
    made.register_structure_hook_func(_is_shaped, _shaped)
    made.register_structure_hook_func(lambda kind: kind == Pose, _pose)
    made.register_structure_hook_func(lambda kind: kind == tuple[str, ...], _names)
    made.register_structure_hook_func(lambda kind: kind == Shapes, _shapes)
    made.register_structure_hook_func(lambda kind: kind == dict[str, Any], _mapping)
    made.register_structure_hook_func(lambda kind: kind == Entries, _entries)
    made.register_structure_hook_factory(attrs.has, lambda kind: _table(made, kind))
    made.register_structure_hook_func(functools.partial(operator.is_, Shape), _shape)
    return made


def _table(made: cattrs.Converter, kind: type[Any]) -> Any:
    poses: dict[str, Any] = {
        field.name: override(struct_hook=_pose)
        for field in attrs.fields(kind)
        if issubclass(kind, Shape | Body) and np.shape(field.default) == (4, 4)
    }
    if issubclass(kind, Body):
        poses["frames"] = override(struct_hook=_frames)
    structure = make_dict_structure_fn(
        kind, made, _cattrs_forbid_extra_keys=True, _cattrs_detailed_validation=True, **poses
    )

    def read(value: Any, _: Any = None) -> Any:
        if not isinstance(value, dict):
            raise ShapeError(f"must be a table, got {value!r}.")
        if issubclass(kind, Shape) and SHAPE_TYPES.get(value.get("type", "")) is kind:
            value = {key: each for key, each in value.items() if key != "type"}
        made = structure(value, kind)
        return _beside(made) if kind is MeshShape else made

    return read


#: The folder of the file that is read, in which meshes are looked for.
_folder: contextvars.ContextVar[pathlib.Path | None] = contextvars.ContextVar(
    "folder", default=None
)


@contextlib.contextmanager
def in_folder(folder: pathlib.Path) -> Iterator[None]:
    """Let names of files that are read inside mean those in a folder, if they are there."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def _beside(mesh: MeshShape) -> MeshShape:
    """Return a mesh whose file is in the folder of the model file by its whole path."""
    folder = _folder.get()
    path = None if folder is None or not mesh.file else folder / mesh.file
    if path is None or pathlib.Path(mesh.file).is_absolute() or not path.is_file():
        return mesh
    return attrs.evolve(mesh, file=str(path.resolve()))


def _as_it_is(value: Any, _: Any = None) -> Any:
    return value


def _number(value: Any, _: Any = None) -> float:
    value = computed(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ShapeError(f"must be a number, got {value!r}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ShapeError(f"must be finite, got {value!r:.40}; {FINITE_REMEDY}")
    return number


def _strict(kind: type[Any], what: str) -> Any:
    def read(value: Any, _: Any = None) -> Any:
        if type(value) is not kind:
            raise ShapeError(f"must be {what}, got {value!r}.")
        return value

    return read


def _one_of(what: str, known: Mapping[str, Any]) -> Any:
    def read(value: Any, _: Any = None) -> Any:
        if not isinstance(value, str) or value not in known:
            raise UsageError(f"there is no {what} {value!r}; {suggestion(value, known)}")
        return known[value]

    return read


def _named(what: str, known: dict[str, type[Any]], value: Any, _: Any = None) -> Any:
    """Return an object by its name, or by a table of its type and its options."""
    table = {"type": value} if isinstance(value, str) else value
    if not isinstance(table, dict) or "type" not in table:
        raise ShapeError(f"must be the name of {what}, or a table with its type, got {value!r}.")
    name = table["type"]
    if not isinstance(name, str) or name not in known:
        raise UsageError(f"{name!r} is no name of {what}; {suggestion(name, known)}")
    options = {key: each for key, each in table.items() if key != "type"}
    return converter().structure(options, known[name])


def _shapes(value: Any, _: Any = None) -> tuple[Shape, ...]:
    if not isinstance(value, list):
        raise ShapeError(f"must be an array of tables, got {value!r}.")
    return tuple(converter().structure(value, list[Shape]))


def _frames(value: Any, _: Any = None) -> dict[str, FloatArray]:
    return converter().structure(value, dict[str, Pose])


def _shape(value: Any, _: Any = None) -> Any:
    """Return a shape by a table of its type, its sizes, its pose and its colour."""
    if not isinstance(value, dict):
        raise ShapeError(f"must be a table, got {value!r}.")
    kind = value.get("type")
    if kind not in SHAPE_TYPES:
        found = "is missing" if kind is None else f"{kind!r} is no shape"
        raise ModelFileError(f"{found}; {suggestion(kind, SHAPE_TYPES)}").about("type")
    return converter().structure(value, SHAPE_TYPES[kind])


def _is_array(kind: Any) -> bool:
    return typing.get_origin(kind) is np.ndarray or kind is np.ndarray


def _array(value: Any, _: Any = None) -> FloatArray:
    """Read an array of numbers of any shape; who gets it checks the shape."""
    if not isinstance(value, list):
        raise ShapeError(f"must be an array of numbers, got {value!r}.")
    value = computed(value)
    if _has_other(value):
        raise ShapeError(f"must be an array of numbers alone, got {value!r}.")
    return frozen_array(value)


def _entries(value: Any, _: Any = None) -> FloatArray:
    if isinstance(value, list):
        return _array(value)
    value = computed(value)
    if type(value) not in (int, float):
        raise ShapeError(f"must be a number or an array of numbers, got {value!r}.")
    return frozen_array(value)


def _has_other(values: list[Any]) -> bool:
    return any(
        _has_other(item) if isinstance(item, list) else type(item) not in (int, float)
        for item in values
    )


def _mapping(value: Any, _: Any = None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ShapeError(f"must be a table, got {value!r}.")
    return dict(value)


def _names(value: Any, _: Any = None) -> tuple[str, ...]:
    if not (isinstance(value, list) and all(type(item) is str for item in value)):
        raise ShapeError(f"must be an array of strings, got {value!r}.")
    return tuple(value)


def _is_shaped(kind: Any) -> bool:
    metadata: tuple[Any, ...] = getattr(kind, "__metadata__", ())
    return bool(metadata) and isinstance(metadata[0], tuple)


def _shaped(value: Any, kind: Any) -> FloatArray:
    array = _array(value)
    shape: tuple[int, ...] = kind.__metadata__[0]
    if array.shape != shape:
        rows = " rows of ".join(map(str, shape)) + " numbers"
        raise ShapeError(f"must be an array of {rows}, got {value!r}.")
    check_array(array, shape, "the array")
    return array


def _pose(value: Any, _: Any = None) -> FloatArray:
    table: PoseTable = converter().structure(value, PoseTable)
    return frozen_array(table.build())

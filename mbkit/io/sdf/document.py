"""An SDF file as data: its content, before it is a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import attrs

from mbkit.errors import printable
from mbkit.io.sdf.build import build_mechanism
from mbkit.io.xml.meshes import Meshes, Roots, checked_roots
from mbkit.joints import Joint
from mbkit.model import JointFriction, JointLimits
from mbkit.shapes import MeshShape, Shape
from mbkit.spatial import FloatArray, SpatialInertia
from mbkit.spatial.arrays import EQUAL, shown

if TYPE_CHECKING:
    import pathlib

    from mbkit.model import Mechanism

#: A matrix in a record: compared by its entries.
_MATRIX = {"eq": EQUAL, "hash": False, "repr": shown}


@final
@attrs.frozen
class SdfLink:
    """A link: a body with its inertia, its visual shapes, and where it stands.

    Attributes
    ----------
    name : str
        Unique in the file; with the names of its models before it, "arm::hand", but for that of the
        file's only model.
    inertia : SpatialInertia
        In the frame of the link.
    shapes : tuple of Shape
        Visual; files of meshes are names as they stand in the file.
    pose : ndarray, shape (4, 4)
        In the world.
    is_static : bool
        Whether its model is <static>.
    has_gravity : bool
        Whether gravity acts on it.
    line : int
        Where it stands.
    """

    name: str
    inertia: SpatialInertia
    shapes: tuple[Shape, ...]
    pose: FloatArray = attrs.field(**_MATRIX)  # type: ignore[call-overload]
    is_static: bool
    has_gravity: bool
    line: int


@final
@attrs.frozen
class SdfMimic:
    """That a joint's position is ``multiplier (q of another joint - reference) + offset``."""

    joint: str
    multiplier: float
    offset: float
    reference: float


@final
@attrs.frozen
class SdfJoint:
    """A joint between two links, or the world and a link.

    Attributes
    ----------
    name, kind : str
        Its name, as of `SdfLink`, and its type.
    joint : Joint
        The same as a joint of mbkit.
    parent, child : str
        Links, or "world".
    pose : ndarray, shape (4, 4)
        Pose of the joint's frame in the world.
    limits : JointLimits
        Of positions, velocities and efforts.
    friction : JointFriction
        Coulomb's alone.
    damping, stiffness, rest : float
        Of a damper and a spring about its axis. Zero where there is none.
    mimic : SdfMimic or None
        The joint that it is coupled to.
    line : int
        Where it stands.
    """

    name: str
    kind: str
    joint: Joint
    parent: str
    child: str
    pose: FloatArray = attrs.field(**_MATRIX)  # type: ignore[call-overload]
    limits: JointLimits
    friction: JointFriction
    damping: float
    stiffness: float
    rest: float
    mimic: SdfMimic | None
    line: int


@final
@attrs.frozen
class SdfFrame:
    """A named frame: the link, or "world", that it is attached to, and its pose in the world."""

    name: str
    link: str
    pose: FloatArray = attrs.field(**_MATRIX)  # type: ignore[call-overload]
    line: int


@final
@attrs.frozen
class Sdf:
    """The content of an SDF file: links, joints, frames, and notes on the rest.

    Attributes
    ----------
    name : str
        Name of the model, or of the world.
    source : str
        The file.
    gravity : ndarray, shape (3,), or None
        Gravity of a <world> that has the element. [m/s^2]
    links, joints, frames : tuple
        Of `SdfLink`, `SdfJoint` and `SdfFrame`, in the order of the file.
    notes : tuple of str
        Elements of the file that were not read, each with its line.
    folder : path or None
        The folder of the file, in which meshes are looked for; None for a text of no file.

    Examples
    --------
    >>> import mbkit as mb
    >>> text = '<sdf version="1.9"><model name="m"><link name="a"/><plugin/></model></sdf>'
    >>> sdf = mb.parse_sdf(text, source="m.sdf")
    >>> sdf.notes[1:]
    ('m.sdf:1: sdf/model/plugin is not read.',)
    >>> sdf.mechanism()
    <Mechanism 'm': 1 body, 1 joint>
    """

    name: str
    source: str
    gravity: FloatArray | None = attrs.field(**_MATRIX)  # type: ignore[call-overload]
    links: tuple[SdfLink, ...]
    joints: tuple[SdfJoint, ...]
    frames: tuple[SdfFrame, ...]
    notes: tuple[str, ...]
    folder: pathlib.Path | None = None

    def mechanism(
        self,
        *,
        root_joint: Joint | None = None,
        package_roots: Roots = (),
    ) -> Mechanism:
        """Return the mechanism.

        Parameters
        ----------
        root_joint : Joint, optional
            From the world to the first link of links that no joint connects to it, if this is one
            group of links. By default each such group floats on a `FreeJoint`.
        package_roots : path or iterable of paths
            As for `mesh_files`. Without any there is no warning of meshes that are not found.

        Returns
        -------
        Mechanism
            See ``docs/sdf.md``. A mesh that is not found keeps its name in the file.

        Raises
        ------
        ModelFileError
            If the content of the file is no mechanism, such as two frames of one name.
        UsageError
            If `root_joint` does not fit, or a root is no path.
        """
        roots = checked_roots(package_roots)
        return build_mechanism(self, root_joint, self._meshes().found(roots, warn=bool(roots)))

    def mesh_files(self, package_roots: Roots = ()) -> dict[str, pathlib.Path]:
        """Return the files of the meshes that are found, as `Urdf.mesh_files` does.

        Parameters
        ----------
        package_roots : path or iterable of paths
            As for `Urdf.mesh_files`; so are the result, the error and the warning.
        """
        return self._meshes().found(package_roots)

    def _meshes(self) -> Meshes:
        shapes = (each for link in self.links for each in link.shapes)
        names = tuple(each.file for each in shapes if isinstance(each, MeshShape))
        return Meshes(names, self.folder, f"SDF file '{printable(self.source)}'")

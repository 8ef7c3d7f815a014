"""A URDF file as data: its content, before it is a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import attrs

from mbkit.errors import printable
from mbkit.io.urdf.build import build_mechanism
from mbkit.io.xml.meshes import Meshes, Roots, checked_roots
from mbkit.joints import Joint
from mbkit.model import JointFriction, JointLimits
from mbkit.shapes import Color
from mbkit.spatial import FloatArray, SpatialInertia
from mbkit.spatial.arrays import EQUAL, shown

if TYPE_CHECKING:
    import pathlib

    from mbkit.model import Mechanism


@final
@attrs.frozen
class UrdfGeometry:
    """A shape of a link, as data.

    Attributes
    ----------
    use : str
        "visual" or "collision".
    kind : str
        "box", "cylinder", "sphere", "capsule" or "mesh".
    size : tuple of float
        Edges of a box; radius and length; radius; factors along x, y, z for a mesh. [m, 1]
    pose : ndarray, shape (4, 4)
        Pose of the shape in the frame of the link.
    filename : str
        Of a mesh, as it stands in the file; see `Urdf.mesh_files`.
    line : int
        Where it stands.
    color : tuple of float, default None
        Red, green, blue and opacity of its material, where it has a colour.
    """

    use: str
    kind: str
    size: tuple[float, ...]
    pose: FloatArray = attrs.field(eq=EQUAL, hash=False, repr=shown)
    filename: str
    line: int
    color: Color | None = None


@final
@attrs.frozen
class UrdfLink:
    """A link: a body with its inertia in the frame of the link, and its shapes.

    Attributes
    ----------
    name : str
        Unique in the file.
    inertia : SpatialInertia
        Zero where the file has none.
    shapes : tuple of UrdfGeometry
        Visual and collision.
    line : int
        Where it stands.
    """

    name: str
    inertia: SpatialInertia
    shapes: tuple[UrdfGeometry, ...]
    line: int


@final
@attrs.frozen
class UrdfMimic:
    """That a joint's position is ``multiplier`` times that of another, plus ``offset``."""

    joint: str
    multiplier: float
    offset: float


@final
@attrs.frozen
class UrdfJoint:
    """A joint between two links.

    Attributes
    ----------
    name : str
        Unique in the file.
    kind : str
        Its type: "revolute", "continuous", "prismatic", "fixed", "floating" or "spherical".
    joint : Joint
        The same as a joint of mbkit.
    parent, child : str
        Links.
    pose : ndarray, shape (4, 4)
        Pose of the child's frame in the parent's where the joint is at zero.
    limits : JointLimits
        Of position, velocity and effort.
    friction : JointFriction
        Damping and friction.
    mimic : UrdfMimic or None
        The joint that it is coupled to.
    line : int
        Where it stands.
    missing : tuple of str
        Limits of the format that the file leaves out: "limit" for all of them.
    """

    name: str
    kind: str
    joint: Joint
    parent: str
    child: str
    pose: FloatArray = attrs.field(eq=EQUAL, hash=False, repr=shown)
    limits: JointLimits
    friction: JointFriction
    mimic: UrdfMimic | None
    line: int
    missing: tuple[str, ...] = ()


@final
@attrs.frozen
class UrdfLoop:
    """A joint that closes a loop of the tree, of an element that simulators add to the format.

    Attributes
    ----------
    name, kind : str
        Its name, and "revolute", "continuous", "prismatic", "spherical" or "fixed".
    joint : Joint
        The same as a joint of mbkit.
    links : (str, str)
        The links that it connects.
    pose1, pose2 : ndarray, shape (4, 4)
        Poses of the joint's frames in those of the links.
    line : int
        Where it stands.
    """

    name: str
    kind: str
    joint: Joint
    links: tuple[str, str]
    pose1: FloatArray = attrs.field(eq=EQUAL, hash=False, repr=shown)
    pose2: FloatArray = attrs.field(eq=EQUAL, hash=False, repr=shown)
    line: int


@final
@attrs.frozen
class Urdf:
    """The content of a URDF file: a tree of links and joints, shapes, and notes on the rest.

    Attributes
    ----------
    name : str
        Name of the robot.
    source : str
        The file.
    root : str
        The link that is no child of a joint.
    links : tuple of UrdfLink
        In the order of the file.
    joints : tuple of UrdfJoint
        In the order of the file.
    notes : tuple of str
        Elements of the file that were not read, or that were read with an assumption; each with its
        line.
    folder : path or None
        The folder of the file, in which meshes are looked for; None for a text of no file.
    loops : tuple of UrdfLoop
        Joints that close loops, of elements that simulators add to the format.

    Examples
    --------
    >>> import mbkit as mb
    >>> text = '<robot name="r"><link name="a"/><gazebo/></robot>'
    >>> urdf = mb.parse_urdf(text, source="r.urdf")
    >>> urdf.root, urdf.notes
    ('a', ('r.urdf:1: robot/gazebo is not read.',))
    """

    name: str
    source: str
    root: str
    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]
    notes: tuple[str, ...]
    folder: pathlib.Path | None = None
    loops: tuple[UrdfLoop, ...] = ()

    @property
    def unphysical(self) -> tuple[str, ...]:
        """Names of the links whose moments of inertia no body has."""
        return tuple(link.name for link in self.links if link.inertia.unphysical)

    @property
    def coupled(self) -> tuple[str, ...]:
        """Names of the joints that are coupled to others by <mimic>."""
        return tuple(joint.name for joint in self.joints if joint.mimic is not None)

    def mechanism(
        self,
        *,
        root_joint: Joint | None = None,
        mimic: str = "couple",
        package_roots: Roots = (),
    ) -> Mechanism:
        """Return the mechanism.

        Parameters
        ----------
        root_joint : Joint, optional
            From the world to the root link. By default it is welded to the world.
        mimic : {"couple", "refuse", "independent"}
            Treatment of joints that are coupled to others by <mimic>: each gets a `GearRatio`,
            called "JOINT mimics OTHER"; an error; or joints that move on their own.
        package_roots : path or iterable of paths
            As for `mesh_files`. Without any there is no warning of meshes that are not found.

        Returns
        -------
        Mechanism
            Its bodies are the links, with their names and frames, and their visual shapes; its
            gravity is the default. A mesh that is not found keeps its name in the file.

        Raises
        ------
        ModelFileError
            If there are coupled joints and `mimic` is "refuse", or the root joint does not fit.
        UsageError
            If `mimic` is none of the three, or a root is no path.
        """
        roots = checked_roots(package_roots)
        files = self._meshes().found(roots, warn=bool(roots))
        return build_mechanism(self, root_joint, mimic, files)

    def mesh_files(self, package_roots: Roots = ()) -> dict[str, pathlib.Path]:
        """Return the files of the meshes that are found, by their names in the file.

        None of them is opened. See ``docs/urdf.md`` for where they are looked for.

        Parameters
        ----------
        package_roots : path or iterable of paths
            Folders with packages, or packages themselves. The folder of the file is one always,
            and so is the package it belongs to, the nearest folder above with a package.xml.

        Returns
        -------
        dict of str to path
            Only files below the roots, after all links of the file system are followed.

        Raises
        ------
        UsageError
            If a root is no path.

        Warns
        -----
        ModelFileWarning
            Once, with the number of those that are not found, and why.
        """
        return self._meshes().found(package_roots)

    def _meshes(self) -> Meshes:
        shapes = (each for link in self.links for each in link.shapes)
        names = tuple(each.filename for each in shapes if each.kind == "mesh")
        return Meshes(names, self.folder, f"URDF file '{printable(self.source)}'")

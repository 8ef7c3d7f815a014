"""URDF files: to documents and mechanisms."""

from __future__ import annotations

import os
import warnings

from mbkit.errors import ModelFileError, ModelFileWarning, listed, printable
from mbkit.given_values import check_name
from mbkit.io.robots import model_file
from mbkit.io.text_file import read_text
from mbkit.io.urdf.build import with_world_note
from mbkit.io.urdf.document import Urdf
from mbkit.io.urdf.joints import read_joint
from mbkit.io.urdf.links import colors_of, read_link, read_material
from mbkit.io.urdf.loops import check_loops, read_loops
from mbkit.io.urdf.tree import check_tree
from mbkit.io.xml.elements import Element, parse_elements
from mbkit.io.xml.faults import Reading
from mbkit.io.xml.meshes import Roots, checked_roots
from mbkit.io.xml.source import source_of
from mbkit.io.xml.values import Part
from mbkit.joints import Joint
from mbkit.model import Mechanism

__all__ = ["load_urdf", "parse_urdf", "read_urdf", "warning_of"]

#: Largest file that is read, in bytes. The largest of example-robot-data has 0.2 MB.
MAX_SIZE = 32 * 1024 * 1024

#: Of the format, by the attribute of <robot>; without it a file is of version 1.0.
_VERSIONS = ("1.0", "1.1", "1.2")


def load_urdf(
    path: str | os.PathLike[str],
    *,
    root_joint: Joint | None = None,
    mimic: str = "couple",
    package_roots: Roots = (),
) -> Mechanism:
    """Return the mechanism of a URDF file.

    Parameters
    ----------
    path : path
        A URDF file as ``docs/urdf.md`` describes it, or ``"robot:NAME"`` for one of the package
        example-robot-data.
    root_joint : Joint, optional
        From the world to the root link, such as ``mb.FreeJoint("root_joint")``. By default the root
        link is welded to the world.
    mimic : {"couple", "refuse", "independent"}
        Treatment of joints that are coupled to others by <mimic>: each gets a `GearRatio`,
        called "JOINT mimics OTHER"; an error; or joints that move on their own.
    package_roots : path or iterable of paths
        Folders in which meshes are looked for, besides that of the file and its own package, as
        by `Urdf.mesh_files`. Without any there is no warning of meshes that are not found, which
        keep their names.

    Returns
    -------
    Mechanism
        Bodies are the links, with their names, frames and visual shapes.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is no XML, has faults, or couples joints. All faults are in the
        message, each with its line.
    UsageError
        If `root_joint` or `mimic` does not fit.

    Warns
    -----
    ModelFileWarning
        If links have inertias that no body has, joints move on their own that should not or lack
        limits that the format requires, or meshes are not found in the folders given.

    Examples
    --------
    >>> import mbkit as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.urdf"
    >>> _ = path.write_text('<robot name="one"><link name="base"/></robot>')
    >>> mb.load_urdf(path, root_joint=mb.FreeJoint("root_joint"))
    <Mechanism 'one': 1 body, 1 joint>
    """
    roots = checked_roots(package_roots)
    urdf = read_urdf(path)
    mechanism = urdf.mechanism(root_joint=root_joint, mimic=mimic, package_roots=roots)
    if note := warning_of(urdf, are_loose=mimic == "independent"):
        warnings.warn(note, ModelFileWarning, stacklevel=2)
    return mechanism


def read_urdf(path: str | os.PathLike[str]) -> Urdf:
    """Return the content of a URDF file: links, joints, shapes, and notes on the rest.

    Parameters
    ----------
    path : path
        As for `load_urdf`.

    Returns
    -------
    Urdf
        Its method `mechanism` makes the mechanism, `mesh_files` finds meshes.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is no XML or has faults.

    Examples
    --------
    See `parse_urdf`.
    """
    source = model_file(path, "read_urdf")
    what = f"URDF file '{printable(source)}'"
    if source.suffix.lower() == ".xacro":
        raise ModelFileError(f"{what} is a xacro file; {_XACRO_REMEDY}")
    return parse_urdf(read_text(source, what, MAX_SIZE), source=str(source))


def parse_urdf(text: str, *, source: str | None = None) -> Urdf:
    """Return the content of the text of a URDF file.

    Parameters
    ----------
    text : str
        URDF.
    source : str, optional
        The file that it comes from, for messages and for the meshes beside it.

    Returns
    -------
    Urdf
        See `read_urdf`.

    Raises
    ------
    ModelFileError
        With all faults.

    Examples
    --------
    >>> urdf = parse_urdf('<robot name="one"><link name="base"/></robot>')
    >>> urdf.mechanism()
    <Mechanism 'one': 1 body, 1 joint>
    """
    path, folder, what, name = source_of("URDF", text, source)
    reading = Reading(what, name)
    root = parse_elements(text, what, name)
    if root.tag != "robot":
        raise ModelFileError(
            f"{what} must have the root element <robot>, got <{printable(root.tag[:40])}> "
            f"({name}:{root.line})."
        )
    _refuse_xacro(root, what, name)
    part = Part(root, "<robot>", "robot", reading)
    version = part.text("version", required=False)
    if version is not None and version not in _VERSIONS:
        part.fault(
            f"version {printable(version[:20])!r} is not known, and may mean other things; known "
            f"are {listed(_VERSIONS)}."
        )
    robot = part.text("name") or ""
    if "name" in root.attributes:
        part.attempt(lambda: check_name("Mechanism", robot))
    for material in part.children("material"):
        read_material(material)
    colors = colors_of(root)
    found = [read_link(each.element, reading, colors) for each in part.children("link")]
    links = [link for link in found if link is not None]
    connected = [read_joint(each.element, reading) for each in part.children("joint")]
    joints = [joint for joint in connected if joint is not None]
    loops = read_loops(part)
    part.done()
    is_complete = len(joints) == len(connected) and len(links) == len(found)
    root_link = check_tree(links, joints, reading, is_complete=is_complete)
    if is_complete:
        check_loops(loops, links, joints, reading)
    reading.raise_faults()
    parts = tuple(links), tuple(joints), reading.notes(), folder, tuple(loops)
    return with_world_note(Urdf(robot, path, root_link, *parts))


_XACRO_REMEDY = (
    "mbkit reads the URDF that is made of it: run 'xacro robot.xacro > robot.urdf' where ROS is "
    "installed, and load that."
)


def _refuse_xacro(element: Element, what: str, name: str, *, is_read: bool = True) -> None:
    """Raise if there is an element of xacro, or ``${...}`` in an attribute that is read."""
    found = None
    if element.tag.startswith("xacro:"):
        found = f"<{printable(element.tag[:40])}>"
    elif is_read:
        texts = (text for text in element.attributes.values() if "${" in text)
        found = next((repr(text[:40]) for text in texts), None)
    if found is not None:
        raise ModelFileError(
            f"{what} is a xacro file, with {found} ({name}:{element.line}); {_XACRO_REMEDY}"
        )
    for child in element.children:
        below = is_read and (element.tag != "robot" or child.tag in ("link", "joint"))
        _refuse_xacro(child, what, name, is_read=below)


def warning_of(urdf: Urdf, *, are_loose: bool) -> str:
    """Return the warning that the mechanism may differ from the one meant, "" for none.

    A sentence. It speaks of joints that should be coupled and are not if there are such.
    """
    parts = []
    if urdf.unphysical:
        parts.append(
            f"inertias that no body has, of {listed(urdf.unphysical)}, are taken as they are "
            "(mbkit.read_urdf(path).notes has the reasons)"
        )
    if are_loose and urdf.coupled:
        parts.append(f"joints that <mimic> couples move on their own: {listed(urdf.coupled)}")
    if unlimited := [joint.name for joint in urdf.joints if "limit" in joint.missing]:
        parts.append(
            f"joints without <limit>, which the format requires, get no limits: {listed(unlimited)}"
        )
    if stuck := [joint.name for joint in urdf.joints if {"lower", "upper"} <= {*joint.missing}]:
        parts.append(
            f"joints whose <limit> has neither lower nor upper are limited to 0, as the format has "
            f"it: {listed(stuck)}"
        )
    return f"URDF file '{printable(urdf.source)}': {'; '.join(parts)}." if parts else ""

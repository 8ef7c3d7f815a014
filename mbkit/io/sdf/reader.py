"""SDF files: to documents and mechanisms."""

from __future__ import annotations

import functools
import os
import warnings
from typing import NamedTuple

import numpy as np

from mbkit.errors import ModelFileError, ModelFileWarning, listed, printable
from mbkit.given_values import check_name
from mbkit.io.sdf.contents import pose_in, truth_in, vector_in, word_in
from mbkit.io.sdf.document import Sdf, SdfFrame, SdfJoint, SdfLink
from mbkit.io.sdf.frames import MODEL, WORLD, Place, Scope, placed
from mbkit.io.sdf.joints import read_joint
from mbkit.io.sdf.links import inertia_of, shapes_of
from mbkit.io.text_file import checked_path, read_text
from mbkit.io.xml.elements import parse_elements
from mbkit.io.xml.faults import Reading
from mbkit.io.xml.meshes import Roots, checked_roots
from mbkit.io.xml.source import source_of
from mbkit.io.xml.values import Part
from mbkit.joints import Joint
from mbkit.model import Mechanism

__all__ = ["load_sdf", "parse_sdf", "read_sdf", "warning_of_sdf"]

#: Largest file that is read, in bytes.
MAX_SIZE = 32 * 1024 * 1024

_VERSIONS = tuple(f"1.{minor}" for minor in range(4, 13))

#: Elements of models and links for simulators or renderers, which a mechanism lacks.
_OF_SIMULATORS = (
    "self_collide",
    "allow_auto_disable",
    "enable_wind",
    "kinematic",
    "must_be_base_link",
)


def load_sdf(
    path: str | os.PathLike[str],
    *,
    root_joint: Joint | None = None,
    package_roots: Roots = (),
) -> Mechanism:
    """Return the mechanism of an SDF file, a model or a world of Gazebo, without contact.

    Parameters
    ----------
    path : path
        An SDF file as ``docs/sdf.md`` describes it.
    root_joint : Joint, optional
        From the world to the first link of a group that no joint connects to it, such as
        ``mb.FixedJoint("root_joint")``. By default it floats on a `FreeJoint`.
    package_roots : path or iterable of paths
        Folders in which meshes are looked for, besides that of the file, as by `Sdf.mesh_files`.

    Returns
    -------
    Mechanism
        Bodies are the links, with their names, frames and visual shapes.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is no XML, or has faults; all are in the message, with lines.
    UsageError
        If `root_joint` does not fit.

    Warns
    -----
    ModelFileWarning
        If links have inertias that no body has, or meshes are not found in the folders given.

    Examples
    --------
    >>> import mbkit as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.sdf"
    >>> _ = path.write_text('<sdf version="1.9"><model name="one"><link name="a"/></model></sdf>')
    >>> list(mb.load_sdf(path).joints)
    ['a free']
    """
    roots = checked_roots(package_roots)
    sdf = read_sdf(path)
    mechanism = sdf.mechanism(root_joint=root_joint, package_roots=roots)
    if note := warning_of_sdf(sdf):
        warnings.warn(note, ModelFileWarning, stacklevel=2)
    return mechanism


def warning_of_sdf(sdf: Sdf) -> str:
    """Return the warning that the mechanism may differ from the one meant, "" for none."""
    unphysical = [link.name for link in sdf.links if link.inertia.unphysical]
    if not unphysical:
        return ""
    return (
        f"SDF file '{printable(sdf.source)}': inertias that no body has, of {listed(unphysical)}, "
        "are taken as they are (mbkit.read_sdf(path).notes has the reasons)."
    )


def read_sdf(path: str | os.PathLike[str]) -> Sdf:
    """Return the content of an SDF file: links, joints, frames, and notes on the rest.

    Parameters
    ----------
    path : path
        As for `load_sdf`.

    Returns
    -------
    Sdf
        Its method `mechanism` makes the mechanism, `mesh_files` finds meshes.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is no XML or has faults.

    Examples
    --------
    See `parse_sdf`.
    """
    source = checked_path(path, "read_sdf")
    what = f"SDF file '{printable(source)}'"
    return parse_sdf(read_text(source, what, MAX_SIZE), source=str(source))


def parse_sdf(text: str, *, source: str | None = None) -> Sdf:
    """Return the content of the text of an SDF file.

    Parameters
    ----------
    text : str
        SDF.
    source : str, optional
        The file that it comes from, for messages and for the meshes beside it.

    Returns
    -------
    Sdf
        See `read_sdf`.

    Raises
    ------
    ModelFileError
        With all faults.

    Examples
    --------
    >>> sdf = parse_sdf('<sdf version="1.9"><model name="one"><link name="a"/></model></sdf>')
    >>> sdf.links[0].name
    'a'
    """
    path, folder, what, name = source_of("SDF", text, source)
    root = parse_elements(text, what, name)
    if root.tag != "sdf":
        hint = "; a URDF has the suffix .urdf" if root.tag == "robot" else ""
        raise ModelFileError(
            f"{what} must have the root element <sdf>, got <{printable(root.tag[:40])}> "
            f"({name}:{root.line}){hint}."
        )
    reading = Reading(what, name)
    part = Part(root, "<sdf>", "sdf", reading)
    version = part.text("version") or ""
    if "version" in root.attributes and version not in _VERSIONS:
        part.unknown("version", version, _VERSIONS)
    reading.raise_faults()
    reader = _Reader(reading, tuple(int(each) for each in version.split(".")))
    models = [(each, tag) for tag in ("world", "model") for each in part.children(tag)]
    if len(models) != 1:
        part.fault(f"must have one <model> or one <world>, got {len(models)}; split the file up.")
    for each, tag in models[:1]:
        reader.whole(each, is_world=tag == "world")
    part.done()
    reading.raise_faults()
    return Sdf(
        models[0][0].element.attributes["name"], path, reader.gravity, tuple(reader.links),
        tuple(reader.joints), tuple(reader.frames), reading.notes(), folder,
    )  # fmt: skip


class _Contents(NamedTuple):
    """A model, and those in it: its frames, and its elements, whose frames are known later."""

    part: Part
    scope: Scope
    links: list[tuple[str, Part]]
    joints: list[tuple[str, Part]]
    frames: list[tuple[str, Part]]
    models: list[tuple[str, _Contents, str]]


class _Reader:
    """Links, joints and frames of a file, collected model by model."""

    def __init__(self, reading: Reading, version: tuple[int, ...]) -> None:
        self.reading, self.version = reading, version
        self.gravity: np.ndarray | None = None
        self.links: list[SdfLink] = []
        self.joints: list[SdfJoint] = []
        self.frames: list[SdfFrame] = []

    def whole(self, part: Part, *, is_world: bool) -> None:
        """Read the model, or the world, of the file."""
        name = part.text("name") or ""
        if "name" in part.element.attributes:
            part.attempt(lambda: check_name("Mechanism", name))
        if is_world:
            if part.children("gravity"):
                self.gravity = vector_in(part, "gravity", 3)
            found = self.collect(part, Scope("", WORLD, np.eye(4)), is_world=True)
        else:
            pose, relative = pose_in(part)
            if relative not in ("", WORLD):
                part.fault(f"its pose is relative to {relative!r}; there is the world alone.")
            scope = Scope("", MODEL, pose)
            found = self.collect(part, scope, is_world=False)
            if foremost := part.text("placement_frame", required=False):
                inner = Place(part, pose, "", inner=scope)
                placed(
                    inner, Scope("", WORLD, np.eye(4), places={"model": inner}), "model", foremost
                )
        if not self.reading.num_faults:
            self.read(found)

    def collect(self, part: Part, scope: Scope, *, is_world: bool) -> _Contents:
        """Return the frames of a model, and of all models in it, relative to one another."""
        for include in part.children("include"):
            include.fault(
                "names another file, which is not opened; 'gz sdf -p FILE' prints a file with all "
                "that it includes."
            )
        found = _Contents(part, scope, [], [], [], [])
        kinds = {"link": found.links, "joint": found.joints, "frame": found.frames}
        if not is_world:
            scope.is_static |= truth_in(part, "static", default=False)
            for tag in _OF_SIMULATORS:
                part.children(tag)
        for tag, known in kinds.items():
            for each in part.children(tag):
                name = each.text("name") or ""
                each.owner = f"{tag} {scope.prefix + name!r}"
                pose, relative = pose_in(each)
                attached = ""
                if tag == "joint":
                    attached = word_in(each, "child")
                elif tag == "frame":
                    attached = each.text("attached_to", required=False) or scope.own
                scope.add(name, Place(each, pose, relative, attached))
                known.append((name, each))
        for each in part.children("model"):
            name = each.text("name") or ""
            each.owner = f"model {scope.prefix + name!r}"
            pose, relative = pose_in(each)
            inner = Scope(f"{scope.prefix}{name}::", MODEL, np.eye(4), is_static=scope.is_static)
            scope.add(name, Place(each, pose, relative, inner=inner))
            foremost = each.text("placement_frame", required=False) or ""
            found.models.append((name, self.collect(each, inner, is_world=False), foremost))
        if not is_world:
            names = [*(each[0] for each in found.links), *(each[0] for each in found.models)]
            scope.canonical = part.text("canonical_link", required=False) or "".join(names[:1])
            if not names:
                part.fault("must have a link, got none; write at least one <link>.")
        return found

    def read(self, found: _Contents) -> None:
        """Read the elements of a model whose pose is known, and of the models in it."""
        scope = found.scope
        for name, part in found.links:
            whole = scope.prefix + name
            part.attempt(functools.partial(check_name, "Body", whole))
            inertia, shapes = inertia_of(part), shapes_of(part)
            has_gravity = truth_in(part, "gravity", default=True)
            for tag in _OF_SIMULATORS:
                part.children(tag)
            part.done()
            pose = scope.in_world(name, part)
            link = SdfLink(
                whole, inertia, tuple(shapes), pose, scope.is_static, has_gravity, part.line
            )
            self.links.append(link)
        for name, part in found.frames:
            whole = scope.prefix + name
            owner = scope.link_of(name, part)
            part.done()
            if owner == WORLD:
                part.reading.note(part.line, f"{part.owner} is one of the world, and not read.")
                continue
            self.frames.append(SdfFrame(whole, owner, scope.in_world(name, part), part.line))
        for name, model, foremost in found.models:
            placed(scope.places[name], scope, name, foremost)
            self.read(model)
        for name, part in found.joints:
            joint = read_joint(part, name, scope, self.version)
            if joint is not None:
                self.joints.append(joint)
        found.part.done()

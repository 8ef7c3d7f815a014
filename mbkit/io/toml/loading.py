"""Model files: TOML to mechanism and back; the tables of a file are read by the other modules."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping

from mbkit.constraints import Constraint
from mbkit.errors import (
    ModelFileError,
    NameUnknownError,
    UsageError,
    check_kind,
    printable,
    suggestion,
)
from mbkit.forces import Force
from mbkit.io import mjcf, urdf
from mbkit.io.replacement import written
from mbkit.io.robots import model_file
from mbkit.io.text_file import checked_path, read_text
from mbkit.io.toml_text.document import check_format, read_document
from mbkit.joints import Joint
from mbkit.model import Body, Mechanism, to_document, to_toml
from mbkit.model.plain_data import FORMAT_VERSION

__all__ = ["load_model", "parameters_of", "parse_model", "save_model"]

#: Largest file that is read, in bytes: a hundred thousand bodies. More is no model.
MAX_SIZE = 64 * 1024 * 1024


def load_model(
    path: str | os.PathLike[str],
    *,
    parameters: Mapping[str, float] | None = None,
    body_types: Mapping[str, type[Body]] | None = None,
    joint_types: Mapping[str, type[Joint]] | None = None,
    force_types: Mapping[str, type[Force]] | None = None,
    constraint_types: Mapping[str, type[Constraint]] | None = None,
) -> Mechanism:
    """Return the mechanism of a model file.

    Parameters
    ----------
    path : path
        A TOML file as ``docs/model-file.md`` describes it; by the suffix ``.urdf``, a URDF file as
        `load_urdf` reads it by default; by ``.sdf`` an SDF file, as `load_sdf` does; by ``.xml`` or
        ``.mjcf`` an MJCF file, as `load_mjcf` does; a file of another suffix that a plugin reads;
        or ``"robot:NAME"``, such as ``"robot:panda"``: a URDF file of the package
        example-robot-data.
    parameters : mapping of str to float, optional
        Other values than those of the table ``[parameters]`` of a TOML file, by name.
    joint_types : mapping, optional
        Further joint classes by the names that the file calls them, besides those of mbkit and of
        plugins. Classes in modules that are imported already are found as ``module:Class``; a file
        never has a module imported that it names.
    body_types, force_types, constraint_types : mapping, optional
        Further classes of bodies, of forces and of constraints, likewise.

    Returns
    -------
    Mechanism
        The mechanism.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is no TOML, or has faults. All faults are in the message, each
        with its line and the path of its key.
    NameUnknownError
        If the file has no parameter of a name.
    UsageError
        If joint types or parameters are given for a file that is no TOML, or there is no robot of
        that name.

    Examples
    --------
    >>> import mbkit as mb
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "empty.toml"
    >>> mb.save_model(mb.Mechanism("empty"), path)
    >>> mb.load_model(path)
    <Mechanism 'empty': 0 bodies, 0 joints>
    """
    from mbkit.io.readers import read_other

    source = model_file(path, "load_model")
    of_toml = (body_types, joint_types, force_types, constraint_types, parameters)
    mechanism = read_other(source, of_toml=any(each is not None for each in of_toml))
    if mechanism is not None:
        return mechanism
    text = read_text(source, f"Model file '{printable(source)}'", MAX_SIZE)
    return parse_model(
        text,
        source=str(source),
        parameters=parameters,
        body_types=body_types,
        joint_types=joint_types,
        force_types=force_types,
        constraint_types=constraint_types,
    )


def parameters_of(path: pathlib.Path) -> tuple[str, ...]:
    """Return the names of the parameters of a model file, none of one that is no sound TOML."""
    if path.suffix.lower() != ".toml":
        return ()
    what = f"Model file '{printable(path)}'"
    document = read_document(read_text(path, what, MAX_SIZE), what, printable(path.name))
    own = document.get("parameters")
    return tuple(own) if isinstance(own, dict) else ()


def save_model(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism to a model file; reading it gives an equal mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism whose bodies, joints, forces and constraints hold nothing but numbers, arrays
        and strings.
    path : path
        An existing file is replaced, at once and as a whole. With the suffix ``.urdf`` it becomes
        a URDF, as `save_urdf` writes it; with ``.xml`` or ``.mjcf`` an MJCF, as `save_mjcf` does.

    Raises
    ------
    ModelFileError
        If a body, joint, force or constraint cannot be written, or the file cannot.
    UsageError
        If the suffix is none of these.

    Examples
    --------
    See `load_model`.
    """
    target = checked_path(path, "save_model")
    if target.suffix.lower() == ".urdf":
        urdf.save_urdf(mechanism, target)
        return
    if target.suffix.lower() in (".xml", ".mjcf"):
        mjcf.save_mjcf(mechanism, target)
        return
    if target.suffix.lower() != ".toml":
        raise UsageError(
            f"save_model: '{printable(target)}' must end in .toml, .urdf, .xml or .mjcf, which "
            "says what is written."
        )
    document = to_document(mechanism)
    kinds = {"Body": "bodies", "Joint": "joints", "Force": "forces", "Constraint": "constraints"}
    for what, key in kinds.items():
        for name, table in document.get(key, {}).items():
            if table.get("not_written") == ["motion"]:
                raise ModelFileError(
                    f"{what} {name!r} cannot be written to a model file: its motion is a "
                    "function of Python, which no file can hold; give it as an expression of the "
                    'time, such as joint.prescribe("0.1 * sin(8*t)"), or as a table of times and '
                    "positions."
                )
            if "not_written" in table:
                raise ModelFileError(
                    f"{what} {name!r} cannot be written to a model file: its class {table['type']} "
                    f"holds {', '.join(table['not_written'])}, which is no number, array or string "
                    "of an attrs class; make it one, or build the mechanism in Python."
                )
    with written("Model file", target, ModelFileError) as temporary:
        temporary.write_text(to_toml(mechanism), encoding="utf-8", newline="\n")


def parse_model(
    text: str,
    *,
    source: str = "text",
    parameters: Mapping[str, float] | None = None,
    body_types: Mapping[str, type[Body]] | None = None,
    joint_types: Mapping[str, type[Joint]] | None = None,
    force_types: Mapping[str, type[Force]] | None = None,
    constraint_types: Mapping[str, type[Constraint]] | None = None,
) -> Mechanism:
    r"""Return the mechanism of the text of a model file.

    Parameters
    ----------
    text : str
        TOML.
    source : str
        The name in messages; files of meshes are looked for in its folder first.
    parameters, body_types, joint_types, force_types, constraint_types : mapping, optional
        As for `load_model`.

    Returns
    -------
    Mechanism
        The mechanism.

    Raises
    ------
    ModelFileError
        With all faults.
    NameUnknownError
        If the text has no parameter of a name.

    Examples
    --------
    >>> text = '''
    ... mbkit_model = 1
    ... name = "ball"
    ... [parameters]
    ... radius = 0.1
    ... [bodies.ball]
    ... mass = "4/3 * pi * radius**3 * 7850"
    ... shape = {type = "sphere", radius = "radius"}
    ... '''
    >>> found = parse_model(text, parameters={"radius": 0.2})
    >>> round(found.bodies["ball"].inertia.mass, 3)
    263.056
    """
    from mbkit.io.toml.mechanism import read_mechanism  # with cattrs

    if not isinstance(text, str):
        raise UsageError(
            f"parse_model: text must be a string, got {type(text).__name__}; decode bytes as UTF-8."
        )
    check_kind("parse_model: source", source, (str, os.PathLike), "a name for messages")
    what, name = f"Model file '{printable(source)}'", printable(pathlib.PurePath(source).name)
    document = read_document(text, what, name)
    check_format(document, "mbkit_model", FORMAT_VERSION, text, what, name)
    given = {} if parameters is None else parameters
    check_kind("parse_model: parameters", given, Mapping, "numbers by name, {'L': 0.5}")
    own = document.get("parameters")
    for key in given:
        if not (isinstance(own, dict) and key in own):
            raise NameUnknownError(f"{what} has no parameter {key!r}; {suggestion(key, own or ())}")
    types = {
        "body": body_types, "joint": joint_types, "force": force_types,
        "constraint": constraint_types,
    }  # fmt: skip
    folder = pathlib.Path(source).parent
    mechanism, faults = read_mechanism(document, types, given, folder)
    faults.refuse(text, what, name)
    return mechanism

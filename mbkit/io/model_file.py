"""Model files: TOML to mechanism and back."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from typing import Any

from mbkit.errors import ModelFileError
from mbkit.io.replacement import replacement
from mbkit.joints import Joint
from mbkit.model import Mechanism, to_document, to_toml
from mbkit.model.document import FORMAT_VERSION

__all__ = ["load_model", "parse_model", "save_model"]

#: Largest file that is read, in bytes: a hundred thousand bodies. More is no model.
MAX_SIZE = 64 * 1024 * 1024


def load_model(
    path: str | os.PathLike[str], *, joint_types: Mapping[str, type[Joint]] | None = None
) -> Mechanism:
    """Return the mechanism of a model file.

    Parameters
    ----------
    path : path
        A TOML file as ``docs/model-file.md`` describes it.
    joint_types : mapping, optional
        Further joint classes by the names that the file calls them. Classes in modules that are
        imported already are found as ``module:Class``; a file never imports anything.

    Returns
    -------
    Mechanism
        The mechanism.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is no TOML, or has faults. All faults are in the message, each
        with the path of its key.

    Examples
    --------
    >>> import mbkit as mb
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "empty.toml"
    >>> mb.save_model(mb.Mechanism("empty"), path)
    >>> mb.load_model(path)
    <Mechanism 'empty': 0 bodies, 0 joints>
    """
    source = pathlib.Path(path)
    try:
        size = source.stat().st_size
        if size > MAX_SIZE:
            raise ModelFileError(
                f"Model file '{source}' must have at most {MAX_SIZE} bytes, got {size}."
            )
        text = source.read_bytes().decode()
    except OSError as error:
        raise ModelFileError(
            f"Model file '{source}' cannot be read: {error.strerror or error}."
        ) from error
    except UnicodeDecodeError as error:
        raise ModelFileError(
            f"Model file '{source}' must be UTF-8 text, got byte {error.object[error.start]:#x} "
            f"at {error.start}."
        ) from error
    return parse_model(text, source=str(source), joint_types=joint_types)


def save_model(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism to a model file; reading it gives an equal mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism whose joints hold nothing but numbers, arrays and strings.
    path : path
        An existing file is replaced, at once and as a whole.

    Raises
    ------
    ModelFileError
        If a joint cannot be written, or the file cannot.

    Examples
    --------
    See `load_model`.
    """
    for name, joint in to_document(mechanism).get("joints", {}).items():
        if "not_written" in joint:
            raise ModelFileError(
                f"Joint {name!r} cannot be written to a model file: its class {joint['type']} "
                f"holds {', '.join(joint['not_written'])}, which is no number, array or string of "
                "an attrs class; make it one, or build the mechanism in Python."
            )
    target = pathlib.Path(path)
    try:
        with replacement(target) as temporary:
            temporary.write_text(to_toml(mechanism), encoding="utf-8", newline="\n")
    except OSError as error:
        raise ModelFileError(
            f"Model file '{target}' cannot be written: {error.strerror or error}; choose a "
            "folder that can be written to and has room."
        ) from error


def parse_model(
    text: str,
    *,
    source: str = "text",
    joint_types: Mapping[str, type[Joint]] | None = None,
) -> Mechanism:
    r"""Return the mechanism of the text of a model file.

    Parameters
    ----------
    text : str
        TOML.
    source : str
        What a message calls it.
    joint_types : mapping, optional
        As for `load_model`.

    Returns
    -------
    Mechanism
        The mechanism.

    Raises
    ------
    ModelFileError
        With all faults.

    Examples
    --------
    >>> parse_model('mbkit_model = 1\nname = "empty"')
    <Mechanism 'empty': 0 bodies, 0 joints>
    """
    import tomllib

    from mbkit.io.model_tables import read_mechanism  # with cattrs
    from mbkit.io.toml_fault import toml_fault

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelFileError(f"Model file '{source}' {toml_fault(error, text)}") from error
    except RecursionError as error:
        raise ModelFileError(f"Model file '{source}' is nested too deeply.") from error
    _check_version(document, source)
    mechanism, faults = read_mechanism(document, joint_types or {})
    if faults:
        count = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise ModelFileError(f"Model file '{source}' has {count}:\n" + "\n".join(faults))
    return mechanism


def _check_version(document: dict[str, Any], source: str) -> None:
    if "mbkit_model" not in document:
        raise ModelFileError(
            f"Model file '{source}' must say its format; begin it with "
            f"'mbkit_model = {FORMAT_VERSION}'."
        )
    version = document["mbkit_model"]
    if type(version) is not int or version != FORMAT_VERSION:
        raise ModelFileError(
            f"Model file '{source}' has the format mbkit_model = {version!r}; this mbkit reads "
            f"{FORMAT_VERSION}."
        )

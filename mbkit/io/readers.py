"""Model files by their suffixes: URDF, SDF, MJCF, and formats of plugins."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping

from mbkit.errors import MbkitError, ModelFileError, UsageError, printable
from mbkit.io import mjcf, sdf, urdf
from mbkit.io.toml.loading import load_model
from mbkit.model import Mechanism
from mbkit.plugins import hookimpl, registry

__all__ = ["read_other"]

Reader = Callable[[pathlib.Path], Mechanism]


@hookimpl
def mbkit_file_readers() -> Mapping[str, Reader]:
    """Return the readers of mbkit."""
    return {
        ".toml": read_toml,
        ".urdf": read_urdf,
        ".xacro": read_urdf,
        ".sdf": read_sdf,
        ".xml": read_mjcf,
        ".mjcf": read_mjcf,
    }


def read_toml(path: pathlib.Path) -> Mechanism:
    """Return the mechanism of a TOML file."""
    return load_model(path)


# The readers of other files are imported when the first one is read.


def read_urdf(path: pathlib.Path) -> Mechanism:
    """Return the mechanism of a URDF, or of a file of xacro."""
    return urdf.load_urdf(path)


def read_sdf(path: pathlib.Path) -> Mechanism:
    """Return the mechanism of an SDF file."""
    return sdf.load_sdf(path)


def read_mjcf(path: pathlib.Path) -> Mechanism:
    """Return the mechanism of an MJCF file."""
    return mjcf.load_mjcf(path)


def read_other(path: pathlib.Path, *, of_toml: bool) -> Mechanism | None:
    """Return the mechanism of a file that is no TOML by its suffix; None if no reader takes it.

    UsageError if the caller gave types of joints or forces, or parameters, which only TOML has;
    ModelFileError, with the name of the plugin, if its reader fails, or returns something else.
    """
    suffix = path.suffix.lower()
    reader: Reader | None = registry().find("reader", suffix)
    if reader is None or reader is read_toml:
        return None
    if of_toml:
        kinds: dict[Reader, str] = {read_urdf: "a URDF", read_sdf: "an SDF", read_mjcf: "an MJCF"}
        kind = kinds.get(reader, f"a '{printable(suffix)}'")
        raise UsageError(
            f"load_model: parameters, joint_types, force_types and constraint_types are for TOML "
            f"files, and '{printable(path)}' is {kind}; leave them out."
        )
    plugin = registry().owner("reader", reader)
    if plugin is None:
        return reader(path)
    what = f"Model file '{printable(path)}' cannot be read by the plugin '{printable(plugin)}'"
    try:
        mechanism: object = reader(path)
    except (MbkitError, OSError):
        raise
    except Exception as error:
        raise ModelFileError(f"{what}: {type(error).__name__}: {printable(error)}") from error
    if not isinstance(mechanism, Mechanism):
        raise ModelFileError(
            f"{what}: its reader must return an mbkit.Mechanism, and returned {mechanism!r:.200}."
        )
    return mechanism

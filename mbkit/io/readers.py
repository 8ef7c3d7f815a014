"""Model files by their suffixes: URDF, SDF, MJCF, and what plugins read."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping

from mbkit.errors import MbkitError, ModelFileError, UsageError, printable
from mbkit.io.mjcf import load_mjcf
from mbkit.io.sdf import load_sdf
from mbkit.io.toml.loading import load_model
from mbkit.io.urdf import load_urdf
from mbkit.model import Mechanism
from mbkit.plugins import hookimpl, registry

__all__ = ["read_other"]

Reader = Callable[[pathlib.Path], Mechanism]


@hookimpl
def mbkit_file_readers() -> Mapping[str, Reader]:
    """Return the readers of mbkit."""
    return {
        ".toml": read_toml,
        ".urdf": load_urdf,
        ".xacro": load_urdf,
        ".sdf": load_sdf,
        ".xml": load_mjcf,
        ".mjcf": load_mjcf,
    }


def read_toml(path: pathlib.Path) -> Mechanism:
    """Return the mechanism of a TOML file."""
    return load_model(path)


def read_other(path: pathlib.Path, *, of_toml: bool) -> Mechanism | None:
    """Return the mechanism of a file that is no TOML by its suffix; None if no reader knows it.

    UsageError if the caller gave types of joints or forces, or parameters, which only TOML has;
    ModelFileError, with the name of the plugin, if its reader fails, or returns something else.
    """
    suffix = path.suffix.lower()
    reader: Reader | None = registry().find("reader", suffix)
    if reader is None or reader is read_toml:
        return None
    if of_toml:
        kinds = {load_urdf: "a URDF", load_sdf: "an SDF", load_mjcf: "an MJCF"}
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

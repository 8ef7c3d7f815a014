"""The hooks: what a plugin may provide. Each returns a mapping from names to things.

A plugin is a module, or any object with attributes, that defines some of these functions under
`hookimpl`. All are called once, without arguments, when the plugin is loaded; but `mbkit_examples`,
which returns a list, when it is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import pathlib

    import click

    from mbkit.constraints import Constraint
    from mbkit.forces import Force
    from mbkit.integrators import Integrator
    from mbkit.joints import Joint
    from mbkit.model import Mechanism
    from mbkit.representations import Representation

__all__ = ["hookimpl", "hookspec"]

#: The name of the project in pluggy's markers, and of the group of entry points.
PROJECT = "mbkit"

hookspec = pluggy.HookspecMarker(PROJECT)

#: Marks the functions of a plugin that implement a hook.
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def mbkit_joint_types() -> Mapping[str, type[Joint]]:  # type: ignore[empty-body]
    """Return joint classes by the names that model files call them.

    An attrs class is made with its fields, which are the keys of the joint's table; any other class
    with the joint's name alone.
    """


@hookspec
def mbkit_force_types() -> Mapping[str, type[Force]]:  # type: ignore[empty-body]
    """Return force classes by the names that model files and studies call them; as joint types."""


@hookspec
def mbkit_constraint_types() -> Mapping[str, type[Constraint]]:  # type: ignore[empty-body]
    """Return constraint classes by the names that model files call them; as joint types."""


@hookspec
def mbkit_integrators() -> Mapping[str, type[Integrator]]:  # type: ignore[empty-body]
    """Return integrator classes by the names that studies call them.

    The fields of an attrs class are the keys of the study's table ``[integrator]``.
    """


@hookspec
def mbkit_representations() -> Mapping[str, Representation]:  # type: ignore[empty-body]
    """Return representations of twists, each under its own `name`."""


@hookspec
def mbkit_file_readers() -> Mapping[str, Callable[[pathlib.Path], Mechanism]]:  # type: ignore[empty-body]
    """Return functions that read a model file, by its suffix in lower case, such as ``".sdf"``.

    Such a function takes the path, returns the mechanism, and raises `mbkit.ModelFileError` where
    the file is at fault.
    """


@hookspec
def mbkit_commands() -> Mapping[str, click.Command]:  # type: ignore[empty-body]
    """Return click commands by the names that ``mbkit NAME`` calls them."""


@hookspec
def mbkit_examples() -> Iterable[Joint | Force | Constraint | Integrator | Mechanism]:  # type: ignore[empty-body]
    """Return instances of the plugin's types, on which ``mbkit plugins --check`` looks at them.

    A type without an example is made by its name alone, ``Type("example")``, and an integrator
    without arguments, if that is possible. A mechanism is an example of the plugin's joints,
    forces and constraints in it: for one that needs certain joints or bodies.
    """

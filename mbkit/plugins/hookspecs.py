"""The hooks: what a plugin may provide. Each returns a mapping from names to things.

A plugin is a module, or any object with attributes, that defines some of these functions under
`hookimpl`. All are called once, without arguments, when the plugin is loaded; but `mbkit_examples`,
which returns a list, when it is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import pluggy

if TYPE_CHECKING:
    import pathlib

    import click

    from mbkit.constraints import Constraint
    from mbkit.executors import Executor
    from mbkit.forces import Force
    from mbkit.integrators import Integrator
    from mbkit.joints import Joint
    from mbkit.model import Body, Mechanism
    from mbkit.representations import Representation

    Part: TypeAlias = Body | Joint | Force | Constraint

__all__ = ["hookimpl", "hookspec"]

#: The name of the project in pluggy's markers, and of the group of entry points.
PROJECT = "mbkit"

hookspec = pluggy.HookspecMarker(PROJECT)

#: Marks the functions of a plugin that implement a hook.
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def mbkit_body_types() -> Mapping[str, type[Body]]:  # type: ignore[empty-body]
    """Return body classes by the names that model files call them.

    They are attrs classes, whose fields are the keys of the body's table.
    """


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
def mbkit_executors() -> Mapping[str, type[Executor]]:  # type: ignore[empty-body]
    """Return executor classes by the names that ``--executor`` and studies in Python call them."""


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
def mbkit_viewers() -> Mapping[str, Any]:  # type: ignore[empty-body]
    """Return what draws scenes, by the names for ``run.animate(path, viewer=...)``.

    Each is an `mbkit.viz.Viewer`, or has its attribute ``suffixes`` and its methods ``write`` and
    ``show``. It imports what it draws with when it draws.
    """


@hookspec
def mbkit_examples() -> Iterable[Part | Integrator | Executor | Mechanism]:  # type: ignore[empty-body]
    """Return instances of the plugin's types, on which ``mbkit plugins --check`` looks at them.

    A type without an example is made by its name alone, ``Type("example")``, and an integrator or
    an executor without arguments, if that is possible. A mechanism is an example of the plugin's
    bodies, joints, forces and constraints in it: for one that needs certain joints or bodies.
    """

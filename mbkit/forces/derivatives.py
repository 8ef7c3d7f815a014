"""Derivatives that a force in Python gives itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ForceError, ShapeError, listed
from mbkit.lie.arrays import as_floats
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.forces.force import Force

__all__ = ["ForceDerivatives", "checked_derivatives"]


def _by_field(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ForceError(
            f"ForceDerivatives: parameters must be a mapping of fields of the force to arrays, got "
            f"{value!r}; write for example parameters={{'stiffness': by_stiffness}}."
        )
    return MappingProxyType(dict(value))


@final
@attrs.frozen(eq=False)
class ForceDerivatives:
    """Partial derivatives of what a force writes into `out`, by its arguments: `Force.derivatives`.

    Each is an array whose first axes, "...", are those of `out`, (nv,) or (n, 6), and whose last
    ones are those of the argument. What is left out is zero.

    Attributes
    ----------
    t : array_like, shape (...), optional
        By the time.
    q : array_like, shape (..., nq), optional
        By the positions, as numbers: of a quaternion there are four.
    v : array_like, shape (..., nv), optional
        By the velocities.
    poses : array_like, shape (..., n, 6), optional
        By the poses of the n bodies. Column j of a body is the rate of `out` while the body moves
        with the j-th unit twist in the force's `representation`, and all other arguments, `twists`
        too, stay what they are. In `Hybrid`, the default, these are turns about the axes of the
        world in the origin of the body's frame, and moves of that origin along them.
    twists : array_like, shape (..., n, 6), optional
        By the twists of the bodies.
    parameters : mapping of str to array_like, optional
        By fields of the force that `System.parameters` lists as "forces.NAME.FIELD", by the name of
        the field: (..., field), and (..., 6) of a pose S, along S exp(x). By fields that are
        not here differences are taken.

    Raises
    ------
    ForceError
        If `parameters` is no mapping.

    Examples
    --------
    Of out = -k q - d v^3 along one joint:

    >>> import mbkit as mb
    >>> q, v = [0.2], [0.5]
    >>> mb.ForceDerivatives(q=[[-3.0]], v=[[-3.0 * 0.1 * v[0] ** 2]]).v
    [[-0.07500000000000001]]
    """

    t: ArrayLike | None = None
    q: ArrayLike | None = None
    v: ArrayLike | None = None
    poses: ArrayLike | None = None
    twists: ArrayLike | None = None
    parameters: Mapping[str, ArrayLike] = attrs.field(factory=dict, converter=_by_field)


def checked_derivatives(
    force: Force,
    arguments: tuple[float, FloatArray, FloatArray, FloatArray, FloatArray],
    out: tuple[int, ...],
    fields: Mapping[str, tuple[int, ...]] = MappingProxyType({}),
) -> dict[str, FloatArray]:
    """Return the derivatives that a force gives by its arguments, and by some of its fields.

    `arguments` are those of `Force.derivatives`, `out` is the shape of what it writes, and `fields`
    has the axes of fields by name. ForceError or ShapeError, which name the force, where it returns
    something else than its contract says.
    """
    found: Any = force.derivatives(*arguments)
    what = f"Force {force.name!r}: derivatives(t, q, v, poses, twists)"
    if not isinstance(found, ForceDerivatives):
        raise ForceError(
            f"{what} must return an mbkit.ForceDerivatives, got {found!r}; write "
            f"return mb.ForceDerivatives(q=..., v=...), and leave out what is zero."
        )
    unknown = [name for name in found.parameters if name not in _fields(type(force))]
    if unknown:
        raise ForceError(
            f"{what}: parameters has {unknown[0]!r}, which is no field of {type(force).__name__}; "
            f"parameters are fields of a class under attrs.frozen, here "
            f"{listed(_fields(type(force))) or 'none'}."
        )
    _, q, v, poses, _ = arguments
    bodies = (len(poses), 6)
    shapes = {"t": (), "q": q.shape, "v": v.shape, "poses": bodies, "twists": bodies}
    given: dict[str, Any] = {name: getattr(found, name) for name in shapes}
    given |= {name: found.parameters[name] for name in fields if name in found.parameters}
    return {
        name: _of_shape(f"{what}: {name}", value, out, {**shapes, **fields}[name])
        for name, value in given.items()
        if value is not None
    }


def _fields(kind: type) -> tuple[str, ...]:
    """Return the names of what a force is made with."""
    return tuple(each.name for each in attrs.fields(kind)) if attrs.has(kind) else ()


def _of_shape(what: str, value: Any, out: tuple[int, ...], own: tuple[int, ...]) -> FloatArray:
    """Return a derivative as an array that has the axes of the force, then its own."""
    array = as_floats(value, what)
    if array.shape != out + own:
        name = what.rpartition(" ")[2]
        raise ShapeError(
            f"{what} must have shape {out + own}, the axes {out} of what the force writes and then "
            f"{own} of what it is differentiated by; got shape {array.shape}. Begin with "
            f"{name} = np.zeros({out + own}) and write its entries."
        )
    return np.asarray(array)

"""Derivatives that a force in Python gives itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

__all__ = ["ForceDerivatives", "checked_derivatives", "expected_shapes"]


#: By no field.
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _by_field(value: Any) -> Mapping[str, Any]:
    if not value and type(value) is dict:
        return _NOTHING
    if not isinstance(value, Mapping):
        raise ForceError(
            f"ForceDerivatives: parameters must be a mapping of fields of the force to arrays, got "
            f"{value!r}; write for example parameters={{'stiffness': by_stiffness}}."
        )
    return MappingProxyType(dict(value))


@final
@attrs.frozen(eq=False)
class ForceDerivatives:
    """Partial derivatives of the output `out` of a force by its arguments: `Force.derivatives`.

    Each is an array whose first axes, "...", are those of `out`, (nv,) or (n, 6), and whose last
    ones are those of the argument. Derivatives that are left out are zero.

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
        with the j-th unit twist in the force's `representation`, at constant other arguments,
        `twists` too. In `Hybrid`, the default, these are turns about the axes of the
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


#: Of arrays that need no conversion.
_FLOATS = np.dtype(np.float64)


def checked_derivatives(
    force: Force,
    arguments: tuple[float, FloatArray, FloatArray, FloatArray, FloatArray],
    expected: Mapping[str, tuple[int, ...]],
    fields: Mapping[str, tuple[int, ...]] = MappingProxyType({}),
) -> dict[str, FloatArray]:
    """Return the derivatives that a force gives by its arguments, and by some of its fields.

    `arguments` are those of `Force.derivatives`, `expected` the shapes of derivatives by these
    (`expected_shapes`), and `fields` those by fields. ForceError or ShapeError, which name the
    force, where it returns something else than its contract requires.
    """
    found: Any = force.derivatives(*arguments)
    if not isinstance(found, ForceDerivatives):
        raise ForceError(
            f"{_named(force)} must return an mbkit.ForceDerivatives, got {found!r}; write "
            f"return mb.ForceDerivatives(q=..., v=...), and leave out what is zero."
        )
    checked = {}
    for name, shape in expected.items():
        value = getattr(found, name)
        if value is not None:
            checked[name] = _of_shape(force, name, value, shape, expected["t"])
    if found.parameters:
        own = _fields(type(force))
        unknown = [name for name in found.parameters if name not in own]
        if unknown:
            raise ForceError(
                f"{_named(force)}: parameters has {unknown[0]!r}, which is no field of "
                f"{type(force).__name__}; parameters are fields of a class under attrs.frozen, "
                f"here {listed(own) or 'none'}."
            )
        for name, shape in fields.items():
            value = found.parameters.get(name)
            if value is not None:
                checked[name] = _of_shape(force, name, value, shape, expected["t"])
    return checked


def expected_shapes(arguments: Sequence[FloatArray]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of derivatives of a force, which is called with these, by its arguments.

    q, v, poses, twists and out; by name.
    """
    q, v, poses, _, out = arguments
    bodies = (len(poses), 6)
    own = {"t": (), "q": q.shape, "v": v.shape, "poses": bodies, "twists": bodies}
    return {name: (*out.shape, *shape) for name, shape in own.items()}


def _named(force: Force) -> str:
    return f"Force {force.name!r}: derivatives(t, q, v, poses, twists)"


def _fields(kind: type) -> tuple[str, ...]:
    """Return the names of the arguments of a force's constructor."""
    return tuple(each.name for each in attrs.fields(kind)) if attrs.has(kind) else ()


def _of_shape(
    force: Force, name: str, value: Any, shape: tuple[int, ...], out: tuple[int, ...]
) -> FloatArray:
    """Return a derivative as an array that has the axes of the force, `out`, then its own."""
    if type(value) is np.ndarray and value.dtype is _FLOATS and value.shape == shape:
        return value  # in the shortest time: adjoints call this at each stage
    what = f"{_named(force)}: {name}"
    array = as_floats(value, what)
    if array.shape != shape:
        raise ShapeError(
            f"{what} must have shape {shape}, the axes {out} of what the force writes and then "
            f"{shape[len(out) :]} of what it is differentiated by; got shape {array.shape}. Begin "
            f"with {name} = np.zeros({shape}) and write its entries."
        )
    return np.asarray(array)

"""A force that is a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import attrs

from mbkit.errors import ForceError, ShapeError, several
from mbkit.forces.force import Force
from mbkit.lie.arrays import as_floats
from mbkit.spatial.arrays import FloatArray


def _names(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if several(value) else value


@final
@attrs.frozen
class ForceFunction(Force):
    """A function in Python as a force with a name: along joints, or on bodies.

    For a potential energy, a power of several kinds, or derivatives, subclass `Force`.

    Attributes
    ----------
    name : str
        Unique among the forces of the mechanism.
    function : callable
        ``function(t, q, v)`` returns the generalized forces of `joints`, with their positions and
        velocities in a row [N m, N]; with `bodies`, ``function(t, poses, twists)`` returns
        wrenches (n, 6) on them, with their poses (n, 4, 4) and hybrid twists (n, 6): moments about
        the origins of their frames, axes of the world. [N m, N]
    joints, bodies : tuple of str, or str
        The joints or bodies on which it acts; all joints if both are left out.
    power : {"supplied", "dissipated"}
        Where its power goes in the energy balance.

    Raises
    ------
    ForceError
        If there is no function, or both joints and bodies are named.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("ball")
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, ball)
    >>> push = mb.ForceFunction("push", lambda t, q, v: [3.0 * t - q[0]], joints="slide")
    >>> _ = mech.add_force(push)
    >>> mech.assemble().generalized_forces([0.5], [0.0], 1.0)
    array([2.5])
    """

    name: str
    function: Callable[[float, Any, Any], Any] = attrs.field(
        repr=lambda function: getattr(function, "__qualname__", type(function).__qualname__)
    )
    joints: tuple[str, ...] = attrs.field(default=(), converter=_names)
    bodies: tuple[str, ...] = attrs.field(default=(), converter=_names)
    power: str = "supplied"  # type: ignore[misc]

    def __attrs_post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            raise ForceError(
                f"Force {self.name!r}: function must be a function (t, q, v), or (t, poses, "
                f"twists) for bodies; got {self.function!r}."
            )
        if self.joints and self.bodies:
            raise ForceError(
                f"Force {self.name!r}: a function acts on joints or on bodies; leave one out, or "
                "make two forces."
            )
        if not (isinstance(self.power, str) and self.power in ("supplied", "dissipated")):
            raise ForceError(
                f"Force {self.name!r}: power must be 'supplied' or 'dissipated', got "
                f"{self.power!r}; a force with a potential energy is a subclass of mbkit.Force."
            )

    @property
    def acts_on(self) -> str:  # type: ignore[override]
        """Bodies where some are named, else joints."""
        return "bodies" if self.bodies else "joints"

    def evaluate(
        self,
        t: float,
        q: FloatArray,
        v: FloatArray,
        poses: FloatArray,
        twists: FloatArray,
        out: FloatArray,
    ) -> None:
        """Write the result of the function."""
        value = self.function(t, poses, twists) if self.bodies else self.function(t, q, v)
        value = as_floats(value, f"Force {self.name!r}: what its function returns")
        if value.shape != out.shape:
            raise ShapeError(
                f"Force {self.name!r}: its function must return an array of shape {out.shape}, got "
                f"{value.shape}."
            )
        out[:] = value

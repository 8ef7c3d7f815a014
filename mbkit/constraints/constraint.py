"""The contract of constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mbkit.errors import ConstraintError
from mbkit.final import FinalBuiltIns
from mbkit.forces.kernels import Addressed
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.joints import Joint


class Constraint(FinalBuiltIns):
    """A constraint on joints and bodies, given by their names, besides those of the joints.

    Subclass it to make a constraint of your own, as a plain class or under ``attrs.frozen``. It is
    a residual g that must be zero or, where it is nonholonomic, rows of a rate that must be zero.

    Required members

    1. ``name``: set by ``super().__init__(name)``, or an attribute of an attrs class.
    2. ``num_rows``: number of rows m, 1 or more; a class attribute or property.
    3. ``residual(t, q, poses) -> (num_position_rows,)``: g. Or ``kernel()``: a compiled function.

    Members with a default

    4. ``joints``, ``bodies``: names, tuples of str; class attributes or properties. Default none. q
       and v are those of the joints, one after another; `poses` (n, 4, 4) and `twists` (n, 6) are
       those of the bodies, which may be the world. Twists are hybrid: angular velocity and velocity
       of the origin of the body's frame, both in the axes of the world.
    5. ``num_position_rows``: how many rows have a residual. Default `num_rows`. Where there are
       fewer, they come first, and `rows` must be given, for all rows.
    6. ``rows(t, q, poses) -> (wrenches (m, n, 6), coefficients (m, nv))``: how velocities change
       the residual, g' = sum of wrenches . twists + coefficients v + rate. A row's wrench on a body
       is (moment about the origin of its frame, force), in the axes of the world. Default: the
       derivative of the residual.
    7. ``rate(t, q, poses) -> (m,)``: the terms of g' without velocities. Default: the derivative
       of the residual by t, zero in rows that have none.
    8. ``bias(t, q, v, poses, twists) -> (m,)``: the terms of g'' without accelerations, which
       are the rates of v and of the hybrid twists: the time derivative of wrenches . twists +
       coefficients v + rate at constant v and twists. Default: that derivative.
    9. ``row_units(joints) -> tuple of str``: "m" or "rad" for each row, given the `Joint` objects
       that it names. Rows in "rad" are multiplied by the length of the system, so that all
       residuals are in metres and all multipliers in newtons. Default "m" everywhere.
    10. ``parameters() -> (k,)``: numbers that the compiled function gets. Default none.

    Defaults of 6 to 8 are exact but for rounding: the methods are run once with numbers that
    record the operations on them, as for a `Joint` that gives its pose alone; the functions that
    may be used are listed in docs/custom-joints.md. Where that fails, differences of eighth order
    take their place, with a warning. If all three are given, nothing is derived.

    Rules

    - A constraint depends on its arguments only, and keeps no memory.
    - The residual is twice differentiable; where it is zero, its derivative is not: |x| - l,
      never (|x| - l)^2.
    - ``mbkit.testing.check_constraint`` finds rows, rate and bias that are not the derivatives.

    Arguments

    - Arguments are read-only views that the next call overwrites: copy those that are kept.

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of a mechanism.

    Examples
    --------
    A bead on a parabola, z = x^2:

    >>> import mbkit as mb
    >>> class Parabola(mb.Constraint):
    ...     bodies = ("bead",)
    ...     num_rows = 1
    ...
    ...     def residual(self, t, q, poses):
    ...         x, _, z = poses[0, :3, 3]
    ...         return [z - x * x]
    >>> mech = mb.Mechanism("wire")
    >>> bead = mech.add_body(mb.Body("bead", mb.SpatialInertia.sphere(1.0, radius=0.01)))
    >>> planar = mech.add_joint(mb.TranslationalJoint("free"), mech.world, bead)
    >>> wire = mech.add_constraint(Parabola("wire"))
    >>> system = mech.assemble()
    >>> system.constraint_residual([2.0, 0.0, 5.0])
    array([1.])
    >>> system.constraint_jacobian([2.0, 0.0, 4.0])
    array([[-4.,  0.,  1.]])
    """

    name: str
    joints: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    num_rows: int = 0

    #: Text that the error message adds where the compiled function reports that it has no value.
    without_value: ClassVar[str] = ""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def num_position_rows(self) -> int:
        """Number of rows that have a residual."""
        return self.num_rows

    def residual(self, t: float, q: FloatArray, poses: FloatArray) -> FloatArray:
        """Return g, shape (num_position_rows,)."""
        if self.num_position_rows == 0:
            return np.zeros(0)
        raise ConstraintError(
            f"Constraint {getattr(self, 'name', '?')!r}: {type(self).__name__} must define "
            "residual(t, q, poses), or kernel()."
        )

    def rows(self, t: float, q: FloatArray, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return wrenches (m, n, 6) and coefficients (m, nv)."""
        raise NotImplementedError

    def rate(self, t: float, q: FloatArray, poses: FloatArray) -> FloatArray:
        """Return the terms of g' without velocities, shape (m,)."""
        raise NotImplementedError

    def bias(
        self, t: float, q: FloatArray, v: FloatArray, poses: FloatArray, twists: FloatArray
    ) -> FloatArray:
        """Return the terms of g'' without accelerations, shape (m,)."""
        raise NotImplementedError

    def row_units(self, joints: Sequence[Joint]) -> tuple[str, ...]:
        """Return "m" or "rad" for each row."""
        return ("m",) * self.num_rows

    def kernel(self) -> Addressed | None:
        """Return the compiled function, or None for a constraint in Python.

        A module-level function under ``mbkit.kernels.compile.address_kernel("iidpp")``; see
        `mbkit.kernels.constraints.kinds.form`.
        """
        return None

    def parameters(self) -> FloatArray:
        """Return the numbers (k,) that the compiled function gets."""
        return np.zeros(0)

"""Joints that depend on each other by a function: in Python, or a polynomial."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.constraints.fields import array_field, fault, returned
from mbkit.constraints.pairs import JointPairConstraint
from mbkit.forces.kernels import Addressed
from mbkit.spatial.arrays import FloatArray, check_array, with_key


@final
@attrs.frozen
class JointCoupling(JointPairConstraint):
    """A function in Python gives the position of one joint from that of another.

    q_driven = f(q_driver). Its two derivatives are exact; see `Constraint`. A polynomial or a
    table is faster as a `PolynomialCoupling` or a `Cam`, which model files can hold.

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    driver, driven : str
        Names of the joints, of one position each.
    function : callable
        ``function(q_driver) -> q_driven``, twice differentiable. [rad], [m]

    Raises
    ------
    ConstraintError
        If there is no function, or both joints are the same.

    Examples
    --------
    A Scotch yoke:

    >>> import numpy as np
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("yoke")
    >>> ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    >>> crank, slider = (mech.add_body(mb.Body(name, ball)) for name in ("crank", "slider"))
    >>> _ = mech.add_joint(mb.RevoluteJoint("axle"), mech.world, crank)
    >>> _ = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, slider)
    >>> yoke = mb.JointCoupling("yoke", "axle", "slide", lambda q: 0.1 * np.sin(q))
    >>> _ = mech.add_constraint(yoke)
    >>> mech.assemble().constraint_jacobian([0.0, 0.0])
    array([[-0.1,  1. ]])
    """

    function: Any = attrs.field(
        repr=lambda function: getattr(function, "__qualname__", type(function).__qualname__)
    )

    def __attrs_post_init__(self) -> None:
        JointPairConstraint.__attrs_post_init__(self)
        if not callable(self.function) or isinstance(self.function, type):
            raise fault(self, "function", f"must be a function of a number, got {self.function!r}.")

    def residual(self, t: float, q: FloatArray, poses: FloatArray) -> Any:
        """Return q_driven - f(q_driver)."""
        return [q[1] - returned(self, self.function(q[0]), ())[()]]


def _check_coefficients(owner: Any, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    what = f"Constraint {owner.name!r}: {attribute.name}"
    with_key(attribute.name, check_array, value, (max(1, value.size),), what)


@final
@attrs.frozen
class PolynomialCoupling(JointPairConstraint):
    """A polynomial gives the position of one joint from that of another.

    q_driven = c_0 + c_1 q_driver + c_2 q_driver^2 + ...

    Attributes
    ----------
    name : str
        Unique among the constraints and joints of the mechanism.
    driver, driven : str
        Names of the joints, of one position each.
    coefficients : ndarray, shape (k,)
        c_0, c_1, ..., in the units of the joints.

    Raises
    ------
    ConstraintError, ShapeError, GeometryError
        If a coefficient is not finite, or there is none, or both joints are the same.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("two slides")
    >>> for name in ("x", "z"):
    ...     _ = mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
    ...     _ = mech.add_joint(mb.PrismaticJoint(f"slide {name}"), mech.world, name)
    >>> square = mb.PolynomialCoupling("square", "slide x", "slide z", coefficients=(0, 0, 1))
    >>> _ = mech.add_constraint(square)
    >>> mech.assemble().constraint_bias([3.0, 9.0], [1.0, 6.0])
    array([-2.])
    """

    coefficients: FloatArray = array_field(_check_coefficients, attrs.NOTHING)

    def kernel(self) -> Addressed:
        """Return the compiled function."""
        from mbkit.kernels.constraints.kinds import coupling

        return coupling.polynomial

    def parameters(self) -> FloatArray:
        """Return the coefficients."""
        return np.array(self.coefficients)

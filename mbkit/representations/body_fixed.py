"""Body-fixed twists."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from mbkit.representations.representation import Representation

__all__ = ["BodyFixed"]


@final
@attrs.frozen
class BodyFixed(Representation):
    """Angular velocity and velocity of the body's origin, both resolved in the body.

    It is ``V = vee(C^-1 dC/dt)`` for a body at pose C, the left-trivialised velocity of SE(3). The
    inertia of a body is constant in it, which makes its recursions the cheapest. Source: Mueller
    2018, section 3.1. Pinocchio calls it LOCAL.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.BodyFixed().name
    'body_fixed'
    """

    name: ClassVar[str] = "body_fixed"
    kernel_package: ClassVar[str] = "mbkit.kernels.body_fixed"

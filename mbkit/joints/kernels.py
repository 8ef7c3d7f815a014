"""What a joint with compiled functions hands to a system."""

from __future__ import annotations

from typing import Protocol

import attrs

__all__ = ["Addressed", "JointKernels"]


class Addressed(Protocol):
    """A compiled function, as `mbkit.kernels.compile.address_kernel` makes it."""

    @property
    def address(self) -> int:
        """What goes into the table of functions."""
        ...


@attrs.frozen
class JointKernels:
    """The compiled forms of a joint's methods, in its canonical frame.

    Each is a module-level function under ``mbkit.kernels.compile.address_kernel(form)``. It gets
    flat float64 pointers, and returns 0, or another integer where it fails. `slot` is of no use to
    compiled joints; `parameters` points to what `Joint.parameters` returned.

    Attributes
    ----------
    motion : compiled function, form "ippppppp"
        ``motion(slot, parameters, q, v, R, p, S, bias)`` writes the pose as R (9, by rows) and
        p (3), the motion subspace as S (6 nv, column after column), and the bias (6).
    retract, difference, dexp_inv : compiled function, form "ipppp", optional
        ``retract(slot, parameters, q, dx, out)``, ``difference(slot, parameters, q0, q1, out)``,
        ``dexp_inv(slot, parameters, x, v, out)``. Absent where the defaults of `Joint` hold.
    constraint_wrenches : compiled function, form "ippp", optional
        ``constraint_wrenches(slot, parameters, q, out)`` writes 6 - nv wrenches, one after another.
    """

    motion: Addressed
    retract: Addressed | None = None
    difference: Addressed | None = None
    dexp_inv: Addressed | None = None
    constraint_wrenches: Addressed | None = None

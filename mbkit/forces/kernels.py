"""Compiled functions of a force, as a system takes them."""

from __future__ import annotations

from typing import Protocol

import attrs


class Addressed(Protocol):
    """A compiled function, as `mbkit.kernels.compile.address_kernel` makes it."""

    @property
    def address(self) -> int:
        """The address of the function, for the table of functions."""
        ...


@attrs.frozen
class ForceKernels:
    """The compiled functions of a force.

    Each is a module-level function under ``mbkit.kernels.compile.address_kernel(form)`` and returns
    0, or another integer where it fails. They find parameters, joints and bodies of force k by the
    helpers of `mbkit.kernels.forces.form`, and move points and frames of bodies by those of
    `mbkit.kernels.forces.bodies`. A force on bodies that names none acts on all.

    Attributes
    ----------
    evaluate : compiled function, form "iidpppp"
        ``evaluate(space, k, t, q, v, tau, powers)`` adds generalized forces to tau (nv,), or
        wrenches to its bodies, and to powers (2,) its dissipated and its supplied power, in W:
        tau.v is -dU/dt - powers[0] + powers[1].
    potential : compiled function, form "iidpp", optional
        ``potential(space, k, t, q, out)`` adds the potential energy U to out[0]. Absent where there
        is none.
    linear : tuple of three floats, optional
        (k, q0, d) of a force -k (q - q0) - d v along every velocity of its joint: time loops then
        compute it in place, without a call.
    field : tuple of three floats, optional
        g of a force m g on every body, which then names none: time loops then add it to gravity.
    spring : bool, default False
        Whether it is a spring with a damper between points of its two bodies, and its parameters
        are (k, l0, d, r_a, r_b), nine numbers; see `mbkit.SpringDamper`: time loops then compute it
        in place, without a call.
    reads_time : bool, default True
        Whether `evaluate` depends on t, and so has a derivative by it.
    """

    evaluate: Addressed
    potential: Addressed | None = None
    linear: tuple[float, float, float] | None = None
    field: tuple[float, float, float] | None = None
    spring: bool = False
    reads_time: bool = True

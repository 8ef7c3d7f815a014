"""Stabilisation: how a time loop keeps the loops of a mechanism closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import attrs

from mbkit.errors import UsageError
from mbkit.given_values import as_number, positive_number


@final
@attrs.frozen
class Projection:
    """Positions and velocities are brought back to the constraints after every step.

    Each by the smallest correction, measured by the kinetic energy it would have: least motion.

    References
    ----------
    .. [1] E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, Springer 1996,
       section VII.2.
    """


@final
@attrs.frozen
class Baumgarte:
    """Constraints are pulled back as if by springs and dampers, and drift within some bounds.

    ``A vdot + dA/dt v = -2 zeta omega (A v) - omega^2 g`` instead of zero on the right. Multipliers
    and residuals of the acceleration in results are those of this law.

    Attributes
    ----------
    frequency : float
        omega. Of the size of one over ten steps or less: 1 / (10 h) is a usual choice. [rad/s]
    damping_ratio : float, default 1
        zeta; 1 is critical damping.

    References
    ----------
    .. [1] J. Baumgarte, "Stabilization of constraints and integrals of motion in dynamical
       systems", Comput. Methods Appl. Mech. Eng. 1 (1972) 1-16.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.Baumgarte(frequency=50.0)
    Baumgarte(frequency=50.0, damping_ratio=1.0)
    """

    frequency: float = attrs.field(converter=as_number)
    damping_ratio: float = attrs.field(default=1.0, converter=as_number)

    @frequency.validator
    @damping_ratio.validator
    def _check(self, attribute: Any, value: object) -> None:
        positive_number(f"Baumgarte: {attribute.name}", value)


#: How loops are kept closed; None: not at all, so that they drift open.
Stabilisation = Projection | Baumgarte | None

#: The default stabilisation.
PROJECTION = Projection()

#: The entry of a result's options where the integrator stabilises itself.
BY_INTEGRATOR: Mapping[str, Any] = {"kind": "integrator"}


def described(stabilisation: Stabilisation) -> Mapping[str, Any]:
    """Return a stabilisation as the options of a result have it."""
    if stabilisation is None:
        return {"kind": "none"}
    if isinstance(stabilisation, Projection | Baumgarte):
        return {"kind": type(stabilisation).__name__, **attrs.asdict(stabilisation)}
    raise UsageError(
        f"stabilisation must be an mbkit.Projection, an mbkit.Baumgarte or None, got "
        f"{stabilisation!r}."
    )


def from_description(about: Mapping[str, Any]) -> Stabilisation:
    """Return the stabilisation that the options of a result describe."""
    numbers = {name: value for name, value in about.items() if name != "kind"}
    kinds: dict[str, Any] = {"Projection": Projection, "Baumgarte": Baumgarte}
    return kinds[about["kind"]](**numbers) if about["kind"] in kinds else None

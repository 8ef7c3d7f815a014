"""A system whose batches are computed in single precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, final

import attrs

from mbkit.errors import ConstraintError, listed

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["SinglePrecision"]

#: The methods that it has.
METHODS = (
    "poses", "twists", "accelerations", "jacobian", "inverse_dynamics", "bias_force",
    "forward_dynamics", "hybrid_dynamics", "mass_matrix", "generalized_forces", "momentum",
    "centre_of_mass", "kinetic_energy", "potential_energy", "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)  # fmt: skip


@final
class SinglePrecision:
    """Methods of a system that compute batches of states in single precision, and return float32.

    Made by `System.in_single_precision`. Its methods are those of `System` of the same names, with
    the same arguments, of any real type; `out` of a batch is of float32. Vector instructions
    compute twice as many states at once as in double precision. Systems without vectorised version,
    such as systems with functions in Python, are computed in double precision and rounded. So are,
    in forward and hybrid dynamics and derivatives of forward dynamics, states in which the inertia
    about the axis of a joint, of the bodies that it carries, is 5e-5 or less of the trace of their
    inertia; derivatives of systems with a joint whose motion subspace depends on q; and everything,
    if nothing is compiled (``NUMBA_DISABLE_JIT=1``). One state, without batch axes, is computed and
    returned in double precision. Errors: docs/calling-a-system.md.

    Attributes
    ----------
    system : System
        The system, in double precision.

    Methods
    -------
    poses, twists, accelerations, jacobian, momentum, centre_of_mass
        Motion.
    inverse_dynamics, bias_force, forward_dynamics, hybrid_dynamics, mass_matrix
        Dynamics.
    generalized_forces, kinetic_energy, potential_energy
        Forces and energies.
    inverse_dynamics_derivatives, forward_dynamics_derivatives
        Derivatives.
    """

    def __init__(self, system: System) -> None:
        _check(system)
        self.system = system
        self._twin = attrs.evolve(system, evaluator=system.evaluator.in_single_precision())

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return getattr(self._twin, name)
        raise AttributeError(
            f"{type(self).__name__!r} has no {name!r}; in single precision you can call "
            f"{listed(METHODS)}. For anything else use its attribute 'system'."
        )

    def __dir__(self) -> list[str]:
        return sorted((*super().__dir__(), *METHODS))

    def __repr__(self) -> str:
        return f"{self.system!r}.in_single_precision()"

    def __reduce__(self) -> tuple[Any, ...]:
        return SinglePrecision, (self.system,)

    def __copy__(self) -> Self:
        return self  # immutable

    def __deepcopy__(self, _memo: object) -> Self:
        return self


def _check(system: System) -> None:
    """Raise ConstraintError if the system has constraints or prescribed joints."""
    closure = system.arrays.closure
    if not (closure or system.motions):
        return
    if closure:
        why = f"multipliers of constraint '{closure.names[0]}' need a rank, which takes more digits"
    else:
        why = f"joint '{next(iter(system.motions))}' is prescribed"
    raise ConstraintError(
        f"System '{system.name}' is not computed in single precision: {why}. Compute in double "
        f"precision, and round the results: array.astype(numpy.float32)."
    )

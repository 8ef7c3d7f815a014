"""Dynamics of a system as functions of JAX: calls of mbkit, with exact first derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mbkit.bridges.evaluations import check_system
from mbkit.bridges.extras import imported
from mbkit.errors import UsageError, check_choice

if TYPE_CHECKING:
    from mbkit.systems import System


def jax_function(system: System, evaluation: str) -> Any:
    """Return the dynamics of a system as a function of JAX, with its first derivatives.

    JAX calls mbkit's compiled code on the processor (`jax.pure_callback`), under ``jit``, ``grad``,
    ``jacfwd``, ``jacrev``, ``vmap`` and ``scan``; a batch of ``vmap`` is one call.

    Parameters
    ----------
    system : System
        Without prescribed joints; a tree for "inverse_dynamics" and "bias_force".
    evaluation : str
        "forward_dynamics", of (q, v, tau, t=0.0); "inverse_dynamics", of (q, v, vdot, t=0.0); or
        "bias_force", of (q, v). The mechanism's forces are included in the first two,
        ``M vdot + b = tau + f(t, q, v)``, and those of its constraints in "forward_dynamics".

    Returns
    -------
    callable
        Takes arrays (nq,), (nv,), (nv,), which must be float64, and returns (nv,).

    Raises
    ------
    UsageError
        If JAX computes with float32 (``jax.config.update("jax_enable_x64", True)``), when this
        function or what it returns is called; if the system has prescribed joints, or constraints
        where it must be a tree; for second derivatives, when they are asked for.

    Notes
    -----
    Derivatives are those of `System.inverse_dynamics_derivatives` and the mass matrix, exact but
    for what these say of joints whose motion subspace changes; those of forces are
    `System.force_derivatives`, and by time differences of fourth order. With respect to a unit
    quaternion they are along its sphere. Second derivatives: `casadi_function`.

    Of mechanisms with constraints they are those of `System.derivatives`. Where rows of constraints
    depend on others, these are derivatives along changes that keep the loops closed.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    >>> import jax  # doctest: +SKIP
    >>> jax.config.update("jax_enable_x64", True)  # doctest: +SKIP
    >>> f = mb.jax_function(mech.assemble(), "forward_dynamics")  # doctest: +SKIP
    >>> jax.jacobian(f)(*jax.numpy.zeros((3, 1)))  # doctest: +SKIP
    Array([[-9.81]], dtype=float64)
    """
    what = "jax_function"
    check_choice(f"{what}: evaluation", evaluation, tuple(_KINDS))
    check_system(what, system, dynamic=True, of_trees=evaluation != "forward_dynamics")
    jax = imported(what, "jax")
    _check_precision(jax)
    kind = _KINDS[evaluation]
    compute = (_Constrained if system.arrays.closure else kind)(system)
    names = ("q", "v") if evaluation == "bias_force" else ("q", "v", _THIRD[evaluation])
    made = _function(jax, compute, f"{what}: {evaluation}", system.nv)
    sizes = dict(zip(names, (system.nq, system.nv, system.nv), strict=False))
    timed = evaluation != "bias_force"

    def function(*arguments: Any, t: Any = 0.0) -> Any:
        _check_precision(jax)
        if timed and len(arguments) == 4:
            *arguments, t = arguments  # type: ignore[assignment]
        if len(arguments) != len(names):
            raise UsageError(
                f"{what}: {evaluation} takes ({', '.join(names)}{', t=0.0' if timed else ''}), "
                f"got {len(arguments)} arguments."
            )
        given = []
        for (name, size), value in zip(sizes.items(), arguments, strict=True):
            array = jax.numpy.asarray(value, dtype="float64")
            if array.shape != (size,):
                raise UsageError(
                    f"{what}: argument '{name}' of {evaluation} must have shape ({size},), got "
                    f"{array.shape}; use jax.vmap for batches."
                )
            given.append(array)
        return made(jax.numpy.asarray(t, dtype="float64"), *given)

    function.__name__ = function.__qualname__ = evaluation
    return function


_THIRD = {"forward_dynamics": "tau", "inverse_dynamics": "vdot"}


def _check_precision(jax: Any) -> None:
    if not jax.config.jax_enable_x64:
        raise UsageError(
            "jax_function: JAX computes with float32 here, mbkit with float64; say "
            "jax.config.update('jax_enable_x64', True) before anything else."
        )


def _function(jax: Any, compute: _Dynamics, what: str, nv: int) -> Any:
    """Return a function of (t, q, v, x), or (t, q, v), with a rule for derivatives.

    The Jacobians are the result of a second function, whose derivatives are refused.
    """
    kind = jax.numpy.float64

    def called(host: Callable[..., Any], shapes: Any, *arguments: Any) -> Any:
        return jax.pure_callback(host, shapes, *arguments, vmap_method="broadcast_all")

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def jacobians(*arguments: Any) -> Any:
        shapes = [jax.ShapeDtypeStruct((nv, *a.shape), kind) for a in arguments]
        return called(compute.jacobians, shapes, *arguments)

    @jacobians.defjvp  # type: ignore[untyped-decorator]
    def refuse(_primals: Any, _tangents: Any) -> NoReturn:
        raise UsageError(
            f"{what} has first derivatives in JAX, no second ones; use mbkit.casadi_function, "
            f"whose functions have them of any order."
        )

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def function(*arguments: Any) -> Any:
        return called(compute.value, jax.ShapeDtypeStruct((nv,), kind), *arguments)

    @function.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: Any, tangents: Any) -> Any:
        matrices = jacobians(*primals)
        rate = sum(
            jax.numpy.tensordot(J, dx, axes=dx.ndim)
            for J, dx in zip(matrices, tangents, strict=True)
        )
        return function(*primals), rate

    return function


class _Dynamics:
    """Values and Jacobians of a function of (t, q, v, x), in batches.

    Attributes
    ----------
    system : System
        Of which.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._basis = np.eye(system.nv)

    def value(self, t: Any, q: Any, v: Any, x: Any) -> Any:
        """Return the result (..., nv)."""
        raise NotImplementedError

    def jacobians(self, t: Any, q: Any, v: Any, x: Any) -> Any:
        """Return its derivatives (..., nv), (..., nv, nq), (..., nv, nv), (..., nv, nv)."""
        raise NotImplementedError

    def force_rate(self, t: Any, q: Any, v: Any) -> Any:
        """Return the derivative of the forces by time."""
        rate = np.zeros(v.shape)
        if self.system.forces:
            h = 1e-4 * np.maximum(1.0, np.abs(t))
            for k, weight in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
                f = self.system.generalized_forces(q, v, t + k * h)
                rate += weight * f / (12.0 * h[..., None])
        return rate

    def by_positions(self, q: Any, d_q: Any) -> Any:
        """Return derivatives along steps as those by positions, (..., nv, nq).

        Positions move by E(q) dx; along what no step reaches, the length of a quaternion, the
        derivative is zero: d_q E^+.
        """
        system = self.system
        if system.ndx == system.nq and not system.quaternions:
            moved = system.position_rates(q[..., None, :], self._basis)
            if np.array_equal(moved, np.broadcast_to(self._basis, moved.shape)):
                return d_q
        E = np.swapaxes(system.position_rates(q[..., None, :], self._steps(q)), -1, -2)
        return d_q @ np.linalg.pinv(E)

    def _steps(self, _q: Any) -> Any:
        if self.system.ndx != self.system.nv:
            raise UsageError(
                f"jax_function: system '{self.system.name}' has a nonholonomic joint, whose "
                f"velocities do not reach all its positions; its derivatives by positions are not "
                f"here. Use casadi_function."
            )
        return self._basis


class _Forward(_Dynamics):
    def value(self, t: Any, q: Any, v: Any, tau: Any) -> Any:
        t, q, v, tau = map(np.asarray, (t, q, v, tau))
        return self.system.forward_dynamics(q, v, tau, t=t)

    def jacobians(self, t: Any, q: Any, v: Any, tau: Any) -> Any:
        t, q, v, tau = map(np.asarray, (t, q, v, tau))
        d_q, d_v, inverse = self.system.forward_dynamics_derivatives(q, v, tau, t=t)
        d_t = (inverse @ self.force_rate(t, q, v)[..., None])[..., 0]
        return d_t, self.by_positions(q, d_q), d_v, inverse


class _Constrained(_Forward):
    """Forward dynamics with constraints."""

    def jacobians(self, t: Any, q: Any, v: Any, tau: Any) -> Any:
        t, q, v, tau = map(np.asarray, (t, q, v, tau))
        by = ("t", "q", "v", "tau")
        found = self.system.derivatives("forward_dynamics", q, v, tau, by=by, t=t)
        return found["t"], self.by_positions(q, found["q"]), found["v"], found["tau"]


class _Inverse(_Dynamics):
    def value(self, t: Any, q: Any, v: Any, vdot: Any) -> Any:
        t, q, v, vdot = map(np.asarray, (t, q, v, vdot))
        return self.system.inverse_dynamics(q, v, vdot, t=t)

    def jacobians(self, t: Any, q: Any, v: Any, vdot: Any) -> Any:
        t, q, v, vdot = map(np.asarray, (t, q, v, vdot))
        d_q, d_v = self.system.inverse_dynamics_derivatives(q, v, vdot, t=t)
        d_t = -self.force_rate(t, q, v)
        return d_t, self.by_positions(q, d_q), d_v, self.system.mass_matrix(q)


class _Bias(_Dynamics):
    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.bare = system.without_forces()

    def value(self, _t: Any, q: Any, v: Any) -> Any:  # type: ignore[override]
        q, v = map(np.asarray, (q, v))
        return self.system.bias_force(q, v)

    def jacobians(self, t: Any, q: Any, v: Any) -> Any:  # type: ignore[override]
        t, q, v = map(np.asarray, (t, q, v))
        d_q, d_v = self.bare.inverse_dynamics_derivatives(q, v, np.zeros(v.shape))
        return np.zeros(v.shape), self.by_positions(q, d_q), d_v


_KINDS: dict[str, type[_Dynamics]] = {
    "forward_dynamics": _Forward,
    "inverse_dynamics": _Inverse,
    "bias_force": _Bias,
}

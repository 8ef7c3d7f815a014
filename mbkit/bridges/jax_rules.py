"""Values and first derivatives of evaluations that JAX may call, in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.representations import BodyFixed
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.derivatives.force_changes import forces_by_time
from mbkit.systems.derivatives.parameter_moves import shape_of_parameter

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["RULES", "Rule", "Vectors", "sizes_of"]

#: Vectors by name, batches of them.
Vectors = Mapping[str, Any]


@attrs.frozen
class Rule:
    """An evaluation.

    Attributes
    ----------
    arguments : tuple of str
        The vectors that it takes, and "t" if it depends on time.
    shapes : callable
        ``shapes(system)`` are those of its results, one or two.
    value : callable
        ``value(system, x, **options)`` returns the results for vectors by name.
    slopes : callable
        ``slopes(system, x, **options)`` returns for each result its derivatives by name of the
        vector; those by q along steps of the configuration.
    parameter_slopes : callable, optional
        ``parameter_slopes(system, x, names, **options)`` returns for each result its derivatives by
        names in `System.parameters`, as `System.derivatives` has them.
    options : tuple of str
        Further arguments: "body" or "prescribed".
    dynamic, of_trees : bool
        Whether prescribed joints, and constraints, are refused.
    """

    arguments: tuple[str, ...]
    shapes: Callable[[System], tuple[tuple[int, ...], ...]]
    value: Callable[..., tuple[Any, ...]]
    slopes: Callable[..., tuple[dict[str, Any], ...]]
    parameter_slopes: Callable[..., tuple[Any, ...]] | None = None
    options: tuple[str, ...] = ()
    dynamic: bool = False
    of_trees: bool = False

    def jacobians(self, system: System, x: Vectors, **options: Any) -> tuple[tuple[Any, ...], ...]:
        """Return for each result its derivatives by the arguments, those by q by positions."""
        found = []
        results = zip(self.shapes(system), self.slopes(system, x, **options), strict=True)
        for shape, slopes in results:
            if "q" in slopes:
                slopes["q"] = _by_positions(system, x["q"], slopes["q"], shape)
            batch = x["q"].shape[:-1]
            found.append(
                tuple(
                    slopes.get(name, np.zeros((*batch, *shape, *sizes_of(system)[name])))
                    for name in self.arguments
                )
            )
        return tuple(found)


def sizes_of(system: System) -> dict[str, tuple[int, ...]]:
    """Return the shapes of vectors by name."""
    nv = (system.nv,)
    return {"q": (system.nq,), "v": nv, "vdot": nv, "tau": nv, "t": ()}


def _by_positions(system: System, q: Any, slopes: Any, shape: tuple[int, ...]) -> Any:
    """Return derivatives (..., *shape, nv) along steps as those by positions.

    Positions move by E(q) dx; along others than steps, the length of a quaternion, the
    derivative is zero: d_q E^+.
    """
    basis = np.eye(system.nv)
    if system.ndx != system.nv:
        raise UsageError(
            f"jax_function: system '{system.name}' has a nonholonomic joint, whose velocities do "
            f"not reach all its positions; its derivatives by positions are not here. Use "
            f"casadi_function."
        )
    E = np.swapaxes(system.position_rates(q[..., None, :], basis), -1, -2)
    if E.shape[-2:] == basis.shape and np.array_equal(E, np.broadcast_to(basis, E.shape)):
        return slopes
    flat = slopes.reshape((*q.shape[:-1], -1, system.nv)) @ np.linalg.pinv(E)
    return flat.reshape((*q.shape[:-1], *shape, system.nq))


def _force_rate(system: System, x: Vectors) -> Any:
    """Return the derivative of the forces by time: exact, or by differences of fourth order."""
    t, rate = x["t"], np.zeros(x["v"].shape)
    if system.forces:
        q, v = (x[name].reshape((-1, x[name].shape[-1])) for name in "qv")
        exact = forces_by_time(system, TimedStates(q, v, t.reshape(-1)))
        if exact is not None:
            return exact.reshape(rate.shape)
        h = 1e-4 * np.maximum(1.0, np.abs(t))
        for k, weight in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
            f = system.generalized_forces(x["q"], x["v"], t + k * h)
            rate += weight * f / (12.0 * h[..., None])
    return rate


def _forward(system: System, x: Vectors) -> tuple[Any, ...]:
    return (system.forward_dynamics(x["q"], x["v"], x["tau"], t=x["t"]),)


def _forward_slopes(system: System, x: Vectors) -> tuple[dict[str, Any], ...]:
    q, v, tau, t = x["q"], x["v"], x["tau"], x["t"]
    if system.arrays.closure:
        found = system.derivatives("forward_dynamics", q, v, tau, by=("t", "q", "v", "tau"), t=t)
        return (dict(found.vdot),)
    d_q, d_v, inverse = system.forward_dynamics_derivatives(q, v, tau, t=t)
    d_t = (inverse @ _force_rate(system, x)[..., None])[..., 0]
    return ({"t": d_t, "q": d_q, "v": d_v, "tau": inverse},)


def _inverse(system: System, x: Vectors) -> tuple[Any, ...]:
    return (system.inverse_dynamics(x["q"], x["v"], x["vdot"], t=x["t"]),)


def _inverse_slopes(system: System, x: Vectors) -> tuple[dict[str, Any], ...]:
    q, v = x["q"], x["v"]
    d_q, d_v = system.inverse_dynamics_derivatives(q, v, x["vdot"], t=x["t"])
    M = system.mass_matrix(q)
    return ({"t": -_force_rate(system, x), "q": d_q, "v": d_v, "vdot": M},)


def _bias_slopes(system: System, x: Vectors) -> tuple[dict[str, Any], ...]:
    bare = system.without_forces()
    d_q, d_v = bare.inverse_dynamics_derivatives(x["q"], x["v"], np.zeros(x["v"].shape))
    return ({"q": d_q, "v": d_v},)


def _hybrid(system: System, x: Vectors, prescribed: Any) -> tuple[Any, ...]:
    tau, vdot, t = x["tau"], x["vdot"], x["t"]
    return system.hybrid_dynamics(x["q"], x["v"], tau=tau, vdot=vdot, prescribed=prescribed, t=t)


def _hybrid_slopes(system: System, x: Vectors, prescribed: Any) -> tuple[dict[str, Any], ...]:
    found = system.derivatives(
        "hybrid_dynamics", x["q"], x["v"], x["tau"], vdot=x["vdot"], prescribed=prescribed,
        by=("t", "q", "v", "tau", "vdot"), t=x["t"],
    )  # fmt: skip
    return dict(found.vdot), dict(found.tau)


def _forward_by_parameters(system: System, x: Vectors, by: tuple[str, ...]) -> tuple[Any, ...]:
    q, v, tau, t = x["q"], x["v"], x["tau"], x["t"]
    return (system.derivatives("forward_dynamics", q, v, tau, by=by, t=t).vdot,)


def _inverse_by_parameters(system: System, x: Vectors, by: tuple[str, ...]) -> tuple[Any, ...]:
    q, v, vdot, t = x["q"], x["v"], x["vdot"], x["t"]
    return (system.derivatives("inverse_dynamics", q, v, vdot=vdot, by=by, t=t).tau,)


def _hybrid_by_parameters(
    system: System, x: Vectors, by: tuple[str, ...], prescribed: Any
) -> tuple[Any, ...]:
    found = system.derivatives(
        "hybrid_dynamics", x["q"], x["v"], x["tau"], vdot=x["vdot"], prescribed=prescribed, by=by,
        t=x["t"],
    )  # fmt: skip
    return found.vdot, found.tau


def _without_forces(system: System, q: Any, v: Any, vdot: Any, by: tuple[str, ...]) -> Any:
    """Return the derivatives of M vdot + b, zero by parameters of forces."""
    bare = system.without_forces()
    own = [name for name in by if name in bare.parameters]
    found = dict(bare.derivatives("inverse_dynamics", q, v, vdot=vdot, by=own).tau)
    for name in set(by).difference(own):
        found[name] = np.zeros((*vdot.shape, *shape_of_parameter(system, name)))
    return found


def _bias_by_parameters(system: System, x: Vectors, by: tuple[str, ...]) -> tuple[Any, ...]:
    return (_without_forces(system, x["q"], x["v"], np.zeros(x["v"].shape), by),)


def _mass_by_parameters(system: System, x: Vectors, by: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the derivatives of the columns M e, those of M e + b without those of b."""
    q, rest = x["q"][..., None, :], np.zeros((*x["q"].shape[:-1], system.nv, system.nv))
    with_b = _without_forces(system, q, rest, rest + np.eye(system.nv), by)
    b = _without_forces(system, q, rest, rest, by)
    axis = q.ndim - 2
    return ({name: np.swapaxes(with_b[name] - b[name], axis, axis + 1) for name in by},)


def _pose_slopes(system: System, x: Vectors, body: str) -> tuple[dict[str, Any], ...]:
    """Return C V~, with the columns V of the body-fixed Jacobian."""
    C = system.pose(body, x["q"])
    J = system.jacobian(body, x["q"], representation=BodyFixed())
    slopes = np.zeros((*C.shape, system.nv))
    turn, shift = J[..., :3, :], J[..., 3:, :]
    R = C[..., :3, :3]
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):  # column k of R w~ is w_j R_i - w_i R_j
        slopes[..., :3, k, :] = (
            R[..., :, i, None] * turn[..., None, j, :] - R[..., :, j, None] * turn[..., None, i, :]
        )
    slopes[..., :3, 3, :] = R @ shift
    return ({"q": slopes},)


def _jacobian_slopes(system: System, x: Vectors, body: str) -> tuple[dict[str, Any], ...]:
    return ({"q": np.moveaxis(system.jacobian_derivatives(body, x["q"]), -3, -1)},)


def _twist_slopes(system: System, x: Vectors, body: str) -> tuple[dict[str, Any], ...]:
    by_q = np.einsum("...kij,...j->...ik", system.jacobian_derivatives(body, x["q"]), x["v"])
    return ({"q": by_q, "v": system.jacobian(body, x["q"])},)


def _vector(system: System) -> tuple[tuple[int, ...], ...]:
    return ((system.nv,),)


RULES = {
    "forward_dynamics": Rule(
        ("q", "v", "tau", "t"),
        _vector,
        _forward,
        _forward_slopes,
        _forward_by_parameters,
        dynamic=True,
    ),
    "inverse_dynamics": Rule(
        ("q", "v", "vdot", "t"),
        _vector,
        _inverse,
        _inverse_slopes,
        _inverse_by_parameters,
        dynamic=True,
        of_trees=True,
    ),
    "hybrid_dynamics": Rule(
        ("q", "v", "tau", "vdot", "t"),
        lambda system: ((system.nv,), (system.nv,)),
        _hybrid,
        _hybrid_slopes,
        _hybrid_by_parameters,
        options=("prescribed",),
        dynamic=True,
    ),
    "bias_force": Rule(
        ("q", "v"),
        _vector,
        lambda system, x: (system.bias_force(x["q"], x["v"]),),
        _bias_slopes,
        _bias_by_parameters,
        dynamic=True,
        of_trees=True,
    ),
    "mass_matrix": Rule(
        ("q",),
        lambda system: ((system.nv, system.nv),),
        lambda system, x: (system.mass_matrix(x["q"]),),
        lambda system, x: ({"q": system.mass_matrix_derivatives(x["q"])},),
        _mass_by_parameters,
    ),
    "pose": Rule(
        ("q",),
        lambda system: ((4, 4),),
        lambda system, x, body: (system.pose(body, x["q"]),),
        _pose_slopes,
        options=("body",),
    ),
    "twist": Rule(
        ("q", "v"),
        lambda system: ((6,),),
        lambda system, x, body: (system.twist(body, x["q"], x["v"]),),
        _twist_slopes,
        options=("body",),
    ),
    "jacobian": Rule(
        ("q",),
        lambda system: ((6, system.nv),),
        lambda system, x, body: (system.jacobian(body, x["q"]),),
        _jacobian_slopes,
        options=("body",),
    ),
}

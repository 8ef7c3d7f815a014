"""Evaluations of a system as functions of JAX: calls of mbkit, with exact first derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mbkit.bridges.evaluations import check_system
from mbkit.bridges.jax_parameters import RuleWithParameters
from mbkit.bridges.jax_rules import RULES
from mbkit.errors import UsageError, check_choice
from mbkit.extras import extra_package

if TYPE_CHECKING:
    from mbkit.systems import System


def jax_function(
    system: System,
    evaluation: str,
    *,
    body: str | None = None,
    prescribed: Sequence[str] | None = None,
    parameters: Iterable[str] | Mapping[str, str] = (),
) -> Any:
    """Return an evaluation of a system as a function of JAX, with its first derivatives.

    JAX calls mbkit's compiled code on the processor (`jax.pure_callback`), under ``jit``, ``grad``,
    ``jacfwd``, ``jacrev``, ``vmap`` and ``scan``; a batch of ``vmap`` is one call.

    Parameters
    ----------
    system : System
        Without prescribed joints where the evaluation is of its dynamics; a tree for
        "inverse_dynamics" and "bias_force".
    evaluation : str
        "forward_dynamics", of (q, v, tau, t=0.0); "inverse_dynamics", of (q, v, vdot, t=0.0);
        "hybrid_dynamics", of (q, v, tau, vdot, t=0.0), which returns (vdot, tau); "bias_force", of
        (q, v); "mass_matrix", of q; "pose" and "jacobian", of q, and "twist", of (q, v), of one
        body. The mechanism's forces are included in the first three, ``M vdot + b = tau + f(t, q,
        v)``, and those of its constraints in forward and hybrid dynamics.
    body : str, optional
        Name of the body, where the evaluation is of one.
    prescribed : sequence of str, optional
        Of "hybrid_dynamics": the joints whose accelerations are given.
    parameters : iterable of str, or mapping of str to str
        Numbers of the model that become arguments after the vectors and before ``t``, in this
        order, by their names in ``system.parameters``, such as "bodies.rod.mass", with an index for
        one entry, "bodies.rod.com[2]"; a mapping gives their names in messages. Of dynamics,
        "bias_force" and "mass_matrix".

    Returns
    -------
    callable
        Takes arrays (nq,), (nv,), ..., and parameters in their shapes, which must be float64, and
        returns the result of the method of `System` with this name.

    Raises
    ------
    UsageError
        If JAX computes with float32 (``jax.config.update("jax_enable_x64", True)``), when this
        function or its result is called; if the system has prescribed joints, or constraints
        where it must be a tree; for second derivatives, when they are computed.

    Notes
    -----
    Derivatives are those of `System.inverse_dynamics_derivatives` and the mass matrix, exact but
    for joints whose motion subspace changes, see there; those of forces are
    `System.force_derivatives`, and by time exact where `System.derivatives` has them so, else by
    differences of fourth order. With respect to a unit quaternion they are along its sphere. Second
    derivatives: `casadi_function`.

    Of mechanisms with constraints, and of hybrid dynamics, they are those of `System.derivatives`;
    of the mass matrix and of a Jacobian those of `mass_matrix_derivatives` and
    `jacobian_derivatives`. Where rows of constraints
    depend on others, these are derivatives along changes that keep the loops closed.

    By parameters they are those of `System.derivatives`, with respect to a pose along its motions.
    Samples of a batch that have the same parameters are one call, others one each: a system is made
    for each, as by `System.with_parameters`.

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
    check_choice(f"{what}: evaluation", evaluation, tuple(RULES))
    rule = RULES[evaluation]
    check_system(what, system, dynamic=rule.dynamic, of_trees=rule.of_trees)
    options = _checked_options(what, system, evaluation, body=body, prescribed=prescribed)
    jax = extra_package("jax", f"{what} needs jax", "jax")
    _check_precision(jax)
    own = RuleWithParameters.of(f"{what}: {evaluation}", rule, system, parameters)
    made = _function(jax, own, options, f"{what}: {evaluation}")
    sizes = own.sizes
    names = [name for name in own.arguments if name != "t"]
    timed = "t" in rule.arguments

    def function(*arguments: Any, t: Any = 0.0) -> Any:
        _check_precision(jax)
        if timed and len(arguments) == len(names) + 1:
            *arguments, t = arguments  # type: ignore[assignment]
        if len(arguments) != len(names):
            raise UsageError(
                f"{what}: {evaluation} takes ({', '.join(names)}{', t=0.0' if timed else ''}), "
                f"got {len(arguments)} arguments."
            )
        given = []
        for name, value in zip(names, arguments, strict=True):
            array = jax.numpy.asarray(value, dtype="float64")
            if array.shape != sizes[name]:
                raise UsageError(
                    f"{what}: argument '{name}' of {evaluation} must have shape {sizes[name]}, got "
                    f"{array.shape}; use jax.vmap for batches."
                )
            given.append(array)
        found = made(*given, *([jax.numpy.asarray(t, dtype="float64")] if timed else []))
        return found[0] if len(found) == 1 else found

    function.__name__ = function.__qualname__ = evaluation
    return function


def _checked_options(what: str, system: System, evaluation: str, **given: Any) -> dict[str, Any]:
    """Return the options that an evaluation takes; UsageError for others, or if one is missing."""
    for name, value in given.items():
        if (name in RULES[evaluation].options) != (value is not None):
            needs = "needs" if value is None else "takes no"
            example = system.body_names[-1] if name == "body" else [*system.joint_names[:1]]
            raise UsageError(
                f"{what}: {evaluation} {needs} {name}; "
                f"{'leave it out' if value is not None else f'give {name}={example!r}'}."
            )
    if given["body"] is not None:
        system.body_index(given["body"])
    if given["prescribed"] is not None:
        system.known(None, None, given["prescribed"])
    return {name: value for name, value in given.items() if value is not None}


def _check_precision(jax: Any) -> None:
    if not jax.config.jax_enable_x64:
        raise UsageError(
            "jax_function: JAX computes with float32 here, mbkit with float64; say "
            "jax.config.update('jax_enable_x64', True) before anything else."
        )


def _function(jax: Any, rule: RuleWithParameters, options: dict[str, Any], what: str) -> Any:
    """Return a function of the arguments of a rule, in a tuple of results, with derivatives.

    The Jacobians are the result of a second function, whose derivatives are refused.
    """
    shapes = rule.rule.shapes(rule.system)

    def called(compute: Callable[..., Any], results: Any, arguments: Any) -> Any:
        def host(*given: Any) -> Any:
            x = dict(zip(rule.arguments, map(np.asarray, given), strict=True))
            return compute(x, **options)

        return jax.pure_callback(host, results, *arguments, vmap_method="broadcast_all")

    def of(shape: tuple[int, ...]) -> Any:
        return jax.ShapeDtypeStruct(shape, jax.numpy.float64)

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def jacobians(*arguments: Any) -> Any:
        wanted = tuple(tuple(of((*s, *a.shape)) for a in arguments) for s in shapes)
        return called(rule.jacobians, wanted, arguments)

    @jacobians.defjvp  # type: ignore[untyped-decorator]
    def refuse(_primals: Any, _tangents: Any) -> NoReturn:
        raise UsageError(
            f"{what} has first derivatives in JAX, no second ones; use mbkit.casadi_function, "
            f"whose functions have them of any order."
        )

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def function(*arguments: Any) -> Any:
        return called(rule.value, tuple(map(of, shapes)), arguments)

    @function.defjvp  # type: ignore[untyped-decorator]
    def along(primals: Any, tangents: Any) -> Any:
        rates = tuple(
            sum(
                jax.numpy.tensordot(J, dx, axes=dx.ndim)
                for J, dx in zip(matrices, tangents, strict=True)
            )
            for matrices in jacobians(*primals)
        )
        return function(*primals), rates

    return function

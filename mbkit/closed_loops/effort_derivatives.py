"""Derivatives of the efforts of actuators by state, time and parameters.

Efforts u and multipliers l solve, with Lagrange multipliers y of the last row,

    [W  0  B^T] [u]   [0]
    [0  V   A ] [l] = [0],
    [B A^T  0 ] [y]   [r]

r the generalized forces that the tree needs for the motion, minus the applied ones, and B the
columns of the identity that belong to actuators. W = diag(w), V = 0 for efforts of least weighted
norm; W = 0, V = 1 for multipliers of least norm. An input changes r and A, so that with the same
matrix K

    K (du, dl, dy) = (0, -dA y, dr - dA^T l).

The null space of K has two parts: for V = 0 all l with A^T l = 0, if rows depend on others; and all
y with A y = 0 and B^T y = 0, if passive velocities are free while actuators stand still. Their
dimensions follow from the ranks of A and of its passive columns. For V = 0 the l found are those of
least norm, l = A mu, without a component in the first part; that of dl is the one of d(A mu).
Source: Kim 2012, section 3, for the efforts; Boyd and Vandenberghe, Convex Optimization, section
10.1, for the equations.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.actuation import Actuation
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import broadcast, velocity_sizes
from mbkit.systems.derivatives.evaluation_derivatives import (
    Derivatives,
    changes_by_inputs,
    changes_by_parameters,
    check_room,
    checked_names,
    gathered,
)
from mbkit.systems.derivatives.evaluation_states import Change, Point, is_zero
from mbkit.systems.rank import Ranked, singular_values

if TYPE_CHECKING:
    from mbkit.systems.system import System

_OF = "closed_inverse_dynamics"


def derivatives_of_efforts(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike | None,
    tau: ArrayLike | None,
    *,
    actuated: Sequence[str],
    minimise: str | Mapping[str, float],
    prescribed: Sequence[str],
    by: Iterable[str],
    t: ArrayLike,
    on_error: str,
) -> Derivatives:
    """See `System.derivatives`."""
    names = checked_names(system, _OF, by, vdot=vdot, tau=tau, prescribed=prescribed)
    assert vdot is not None  # see `checked_names`
    actuation = Actuation.of(system, actuated, minimise)
    tau = system.evaluator.zero if tau is None else tau
    found = system.closed_inverse_dynamics(
        q, v, vdot, actuated=actuated, tau=tau, minimise=minimise, t=t, on_error=on_error
    )
    *given, times = broadcast(
        system, t, q=q, v=v, vdot=vdot, x=found.efforts, multipliers=found.multipliers
    )
    count = math.prod(times.shape)
    check_room(system, names, count)
    q, v, vdot, efforts, multipliers = (np.reshape(x, (count, x.shape[-1])) for x in given)
    held = np.ones(system.nv, dtype=bool)
    rank = np.full(count, multipliers.shape[-1])
    times_of_all = np.array(times).reshape(count)
    state = Point(
        system, q, v, vdot, efforts, times_of_all, multipliers, rank, held, by_motion=False
    )
    return gathered(_OF, state, names, functools.partial(_solved, actuation), times.shape)


def _solved(
    actuation: Actuation, point: Point, names: Sequence[str]
) -> Iterator[tuple[str, dict[str, Floats]]]:
    """Yield the changes of efforts and multipliers by names."""
    sizes, A = velocity_sizes(point.system, point.q), point.jacobian()
    every = [_Balance.of(actuation, *each) for each in zip(A, sizes, strict=True)]
    found = [_Found(*each) for each in zip(point.tau, point.multipliers, strict=True)]
    adjoints = [each.adjoint(own) for each, own in zip(every, found, strict=True)]
    turning = attrs.evolve(point, turns=np.reshape(adjoints, point.v.shape))
    hidden: Iterator[Any] = itertools.repeat(None)
    if any(each.hidden.shape[1] for each in every):
        mu = [each.behind(own.multipliers) for each, own in zip(every, found, strict=True)]
        behind = attrs.evolve(point, turns=np.reshape(mu, point.v.shape))
        hidden = (change.turned for _, change in _changes(behind, names))
    for (name, change), more in zip(_changes(turning, names), hidden, strict=False):
        efforts, turned = (
            np.broadcast_to(part, (*size, change.width))
            for part, size in (
                (change.efforts - np.asarray(change.tau), point.v.shape),
                (change.turned, point.multipliers.shape),
            )
        )
        parts = [each.changed(*own) for each, *own in zip(every, efforts, turned, strict=True)]
        by_tau, by_multipliers = (np.array([part[k] for part in parts]) for k in (0, 1))
        if more is not None and not is_zero(more):
            N = np.array([each.hidden @ each.hidden.T for each in every])
            by_multipliers = by_multipliers + N @ more
        yield (
            name,
            {
                "tau": by_tau.reshape(efforts.shape),
                "multipliers": by_multipliers.reshape(turned.shape),
            },
        )


def _changes(point: Point, names: Sequence[str]) -> Iterator[tuple[str, Change]]:
    """Yield the changes of the equations by names; tau are efforts besides the actuators'."""
    by_inputs = changes_by_inputs(point, [name for name in names if name != "tau"])
    if "tau" in names:
        by_inputs["tau"] = Change(tau=np.eye(point.system.nv))
    yield from by_inputs.items()
    yield from changes_by_parameters(point, names)


class _Found(NamedTuple):
    """What `System.closed_inverse_dynamics` found at one state: (nv,), (m,)."""

    efforts: Floats
    multipliers: Floats


@attrs.frozen(eq=False)
class _Balance:
    """The equations of one state, with velocities in units that move bodies by a metre.

    Efforts are in parts of the roots of their weights.
    """

    actuation: Actuation
    A: Floats  # (m, nv)
    sizes: Floats  # (nv,)
    roots: Floats  # (actuated,)
    hidden: Floats  # (m, m - rank): the l with A^T l = 0 that no motion tells; none with V = 1
    whole: Ranked  # A
    inverse: Floats  # of K

    @classmethod
    def of(cls, actuation: Actuation, A: Floats, sizes: Floats) -> Self:
        """Return them, with ranks by the rule of `Actuation.solve`."""
        a, nv, m = actuation.actuated, len(sizes), len(A)
        weighs_efforts = actuation.roots is not None
        roots = np.ones(len(a)) if actuation.roots is None else actuation.roots
        scaled = A / sizes
        largest = float(singular_values(scaled, compute_uv=False)[0]) if scaled.size else 0.0
        whole = Ranked.of(scaled, largest)
        held = Ranked.of(scaled[:, actuation.passive].T, largest)
        K = np.zeros((len(a) + m + nv,) * 2)
        first = len(a) + m  # row of y; before it those of l, before them those of u
        weighed = slice(len(a)) if weighs_efforts else slice(len(a), first)
        K[weighed, weighed] = np.eye(len(a) if weighs_efforts else m)
        K[first + np.array(a, dtype=int), range(len(a))] = 1.0 / (sizes[a] * roots)
        K[first:, len(a) : first] = scaled.T
        K[:first, first:] = K[first:, :first].T
        hidden = whole.left_null if weighs_efforts else np.zeros((m, 0))
        rank = len(K) - hidden.shape[1] - (len(actuation.passive) - held.rank)
        inverse = Ranked(K, rank).solve(np.eye(len(K)))
        return cls(actuation, A, sizes, roots, hidden, whole, inverse)

    def adjoint(self, found: _Found) -> Floats:
        """Return y."""
        needed = found.efforts + self.A.T @ found.multipliers
        y = slice(len(self.roots) + len(self.A), None)
        return self.inverse[y, y] @ (needed / self.sizes) / self.sizes

    def behind(self, multipliers: Floats) -> Floats:
        """Return the mu of least size for which these are A mu."""
        return self.whole.solve(multipliers) / self.sizes  # type: ignore[no-any-return]

    def changed(self, efforts: Floats, turned: Floats) -> tuple[Floats, Floats]:
        """Return du (nv, k) and dl (m, k) by those of r - A^T l (nv, k) and of A y (m, k)."""
        a = self.actuation.actuated
        sides = np.concatenate([-turned, efforts / self.sizes[:, None]])
        found = self.inverse[:, len(a) :] @ sides
        whole = np.zeros(efforts.shape)
        whole[a] = found[: len(a)] / self.roots[:, None]
        return whole, found[len(a) : len(a) + len(turned)]

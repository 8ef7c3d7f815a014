"""Accelerations of a system at many states at once, linear about them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from mbkit.sensitivities.passes.equations import WeightedEquations, weighted_changes
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_velocities
from mbkit.systems.calls.failures import failure
from mbkit.systems.derivatives.evaluation_states import Change, Point
from mbkit.systems.derivatives.inertia_changes import field_of_inertia, inertial_changes
from mbkit.systems.derivatives.input_changes import change_by_input, changes_by_state
from mbkit.systems.derivatives.parameter_changes import change_by_parameter, changes_by_places
from mbkit.systems.memory.workspace import Workspace

__all__ = ["Accelerations", "States", "changes", "contracted", "contracted_inertia"]


class States(NamedTuple):
    """N states: t (N,), q (N, nq), and v, their accelerations and efforts, (N, nv)."""

    t: Floats
    q: Floats
    v: Floats
    vdot: Floats
    tau: Floats


@final
@attrs.frozen(eq=False, slots=False)
class Accelerations:
    """Derivatives of accelerations at N states by the states, by efforts and by parameters.

    Attributes
    ----------
    point : Point
        The states, with the accelerations and multipliers that were found there.
    """

    point: Point

    @classmethod
    def at(cls, system: System, states: States, kept: Any) -> Accelerations:
        """Return those of states, kept (N, m) not zero for rows of constraints that count."""
        t, q, v, vdot, tau = states
        none = np.zeros((len(t), system.num_velocity_constraints))
        given = prescribed_velocities(system)
        rank = np.count_nonzero(kept, axis=-1)
        point = Point(system, q, v, vdot, tau, t, none, rank, given, bool(system.motions), kept)
        if not point.constrained:
            return cls(point)
        missing = point.equations(system, t)["efforts"] - tau
        return cls(attrs.evolve(point, multipliers=point.solution.multipliers(missing)))

    @property
    def of_tree(self) -> bool:
        """Whether all joints of a tree are free."""
        return not (self.point.constrained or self.point.by_motion)

    @functools.cached_property
    def by_state(self) -> tuple[Floats, Floats]:
        """The derivatives by q (N, nv, ndx) and v (N, nv, nv)."""
        by_q, by_v = (self._solved(each) for each in changes_by_state(self.point).values())
        return by_q, by_v

    @functools.cached_property
    def _inverse(self) -> Floats:
        """M^-1 of a tree, by the articulated bodies as the adjoint has it."""
        system, q, v = self.point.system, self.point.q, self.point.v
        return system.forward_dynamics_derivatives(q, v)[2]

    def _solved(self, change: Change) -> Floats:
        """Return the change of accelerations by a change of the equations, (N, nv, k)."""
        if self.of_tree:
            return np.asarray(self._inverse @ (change.tau - np.asarray(change.efforts)))
        return self.point.solution.solve(change)["vdot"]

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return derivatives (N, nv, k) by name, of "q" and "v", the start, none."""
        return {name: self._solved(each) for name, each in changes(self.point, names).items()}

    def contracted(self, adjoints: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return the sums of adjoints (N, nv) times `by_inputs`, (k,), without making these."""
        point = self.point
        efforts, rows = (each[..., 0] for each in point.solution.transposed(adjoints[..., None]))
        states = point.t, point.q, point.v, point.vdot
        parameters = [name for name in names if name not in ("q", "v", "tau")]
        if point.by_motion:
            parameters = []
        found = weighted_changes(
            point.system,
            parameters,
            [WeightedEquations(*states, efforts, point.multipliers, rows)],
        )
        others = contracted(point, efforts, rows, [name for name in names if name not in found])
        return {**found, **others}


def changes(point: Point, names: Sequence[str]) -> Mapping[str, Change]:
    """Return the changes by inputs other than the state at the start, by name."""
    found = dict(changes_by_places(point, names, scaled=False))
    for name in names:
        if name == "tau":
            found[name] = change_by_input(point, name)
        elif name not in found and name not in ("q", "v"):
            found[name] = change_by_parameter(point, name, scaled=False)
    return found


def contracted(
    point: Point, efforts: Floats, rows: Floats, names: Sequence[str]
) -> Mapping[str, Floats]:
    """Return sums of efforts (N, nv) and rows (N, m) times the changes of the equations, (k,).

    Of "tau" the terms that are to be summed, (N, nv).

    Inertial parameters of all bodies take one pass: their regressor is contracted first.
    """
    found = contracted_inertia(point, efforts, names)
    for name, change in changes(point, [name for name in names if name not in found]).items():
        if name == "tau":
            found[name] = -efforts @ change.tau
            continue
        total = np.zeros(np.shape(change.efforts)[-1])
        parts = ((change.efforts, efforts), (change.rows, rows), (change.tau, -efforts))
        for part, weights in parts:
            if np.ndim(part) and weights.size:  # trees have no rows
                wide = np.broadcast_to(part, (*weights.shape, total.size))
                total += np.einsum("ni,nik->k", weights, wide)
        found[name] = total
    return found


def contracted_inertia(point: Point, efforts: Floats, names: Sequence[str]) -> dict[str, Floats]:
    """Return the same of efforts alone for those names that are of inertial parameters."""
    system = point.system
    known = {name: field_of_inertia(system, name) for name in names}
    fields = {name: each for name, each in known.items() if each is not None}
    if not fields:
        return {}
    return inertial_changes(system, _weighted_regressor(point, efforts), fields)


def _weighted_regressor(point: Point, efforts: Floats) -> Floats:
    """Return sums of efforts (N, nv) times the regressor of inertial parameters, (bodies, 10)."""
    from mbkit.kernels.vector_jacobian_products.regressor import Motions, add_weighted_regressors

    system = point.system
    total = np.zeros((len(system.body_names), 10))
    twists = np.zeros((len(system.arrays.bodies), 6))
    workspace = Workspace(system.arrays, system.evaluator)
    q, v, vdot, weights = (np.ascontiguousarray(x) for x in (point.q, point.v, point.vdot, efforts))
    motions: Any = Motions(q, v, vdot)
    status = add_weighted_regressors(workspace.address, motions, weights, twists, total)
    if status != 0:
        raise failure(system.evaluator, status, workspace, {"q": point.q[0], "v": point.v[0]})
    return total[1:]

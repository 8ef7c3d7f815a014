"""Reactions: the wrenches that joints pass on."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, UsageError, check_switch, listed
from mbkit.systems.closed_dynamics import ClosedDynamics
from mbkit.systems.entries import broadcast, by_sample, entries_of, velocity_sizes
from mbkit.systems.joint_cut import JointCut
from mbkit.systems.kinematics import Floats
from mbkit.systems.rank import Ranked
from mbkit.systems.wrenches import Wrenches

__all__ = ["Reactions"]

_FELT = 1e-6  # of multipliers of norm one, moments by length: a joint that has less feels nothing

_COMPONENTS = tuple(
    f"{what} {axis}" for what in ("moment about", "force along") for axis in ("x", "y", "z")
)


@attrs.frozen(eq=False, slots=False, repr=False)
class Reactions(ClosedDynamics):
    """Reactions of joints; see `System`."""

    def reaction(
        self,
        joint: str,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        vdot: ArrayLike | None = None,
        multipliers: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        on: str | None = None,
        at: str | ArrayLike = "joint",
        expressed_in: str = "world",
        with_effort: bool = True,
        minimum_norm: bool = False,
        on_error: str = "raise",
    ) -> Floats:
        """Return the wrench that a joint exerts on one of its bodies.

        The forces of the system act, as in a simulation; `tau` and `wrenches` act beside them.

        Parameters
        ----------
        joint : str
            A joint of the tree, or one that closes a loop.
        q, v : array_like, shape (..., nq), (..., nv)
            State; several at once, such as those of a run. Those of prescribed joints follow from
            t, unless `vdot` is given.
        tau : array_like, shape (..., nv), optional
            Generalized forces beside those of the system's forces, from which the motion follows;
            zero if left out. [N m], [N]
        wrenches : array_like, shape (..., bodies + 1, 6), or mapping, optional
            Applied to the bodies, as in `inverse_dynamics`.
        vdot : array_like, shape (..., nv), optional
            The acceleration, in place of `tau`.
        multipliers : array_like, shape (..., num_velocity_constraints), optional
            What the constraints do at `vdot`: of `solve_dynamics` or `closed_inverse_dynamics`.
        t : array_like, shape (...), default 0
            Time. [s]
        on : str, optional
            The body that the wrench acts on: the joint's successor, if left out, or its
            predecessor, which gets the opposite.
        at : str or array_like, shape (..., 3)
            The point that the moment is about: "joint", the origin of the joint's frame on body
            `on`; the origin of a body's frame, by the body's name; or a point in the world. [m]
        expressed_in : str
            Axes: of the "world", of a body by its name, or of the "joint", those of its frame on
            body `on`.
        with_effort : bool
            Whether the effort along the joint's motion, of drives, springs and friction in it, is
            a part of it. Without, the part that is left does no work in the joint: what is taken
            out has least norm, moments in parts of the system's length, at the joint's frame.
        minimum_norm : bool
            Where constraints are redundant, whether to return what multipliers of least norm
            give; it depends on where loops are cut, and is what bodies feel only by chance.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., 6)
            Moment and force. [N m], [N]

        Raises
        ------
        ConstraintError
            If the reaction is not unique, because constraints are redundant and the joint feels
            it; the message says which of its six components are.
        NameUnknownError, UsageError
            If there is no such joint or body, or what is given does not fit together.

        Notes
        -----
        By the balance of momentum of all bodies beyond the joint: recursive Newton-Euler with the
        multipliers as wrenches. It is unique if no multipliers with ``A^T multipliers = 0`` make a
        difference to it. Cost: O(bodies), and a singular value decomposition of the constraints.

        Examples
        --------
        What the hinge of a pendulum at rest bears, and what the pendulum does to the world:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(2.0, (0.5, 0, 0))))
        >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
        >>> system = mech.assemble()
        >>> holding = system.bias_force([0.0], [0.0])
        >>> system.reaction("hinge", [0.0], [0.0], holding) + 0.0
        array([  0., -10.,   0.,   0.,   0.,  20.])
        >>> system.reaction("hinge", [0.0], [0.0], holding, on="world", with_effort=False) + 0.0
        array([  0.,   0.,   0.,   0.,   0., -20.])
        """
        check_switch("reaction: with_effort", with_effort)
        check_switch("reaction: minimum_norm", minimum_norm)
        cut = JointCut.of(self, joint, on)
        motion = self._motion_of(q, v, tau, wrenches, vdot, multipliers, t, on_error)
        at_q, at_v, at_vdot, forces, time, held = motion
        null = self._self_stress(at_q, time, held, on_error)
        if minimum_norm:
            forces = forces - np.einsum("...km,...kn,...n->...m", null, null, forces)
        C = self.poses(at_q, on_error=on_error)
        origin, point, axes = cut.frame(C)[..., :3, 3], cut.point(at, C), cut.axes(expressed_in, C)
        W = cut.of_bodies((at_q, at_v, at_vdot), time, wrenches, origin, on_error)
        W = W + cut.of_constraints(at_q, forces, time, origin, on_error)
        W = W + cut.of_loans((at_q, at_v, at_vdot), on_error)
        if not with_effort:
            W = W - cut.effort(W, at_q, C, origin, on_error)
        W = _seen(W, origin, point, axes)
        if null.shape[-2] and not minimum_norm:
            places = origin[..., None, :], point[..., None, :], axes[..., None, :, :]
            felt = cut.of_constraints(
                at_q[..., None, :], null, time[..., None], places[0], on_error
            )
            self._check_felt(cut, _seen(felt, *places), expressed_in, W, on_error)
        return W

    def _motion_of(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None,
        wrenches: Wrenches | None,
        vdot: ArrayLike | None,
        multipliers: ArrayLike | None,
        t: ArrayLike,
        on_error: str,
    ) -> tuple[Any, ...]:
        """Return q, v, vdot, multipliers, t, and which velocities are held whatever it takes."""
        m = self.num_velocity_constraints
        free = np.zeros(self.nv, dtype=bool)
        if vdot is None:
            if multipliers is not None:
                raise UsageError("reaction: multipliers go with vdot; give both, or tau.")
            given: Any = self.evaluator.zero
            if tau is not None:
                given = self.evaluator.arguments.with_leading_axes("tau", tau)
            if self.motions:
                q, v, _ = self.prescribed_rows(t, q, v, on_error)
            if self.forces:
                given = given + self.generalized_forces(q, v, t, on_error=on_error)
            vdot, multipliers, _ = self.solved(q, v, given, wrenches, t=t, on_error=on_error)
            free[entries_of(self, self.prescribed_joints, "prescribed")] = True
        elif tau is not None:
            raise UsageError("reaction: give tau, from which the motion follows, or vdot.")
        elif multipliers is None and m:
            raise UsageError(
                f"reaction: system '{self.name}' has loops: give the multipliers that belong to "
                f"vdot, of solve_dynamics or closed_inverse_dynamics."
            )
        found = broadcast(
            self, t, q=q, v=v, vdot=vdot,
            multipliers=np.zeros(m) if multipliers is None else multipliers,
        )  # fmt: skip
        return (*found, free)

    def _self_stress(self, q: Floats, t: Floats, held: Any, on_error: str) -> Floats:
        """Return the multipliers that move nothing, (..., n, m), orthonormal; zero rows fill up."""
        m = self.num_velocity_constraints
        if not m:
            return np.zeros((*q.shape[:-1], 0, 0))
        A = self.constraint_jacobian(q, t, on_error=on_error)
        A = np.nan_to_num(A / velocity_sizes(self, q)[..., None, :])[..., ~held]
        bases = {index: Ranked.of(A[index].T).null.T for index in np.ndindex(q.shape[:-1])}
        most = max((len(basis) for basis in bases.values()), default=0)
        null = np.zeros((*q.shape[:-1], most, m))
        for index, basis in bases.items():
            null[(*index, slice(len(basis)))] = basis
        return null

    def _check_felt(
        self, cut: JointCut, felt: Floats, expressed_in: str, W: Floats, on_error: str
    ) -> None:
        """Raise where multipliers that move nothing change the reaction, or make it NaN."""
        length = self.arrays.closure.length
        sizes = np.abs(felt * np.array([1.0 / length] * 3 + [1.0] * 3)).max(axis=-2)
        sizes = np.broadcast_to(sizes, W.shape)

        def compute(index: tuple[int, ...]) -> None:
            open_ = sizes[index] > _FELT
            if open_.any():
                W[index] = np.nan
                names = [name for name, each in zip(_COMPONENTS, open_, strict=True) if each]
                rest = [name for name, each in zip(_COMPONENTS, open_, strict=True) if not each]
                known = f"; {listed(rest, str)} are unique" if rest else ""
                raise ConstraintError(
                    f"Joint '{cut.name}' of system '{self.name}': its reaction is not unique. "
                    f"Constraints are redundant at this configuration, and bodies that do not bend "
                    f"leave open {listed(names, str)} (axes of '{expressed_in}'){known}. Let "
                    f"minimum_norm=True choose, or drop redundant constraints: System.diagnose."
                )

        by_sample(W.shape[:-1], on_error, compute)


def _seen(W: Floats, origin: Floats, point: Floats, axes: Floats) -> Floats:
    """Return wrenches about another point, in other axes."""
    f = W[..., 3:]
    parts = W[..., :3] + np.cross(origin - point, f), f
    return np.concatenate([np.einsum("...ji,...j->...i", axes, part) for part in parts], axis=-1)

"""Kinematics of closed mechanisms: the motion that independent coordinates determine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, ShapeError, UsageError, check_kind, listed
from mbkit.systems.calls.arguments import Floats, common_axes, times_of
from mbkit.systems.calls.entries import (
    broadcast,
    by_sample,
    entries_of,
    names_of,
    positions_of,
    vector_of,
    velocity_sizes,
)
from mbkit.systems.constrained_motion import HOLDS, ConstrainedMotion, largest_terms
from mbkit.systems.rank import RANK, Ranked, largest_row, rank_of

__all__ = ["ClosedKinematics"]

_MOVES = 1e-6  # of a motion of norm one: an entry below does not move


@attrs.frozen(eq=False, slots=False, repr=False)
class ClosedKinematics(ConstrainedMotion):
    """Kinematics of closed mechanisms; see `System`."""

    def constrained_jacobian(
        self,
        q: ArrayLike,
        independent: Sequence[str],
        t: ArrayLike = 0.0,
        *,
        on_error: str = "raise",
    ) -> Floats:
        """Return the matrix H from independent velocities to all velocities, v = H v_i.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration in which the loops are closed.
        independent : sequence of str
            Joints, or single velocities of joints ("ball[2]"), that determine the motion: as many
            as the mechanism has freedoms at q, where prescribed joints stand still.
        t : array_like, shape (...), default 0
            Time, of which constraints may be functions. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv, independent velocities)
            Columns in the order of the names. With time-dependent constraints or prescribed joints
            v has a part without v_i: `dependent_velocity`. ``H^T M H`` is the mass matrix of the
            independent coordinates, and ``H^T tau`` their forces.

        Raises
        ------
        ConstraintError
            If they do not determine the motion, or contradict each other; the message names what
            still moves, and which depend on each other.
        NameUnknownError
            If there is no such joint in the tree.

        Examples
        --------
        A slider-crank in a plane; the ratio of slider to crank speed:

        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("slider-crank")
        >>> rod = mb.SpatialInertia.box(1.0, size=(0.1, 0.1, 0.1))
        >>> crank = mech.add_body(mb.Body("crank", rod))
        >>> link = mech.add_body(mb.Body("link", rod))
        >>> slider = mech.add_body(mb.Body("slider", rod))
        >>> z = {"axis": (0, 0, 1)}
        >>> _ = mech.add_joint(mb.RevoluteJoint("A", **z), mech.world, crank)
        >>> _ = mech.add_joint(mb.RevoluteJoint("B", point=(0, 1, 0), **z), crank, link)
        >>> _ = mech.add_joint(mb.PrismaticJoint("rail", axis=(1, 0, 0)), mech.world, slider)
        >>> _ = mech.add_joint(mb.RevoluteJoint("C", point=(2, 0, 0), **z), link, slider)
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["C"]))
        >>> H = system.constrained_jacobian(np.zeros(3), ["A"])
        >>> system.velocity_names, H[:, 0].round(9) + 0.0
        (('A', 'B', 'rail'), array([ 1., -1., -1.]))
        """
        entries = entries_of(self, independent, "independent")
        held = self._held(entries)
        at, time = broadcast(self, t, q=q)
        A = self.constraint_jacobian(at, time, on_error=on_error)
        sizes = velocity_sizes(self, at)
        H = np.full((*time.shape, self.nv, len(entries)), np.nan)

        def compute(index: tuple[int, ...]) -> None:
            partition = self._partition(A[index], sizes[index], [*entries, *held])
            units = np.zeros((self.nv, len(entries)))
            units[entries, range(len(entries))] = 1.0
            units[partition.dependent] = partition.solve(A[index] @ units)
            H[index] = units

        by_sample(time.shape, on_error, compute)
        return H

    def closed_motion(
        self,
        independent: Mapping[str, Sequence[ArrayLike]],
        q: ArrayLike | None = None,
        t: ArrayLike = 0.0,
    ) -> tuple[Floats, Floats, Floats]:
        """Return the motion of a closed mechanism from that of independent joints.

        Parameters
        ----------
        independent : mapping of str to (position, rate, acceleration)
            By joint, or by single coordinate ("rail[1]"); arrays of shape (k,), or (k, nq) and
            (k, nv) of a joint of several, for k samples that follow each other. [rad], [m]
        q : array_like, shape (nq,), optional
            Near the first sample: of several assemblies, the one to be in. The reference
            configuration if left out.
        t : array_like, shape (k,) or (), default 0
            Time, of which constraints and prescribed joints may be functions. [s]

        Returns
        -------
        q, v, vdot : ndarray, shape (k, nq), (k, nv), (k, nv)
            Each configuration is on the branch of the one before. Without k where nothing has it.

        Raises
        ------
        ConstraintError
            If loops do not close: see `close_loops`; and as `constrained_jacobian`.
        NameUnknownError
            If there is no such joint in the tree.

        Examples
        --------
        See `docs/closed-dynamics.md`.
        """
        words = "motions by name, {'crank': (position, rate, acceleration)}"
        check_kind("closed_motion: independent", independent, Mapping, words)
        parts = {name: _three(name, value) for name, value in independent.items()}
        entries = [self._position_entries(name) for name in parts]
        rows = [positions_of(*each) for each in zip(parts, parts.values(), entries, strict=True)]
        times = times_of(t)
        axes = {name: row.shape[:-1] for name, row in zip(parts, rows, strict=True)}
        shape = common_axes({"t": times.shape, **axes})
        if len(shape) > 1:
            raise ShapeError(f"closed_motion takes samples along one axis, got axes {shape}.")
        times = np.broadcast_to(times, shape)
        here = self.reference_configuration() if q is None else self.checked("q", q, finite=True)
        found = np.empty((*shape, self.nq))
        before = None

        def compute(index: tuple[int, ...]) -> None:
            nonlocal here, before
            for mine, row in zip(entries, rows, strict=True):
                here[mine] = np.broadcast_to(row, (*shape, len(mine)))[index]
            time = float(times[index])
            here = self.close_loops(here, fixed=tuple(parts), branch=before, t=time)
            found[index], before = here, here.copy()

        by_sample(shape, "raise", compute)
        v = self.dependent_velocity(found, {name: each[1] for name, each in parts.items()}, t)
        rates = {name: each[2] for name, each in parts.items()}
        return found, v, self.dependent_acceleration(found, v, rates, t)

    def _position_entries(self, name: str) -> list[int]:
        if name in self.position_names:
            return [self.position_names.index(name)]
        place = self.position_slice(name)
        return list(range(place.start, place.stop))

    def dependent_velocity(
        self,
        q: ArrayLike,
        independent: Mapping[str, ArrayLike],
        t: ArrayLike = 0.0,
        *,
        on_error: str = "raise",
    ) -> Floats:
        """Return the velocity of a closed mechanism from independent ones.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration in which the loops are closed.
        independent : mapping of str to array_like, shape (...) or (..., nv of the joint)
            Velocities by joint, or by single velocity ("ball[2]"); those of prescribed joints
            follow from t. [rad/s], [m/s]
        t : array_like, shape (...), default 0
            Time. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv)
            With ``constraint_velocity(q, v, t) = 0``.

        Raises
        ------
        ConstraintError, NameUnknownError
            As `constrained_jacobian`.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum")
        >>> rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, rod)
        >>> mech.assemble().dependent_velocity([0.0], {"hinge": 2.0})
        array([2.])
        """
        entries, known = self._with_known(independent, t, 1)
        at, v, time = broadcast(self, t, q=q, v=known)
        rate = self.constraint_velocity(at, v, time, on_error=on_error)
        return self._completed(at, v, v, entries, rate, time, on_error, "velocities")

    def dependent_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        independent: Mapping[str, ArrayLike],
        t: ArrayLike = 0.0,
        *,
        on_error: str = "raise",
    ) -> Floats:
        """Return the acceleration of a closed mechanism from independent ones.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            State in which the loops are closed, and stay so.
        independent : mapping of str to array_like, shape (...) or (..., nv of the joint)
            Accelerations by joint, or by single velocity ("ball[2]"); those of prescribed joints
            follow from t. Zero for all gives the part that is there without them: ``vdot = H a +
            that``. [rad/s^2], [m/s^2]
        t : array_like, shape (...), default 0
            Time. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv)
            With ``constraint_acceleration(q, v, vdot, t) = 0``.

        Raises
        ------
        ConstraintError, NameUnknownError
            As `constrained_jacobian`; and if v is no motion of the mechanism.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("pendulum")
        >>> rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, rod)
        >>> mech.assemble().dependent_acceleration([0.0], [2.0], {"hinge": 3.0})
        array([3.])
        """
        entries, known = self._with_known(independent, t, 2)
        at, moving, vdot, time = broadcast(self, t, q=q, v=v, vdot=known)
        good = self.check_motion(at, moving, None, time, on_error=on_error)
        rate = self.constraint_acceleration(at, moving, vdot, time, on_error=on_error)
        found = self._completed(at, vdot, moving, entries, rate, time, on_error, "accelerations")
        found[~good] = np.nan
        return found

    def _held(self, named: Sequence[int]) -> list[int]:
        """Return the velocities of prescribed joints that are not among those named."""
        held = entries_of(self, self.prescribed_joints, "prescribed")
        return [k for k in held if k not in named]

    def _with_known(
        self, independent: Mapping[str, ArrayLike], t: ArrayLike, which: int
    ) -> tuple[list[int], Floats]:
        """Return velocities (which = 1) or accelerations (2): what is known, zero elsewhere."""
        entries, values = vector_of(self, independent, "independent")
        held = self._held(entries)
        leading = values.shape[:-1]
        if held:
            leading = common_axes({"independent": leading, "t": times_of(t).shape})
        known = np.zeros((*leading, self.nv))
        if held:
            known[..., held] = self.prescribed_state(t)[which][..., held]
        known[..., entries] = values
        return [*entries, *held], known

    def _completed(
        self,
        q: Floats,
        known: Floats,
        v: Floats,
        entries: list[int],
        rate: Floats,
        t: Floats,
        on_error: str,
        what: str,
    ) -> Floats:
        """Return velocities or accelerations x with A x + rest = 0, the entries as they are known.

        `rate` is A x + rest with zero for the others, at the velocity v.
        """
        length = self.arrays.closure.length
        A = self.constraint_jacobian(q, t, on_error=on_error)
        sizes = velocity_sizes(self, q)
        found = np.full(known.shape, np.nan)

        def compute(index: tuple[int, ...]) -> None:
            partition = self._partition(A[index], sizes[index], entries)
            x = known[index].copy()
            x[partition.dependent] = partition.solve(rate[index])
            found[index] = x
            if not len(rate[index]):
                return
            left = np.abs(A[index][:, partition.dependent] @ x[partition.dependent] + rate[index])
            speed = largest_terms(A[index], v[index]) ** 2 / length
            terms = largest_terms(A[index], x) + np.abs(rate[index]).max() + speed
            if left.max() > HOLDS * terms:
                found[index] = np.nan
                name = self.constraint_names[int(np.argmax(left))]
                raise ConstraintError(
                    f"System '{self.name}' has no {what} that satisfy the constraints at this "
                    f"configuration and time: '{name}' is left with {left.max():.3g}. Constraints "
                    f"that depend on time, or prescribed joints, contradict each other."
                )

        by_sample(q.shape[:-1], on_error, compute)
        return found

    def _partition(self, A: Floats, sizes: Floats, entries: list[int]) -> Partition:
        """Return the solution for the dependent velocities; ConstraintError if there is none."""
        scaled = A / sizes
        dependent = [k for k in range(self.nv) if k not in set(entries)]
        largest = largest_row(scaled)
        ranked = Ranked.of(scaled[:, dependent], largest)
        rank = rank_of(scaled, largest)
        faults = []
        if ranked.rank < len(dependent):
            moving = np.abs(ranked.null).max(axis=1) > _MOVES
            names = names_of(self, np.array(dependent)[moving])
            count = len(dependent) - ranked.rank
            faults.append(
                f"they do not determine it: with them held, {listed(names)} can still move; name "
                f"{count} more of these"
            )
        if ranked.rank < rank:
            between = np.abs(ranked.left_null.T @ scaled[:, entries]).max(axis=0) > RANK * largest
            names = names_of(self, np.array(entries)[between])
            faults.append(
                f"they depend on each other: {listed(names)} cannot be chosen freely; leave out "
                f"{rank - ranked.rank} of these"
            )
        if faults:
            given = listed(names_of(self, entries)) if entries else "none"
            raise ConstraintError(
                f"System '{self.name}': the motion is to follow from the velocities of {given}, "
                f"but at this configuration {', and '.join(faults)}. The mechanism has "
                f"{self.nv - rank} freedoms here; at a dead point other coordinates fit."
            )
        return Partition(dependent, ranked, sizes[dependent])


@attrs.frozen(eq=False)
class Partition:
    """How dependent velocities follow.

    Attributes
    ----------
    dependent : list of int
        Entries of v.
    """

    dependent: list[int]
    _ranked: Ranked
    _sizes: Floats

    def solve(self, rate: Any) -> Any:
        """Return the dependent x with A_d x + rate = 0."""
        return (-self._ranked.solve(rate).T / self._sizes).T


def _three(name: str, values: Any) -> tuple[Any, Any, Any]:
    """Return position, rate and acceleration."""
    if isinstance(values, Sequence) and len(values) == 3:
        return tuple(values)
    raise UsageError(
        f"closed_motion: the motion of '{name}' must be (position, rate, acceleration), got "
        f"{values!r}."
    )

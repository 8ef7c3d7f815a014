"""Closed loops: configurations, velocities, all assemblies of a system, and their diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

import attrs
from numpy.typing import ArrayLike

from mbkit.systems.calls.arguments import Floats, time_of
from mbkit.systems.constrained import Constrained

if TYPE_CHECKING:
    from mbkit.diagnosis import Diagnosis

__all__ = ["Closing"]


@attrs.frozen(eq=False, slots=False, repr=False)
class Closing(Constrained):
    """How a system's loops are closed; see `System`."""

    @overload
    def close_loops(
        self, q: ArrayLike | None = ..., v: None = ..., fixed: Iterable[str] = ..., *,
        branch: ArrayLike | None = ..., t: float = ..., tolerance: float = ...,
    ) -> Floats: ...  # fmt: skip

    @overload
    def close_loops(
        self, q: ArrayLike | None, v: ArrayLike, fixed: Iterable[str] = ..., *,
        branch: ArrayLike | None = ..., t: float = ..., tolerance: float = ...,
    ) -> tuple[Floats, Floats]: ...  # fmt: skip

    def close_loops(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        fixed: Iterable[str] = (),
        *,
        branch: ArrayLike | None = None,
        t: float = 0.0,
        tolerance: float = 1e-10,
    ) -> Floats | tuple[Floats, Floats]:
        """Return a configuration near a given one in which the loops are closed.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            Start; the reference configuration if left out.
        v : array_like, shape (nv,), optional
            A velocity that shall become consistent, too.
        fixed : iterable of str, optional
            What must stay as it is in `q` and `v`: names of joints, or of single positions, such as
            ``"joint[1]"``. Prescribed joints are put where they are at `t`, and stay there.
        branch : array_like, shape (nq,), optional
            A configuration on the branch to stay on. It is closed, and what is fixed is led from
            there to where it is in `q`, in steps so small that the others follow by little. Of `q`
            nothing else counts then.
        t : float
            Time, of which constraints and prescribed joints may be functions. [s]
        tolerance : float
            What is accepted, in parts of the length of the system. Steps go on until rounding ends
            them, which is below 1e-13 for small mechanisms.

        Returns
        -------
        ndarray, shape (nq,)
            The configuration. Each step on the way to it moves the joints as little as can be, by
            the sum of squares of angles, and of translations in parts of the length.
        ndarray, shape (nv,)
            If `v` is given: the velocity with ``A v = 0`` that keeps what is fixed, and whose
            difference from `v` has the least kinetic energy.

        Raises
        ------
        ConstraintError
            If no closed configuration was found: it says which loop stays open, and by how much;
            its attribute ``q`` is the best there is. If the velocities that are fixed contradict
            each other.
        NameUnknownError, UsageError
            If there is no such joint, or it cannot be fixed.

        Notes
        -----
        Levenberg-Marquardt steps on the configuration group, bounded so that they follow the branch
        to which `q` is near. Where they end at open loops, all joints are released and then led
        back to where they must be; then random starts around `q` are tried, with fixed seeds, and
        the closed configuration nearest to `q` is taken. Joint limits are not looked at.

        Examples
        --------
        A crank, a coupler and a rocker, roughly placed; the hinge "pivot" closes the loop:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("four-bar")
        >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
        >>> crank, coupler, rocker = (
        ...     mech.add_body(mb.Body(name, rod)) for name in ("crank", "coupler", "rocker")
        ... )
        >>> along = mb.spatial.translation
        >>> _ = mech.add_joint(mb.RevoluteJoint("motor"), mech.world, crank)
        >>> _ = mech.add_joint(mb.RevoluteJoint("knee"), crank, coupler, reference=along((1, 0, 0)))
        >>> _ = mech.add_joint(
        ...     mb.RevoluteJoint("ankle"), coupler, rocker, reference=along((2, 0, 0))
        ... )
        >>> _ = mech.add_joint(
        ...     mb.RevoluteJoint("pivot"), mech.world, rocker,
        ...     frames=(along((3, 0, 0)), along((2, 0, 0))),
        ... )
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["pivot"]))
        >>> q = system.close_loops([1.0, -0.5, -1.5], fixed=["motor"])
        >>> q.round(6)
        array([ 1.      , -0.466296, -1.726653])
        >>> bool(abs(system.constraint_residual(q)).max() < 1e-13)
        True
        >>> v = system.consistent_velocity({"motor": 2.0}, q)
        >>> v.round(6)
        array([ 2.      , -2.822596,  1.277694])
        """
        from mbkit.kinematics.close_loops import close_loops

        system: Any = self
        closed, consistent = close_loops(system, q, v, fixed, branch, time_of(t), tolerance)
        return closed if v is None else (closed, consistent)

    def consistent_velocity(
        self,
        rates: Mapping[str, ArrayLike],
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        t: float = 0.0,
    ) -> Floats:
        """Return the velocity with which the loops stay closed, from those of some joints.

        Parameters
        ----------
        rates : mapping of str to array_like
            Velocities by the names of joints, or of single ones, such as ``"joint[1]"``. [rad/s],
            [m/s]
        q : array_like, shape (nq,)
            Configuration with closed loops.
        v : array_like, shape (nv,), optional
            Velocities that are wished where `rates` leave a choice; zero if left out.
        t : float
            Time. [s]

        Returns
        -------
        ndarray, shape (nv,)
            Consistent with `rates` and the constraints; of all such velocities the one whose
            difference from `v` has the least kinetic energy.

        Raises
        ------
        ConstraintError
            If the velocities contradict each other.
        NameUnknownError, ShapeError, UsageError
            If there is no such joint, or its velocity has another shape or is prescribed.

        Examples
        --------
        See `close_loops`.
        """
        from mbkit.kinematics.consistent_velocity import consistent_velocity

        system: Any = self
        return consistent_velocity(system, rates, q, v, time_of(t))

    def assemblies(
        self,
        q: ArrayLike | None = None,
        fixed: Iterable[str] = (),
        *,
        starts: int = 64,
        seed: int = 0,
        t: float = 0.0,
        tolerance: float = 1e-10,
    ) -> Floats:
        """Return the distinct ways in which the loops can be closed.

        Meant for small mechanisms, with what drives them fixed: then closed configurations are
        isolated. Where the mechanism can still move, those that a motion connects count as one; a
        motion is looked for by steps that each lead nearer, so that two may stay that are one.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            Where what is fixed is; the reference configuration if left out.
        fixed : iterable of str, optional
            As in `close_loops`.
        starts : int
            Number of random configurations from which it descends, beside `q`. One that is reached
            from few places may be missed by few starts.
        seed : int
            Of their random numbers.
        t, tolerance : float
            As in `close_loops`.

        Returns
        -------
        ndarray, shape (k, nq)
            Configurations that put a body in other places by more than 1e-5, in radians and parts
            of the length; the nearest to `q` first. None where the loops cannot be closed.

        Examples
        --------
        With the crank of a planar four-bar fixed, its other joints lie on either side of a line:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("parallelogram")
        >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
        >>> crank, coupler, rocker = (
        ...     mech.add_body(mb.Body(name, rod)) for name in ("crank", "coupler", "rocker")
        ... )
        >>> along = mb.spatial.translation
        >>> _ = mech.add_joint(mb.RevoluteJoint("A"), mech.world, crank)
        >>> _ = mech.add_joint(mb.RevoluteJoint("B"), crank, coupler, reference=along((1, 0, 0)))
        >>> _ = mech.add_joint(mb.RevoluteJoint("C"), coupler, rocker, reference=along((2, 0, 0)))
        >>> _ = mech.add_joint(
        ...     mb.RevoluteJoint("D"), mech.world, rocker,
        ...     frames=(along((2, 0, 0)), along((1, 0, 0))),
        ... )
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))
        >>> len(system.assemblies([1.5, 0.0, 0.0], fixed=["A"]))
        2
        """
        from mbkit.kinematics.assemblies import assemblies

        system: Any = self
        return assemblies(system, q, fixed, starts, seed, time_of(t), tolerance)

    def diagnose(self, q: ArrayLike | None = None, *, t: float = 0.0) -> Diagnosis:
        """Return what the constraints leave free, which are redundant, and what that means.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            Configuration with closed loops; the reference configuration if left out. Prescribed
            joints are put where they are at `t`, and stand still there.
        t : float
            Time, of which constraints may be functions. [s]

        Returns
        -------
        Diagnosis
            Rank and mobility here and at generic configurations around, rows that can be dropped,
            reactions that are unique; ``print`` shows it.

        Raises
        ------
        ConstraintError
            If the loops are open by more than 1e-6 of the length of the system.

        Notes
        -----
        Generic configurations are other closed ones, reached by steps along the velocities that the
        constraints leave, and closing again: so a singular posture is told from a redundant design.
        docs/diagnosis.md says how.

        Examples
        --------
        A planar parallelogram of four hinges in space, stretched, where it can fold either way:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("parallelogram")
        >>> rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
        >>> a, b, c = (mech.add_body(mb.Body(name, rod)) for name in "abc")
        >>> ends = {"A": (mech.world, a), "B": (a, b), "C": (b, c), "D": (mech.world, c)}
        >>> for (name, bodies), x in zip(ends.items(), (0, 1, 3, 2)):
        ...     _ = mech.add_joint(mb.RevoluteJoint(name, point=(x, 0, 0)), *bodies)
        >>> system = mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))
        >>> stretched = system.diagnose()
        >>> stretched.gruebler_count, stretched.mobility, stretched.generic_mobility
        (-2, 2, 1)
        >>> stretched.is_singular, len(stretched.branches)
        (True, 2)
        >>> folded = system.diagnose([0.5, -0.5, 0.5])
        >>> folded.mobility, folded.is_singular, len(folded.redundant)
        (1, False, 3)
        """
        from mbkit.diagnosis import diagnose

        system: Any = self
        return diagnose(system, q, time_of(t))

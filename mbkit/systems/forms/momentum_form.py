"""The momentum form of the equations of motion: Hamilton's equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError
from mbkit.kernels import layout
from mbkit.systems.calls.arguments import Floats, common_axes, times_of
from mbkit.systems.calls.evaluations import (
    CANONICAL_FORWARD_DYNAMICS,
    GENERALIZED_FORCES,
    MASS_ACTION,
    MOMENTA_IN_WORLD,
)
from mbkit.systems.system import System

if TYPE_CHECKING:
    from mbkit.systems.calls.evaluator import Evaluator
    from mbkit.systems.memory.workspace import Workspace

__all__ = ["MomentaInLoops", "MomentumForm", "momenta_in_world", "velocities_in_world"]


def _checked(system: Any) -> System:
    """Return a system; UsageError if it has no momentum form."""
    if not isinstance(system, System):
        raise UsageError(
            f"MomentumForm needs an mbkit.System, got {system!r}; a mechanism becomes one by "
            f"mechanism.assemble()."
        )
    if system.num_velocity_constraints:
        names = ", ".join(map(repr, system.arrays.closure.names))
        raise UsageError(
            f"MomentumForm is for trees, and system '{system.name}' has constraints by {names}; "
            f"their multipliers belong to accelerations. Simulate the system itself."
        )
    if system.motions:
        raise UsageError(
            f"MomentumForm does not take prescribed joints, and system '{system.name}' has "
            f"{', '.join(map(repr, system.motions))}: their velocities do not follow from momenta. "
            f"Simulate the system itself."
        )
    return system


@final
@attrs.frozen(eq=False, repr=False)
class MomentumForm:
    """A tree in positions and momenta, q and p = M v, with Hamilton's equations.

        ``qdot = rates(q, v)``,  ``v = M(q)^-1 p``,  ``dp/dt = (dM/dt) v - b(q, v) + f + tau``

    Both follow from p in O(bodies) without M: `canonical_forward_dynamics`. p are the momenta along
    the velocities of the joints, whatever the representation.

    Given to `simulate` in place of its system, it is integrated by any explicit method, and starts
    and ends with velocities: the result holds q and v. On the way a joint on the world whose
    motions are a subgroup of SE(3) has, whatever its coordinates, the momenta of all that hangs on
    it along twists that are at rest in the world: a free joint the total momentum about the origin,
    or under gravity about the centre of mass; a ball joint the moment of that about its centre; a
    planar one the momentum in its plane and the moment about the normal. Only wrenches from
    outside change these, and steps of any size keep them to rounding where they are conserved.

    Attributes
    ----------
    system : System
        A tree without prescribed joints; its forces act.

    Raises
    ------
    UsageError
        If the system has constraints or prescribed joints.

    See Also
    --------
    System.momentum : the total momentum in the world.
    System.mass_action : M v.

    References
    ----------
    .. [1] A. Mueller, "Screw and Lie group theory in multibody dynamics: recursive algorithms and
       equations of motion of tree-topology systems", Multibody Syst. Dyn. 42 (2018) 219-248, (79).

    Examples
    --------
    A satellite with an arm that swings freely. Its angular momentum stays as it is, though the
    step is long:

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("satellite", gravity=(0, 0, 0))
    >>> box = mb.SpatialInertia.box(1.0, size=(0.3, 0.2, 0.5))
    >>> bus, arm = (mech.add_body(mb.Body(name, box)) for name in ("bus", "arm"))
    >>> base = mech.add_joint(mb.FreeJoint("base"), mech.world, bus)
    >>> joint = mech.add_joint(mb.RevoluteJoint("joint", point=(0.3, 0, 0)), bus, arm)
    >>> system = mech.assemble()
    >>> form = mb.MomentumForm(system)
    >>> v = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, -2.0]
    >>> run = mb.simulate(form, (0.0, 10.0), 0.05, v=v)
    >>> momentum = system.momentum(run.q, run.v)
    >>> bool(np.abs(momentum - momentum[0]).max() < 1e-14)
    True
    """

    system: System = attrs.field(converter=_checked)
    # at hand: a call of seven bodies takes as long as a few look-ups
    _dynamics: Callable[..., tuple[Floats, Floats]] = attrs.field(
        init=False,
        default=attrs.Factory(lambda own: own.system._canonical_forward_dynamics, True),
    )
    _has_forces: bool = attrs.field(
        init=False, default=attrs.Factory(lambda own: bool(own.system.force_names), True)
    )

    def __repr__(self) -> str:
        return f"<MomentumForm of '{self.system.name}': nq={self.system.nq}, np={self.system.nv}>"

    def momenta(self, q: ArrayLike, v: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the momenta p = M(q) v along the velocities of the joints.

        Parameters
        ----------
        q, v, on_error : see `System`

        Returns
        -------
        ndarray, shape (..., nv)
            Cost: O(bodies). [kg m/s], [kg m^2/s]

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("cart")
        >>> cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(2.0, radius=0.1)))
        >>> rail = mech.add_joint(mb.PrismaticJoint("rail"), mech.world, cart)
        >>> mb.MomentumForm(mech.assemble()).momenta([0.0], [3.0])
        array([6.])
        """
        return self.system.mass_action(q, v, on_error=on_error)

    def velocities(self, q: ArrayLike, p: ArrayLike, *, on_error: str = "raise") -> Floats:
        """Return the velocities v = M(q)^-1 p.

        Parameters
        ----------
        q, on_error : see `System`
        p : array_like, shape (..., nv)
            Momenta along the velocities of the joints. [kg m/s], [kg m^2/s]

        Returns
        -------
        ndarray, shape (..., nv)
            Cost: O(bodies). [rad/s], [m/s]

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("cart")
        >>> cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(2.0, radius=0.1)))
        >>> rail = mech.add_joint(mb.PrismaticJoint("rail"), mech.world, cart)
        >>> mb.MomentumForm(mech.assemble()).velocities([0.0], [6.0])
        array([3.])
        """
        zero = self.system.evaluator.zero
        return self._dynamics(q, p, zero, on_error)[0]

    def canonical_forward_dynamics(
        self,
        q: ArrayLike,
        p: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> tuple[Floats, Floats]:
        """Return velocities and the rates of momenta: Hamilton's equations, O(bodies), without M.

        Parameters
        ----------
        q, on_error : see `System`
        p : array_like, shape (..., nv)
            Momenta along the velocities of the joints. [kg m/s], [kg m^2/s]
        tau : array_like, shape (..., nv), optional
            Generalized forces, added to the forces of the system; zero if left out. [N m], [N]
        t : array_like, shape (...)
            Time, of which the forces of the system may be functions. [s]

        Returns
        -------
        v, pdot : ndarray, shape (..., nv)
            M^-1 p, [rad/s], [m/s]; and the rates of p, [N m], [N].

        Notes
        -----
        v is forward dynamics from rest with p for the forces. The articulated-body algorithm passes
        the momentum of all bodies beyond through each joint then, from which the rates of p follow
        without a bias force.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("falling cart", gravity=(0, 0, -10.0))
        >>> cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(2.0, radius=0.1)))
        >>> rail = mech.add_joint(mb.PrismaticJoint("rail"), mech.world, cart)
        >>> form = mb.MomentumForm(mech.assemble())
        >>> form.canonical_forward_dynamics([0.0], [6.0], [5.0])
        (array([3.]), array([-15.]))
        """
        given = self.system.evaluator.zero if tau is None else tau
        several_times = t.__class__ is not float
        if not (several_times or self._has_forces):
            return self._dynamics(q, p, given, on_error)
        v, pdot = found = self._dynamics(q, p, given, on_error)
        if several_times:
            leading = common_axes({"t": times_of(t, on_error).shape, "q, p": v.shape[:-1]})
            v, pdot = (np.broadcast_to(x, (*leading, x.shape[-1])).copy() for x in found)
        if self._has_forces:
            pdot += self.system.generalized_forces(q, v, t, on_error=on_error)
        return v, pdot


def momenta_in_world(evaluator: Evaluator, q: Any, p: Any) -> Floats:
    """Return the momenta that time loops have for p, (..., nv)."""
    return evaluator.compute(MOMENTA_IN_WORLD, q, p, option=evaluator.root_motions.address)


def velocities_in_world(evaluator: Evaluator, q: Any, z: Any, on_error: str = "nan") -> Floats:
    """Return the velocities, (..., nv), of momenta that time loops have."""
    none = np.zeros(evaluator.arguments.num_velocities)
    what = CANONICAL_FORWARD_DYNAMICS
    roots = evaluator.root_motions.address
    found = evaluator.compute(what, q, z, none, option=roots, on_error=on_error)
    return found[..., 0, :].copy()


class MomentaInLoops:
    """Memory for Hamilton's equations in one workspace, and their velocities on request.

    Needs a workspace without constraints and without prescribed joints, whose slot it takes.
    """

    def __init__(self, evaluator: Evaluator, workspace: Workspace) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.momentum import time_loops

        nq, nv = evaluator.arguments.num_positions, evaluator.arguments.num_velocities
        self._evaluator = evaluator
        self._q, self._z, self._found = np.zeros(nq), np.zeros(nv), np.zeros(2 * nv)
        self._efforts, self._sum = np.zeros(nv), np.zeros(nv)
        self._powers = np.zeros(layout.NUM_POWERS)
        self._record = np.zeros(1, time_loops.MOMENTA)
        own, space = self._record[0], workspace.record[0]
        own["dynamics"] = evaluator.function(CANONICAL_FORWARD_DYNAMICS)
        own["in_world"] = evaluator.function(MOMENTA_IN_WORLD)
        own["forces"] = evaluator.function(GENERALIZED_FORCES)
        own["roots"] = evaluator.root_motions.address
        own["rates"] = space["rates"]
        for name, memory in zip(
            ("q", "z", "found", "efforts"),
            (self._q, self._z, self._found, self._efforts),
            strict=True,
        ):
            own[name] = array_address(memory)
        if space["num_forces"] == 0:
            # time loops take the supplied power from the forward dynamics where there are any
            space["num_forces"] = NO_FORCES
            space["efforts"] = array_address(self._sum)
            space["powers"] = array_address(self._powers)
        else:
            own["search"] = space["force_search"]
        space["force_search"] = time_loops.force_search.address
        space["rates"] = time_loops.rates.address
        space["forward_dynamics"] = time_loops.dynamics.address
        space["drive_slot"] = array_address(self._record)

    def of_velocity(self, q: Any, v: Any) -> Floats:
        """Return the momenta of one state."""
        p = self._evaluator.compute(MASS_ACTION, q, v)
        return momenta_in_world(self._evaluator, q, p)

    def velocity(self, q: Any, z: Any) -> Floats:
        """Return the velocity of one state."""
        return velocities_in_world(self._evaluator, q, z, on_error="raise")

    def velocities(self, q: Any, z: Any) -> Floats:
        """Return those of many, (k, nv), not a number where there are none."""
        return velocities_in_world(self._evaluator, q, z)


#: A number of forces that is none, and not the zero by which time loops leave out all of them.
NO_FORCES = -1

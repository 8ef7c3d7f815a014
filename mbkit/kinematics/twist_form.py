"""The state form of the equations of motion: configuration and twists of all bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NotFiniteError
from mbkit.kinematics.measured import chosen
from mbkit.kinematics.rates import accelerations_from_twist_rates, rates_from_twists
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.systems.calls.arguments import time_of

if TYPE_CHECKING:
    from mbkit.representations import Representation
    from mbkit.systems import System

_WHO = "TwistForm"


@final
@attrs.frozen(eq=False, repr=False)
class TwistForm:
    """A mechanism in the state (q, V), its configuration and the twists of its bodies.

        ``X v = A^-1 V``,  ``qdot = rates(q, v)``,  ``Vdot = J vdot + Jdot v``,
        ``J^T (M Vdot + C V - W) = f + tau``,  ``J = A X``

    an equation of first order whose system is block-triangular, as A is: each velocity follows from
    the twists of two bodies, v(q, V), and the accelerations from these in O(bodies). Twists that
    joints do not allow stand for the velocities nearest to them, see `rates_from_twists`.

    V are stacked, one body below the other without the world, as in `System.newton_euler`, whose
    sparse M, C, W and J these are.

    Attributes
    ----------
    system : System
        A tree or a closed mechanism; its forces and constraints act.
    representation : Representation
        Of the twists; the system's if left out.

    Raises
    ------
    UsageError
        If one of these is something else.

    See Also
    --------
    MomentumForm : positions and momenta as the state.

    References
    ----------
    .. [1] A. Mueller, "Screw and Lie group theory in multibody dynamics: recursive algorithms and
       equations of motion of tree-topology systems", Multibody Syst. Dyn. 42 (2018) 219-248, after
       (78).

    Examples
    --------
    A pendulum of length 2 m: the rates of its twist are those of the angular velocity about y, and
    of the velocity of its frame, which is at the hinge.

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -10))
    >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -2.0))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    >>> form = mb.TwistForm(mech.assemble())
    >>> V = form.twists([np.pi / 6], [3.0])
    >>> V
    array([0., 3., 0., 0., 0., 0.])
    >>> v, Vdot = form.forward_dynamics([np.pi / 6], V)
    >>> v, Vdot.round(12) + 0.0
    (array([3.]), array([ 0. , -2.5,  0. ,  0. ,  0. ,  0. ]))
    """

    system: System
    representation: Representation = attrs.field(default=None)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "representation", chosen(self.system, self.representation, _WHO))

    def __repr__(self) -> str:
        form = self.representation.name
        return f"<TwistForm of '{self.system.name}': nq={self.system.nq}, nV={self._size}, {form}>"

    def twists(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return V = J v, (6 bodies,). Cost: O(bodies)."""
        q, v = self.system.checked("q", q), self.system.checked("v", v)
        return self.system.twists(q, v, representation=self.representation)[1:].ravel()

    def velocities(self, q: ArrayLike, V: ArrayLike) -> FloatArray:
        """Return the velocities of the joints, X^+ A^-1 V, (nv,); see `rates_from_twists`.

        JointError where the motion subspace of a joint has lost rank.
        """
        return rates_from_twists(self.system, q, self._rows("V", V), self.representation)

    def forward_dynamics(
        self, q: ArrayLike, V: ArrayLike, tau: ArrayLike | None = None, *, t: float = 0.0
    ) -> tuple[FloatArray, FloatArray]:
        """Return the velocities of the joints and the rates of the twists.

        Parameters
        ----------
        q : array_like, shape (nq,)
            Configuration.
        V : array_like, shape (6 bodies,)
            Twists. [rad/s], [m/s]
        tau : array_like, shape (nv,), optional
            Generalized forces, added to the forces of the system; zero if left out. [N m], [N]
        t : float
            Time, of which the forces of the system may be functions. [s]

        Returns
        -------
        v : ndarray, shape (nv,)
            Velocities; ``system.rates(q, v)`` are the rates of q. [rad/s], [m/s]
        Vdot : ndarray, shape (6 bodies,)
            Component-wise rates of the twists. [rad/s^2], [m/s^2]

        Raises
        ------
        JointError
            Where the motion subspace of a joint has lost rank.
        """
        v = self.velocities(q, V)
        tau = None if tau is None else self.system.checked("tau", tau)
        vdot = self.system.forward_dynamics(q, v, tau, t=time_of(t))
        Vdot = self.system.accelerations(q, v, vdot, representation=self.representation)
        return v, Vdot[1:].ravel()

    def inverse_dynamics(
        self, q: ArrayLike, V: ArrayLike, Vdot: ArrayLike, *, t: float = 0.0
    ) -> FloatArray:
        """Return the generalized forces for rates of the twists, (nv,).

        J^T (M Vdot + C V - W) - f, as `System.inverse_dynamics`; of a closed mechanism those of its
        tree.
        """
        v = self.velocities(q, V)
        rows = self._rows("Vdot", Vdot)
        vdot = accelerations_from_twist_rates(self.system, q, v, rows, self.representation)
        return self.system.inverse_dynamics(q, v, vdot, t=time_of(t))

    # ------------------------------------------------------------------------------- private

    @property
    def _size(self) -> int:
        return 6 * (len(self.system.body_names) - 1)

    def _rows(self, what: str, stacked: ArrayLike) -> FloatArray:
        """Return stacked twists by rows, the world first."""
        given = frozen_array(stacked)
        check_array(given, (self._size,), f"{_WHO}: {what}", error=NotFiniteError)
        return np.vstack([np.zeros(6), given.reshape(-1, 6)])

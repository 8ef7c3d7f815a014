"""A variational integrator on the group of a mechanism without loops."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

import mbkit as mb

__all__ = ["VariationalIntegrator"]


@final
@attrs.frozen
class VariationalIntegrator(mb.Integrator):
    """The variational method of order 2 on the motions of the bodies, symplectic and symmetric.

    Between two instants a body moves with the constant twist X / h, X = log(C_0^-1 C_1); gravity
    acts at both ends. The discrete Lagrangian is h sum X.M X / (2 h^2) - h (U_0 + U_1) / 2, in the
    joints' coordinates, whatever their groups are, and the method is its discrete Euler-Lagrange
    equation in the form of positions and momenta. So the momenta that belong to symmetries are kept
    to rounding, and the energy oscillates without a drift. Other forces push at both ends of steps.

    References
    ----------
    .. [1] J. E. Marsden, M. West, "Discrete mechanics and variational integrators", Acta Numerica
       10 (2001) 357-514, sections 1.5 and 3.2.
    .. [2] N. Bou-Rabee, J. E. Marsden, "Hamilton-Pontryagin integrators on Lie groups", Found.
       Comput. Math. 9 (2009) 197-219.
    .. [3] J. Lee, C. K. Liu, F. C. Park, S. S. Srinivasa, "A linear-time variational integrator for
       multibody systems", WAFR 2016: equations of a tree, solved with the articulated-body method.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> inertia = mb.SpatialInertia.cylinder(1.0, radius=0.02, length=1.0)
    >>> rod = mech.add_body(mb.Body("rod", inertia))
    >>> hinge = mb.RevoluteJoint("hinge", axis=(0, 1, 0), point=(0, 0, 0.5))
    >>> _ = mech.add_joint(hinge, mech.world, rod)
    >>> run = mb.simulate(
    ...     mech.assemble(), (0.0, 10.0), 0.01, q=[1.0], integrator=VariationalIntegrator()
    ... )
    >>> bool(abs(run.energy_drift).max() < 1e-3)
    True
    """

    looks = True
    takes_prescribed_joints = False

    @property
    def order(self) -> int:  # type: ignore[override]
        """Two."""
        return 2

    def prepare(self, problem: Any) -> Any:
        """Return the function that takes steps of the problem."""
        if problem.ndx != problem.nv:
            raise mb.UsageError(
                "VariationalIntegrator does not take nonholonomic joints, whose motion follows "
                "from no variational principle; use for example mbkit.RungeKuttaMuntheKaas()."
            )
        from mbkit.integrators.compiled import advance_by
        from mbkit.kernels.layout import NUM_POWERS
        from mbkit.kernels.time_loops.records import State
        from mbkit_symplectic.kernels import Memory, advance

        nv, rows = problem.nv, problem.num_rows
        vectors = (np.zeros(nv) for _ in range(8))
        wrenches = (np.zeros((rows, 6)) for _ in range(2))
        memory = Memory(*vectors, np.zeros(NUM_POWERS), np.zeros((rows, 12)), *wrenches)
        state = State(problem.q, problem.v, problem.work)
        stage = State(problem.q_stage, problem.v_stage, np.zeros(2))
        return advance_by(problem, advance, state, stage, memory)

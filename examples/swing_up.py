"""Swing-up of a cart-pole by CasADi's optimiser, on the forward dynamics that mbkit hands on.

A force pushes the cart along a rail; the pole hangs and shall stand at the end, everything at rest.
`mb.casadi_function` gives the forward dynamics as a function of CasADi: the same kernels that
compute numbers, with exact derivatives of any order. Steps of Runge and Kutta make of it a problem
of optimal control by multiple shooting, with the least integral of the squared force; Ipopt, which
CasADi brings along, solves it. The force that is found is then a force of the mechanism, and mbkit
simulates the run from the hanging pole, by its own integrator and with steps ten times as fine:
the pole must reach the top. Run it (pip install 'mbkit[casadi]'):

    python examples/swing_up.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mbkit as mb

#: Duration [s], intervals, largest force [N], room on either side [m].
DURATION, INTERVALS, LARGEST, ROOM = 2.0, 80, 12.0, 1.0
#: How near to the top, and to rest, the simulated run must come [rad, m; by s].
NEAR = 5e-3


def cart_pole() -> mb.Mechanism:
    """Return a cart of 1 kg with a rod of 0.3 kg and 1 m; q = (place of the cart, angle)."""
    mech = mb.Mechanism("cart-pole")
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.from_com(1.0, (0, 0, 0))))
    rod = mb.SpatialInertia.from_com(0.3, (0, 0, -0.5), np.diag([0.025, 0.025, 1e-4]))
    pole = mech.add_body(mb.Body("pole", rod))
    mech.add_joint(mb.PrismaticJoint("rail", axis=(1, 0, 0)), mech.world, cart)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), cart, pole)
    mech.add_force(mb.JointDamper("friction", "hinge", damping=0.02))
    return mech


def plan(system: mb.System) -> tuple[Any, Any]:
    """Return the forces at the ends of the intervals, linear between, and the planned states."""
    import casadi

    dynamics = mb.casadi_function(system, "forward_dynamics")
    h = DURATION / INTERVALS
    x, u0, u1 = casadi.SX.sym("x", 4), casadi.SX.sym("u0"), casadi.SX.sym("u1")

    def rate(state: Any, force: Any) -> Any:
        push = casadi.vertcat(force, 0.0)
        return casadi.vertcat(state[2:], dynamics(state[:2], state[2:], push))

    middle = (u0 + u1) / 2
    k1 = rate(x, u0)
    k2 = rate(x + h / 2 * k1, middle)
    k3 = rate(x + h / 2 * k2, middle)
    k4 = rate(x + h * k3, u1)
    step = casadi.Function("step", [x, u0, u1], [x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)])

    problem = casadi.Opti()
    states = problem.variable(4, INTERVALS + 1)
    forces = problem.variable(1, INTERVALS + 1)
    problem.subject_to(
        states[:, 1:] == step.map(INTERVALS)(states[:, :-1], forces[:-1], forces[1:])
    )
    problem.subject_to(states[:, 0] == casadi.vertcat(0.0, 0.0, 0.0, 0.0))
    problem.subject_to(states[:, -1] == casadi.vertcat(0.0, np.pi, 0.0, 0.0))
    problem.subject_to(problem.bounded(-LARGEST, forces, LARGEST))
    problem.subject_to(problem.bounded(-ROOM, states[0, :], ROOM))
    problem.minimize(h * casadi.sumsqr(forces))
    problem.set_initial(states[1, :], np.linspace(0.0, np.pi, INTERVALS + 1))
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    solution = problem.solve()
    return np.ravel(solution.value(forces)), np.array(solution.value(states))


def run(mech: mb.Mechanism, forces: Any) -> mb.Result:
    """Return the run from the hanging pole under these forces."""
    times = np.linspace(0.0, DURATION, INTERVALS + 1)
    mech.add_force(mb.JointEffort("motor", "rail", effort=forces, times=times))
    h = DURATION / INTERVALS / 10
    return mb.simulate(mech.assemble(), (0.0, DURATION), h, progress=False)


def main() -> None:
    """Plan, simulate, and look at the end."""
    mech = cart_pole()
    forces, states = plan(mech.assemble())
    result = run(mech, forces)
    end = np.array([*result.q[-1], *result.v[-1]])
    off = np.abs(end - (0.0, np.pi, 0.0, 0.0)).max()
    print(f"Force of at most {np.abs(forces).max():.1f} N for {DURATION} s")
    print(f"The cart uses {np.ptp(states[0]):.2f} m of the rail")
    print(f"End of the simulated run: {off:.1e} from the pole standing at rest")
    assert off < NEAR


if __name__ == "__main__":
    main()

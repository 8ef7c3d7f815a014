"""Motions on which integrators are measured, with and without constraints, known to 1e-11."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from mbkit.coordinates import RelativeCoordinates
from mbkit.errors import EnergyBalanceWarning
from mbkit.forces import JointDamper, JointSpring, SpringDamper
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas, tableaus
from mbkit.joints import FreeJoint, PrismaticJoint, RevoluteJoint, SphericalJoint
from mbkit.model import Body, Mechanism
from mbkit.results import Result
from mbkit.simulation.simulate import simulate
from mbkit.spatial import SpatialInertia
from mbkit.systems import System

__all__ = ["SAMPLES", "STANDARD_PROBLEMS", "StandardProblem"]

#: Instants at which motions are compared, evenly spread, those of the second half of them counted:
#: numbers of steps are multiples of it.
SAMPLES = 8

#: Ten times the rounding of q in metres, with its growth by differences: those of
#: angles, and those of quaternions.
ROUNDING = 1e2 * float(np.finfo(np.float64).eps)
OF_TURNS = 1e4 * float(np.finfo(np.float64).eps)


@attrs.frozen(eq=False)
class StandardProblem:
    """An initial value problem with a reference solution."""

    name: str  # its name in reports
    make: Callable[[], System]  # returns the system
    end: float  # the motion ends there; it begins at 0. [s]
    # velocity at the start, from the reference configuration; or a function of the system
    v: tuple[float, ...] | Callable[[System], Any]
    conservative: bool = True  # whether the energy stays
    tau: Callable[..., Any] | None = None  # forces over time
    # steps of the solution, in Dormand and Prince's method of order 5: with more of them rounding
    # adds up
    reference_steps: int = 4096

    @functools.cached_property
    def system(self) -> System:
        """The system; assembled once."""
        return self.make()

    @functools.cached_property
    def velocity(self) -> Any:
        """The velocity at the start, (nv,)."""
        return self.v(self.system) if callable(self.v) else np.array(self.v)

    @property
    def is_constrained(self) -> bool:
        """Whether the system has constraints, and the motion multipliers."""
        return self.system.num_velocity_constraints > 0

    def run(self, integrator: Integrator, steps: int, **options: Any) -> Result:
        """Return the motion, in so many steps.

        They may be too large: how far it is from the solution is measured, and not warned of.
        """
        options = {"save_every": steps, "tau": self.tau, "progress": False, **options}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EnergyBalanceWarning)
            return simulate(
                self.system, (0.0, self.end), self.end / steps, v=self.velocity,
                integrator=integrator, **options,
            )  # fmt: skip

    def sampled(self, integrator: Integrator, steps: int, samples: int = SAMPLES) -> Result:
        """Return the motion in so many steps, a multiple of `samples`, at that many instants."""
        return self.run(integrator, steps, save_every=steps // samples)

    @functools.cached_property
    def solution(self) -> Result:
        """The motion at the `SAMPLES` instants."""
        return self.sampled(RungeKuttaMuntheKaas(tableaus.DORMAND_PRINCE5), self.reference_steps)

    def errors(self, run: Result) -> tuple[float, ...]:
        """Return how far q, on its group, v and, if there are, multipliers are from the solution.

        They are means over the second half of the motion, of the squares; those of v and of
        multipliers are relative to the largest of them. The motion is given at the `SAMPLES`
        instants, or at every second of them, and so on.
        """
        exact = self.solution
        count = len(run.t)
        late = slice(count // 2, None)
        same = np.arange(0, len(exact.t), (len(exact.t) - 1) // (count - 1))[late]
        parts = [self.system.difference(exact.q[same], run.q[late])]
        parts.append((run.v[late] - exact.v[same]) / np.abs(exact.v).max())
        if self.is_constrained:
            scale = np.abs(exact.multipliers).max()
            parts.append((run.multipliers[late] - exact.multipliers[same]) / scale)
        return tuple(float(np.sqrt((part**2).sum(axis=1).mean())) for part in parts)

    def rounding_of_multipliers(self, steps: int) -> float:
        """Return the rounding of multipliers where they come from second differences of q.

        It is relative to the largest of them, for positions of about a metre and bodies of about a
        kilogram.
        """
        scale = float(np.abs(self.solution.multipliers).max())
        joints = self.system.arrays.tree_joints.values()
        rounding = ROUNDING if all(each.positions_add for each in joints) else OF_TURNS
        return rounding * (steps / self.end) ** 2 / scale


def rigid_body(name: str, mass: float, com: Any, principal: Any) -> Body:
    """Return a body with principal moments of inertia about its centre of mass."""
    return Body(name, SpatialInertia.from_com(mass, com, moment_about_com=np.diag(principal)))


def torque_free_body() -> System:
    """Return a body with three different moments of inertia, free of all forces."""
    mech = Mechanism("torque-free body", gravity=(0, 0, 0))
    body = mech.add_body(rigid_body("body", 2.0, (0, 0, 0), (0.3, 0.5, 0.75)))
    mech.add_joint(SphericalJoint("ball"), mech.world, body)
    return mech.assemble()


def heavy_top() -> System:
    """Return an asymmetric body that is held at a point beside its centre of mass."""
    mech = Mechanism("heavy top", gravity=(0, 0, -9.81))
    body = mech.add_body(rigid_body("top", 2.0, (0.2, 0.6, -0.1), (0.3, 0.5, 0.75)))
    mech.add_joint(SphericalJoint("tip"), mech.world, body)
    return mech.assemble()


def tethered_body() -> System:
    """Return a free body on a spring, held beside its centre of mass."""
    mech = Mechanism("tethered body", gravity=(0, 0, -9.81))
    body = mech.add_body(rigid_body("body", 1.5, (0.1, -0.05, 0.2), (0.04, 0.06, 0.05)))
    mech.add_joint(FreeJoint("free"), mech.world, body)
    mech.add_force(
        SpringDamper(
            "tether",
            "world",
            "body",
            stiffness=40.0,
            rest_length=1.0,
            point_a=np.array([0.0, 0.0, 2.0]),
            point_b=np.array([0.1, 0.0, 0.3]),
        )
    )
    return mech.assemble()


def driven_arm() -> System:
    """Return a slider, a hinge and a ball joint in a row, with a spring and a damper."""
    mech = Mechanism("driven arm", gravity=(0.5, 0, -9.81))
    base = mech.add_body(rigid_body("base", 3.0, (0, 0, 0.1), (0.1, 0.1, 0.1)))
    upper = mech.add_body(rigid_body("upper", 1.0, (0.05, 0, -0.3), (0.03, 0.04, 0.02)))
    lower = mech.add_body(rigid_body("lower", 0.8, (0, 0.1, -0.8), (0.02, 0.03, 0.02)))
    mech.add_joint(PrismaticJoint("slide", axis=(1, 0, 0.2)), mech.world, base)
    mech.add_joint(RevoluteJoint("hinge", axis=(0, 1, 0.3)), base, upper)
    mech.add_joint(SphericalJoint("ball", point=(0, 0, -0.6)), upper, lower)
    mech.add_force(JointSpring("spring", "slide", stiffness=30.0))
    mech.add_force(JointDamper("damper", "hinge", damping=0.4))
    return mech.assemble(RelativeCoordinates())


def _drive(t: float, q: Any, v: Any) -> Any:
    return np.array([np.cos(3.0 * t), 0.5 * np.sin(2.0 * t), -0.05 * v[2], 0.0, 0.1 * t])


#: Vector spaces, SO(3) and SE(3); with gravity, springs, dampers, and forces over time.
STANDARD_PROBLEMS = (
    StandardProblem("torque-free body", torque_free_body, 2.0, (1.0, 3.0, -2.0)),
    StandardProblem("heavy top", heavy_top, 1.5, (1.0, 3.0, -2.0)),
    StandardProblem("tethered body", tethered_body, 3.0, (0.5, -1.0, 0.8, 0.1, 0.3, -0.2)),
    StandardProblem(
        "driven arm", driven_arm, 2.0, (0.2, -0.5, 0.3, 0.4, -0.2), conservative=False, tau=_drive
    ),
)

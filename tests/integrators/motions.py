"""Motions on which constrained integrators are measured, with solutions of order 5."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import mbkit as mb
from mbkit.testing.convergence import fitted_slope

#: Steps of the reference solutions: errors of 1e-12 and less.
REFERENCE_STEPS = 8192


class Motion(NamedTuple):
    """A system, its first velocity, and how long it is looked at."""

    system: mb.System
    q: Any
    v: Any
    end: float

    def run(self, integrator: mb.Integrator, steps: int, **options: Any) -> mb.Result:
        """Return the motion in so many steps, and its end alone unless other rows are asked for."""
        options = {"save_every": steps, "progress": False, **options}
        return mb.simulate(
            self.system, (0.0, self.end), self.end / steps, q=self.q, v=self.v,
            integrator=integrator, **options,
        )  # fmt: skip


def _top(*, fast: bool) -> tuple[mb.Mechanism, mb.Body, Any]:
    mech = mb.Mechanism("top", gravity=(0, 0, -9.81))
    if fast:
        moments, com, mass, v = (0.234375, 0.46875, 0.234375), (0, 1, 0), 15.0, (0, 150, -4.61538)
    else:
        moments, com, mass, v = (0.3, 0.5, 0.75), (0.2, 0.6, -0.1), 2.0, (1, 3, -2)
    inertia = mb.SpatialInertia.from_com(mass, com, moment_about_com=np.diag(moments))
    return mech, mech.add_body(mb.Body("top", inertia)), np.array(v, dtype=float)


def ball_top(*, fast: bool = False) -> Motion:
    """Return a top on a ball joint of the tree: no constraints."""
    mech, body, v = _top(fast=fast)
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, body)
    system = mech.assemble()
    return Motion(system, system.reference_configuration(), v, 0.1 if fast else 0.5)


def loop_top(*, fast: bool = False) -> Motion:
    """Return a top as a free body, which a ball joint holds as a constraint."""
    mech, body, v = _top(fast=fast)
    mech.add_joint(mb.FreeJoint("free"), mech.world, body)
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, body)
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["tip"]))
    v = np.concatenate([v, np.zeros(3)])
    return Motion(system, system.reference_configuration(), v, 0.1 if fast else 0.5)


def shifted_loop_top() -> Motion:
    """Return the same with positions that add: turning and shifting apart."""
    mech, body, v = _top(fast=False)
    mech.add_joint(
        mb.CompositeJoint("free", mb.TranslationalJoint("shift"), mb.SphericalJoint("turn")),
        mech.world, body,
    )  # fmt: skip
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, body)
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["tip"]))
    return Motion(system, system.reference_configuration(), np.concatenate([np.zeros(3), v]), 0.5)


def four_bar() -> Motion:
    """Return a closed four-bar in a plane: three of five loop constraints are redundant."""
    mech = mb.Mechanism("four-bar", gravity=(0, 0, -9.81))
    rod = mb.SpatialInertia.box(1.0, size=(0.4, 0.02, 0.02))
    bodies = [mech.add_body(mb.Body(f"rod {i}", rod)) for i in range(3)]
    left, right = mb.spatial.translation((-0.2, 0, 0)), mb.spatial.translation((0.2, 0, 0))
    ends = [mech.world, *bodies]
    for i in range(3):
        frames = (np.eye(4) if i == 0 else right, left)
        mech.add_joint(
            mb.RevoluteJoint(f"hinge {i}", axis=(0, 1, 0)), ends[i], ends[i + 1], frames=frames
        )
    ground = mb.spatial.translation((0.5, 0, 0))
    mech.add_joint(
        mb.RevoluteJoint("pin", axis=(0, 1, 0)), mech.world, bodies[2], frames=(ground, right)
    )
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["pin"]))
    q = system.close_loops([1.0, -0.8, -1.0])
    v = system.consistent_velocity({"hinge 0": 2.0}, q)
    return Motion(system, q, v, 0.4)


def arm() -> Motion:
    """Return a ball, a hinge and a planar joint in a row: masses depend on the configuration."""
    mech = mb.Mechanism("arm", gravity=(0, 0, -9.81))
    inertia = mb.SpatialInertia.from_com(
        2.0, (0.2, 0.6, -0.1), moment_about_com=np.diag((0.3, 0.5, 0.75))
    )
    bodies = [mech.add_body(mb.Body(name, inertia)) for name in ("upper", "lower", "hand")]
    frames = (mb.spatial.translation((0, 1, 0)), np.eye(4))
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, bodies[0])
    mech.add_joint(
        mb.RevoluteJoint("hinge", axis=(1, 0.3, 0.2)), bodies[0], bodies[1], frames=frames
    )
    mech.add_joint(mb.PlanarJoint("plane"), bodies[1], bodies[2], frames=frames)
    mech.add_force(mb.JointSpring("spring", "hinge", stiffness=20.0))
    system = mech.assemble()
    return Motion(
        system, system.reference_configuration(), np.array([1, 3, -2, 0.5, 0.4, 0.3, 0.2]), 0.4
    )


MOTIONS: dict[str, Callable[[], Motion]] = {
    "ball top": ball_top,
    "fast ball top": functools.partial(ball_top, fast=True),
    "loop top": loop_top,
    "fast loop top": functools.partial(loop_top, fast=True),
    "shifted loop top": shifted_loop_top,
    "four-bar": four_bar,
    "arm": arm,
}


@functools.cache
def motion(name: str) -> Motion:
    """Return a motion by name."""
    return MOTIONS[name]()


@functools.cache
def solution(name: str) -> mb.Result:
    """Return its end by a method of order 5."""
    integrator = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5)
    return motion(name).run(integrator, REFERENCE_STEPS)


def orders(name: str, integrator: mb.Integrator, counts: list[int]) -> dict[str, float]:
    """Return the slopes of the errors at the end: of q on its group, of v, and of multipliers."""
    exact, system = solution(name), motion(name).system
    errors: dict[str, list[float]] = {"q": [], "v": [], "multipliers": []}
    for count in counts:
        run = motion(name).run(integrator, count)
        errors["q"].append(float(np.linalg.norm(system.difference(exact.q[-1], run.q[-1]))))
        errors["v"].append(float(np.linalg.norm(run.v[-1] - exact.v[-1])))
        if system.num_velocity_constraints:
            change = run.multipliers[-1] - exact.multipliers[-1]
            errors["multipliers"].append(float(np.linalg.norm(change)))
    return {
        what: fitted_slope(counts, np.array(found)).value for what, found in errors.items() if found
    }

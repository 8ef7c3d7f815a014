"""Numbers of constraints that are no joints in the adjoint, by one pass over the bodies.

Against forward derivatives, which have matrices of the derivatives of all rows at each state.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from mbkit.sensitivities.passes.forces import called_forces
from mbkit.sensitivities.passes.memory import PassSums
from tests.sensitivities.differences import assert_adjoint
from tests.sensitivities.test_constraints_by_pass import driven, with_constraints
from tests.sensitivities.test_places_by_pass import METHODS, turned_loop
from tests.trees import random_inertia

pytestmark = [pytest.mark.compiled, pytest.mark.slow]


def of_each_kind():
    """Return a loop in space that a joint closes, with a constraint of each kind besides."""
    return with_constraints().assemble(mb.RelativeCoordinates(loop_joints=("D",)))


def turned_rods():
    """Return bodies in frames of their own on a tree that rods close, one of them twice the same.

    Rows of the second depend on those of the first.
    """
    mech = turned_loop(closed=False)
    for name, a, b in (("rod", "world", "c"), ("brace", "a", "c"), ("double", "a", "c")):
        ends = np.array([[0.3, -0.2, 0.1] if a == "world" else [0.2, 0.1, 0.4], [0.9, 0.2, 0.2]])
        points = {"point_a": ends[0], "point_b": ends[1]}
        length = float(np.linalg.norm(ends[1] - ends[0]))
        mech.add_constraint(mb.Distance(name, a, b, length=length, **points))
    return mech.assemble()


def rolling(coordinates=None, *, moved=False):
    """Return a ball that rolls on a tilted plane, with a rod to a body in the air, and a motor."""
    rng = np.random.default_rng(7)
    mech = mb.Mechanism("rolling", gravity=(0.3, -0.2, -9.81))
    for name in ("ball", "kite"):
        mech.add_body(mb.Body(name, random_inertia(rng), pose=SE3.exp(rng.normal(size=6))))
        mech.add_joint(mb.FreeJoint(f"of {name}"), "world", name)
    normal = np.array([0.2, -0.1, 1.0])
    center = np.array([0.1, 0.2, 0.3]) + 0.5 * normal / np.linalg.norm(normal)
    given = {"point_a": (0.1, 0.2, 0.3), "normal": normal, "center": center, "radius": 0.5}
    mech.add_constraint(mb.RollingSphere("contact", "world", "ball", **given))
    ends = {"point_a": (0.2, 0.1, 0.8), "point_b": (0.9, 0.3, 1.2)}
    length = float(np.sqrt(0.69))
    mech.add_constraint(mb.Distance("string", "ball", "kite", length=length, **ends))
    if moved:
        mech.add_body(mb.Body("motor", random_inertia(np.random.default_rng(1))))
        shaft = mb.RevoluteJoint("shaft", axis=(0.3, 1.0, 0.1), point=(1.2, 0.0, 0.1))
        mech.add_joint(shaft.prescribe("0.3 * sin(4 * t - 0.4)"), "world", "motor")
        ends = {"point_a": (1.3, 0.1, 0.4), "point_b": (0.8, 0.3, 1.1)}
        length = float(np.sqrt(0.78))
        mech.add_constraint(mb.Distance("crank", "motor", "kite", length=length, **ends))
    return mech.assemble(coordinates)


#: Numbers that belong together: the ends of a periodic lift are the same, and poses are rigid.
BOUND = ("constraints.cam.lift", "constraints.hand.poses")

MECHANISMS = {
    "of each kind": of_each_kind,
    "turned rods": turned_rods,
    "rolling and a motor": lambda: rolling(moved=True),
    "in absolute coordinates": lambda: rolling(mb.AbsoluteCoordinates()),
    "point over time": lambda: driven(mb.PrescribedPoint),
    "pose over time": lambda: driven(mb.PrescribedPose),
}


def numbers_of(system):
    """Return the parameters of constraints that are real numbers, and have derivatives."""
    return [
        name
        for name, value in system.parameters.items()
        if name.startswith("constraints.")
        and np.asarray(value).dtype.kind == "f"
        and name not in BOUND
    ]


def run_of(system, method, t_0=0.1, **given):
    """Return a short run from closed loops with random velocities."""
    v = np.random.default_rng(4).normal(size=system.nv)
    q, v = system.close_loops(system.reference_configuration(), v, t=t_0)
    return mb.simulate(system, (t_0, t_0 + 0.02), 1e-2, q=q, v=v, integrator=method, **given)


#: Each mechanism and each method once; with a motor explicit methods take no pass.
SOME = {
    ("of each kind", "index 3"), ("turned rods", "index 3, adaptive"),
    ("rolling and a motor", "adaptive"), ("in absolute coordinates", "stabilised"),
    ("point over time", "Munthe-Kaas"), ("pose over time", "Munthe-Kaas"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.parametrize(
    ("mechanism", "method"),
    [
        pytest.param(*case, marks=() if case in SOME else pytest.mark.long)
        for case in itertools.product(MECHANISMS, METHODS)
    ],
)
def test_numbers_of_constraints(mechanism, method):
    system = MECHANISMS[mechanism]()
    names = numbers_of(system)
    assert names
    assert {*names} <= PassSums(system, names, called_forces(system)).known
    run = run_of(system, METHODS[method])
    by = ["q", "v", f"bodies.{system.body_names[1]}.mass", *names]
    assert_adjoint(run, mb.sensitivities(run, by=by), rtol=1e-10)


@pytest.mark.long  # numbers of what rolls are without it, too, in `test_constraints_by_pass.py`
@pytest.mark.parametrize("stabilisation", [mb.Projection(), None])
def test_with_and_without_the_way_back_to_the_constraints(stabilisation):
    system = of_each_kind()
    run = run_of(system, None, stabilisation=stabilisation)
    assert_adjoint(run, mb.sensitivities(run, by=["q", *numbers_of(system)]), rtol=1e-10)

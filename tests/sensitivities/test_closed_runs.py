"""Derivatives of runs of closed mechanisms against differences of runs that start closed."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from mbkit.spatial.frames import translation
from tests.constraints.closed_mechanisms import bennett, four_bar, stewart
from tests.sensitivities.differences import STEPS, WEIGHTS, assert_adjoint
from tests.sensitivities.rolling_ball import RATES, ball

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


class Closed:
    """Runs of a mechanism from closed states near one, and of its systems with other numbers."""

    def __init__(self, mechanism, u, **options):
        self.system = mechanism.assemble()
        self.options = options
        q = self.system.close_loops(self.system.reference_configuration())
        self.u = self.system.close_loops(q, u)[1]

    def start(self, e, name="", entry=0):
        """Return system and closed state for a number e: of a parameter, or of the state."""
        system = self.system
        q, v = system.reference_configuration(), self.u
        if not name:
            q, v = system.retract(q, 0.3 * e * self.u), (1.0 + e) * self.u
        else:
            value = np.asarray(system.parameters[name])
            unit = np.eye(6)[entry]
            moved = value @ SE3.exp(e * unit) if value.shape == (4, 4) else value + e
            system = system.with_parameters({name: moved})
        return system, *system.close_loops(system.close_loops(q), v)

    def run(self, e, name="", entry=0):
        system, q, v = self.start(e, name, entry)
        saved = {} if "save_at" in self.options else {"save_every": 4}
        span = 0.0, min(0.1, 12.0 * self.options["h"])
        return mb.simulate(system, span, q=q, v=v, **saved, **self.options)

    def assert_same(self, names, rtol=1e-9):
        base, (system, *before) = self.run(0.0), self.start(0.0)
        found = mb.sensitivities(base, by=["q", "v", *(name for name, _ in names)])
        for name, entry in [("", 0), *names]:
            own = [0.0, 0.0]
            expected, starts = [0.0, 0.0], [0.0, 0.0]
            for weight, e in zip(WEIGHTS / 2e-3, STEPS * 2e-3, strict=True):
                run, (_, q, v) = self.run(e, name, entry), self.start(e, name, entry)
                ends = system.difference(base.q, run.q), run.v - base.v
                begins = system.difference(before[0], q), v - before[1]
                expected = [x + weight * y for x, y in zip(expected, ends, strict=True)]
                starts = [x + weight * y for x, y in zip(starts, begins, strict=True)]
            for k, each in enumerate((found.q, found.v)):
                own = each["q"] @ starts[0] + each["v"] @ starts[1]
                if name:
                    own = own + each[name].reshape((*own.shape, -1))[..., entry]
                size = np.abs(expected[k]).max()
                assert np.abs(own - expected[k]).max() < rtol * max(size, 1e-2), name
        assert_adjoint(base, found)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("stabilisation", [mb.Projection(), None])
def test_a_four_bar(stabilisation):
    """With steps so wide that loops open by 1e-6, and what closes them counts."""
    closed = Closed(four_bar(), [3.0, 0, 0], h=5e-3, stabilisation=stabilisation)
    closed.assert_same([("bodies.rod 1.mass", 0), ("bodies.rod 2.mass", 0)])
    Closed(four_bar(), [9.0, 0, 0], h=2e-2).assert_same([])


@pytest.mark.long
@pytest.mark.slow
def test_the_place_of_a_joint_of_a_four_bar():
    Closed(four_bar(), [3.0, 0, 0], h=5e-3).assert_same([("joints.A.S_pred", 3)])


def rod_bar():
    """Return a four-bar whose coupler is a massless rod, a constraint; its crank has a thread."""
    mech = mb.Mechanism("four-bar with a rod", gravity=(0.0, 0.0, -9.81))
    for name, point, com in (
        ("crank", (0, 0, 0), (0, 0, 0.2)),
        ("rocker", (0.9, 0, 0), (0.8, 0, 0.3)),
    ):
        inertia = mb.SpatialInertia.from_com(1.0, com, 0.01 * np.eye(3))
        body = mech.add_body(mb.Body(name, inertia))
        pitch = 0.05 if name == "crank" else 0.0
        joint = mb.HelicalJoint(f"of {name}", axis=(0, 1, 0), point=point, pitch=pitch)
        mech.add_joint(joint, "world", body)
    ends = {"point_a": (0, 0, 0.3), "point_b": (0.8, 0, 0.5)}
    length = float(np.hypot(0.8, 0.2))
    mech.add_constraint(mb.Distance("rod", "crank", "rocker", length=length, **ends))
    return mech


def rod_bar_with_python():
    """Return it with a wheel that follows by a function, for which differences are taken of all."""
    mech = rod_bar()
    wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.2)))
    mech.add_joint(mb.RevoluteJoint("of wheel", axis=(0, 1, 0)), "world", wheel)
    mech.add_constraint(
        mb.JointCoupling(
            "cam", driver="of crank", driven="of wheel", function=lambda x: 0.3 * np.sin(x)
        )
    )
    return mech


INTEGRATORS = {
    "Munthe-Kaas": None,
    "stabilised": mb.GeneralizedAlpha(0.8, tolerance=1e-14),
    "index 3": mb.GeneralizedAlpha(0.8, formulation="index3", start="plain", tolerance=1e-14),
    "perturbed": mb.GeneralizedAlpha(0.8, formulation="index3", tolerance=1e-14),
}


@pytest.mark.some(4)
@pytest.mark.slow
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("mechanism", "name", "entry"),
    [
        (rod_bar, "constraints.rod.length", 0),
        (rod_bar_with_python, "constraints.rod.length", 0),
        (rod_bar, "joints.of crank.pitch", 0),
        (four_bar, "joints.C.S_pred", 5),
        (four_bar, "joints.A.S_pred", 3),
        (ball, "constraints.table.radius", 0),
        (ball, "joints.ring z.S_pred", 0),
    ],
)
def test_what_moves_rows_of_constraints(integrator, mechanism, name, entry):
    """Numbers of a constraint, places of joints that close a loop (C) and of the tree, a pitch."""
    u = RATES if mechanism is ball else [3.0, 0.0, 0.0][: mechanism().assemble().nv]
    closed = Closed(mechanism(), u, h=5e-3, integrator=INTEGRATORS[integrator])
    closed.assert_same([(name, entry)], rtol=3e-9)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [bennett, stewart])
def test_loops_in_space(mechanism):
    made = mechanism()
    made = made[0] if isinstance(made, tuple) else made
    u = np.random.default_rng(1).normal(size=made.assemble().nv)
    body = list(made.bodies)[-1]
    Closed(made, u, h=5e-3).assert_same([(f"bodies.{body}.mass", 0)], rtol=3e-9)


@pytest.mark.slow
def test_rows_that_depend_on_others_are_left_out_as_in_the_run():
    """With steps so wide that loops open at the stages, where these rows are independent."""
    made = bennett()
    made = made[0] if isinstance(made, tuple) else made
    u = 3.0 * np.random.default_rng(1).normal(size=made.assemble().nv)
    Closed(made, u, h=2e-2).assert_same([], rtol=1e-11)


def space_loop():
    """Return a loop in space of five velocities, with springs across it, and with a damper."""
    mech = mb.Mechanism("space loop", gravity=(0.3, -0.2, -9.81))
    coms = {"a": (0.1, 0.2, 0.3), "b": (0.4, 0.5, 0.3), "c": (0.9, 0.3, 0.2)}
    a, b, c = (
        mech.add_body(
            mb.Body(name, mb.SpatialInertia.from_com(1.3, com, 0.02 * np.diag([1.0, 1.5, 2.0])))
        )
        for name, com in coms.items()
    )
    mech.add_joint(mb.RevoluteJoint("A", axis=(0, 1, 0.2), point=(0, 0, 0)), mech.world, a)
    mech.add_joint(mb.SphericalJoint("B", point=(0.2, 0.4, 0.6)), a, b)
    mech.add_joint(mb.UniversalJoint("C", point=(0.7, 0.5, 0.1)), b, c)
    mech.add_joint(mb.UniversalJoint("D", point=(1.0, 0.1, 0.1)), mech.world, c)
    ends = {"point_a": (0.1, 0.1, 0.3), "point_b": (0.9, 0.3, -0.2)}
    mech.add_force(
        mb.SpringDamper("spring", "a", "c", stiffness=30.0, rest_length=0.5, damping=0.4, **ends)
    )
    mech.add_force(mb.JointDamper("damper", "A", damping=0.1))
    mech.add_force(
        mb.Bushing("mount", "c", "b", stiffness=(2, 3, 4, 20, 30, 40), damping=(0.1,) * 6)
    )
    mech.add_force(mb.Drag("air", "b", quadratic=0.2, angular=0.1, point=(0.4, 0.6, 0.1)))
    mech.add_force(mb.UniformField("wind", acceleration=(0.1, 0.3, 0.2)))
    return mech


@pytest.mark.slow
@pytest.mark.parametrize("solver", [None, mb.MinimumNorm()])
def test_a_loop_closed_by_a_joint_whose_wrenches_change(solver):
    """By all inputs that the adjoint takes along in one pass, against forward derivatives."""
    system = space_loop().assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    system = system.with_constraint_solver(solver)
    q, v = system.close_loops(
        system.reference_configuration(), np.random.default_rng(4).normal(size=system.nv)
    )
    run = mb.simulate(system, (0.0, 0.02), 1e-2, q=q, v=v, tau=np.zeros(system.nv))
    by = ["q", "v", "tau", "gravity", "bodies.b.mass", "bodies.c.com", "forces.spring.stiffness"]
    by += ["forces.spring.point_b", "forces.damper.damping", "forces.mount.stiffness"]
    by += ["forces.mount.frame_a", "forces.air.point", "forces.wind.acceleration"]
    assert_adjoint(run, mb.sensitivities(run, by=by))


@pytest.mark.slow
def test_a_coordinate_of_a_loop_joint_that_turns_over():
    """A predecessor's frame half a turn about the first axis is another zero of its angle alone."""
    found = []
    for angle in (0.0, np.pi):
        system = space_loop().assemble(mb.RelativeCoordinates(loop_joints=("D",)))
        point = np.array([1.0, 0.1, 0.1])
        turn = translation(point) @ SE3.exp([angle, 0, 0, 0, 0, 0])
        turn = turn @ translation(-point)
        place = np.asarray(system.parameters["joints.D.S_pred"]) @ turn
        system = system.with_parameters({"joints.D.S_pred": place})
        q, v = system.close_loops(
            system.reference_configuration(), np.random.default_rng(4).normal(size=system.nv)
        )
        run = mb.simulate(system, (0.0, 0.02), 1e-2, q=q, v=v)
        rng = np.random.default_rng(5)
        seeds = [rng.normal(size=(len(run.t), n)) for n in (system.ndx, system.nv)]
        found.append(mb.gradient(run, lambda t, q, v, w=seeds: (1.0, *w), by=["q", "v"]))
    for name in ("q", "v"):
        assert np.allclose(found[1][name], found[0][name], rtol=1e-10, atol=1e-11)

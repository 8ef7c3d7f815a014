"""Forces written in Python: what they are given, what they may say, and how they fail."""

from __future__ import annotations

import copy

import attrs
import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import REPRESENTATIONS
from tests.forces.cases import tree
from tests.trees import random_state


def call(function, **attributes):
    """Return a force that calls a function."""

    class Call(mb.Force):
        def evaluate(self, t, q, v, poses, twists, out):
            function(t, q, v, poses, twists, out)

    for name, value in attributes.items():
        setattr(Call, name, value)
    return Call("mine")


@pytest.fixture(scope="module")
def mechanism():
    return tree(np.random.default_rng(7))[0]


@pytest.fixture(scope="module")
def system(mechanism):
    return mechanism.assemble()


@pytest.fixture
def state(system):
    return random_state(np.random.default_rng(8), system)


def test_it_gets_the_coordinates_of_its_joints_in_their_order(system, state):
    seen = {}

    def keep(t, q, v, poses, twists, out):
        seen.update(t=t, q=q.copy(), v=v.copy(), poses=poses.shape, out=out.copy())
        out[:] = np.arange(out.size) + 1.0

    names = ("joint5", "joint2")
    tau = system.with_forces([call(keep, joints=names)]).generalized_forces(state.q, state.v, 0.25)
    at_v = np.concatenate([np.arange(system.nv)[system.velocity_slice(n)] for n in names])
    np.testing.assert_array_equal(
        seen["q"], np.concatenate([state.q[system.position_slice(n)] for n in names])
    )
    np.testing.assert_array_equal(seen["v"], state.v[at_v])
    assert (seen["t"], seen["poses"]) == (0.25, (0, 4, 4))
    np.testing.assert_array_equal(seen["out"], np.zeros(at_v.size))
    np.testing.assert_array_equal(tau[at_v], np.arange(at_v.size) + 1.0)
    assert np.count_nonzero(tau) == at_v.size


def test_without_names_it_gets_all_of_the_system(system, state):
    def keep(t, q, v, poses, twists, out):
        np.testing.assert_array_equal(q, state.q)
        np.testing.assert_array_equal(v, state.v)
        out[:] = state.tau

    tau = system.with_forces([call(keep)]).generalized_forces(state.q, state.v)
    np.testing.assert_array_equal(tau, state.tau)


class OwnRepresentation(mb.Representation):
    """A user's: spatial twists by another class and name."""

    name = "own"
    kernel_package = "mbkit.kernels.spatial"

    def twist_map(self, C):
        return mb.Spatial().twist_map(C)

    def twist_map_rate(self, C, V_b):
        return mb.Spatial().twist_map_rate(C, V_b)


@pytest.mark.parametrize(
    "representation", [*REPRESENTATIONS, OwnRepresentation()], ids=lambda each: each.name
)
def test_wrenches_are_read_in_the_representation_it_declares(mechanism, representation):
    """What it gets and says is in its own representation, as the system's twists and wrenches."""
    rng = np.random.default_rng(9)
    system = mechanism.assemble(mb.RelativeCoordinates(representation=representation))
    s = random_state(rng, system)
    names = ("body7", "world", "body2")
    rows = [system.body_index(name) for name in names]

    def push(t, q, v, poses, twists, out):
        np.testing.assert_allclose(poses, system.poses(s.q)[rows], atol=1e-13)
        np.testing.assert_allclose(twists, system.twists(s.q, s.v)[rows], atol=1e-12)
        out[:] = s.wrenches[rows]

    force = call(push, acts_on="bodies", bodies=names, representation=representation)
    loaded = system.with_forces([force])
    tau = loaded.generalized_forces(s.q, s.v)
    only = np.zeros_like(s.wrenches)
    only[rows] = s.wrenches[rows]
    plain = system.inverse_dynamics(s.q, s.v, s.vdot)
    expected = plain - system.inverse_dynamics(s.q, s.v, s.vdot, wrenches=only)
    np.testing.assert_allclose(tau, expected, atol=1e-10)
    assert loaded.force_powers(s.q, s.v)[0, 1] == pytest.approx(tau @ s.v)


def test_arguments_cannot_be_written_to(system, state):
    def spoil(t, q, v, poses, twists, out):
        q[0] = 1.0

    with pytest.raises(ValueError, match="read-only") as caught:
        system.with_forces([call(spoil)]).generalized_forces(state.q, state.v)
    assert caught.value.__notes__[0].startswith("Raised by force 'mine'. At t = ")


def test_its_exception_comes_out_of_a_run_with_time_and_place(system, state):
    """As itself; what was computed until then is kept."""

    def fail(t, q, v, poses, twists, out):
        if t > 0.0107:
            raise LookupError("no wind data")

    with pytest.raises(LookupError, match="no wind data") as caught:
        mb.simulate(system, (0.0, 0.1), 1e-3, q=state.q, v=state.v, forces=[call(fail)])
    note = caught.value.__notes__[0]
    assert note.startswith("Raised by force 'mine'. At t = 0.011, q = [")
    assert caught.value.result.t[-1] == pytest.approx(0.01)


def test_ctrl_c_in_it_keeps_the_run(system, state):
    def interrupt(t, q, v, poses, twists, out):
        if t > 0.0107:
            raise KeyboardInterrupt

    run = mb.simulate(system, (0.0, 0.1), 1e-3, q=state.q, v=state.v, forces=[call(interrupt)])
    assert not run.completed
    assert run.message.startswith("Interrupted by the user after t = 0.01 s")


def test_in_a_batch_the_sample_is_named(system, state):
    def fail(t, q, v, poses, twists, out):
        if t == 2.0:
            raise LookupError("no wind data")
        out[:] = t

    loaded = system.with_forces([call(fail)])
    times = np.array([0.0, 1.0, 2.0])
    with pytest.raises(LookupError) as caught:
        loaded.generalized_forces(state.q, state.v, times)
    assert "sample (2,)" in caught.value.__notes__[0]
    tau = loaded.generalized_forces(state.q, state.v, times, on_error="nan")
    np.testing.assert_array_equal(tau[:, 0], [0.0, 1.0, np.nan])


def test_what_is_not_finite_is_named(system, state):
    def wrong(t, q, v, poses, twists, out):
        out[0] = np.nan

    forces = [mb.JointDamper("good", "joint1", damping=1.0), call(wrong)]
    with pytest.raises(mb.NotFiniteError, match="Force 'mine' is not finite"):
        system.with_forces(forces).generalized_forces(state.q, state.v)
    with pytest.raises(mb.NotFiniteError, match=r"stopped at t = 0 s.*Force 'mine' is not finite"):
        mb.simulate(system, (0.0, 0.1), 1e-3, forces=forces)


def test_a_result_in_place_of_out_is_refused(system, state):
    class Returns(mb.Force):
        def evaluate(self, t, q, v, poses, twists, out):
            return -q

    with pytest.raises(mb.ForceError, match="must write into 'out'"):
        system.with_forces([Returns("r")]).generalized_forces(state.q, state.v)


class Winch(mb.Force):
    """A spring whose rest moves and whose stiffness grows, with a damper: all three powers."""

    joints = ("slide",)

    def stretch(self, t, q):
        return q[0] - 0.2 * np.sin(3.0 * t)

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = -(20.0 + 5.0 * t) * self.stretch(t, q) - 0.8 * v[0]

    def potential_energy(self, t, q, poses):
        return 0.5 * (20.0 + 5.0 * t) * self.stretch(t, q) ** 2

    def powers(self, t, q, v, poses, twists):
        x = self.stretch(t, q)
        moved = -(20.0 + 5.0 * t) * x * 0.6 * np.cos(3.0 * t)
        return 0.8 * v[0] ** 2, 0.5 * 5.0 * x**2 + moved


def slider():
    mech = mb.Mechanism("slider")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    return mech.assemble()


@pytest.mark.compiled
def test_it_may_say_what_it_dissipates_and_what_it_supplies():
    """A potential energy that depends on time: who changes it supplies its rate at rest."""
    run = mb.simulate(slider(), (0.0, 2.0), 1e-3, q=[0.3], forces=[Winch("winch")])
    assert run.dissipated_energy[-1] > 0.1
    assert np.abs(run.supplied_energy).max() > 0.5
    assert np.abs(run.energy_balance).max() < 1e-9


@pytest.mark.compiled
def test_the_balance_shows_powers_that_are_wrong():
    """The same without the rate of its potential."""

    class Silent(Winch):
        def powers(self, t, q, v, poses, twists):
            return 0.8 * v[0] ** 2, 0.0

    with pytest.warns(mb.EnergyBalanceWarning, match="a force has another power than it says"):
        run = mb.simulate(slider(), (0.0, 2.0), 1e-3, q=[0.3], forces=[Silent("winch")])
    assert np.abs(run.energy_balance).max() > 0.1


@pytest.mark.parametrize("answer", [None, 1.0, (1.0,), (1.0, 2.0, 3.0), "ab"])
def test_powers_must_be_two_numbers(answer):
    class Wrong(Winch):
        def powers(self, t, q, v, poses, twists):
            return answer

    with pytest.raises(mb.ForceError, match="'winch': powers must return two numbers"):
        slider().with_forces([Wrong("winch")]).force_powers([0.1], [0.0])


def test_an_exception_in_powers_comes_out():
    class Failing(Winch):
        def powers(self, t, q, v, poses, twists):
            raise LookupError("no table")

    with pytest.raises(LookupError, match="no table") as caught:
        mb.simulate(slider(), (0.0, 1.0), 1e-2, forces=[Failing("winch")])
    assert caught.value.__notes__[0].startswith("Raised by force 'winch'.")


def test_it_may_call_the_same_system(system, state):
    """A controller by inverse dynamics: the run does not notice that the system is in use."""

    def hold(t, q, v, poses, twists, out):
        out[:] = system.bias_force(q, v)

    run = mb.simulate(system, (0.0, 0.05), 1e-2, q=state.q, v=0 * state.v, forces=[call(hold)])
    np.testing.assert_allclose(run.v, 0.0, atol=1e-10)


class Broken(mb.Force):
    """Made wrong by each case."""

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = 0.0


@pytest.mark.parametrize(
    ("attributes", "error", "message"),
    [
        ({"joints": ("jiont1",)}, mb.NameUnknownError, "no joint 'jiont1'; did you mean 'joint1'"),
        ({"bodies": ("bodi3",)}, mb.NameUnknownError, "no body 'bodi3'; did you mean 'body3'"),
        ({"joints": "joint1"}, mb.ForceError, "joints must be a tuple of names"),
        ({"acts_on": "body"}, mb.ForceError, "acts_on must be 'joints' or 'bodies'"),
        ({"acts_on": "bodies"}, mb.ForceError, "must name them in 'bodies'"),
        ({"power": "lost"}, mb.ForceError, "power must be 'dissipated'"),
        ({"power": "conservative"}, mb.ForceError, "must define potential_energy"),
        ({"power": "supplied", "powers": lambda *_: (0, 0)}, mb.ForceError, "leave power = 'supp"),
        ({"representation": "hybrid"}, mb.ForceError, "representation must be one of"),
        ({"evaluate": mb.Force.evaluate}, mb.ForceError, "must define evaluate"),
        ({"evaluate": 1.0}, mb.ForceError, "evaluate must be a method, .*, got 1.0; give"),
        ({"name": " x"}, mb.ModelError, "no blanks at its ends"),
    ],
)  # fmt: skip
def test_a_wrong_definition_is_refused(mechanism, attributes, error, message):
    """When it is added, to a mechanism or to a system."""
    kind = type("Broken", (Broken,), attributes)
    force = kind(attributes.get("name", "f"))
    for add in (mechanism.add_force, lambda f: mechanism.assemble().with_forces([f])):
        with pytest.raises(error, match=message):
            add(force)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: mb.JointSpring("s", "j", stiffness="x"), mb.ForceError, "'s': stiffness must"),
        (lambda: mb.JointDamper("s", "j", damping=-1.0), mb.ForceError, "damping must be at least"),
        (lambda: mb.DryFriction("s", "j", 1.0, smoothing=0), mb.ForceError, "must be above 0"),
        (lambda: mb.JointSpring("s", 3, stiffness=1), mb.ForceError, "joint must be a name"),
        (lambda: mb.LimitStop("s", "j", 1.0, 0.0, 1.0), mb.ForceError, "lower must not be above"),
        (lambda: mb.JointEffort("s", "j", [1, 2]), mb.ShapeError, "times must be 2 times"),
        (lambda: mb.JointEffort("s", "j", [1, 2], [1, 1]), mb.ForceError, "times must increase"),
        (lambda: mb.JointEffort("s", "j", [1], [1]), mb.ForceError, "two times or more"),
        (
            lambda: mb.JointEffort("s", "j", [1, 2], [0, 1], "spline"),
            mb.ForceError, "must be 'linear' or 'cubic'",
        ),
        (lambda: mb.BodyWrench("s", "b", [1, 2, 3]), mb.ShapeError, r"shape \(k, 6\)"),
        (lambda: mb.BodyWrench("s", "b", [0] * 6, axes="x"), mb.ForceError, "'world' or 'body'"),
        (lambda: mb.SpringDamper("s", "b", "b", 1.0), mb.ForceError, "must be two bodies"),
        (
            lambda: mb.Bushing("s", "a", "b", stiffness=[1] * 6, damping=[-1] * 6),
            mb.ForceError, "no entry below 0",
        ),
        (lambda: mb.UniformField("s", acceleration=[1, 2]), mb.ShapeError, r"shape \(3,\)"),
        (lambda: mb.UniformField("s", [0, 0, 1], bodies="b"), mb.ForceError, "a list of names"),
        (lambda: mb.UniformField("s", [0, 0, 1], bodies=["b", "b"]), mb.ForceError, "name once"),
        (lambda: mb.UniformField("s", [0, 0, 1], bodies=[]), mb.ForceError, "must have a name; le"),
        (lambda: mb.UniformField("s", [0, 0, 1], bodies=()), mb.ForceError, "must have a name; le"),
        (lambda: mb.Drag("s", "b", wind=[1, 2]), mb.ShapeError, r"wind.*shape \(3,\)"),
        (lambda: mb.Drag("s", "b", angular=-1.0), mb.ForceError, "angular must be at least 0"),
        (lambda: mb.Drag("s", "b", linear=float("inf")), mb.GeometryError, "finite number"),
    ],
)  # fmt: skip
def test_wrong_numbers_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_field_on_all_bodies_stays_one_through_copies():
    """Left out, None, evolved and copied: only an empty list is refused."""
    field = mb.UniformField("f", [0, 0, 1])
    copies = (
        mb.UniformField("f", [0, 0, 1], None), attrs.evolve(field, name="f"),
        copy.copy(field), copy.deepcopy(field),
    )  # fmt: skip
    for each in copies:
        assert each == field
        assert attrs.evolve(each, name="g").bodies == ()


def test_a_joint_that_does_not_fit_is_refused(mechanism):
    """Springs know no zero of quaternions, tables are for one velocity, fixed joints are fixed."""
    by_kind = {type(e.joint).__name__: name for name, e in mechanism.joints.items()}
    for force in (
        mb.JointSpring("f", by_kind["SphericalJoint"], stiffness=1.0),
        mb.JointEffort("f", by_kind["FreeJoint"], effort=1.0),
        mb.JointDamper("f", by_kind["FixedJoint"], damping=1.0),
    ):
        with pytest.raises(mb.ForceError, match="Force 'f': joint 'joint"):
            mechanism.add_force(force)


def test_names_of_forces_are_unique():
    mech = tree(np.random.default_rng(7))[0]
    joint = next(n for n, e in mech.joints.items() if e.joint.num_velocities)
    damper = mb.JointDamper("d", joint, damping=1.0)
    assert mech.add_force(damper) is damper
    with pytest.raises(mb.DuplicateNameError, match="force 'd'"):
        mech.add_force(damper)
    system = mech.assemble()
    assert system.force_names == ("d",)
    with pytest.raises(mb.DuplicateNameError, match="two forces 'd'"):
        system.with_forces([damper])

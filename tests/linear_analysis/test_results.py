"""Results of linear analysis: printed text, export to other programs, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import StateSpace

import mbkit as mb
from tests.at_each import at_each
from tests.closed_loops.mechanisms import BY_NAME
from tests.constraints.closed_mechanisms import assembled, parallelogram
from tests.linear_analysis.test_closed_forms import four_bar, pendulum, start


def slider(*forces, gravity=0.0):
    """Return a mass on a slide along z."""
    mech = mb.Mechanism("slider", gravity=(0, 0, -gravity))
    mass = mech.add_body(mb.Body("mass", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide", axis=(0, 0, 1)), mech.world, mass)
    for force in forces:
        mech.add_force(force)
    return mech.assemble()


def test_why_no_equilibrium_is_found():
    found = slider(gravity=10.0).equilibrium()
    assert not found.found
    assert found.stability == "undecided"
    assert "'slide' is left with -20 N" in found.reason
    assert repr(found).startswith("No equilibrium of 'slider'")
    held = slider(gravity=10.0).equilibrium([0.3], fixed=["slide"])
    assert held.found
    assert held.efforts == {"slide": 20.0}
    assert held.q == [0.3]
    balanced = slider(gravity=10.0).equilibrium([0.3], tau={"slide": 20.0})
    assert balanced.found
    assert balanced.stability == "neutral"


def test_an_equilibrium_is_linearized_as_a_whole():
    """With the efforts that hold it, those that were given besides, and its time."""
    mech, plane = four_bar()
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["C"]))
    found = system.equilibrium(start(plane, 1.0), fixed=["A"], tau={"B": 0.7})
    assert found["A"] == found.q[0]
    np.testing.assert_allclose(found.tau, [found.efforts["A"], 0.7, 0.0], atol=1e-12)
    model = system.linearize(found)
    by_hand = system.linearize(found.q, tau={"A": found.efforts["A"], "B": 0.7})
    assert model.is_equilibrium
    assert model.modes().warnings == ()
    np.testing.assert_array_equal(model.A, by_hand.A)
    let_go = system.linearize(found, tau={"A": 0.0})
    assert not let_go.is_equilibrium
    with pytest.raises(mb.NameUnknownError, match=r"no joint 'a' in q; did you mean 'A'\?"):
        found["a"]
    with pytest.raises(mb.UsageError, match="the equilibrium has the positions 'A', 'B', 'D'"):
        slider().linearize(found)
    with pytest.raises(mb.UsageError, match=r"is one at t = 0, got t = 2; leave t out"):
        system.linearize(found, t=2.0)
    falling = slider(gravity=10.0)
    with pytest.raises(
        mb.UsageError, match=r"no equilibrium of 'slider' was found: .* is left with"
    ):
        falling.linearize(falling.equilibrium())


def test_an_equilibrium_of_a_prescribed_joint_has_its_time():
    """The drive stands at 0.4 rad at 2 s, and holds itself: what it holds is no effort of tau."""
    mech = mb.Mechanism("arm", gravity=(0, 0, -10))
    rod = mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))
    mech.add_body(mb.Body("upper", rod))
    mech.add_body(mb.Body("lower", rod, mb.spatial.translation((0, 0, -1))))
    drive = mb.RevoluteJoint("drive", (0, 1, 0)).prescribe("0.1 * t**2 * (3 - t)")  # rests at 2 s
    mech.add_joint(drive, mech.world, "upper")
    mech.add_joint(mb.RevoluteJoint("knee", (0, 1, 0), (0, 0, -1)), "upper", "lower")
    system = mech.assemble()
    found = system.equilibrium({"knee": 0.1}, t=2.0)
    assert found.found
    assert (found["drive"], found.t) == (pytest.approx(0.4), 2.0)
    assert not found.tau.any()
    model = system.linearize(found)
    assert (model.t, model.state_names) == (2.0, ("knee.q", "knee.v"))


def test_positions_of_an_equilibrium_by_name():
    mech = mb.Mechanism("hanging", gravity=(0, 0, -10))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0), np.eye(3))))
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, bob)
    found = mech.assemble().equilibrium()
    np.testing.assert_array_equal(found["ball"], found.q)
    assert found["ball[0]"] == found.q[0]


def test_other_starts_are_tried():
    """The moment is least at pi/2, 0.1 N m, where a search ends; it is zero at 0 and at pi."""
    mech = pendulum((1.0, 1.0), gravity=0.0)
    mech.add_force(
        mb.ForceFunction("well", lambda t, q, v: np.sin(q) + 0.9 * np.sin(3 * q), "hinge0")
    )
    found = mech.assemble().equilibrium([1.5])
    assert found.found
    assert abs(np.sin(found.q[0])) < 1e-8


@pytest.mark.long
@at_each("name", {each: each for each in ("four-bar", "Bricard", "five-bar", "delta robot")})
def test_mechanisms_settle(name):
    """Downhill from where they are assembled, to where the potential energy is least around."""
    system = BY_NAME[name].system()
    start = system.close_loops()
    found = system.equilibrium(start, stable=True)
    assert found.found
    assert found.stability == "stable"

    def energy(q):
        return system.potential_energy(q) + system.force_potentials(q).sum()

    assert energy(found.q) < energy(start)
    lowest = energy(found.q)
    for name in found.independent:
        for step in (-1e-3, 1e-3):
            moved = found.q.copy()
            moved[system.position_names.index(name)] += step
            assert energy(system.close_loops(moved, fixed=[name])) > lowest


def test_mass_falls_onto_a_stop():
    """U = m g z + k (z - lower)^2 / 2 below the stop: there is only a slope above it."""
    stop = mb.LimitStop("stop", "slide", lower=-0.5, upper=1.0, stiffness=1e5, damping=0.5)
    for z in (0.0, 0.9, -0.5, -0.6, 2.0, 40.0):
        found = slider(stop, gravity=10.0).equilibrium([z], stable=True)
        assert (found.found, found.stability) == (True, "stable")
        np.testing.assert_allclose(found.q, -0.5 - 20.0 / 1e5, rtol=1e-12)
    falling = slider(gravity=10.0).equilibrium(stable=True)
    assert not falling.found
    assert "m downhill: 'slide' is left with -20 N" in falling.reason


def test_pendulum_falls_from_upright():
    for links in (((1.0, 2.0),), ((1.0, 2.0), (2.0, 1.0))):
        system = pendulum(*links).assemble()
        found = system.equilibrium([np.pi] + [0.0] * (len(links) - 1), stable=True)
        np.testing.assert_allclose(np.cos(found.q), 1.0, atol=1e-14)
        assert found.stability == "stable"


def test_follower_force_has_no_signs():
    """Ziegler's column: its stiffness is not symmetric, and it flutters at a large force.

    Two rods of length 1 with masses 2 and 1 at their ends, springs of 1: flutter begins at
    P = 7/2 - sqrt 2 (Ziegler 1952).
    """

    def column(P):
        mech = mb.Mechanism("Ziegler's column", gravity=(0, 0, 0))
        last = mech.world
        for k, mass in enumerate((2.0, 1.0)):
            inertia = mb.SpatialInertia.from_com(mass, (1.0 + k, 0.0, 0.0))
            rod = mech.add_body(mb.Body(f"rod{k}", inertia))
            mech.add_joint(mb.RevoluteJoint(f"hinge{k}", point=(k, 0.0, 0.0)), last, rod)
            mech.add_force(mb.JointSpring(f"spring{k}", f"hinge{k}", stiffness=1.0))
            last = rod
        thrust = [0, 0, 0, -P, 0, 0]
        mech.add_force(mb.BodyWrench("thrust", "rod1", thrust, axes="body", point=(2, 0, 0)))
        return mech.assemble()

    limit = 3.5 - np.sqrt(2.0)
    for part in (0.1, 0.5, 0.99):
        modes = column(part * limit).linearize([0.0, 0.0]).modes()
        assert modes.is_stable
        assert (modes.damping_ratio == 0.0).all()
    assert not column(limit).linearize([0.0, 0.0]).modes().is_stable
    assert column(limit).equilibrium([0.0, 0.0]).stability == "undecided"
    for P, stable in ((limit - 1e-6, True), (limit + 1e-6, False)):
        modes = column(P).linearize([0.0, 0.0]).modes()
        assert (modes.eigenvalues.real.max() < 1e-4) == stable
        assert modes.is_stable == stable
    with pytest.raises(mb.UsageError, match="not symmetric"):
        column(1.0).linearize([0.0, 0.0]).modes(damped=False)


@at_each("part", {str(part): part for part in (0.9, 1.1, 1.5, 5.0)})
def test_spin_holds_a_rotor_upright(part):
    """Above the critical spin 2 sqrt(I1 m g l) / I3 a top sleeps: its modes do not decay."""
    m, length, about, along = 1.0, 0.5, 0.05, 0.08
    spin = part * 2.0 * np.sqrt((about + m * length**2) * m * 9.81 * length) / along
    mech = mb.Mechanism("top", gravity=(0, 0, -9.81))
    light = mb.SpatialInertia.from_com(1e-9, (0, 0, length), 1e-9 * np.eye(3))
    heavy = mb.SpatialInertia.from_com(m, (0, 0, length), np.diag([about, about, along]))
    frame, rotor = (mech.add_body(mb.Body(*each)) for each in (("a", light), ("b", heavy)))
    mech.add_joint(mb.UniversalJoint("u", axis1=(1, 0, 0), axis2=(0, 1, 0)), mech.world, frame)
    drive = mb.RevoluteJoint("spin", axis=(0, 0, 1))
    drive = drive.prescribe(lambda t: spin * t, lambda t: spin, lambda t: 0.0)
    mech.add_joint(drive, frame, rotor)
    modes = mech.assemble().linearize([0.0, 0.0, 0.0]).modes()
    assert modes.is_stable == (part > 1.0)
    if part > 1.0:
        assert (modes.damping_ratio == 0.0).all()


def test_programs_of_others():
    model = (
        pendulum((1.0, 1.0), spring=3.0, damping=0.3)
        .assemble()
        .linearize([0.0], inputs=["hinge0"], outputs=["hinge0.q", "link0.position"])
    )
    control = pytest.importorskip("control")  # takes a second to import
    theirs, named = model.to_scipy(), model.to_control()
    assert isinstance(theirs, StateSpace)
    assert isinstance(named, control.StateSpace)
    assert named.state_labels == ["hinge0_q", "hinge0_v"]
    assert named.output_labels[1:] == [f"link0_position_{axis}" for axis in "xyz"]
    w = np.array([0.5, 2.0])
    response = np.moveaxis(named(1j * w), -1, 0)
    np.testing.assert_allclose(model.frequency_response(w)[:, :, 0], response.reshape(2, 4))
    none = pendulum((1.0, 1.0)).assemble().linearize([0.0], inputs=[])
    with pytest.raises(mb.UsageError, match="no inputs"):
        none.to_scipy()


def test_texts():
    mech, plane = four_bar()
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["C"]))
    model = system.linearize(start(plane, 1.0))
    assert "at rest, no equilibrium: '" in repr(model)
    assert "accelerates" in model.state_note
    told = (
        r"'four-bar' is at rest, no equilibrium: .* system\.linearize\(system\.equilibrium\(q\)\)"
    )
    with pytest.warns(mb.NoEquilibriumWarning, match=told) as warned:
        modes = model.modes()
    assert "mode  frequency [Hz]" in repr(modes)
    assert modes.warnings == (str(warned[0].message),)
    assert repr(modes).endswith(f"  warning: {modes.warnings[0]}")
    with pytest.raises(mb.UsageError, match="no equilibrium"):
        model.compliance()
    found = system.equilibrium(start(plane, 1.0))
    assert "1 positive, 0 zero, 0 negative" in repr(found)
    assert "A = " in repr(found)
    assert found.positions["A"] == found.q[0]
    everything = system.equilibrium(found.q, fixed=["A"])
    assert "cannot move" in repr(everything)
    assert everything.stability == "stable"


def test_what_cannot_move():
    mech = mb.Mechanism("drive", gravity=(0, 0, -9.81))
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.from_com(1.0, (0.5, 0, 0))))
    drive = mb.RevoluteJoint("drive", axis=(0, 1, 0)).prescribe(lambda t: t**2)
    mech.add_joint(drive, mech.world, arm)
    system = mech.assemble()
    for stable in (False, True):
        found = system.equilibrium(t=1.0, stable=stable)
        np.testing.assert_allclose(found.efforts["drive"], -0.5 * 9.81 * np.cos(1.0), rtol=1e-14)
        assert found.stability == "stable"
    push = ("arm.force", (0.5, 0, 0))
    model = system.linearize([0.0], inputs=[push], outputs=["drive.effort"], t=1.0)
    assert "prescribed joints accelerate" in repr(model)
    np.testing.assert_allclose(model.D, [[np.sin(1.0) / 2, 0.0, np.cos(1.0) / 2]], atol=1e-15)
    assert "nothing can move" in repr(model.modes())
    assert model.frequency_response(1.0).shape == (1, 3)


def test_loose_mechanism_has_no_compliance():
    with pytest.raises(mb.UsageError, match="no stiffness against motions of 'slide'"):
        slider().linearize([0.0]).compliance()


def test_singular_configurations():
    """A parallelogram in one line may go on in two ways: its small motions are no linear space."""
    system = assembled(parallelogram())
    flat = system.reference_configuration()
    with pytest.raises(mb.ConstraintError, match="2 freedoms here and 1 around it"):
        system.linearize(flat)
    bent = system.close_loops([0.1, 0.0, 0.0], fixed=["A"])
    assert len(system.linearize(bent).independent) == 1
    mech = parallelogram()
    mech.add_force(mb.JointSpring("spring", "A", stiffness=1.0))
    mech.add_force(mb.UniformField("no gravity", acceleration=(0, 0, 9.81)))
    found = assembled(mech).equilibrium()
    assert found.is_singular
    assert found.stability == "undecided"


def test_refusals():
    system = pendulum((1.0, 1.0)).assemble()
    for given, error, words in (
        ({"inputs": ["nothing"]}, mb.NameUnknownError, "nothing"),
        ({"inputs": ["world.force"]}, mb.UsageError, "the world cannot be moved"),
        ({"inputs": ["link0.speed"]}, mb.NameUnknownError, "'speed' is none of the quantities"),
        ({"inputs": ["link0"]}, mb.NameUnknownError, r"without a quantity, such as 'link0\.force'"),
        ({"outputs": "link0"}, mb.NameUnknownError, r"such as 'link0\.position'"),
        ({"outputs": ["link1.position"]}, mb.NameUnknownError, "link1"),
        ({"outputs": ["hinge0", "hinge0"]}, mb.UsageError, "twice"),
        ({"outputs": [("hinge0", (0, 0, 1))]}, mb.UsageError, "point"),
        ({"outputs": 3}, mb.UsageError, "names such as"),
        ({"tau": {"hinge1": 1.0}}, mb.NameUnknownError, "hinge1"),
        ({"independent": []}, mb.ConstraintError, "hinge0"),
    ):
        with pytest.raises(error, match=words):
            system.linearize([0.0], **given)
    model = system.linearize([0.0])
    for mode in (1, -2, "a", True, 0.0):
        with pytest.raises(
            mb.UsageError, match=r"mode must be an integer of 0 or more and below 1"
        ):
            model.modes().shape(mode)
    for omega in (np.nan, np.inf, [1.0, -np.inf]):
        with pytest.raises(mb.NotFiniteError, match="omega must be finite"):
            model.frequency_response(omega)
    rolling = mb.Mechanism("wheel")
    wheel = rolling.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.5)))
    rolling.add_joint(mb.FreeJoint("free"), rolling.world, wheel)
    rolling.add_constraint(mb.RollingSphere("contact", "world", "wheel", radius=0.5))
    with pytest.raises(mb.UsageError, match="'contact'"):
        rolling.assemble().equilibrium()
    mech, _ = four_bar()
    open_loops = mech.assemble(mb.RelativeCoordinates(loop_joints=["C"]))
    with pytest.raises(mb.ConstraintError, match="close_loops"):
        open_loops.linearize([1.0, 0.0, 0.0])


def test_modes_that_do_not_oscillate_are_told_by_their_rates():
    """A bob of 1 kg, 0.5 m above its hinge with a damper: s^2 + 6 s - 16 = 0."""
    mech = mb.Mechanism("rod", gravity=(0, 0, -8.0))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, 0.5))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    mech.add_force(mb.JointDamper("damper", "hinge", damping=1.5))
    system = mech.assemble()
    modes = system.linearize(system.equilibrium(), outputs="hinge").modes()
    assert np.allclose(sorted(modes.eigenvalues.real), [-8.0, 2.0])
    assert "exp(2 t)             -1" in repr(modes)
    assert "exp(-8 t)              1" in repr(modes)

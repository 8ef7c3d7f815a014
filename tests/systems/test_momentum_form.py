"""The momentum form: Hamilton's equations, and what runs in momenta conserve."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from mbkit.systems.forms.momentum_form import momenta_in_world, velocities_in_world
from tests.every_representation import REPRESENTATIONS
from tests.systems.every_joint import CARDAN, OWN_BALL, SKATE, behind
from tests.systems.test_derivatives import assert_close
from tests.trees import MAKERS, random_inertia, random_mechanism, random_pose, random_state

EXPLICIT = {
    "RKMK4": mb.RungeKuttaMuntheKaas(),
    "truncated": mb.RungeKuttaMuntheKaas(truncation=2),
    "adaptive": mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-9),
    "commutator free": mb.CommutatorFree(),
    "Crouch-Grossman": mb.CrouchGrossman(mb.tableaus.CROUCH_GROSSMAN4),
    "multistep": mb.MultistepMuntheKaas(4),
    "local": mb.LocalVectorSpace("DOP853"),
}


def change(system, of, q, v, vdot):
    """Return the rate of a function of the state along a motion, by differences."""
    rates = system.rates(q, v)
    return derivative(lambda e: of(system.retract(q, e * rates), v + e * vdot))


def check(system, rng, q):
    """v and the rates of p; and the same of the momenta that runs have."""
    form, nv = mb.MomentumForm(system), system.nv
    v, tau = rng.normal(size=nv), rng.normal(size=nv)
    p = system.mass_matrix(q) @ v
    found, pdot = form.canonical_forward_dynamics(q, p, tau, t=0.3)
    assert_close(found, v)
    forces = tau + system.generalized_forces(q, v, 0.3)
    vdot = np.linalg.solve(system.mass_matrix(q), forces - system.bias_force(q, v))
    assert_close(pdot, change(system, form.momenta, q, v, vdot))
    np.testing.assert_array_equal(form.velocities(q, p), found)
    assert_close(form.momenta(q, v), p)

    z = momenta_in_world(system.evaluator, q, p)
    assert_close(velocities_in_world(system.evaluator, q, z), v)


@pytest.mark.some(3)
@pytest.mark.parametrize("turned", [0.0, 1.0], ids=["as set", "turned round"])
@pytest.mark.parametrize("kind", MAKERS)
def test_every_joint_either_way_round(kind, turned):
    rng = np.random.default_rng(90)
    mech = random_mechanism(rng, 5, (kind, "revolute", kind), turned_round=turned, reach=2)
    system = mech.assemble(mb.RelativeCoordinates(body_frames="user" if turned else "joint"))
    check(system, rng, random_state(rng, system).q)


@pytest.mark.some(2)
@pytest.mark.parametrize("joint", [CARDAN, OWN_BALL, SKATE], ids=lambda j: j.name)
def test_joints_in_python_and_nonholonomic_ones(joint):
    rng = np.random.default_rng(91)
    system = behind(joint, rng, False)
    dx = 0.6 * rng.normal(size=system.ndx)
    check(system, rng, system.retract(system.reference_configuration(), dx))


def test_forces_of_the_system_act():
    rng = np.random.default_rng(92)
    mech = random_mechanism(rng, 4, ("spherical", "revolute"))
    mech.add_force(mb.SpringDamper("tie", "body0", "body3", stiffness=9.0, damping=0.4))
    hinge = next(n for n in mech.assemble().velocity_names if "[" not in n)
    mech.add_force(mb.ForceFunction("push", lambda t, q, v: t - q - v, joints=hinge))
    system = mech.assemble()
    check(system, rng, random_state(rng, system).q)


def test_batches_and_representations():
    rng = np.random.default_rng(93)
    mech = random_mechanism(rng, 6, ("spherical", "revolute", "planar"))
    system = mech.assemble()
    states = [random_state(rng, system) for _ in range(4)]
    q, p = np.array([s.q for s in states]), np.array([s.v for s in states])
    v, pdot = mb.MomentumForm(system).canonical_forward_dynamics(q, p, states[0].tau)
    assert v.shape == pdot.shape == (4, system.nv)
    for representation in REPRESENTATIONS:
        form = mb.MomentumForm(mech.assemble(mb.RelativeCoordinates(representation)))
        one = form.canonical_forward_dynamics(q[2], p[2], states[0].tau)
        np.testing.assert_array_equal(one, (v[2], pdot[2]))
    bad = p.copy()
    bad[1, 0] = np.nan
    v, pdot = form.canonical_forward_dynamics(q, bad, on_error="nan")
    assert np.isnan(v[1]).all()
    assert np.isnan(pdot[1]).all()
    assert np.isfinite(v[2]).all()
    with pytest.raises(mb.NotFiniteError, match=r"p\[0\] of joint 'joint\d' is nan"):
        form.canonical_forward_dynamics(q[1], bad[1])


# --------------------------------------------------------------------------------------- runs


def floating_tree(seed, gravity=(0.0, 0.0, 0.0)):
    """A tree of six bodies on a free joint, a state of it, and a force between two bodies."""
    rng = np.random.default_rng(seed)
    mech = random_mechanism(
        rng, 6, ("spherical", "revolute", "cylindrical"), floating=True, turned_round=0.0,
        gravity=gravity,
    )  # fmt: skip
    mech.add_force(mb.SpringDamper("tie", "body0", "body5", stiffness=9.0, damping=0.4))
    system = mech.assemble()
    state = random_state(rng, system)
    v = state.v.copy()
    # the centre of mass at rest: about a place that is r away momentum has r times the rounding
    line = np.array([system.momentum(state.q, e)[3:] for e in np.eye(system.nv)[3:6]]).T
    v[3:6] -= np.linalg.solve(line, system.momentum(state.q, v)[3:])
    return system, {"q": state.q, "v": v, "progress": False}


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", EXPLICIT)
def test_runs_agree_with_those_in_velocities(name):
    """States, energies and work, with forces and gravity, to the error of the method."""
    system, start = floating_tree(94, gravity=(0.0, 0.0, -9.81))

    def tau(t, q, v):
        return np.sin(t) - 0.2 * v

    options = {**start, "tau": tau, "integrator": EXPLICIT[name]}
    ours = mb.simulate(mb.MomentumForm(system), (0.0, 0.02), 5e-4, **options)
    theirs = mb.simulate(system, (0.0, 0.02), 5e-4, **options)
    assert ours.options["form"] == "momentum"
    assert "form" not in theirs.options
    for key in ("q", "v", "kinetic_energy", "dissipated_energy", "supplied_energy"):
        assert_close(getattr(ours, key), getattr(theirs, key), 2e-7)
    assert theirs.supplied_energy[-1] != 0.0
    assert ours.warnings == theirs.warnings == ()


def drift(system, run):
    """Return the largest change of the total momentum in the world, by its size."""
    momentum = system.momentum(run.q, run.v)
    return np.abs(momentum - momentum[0]).max() / np.abs(momentum[0]).max()


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["RKMK4", "commutator free", "adaptive", "multistep"])
def test_total_momentum_is_conserved_to_rounding(name):
    system, start = floating_tree(95)
    options = {**start, "integrator": EXPLICIT[name]}
    ours = mb.simulate(mb.MomentumForm(system), (0.0, 4.0), 0.01, **options)
    assert drift(system, ours) < 1e-13
    if name != "adaptive":
        assert drift(system, mb.simulate(system, (0.0, 4.0), 0.01, **options)) > 1e-8


@pytest.mark.slow
def test_free_fall_keeps_the_moment_about_the_centre_of_mass():
    """To rounding, with a step that is long; and the linear momentum is that of the fall."""
    g = np.array([0.0, 3.0, -9.81])
    system, start = floating_tree(95, gravity=g)
    run = mb.simulate(mb.MomentumForm(system), (0.0, 2.0), 0.02, **start)
    W, centre = system.momentum(run.q, run.v), system.centre_of_mass(run.q)
    mass = system.inertial_parameters.reshape(-1, 10)[:, 0].sum()
    moment = W[:, :3] - np.cross(centre, W[:, 3:])
    assert np.abs(moment - moment[0]).max() < 1e-13 * np.abs(W).max()
    assert_close(W[:, 3:], W[0, 3:] + mass * np.outer(run.t, g), 1e-13)


@pytest.mark.long
def test_total_momentum_is_conserved_over_many_steps():
    system, start = floating_tree(95)
    run, other = (
        mb.simulate(form, (0.0, 100.0), 1e-3, save_every=100, **start)
        for form in (mb.MomentumForm(system), system)
    )
    assert drift(system, run) < 1e-13 < 1e-12 < drift(system, other)


@pytest.mark.slow
def test_a_ball_joint_on_the_world_keeps_the_moment_about_its_centre():
    """Not at the origin of the world, and its body's frame elsewhere."""
    rng = np.random.default_rng(96)
    mech = random_mechanism(
        rng, 3, ("spherical", "spherical"), turned_round=0.0, gravity=(0, 0, 0), reach=1
    )
    system = mech.assemble(mb.RelativeCoordinates(body_frames="user"))
    state = random_state(rng, system)
    run = mb.simulate(
        mb.MomentumForm(system), (0.0, 2.0), 0.01, q=state.q, v=state.v, progress=False
    )
    W = system.momentum(run.q, run.v)
    # the centre: where the moment of the momentum is that about the ball, seen at two states
    z = momenta_in_world(system.evaluator, run.q, mb.MomentumForm(system).momenta(run.q, run.v))
    assert_close(z[:, :3], np.broadcast_to(z[0, :3], (len(z), 3)), 1e-13)
    arms = np.concatenate([skew(f) for f in W[:, 3:]])
    centre, rest, *_ = np.linalg.lstsq(arms, (z[:, :3] - W[:, :3]).ravel(), rcond=None)
    assert np.linalg.norm(centre) > 0.1
    assert rest < 1e-20


@pytest.mark.slow
@pytest.mark.parametrize("g", [0.0, 9.81], ids=["no gravity", "gravity"])
def test_a_planar_base_keeps_the_momentum_in_its_plane(g):
    """Arms in space on a misaligned plane, from which two forces and a moment are kept.

    Momentum along the plane but for the weight's, and its moment about the normal, under gravity
    about the centre of mass. In velocities the method errs.
    """
    rng = np.random.default_rng(98)
    gravity = g * np.array([0.6, 0.0, -0.8])
    kinds = ("planar", "spherical", "revolute", "cylindrical")
    mech = mb.Mechanism("walker in a plane", gravity=gravity)
    inner = mech.world
    for k, kind in enumerate(kinds):
        body = mech.add_body(mb.Body(f"b{k}", random_inertia(rng), pose=random_pose(rng)))
        mech.add_joint(MAKERS[kind](rng, kind), inner, body, reference=random_pose(rng))
        inner = body
    mech.add_force(mb.SpringDamper("tie", "b0", "b3", stiffness=9.0, damping=0.4))
    system = mech.assemble(mb.RelativeCoordinates(body_frames="user"))
    state = random_state(rng, system)
    n = system.jacobian("b0", state.q, representation=mb.Spatial())[:3, 0]  # of the turn
    start = {"q": state.q, "v": state.v, "progress": False}
    mass = system.inertial_parameters.reshape(-1, 10)[:, 0].sum()

    def change(form):
        run = mb.simulate(form, (0.0, 1.0), 0.02, **start)
        W = system.momentum(run.q, run.v)
        fall = mass * np.outer(run.t, gravity)
        along = (W[:, 3:] - W[0, 3:] - fall) @ (np.eye(3) - np.outer(n, n))
        arm = system.centre_of_mass(run.q) if g else 0.0 * W[:, :3]
        moment = (W[:, :3] - np.cross(arm, W[:, 3:])) @ n
        lost = np.abs(along).max(), np.abs(moment - moment[0]).max()
        return np.array(lost) / np.abs(W).max()

    assert change(mb.MomentumForm(system)).max() < 1e-13
    assert change(system).min() > 1e-9


def skew(x):
    """Return x~, the matrix of u -> x cross u."""
    return np.cross(x, np.eye(3)).T


@pytest.mark.slow
def test_rows_between_steps_and_few_rows():
    system, start = floating_tree(97)
    form = mb.MomentumForm(system)
    times = np.array([0.013, 0.05, 0.0777])
    run = mb.simulate(form, (0.0, 0.1), 0.01, save_at=times, **start)
    other = mb.simulate(system, (0.0, 0.1), 0.01, save_at=times, **start)
    assert_close(run.v, other.v, 1e-4)
    assert drift(system, run) < 1e-13
    few = mb.simulate(form, (0.0, 0.1), 0.01, save_every=10, **start)
    assert few.t.size == 2
    assert few.warnings == ()


@pytest.mark.slow
def test_events_see_velocities_and_change_them():
    """A body with an arm falls on a plane and bounces; the arm's turning points are recorded."""
    mech = mb.Mechanism("bouncing", gravity=(0.0, 0.0, -9.81))
    box = mb.SpatialInertia.box(1.0, size=(0.3, 0.2, 0.5))
    body, arm = (mech.add_body(mb.Body(name, box)) for name in ("body", "arm"))
    mech.add_joint(mb.FreeJoint("base"), mech.world, body)
    mech.add_joint(mb.RevoluteJoint("joint", point=(0.1, 0.0, 0.0)), body, arm)
    mech.add_force(mb.JointSpring("spring", "joint", stiffness=4.0))
    system = mech.assemble()
    events = [
        mb.Event(
            "floor", mb.PlaneDistance("body", normal=(0, 0, 1), offset=-0.5),
            direction="falling", reset=mb.Impact(restitution=0.7),
        ),
        mb.Event("turning point", mb.JointVelocity("joint")),
    ]  # fmt: skip
    ours, theirs = (
        mb.simulate(
            form, (0.0, 0.9), 1e-3, v=[0.3, 0.2, 0.1, 0.0, 0.4, 0.0, 1.0], events=events,
            progress=False,
        )
        for form in (mb.MomentumForm(system), system)
    )  # fmt: skip
    assert len(ours.events) > 3
    assert {*ours.events.names} == {"floor", "turning point"}
    for key in ("t", "q", "v", "q_after", "v_after"):
        assert_close(getattr(ours.events, key), getattr(theirs.events, key), 1e-8)
    assert_close(ours.v, theirs.v, 1e-8)
    assert_close(ours.dissipated_energy, theirs.dissipated_energy, 1e-8)


# ----------------------------------------------------------------------------------- refusals


def test_what_has_no_momentum_form_is_refused_by_name():
    with pytest.raises(mb.UsageError, match=r"needs an mbkit\.System, got 3"):
        mb.MomentumForm(3)
    mech = mb.Mechanism("driven")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("motor").prescribe(np.sin), mech.world, body)
    with pytest.raises(mb.UsageError, match="'driven' has 'motor'"):
        mb.MomentumForm(mech.assemble())
    with pytest.raises(mb.UsageError, match="is for trees"):
        mb.MomentumForm(mech.assemble(mb.AbsoluteCoordinates()))


def test_what_a_run_in_momenta_has_not_is_refused_by_name(tmp_path):
    system, start = floating_tree(99)
    form = mb.MomentumForm(system)
    for words, options in (
        ("GeneralizedAlpha does not take the momentum form", {"integrator": mb.GeneralizedAlpha()}),
        ("BLieDF does not take", {"integrator": mb.BLieDF()}),
        ("output is for runs", {"output": tmp_path / "run"}),
    ):
        with pytest.raises(mb.UsageError, match=words):
            mb.simulate(form, (0.0, 0.1), 0.01, **{**start, **options})
    with pytest.raises(mb.NotFiniteError, match="The simulation stopped at t = "):
        mb.simulate(form, (0.0, 100.0), 10.0, tau=lambda t, q, v: 1e200 * v, **start)

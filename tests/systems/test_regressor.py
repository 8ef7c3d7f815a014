"""The regressor of inertial parameters, and base parameters, against inverse dynamics and SVD."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from tests.constraints.loops import closed, random_loops
from tests.systems.every_joint import (
    CARDAN,
    ELLIPSE,
    SKATE,
    behind,
    each_kind_in_all_frames,
    with_kind_in_the_middle,
)
from tests.systems.test_derivatives import assert_close
from tests.systems.test_mass_factor import ancestors
from tests.trees import MAKERS, random_inertia, random_mechanism, random_pose, random_state

EXACT = 1e-12


def check(system, state):
    """Y pi is what inverse dynamics has."""
    Y = system.inertial_regressor(state.q, state.v, state.vdot)
    assert Y.shape == (system.nv, len(system.inertial_parameter_names))
    expected = system.inverse_dynamics(state.q, state.v, state.vdot)
    assert_close(Y @ system.inertial_parameters, expected, EXACT)


def with_inertias(mech, rng):
    """Return the mechanism with other inertias, any that bodies may have."""
    bodies = {n: attrs.evolve(b, inertia=random_inertia(rng)) for n, b in mech.bodies.items()}
    other = mb.Mechanism(mech.name, gravity=mech.gravity)
    for body in bodies.values():
        other.add_body(body)
    for edge in mech.joints.values():
        other.add_joint(
            edge.joint, edge.predecessor, edge.successor, frames=(edge.S_pred, edge.S_succ)
        )
    return other


@each_kind_in_all_frames
@pytest.mark.some(3)
def test_every_joint_either_way_round_in_all_frames(kind, frames, turned):
    check(*with_kind_in_the_middle(np.random.default_rng(80), kind, frames, turned))


def test_it_does_not_depend_on_the_inertias():
    """Linearity: the same matrix serves bodies of any inertia."""
    rng = np.random.default_rng(81)
    mech = random_mechanism(rng, 26)
    system = mech.assemble()
    s = random_state(rng, system)
    Y = system.inertial_regressor(s.q, s.v, s.vdot)
    for _ in range(3):
        other = with_inertias(mech, rng).assemble()
        np.testing.assert_allclose(other.inertial_regressor(s.q, s.v, s.vdot), Y, atol=1e-11)
        expected = other.inverse_dynamics(s.q, s.v, s.vdot)
        assert_close(Y @ other.inertial_parameters, expected, 1e-11)


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "joint",
    [CARDAN, ELLIPSE, SKATE],
    ids=lambda joint: joint.name,
)
@pytest.mark.parametrize("turned", [False, True])
def test_joints_of_one_s_own(joint, turned):
    rng = np.random.default_rng(82)
    system = behind(joint, rng, turned)
    q = system.retract(system.reference_configuration(), 0.6 * rng.normal(size=system.ndx))
    v, vdot = rng.normal(size=(2, system.nv))
    Y = system.inertial_regressor(q, v, vdot)
    assert_close(Y @ system.inertial_parameters, system.inverse_dynamics(q, v, vdot), EXACT)


def test_columns_of_bodies_that_a_joint_does_not_carry():
    """Rows and blocks of columns follow the tree; a body that is fixed to the world has none."""
    rng = np.random.default_rng(83)
    mech = random_mechanism(rng, 12)
    post = mech.add_body(mb.Body("post", random_inertia(rng)))
    mech.add_joint(mb.FixedJoint("foot"), mech.world, post, reference=random_pose(rng))
    system = mech.assemble()
    s = random_state(rng, system)
    check(system, s)
    Y = system.inertial_regressor(s.q, s.v, s.vdot).reshape(system.nv, -1, 10)
    np.testing.assert_array_equal(Y[:, system.body_names.index("post") - 1], 0.0)
    inward = ancestors(mech, system)  # velocity by velocity
    topology = mech.topology()
    for body, joint in zip(topology.bodies[1:], topology.joint_of_body[1:], strict=True):
        own = system.velocity_slice(joint)
        if own.stop > own.start:
            apart = ~(inward | inward.T)[own.start].copy()
            apart[own] = False
            beyond = Y[apart][:, system.body_names.index(body) - 1]
            np.testing.assert_array_equal(beyond, 0.0)


def test_absolute_coordinates_closed_mechanisms_and_representations():
    mech, _, loops = random_loops(np.random.default_rng(84), 4, ("revolute", "spherical"))
    rng = np.random.default_rng(85)
    for system in (
        closed(mech, loops),
        mech.assemble(mb.AbsoluteCoordinates()),
        mech.assemble(mb.RelativeCoordinates(mb.Hybrid())),
    ):
        check(system, random_state(rng, system))


def test_many_samples_at_once():
    rng = np.random.default_rng(86)
    system = random_mechanism(rng, 8).assemble()
    states = [random_state(rng, system) for _ in range(6)]
    q = np.array([s.q for s in states]).reshape(2, 3, -1)
    v, vdot = states[0].v, np.array([s.vdot for s in states[:3]])
    found = system.inertial_regressor(q, v, vdot)
    for i, j in np.ndindex(2, 3):
        alone = system.inertial_regressor(q[i, j], v, vdot[j])
        np.testing.assert_array_equal(found[i, j], alone)
    out = np.empty_like(alone)
    assert system.inertial_regressor(q[1, 2], v, vdot[2], out=out) is out
    np.testing.assert_array_equal(out, alone)
    with pytest.raises(mb.ShapeError, match="'out'"):
        system.inertial_regressor(q[1, 2], v, vdot[2], out=out[:, 1:])
    with pytest.raises(mb.ShapeError, match="'vdot'"):
        system.inertial_regressor(q[1, 2], v, vdot[2][1:])


# ------------------------------------------------------------------------------- base parameters


def stacked(system, rng, count=40):
    """Return the regressors of random states, one below the other."""
    states = [random_state(rng, system) for _ in range(count)]
    rows = [system.inertial_regressor(s.q, s.v, s.vdot) for s in states]
    return np.concatenate(rows)


def check_base(system, rng):
    """As many as the rank, which an SVD tells, and nothing is lost."""
    base = system.base_parameters()
    W = stacked(system, rng)
    sizes = np.linalg.norm(W, axis=0)
    singular = np.linalg.svd(W / np.where(sizes > 0.0, sizes, 1.0), compute_uv=False)
    assert len(base.names) == (singular > 1e-9 * singular[0]).sum()
    assert_close(W[:, base.independent] @ base.combinations, W, 1e-9)
    unseen = [system.inertial_parameter_names.index(name) for name in base.without_effect]
    assert np.abs(W[:, unseen]).max(initial=0.0) < 1e-12 * sizes.max()
    np.testing.assert_array_equal(
        base.combinations[:, base.independent], np.eye(len(base.independent))
    )
    return base


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind != "fixed"])
def test_base_parameters_of_every_joint(kind):
    rng = np.random.default_rng(87)
    system = random_mechanism(rng, 3, (kind, "revolute"), reach=1).assemble()
    check_base(system, rng)


@pytest.mark.long
def test_base_parameters_of_trees():
    rng = np.random.default_rng(88)
    system = random_mechanism(rng, 10).assemble()
    check_base(system, rng)


def arm(axes, *, gravity=(0.0, 0.0, -9.81), root=None):
    """Return a chain of bodies, 1 m apart along x, by the axes of revolute joints."""
    rng = np.random.default_rng(89)
    mech = mb.Mechanism("arm", gravity=gravity)
    inner, reference = mech.world, np.eye(4)
    if root is not None:
        inner = mech.add_body(mb.Body("base", random_inertia(rng)))
        mech.add_joint(root, mech.world, inner)
    for k, axis in enumerate(axes):
        body = mech.add_body(mb.Body(f"link{k + 1}", random_inertia(rng)))
        mech.add_joint(mb.RevoluteJoint(f"joint{k + 1}", axis), inner, body, reference=reference)
        reference = np.eye(4)
        reference[0, 3] = 1.0
        inner = body
    return mech.assemble()


def test_two_links_in_a_vertical_plane():
    """Known: the mass of the second acts at the elbow, as part of the first."""
    base = check_base(arm([(0, 1, 0)] * 2), np.random.default_rng(90))
    assert base.names == (
        "link1.first_moment[x] + link2.mass",
        "link1.first_moment[z]",
        "link1.moment_about_origin[yy] + link2.mass",
        "link2.first_moment[x]",
        "link2.first_moment[z]",
        "link2.moment_about_origin[yy]",
    )
    assert "link1.mass" in base.without_effect


def test_numbers_that_are_known():
    """Without gravity a plane arm has three a link, but one for the first; floating, ten a body.

    Ten of a free base, and seven of each body beyond a revolute joint.
    """
    rng = np.random.default_rng(91)
    assert len(check_base(arm([(0, 1, 0)] * 3, gravity=(0, 0, 0)), rng).names) == 7
    floating = arm([(0, 1, 0), (0, 0, 1)], root=mb.FreeJoint("root"))
    assert len(check_base(floating, rng).names) == 10 + 7 + 7


def test_of_a_motion_that_shows_less():
    """A hinge that stands still shows the weight alone."""
    system = arm([(0, 1, 0)])
    q = np.linspace(0.0, 1.0, 5)[:, None]
    base = system.base_parameters(q, np.zeros((5, 1)), np.zeros((5, 1)))
    assert base.names == ("link1.first_moment[x]", "link1.first_moment[z]")
    with pytest.raises(mb.UsageError, match="all of q, v and vdot"):
        system.base_parameters(q)


def test_parameters_of_an_inertia():
    rng = np.random.default_rng(92)
    inertia = random_inertia(rng)
    m, *h = inertia.parameters[:4]
    M = inertia.matrix()
    assert m == inertia.mass
    np.testing.assert_array_equal(h, inertia.first_moment)
    upper = M[:3, :3][np.triu_indices(3)]
    np.testing.assert_allclose(inertia.parameters[4:], upper, rtol=0.0, atol=1e-15)
    again = mb.SpatialInertia.from_parameters(inertia.parameters)
    np.testing.assert_allclose(again.matrix(), M, rtol=0.0, atol=1e-14)
    assert mb.SpatialInertia.from_parameters(np.zeros(10)) == mb.SpatialInertia.zero()
    with pytest.raises(mb.InertiaError, match="first moment"):
        mb.SpatialInertia.from_parameters([0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    with pytest.raises(mb.MbkitError, match=r"\(10,\)"):
        mb.SpatialInertia.from_parameters(np.zeros(9))


def test_nothing_moves():
    """A system without joints, and one at rest without gravity, have no base parameters."""
    empty = mb.Mechanism("nothing").assemble()
    assert empty.base_parameters().names == ()
    assert empty.inertial_parameters.shape == (0,)
    system = arm([(0, 1, 0)], gravity=(0, 0, 0))
    base = system.base_parameters([0.3], [0.0], [0.0])
    assert base.names == ()
    assert base.combinations.shape == (0, 10)
    assert base.without_effect == system.inertial_parameter_names


def test_motions_that_are_not_finite():
    with pytest.raises(mb.NotFiniteError, match="not finite"):
        arm([(0, 1, 0)]).base_parameters([0.3], [np.nan], [0.0])

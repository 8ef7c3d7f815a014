"""Thin rods and point masses in absolute coordinates: moments that neighbours lend them."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import n_four_bar
from tests.closed_loops.mechanisms import BY_NAME
from tests.constraints.loops import consistent
from tests.coordinates.same_mechanism import check_same
from tests.trees import random_inertia, random_state

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")


def thin_rods(rng):
    """Return rods without a moment about their own axes, on hinges about skew axes."""
    mech = mb.Mechanism("thin")
    before = mech.world
    for k in range(3):
        inertia = mb.SpatialInertia.from_com(1.0, rng.normal(size=3), np.diag([0.0, 0.1, 0.1]))
        if k == 1:  # a neighbour with moments about all axes
            inertia = random_inertia(rng)
        body = mech.add_body(mb.Body(f"rod{k}", inertia))
        axis = (0.0, 1.0, 0.3 * k)
        joint = mb.RevoluteJoint(f"hinge{k}", axis, rng.normal(size=3))
        if k == 1:
            joint = mb.CylindricalJoint(f"hinge{k}", axis, rng.normal(size=3))
        ends = (before, body) if k != 2 else (body, before)
        mech.add_joint(joint, *ends, frames=(np.eye(4), np.eye(4)))
        before = body
    return mech


def test_thin_rods_borrow_moments_and_move_the_same():
    """Also with what joints pass on, which is unique here."""
    rng = np.random.default_rng(11)
    mech = thin_rods(rng)
    relative, absolute = mech.assemble(), mech.assemble(mb.AbsoluteCoordinates())
    assert {*absolute.inertia_transfers} == {"hinge0", "hinge1", "hinge2"}
    check_same(relative, absolute, rng.normal(size=4), rng.normal(size=4))
    kept = mech.assemble(mb.AbsoluteCoordinates(joints=["hinge2", "hinge0"]))
    check_same(relative, kept, rng.normal(size=4), rng.normal(size=4))


def thin_on_a_small_body(joint, moments=(0.0, 0.1, 0.1)):
    """Return a body on a hinge, and on it another one with larger moments, but none about x."""
    mech = mb.Mechanism("thin", gravity=(0, -9.81, 0))
    thin = mb.SpatialInertia.from_com(1.0, (0.2, 0, 0), np.diag(moments))
    mech.add_body(mb.Body("small", mb.SpatialInertia.sphere(2.0, radius=0.3)))
    mech.add_body(mb.Body("thin", thin, mb.spatial.translation((0.5, 0.2, 0))))
    mech.add_joint(mb.RevoluteJoint("hinge", (0, 0, 1), (0.1, -0.2, 0)), "world", "small")
    mech.add_joint(joint, "small", "thin")
    return mech


@pytest.mark.parametrize(
    "joint", [mb.CylindricalJoint("slide", (1, 1, 0)), mb.TranslationalJoint("slide")], ids=repr
)
def test_no_more_is_lent_than_a_lender_has(joint):
    """About the hinge the small body can have nothing from the ground."""
    mech = thin_on_a_small_body(joint)
    relative, absolute = mech.assemble(), mech.assemble(mb.AbsoluteCoordinates())
    assert 0.0 < absolute.inertia_transfers["slide"].amount < 0.4 * 2.0 * 0.3**2
    rng = np.random.default_rng(3)
    check_same(relative, absolute, rng.normal(size=relative.nv), rng.normal(size=relative.nv))


def test_a_rod_may_become_thin_by_other_numbers():
    """What it lacks is then transferred to it, as to one that is thin from the beginning."""
    joint = mb.CylindricalJoint("slide", (1, 1, 0))
    relative = thin_on_a_small_body(joint, (0.1, 0.1, 0.1)).assemble()
    mech = thin_on_a_small_body(joint, (0.1, 0.1, 0.1))
    absolute = mech.assemble(mb.AbsoluteCoordinates())
    assert not absolute.inertia_transfers
    thin = {"bodies.thin.moment_about_com": np.diag([0.0, 0.1, 0.1])}
    state = np.random.default_rng(3).normal(size=(2, relative.nv))
    check_same(relative.with_parameters(thin), absolute.with_parameters(thin), *state)
    assert {*absolute.with_parameters(thin).inertia_transfers} == {"slide", "hinge"}


def test_points_that_are_welded_in_a_triangle_lack_nothing():
    """Each by itself has no moment; the moments of all follow from where they are."""
    mech = mb.Mechanism("points", gravity=(0.3, 0.0, -9.81))
    places = np.random.default_rng(5).normal(size=(3, 3))
    point = mb.SpatialInertia.from_com(1.5, (0.0, 0.0, 0.0))
    for k, place in enumerate(places):
        mech.add_body(mb.Body(f"point{k}", point, mb.spatial.translation(place)))
    mech.add_joint(mb.SphericalJoint("ball", point=(0.4, 0.2, -0.1)), "world", "point0")
    mech.add_joint(mb.FixedJoint("weld1"), "point0", "point1")
    mech.add_joint(mb.FixedJoint("weld2"), "point1", "point2")
    relative, absolute = mech.assemble(), mech.assemble(mb.AbsoluteCoordinates())
    assert not absolute.inertia_transfers
    state = random_state(np.random.default_rng(6), relative)
    check_same(relative, absolute, state.q, state.v)


def test_a_lender_with_next_to_nothing_is_named():
    """With its own moments, and not as one that has none."""
    mech = thin_on_a_small_body(mb.TranslationalJoint("slide"), (0.0, 1e3, 1e3))
    with pytest.raises(
        mb.InertiaError, match=r"'small' would have to transfer.*are 0.072, 0.072, 0.07"
    ):
        mech.assemble(mb.AbsoluteCoordinates())


@pytest.mark.long
def test_a_row_of_thin_rods_moves_the_same():
    """The rods lend each other what the ground lends them."""
    mech = n_four_bar.build(3)
    relative = BY_NAME["3-four-bar"].system()
    absolute = mech.assemble(mb.AbsoluteCoordinates())
    assert len(absolute.inertia_transfers) == 7
    v = consistent(relative, np.zeros(relative.nv), np.ones(relative.nv))
    check_same(relative, absolute, relative.reference_configuration(), v)


def gantry(*slides):
    """Return point masses, one after another on slides."""
    mech = mb.Mechanism("gantry", gravity=(0.3, 0.0, -9.81))
    before = mech.world
    for k, joint in enumerate(slides):
        inertia = mb.SpatialInertia.from_com(1.0 + k, (0.1 * k, 0.2, -0.3))
        body = mech.add_body(mb.Body(f"mass{k}", inertia))
        mech.add_joint(joint, before, body)
        before = body
    return mech


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "slides",
    [
        (mb.PrismaticJoint("a", (1, 0, 0)), mb.PrismaticJoint("b", (0, 0.6, 0.8))),
        (mb.TranslationalJoint("a"), mb.PrismaticJoint("b", (1, 1, 0))),
    ],
    ids=["gantry", "translational"],
)
@pytest.mark.parametrize("joints", [(), ("b",), ("a", "b")], ids=["cut", "outer", "all"])
def test_point_masses_that_do_not_turn_move_the_same(slides, joints):
    """Slides let the world lend moments about all axes; what is kept has a share of them."""
    mech = gantry(*slides)
    mech.add_force(mb.JointSpring("spring", "b", 3.0))
    relative, absolute = mech.assemble(), mech.assemble(mb.AbsoluteCoordinates(joints=joints))
    rng = np.random.default_rng(3)
    check_same(relative, absolute, rng.normal(size=relative.nv), rng.normal(size=relative.nv))


def test_a_point_mass_on_a_slide_of_an_arm_moves_the_same():
    """It turns with the arm, whose moments it borrows."""
    mech = mb.Mechanism("arm", gravity=(0, -9.81, 0))
    mech.add_body(mb.Body("arm", mb.SpatialInertia.sphere(2.0, radius=0.3)))
    mech.add_body(mb.Body("bead", mb.SpatialInertia.from_com(0.1, (0.5, 0, 0))))
    mech.add_joint(mb.RevoluteJoint("hinge", (0, 0, 1), (0.1, 0, 0)), "world", "arm")
    mech.add_joint(mb.PrismaticJoint("slide", (1, 0, 0)), "arm", "bead")
    relative, absolute = mech.assemble(), mech.assemble(mb.AbsoluteCoordinates())
    check_same(relative, absolute, np.array([0.4, -0.2]), np.array([2.0, 1.0]))

"""Branch tips without inertia are refused, and nothing else is."""

import numpy as np
import pytest

import mbkit as mb
from mbkit import SpatialInertia
from mbkit.model import check_inertias
from mbkit.spatial import rotation, translation

C = translation((0.3, -0.8, 0.4)) @ rotation((1, -2, 0.5), 2.1)
BALL = SpatialInertia.sphere(2.0, radius=0.1)


def chain(*links, frames=(C, C), **options):
    """Bodies in a row from the world: pairs of a joint and an inertia."""
    mech = mb.Mechanism("chain")
    last = mech.world
    for k, (joint, inertia) in enumerate(links):
        body = mech.add_body(mb.Body(f"b{k}", inertia))
        mech.add_joint(joint, last, body, frames=frames, **options)
        last = body
    return mech


def check(mech):
    check_inertias(mech, mech.topology())


R = mb.RevoluteJoint
NONE = SpatialInertia.zero()


@pytest.mark.parametrize(
    "links",
    [
        [(R("0"), BALL), (R("1"), BALL)],
        [(R("0"), NONE), (R("1", axis=(1, 0, 0)), BALL)],  # a universal joint of two
        [(R("0"), BALL), (mb.FixedJoint("1"), NONE)],
        [(R("0"), NONE), (mb.FixedJoint("1"), BALL)],
        [(mb.FixedJoint("0"), NONE)],  # nothing moves
        [(mb.FreeJoint("0"), BALL)],
        [(mb.PrismaticJoint("0"), SpatialInertia.from_com(1.0, (0, 0, 0)))],  # a point mass slides
        [(R("0"), SpatialInertia.from_com(1.0, (0.1, 0, 0)))],  # or turns with an arm
        [(mb.SphericalJoint("0"), SpatialInertia.cylinder(1.0, radius=1e-3, length=1.0))],
    ],
)
@pytest.mark.parametrize("frames", [(C, C), (np.eye(4), np.eye(4))])
def test_good_mechanisms_pass(links, frames):
    """Misaligned frames or not; massless bodies inside a branch are fine."""
    check(chain(*links, frames=frames))


@pytest.mark.parametrize(
    ("links", "message"),
    [
        (
            [(R("0"), BALL), (R("1"), NONE)],
            "Joint '1' moves body 'b1', which has no inertia; give it mass, or hold it by an",
        ),
        (
            [(R("0"), NONE), (R("1"), NONE), (mb.FixedJoint("2"), NONE)],
            "Joint '0' moves bodies 'b0', 'b1', 'b2', which have no inertia; give one of them mass",
        ),
        (
            [(mb.FixedJoint("0"), BALL), (R("1"), NONE)],
            "Joint '1' moves body 'b1', which has no inertia",
        ),
    ],
)
def test_subtrees_without_inertia_are_named(links, message):
    """The joint nearest to the world that moves nothing, with all beyond it."""
    with pytest.raises(mb.InertiaError, match=message):
        check(chain(*links))


# In the body's frame the joint frame is C: a point mass there, or on the joint's z axis.
ON_CENTRE = SpatialInertia.from_com(1.0, C[:3, 3])
ON_AXIS = SpatialInertia.from_com(1.0, C[:3, 3] + 0.7 * C[:3, 2])


@pytest.mark.parametrize(
    ("joint", "inertia"),
    [
        (R("tip"), ON_CENTRE),
        (R("tip"), ON_AXIS),
        (R("tip"), ON_CENTRE + ON_AXIS),
        (mb.SphericalJoint("tip"), ON_CENTRE),
        (mb.SphericalJoint("tip"), ON_AXIS),
        (mb.SphericalJoint("tip"), ON_AXIS + ON_CENTRE),  # a rod without thickness
        (mb.FreeJoint("tip"), ON_AXIS),
        (mb.FreeJoint("tip"), ON_AXIS + ON_CENTRE),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_tips_that_turn_without_inertia_are_named(joint, inertia, turned):
    """Mass there is, but not against this motion; also where the tree goes against the joint."""
    mech = mb.Mechanism("m")
    arm, tip = mech.add_body(mb.Body("arm", BALL)), mech.add_body(mb.Body("tip", inertia))
    mech.add_joint(R("base"), mech.world, arm)
    elsewhere = translation((1.0, 2.0, -0.7)) @ C @ C
    if turned:
        mech.add_joint(joint, tip, arm, frames=(C, elsewhere))
    else:
        mech.add_joint(joint, arm, tip, frames=(elsewhere, C))
    message = "Joint 'tip' allows a motion of body 'tip', at the end of its branch, which has no"
    with pytest.raises(mb.InertiaError, match=message):
        check(mech)


def test_bodies_fixed_together_are_one_tip():
    """A mass off the axis, held by a fixed joint, is enough; one on the axis is not."""
    for offset, fails in ((0.2, False), (0.0, True)):
        mech = mb.Mechanism("m")
        hub, mass = (
            mb.Body("hub", ON_CENTRE),
            mb.Body("mass", SpatialInertia.from_com(1.0, (0, 0, 0))),
        )
        mech.add_body(hub)
        mech.add_body(mass)
        mech.add_joint(R("axle"), mech.world, hub, frames=(C, C))
        mech.add_joint(mb.FixedJoint("weld"), mass, hub, frames=(translation((offset, 0, 0)), C))
        if fails:
            with pytest.raises(mb.InertiaError, match=r"bodies 'hub', 'mass', .* have no inertia"):
                check(mech)
        else:
            check(mech)


def test_assembly_checks():
    """Inertias are looked at before any equation is made."""
    mech = chain((R("0"), NONE))
    with pytest.raises(mb.InertiaError, match="Joint '0' moves body 'b0'"):
        mech.assemble()


def test_a_loop_may_be_cut_where_no_tip_is_without_inertia():
    """The message says that another cut helps, which it does."""
    mech = chain((R("0"), BALL), (R("1"), NONE))
    mech.add_joint(R("back"), "b1", mech.world)
    cut = mech.topology().loop_joints[0]
    remedy = (
        f"by an mbkit.FixedJoint, or cut another joint of the loop than '{cut}', by loop_joints"
    )
    with pytest.raises(mb.InertiaError, match=remedy):
        check_inertias(mech, mech.topology())
    check_inertias(mech, mech.topology(["0"]))


def test_assembly_refuses_loose_bodies():
    """Bodies without connection are named."""
    loose = chain((R("0"), BALL))
    loose.add_body(mb.Body("loose"))
    with pytest.raises(mb.TopologyError, match="Body 'loose' must be connected to the world"):
        loose.assemble()

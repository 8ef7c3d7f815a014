"""Diagnosis of constraints: mobility here and around, redundant rows, unique reactions."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.diagnosis.reactions import row_loads
from mbkit.diagnosis.screws import algebra, loop_joints
from tests.constraints import closed_mechanisms as mechanisms
from tests.constraints.closed_mechanisms import assembled, cycle, four_bar, hinge, rod
from tests.constraints.loops import LOOP_KINDS, closed, random_loops


def rank(matrix):
    return np.linalg.matrix_rank(matrix, tol=1e-7) if matrix.size else 0


def check(diagnosis, *, rows, rank, mobility, generic, redundant):
    assert diagnosis.num_rows == rows
    assert diagnosis.rank == rank
    assert diagnosis.mobility == mobility
    assert diagnosis.generic_mobility == generic
    assert len(diagnosis.redundant) == redundant
    assert len(diagnosis.independent) == rows - redundant
    assert not set(diagnosis.redundant) & set(diagnosis.independent)
    assert diagnosis.gruebler_count == diagnosis.num_velocities - rows
    kept = diagnosis.singular_values > diagnosis.tolerance
    assert kept.sum() == rank


# ------------------------------------------------------------------------- known mechanisms

#: By time: joint angles and the place of the third joint, of a solution in minimal coordinates.
BRICARD = {
    "0.1": (
        [0.009806230711887394, -0.00971100088524332, 0.009806230711886084, -0.009711000885242859,
         0.009806230711888481],
        [0.9902415379535713, -0.9999528486014505, -0.00971084825571285],
    ),
    "0.5": (
        [0.25252884052494906, -0.20126214560932182, 0.25252884052480784, -0.2012621456092399,
         0.25252884052495206],
        [0.7747178080392403, -0.9798150476556661, -0.19990615895335911],
    ),
    "1.0": (
        [1.0350284595178048, -0.4806211041771119, 1.0350284595177897, -0.4806211041770818,
         1.0350284595177857],
        [0.27448131926477504, -0.8867079387347057, -0.4623300026873609],
    ),
}  # fmt: skip


@pytest.mark.some(4)
@pytest.mark.parametrize("cut", "ABCD")
@pytest.mark.parametrize("axis", [(0, 1, 0), (0.48, 0.6, 0.64)])
def test_a_four_bar_of_spatial_hinges(cut, axis):
    """The count says -2, the mechanism moves: three rows are redundant because it is planar."""
    axis = np.array(axis)
    across = np.linalg.svd(axis[None])[2][1:]
    points = [xy @ across for xy in np.array([(0, 0), (0, 0.3), (0.8, 0.5), (0.9, 0)])]
    found = assembled(four_bar(*points, axis=axis), cut).diagnose()
    check(found, rows=5, rank=2, mobility=1, generic=1, redundant=3)
    assert not found.is_singular
    assert found.gruebler_count == -2
    (loop,) = found.loops
    assert (loop.span, loop.dimension, loop.motions) == (3, 3, "planar motions")
    assert set(loop.joints) == set("ABCD")
    assert found.structural_redundancy == 3
    assert all(name.startswith(f"{cut}[") for name in found.redundant)
    # internal stress: moments across the axis and force along it, in every joint
    assert found.unique_reactions == ()
    for each in found.reactions:
        W = each.wrenches
        assert rank(W) == 3
        assert np.abs(W[:, :3] @ axis).max() < 1e-9
        assert np.abs(np.cross(W[:, 3:], axis)).max() < 1e-9


def test_a_parallelogram_at_its_change_point():
    """Stretched it has two velocities, on either branch one; folded it is regular."""
    system = assembled(mechanisms.parallelogram())
    found = system.diagnose()
    check(found, rows=5, rank=1, mobility=2, generic=1, redundant=3)
    assert found.is_singular
    assert [branch.mobility for branch in found.branches] == [1, 1]
    # of one branch coupler and ground stay parallel, of the other they cross
    turns = sorted(abs(np.sum(branch.q[:2])) for branch in found.branches)
    assert turns[0] < 1e-9 < 0.01 < turns[1]
    for branch in found.branches:
        assert np.abs(system.constraint_residual(branch.q)).max() < 1e-10
    assert "2 branches meet here" in str(found)
    folded = system.diagnose([0.5, -0.5, 0.5])
    check(folded, rows=5, rank=2, mobility=1, generic=1, redundant=3)
    assert not folded.is_singular


@pytest.mark.some(2)
@pytest.mark.parametrize("theta", [0.0, 0.4, -0.3, 1.2])
def test_bricard_is_redundant_everywhere(theta):
    """Its rank is 4 of 5 in every configuration, and no structure says so: d = 6."""
    system = assembled(mechanisms.bricard())
    found = system.diagnose(mechanisms.bricard_angles(theta))
    check(found, rows=5, rank=4, mobility=1, generic=1, redundant=1)
    assert not found.is_singular
    assert (found.loops[0].span, found.loops[0].dimension) == (5, 6)
    assert found.structural_redundancy == 0


@pytest.mark.parametrize("sample", BRICARD)
def test_bricard_of_the_reference(sample):
    """The geometry is that of IFToMM A04: its samples are closed, and P3 is where it is there."""
    angles, P3 = map(np.array, BRICARD[sample])
    system = assembled(mechanisms.bricard())
    assert np.abs(system.constraint_residual(angles)).max() < 1e-11
    assert np.abs((system.poses(angles)[2] @ (1.0, -1.0, 0.0, 1.0))[:3] - P3).max() < 1e-11


def test_sarrus_linkage():
    """Two planar chains across each other leave a straight line: one row is redundant, d = 6."""
    system = assembled(mechanisms.sarrus())
    found = system.diagnose()
    check(found, rows=5, rank=4, mobility=1, generic=1, redundant=1)
    assert (found.loops[0].span, found.loops[0].dimension) == (5, 6)
    # the platform, carried by three of the hinges, moves along z alone
    assert system.tree.joints[3] == "J2"
    branch = found.branches[0].q
    shift = system.poses(branch)[3] - system.poses(found.q)[3]
    assert np.abs(np.delete(shift.reshape(-1), 11)).max() < 1e-9 < 1e-3 < abs(shift[2, 3])
    # what the other hinges have in common cannot be loaded from outside: a moment about z
    for each in found.reactions:
        assert each.undetermined == ("moment about (0, 0, 1)",)


@pytest.mark.parametrize("theta", [0.4, 0.9, 2.0])
def test_bennett_linkage(theta):
    """Four screws of rank 3 that generate all motions: three rows are redundant by measures."""
    found = assembled(mechanisms.bennett(theta=theta)).diagnose()
    check(found, rows=5, rank=2, mobility=1, generic=1, redundant=3)
    assert not found.is_singular
    assert (found.loops[0].span, found.loops[0].dimension) == (3, 6)
    assert found.structural_redundancy == 0


def test_bennett_linkage_of_wrong_measures_is_a_structure():
    """With other lengths the same screws have rank 4, and nothing moves."""
    mech = mechanisms.bennett()
    joints = [mech.joints[name].joint for name in mech.joints]
    points = [np.array(joint.point) for joint in joints]
    points[2] = points[2] + (0.05, -0.03, 0.08)
    changed = [hinge(j.name, p, j.axis) for j, p in zip(joints, points, strict=True)]
    found = assembled(cycle("loose", points, changed)).diagnose()
    assert (found.mobility, found.generic_mobility, found.branches) == (0, 0, ())
    assert not found.is_singular


def test_slider_crank_at_its_dead_centre():
    """The crank moves on, which is a regular posture of the constraints."""
    found = assembled(mechanisms.slider_crank()).diagnose()
    check(found, rows=5, rank=2, mobility=1, generic=1, redundant=3)
    assert not found.is_singular
    equal = assembled(mechanisms.slider_crank(0.5, 0.5)).diagnose([np.pi / 2, np.pi, -1.5 * np.pi])
    # of equal lengths, folded: the slider may stay in the middle while both turn
    assert equal.is_singular
    assert (equal.mobility, equal.generic_mobility, len(equal.branches)) == (2, 1, 2)


def test_a_platform_is_properly_constrained():
    found = assembled(mechanisms.stewart(), *(f"top {k}" for k in range(1, 6))).diagnose()
    check(found, rows=15, rank=15, mobility=6, generic=6, redundant=0)
    assert [loop.num_redundant for loop in found.loops] == [0] * 5
    assert len(found.unique_reactions) == len(found.reactions) == 18
    assert "none is redundant" in str(found)


def test_three_hinges_in_line_are_shaky():
    """To first order the middle one moves; no motion follows."""
    points = [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    joints = [hinge(n, p, (0, 0, 1)) for n, p in zip("ABC", points, strict=True)]
    found = assembled(cycle("truss", points, joints)).diagnose()
    assert (found.mobility, found.generic_mobility, found.branches) == (1, 0, ())
    assert found.is_singular
    assert "No motion was found" in str(found)


@pytest.mark.parametrize("count", [3, 4, 5])
def test_prescribed_joints_stand_still(count):
    """As if they were welded: the bars, of which the world is one, lose a freedom."""
    points = [(0, 0, 0), (0, 0, 0.3), (0.8, 0, 0.5), (1.3, 0, 0.4), (0.9, 0, -0.1)][:count]
    joints = [hinge(n, p, (0, 1, 0)) for n, p in zip("ABCDE", points, strict=False)]
    # in parts of one length: that of a mechanism is of the places of its joints; a weld has none
    driven = [joints[0].prescribe(np.sin), *joints[1:]]
    moved = assembled(cycle("bars", points, driven), length=1.0)
    found = moved.diagnose()
    welded = assembled(cycle("bars", points, [mb.FixedJoint("A"), *joints[1:]]), length=1.0)
    expected = welded.diagnose()
    freedoms = max(count - 4, 0)
    assert (found.num_velocities, found.mobility) == (count - 2, freedoms)
    check(
        found, rows=5, rank=expected.rank, mobility=freedoms, generic=freedoms,
        redundant=len(expected.redundant),
    )  # fmt: skip
    np.testing.assert_allclose(found.singular_values, expected.singular_values, atol=1e-12)
    assert found.independent == expected.independent
    loose = [
        {each.name: len(each.wrenches) for each in every.reactions if each.name != "A"}
        for every in (found, expected)
    ]
    assert loose[0] == loose[1]
    assert "(without prescribed: A)" in str(found)


def test_trees_have_nothing_to_diagnose():
    mech = mb.Mechanism("arm")
    body = mech.add_body(rod("rod", (0, 0, 0), (1, 0, 0)))
    mech.add_joint(hinge("A", (0, 0, 0), (0, 0, 1)), mech.world, body)
    found = mech.assemble().diagnose()
    assert (found.num_rows, found.rank, found.mobility, found.generic_mobility) == (0, 0, 1, 1)
    assert (found.loops, found.redundant, found.independent, found.reactions) == ((), (), (), ())
    assert str(found) == "Constraints of 'arm' at q = (0): none, a tree of mobility 1."


def test_open_loops_are_refused():
    system = assembled(four_bar())
    with pytest.raises(mb.ConstraintError, match="Close them first"):
        system.diagnose([0.1, 0.0, 0.0])
    q = system.diagnose([1e-8, 0.0, 0.0]).q
    assert np.abs(system.constraint_residual(q)).max() < 1e-13


# ------------------------------------------------------------------------ subalgebras


SCREWS = {
    "one screw motion": ([(0, 0, 1, 0, 0, 0.3)], 1),
    "translations": (np.eye(6)[3:], 3),
    "cylindrical motions": ([(0, 0, 1, 0, 0, 0), (0, 0, 0, 0, 0, 1)], 2),
    "planar motions": ([(0, 0, 1, 0, 0, 0), (0, 0, 1, 0, -1, 0)], 3),
    "spherical motions": ([(1, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0)], 3),
    "Schoenflies motions": ([(0, 0, 1, 0, 0, 0), (0, 0, 1, 0, -1, 0), (0, 0, 0, 0, 0, 1)], 4),
    "skew axes": ([(1, 0, 0, 0, 0, 0), (0, 1, 0, -1, 0, 0)], 6),
    "a rotation and a translation across": ([(0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 0, 0)], 3),
    "parallel screws of one pitch": ([(0, 0, 1, 0, 0, 0.2), (0, 0, 1, 0, -1, 0.2)], 3),
    "parallel screws of two pitches": ([(0, 0, 1, 0, 0, 0), (0, 0, 1, 0, -1, 0.2)], 4),
}


@pytest.mark.parametrize("name", SCREWS)
@pytest.mark.parametrize("seed", range(3))
def test_what_screws_generate(name, seed):
    """The dimension is that of the subgroup, in any frame."""
    from mbkit.lie import SE3
    from tests.trees import random_pose

    screws, dimension = SCREWS[name]
    Ad = SE3.Ad(random_pose(np.random.default_rng(seed)))
    assert len(algebra(np.array(screws, dtype=float) @ Ad.T)) == dimension


def test_joints_that_are_no_groups_count_with_all_their_screws():
    """A slider along a parabola moves along one line in each configuration, and in a plane."""

    class ParabolaJoint(mb.Joint):
        num_positions = num_velocities = 1

        def pose(self, q):
            T = np.eye(4)
            T[:3, 3] = q[0], 0.0, q[0] ** 2
            return T

    points = [(0, 0, 0)] * 3
    joints = [
        ParabolaJoint("curve"),
        mb.PrismaticJoint("x", axis=(1, 0, 0)),
        mb.PrismaticJoint("z", axis=(0, 0, 1)),
    ]
    for cut in ("curve", "x", "z"):
        found = assembled(cycle("cam", points, joints), cut).diagnose()
        (loop,) = found.loops
        assert (loop.dimension, loop.motions) == (2, "translations in a plane")
        assert (found.mobility, len(found.redundant)) == (1, 4)


# ------------------------------------------------------------------------ random mechanisms


def random_system(seed, count=6):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(list(LOOP_KINDS), size=2).tolist()
    mech, q, names = random_loops(rng, count, kinds)
    return closed(mech, names), q


@pytest.mark.some(4)
@pytest.mark.parametrize("seed", range(10))
def test_rows_are_the_wrenches_that_reactions_are_made_of(seed):
    """The wrench of each row, dotted with the twists of its bodies, is the row of A."""
    system, q = random_system(seed)
    loads = row_loads(system, q, 0.0)
    A = sum(
        loads[:, body] @ system.jacobian(name, q, representation=mb.Spatial())
        for body, name in enumerate(system.body_names)
    )
    assert np.abs(A - system.constraint_jacobian(q)).max() < 1e-9


def equilibrium(system, q):
    """Return the wrenches of all joints on all bodies (6 bodies, ...) and the columns of each."""
    from mbkit.lie import SE3

    poses, S = system.poses(q), system.motion_subspaces(q)
    blocks, columns, at = [], {}, 0

    def add(name, screws, successor, predecessor):
        nonlocal at
        W = np.linalg.svd(screws)[2][len(screws) :].T if len(screws) else np.eye(6)
        block = np.zeros((6 * len(poses), W.shape[1]))
        block[6 * successor : 6 * successor + 6] = W
        block[6 * predecessor : 6 * predecessor + 6] = -W
        blocks.append(block)
        columns[name] = slice(at, at + W.shape[1])
        at += W.shape[1]

    for body in range(1, len(poses)):
        first = system.tree.first_velocity[body]
        own = S[first : first + system.tree.num_velocities[body]]
        screws = own @ SE3.Ad(poses[body]).T
        add(system.tree.joints[body], screws, body, system.tree.parents[body])
    for loop in loop_joints(system, q):
        add(loop.name, loop.screws(), loop.bodies[1], loop.bodies[0])
    return np.concatenate(blocks, axis=1)[6:], columns


FOUR_BARS = {"planar": four_bar, "Sarrus": mechanisms.sarrus, "Bennett": mechanisms.bennett}


@pytest.mark.parametrize("make", FOUR_BARS.values(), ids=FOUR_BARS)
def test_internal_stress_of_known_mechanisms(make):
    """See below."""
    system = assembled(make())
    check_stress(system, np.zeros(system.nq))


@pytest.mark.some(4)
@pytest.mark.parametrize("seed", range(8))
def test_internal_stress_is_that_of_all_bodies_in_equilibrium(seed):
    """Cut free from each other, with all joint wrenches unknown: what is left open is the same."""
    check_stress(*random_system(seed))


def check_stress(system, q):
    E, columns = equilibrium(system, q)
    sizes, Vt = np.linalg.svd(E)[1:]
    null = Vt[rank(E) :].T
    assert sizes.size
    found = {each.name: each for each in system.diagnose(q).reactions}
    for name, own in columns.items():
        open_part = rank(null[own])
        assert open_part == (len(found[name].undetermined) if name in found else 0)
        if name in found:
            assert found[name].num_wrenches == own.stop - own.start
            assert found[name].is_unique == (open_part == 0)


def test_redundant_loops_inside_a_mechanism_leave_other_reactions_unique():
    """A four-bar on a turntable: what carries the whole mechanism is loaded from outside alone."""
    mech = mb.Mechanism("turntable")
    table = mech.add_body(rod("table", (0, 0, 0), (1, 0, 0)))
    mech.add_joint(hinge("table", (0, 0, 0), (0, 0, 1)), mech.world, table)
    points = [(0, 0, 0), (0, 0, 0.3), (0.8, 0, 0.5), (0.9, 0, 0)]
    bars = [mech.add_body(rod(f"bar {k}", *points[k : k + 2])) for k in range(3)]
    for k, (inner, outer) in enumerate([(table, bars[0]), (bars[0], bars[1]), (bars[1], bars[2])]):
        mech.add_joint(hinge("ABC"[k], points[k], (0, 1, 0)), inner, outer)
    mech.add_joint(hinge("D", points[3], (0, 1, 0)), table, bars[2])
    found = assembled(mech).diagnose()
    check(found, rows=5, rank=2, mobility=2, generic=2, redundant=3)
    # the turntable is in no loop
    assert sorted(each.name for each in found.reactions) == ["A", "B", "C", "D"]


def test_the_reduced_set_moves_the_mechanism_alike():
    """Accelerations from the rows that are kept are those of all rows."""
    for make in (four_bar, mechanisms.bricard, mechanisms.bennett, mechanisms.sarrus):
        system = assembled(make())
        found = system.diagnose()
        kept = [system.constraint_names.index(name) for name in found.independent]
        for branch in found.branches:
            q = branch.q
            v = system.consistent_velocity({}, q, np.random.default_rng(0).normal(size=system.nv))
            assert np.abs(v).max() > 1e-3
            A, c = system.constraint_jacobian(q)[kept], system.constraint_bias(q, v)[kept]
            M, b = system.mass_matrix(q), system.bias_force(q, v)
            m = len(kept)
            kkt = np.block([[M, -A.T], [A, np.zeros((m, m))]])
            vdot = np.linalg.solve(kkt, np.concatenate([-b, -c]))[: system.nv]
            assert np.abs(vdot - system.forward_dynamics(q, v)).max() < 1e-8 * np.abs(vdot).max()


def test_constraints_that_are_no_joints_are_diagnosed_as_well():
    """Two rods of the same ends between two cranks: one of them is redundant, both are stressed."""
    mech = mb.Mechanism("two rods")
    bars = [mech.add_body(rod(f"bar {k}", (k, 0, 0), (k, 0, 1))) for k in range(2)]
    for k, bar in enumerate(bars):
        mech.add_joint(hinge(f"A{k}", (k, 0, 0), (0, 1, 0)), mech.world, bar)
    for name in ("first", "second"):
        ends = {"point_a": (0, 0, 1), "point_b": (1, 0, 1), "length": 1.0}
        mech.add_constraint(mb.Distance(name, "bar 0", "bar 1", **ends))
    system = mech.assemble()
    found = system.diagnose()
    check(found, rows=2, rank=1, mobility=1, generic=1, redundant=1)
    assert {each.name: each.is_unique for each in found.reactions}["first"] is False
    loads = row_loads(system, found.q, 0.0)
    A = sum(
        loads[:, body] @ system.jacobian(name, found.q, representation=mb.Spatial())
        for body, name in enumerate(system.body_names)
    )
    assert np.abs(A - system.constraint_jacobian(found.q)).max() < 1e-12
    assert max(map(len, str(found).splitlines())) <= 80


@pytest.mark.some(4)
@pytest.mark.parametrize("seed", range(10))
def test_what_structure_says_is_never_more_than_what_the_rank_says(seed):
    """Each loop of d dimensions has 6 - d redundant rows: in all, no fewer are redundant."""
    system, q = random_system(seed, count=3)
    found = system.diagnose(q)
    assert found.structural_redundancy <= len(found.redundant)
    assert len(found.independent) >= found.rank
    assert rank(system.constraint_jacobian(q)) == found.rank
    for loop in found.loops:
        assert loop.span <= loop.dimension


@pytest.mark.some(2)
@pytest.mark.parametrize("representation", [mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed()])
def test_all_representations_say_the_same(representation):
    found = assembled(mechanisms.sarrus(), representation=representation).diagnose()
    check(found, rows=5, rank=4, mobility=1, generic=1, redundant=1)


# ----------------------------------------------------------------------------- in a terminal


EVERY = ("four_bar", "parallelogram", "bricard", "sarrus", "bennett", "slider_crank", "stewart")


@pytest.mark.parametrize("name", EVERY)
def test_it_is_printed_in_80_columns(name):
    found = getattr(mechanisms, name)().assemble().diagnose()
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    for each in (*found.redundant, *found.independent):
        assert not found.redundant or each in text


def test_info_diagnoses(tmp_path):
    from mbkit.cli.main import main

    mb.save_model(mechanisms.bricard(), tmp_path / "bricard.toml")
    shown = CliRunner().invoke(main, ["info", str(tmp_path / "bricard.toml"), "--diagnose"])
    assert shown.exit_code == 0, shown.output
    assert "Constraints of 'Bricard'" in shown.output
    assert "Rows: 1 of them is redundant" in shown.output


def test_without_a_configuration_the_nearest_closed_one_is_diagnosed():
    """Joints that are described at an open reference configuration; too short rods are named."""
    at = mb.spatial.translation
    for rocker in (0.9, 0.1):
        mech = mb.Mechanism("bars")
        for name in ("crank", "coupler", "rocker"):
            mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(mb.RevoluteJoint("A"), mech.world, "crank")
        mech.add_joint(mb.RevoluteJoint("B"), "crank", "coupler", reference=at((0.4, 0, 0)))
        mech.add_joint(mb.RevoluteJoint("C"), "coupler", "rocker", reference=at((0.6, 0, 0)))
        ends = at((1.2, 0, 0)), at((rocker, 0, 0))
        mech.add_joint(mb.RevoluteJoint("D"), mech.world, "rocker", frames=ends)
        system = mech.assemble(mb.RelativeCoordinates(loop_joints=["D"]))
        if rocker == 0.9:
            found = system.diagnose()
            assert np.abs(system.constraint_residual(found.q)).max() < 1e-12
            assert found.mobility == 1
            continue
        with pytest.raises(mb.ConstraintError, match=r"'D' .* cannot be closed: .* misplaced"):
            system.diagnose()
        with pytest.raises(mb.ConstraintError, match="They cannot be closed from there"):
            system.diagnose([0.0, 0.0, 0.0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ratios", [(-1, -1, -1), (2, 3, 1 / 6)])
def test_gears_in_a_ring(ratios):
    """Three wheels, each on the next: locked, unless the ratios have the product 1."""
    mech = mb.Mechanism("gears")
    for k in range(3):
        mech.add_body(mb.Body(f"wheel{k}", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(hinge(f"axle{k}", (0.2 * k, 0, 0), (0, 0, 1)), mech.world, f"wheel{k}")
    for k, ratio in enumerate(ratios):
        mesh = mb.GearRatio(f"mesh{k}", f"axle{k}", f"axle{(k + 1) % 3}", ratio=ratio)
        mech.add_constraint(mesh)
    found = mech.assemble().diagnose()
    moves = abs(np.prod(ratios) - 1.0) < 1e-12
    assert (found.rank, found.mobility) == ((2, 1) if moves else (3, 0))
    assert found.rows == {"mesh0": "", "mesh1": "", "mesh2": ""}

"""Closed mechanisms in time loops: what keeps loops closed, and what results have of it."""

import importlib
import re
from fractions import Fraction

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.constraints.driven import driven
from tests.constraints.loops import closed, closed_chain, consistent, mobile_loops
from tests.every_representation import each_representation


def started(representation=None):
    mech, q = closed_chain()
    system = closed(mech, ("last",), representation)
    return system, q, consistent(system, q, np.random.default_rng(3).normal(size=system.nv))


@pytest.mark.some(4)
@each_representation
def test_results_have_multipliers_and_residuals(representation):
    system, q, v = started(representation)
    run = mb.simulate(system, (0.0, 0.1), 1e-3, q=q, v=v)
    assert run.constraint_names == system.constraint_names
    assert run.residuals[:, :2].max() < 1e-11
    assert run.residuals[:, 2].max() < 1e-8
    vdot, multipliers = system.solve_dynamics(run.q, run.v)
    np.testing.assert_array_equal(run.multipliers, multipliers)
    tree = system.inverse_dynamics(run.q, run.v, vdot)
    A = system.constraint_jacobian(run.q)
    np.testing.assert_allclose(tree, np.einsum("kij,ki->kj", A, multipliers), atol=1e-8)


def test_files_have_what_results_have(tmp_path):
    system, q, v = started()
    run = mb.simulate(system, (0.0, 0.05), 1e-3, q=q, v=v)
    run.save(tmp_path / "run.nc")
    again = mb.load_result(tmp_path / "run.nc")
    long = mb.simulate(system, (0.0, 0.05), 1e-3, q=q, v=v, output=tmp_path / "long")
    for other in (again, long):
        assert other.constraint_names == run.constraint_names
        np.testing.assert_array_equal(other.multipliers, run.multipliers)
        np.testing.assert_array_equal(other.residuals, run.residuals)
    short = mb.simulate(
        system, (0.0, 0.05), 1e-3, q=q, v=v, output=tmp_path / "short", save=("q", "v")
    )
    assert np.isnan(short.multipliers).all()
    assert run.to_xarray().multipliers.sel(constraint="last[0]").shape == (51,)


class Trouble:
    at = np.inf


def effort(t, q, v):
    """Nothing, and Ctrl-C at a time which no fingerprint may see: it is looked up by name."""
    if t > importlib.import_module("tests.constraints.test_runs").Trouble.at:
        raise KeyboardInterrupt
    return np.zeros(len(v))


def test_interrupted_runs_go_on_bit_for_bit(tmp_path):
    """From the model file alone, with the loops cut where they were."""
    system, q, v = started()
    given = {"q": q, "v": v, "tau": effort, "progress": False}
    whole = mb.simulate(system, (0.0, 0.2), 1e-3, **given)
    Trouble.at = 0.1
    part = mb.simulate(system, (0.0, 0.2), 1e-3, output=tmp_path / "run", **given)
    Trouble.at = np.inf
    assert 0 < part.t[-1] < 0.2
    run = mb.resume(tmp_path / "run", tau=effort, progress=False)
    assert run.completed
    for name in ("t", "q", "v", "multipliers", "residuals"):
        np.testing.assert_array_equal(getattr(run, name), getattr(whole, name), err_msg=name)


@pytest.mark.parametrize("scale", [1e-300, 1e-308])
def test_velocities_of_next_to_nothing_are_kept(scale):
    """Of loops with many rows, whose multipliers have few digits then; without gravity."""
    kinds = ("revolute", "universal", "spherical", "cylindrical")
    system, q = mobile_loops(np.random.default_rng(3), 9, kinds)
    system = system.with_parameters({"gravity": np.zeros(3)})
    v = consistent(system, q, np.random.default_rng(1).normal(size=system.nv))
    run = mb.simulate(system, (0.0, 0.01), 1e-3, q=q, v=scale * v, progress=False)
    np.testing.assert_allclose(run.v[-1] / scale, v, rtol=0.0, atol=1e-6)


@pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning")  # it passes near one
def test_without_stabilisation_loops_drift_and_baumgarte_holds_them():
    """Drift grows without bounds; what pulls back leaves an error that does not."""
    system, q, v = started()
    projected, pulled, free = (
        mb.simulate(
            system, (0.0, 14.0), 5e-3, q=q, v=v, save_every=400, stabilisation=way
        ).residuals
        for way in (mb.Projection(), mb.Baumgarte(frequency=20.0), None)
    )
    assert projected[:, 0].max() < 1e-14
    assert projected[:, 1].max() < 1e-10
    assert 1e-9 < pulled[1:, 0].max() < 0.1 * free[-1, 0]


@pytest.mark.parametrize("motion", [None, lambda t: 0.3 * np.sin(2.0 * t)])
def test_multipliers_and_residuals_are_of_the_equations_with_the_pull(motion):
    """Against a dense solution of these, which differ by much where loops have drifted open."""
    law = mb.Baumgarte(frequency=20.0, damping_ratio=0.7)
    system, q, v = started()
    if motion is not None:
        system = closed(driven(closed_chain()[0], "revolute 1", motion), ("last",))
        q, v = system.close_loops(q, v)
    run = mb.simulate(system, (0.0, 0.6), 0.03, q=q, v=v, stabilisation=law)
    free = np.ones(system.nv, dtype=bool)
    for name in system.prescribed_joints:
        free[system.velocity_slice(name)] = False
    for k in (5, 20):
        t, q, v = run.t[k], run.q[k], run.v[k]
        A = system.constraint_jacobian(q, t)
        pull = 2.0 * 0.7 * 20.0 * system.constraint_velocity(q, v, t)
        pull += 20.0**2 * system.constraint_residual(q, t)
        assert np.abs(pull).max() > 1e-4
        known = system.prescribed_state(t, q, v)[2]
        tree = system.inverse_dynamics(q, v, known)[free]
        rate = system.constraint_acceleration(q, v, known, t)
        M = system.mass_matrix(q)[np.ix_(free, free)]
        n, m = len(M), len(A)
        kkt = np.block([[M, -A[:, free].T], [A[:, free], np.zeros((m, m))]])
        multipliers = np.linalg.solve(kkt, np.r_[-tree, -rate - pull])[n:]
        without = np.linalg.solve(kkt, np.r_[-tree, -rate])[n:]
        np.testing.assert_allclose(run.multipliers[k], multipliers, atol=1e-8)
        assert np.abs(without - multipliers).max() > 1e-6
        np.testing.assert_allclose(run.residuals[k, 2], np.abs(pull).max(), rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mb.Baumgarte(frequency=-1.0), "frequency must be a positive number, got -1.0"),
        (lambda: mb.Baumgarte(1.0, damping_ratio=np.inf), "damping_ratio must be a positive"),
        (lambda: mb.RelativeCoordinates(length=0.0), "length must be a positive number of metres"),
        (lambda: mb.Baumgarte(True), "frequency must be a positive number, got True"),
        (lambda: mb.Baumgarte("fast"), "frequency must be a positive number, got 'fast'"),
        (lambda: mb.Baumgarte(np.complex128(1.0)), "frequency must be a positive number"),
        (lambda: mb.RelativeCoordinates(length=True), "length must be a positive number of metres"),
        (lambda: mb.RelativeCoordinates(loop_joints=5), "loop_joints must be names of joints, got"),
        (lambda: mb.RelativeCoordinates(loop_joints=["A", 5]), "loop_joints must be names of"),
        (lambda: mb.RelativeCoordinates(cut_bodies="rod"), "must be a mapping of bodies to joints"),
        (lambda: mb.RelativeCoordinates(cut_bodies={"rod": 5}), "A body is cut at a joint's name"),
    ],
)
def test_bad_numbers_are_refused(make, message):
    with pytest.raises(mb.UsageError, match=message):
        make()


@pytest.mark.parametrize("kind", [int, np.int64, np.float32, np.float64, Fraction])
def test_real_numbers_of_every_type_are_taken(kind):
    assert mb.Baumgarte(kind(5), damping_ratio=kind(2)) == mb.Baumgarte(5.0, damping_ratio=2.0)
    assert mb.RelativeCoordinates(length=kind(2)) == mb.RelativeCoordinates(length=2.0)


@pytest.mark.parametrize("motion", [None, np.sin], ids=["free", "prescribed"])
@pytest.mark.parametrize(
    ("t", "error", "message"),
    [
        ("x", mb.ShapeError, "Argument 't' must be an array of real numbers"),
        (None, mb.ShapeError, "Argument 't' must be an array of real numbers"),
        (np.nan, mb.NotFiniteError, "Argument 't' has the time nan; it must be finite"),
        ([0.0, np.inf], mb.NotFiniteError, "Argument 't' has the time inf; it must be finite"),
    ],
)
def test_times_that_are_none_are_refused(motion, t, error, message):
    system = four_bar(motion).assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    q, v = system.reference_configuration(), np.zeros(system.nv)
    for call in (
        lambda: system.solve_dynamics(q, v, t=t),
        lambda: system.constraint_residual(q, t),
        lambda: system.constraint_jacobian(q, t),
        lambda: system.constraint_bias(q, v, t),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")  # it moves in a plane
@pytest.mark.parametrize("t0", [0.0, 0.25])
def test_the_remedies_for_prescribed_joints_work(t0):
    """What the messages say, run as it stands, is taken as initial state."""
    system = four_bar(lambda t: 0.3 * t).assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    q, v = system.reference_configuration() + 0.1, np.zeros(system.nv)
    given = {"system": system, "numpy": np, "q": q, "v": v}
    span = t0, t0 + 0.01
    remedies = []
    for _ in range(2):
        with pytest.raises(mb.ConstraintError) as caught:
            mb.simulate(system, span, 1e-3, q=given["q"], v=given["v"])
        name, code = re.search(r"(\w) = (system\..*?)(?:; or .*)?\.$", str(caught.value)).groups()
        given[name] = eval(code, given)  # noqa: S307 - it is our own message
        remedies.append(code)
    assert remedies[1] == f"system.close_loops(q, numpy.zeros(system.nv), t={t0})[1]"
    assert mb.simulate(system, span, 1e-3, q=given["q"], v=given["v"]).completed


@pytest.mark.some(2)
@pytest.mark.parametrize("choice", [{"cut_bodies": {"b3": "last"}}, {"length": 3.0}], ids=str)
def test_runs_of_coordinates_that_no_file_has_say_so(tmp_path, choice):
    mech, _ = closed_chain()
    system = mech.assemble(mb.RelativeCoordinates(**choice))
    q = system.close_loops()
    given = {"q": q, "v": np.zeros(system.nv), "tau": effort, "progress": False}
    Trouble.at = 0.02
    assert not mb.simulate(system, (0.0, 0.05), 1e-3, output=tmp_path / "run", **given).completed
    Trouble.at = np.inf
    with pytest.raises(mb.UsageError, match=r"(?s)cut_bodies=.*length=.*resume\(.*system=system"):
        mb.resume(tmp_path / "run", tau=effort, progress=False)
    assert mb.resume(tmp_path / "run", system=system, tau=effort, progress=False).completed


def test_other_stabilisations_are_refused():
    system, q, v = started()
    with pytest.raises(mb.UsageError, match=r"must be an mbkit.Projection, an mbkit.Baumgarte"):
        mb.simulate(system, (0.0, 0.1), 1e-2, q=q, v=v, stabilisation="baumgarte")


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")  # it moves in a plane
def test_prescribed_joints_drive_closed_mechanisms():
    """A four-bar whose crank turns as a function of time; the effort that drives it balances."""
    mech = four_bar(lambda t: 0.3 * np.sin(t))
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    v = consistent_with(system, 0.3)
    run = mb.simulate(system, (0.0, 1.0), 1e-3, v=v)
    crank = run.position_names.index("A")
    np.testing.assert_array_equal(run.q[:, crank], 0.3 * np.sin(run.t))
    assert run.residuals[:, :2].max() < 1e-11
    # what the drive supplies is what the energy gains
    assert np.abs(run.energy_balance).max() < 1e-9


def four_bar(motion=None, gravity=(0.0, 0.0, -9.81)):
    """Four revolutes about y, lengths 0.3, 0.82, 0.51, 0.9, closed at the reference."""
    mech = mb.Mechanism("four-bar", gravity=gravity)
    A, B, C, D = np.array([[0, 0, 0], [0, 0, 0.3], [0.8, 0, 0.5], [0.9, 0, 0]], dtype=float)
    bodies = {}
    for name, a, b in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        length = np.linalg.norm(b - a)
        x = (b - a) / length
        pose = np.eye(4)
        pose[:3, :3] = np.c_[x, [0, 1, 0], np.cross(x, [0, 1, 0])]
        pose[:3, 3] = a
        inertia = mb.SpatialInertia.from_com(
            1.0, (length / 2, 0, 0), np.diag([1e-3, length**2 / 12, length**2 / 12])
        )
        bodies[name] = mech.add_body(mb.Body(name, inertia, pose=pose))
    ends = {
        "A": (mech.world, "crank", A), "B": ("crank", "coupler", B),
        "C": ("coupler", "rocker", C), "D": (mech.world, "rocker", D),
    }  # fmt: skip
    for name, (a, b, point) in ends.items():
        joint = mb.RevoluteJoint(name, axis=(0, 1, 0), point=point)
        if name == "A" and motion is not None:
            joint = joint.prescribe(motion)
        mech.add_joint(joint, a, b)
    return mech


def consistent_with(system, rate):
    """The velocities of the four-bar with this rate of the crank."""
    A = system.constraint_jacobian(system.reference_configuration())
    crank = system.velocity_names.index("A")
    rest = [k for k in range(system.nv) if k != crank]
    v = np.zeros(system.nv)
    v[crank] = rate
    v[rest] = -np.linalg.pinv(A[:, rest], rcond=1e-9) @ A[:, crank] * rate
    return v


def lifted(joint, **constraint):
    """A hook on a joint, which a function of time may lift."""
    mech = mb.Mechanism("crane")
    inertia = mb.SpatialInertia.box(2.0, size=(0.1, 0.2, 0.3))
    hook = mech.add_body(mb.Body("hook", inertia))
    mech.add_joint(joint, mech.world, hook)
    for name, function in constraint.items():
        mech.add_constraint(mb.PrescribedPoint(name, "hook", function))
    return mech


def place(t):
    return np.array([0.3 * np.sin(t), 0.2 * t * t, t * t * t])


@pytest.mark.some(6)
@each_representation
@pytest.mark.parametrize(
    "stabilisation", [mb.Projection(), mb.Baumgarte(frequency=20.0), None], ids=repr
)
def test_constraints_that_move_supply_energy_as_prescribed_joints_do(representation, stabilisation):
    """m g h + m v^2 / 2, whatever says where the hook is."""
    coordinates = mb.RelativeCoordinates(representation=representation)
    held = lifted(mb.TranslationalJoint("anywhere"), lift=place).assemble(coordinates)
    driven = lifted(mb.TranslationalJoint("anywhere").prescribe(place)).assemble(coordinates)
    v = np.array([0.3, 0.0, 0.0])
    one = mb.simulate(held, (0.0, 1.0), 2e-3, v=v, stabilisation=stabilisation)
    other = mb.simulate(driven, (0.0, 1.0), 2e-3, v=v)
    ends = np.array([0.3 * np.cos(1.0), 0.4, 3.0])
    gained = 2.0 * 9.81 + ends @ ends - v @ v
    assert one.supplied_energy[-1] == pytest.approx(gained, rel=1e-7)
    np.testing.assert_allclose(one.supplied_energy, other.supplied_energy, atol=1e-6)
    assert np.abs(one.energy_balance).max() < 1e-6


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")  # it moves in a plane
def test_constraints_that_move_supply_energy_to_loops_and_rotations():
    """A body whose pose is given, besides a loop that keeps its energy."""
    mech = four_bar()
    ghost = mech.add_body(mb.Body("top", mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))))
    mech.add_joint(mb.FreeJoint("free"), mech.world, ghost)

    def pose(t):
        return SE3.exp(np.array([0.3 * t, 0.5 * t * t, -0.2 * t, np.sin(t), t * t, t * t * t]))

    mech.add_constraint(mb.PrescribedPose("turn", "top", pose))
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    v = system.consistent_velocity({"A": 0.5}, system.reference_configuration())
    run = mb.simulate(system, (0.0, 0.5), 2e-3, v=v)
    assert run.supplied_energy[-1] > 1.0
    assert np.abs(run.energy_balance).max() < 1e-8

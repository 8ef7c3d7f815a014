"""Closed mechanisms in time loops: what keeps loops closed, and what results have of it."""

import importlib

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.driven import driven
from tests.constraints.loops import closed, closed_chain, consistent
from tests.every_representation import each_representation


def started(representation=None):
    mech, q = closed_chain()
    system = closed(mech, ("last",), representation)
    return system, q, consistent(system, q, np.random.default_rng(3).normal(size=system.nv))


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
    ],
)
def test_bad_numbers_are_refused(make, message):
    with pytest.raises(mb.UsageError, match=message):
        make()


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


def four_bar(motion=None):
    """Four revolutes about y, lengths 0.3, 0.82, 0.51, 0.9, closed at the reference."""
    mech = mb.Mechanism("four-bar")
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

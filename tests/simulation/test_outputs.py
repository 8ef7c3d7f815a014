"""Outputs of a run by name: against closed forms, in the result and in its files."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pytest
from scipy.io import loadmat

import mbkit as mb
from mbkit.results import columns
from mbkit.simulation.long_runs import recording
from mbkit.simulation.outputs import by_name as simulated
from tests.constraints.closed_mechanisms import assembled, cycle

LENGTH, MASS, GRAVITY = 0.7, 2.0, 9.81
LOOP = [(0, 0, 0), (0, 0, 0.3), (0.8, 0, 0.5), (0.9, 0, 0)]


def pendulum(*, driven=False):
    """A point mass on a rod about y; q = 0 hangs down."""
    mech = mb.Mechanism("pendulum", gravity=(0, 0, -GRAVITY))
    com = (0, 0, -LENGTH)
    mech.add_body(
        mb.Body(
            "bob",
            mb.SpatialInertia.from_com(MASS, com),
            frames={"tip": mb.spatial.translation(com)},
        )
    )
    hinge = mb.RevoluteJoint("hinge", axis=(0, 1, 0))
    if driven:
        hinge = hinge.prescribe(lambda t: 0.5 * t**2)
    mech.add_joint(hinge, mech.world, "bob")
    return mech.assemble()


OUTPUTS = {
    "tip": "tip.position", "speed": "tip.velocity", "spin": "bob.angular_velocity",
    "place": "bob.pose", "load": "hinge.reaction", "drive": "hinge.effort",
    "lever": lambda t, q, v: LENGTH * np.sin(q[0]),
}  # fmt: skip


def test_a_pendulum_by_closed_forms():
    """Down, x grows with -q: the tip is at (-l sin q, 0, -l cos q)."""
    run = mb.simulate(
        pendulum(), (0.0, 1.0), 0.01, q=[1.0], tau=[0.3], save_every=7, outputs=OUTPUTS
    )
    q, v, zero = run["hinge"], run.velocity("hinge"), np.zeros(run.t.size)
    radial = np.stack([-np.sin(q), zero, -np.cos(q)], axis=1)
    tangent = np.stack([-np.cos(q), zero, np.sin(q)], axis=1)
    np.testing.assert_allclose(run["tip"], LENGTH * radial, atol=1e-14)
    np.testing.assert_allclose(run["speed"], LENGTH * v[:, None] * tangent, atol=1e-13)
    np.testing.assert_allclose(run["spin"], np.stack([zero, v, zero], axis=1), atol=1e-14)
    np.testing.assert_array_equal(run["place"], pendulum().pose("bob", run.q))
    vdot = -GRAVITY / LENGTH * np.sin(q) + 0.3 / (MASS * LENGTH**2)
    acceleration = LENGTH * (vdot[:, None] * tangent - v[:, None] ** 2 * radial)
    force = MASS * (acceleration + np.array([0.0, 0.0, GRAVITY]))
    np.testing.assert_allclose(run["load"][:, 3:], force, atol=1e-11)
    np.testing.assert_allclose(run["load"][:, 1], 0.3, atol=1e-12)
    np.testing.assert_array_equal(run["drive"], np.full(run.t.size, 0.3))
    np.testing.assert_array_equal(run["lever"], LENGTH * np.sin(q))
    assert "outputs     tip, speed" in repr(run)


def test_what_drives_a_joint():
    run = mb.simulate(pendulum(driven=True), (0.0, 1.0), 0.1, outputs=["hinge.effort"])
    inertia = MASS * LENGTH**2
    expected = inertia * 1.0 + MASS * GRAVITY * LENGTH * np.sin(0.5 * run.t**2)
    np.testing.assert_allclose(run["hinge.effort"], expected, rtol=1e-7)


SPRING, REST, OIL = 40.0, 0.3, 0.6


def forced():
    """Return a pendulum with a motor, a spring to the world, a damper and a function of bodies."""
    mech = mb.Mechanism("forced", gravity=(0, 0, -GRAVITY))
    mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(MASS, (0, 0, -LENGTH), np.eye(3))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, "bob")
    mech.add_force(mb.JointEffort("motor", "hinge", [0.0, 2.0], times=[0.0, 1.0]))
    mech.add_force(mb.JointDamper("hinge", "hinge", damping=OIL))
    ends = {"point_a": (0, 0, 1), "point_b": (0, 0, -LENGTH)}
    spring = mb.SpringDamper("spring", "world", "bob", stiffness=SPRING, rest_length=REST, **ends)
    mech.add_force(spring)
    push = mb.ForceFunction("push", lambda t, C, V: [[0, 0, 0, t, 0, 0]], bodies="bob")
    mech.add_force(push)
    return mech


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", [mb.RelativeCoordinates(), mb.AbsoluteCoordinates()])
def test_forces_by_name(coordinates):
    """A spring's tension times its direction, a motor's table, and powers as rates of energies."""
    names = ("motor.effort", "motor.power", "hinge.effort", "hinge.power", "spring.wrench",
             "spring.power", "spring.potential_energy", "push.wrench", "push.power")  # fmt: skip
    system = forced().assemble(coordinates)
    run = mb.simulate(system, (0.0, 1.0), 1e-3, q={"hinge": 1.0}, outputs=names)
    tip = system.pose("bob", run.q) @ np.array([0, 0, -LENGTH, 1.0])
    arm = np.array([0, 0, 1.0]) - tip[:, :3]
    length = np.linalg.norm(arm, axis=1)
    pull = SPRING * (length - REST)[:, None] * arm / length[:, None]
    zero = np.zeros_like(pull)
    below = np.concatenate([np.cross(tip[:, :3], pull), pull], axis=1)
    above = np.concatenate([np.cross([0, 0, 1.0], -pull), -pull], axis=1)
    np.testing.assert_allclose(run["spring.wrench"], np.stack([above, below], 1), atol=1e-11)
    np.testing.assert_allclose(
        run["spring.potential_energy"], SPRING * (length - REST) ** 2 / 2, rtol=1e-12
    )
    rate = np.gradient(run["spring.potential_energy"], run.t)
    np.testing.assert_allclose(run["spring.power"][1:-1], -rate[1:-1], atol=1e-3)
    np.testing.assert_allclose(run["motor.effort"], 2.0 * run.t, atol=1e-13)
    np.testing.assert_allclose(run["push.wrench"][:, 3], run.t, atol=1e-14)
    np.testing.assert_array_equal(run["push.wrench"][:, :3], zero)
    speed = run["motor.power"][1:] / run["motor.effort"][1:]
    np.testing.assert_allclose(run["hinge.power"][1:], -OIL * speed**2, atol=1e-10)
    np.testing.assert_array_equal(run["hinge.effort"], 0.0)  # the joint's: no tau was given
    supplied = np.gradient(run.supplied_energy, run.t)
    both = run["motor.power"] + run["push.power"]
    np.testing.assert_allclose(both[1:-1], supplied[1:-1], atol=1e-3)
    units = run.to_dataframe().attrs["units"]
    columns = ("motor.effort", "spring.wrench[1,2]", "spring.wrench[0,3]", "push.power")
    assert [units[f"output.{name}"] for name in columns] == ["N m", "N m", "N", "W"]


def test_quantities_that_a_force_has_not():
    run = {"system": forced().assemble(), "t_span": (0.0, 0.1), "h": 0.01}
    for name, said in {
        "spring.effort": "acts on bodies; take 'spring.wrench'",
        "motor.wrench": "acts on joints; take 'motor.effort'",
        "moter.effort": "no joint or force 'moter'; did you mean 'motor'",
        "bob.power": "no force 'bob'",
        "spring.tension": "of forces effort, wrench, power, potential_energy",
    }.items():
        with pytest.raises(mb.MbkitError, match=said):
            mb.simulate(**run, outputs=[name])


def test_outputs_are_in_files_and_tables(tmp_path):
    run = mb.simulate(pendulum(), (0.0, 0.1), 0.01, q=[1.0], outputs=OUTPUTS)
    run.save(tmp_path / "run.nc")
    read = mb.load_result(tmp_path / "run.nc")
    assert list(read.outputs) == list(OUTPUTS)
    for name, array in run.outputs.items():
        np.testing.assert_array_equal(read[name], array)
        assert not read[name].flags.writeable
    frame = run.to_dataframe()
    np.testing.assert_array_equal(frame["output.place[1,3]"], run["place"][:, 1, 3])
    np.testing.assert_array_equal(frame["output.lever"], run["lever"])
    units = read.to_dataframe().attrs["units"]
    labels = ("tip[2]", "speed[0]", "spin[1]", "place[1,3]", "load[2]", "load[3]", "drive", "lever")
    expected = ["m", "m/s", "rad/s", "", "N m", "N", "N m", ""]
    assert [units[f"output.{label}"] for label in labels] == expected
    np.testing.assert_array_equal(run.to_xarray()["output_0"], run["tip"])
    run.save(tmp_path / "run.mat")
    data = loadmat(tmp_path / "run.mat", simplify_cells=True)
    np.testing.assert_array_equal(data["outputs"][0], run["tip"])


@pytest.mark.parametrize(
    ("outputs", "error", "message"),
    [
        (["bob.postion"], mb.NameUnknownError, "did you mean 'position'"),
        (["tipp.position"], mb.NameUnknownError, "did you mean 'tip'"),
        (["bob.effort"], mb.NameUnknownError, "no joint or force 'bob'"),
        ({"hinge": "bob.pose"}, mb.UsageError, "name of a joint"),
        (["bob.pose", "bob.pose"], mb.UsageError, "name of another output"),
        ("bob.pose", mb.UsageError, r"\['hand.position'\]"),
        ({"a": 3}, mb.UsageError, "NAME.QUANTITY"),
        ({"a": lambda t, q, v: "text"}, mb.UsageError, "numbers of one shape"),
        ({3: "bob.pose"}, mb.UsageError, "must be text"),
    ],
)
def test_what_is_no_output_is_refused_before_the_first_step(outputs, error, message):
    def tau(t, q, v):
        assert t == 0.0, "a step was taken"
        return 0.0 * v

    with pytest.raises(error, match=message):
        mb.simulate(pendulum(), (0.0, 1.0), 0.1, tau=tau, outputs=outputs)


def test_names_that_results_take_for_outputs_are_those_of_outputs():
    """Results stand alone, and list the quantities themselves."""
    assert (*columns.OF_BODIES,) == (*simulated._MOTIONS,)
    assert (*columns.OF_FORCES,) == (*simulated.FORCES,)


def test_an_output_that_fails_on_the_way_leaves_the_run():
    def late(t, q, v):
        if t > 0.5:
            raise RuntimeError("too late")
        return t

    with pytest.raises(RuntimeError, match="too late") as caught:
        mb.simulate(pendulum(), (0.0, 1.0), 0.1, q=[0.1], outputs={"a": "bob.pose", "late": late})
    assert caught.value.result.t[-1] == 1.0
    assert list(caught.value.result.outputs) == ["a"]


def assert_same_outputs(found, expected):
    """The same names, and bit for bit the same numbers."""
    assert list(found.outputs) == list(expected.outputs)
    for name, array in expected.outputs.items():
        np.testing.assert_array_equal(found[name], array)


def weight(t, q, v):
    return np.array([0.2 - 0.1 * v[0]])


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("given", "alone"),
    [
        ({"tau": [[0.3], [0.0]]}, [{"tau": [0.3]}, {"tau": [0.0]}]),  # in threads
        ({"tau": weight}, [{"tau": weight}] * 2),  # one after the other
        (
            {"parameters": {"gravity": [[0, 0, -9.81], [0, 0, -1.6]]}},
            [{"parameters": {"gravity": [0, 0, each]}} for each in (-9.81, -1.6)],
        ),
    ],
)
def test_outputs_of_an_ensemble_are_those_of_each_run_alone(tmp_path, given, alone):
    common = {"t_span": (0.0, 0.5), "h": 0.01, "save_every": 7, "outputs": OUTPUTS}
    runs = mb.simulate(pendulum(), q=[[1.0], [0.4]], **common, **given)
    assert runs.outputs["place"].shape == (2, runs.t.shape[1], 4, 4)
    for k, (q, own) in enumerate(zip((1.0, 0.4), alone, strict=True)):
        assert_same_outputs(runs[k], mb.simulate(pendulum(), q=[q], **common, **own))
    assert "outputs     tip, speed" in repr(runs)
    runs.save(tmp_path / "runs.nc")
    for read in (mb.load_ensemble(tmp_path / "runs.nc"), pickle.loads(pickle.dumps(runs))):  # noqa: S301
        assert_same_outputs(read[1], runs[1])
    frame = runs.to_dataframe()
    np.testing.assert_array_equal(frame["output.tip[2]"], runs.outputs["tip"][..., 2].ravel())
    assert frame.attrs["units"]["output.tip[2]"] == "m"
    runs.save(tmp_path / "runs.mat")
    data = loadmat(tmp_path / "runs.mat", simplify_cells=True)
    np.testing.assert_array_equal(data["outputs"][0], runs.outputs["tip"])


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_outputs_of_an_ensemble_with_a_loop():
    joints = [mb.RevoluteJoint(n, (0, 1, 0), point=p) for n, p in zip("ABCD", LOOP, strict=True)]
    system = assembled(cycle("four-bar", LOOP, joints), "C")
    starts = mb.simulate(system, (0.0, 0.2), 0.1, v={"A": 2.0})
    common = {"t_span": (0.0, 0.1), "h": 0.02, "outputs": ["C.reaction", "A.effort"]}
    tau = np.array([[0.0, 0.0, 0.0], [0.4, 0.0, -0.1]])
    state = {"q": starts.q[0], "v": starts.v[0]}
    runs = mb.simulate(system, **common, **state, tau=tau)
    for k in range(2):
        assert_same_outputs(runs[k], mb.simulate(system, **common, **state, tau=tau[k]))


@pytest.mark.filterwarnings("ignore::mbkit.FailedRunsWarning")
@pytest.mark.parametrize("tau", [None, weight])
def test_an_output_that_fails_in_one_run_of_an_ensemble(tau):
    def odd(t, q, v):
        if t > 0.0 and q[0] > 0.9:
            raise RuntimeError("too far")
        return q if q[0] < 0.35 else t

    runs = mb.simulate(
        pendulum(), (0.0, 0.2), 0.1, q=[[0.5], [1.0], [0.1]], tau=tau,
        outputs={"a": "bob.position", "odd": odd},
    )  # fmt: skip
    np.testing.assert_array_equal(runs.failed, [False, True, True])
    assert "too far" in runs.failures[(1,)]
    assert "one shape" in runs.failures[(2,)]
    np.testing.assert_array_equal(runs.outputs["odd"][0], runs.t[0])
    assert np.isnan(runs.outputs["odd"][1:]).all()
    assert np.isfinite(runs.outputs["a"]).all()


class Trouble:
    at = np.inf


def stopped(t, q, v):
    """Efforts that end a run at a time which no fingerprint may see: it is looked up by name."""
    if t > importlib.import_module("tests.simulation.test_outputs").Trouble.at:
        raise KeyboardInterrupt
    return -0.1 * v


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("options", [{"save_every": 3}, {"save_at": [0.0123, 0.3, 0.77]}])
def test_outputs_in_a_directory_are_those_in_memory(tmp_path, monkeypatch, options):
    """Also of a run that goes on, in many parts, whatever else it saves."""
    monkeypatch.setattr(recording, "PART_SIZE", 1)
    monkeypatch.setattr(recording, "SHORTEST", 0.0)
    common = {"q": [1.0], "tau": stopped, "outputs": OUTPUTS, **options}
    whole = mb.simulate(pendulum(), (0.0, 1.0), 0.01, **common)
    path, kept = tmp_path / "run", {"save": ("v",), "dtype": "float32"}
    assert_same_outputs(
        mb.simulate(pendulum(), (0.0, 1.0), 0.01, output=tmp_path / "whole", **common), whole
    )
    monkeypatch.setattr(Trouble, "at", 0.5)
    part = mb.simulate(pendulum(), (0.0, 1.0), 0.01, output=path, **kept, **common)
    assert not part.completed
    rows = np.count_nonzero(whole.t <= part.t[-1])
    assert 0 < rows < whole.t.size
    for name, array in whole.outputs.items():
        np.testing.assert_array_equal(part[name][:rows], array[:rows])
    (path / "result.nc").unlink()
    for name, array in mb.load_result(path).outputs.items():
        np.testing.assert_array_equal(array[:rows], whole[name][:rows])
    monkeypatch.setattr(Trouble, "at", np.inf)
    with pytest.raises(mb.UsageError, match="'lever' as outputs, which no file can hold"):
        mb.resume(path, tau=stopped)
    with pytest.raises(mb.UsageError, match="'tip' is no output of this run, or another"):
        mb.resume(path, tau=stopped, outputs={"tip": "bob.position"})
    with pytest.raises(mb.UsageError, match="output 'lever' is not the same code"):
        mb.resume(path, tau=stopped, outputs={"lever": lambda t, q, v: q[0]})
    lever = {"lever": OUTPUTS["lever"]}
    run = mb.resume(path, tau=stopped, outputs=lever)
    assert run.completed
    for found in (run, mb.resume(path), mb.load_result(path)):
        assert_same_outputs(found, whole)
        assert found.options["output_units"] == whole.options["output_units"]


def test_what_is_no_output_makes_no_directory(tmp_path):
    with pytest.raises(mb.UsageError, match="numbers of one shape"):
        mb.simulate(
            pendulum(), (0.0, 1.0), 0.1, output=tmp_path / "run",
            outputs={"a": lambda t, q, v: "text"},
        )  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_an_output_that_fails_on_the_way_leaves_the_directory(tmp_path):
    def late(t, q, v):
        if t > 0.5:
            raise RuntimeError("too late")
        return t

    with pytest.raises(RuntimeError, match="too late"):
        mb.simulate(
            pendulum(), (0.0, 1.0), 0.1, q=[0.1], output=tmp_path / "run",
            outputs={"a": "bob.pose", "late": late},
        )  # fmt: skip
    read = mb.load_result(tmp_path / "run")
    assert not read.completed
    np.testing.assert_array_equal(read["a"], pendulum().pose("bob", read.q))
    assert read["late"][0] == 0.0
    assert np.isnan(read["late"][-1])


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_reactions_of_a_planar_mechanism():
    """In the plane those of the four-bar whose ball and cylindrical joint leave nothing open."""
    names, points = "ABCD", LOOP
    hinges = [mb.RevoluteJoint(n, (0, 1, 0), point=p) for n, p in zip(names, points, strict=True)]
    ball = mb.SphericalJoint("C", point=points[2])
    slide = mb.CylindricalJoint("D", axis=(0, 1, 0), point=points[3])
    found = []
    for joints in (hinges, [*hinges[:2], ball, slide]):
        system = assembled(cycle("four-bar", points, joints), "C")
        outputs = [f"{name}.reaction" for name in names]
        run = mb.simulate(system, (0.0, 0.1), 0.02, v={"A": 2.0}, outputs=outputs)
        found.append([run[name][:, [1, 3, 5]] for name in outputs])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-7, atol=1e-8)
    with pytest.raises(mb.ConstraintError, match="not unique"):
        assembled(cycle("four-bar", points, hinges)).reaction("A", np.zeros(3), np.zeros(3))

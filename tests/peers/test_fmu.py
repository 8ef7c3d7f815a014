"""FMUs of mbkit, run by fmpy, move as mb.simulate has them move."""

from __future__ import annotations

import pathlib

import fmpy
import numpy as np
import pytest
from click.testing import CliRunner
from fmpy.validation import validate_fmu

import mbkit as mb
from mbkit.cli.main import main
from tests.constraints.test_runs import four_bar

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning"),
]


def arm():
    """A hinge, a ball with a tip, damped: scalar and vector variables."""
    mech = mb.Mechanism("an arm")
    rod = mb.SpatialInertia.box(2.0, size=(0.5, 0.1, 0.2))
    tip = mb.spatial.translation((0.3, 0.0, 0.1))
    for name, frames in (("upper", {}), ("lower", {"tip": tip})):
        mech.add_body(mb.Body(name, rod, frames=frames))
    place = mb.spatial.translation((0.5, 0.0, 0.0))
    mech.add_joint(mb.RevoluteJoint("main", axis=(0, 1, 0)), "world", "upper", reference=np.eye(4))
    mech.add_joint(mb.SphericalJoint("ball"), "upper", "lower", reference=place)
    mech.add_force(mb.JointDamper("bearing", "main", damping=0.2))
    return mech.assemble()


def fmu_run(path, names, times, torque):
    """Return the outputs of a run by fmpy, whose input is held over steps."""
    signal = np.array(
        list(zip(times, torque, strict=True)), dtype=[("time", float), ("torque", float)]
    )
    h = times[1] - times[0]
    found = fmpy.simulate_fmu(
        str(path), stop_time=times[-1], step_size=h, output_interval=h, input=signal, output=names
    )
    return np.array([[row[name] for name in names] for row in found])


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_motion_is_that_of_simulate(version, tmp_path):
    """Inputs are held over a step; positions, velocities and frames go out."""
    system, path = arm(), tmp_path / "arm.fmu"
    start = {"q": {"main": 0.4}, "v": {"ball": [0.5, -1.0, 2.0]}}
    outputs = {
        "angle": "q.main",
        "speed": "v.ball[1]",
        "tip": "tip.position",
        "load": "main.effort",
    }
    given = {"inputs": {"torque": "main"}, "outputs": outputs, "h": 2e-3}
    mb.export_fmu(system, path, version=version, **given, **start)
    assert validate_fmu(str(path)) == []
    description = fmpy.read_model_description(str(path))
    assert (description.fmiVersion, description.modelName) == (version, "an_arm")
    assert description.coSimulation.canGetAndSetFMUstate
    assert description.coSimulation.canHandleVariableCommunicationStepSize

    times = np.linspace(0.0, 0.5, 51)
    torque = 3.0 * np.sin(7.0 * times)
    names = ["angle", "speed", "tip[0]", "tip[1]", "tip[2]"]
    found = fmu_run(path, names, times, torque)
    # fmpy gives an input that is not constant at the beginning of each step
    held = mb.PiecewiseEfforts(np.pad(torque[:50, None], ((0, 0), (0, 3))), (0.0, 0.5))
    run = mb.simulate(system, (0.0, 0.5), 2e-3, save_every=5, tau=held, **start)
    expected = np.column_stack([run.q[:, 0], run.v[:, 2], system.pose("tip", run.q)[:, :3, 3]])
    assert np.abs(found - found[0]).max() > 0.1
    assert np.abs(found - expected).max() < 1e-11


def test_closed_mechanism_from_the_command_line(tmp_path):
    """A four-bar, whose loop was closed at the start, moves by its own."""
    model, path = tmp_path / "four-bar.toml", tmp_path / "four-bar.fmu"
    mech = four_bar()
    mb.save_model(mech, model)
    done = CliRunner().invoke(main, ["convert", str(model), str(path), "--step", "1e-3"])
    assert done.exit_code == 0, done.output
    system = mech.assemble()
    names = [f"q.{name}" for name in system.position_names]
    found = fmpy.simulate_fmu(
        str(path), stop_time=0.2, step_size=0.01, output_interval=0.01, output=names
    )
    run = mb.simulate(system, (0.0, 0.2), 1e-3, save_every=10)
    got = np.array([[row[name] for name in names] for row in found])
    assert np.abs(got - run.q).max() < 1e-10
    done = CliRunner().invoke(
        main, ["convert", str(model), str(tmp_path / "a.toml"), "--step", "1"]
    )
    assert "are for FMUs" in done.output


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_states_come_back(version, tmp_path):
    """A master takes a step again from a state that it kept."""
    path = tmp_path / "arm.fmu"
    mb.export_fmu(arm(), path, v={"main": 1.0}, version=version)
    description = fmpy.read_model_description(str(path))
    folder = fmpy.extract(str(path), str(tmp_path / "unpacked"))
    (angle,) = [x.valueReference for x in description.modelVariables if x.name == "q.main"]
    fmu = fmpy.instantiate_fmu(folder, description)
    read = fmu.getReal if version == "2.0" else fmu.getFloat64
    if version == "2.0":
        fmu.setupExperiment()
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.doStep(0.0, 0.1)
    kept = fmu.getFMUState()
    ends = []
    for _ in range(2):
        fmu.doStep(0.1, 0.1)
        ends.append(read([angle])[0])
        fmu.setFMUState(kept)
    assert read([angle])[0] != ends[0] == ends[1]
    fmu.terminate()
    fmu.freeInstance()


def test_what_a_file_does_not_hold_is_refused(tmp_path):
    """Forces in Python cannot go; other parameters can."""
    system, path = arm(), tmp_path / "a.fmu"
    push = mb.ForceFunction("push", lambda t, q, v: np.ones(1), joints="main", power="supplied")
    with pytest.raises(mb.UsageError, match="cannot be made again from a file"):
        mb.export_fmu(system.with_forces([push]), path)
    assert not pathlib.Path(path).exists()
    with pytest.raises(mb.UsageError, match=r"version must be '2.0' or '3.0', got '1.0'"):
        mb.export_fmu(system, path, version="1.0")
    mb.export_fmu(system.with_parameters({"bodies.upper.mass": 5.0}), path)
    assert path.exists()

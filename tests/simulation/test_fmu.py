"""Units that other programs step, without those programs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import mbkit as mb
from mbkit.simulation.fmi.unit import Unit, channels, input_names, output_channels


def pendulum():
    mech = mb.Mechanism("pendulum")
    tip = {"tip": mb.spatial.translation((0, 0, -2))}
    mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0)), frames=tip))
    mech.add_joint(mb.RevoluteJoint("main", axis=(0, 1, 0)), mech.world, "bob")
    return mech.assemble()


@pytest.mark.slow
def test_steps_of_others_are_divided():
    """Spans that are no multiple of h, one after another, are those of one run."""
    system = pendulum()
    outputs, held = output_channels(system, ["q.main", "tip.pose", "main.effort"])
    assert held == {name: name for name in ("q.main", "tip.pose", "main.effort")}
    unit = Unit(system, {"torque": 0}, outputs, 1e-3, np.array([0.3]), np.zeros(1))
    unit.tau[0] = 1.5
    inputs, out = channels(unit)
    assert [tuple(each) for each in inputs] == [("torque", "N m")]
    assert (out[0], out[1].name, out[-1]) == (
        ("q.main", "rad"),
        "tip.pose[0]",
        ("main.effort", "N m"),
    )
    for t, span in ((0.0, 0.0105), (0.0105, 0.0395), (0.05, 0.05)):
        unit.advance(t, span)
    run = mb.simulate(system, (0.0, 0.1), q=[0.3], tau=[1.5])
    values = unit.values()
    assert abs(unit.q[0] - run.q[-1, 0]) < 1e-10
    np.testing.assert_allclose(values[1:17].reshape(4, 4), system.pose("tip", unit.q))
    assert (values[0], values[-1]) == (unit.q[0], 1.5)


def test_names_of_inputs_and_outputs():
    """Everything by default; what is unknown or twice is refused by name."""
    system = pendulum()
    assert input_names(system, None) == {"tau.main": "main"} == input_names(system, ["main"])
    assert input_names(system, {"u": "main"}) == {"u": "main"}
    assert list(output_channels(system, None)[1]) == ["q.main", "v.main"]
    for given, kind, message in (
        (["mian"], mb.NameUnknownError, "no velocity 'mian'.*'main'"),
        ("main", mb.UsageError, "inputs must be names, such as"),
        ([3], mb.UsageError, "each of inputs"),
        (["main", "main"], mb.UsageError, "'main' twice"),
    ):
        with pytest.raises(kind, match=message):
            mb.export_fmu(system, "a.fmu", inputs=given)
    for given, kind, message in (
        (["q.mian"], mb.NameUnknownError, "no 'q.mian'.*q.main"),
        (["tip.pos"], mb.NameUnknownError, "position"),
        ({"a": len}, mb.UsageError, "each of outputs"),
    ):
        with pytest.raises(kind, match=message):
            mb.export_fmu(system, "a.fmu", outputs=given)


def test_refusals(monkeypatch):
    """Another suffix, no system, an integrator of one's own, no pythonfmu."""
    system = pendulum()
    with pytest.raises(mb.UsageError, match=r"must end in \.fmu"):
        mb.export_fmu(system, "a.zip")
    with pytest.raises(mb.UsageError, match=r"mechanism\.assemble"):
        mb.export_fmu(mb.Mechanism("m"), "a.fmu")
    with pytest.raises(mb.UsageError, match="one of mbkit's"):
        mb.export_fmu(system, "a.fmu", integrator=3)
    monkeypatch.setitem(sys.modules, "pythonfmu.builder", None)
    with pytest.raises(mb.UsageError, match=r"pip install 'mbkit\[fmi\]'"):
        mb.export_fmu(system, "a.fmu")

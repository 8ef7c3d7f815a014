"""A result in memory: what it accepts, that it cannot be changed, its labels."""

from __future__ import annotations

import copy
import pickle
import sys

import attrs
import numpy as np
import pytest

import mbkit as mb


def test_arrays_are_read_only_copies(changed):
    """Neither the result nor the array it was made from can change it."""
    given = np.zeros((5, 4))
    run = changed(q=given)
    given[0, 0] = 1.0
    assert run.q[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        run.q[0, 0] = 1.0
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        run.t = given


def test_read_only_arrays_are_taken_without_a_copy(changed):
    given = np.zeros((5, 4))
    given.setflags(write=False)
    assert changed(q=given).q is given


def test_energy_is_the_sum(run):
    np.testing.assert_array_equal(run.energy, run.kinetic_energy + run.potential_energy)
    assert run.energy_drift[0] == 0.0
    np.testing.assert_array_equal(run.energy_drift, run.energy - run.energy[0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t": []}, r"t has shape \(0,\); give the times of at least one instant"),
        ({"t": [[0.0]]}, r"t has shape \(1, 1\)"),
        ({"q": np.zeros((5, 3))}, r"q has shape \(5, 3\).*it must be \(5, 4\)"),
        ({"v": np.zeros((4, 3))}, r"v has shape \(4, 3\).*it must be \(5, 3\)"),
        ({"kinetic_energy": 1.0}, r"kinetic_energy has shape \(\)"),
        ({"potential_energy": np.zeros(6)}, r"potential_energy has shape \(6,\)"),
        ({"position_units": ("rad",)}, "1 position_units for 4 positions"),
    ],
)
def test_wrong_shapes_are_named(changed, changes, message):
    with pytest.raises(mb.ShapeError, match=message):
        changed(**changes)


def test_options_become_plain_and_read_only(changed):
    """Lists, arrays and objects among the options end as what a file can give back."""
    run = changed(options={"a": [1, [2.5]], "b": np.arange(2), "c": np.float64(3.0), "d": object})
    assert dict(run.options) == {"a": (1, (2.5,)), "b": (0, 1), "c": 3.0, "d": str(object)}
    with pytest.raises(TypeError):
        run.options["a"] = 1


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda run: pickle.loads(pickle.dumps(run))])  # noqa: S301 - our own bytes
def test_copies_are_equal_and_read_only(run, duplicate):
    other = duplicate(run)
    for field in attrs.fields(mb.Result):
        np.testing.assert_array_equal(getattr(other, field.name), getattr(run, field.name))
    assert not other.q.flags.writeable


def test_repr_says_what_happened(changed):
    """Span, method, work, balance, why it ended, warnings; text of files is escaped."""
    energies = {"kinetic_energy": [0, 1, 4, 2, 0], "potential_energy": [4, 3, 0, 2.5, np.nan]}
    options = {
        "integrator": "RATTLie()", "h": 0.1, "steps_taken": 4, "wall_time": 0.25,
        "counts": {"evaluations": 16, "rejected_steps": 1},
    }  # fmt: skip
    run = changed(**energies, options=options, warnings=["<b>bold</b>\x1b[31m"])
    assert repr(run).splitlines() == [
        "<Result: 5 instants from 0 s to 0.4 s, nq = 4, nv = 3, not completed",
        "  integrator  RATTLie(), h = 0.1 s",
        "  work        4 steps, 16 evaluations, 1 rejected steps, in 0.25 s",
        "  energies    change by at most 0.5 J, 1.2e-01 of the peak kinetic energy",
        "  ended       Interrupted by the user after t = 0.4 s.",
        "  warning     <b>bold</b>\\x1b[31m>",
    ]
    page = run._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "<b>" not in page
    adaptive = changed(options={"integrator": "Pair(rtol=1e-8)", "h": 0.1, "adaptive": True})
    assert "Pair(rtol=1e-8), adaptive steps of at most 0.1 s" in repr(adaptive)
    forced = changed(**energies, supplied_energy=[0, 0, 0, 0.25, 1])
    assert "balance off by at most 0.25 J, 6.2e-02 of the peak" in repr(forced)
    still = {"kinetic_energy": [0, 1e-65, 0, 0, 0], "potential_energy": [7, 7, 7 + 2e-15, 7, 7]}
    assert "change by at most 1.78e-15 J\n" in repr(changed(**still))
    creeping = {"kinetic_energy": [0, 4e-12, 0, 0, 0], "potential_energy": [7, 7 - 3e-12, 7, 7, 7]}
    assert "2.5e-01 of the peak kinetic energy" in repr(changed(**creeping))


def test_joints_are_found_by_name(run, changed):
    np.testing.assert_array_equal(run["tip"], run.q)
    np.testing.assert_array_equal(run["tip[2]"], run.q[:, 2])
    np.testing.assert_array_equal(run.velocity("tip[1]"), run.v[:, 1])
    names = {"joint_names": ("tip", "rail", "weld"), "position_names": ("rail", *"abc")}
    other = changed(**names, options={"loop_joints": ("pin",)})
    np.testing.assert_array_equal(other["rail"], other.q[:, 0])
    assert other["weld"].shape == (5, 0)
    for name, text in (
        ("rial", "did you mean 'rail'"), ("pin", "closes a loop"), (3, "no joint, component"),
        ([], "no joint, component"),
    ):  # fmt: skip
        with pytest.raises(mb.NameUnknownError, match=text):
            other[name]
    with pytest.raises(mb.NameUnknownError, match=r"run.velocity\['tp'\].*did you mean 'tip'"):
        run.velocity("tp")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("tip.effort", "this run did not record it; ask for it"),
        ("pin.reaction", "this run did not record it; ask for it"),  # it closes a loop
        ("body.position", "this run did not record it; ask for it"),
        ("motor.power", "if the mechanism has 'motor', ask for it"),
        ("hand.position", "if the mechanism has 'hand', ask for it"),
    ],
)
def test_outputs_that_were_not_recorded_say_how_they_are(changed, name, told):
    """A result knows joints and bodies; of forces and frames it cannot say whether they are."""
    run = changed(options={"loop_joints": ("pin",)}, body_names=("world", "body"))
    with pytest.raises(mb.NameUnknownError, match=told) as caught:
        run[name]
    assert str(caught.value).endswith(f"simulate(..., outputs=[{name!r}]).")
    with pytest.raises(mb.NameUnknownError, match="no joint, component or output"):
        run["tip.power"]


def test_units_of_velocities(changed):
    """Those of positions by seconds; a unit quaternion has three angular velocities."""
    assert changed().velocity_units == ("rad/s",) * 3
    assert changed(position_units=("rad", "m", "rad", "m")).velocity_units == ("",) * 3
    assert changed(position_units=()).velocity_units == ("",) * 3


def test_to_xarray_has_names_and_values(run):
    data = run.to_xarray()
    np.testing.assert_array_equal(data.v.sel(velocity="tip[1]"), run.v[:, 1])
    np.testing.assert_array_equal(data.q.sel(time=0.4, position="tip[3]"), run.q[-1, 3])
    np.testing.assert_array_equal(data.kinetic_energy + data.potential_energy, run.energy)
    assert list(data.body.values) == ["world", "top"]
    assert data.kinetic_energy.units == "J"
    assert data.attrs["model"] == run.model


def test_to_xarray_says_what_is_missing(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(mb.UsageError, match=r"pip install 'mbkit\[xarray\]'"):
        run.to_xarray()

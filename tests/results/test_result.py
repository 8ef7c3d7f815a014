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


def test_repr_is_one_line(run):
    assert repr(run) == "<Result: 5 instants from 0 s to 0.4 s, nq = 4, nv = 3, not completed>"


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

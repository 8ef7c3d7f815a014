"""Dissipated and supplied energies: in files, and in files from before there were any."""

from __future__ import annotations

import h5netcdf
import numpy as np
import pytest

import mbkit as mb


def _run():
    mech = mb.Mechanism("wheel")
    wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("axle"), mech.world, wheel)
    mech.add_force(mb.JointDamper("oil", "axle", damping=0.01))
    return mb.simulate(mech.assemble(), (0.0, 0.1), 0.01, v=[3.0], tau=[0.2])


def test_a_file_keeps_them(tmp_path):
    run = _run()
    run.save(tmp_path / "run.nc")
    again = mb.load_result(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.dissipated_energy, run.dissipated_energy)
    np.testing.assert_array_equal(again.supplied_energy, run.supplied_energy)
    assert run.dissipated_energy[-1] > 0.0
    assert run.supplied_energy[-1] > 0.0
    assert np.abs(again.energy_balance).max() < 1e-6 * run.energy[0]


def test_a_file_without_them_has_none(tmp_path):
    """What earlier versions wrote is read; nothing is known to be dissipated or supplied."""
    run = _run()
    run.save(tmp_path / "run.nc")
    with (
        h5netcdf.File(tmp_path / "run.nc", "r") as file,
        h5netcdf.File(tmp_path / "old.nc", "w") as old,
    ):
        old.dimensions = {name: size.size for name, size in file.dimensions.items()}
        for name, variable in file.variables.items():
            if name not in ("dissipated_energy", "supplied_energy"):
                old.create_variable(name, variable.dimensions, variable.dtype, data=variable[...])
        old.attrs.update({**file.attrs, "mbkit_result": 1})
    with pytest.warns(mb.ResultFileWarning, match="no checksum"):
        found = mb.load_result(tmp_path / "old.nc")
    np.testing.assert_array_equal(found.q, run.q)
    np.testing.assert_array_equal(found.dissipated_energy, 0.0)
    np.testing.assert_array_equal(found.supplied_energy, 0.0)

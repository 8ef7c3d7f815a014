"""Benchmarks of the IFToMM library of multibody problems, with values of other programs."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import (
    andrews_squeezer,
    bricard,
    flyball_governor,
    n_four_bar,
    spatial_slider_crank,
)
from tests.every_representation import each_representation

DATA = json.loads((pathlib.Path(__file__).parents[1] / "data" / "closed_loops.json").read_text())

#: That rows are redundant is known here.
pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

#: Of Bricard's mechanism, from a quadrature of its energy. [s]
BRICARD_PERIOD = 4.99171151368871


@pytest.mark.some(3)
@pytest.mark.parametrize(("windows", "tolerance"), [(1, 1e-10), (10, 1e-10), (40, 1e-8)])
def test_rows_of_four_bars_pass_the_singular_posture(windows, tolerance):
    """A02: once around, twice through the posture where each window could fold on its own."""
    system = n_four_bar.build(windows).assemble()
    v = n_four_bar.initial_velocity(system)
    run = mb.simulate(system, (0.0, 2.0), 1e-3, v=v, save_every=20, progress=False)
    exact = n_four_bar.exact_angle(windows, run.t)
    assert exact[-1] > 2 * np.pi
    for i in range(windows + 1):
        found = run.q[:, system.position_slice(f"ground{i}")][:, 0]
        assert np.abs(found - exact).max() < tolerance


@pytest.mark.parametrize("case", DATA["n_four_bar"], ids=lambda case: f"N={case['windows']}")
def test_the_ground_holds_a_row_of_four_bars_as_published(case):
    """A02: the force in the plane on the first rod; the rest of the wrench is not unique."""
    windows = case["windows"]
    system = n_four_bar.build(windows).assemble()
    signs = n_four_bar.initial_velocity(system) / n_four_bar.RATE
    kappa2 = 1.5 * n_four_bar.GRAVITY * (3 * windows + 1) / (4 * windows + 1) / n_four_bar.LENGTH
    for t, *force in case["ground_reactions"]:
        angle = float(n_four_bar.exact_angle(windows, np.array(t)))
        rate = np.sqrt(n_four_bar.RATE**2 + 2 * kappa2 * (1 - np.cos(angle)))
        state = angle * signs, rate * signs
        found = system.reaction("ground0", *state, on="rod0", minimum_norm=True)
        assert np.abs(found[3:5] - force).max() < 1e-9 * np.abs(force).max()


@pytest.mark.long
@pytest.mark.parametrize("windows", [1, 10, 40])
def test_rows_of_four_bars_pass_the_singular_posture_often(windows):
    """A02: ten times in ten seconds, closed to rounding and with the energy they started with."""
    system = n_four_bar.build(windows).assemble()
    v = n_four_bar.initial_velocity(system)
    run = mb.simulate(system, (0.0, 10.0), 1e-3, v=v, save_every=100, progress=False)
    exact = n_four_bar.exact_angle(windows, run.t)
    assert exact[-1] > 10 * np.pi
    found = run.q[:, system.position_slice("ground0")][:, 0]
    assert np.abs(found - exact).max() < 1e-6
    assert run.residuals[:, :2].max() < 1e-10
    assert np.abs(run.energy_drift).max() < 1e-6 * run.kinetic_energy.max()


@pytest.mark.some(4)
@pytest.mark.slow
@each_representation
def test_a_four_bar_passes_the_singular_posture_in_all_representations(representation):
    """A02: ten times in ten seconds."""
    coordinates = mb.RelativeCoordinates(representation=representation)
    system = n_four_bar.build(1).assemble(coordinates)
    v = n_four_bar.initial_velocity(system)
    run = mb.simulate(system, (0.0, 10.0), 1e-3, v=v, save_every=20, progress=False)
    found = run.q[:, system.position_slice("ground0")][:, 0]
    assert np.abs(found - n_four_bar.exact_angle(1, run.t)).max() < 1e-9


@pytest.mark.some(4)
@each_representation
def test_andrews_squeezer_has_its_angles_to_nine_digits_and_more(representation):
    """A03: the angles published for t = 0.03 s are off by 1e-9, those here are not."""
    coordinates = mb.RelativeCoordinates(representation=representation)
    system = andrews_squeezer.build().assemble(coordinates)
    times = [sample["t"] for sample in DATA["andrews"]]
    run = mb.simulate(system, (0.0, times[-1]), 5e-6, save_every=1000, progress=False)
    names = list(andrews_squeezer.START)
    for sample in DATA["andrews"]:
        row = int(np.argmin(np.abs(run.t - sample["t"])))
        assert abs(run.t[row] - sample["t"]) < 1e-12
        for name, found in andrews_squeezer.angles(system, run.q[row]).items():
            k = names.index(name)
            assert abs(found - sample["q"][k]) < 1e-11
            rate = run.v[row, system.velocity_slice(name)][0]
            assert abs(rate - sample["v"][k]) < 1e-7 * max(map(abs, sample["v"]))


@pytest.mark.some(4)
@each_representation
def test_bricards_mechanism_falls_as_published(representation):
    """A04: the third joint, the angles and their rates, with rank-deficient closure."""
    coordinates = mb.RelativeCoordinates(representation=representation, loop_joints=["joint6"])
    system = bricard.build().assemble(coordinates)
    run = mb.simulate(system, (0.0, 1.0), 1e-3, save_every=50, progress=False)
    for sample in DATA["bricard"]:
        row = int(np.argmin(np.abs(run.t - sample["t"])))
        assert abs(run.t[row] - sample["t"]) < 1e-12
        point = bricard.third_point(system, run.q[row])
        assert np.abs(point - sample["third_point"]).max() < 1e-11
        assert np.abs(run.q[row] - sample["angles"]).max() < 1e-11
        assert np.abs(run.v[row] - sample["rates"]).max() < 2e-11


@pytest.mark.long
def test_bricards_mechanism_comes_back():
    """A04: after two periods, ten seconds, it stands as at the start, at rest."""
    system = bricard.build().assemble(mb.RelativeCoordinates(loop_joints=["joint6"]))
    run = mb.simulate(
        system, (0.0, 2 * BRICARD_PERIOD), BRICARD_PERIOD / 5000, save_every=5000, progress=False
    )
    assert np.abs(run.q[1:]).max() < 1e-10
    assert np.abs(run.v[1:]).max() < 1e-10


def test_the_flyball_governor_rises_as_published():
    """A05: the loops are closed by stiff springs; the step is below 3e-4 s."""
    system = flyball_governor.build().assemble()
    v = flyball_governor.initial_velocity(system)
    run = mb.simulate(system, (0.0, 0.5), 1e-4, v=v, save_every=1000, progress=False)
    for sample in DATA["governor"]:
        row = int(np.argmin(np.abs(run.t - sample["t"])))
        q, rates = dict(zip(system.position_names, run.q[row], strict=True)), run.v[row]
        expected = {
            "spin": sample["phi"],
            "slide": sample["s"] - flyball_governor.HEIGHT,
            "right": sample["alpha"] - flyball_governor.DROOP,
            "left": sample["alpha"] - flyball_governor.DROOP,
        }
        for name, value in expected.items():
            assert abs(q[name] - value) < 1e-10
        slide = rates[system.velocity_slice("slide")][0]
        assert abs(slide - sample["s_dot"]) < 1e-9
    momenta = [system.momentum(run.q[k], run.v[k])[2] for k in (0, -1)]
    assert abs(momenta[1] - momenta[0]) < 1e-11 * momenta[0]


@pytest.mark.some(4)
@each_representation
@pytest.mark.parametrize("cut", ["ball", "cross", "guide", "pivot"])
def test_the_spatial_slider_crank_moves_as_published(cut, representation):
    """Slider and crank after a tenth of a second, however the loop is cut."""
    coordinates = mb.RelativeCoordinates(representation=representation, loop_joints=[cut])
    system = spatial_slider_crank.build().assemble(coordinates)
    v = spatial_slider_crank.initial_velocity(system)
    run = mb.simulate(system, (0.0, 0.1), 2e-4, v=v, save_every=500, progress=False)
    (sample,) = DATA["slider_crank"]
    poses = system.poses(run.q[-1])
    twists = system.twists(run.q[-1], run.v[-1], representation=mb.Hybrid())
    slider, crank = (system.body_index(name) for name in ("slider", "crank"))
    assert abs(poses[slider, 0, 3] - sample["slider_x"]) < 1e-11
    assert abs(twists[slider, 3] - sample["slider_v"]) < 1e-10
    R = poses[crank, :3, :3]
    assert abs(np.arctan2(R[2, 1], R[1, 1]) - sample["theta"]) < 1e-11
    assert abs(twists[crank, 0] - sample["theta_dot"]) < 1e-9

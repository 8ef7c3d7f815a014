"""The models of the work-precision benchmark are the same mechanisms in all three programs."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import mbkit as mb
from benchmarks.compared_exudyn import ExudynModel, Method
from benchmarks.compared_models import bridge, heavy_top
from benchmarks.compared_mujoco import MujocoModel
from benchmarks.work_precision import curves, draw, table


@functools.cache
def model(make):
    return make()


@functools.cache
def solution(make):
    return model(make).reference(4096)


@pytest.mark.parametrize("make", [heavy_top, bridge])
def test_exudyns_solutions_tend_to_mbkits_with_order_two(make):
    """Both of its Lie group methods; the trapezoidal rule has constraints of index 2."""
    exudyn = ExudynModel(model(make))
    for method in (Method("2010", original=True), Method("trapezoidal rule", index_2=True)):
        if make is bridge and method.original:
            continue  # it does not converge there
        steps = (1600, 3200)
        found = [np.abs(exudyn.run(method, n)[0] - solution(make)).max() for n in steps]
        assert found[0] / found[1] == pytest.approx(4.0, rel=0.05)
        assert found[1] < 2e-4


def test_mujocos_top_takes_the_same_steps():
    """Its RK4 on ball joints is mbkit's in other words: the errors agree, not only the solution."""
    top = model(heavy_top)
    run = mb.simulate(
        top.system, (0.0, top.span), top.span / 400, v=top.velocity, save_every=400, progress=False
    )
    found, _ = MujocoModel(top).run(400)
    errors = [each - solution(heavy_top) for each in (found, top.centres(run.q[-1]))]
    assert np.abs(errors[0] - errors[1]).max() < 1e-3 * np.abs(errors[1]).max()


def test_mujocos_bridge_is_closed_ever_better():
    """Its loops are soft, and as stiff as the step allows."""
    twin = MujocoModel(model(bridge))
    found = [np.abs(twin.run(n)[0] - solution(bridge)).max() for n in (400, 1600)]
    assert found[1] < found[0] / 8
    assert found[1] < 1e-5


def test_a_small_study_has_all_programs_and_a_plot(tmp_path):
    """Each program has a curve whose errors fall, and the picture is written."""
    found = curves(model(heavy_top), most=800, rounds=1)
    draw({"heavy top": found}, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 0
    for program in ("mbkit", "Exudyn", "MuJoCo"):
        own = [curve.points for curve in found if curve.program == program and curve.points]
        assert own
        for points in own:
            errors = [point.error for point in points]
            assert errors == sorted(errors, reverse=True)
    assert table("heavy top", found).rows

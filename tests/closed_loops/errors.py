"""Errors of the mechanisms of the examples against independent solutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

import mbkit as mb
from examples.closed_loops import (
    andrews_squeezer,
    bricard,
    double_cardan,
    four_bar,
    n_four_bar,
    parallelogram,
    spatial_slider_crank,
)
from tests.closed_loops.planar_four_bar import PlanarFourBar, Rod


@attrs.frozen
class Compared:
    """An independent solution.

    Attributes
    ----------
    by : str
        What it comes from.
    until : float
        Time at which the motions are compared. [s]
    error : callable
        From a system and its q (nq,) at that time to the error.
    """

    by: str
    until: float
    error: Callable[[mb.System, Any], float]


def position(system: mb.System, q: Any, joint: str) -> float:
    """Return the only position of a joint."""
    return float(q[system.position_slice(joint)][0])


def planar_twin() -> PlanarFourBar:
    """Return the planar twin of the four-bar linkage, from the numbers of its bodies."""
    bodies = four_bar.build().bodies
    lengths = {"crank": four_bar.CRANK, "coupler": four_bar.COUPLER, "rocker": four_bar.ROCKER}
    rods = {
        name: Rod(length, bodies[name].inertia.mass, bodies[name].inertia.moment_about_com[2, 2])
        for name, length in lengths.items()
    }
    return PlanarFourBar(four_bar.GROUND, **rods)


def _four_bar(system: mb.System, q: Any) -> float:
    crank, _ = planar_twin().crank_motion(four_bar.START, four_bar.RATE, np.array([10.0]))
    return abs(position(system, q, "A") + four_bar.START - float(crank[0]))


def _four_bars(system: mb.System, q: Any) -> float:
    return abs(position(system, q, "ground0") - float(n_four_bar.exact_angle(3, np.array(10.0))))


def _andrews(system: mb.System, q: Any) -> float:
    found = andrews_squeezer.angles(system, q)
    exact = andrews_squeezer.AFTER_30_MS
    return max(abs(value - exact[name]) for name, value in found.items())


def _bricard(system: mb.System, q: Any) -> float:
    gap = bricard.third_point(system, q) - bricard.THIRD_POINT_AFTER_1_S
    return float(np.abs(gap).max())


def _slider_crank(system: mb.System, q: Any) -> float:
    exact = spatial_slider_crank.AFTER_100_MS
    slider = position(system, q, "guide") + spatial_slider_crank.SLIDER[0]
    return max(abs(slider - exact["slider"]), abs(position(system, q, "pivot") - exact["crank"]))


def _parallelogram(system: mb.System, q: Any) -> float:
    return abs(position(system, q, "A") - float(parallelogram.exact_turn(np.array(10.0))))


def _double_cardan(system: mb.System, q: Any) -> float:
    """Return the error of the time at which the input is where it is, as an angle."""
    late = double_cardan.time_of(position(system, q, "drive")) - 2.0
    return abs(late) * double_cardan.SPEED


COMPARED = {
    "four-bar": Compared("Freudenstein's equation, reduced equation of motion", 10.0, _four_bar),
    "3-four-bar": Compared("elliptic functions", 10.0, _four_bars),
    "Andrews' squeezer": Compared("other programs, 13 digits", 0.03, _andrews),
    "Bricard": Compared("other programs, 12 digits", 1.0, _bricard),
    "spatial slider-crank": Compared("other programs, 11 digits", 0.1, _slider_crank),
    "parallelogram": Compared("closed form", 10.0, _parallelogram),
    "double Cardan": Compared("closed form, quadrature", 2.0, _double_cardan),
}

"""The closed mechanisms of the examples, with what tests and benchmarks ask of each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

import mbkit as mb
from examples.closed_loops import (
    andrews_squeezer,
    bricard,
    delta_robot,
    double_cardan,
    five_bar,
    four_bar,
    n_four_bar,
    parallelogram,
    spatial_slider_crank,
    stewart_platform,
)


def _at_rest(system: mb.System) -> np.ndarray:
    return np.zeros(system.nv)


@attrs.frozen
class Case:
    """A closed mechanism that moves.

    Attributes
    ----------
    name : str
        For messages and tables.
    build : callable
        Makes the mechanism with its forces.
    mobility : int
        Its degrees of freedom, where it is not singular.
    cuts : sequence of sequences of str
        Joints that may close its loops; the first are taken where nothing else is said.
    h, span : float
        Step at which energy is kept, and how long. [s]
    velocity : callable
        From a system to the velocity at the start.
    conservative : bool
        Whether all energy is kept.
    smooth : float
        How long it moves before it passes a singular posture. [s]
    """

    name: str
    build: Callable[[], mb.Mechanism]
    mobility: int
    cuts: Sequence[Sequence[str]]
    h: float = 1e-3
    span: float = 10.0
    velocity: Callable[[mb.System], np.ndarray] = _at_rest
    conservative: bool = True
    smooth: float = 2.0

    def system(self, cut: Sequence[str] | None = None, representation: Any = None) -> mb.System:
        """Return the equations of motion."""
        return self.build().assemble(
            mb.RelativeCoordinates(
                representation=mb.BodyFixed() if representation is None else representation,
                loop_joints=self.cuts[0] if cut is None else cut,
            )
        )

    def run(
        self, system: mb.System, span: float, h: float | None = None, **options: Any
    ) -> mb.Result:
        """Return the motion over a span [s] by Runge-Kutta-Munthe-Kaas of order 4."""
        v = self.velocity(system)
        step = self.h if h is None else h
        return mb.simulate(system, (0.0, span), step, v=v, progress=False, **options)


def _on_springs(example: Any) -> mb.Mechanism:
    mech: mb.Mechanism = example.build()
    for spring in example.springs():
        mech.add_force(spring)
    return mech


def five_bar_on_springs() -> mb.Mechanism:
    """Return the five-bar linkage with springs in its shoulders, not in balance."""
    mech = five_bar.build()
    for side, stiffness in (("left", 30.0), ("right", 40.0)):
        mech.add_force(mb.JointSpring(f"{side} spring", f"{side} shoulder", stiffness=stiffness))
    return mech


def _balls(kept: int) -> tuple[str, ...]:
    return tuple(f"ball{k}" for k in range(1, 7) if k != kept)


CASES = (
    Case(
        "four-bar", four_bar.build, 1, (("C",), ("D",), ("A",), ("B",)),
        velocity=four_bar.initial_velocity,
    ),
    Case(
        "3-four-bar", functools.partial(n_four_bar.build, 3), 1,
        (
            ("right1", "right2", "right3"),
            ("left1", "left2", "ground3"),
            ("ground1", "ground2", "ground3"),
        ),
        velocity=n_four_bar.initial_velocity, smooth=0.65,
    ),
    Case(
        "Andrews' squeezer", andrews_squeezer.build, 1,
        (
            ("meeting K3", "meeting K4", "meeting K6"),
            ("gamma", "delta", "epsilon"),
            ("theta", "phi", "omega"),
        ),
        h=1e-5, span=0.05, conservative=False, smooth=0.02,
    ),
    Case(
        "Bricard", bricard.build, 1, (("joint6",), ("joint3",), ("joint1",)),
    ),
    Case(
        "spatial slider-crank", spatial_slider_crank.build, 1,
        (("ball",), ("cross",), ("guide",), ("pivot",)),
        velocity=spatial_slider_crank.initial_velocity, h=5e-4,
    ),
    Case(
        "parallelogram", parallelogram.build, 1, (("D",), ("B",)), conservative=False, smooth=1.2,
    ),
    Case(
        "Stewart platform", functools.partial(_on_springs, stewart_platform), 6,
        (_balls(1), _balls(4), (*_balls(1)[:4], "foot6")),
        h=5e-4,
    ),
    Case(
        "five-bar", five_bar_on_springs, 2,
        (("meeting",), ("left elbow",), ("right elbow",)),
    ),
    Case(
        "delta robot", functools.partial(_on_springs, delta_robot), 3,
        (
            ("wrist1b", "wrist2a", "wrist2b", "wrist3a", "wrist3b"),
            ("elbow1b", "wrist2a", "wrist2b", "wrist3a", "elbow3b"),
            ("wrist1a", "wrist1b", "elbow2a", "wrist2b", "wrist3a"),
        ),
    ),
    Case(
        "double Cardan", double_cardan.build, 1,
        (
            ("slim at output", "hollow at output"),
            ("driven", "hollow at input"),
            ("drive", "slim at output"),
        ),
        velocity=double_cardan.initial_velocity,
    ),
)  # fmt: skip

BY_NAME = {case.name: case for case in CASES}

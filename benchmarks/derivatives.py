"""Derivatives of dynamics, by the time of the evaluation that is differentiated.

Pinocchio's Python has no second derivatives, and derivatives by places neither; what it has is in
`benchmarks.dynamics`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import mbkit as mb
from benchmarks.mechanisms import MIXED, benchmark_tree
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from tests.closed_loops.mechanisms import CASES
from tests.trees import random_state

SIZES = sized((7, 30), (7,))
#: Of each: some take a second.
ROUNDS = 7
CLOSED = ("four-bar", "Bricard", "Stewart platform")

Pairs = dict[str, tuple[Callable[[], Any], Callable[[], Any]]]


def derivatives() -> Table:
    """Return the times of derivatives of trees and of closed mechanisms."""
    rows = []
    for count in SIZES:
        system = benchmark_tree(count, MIXED).assemble()
        state = random_state(np.random.default_rng(count), system)
        given = state.q, state.v, state.tau, state.vdot
        rows += _rows(f"{count} bodies", _of_dynamics(system, *given) | _second(system, *given))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        for case in CASES:
            if case.name in CLOSED:
                system = case.system()
                still = np.zeros(system.nv)
                q, v = system.reference_configuration(), case.velocity(system)
                rows += _rows(case.name, _of_dynamics(system, q, v, still, still))
    return Table("Derivatives, by what they are of", rows, peer="evaluation")


def _rows(what: str, pairs: Pairs) -> list[Row]:
    rows = []
    for name, (own, of) in pairs.items():
        found = interleaved({"own": own, "peer": of}, rounds=ROUNDS)
        times = found.best("own"), found.best("peer"), found.ratio("own", "peer")
        rows.append(Row(f"{what}, {name}", *times))
    return rows


def _of_dynamics(system: mb.System, q: Any, v: Any, tau: Any, vdot: Any) -> Pairs:
    """Return forward and hybrid dynamics by state and efforts, and by places of joints."""
    held = {"prescribed": [system.joint_names[0]], "tau": tau, "vdot": vdot}
    places = [f"joints.{joint}.S_pred" for joint in system.joint_names[-3:]]

    def forward() -> Any:
        return system.forward_dynamics(q, v, tau)

    def hybrid() -> Any:
        return system.hybrid_dynamics(q, v, **held)

    def by(*names: str) -> Callable[[], Any]:
        return lambda: system.derivatives("forward_dynamics", q, v, tau, by=names)

    return {
        "forward dynamics by q, v and tau": (by("q", "v", "tau"), forward),
        f"forward dynamics by {len(places)} places of joints": (by(*places), forward),
        "hybrid dynamics by q, v, tau and vdot": (
            lambda: system.derivatives(
                "hybrid_dynamics", q, v, **held, by=("q", "v", "tau", "vdot")
            ),
            hybrid,
        ),
    }


def _second(system: mb.System, q: Any, v: Any, tau: Any, vdot: Any) -> Pairs:
    """Return second derivatives, of the mass matrix with its inverse too; and those of forces."""
    bodies = system.body_names[1:]
    drags = [mb.Drag(f"drag {body}", body, linear=0.1, quadratic=0.2) for body in bodies[::5]]
    loaded = system.with_forces(drags)
    return {
        "second derivatives of inverse dynamics": (
            lambda: system.inverse_dynamics_second_derivatives(q, v, vdot),
            lambda: system.inverse_dynamics(q, v, vdot),
        ),
        "the same with drags": (
            lambda: loaded.inverse_dynamics_second_derivatives(q, v, vdot),
            lambda: loaded.generalized_forces(q, v),
        ),
        "second derivatives of the mass matrix": (
            lambda: system.mass_matrix_derivatives(q, 2),
            lambda: system.mass_matrix(q),
        ),
    }

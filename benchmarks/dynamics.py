"""Inverse and forward dynamics and the mass matrix, against Pinocchio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

import mbkit as mb
from benchmarks.mechanisms import MIXED, REVOLUTE, benchmark_tree
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from tests.peers.pinocchio_twin import PinocchioTwin
from tests.trees import random_state

SIZES = sized((7, 30, 100, 300), (7,))
LARGE = sized((100, 1000, 10_000), (10, 20))

#: Most of Pinocchio's time that a call may take, by size, without and with ``out=``.
BARS: dict[str, dict[int, tuple[float, float]]] = {
    "inverse dynamics": {7: (0.9, 0.9), 30: (0.42, 0.42), 100: (0.6, 0.6), 300: (0.6, 0.6)},
    "forward dynamics": {7: (1.3, 1.0), 30: (0.6, 0.6), 100: (0.6, 0.6), 300: (0.6, 0.6)},
    "mass matrix": {7: (1.1, 1.1), 30: (0.6, 0.6), 100: (0.6, 0.6), 300: (0.6, 0.6)},
}

#: The same for matrices, without ``out=``.
CLOSED_FORMS: dict[str, dict[int, float]] = {
    "derivatives of inverse dynamics": {7: 0.9, 30: 0.6, 100: 0.6, 300: 0.6},
    "derivatives of forward dynamics": {7: 0.9, 30: 0.6, 100: 0.6, 300: 0.6},
    "Coriolis matrix": {7: 0.6, 30: 0.6, 100: 0.6, 300: 0.6},
    "inertial regressor": {7: 0.6, 30: 0.4, 100: 0.4, 300: 0.4},
}

#: Most of the time of forward dynamics that Hamilton's equations may take.
CANONICAL: dict[int, float] = {7: 1.2, 30: 1.2, 100: 1.2}

#: Most of the time of accelerations that jerks may take.
JERKS = 2.0

#: Most that the time by body may grow from the smallest to the largest of `LARGE`.
GROWTH = 1.5

Calls = dict[str, Callable[[], Any]]


def against_pinocchio(sizes: Sequence[int] = SIZES) -> list[Table]:
    """Return a table for each kind of tree; results are compared before they are timed."""
    tables = []
    for title, kinds in (("Revolute joints", REVOLUTE), ("Mixed joints", MIXED)):
        rows = [row for count in sizes for row in _rows(count, kinds)]
        tables.append(Table(f"{title}, against Pinocchio", rows, peer="Pinocchio"))
    return tables


def _rows(count: int, kinds: Sequence[str]) -> list[Row]:
    mechanism = benchmark_tree(count, kinds)
    system = mechanism.assemble()
    state = random_state(np.random.default_rng(count), system)
    twin = PinocchioTwin(mechanism, system)
    _check(system, twin, state)
    own, own_out = _calls(system, state), _calls_with_out(system, state)
    default, world = _peer(twin, state), _peer(twin, state, pin.Convention.WORLD)
    rows = []
    for what, bars in BARS.items():
        functions = {"own": own[what], "out": own_out[what], "peer": default[what]}
        if what in world:
            functions["world"] = world[what]
        found = interleaved(functions)
        bar, bar_out = bars.get(count, (None, None))
        for name, peer, label, limit in (
            ("own", "peer", "", bar),
            ("out", "peer", ", out=", bar_out),
            ("own", "world", ", its WORLD convention", None),
        ):
            if peer in functions:
                times = found.best(name), found.best(peer), found.ratio(name, peer)
                rows.append(Row(f"{count} bodies, {what}{label}", *times, limit))
    rows += _closed_forms(count, system, twin, state)
    return [*rows, _canonical(count, system, state), _jerks(count, system, state)]


def _closed_forms(count: int, system: Any, twin: PinocchioTwin, state: Any) -> list[Row]:
    """Return the rows of what is compared here; Pinocchio's derivatives come with M."""
    q, v, vdot = state.q, state.v, state.vdot
    G = twin.rates(q)
    model, data, peer = twin.model, twin.data, (twin.positions(q), G @ v, G @ vdot)
    tau = np.linalg.solve(G.T, state.tau)
    _check_forward_derivatives(system, twin, state)
    cases: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "derivatives of inverse dynamics": (
            lambda: system.inverse_dynamics_derivatives(q, v, vdot),
            lambda: pin.computeRNEADerivatives(model, data, *peer),
        ),
        "derivatives of forward dynamics": (
            lambda: system.forward_dynamics_derivatives(q, v, state.tau),
            lambda: pin.computeABADerivatives(model, data, *peer[:2], tau),
        ),
        "Coriolis matrix": (
            lambda: system.coriolis_matrix(q, v),
            lambda: pin.computeCoriolisMatrix(model, data, *peer[:2]),
        ),
        "inertial regressor": (
            lambda: system.inertial_regressor(q, v, vdot),
            lambda: pin.computeJointTorqueRegressor(model, data, *peer),
        ),
    }
    expected = {
        "derivatives of inverse dynamics": twin.inverse_dynamics_derivatives(q, v, vdot),
        "Coriolis matrix": twin.coriolis_matrix(q, v),
        "inertial regressor": twin.inverse_dynamics(q, v, vdot),
    }
    rows = []
    for what, (own, other) in cases.items():
        result = own() @ system.inertial_parameters if "regressor" in what else own()
        for a, b in zip(result, expected[what], strict=True) if what in expected else ():
            size = max(np.abs(each).max() for each in expected[what])
            if not np.abs(a - b).max() < 1e-11 * size:
                raise RuntimeError(f"{what}: {system!r} differs from Pinocchio")
        found = interleaved({"own": own, "peer": other})
        times = found.best("own"), found.best("peer"), found.ratio("own", "peer")
        rows.append(Row(f"{count} bodies, {what}", *times, CLOSED_FORMS[what].get(count)))
    return rows


def _check_forward_derivatives(system: Any, twin: PinocchioTwin, state: Any) -> None:
    """Put the derivatives of accelerations into Pinocchio's inverse dynamics, as in `_check`."""
    q, v = state.q, state.v
    vdot = system.forward_dynamics(q, v, state.tau)
    M = twin.mass_matrix(q)
    given = twin.inverse_dynamics_derivatives(q, v, vdot)
    found = system.forward_dynamics_derivatives(q, v, state.tau)
    for own, other in zip(found, (-given[0], -given[1], np.eye(system.nv)), strict=True):
        if not np.abs(M @ own - other).max() < 1e-11 * (np.abs(M) @ np.abs(own)).max():
            raise RuntimeError(
                f"derivatives of forward dynamics: {system!r} differs from Pinocchio"
            )


def _canonical(count: int, system: Any, state: Any) -> Row:
    """Return the row of canonical forward dynamics, by forward dynamics of the same system."""
    form, (q, v, tau) = mb.MomentumForm(system), (state.q, state.v, state.tau)
    p = form.momenta(q, v)
    found = interleaved(
        {
            "own": lambda: form.canonical_forward_dynamics(q, p, tau),
            "peer": lambda: system.forward_dynamics(q, v, tau),
        }
    )
    times = found.best("own"), found.best("peer"), found.ratio("own", "peer")
    what = f"{count} bodies, canonical forward dynamics, by mbkit's forward dynamics"
    return Row(what, *times, CANONICAL.get(count))


def _jerks(count: int, system: Any, state: Any) -> Row:
    """Return the row of jerks of all bodies, by their accelerations."""
    q, v, vdot = state.q, state.v, state.vdot
    found = interleaved(
        {
            "own": lambda: system.jerks(q, v, vdot, vdot),
            "peer": lambda: system.accelerations(q, v, vdot),
        }
    )
    times = found.best("own"), found.best("peer"), found.ratio("own", "peer")
    return Row(f"{count} bodies, jerks, by mbkit's accelerations", *times, JERKS)


def _check(system: Any, twin: PinocchioTwin, state: Any) -> None:
    """Refuse to time two programs that do not compute the same.

    The acceleration is put into Pinocchio's inverse dynamics. Compared directly, mixed trees of 300
    bodies differ by percents: what solves the equations to round-off there is mbkit's.
    """
    q, v = state.q, state.v
    vdot = system.forward_dynamics(q, v, state.tau)
    forces = twin.inverse_dynamics(q, v, state.vdot)
    # of the terms that cancel in tau = M vdot + b
    scale = np.abs(twin.inverse_dynamics(q, v, np.zeros(system.nv))).max()
    for found, expected, size in (
        (system.inverse_dynamics(q, v, state.vdot), forces, np.abs(forces).max()),
        (twin.inverse_dynamics(q, v, vdot), state.tau, scale),
        (system.mass_matrix(q), M := twin.mass_matrix(q), np.abs(M).max()),
    ):
        difference = np.abs(found - expected).max() / size
        if not difference < 1e-11:
            raise RuntimeError(f"{system!r} differs from Pinocchio by {difference:.1e}")


def _calls(system: Any, state: Any) -> Calls:
    q, v, vdot, tau = state.q, state.v, state.vdot, state.tau
    return {
        "inverse dynamics": lambda: system.inverse_dynamics(q, v, vdot),
        "forward dynamics": lambda: system.forward_dynamics(q, v, tau),
        "mass matrix": lambda: system.mass_matrix(q),
    }


def _calls_with_out(system: Any, state: Any) -> Calls:
    q, v, vdot, tau = state.q, state.v, state.vdot, state.tau
    out, M = np.empty(system.nv), np.empty((system.nv, system.nv))
    return {
        "inverse dynamics": lambda: system.inverse_dynamics(q, v, vdot, out=out),
        "forward dynamics": lambda: system.forward_dynamics(q, v, tau, out=out),
        "mass matrix": lambda: system.mass_matrix(q, out=M),
    }


def _peer(twin: PinocchioTwin, state: Any, *convention: Any) -> Calls:
    """Return Pinocchio's calls in its own coordinates, which are converted beforehand."""
    model, data = twin.model, twin.data
    G = twin.rates(state.q)
    q, v, vdot = twin.positions(state.q), G @ state.v, G @ state.vdot
    tau = np.linalg.solve(G.T, state.tau)
    calls: Calls = {
        "forward dynamics": lambda: pin.aba(model, data, q, v, tau, *convention),
        "mass matrix": lambda: pin.crba(model, data, q, *convention),
    }
    if not convention:
        calls["inverse dynamics"] = lambda: pin.rnea(model, data, q, v, vdot)
    return calls


def large_trees(sizes: Sequence[int] = LARGE) -> Table:
    """Return the times by body of large trees, which must grow by less than half."""
    rows = []
    for title, kinds in (("revolute", REVOLUTE), ("mixed", MIXED)):
        first: dict[str, float] = {}
        for count in sizes:
            system = benchmark_tree(count, kinds).assemble()
            calls = _calls(system, random_state(np.random.default_rng(count), system))
            del calls["mass matrix"]  # its size grows with the square
            found = interleaved(calls)
            for what in calls:
                best = found.best(what)
                first.setdefault(what, best / count)
                rows.append(
                    Row(
                        f"{count} bodies, {title}, {what}",
                        best,
                        value=best / count / first[what],
                        bar=GROWTH if count == max(sizes) else None,
                    )
                )
    return Table(f"Large trees, time by body against that of {min(sizes)} bodies", rows)

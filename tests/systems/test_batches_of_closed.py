"""Batches of closed mechanisms: accelerations and multipliers in lanes, as of single calls."""

from __future__ import annotations

import warnings
from unittest import mock

import numpy as np
import pytest

import mbkit as mb
from benchmarks.constraints import four_bars
from examples.closed_loops import delta_robot
from mbkit.kernels.compile import UNCOMPILED
from mbkit.sparsity import nesting
from mbkit.systems.calls import lanes
from mbkit.systems.calls.evaluations import CONSTRAINT_WRENCHES
from mbkit.systems.derivatives.dynamics_derivatives import by_poses
from tests.constraints.examples import IN_LANES, constrained
from tests.constraints.loops import random_loops
from tests.every_representation import REPRESENTATIONS
from tests.sparsity.test_nested import braced_ladder
from tests.systems.test_batches import (
    CHANGING,
    CONSTANT,
    FIRST,
    LOOPS,
    from_first,
    in_lanes_alone,
    one,
)

#: Groups of eight, and one that is not full; and a sample that is spoilt, the second of its group.
COUNT, SPOILT = (11, 9) if UNCOMPILED else (70, 41)


def near(system, q, size):
    """States near to a configuration."""
    rng = np.random.default_rng(8)
    motions = rng.normal(size=(2, COUNT, system.nv))
    wrenches = rng.normal(size=(COUNT, len(system.body_names), 6))
    states = system.retract(q, size * rng.normal(size=(COUNT, system.ndx)))
    return {"q": states, "v": motions[0], "tau": motions[1], "wrenches": wrenches}


def loops(representation, kinds=CONSTANT):
    """Loops closed by joints of many kinds, some of their states far from closed."""
    mech, q, names = random_loops(np.random.default_rng(7), 6, LOOPS, kinds)
    system = mech.assemble(mb.RelativeCoordinates(representation=representation, loop_joints=names))
    return system, near(system, q, np.where(np.arange(COUNT) < COUNT // 2, 1e-3, 0.3)[:, None])


def delta():
    """A delta robot, with universal joints."""
    system = delta_robot.build().assemble()
    return system, near(system, system.reference_configuration(), 1e-3)


def absolute():
    """The arms of a delta robot in absolute coordinates: many rows, in blocks of one constraint."""
    system = delta_robot.build().assemble(mb.AbsoluteCoordinates())
    return system, near(system, system.reference_configuration(), 1e-3)


def redundant():
    """Two windows, 10 rows of rank 4 and, where the rods lie flat, less."""
    system = four_bars(2).assemble()
    arguments = near(system, system.reference_configuration(), 1e-4)
    flat = [name for name in system.joint_names if name.startswith("ground")]
    for k in (5, 20 % COUNT, 21 % COUNT, COUNT - 2):
        arguments["q"][k] = 0.0
        for name in flat:
            arguments["q"][k, system.position_slice(name)] = np.pi / 2
    return system, arguments


def nested(representation):
    """Loops that are closed each at its base, and constraints that pass the bases of others.

    At every tenth state all bars of the ladder lie in one line.
    """
    with mock.patch.object(nesting, "ONE_BLOCK", 0):
        mech = braced_ladder(8)
        system = mech.assemble(mb.RelativeCoordinates(representation=representation))
        system = system.with_constraint_solver(mb.SchurComplement())
    assert system.arrays.closure.propagations is not None
    arguments = near(system, system.reference_configuration(), 1e-3)
    arguments["q"][::10] = system.reference_configuration()
    return system, arguments


def with_one(constraint):
    """Bodies with one constraint, near to where it holds or elsewhere."""
    system, q = constrained([constraint])
    return system, near(system, q, 1e-3)


#: Of each other kind of constraint that lanes compute.
KINDS = {each.name: lambda each=each: with_one(each) for each in IN_LANES}

#: Kinds without wrenches on bodies, and those whose Jacobian is constant.
OF_JOINTS = ("gears", "polynomial", "locked", "cam", "part of a cam")
CONSTANT_ROWS = ("gears", "locked")

CASES = {
    **{each.name: lambda each=each: loops(each) for each in REPRESENTATIONS},
    **{f"nested {each.name}": lambda each=each: nested(each) for each in REPRESENTATIONS},
    "absolute": absolute,
    "redundant": redundant,
}


#: Each case with the Schur complement; with others, whose functions are called sample by sample.
SOLVED = [
    *((name, mb.SchurComplement()) for name in (*CASES, *KINDS)),
    *(("redundant", solver) for solver in (mb.MinimumNorm(), mb.NullSpace())),
]


#: What is compiled for them differs by the representation's operators alone, as for other loops.
LONG = {f"nested {each.name}" for each in REPRESENTATIONS[1:]}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(each, marks=pytest.mark.long if each[0] in LONG else ()) for each in SOLVED
    ],
    ids=[f"{name}-{type(each).__name__}" for name, each in SOLVED],
)
def case(request):
    """A closed mechanism with a solver, and states of it."""
    name, solver = request.param
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        system, arguments = (CASES | KINDS)[name]()
    return system.with_constraint_solver(solver), arguments


def known(system, tau):
    """Efforts, and accelerations of the first joint, which are prescribed."""
    vdot, mask = np.zeros_like(tau), np.zeros_like(tau)
    first = system.velocity_slice(system.joint_names[0])
    vdot[..., first], mask[..., first] = tau[..., first], 1.0
    return np.concatenate([tau, vdot, mask], axis=-1)


METHODS = {
    "forward_dynamics": lambda s, a: s.forward_dynamics(a["q"], a["v"], a["tau"], on_error="nan"),
    "loaded": lambda s, a: s.forward_dynamics(
        a["q"], a["v"], a["tau"], a["wrenches"], on_error="nan"
    ),
    "multipliers": lambda s, a: np.concatenate(
        s.solved(a["q"], a["v"], a["tau"], pull=(9.0, 6.0), on_error="nan"), axis=-1
    ),
    "some prescribed": lambda s, a: np.concatenate(
        s.solve_hybrid(
            a["q"], a["v"], known(s, a["tau"]), a["wrenches"], t=0.0, on_error="nan",
            pull=(9.0, 6.0),
        ), axis=-1
    ),
}  # fmt: skip


#: The arms of a delta robot, in two kinds of coordinates, and loops of joints of all kinds.
MORE_LOOPS = {
    "absolute": absolute,
    "delta": delta,
    "changing": lambda: loops(REPRESENTATIONS[0], (*CONSTANT, *CHANGING)),
}

OF_LOOPS = {
    "velocity_derivative": lambda s, q, v, m, **k: s.constraint_jacobian_velocity_derivative(
        q, v, **k
    ),
    "force_derivative": lambda s, q, v, m, **k: s.constraint_force_derivative(q, m, **k),
    "constraint_wrenches": lambda s, q, v, m, **k: s.evaluator.compute(
        CONSTRAINT_WRENCHES, q, s.evaluator.zero,
        np.concatenate([m, np.zeros((*m.shape[:-1], 1))], axis=-1), **k,
    )[..., : len(s.arrays.closure.site_bodies), :],  # there is room for one where there is none
}  # fmt: skip


@pytest.mark.usefixtures("two_threads")
@pytest.mark.some(6)
@pytest.mark.parametrize("method", OF_LOOPS)
@pytest.mark.parametrize("name", [*(each.name for each in REPRESENTATIONS), *MORE_LOOPS, *KINDS])
def test_derivatives_and_wrenches_of_constraints_are_in_a_batch_those_of_its_samples(
    name, method, monkeypatch
):
    """Bit by bit; a sample that is not finite spoils no other, and without it none is alone."""
    monkeypatch.setattr(lanes, "LEAST_SAMPLES", min(COUNT - FIRST, lanes.LEAST_SAMPLES))
    system, a = (CASES | MORE_LOOPS | KINDS)[name]()
    multipliers = np.random.default_rng(9).normal(size=(COUNT, system.num_velocity_constraints))
    call, rows = OF_LOOPS[method], (a["q"], a["v"], multipliers)
    found = call(system, *rows)
    expected = np.array([call(system, *each) for each in zip(*rows, strict=True)])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(call(system, *(each[FIRST:] for each in rows)), found[FIRST:])
    are_zero = OF_JOINTS if method == "constraint_wrenches" else CONSTANT_ROWS
    assert found.any() == (name not in are_zero)
    spoilt = tuple(each.copy() for each in rows)
    for each in spoilt:
        each[SPOILT, 0] = np.nan
    after = call(system, *spoilt, on_error="nan")
    np.testing.assert_array_equal(
        np.delete(after, SPOILT, axis=0), np.delete(found, SPOILT, axis=0)
    )
    alone = call(system, *(each[SPOILT] for each in spoilt), on_error="nan")
    np.testing.assert_array_equal(after[SPOILT], alone)
    # else lanes have directions of one sample
    if method == "constraint_wrenches" or by_poses(system):
        again = in_lanes_alone(monkeypatch, lambda: call(system, *rows))
        np.testing.assert_array_equal(again, found)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.some(7)
@pytest.mark.parametrize("method", METHODS)
def test_a_batch_of_a_closed_mechanism_is_its_samples(case, method, monkeypatch):
    """Bit by bit, with samples that fail; of those that do not none is computed alone."""
    monkeypatch.setattr(lanes, "LEAST_CLOSED", 1)
    system, arguments = case
    arguments = {**arguments, "tau": arguments["tau"].copy()}
    arguments["tau"][SPOILT, 0] = np.nan
    call = METHODS[method]
    expected = np.array([call(system, one(arguments, k)) for k in range(COUNT)])
    np.testing.assert_array_equal(call(system, arguments), expected)
    np.testing.assert_array_equal(call(system, from_first(arguments)), expected[FIRST:])
    after = in_lanes_alone(monkeypatch, lambda: call(system, arguments))
    failed = np.isnan(after).any(axis=-1)
    # the group of a sample that fails begins anew after each
    assert np.flatnonzero(failed).tolist() == [SPOILT - 1, SPOILT]

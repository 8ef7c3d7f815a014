"""Derivatives of rows of loop joints whose configuration is searched for, exact, where loops open.

Against differences of eighth order, which leave ten digits.
"""

from __future__ import annotations

import numpy as np
import pytest

from mbkit.joints.defaults.differences import derivative
from mbkit.systems.derivatives.constraint_changes import MovingRows
from mbkit.systems.derivatives.dynamics_derivatives import constraints_by_steps
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.derivatives.parameter_moves import moves_of
from tests.sensitivities.test_loop_joints_by_pass import JOINTS, closed_by

pytestmark = [pytest.mark.slow, pytest.mark.compiled]

COMPOSITE = [kind for kind in JOINTS if kind.startswith("composite")]

#: Of the largest entry.
LEFT = 1e-9


def rows(system, q, v, vdot, multipliers):
    """Return residuals, A v, A vdot + A-dot v, and A^T multipliers."""
    A = system.constraint_jacobian(q)
    second = A @ vdot + system.constraint_bias(q, v)
    return system.constraint_residual(q), A @ v, second, A.T @ multipliers


def opened(joint):
    """Return a system, a state whose loop is open, and what else rows depend on."""
    system, q, v = closed_by(joint)
    rng = np.random.default_rng(5)
    q = system.retract(q, 0.02 * rng.normal(size=system.ndx))
    gain, multipliers = rng.normal(size=system.nv), rng.normal(size=system.num_velocity_constraints)
    assert np.abs(system.constraint_residual(q)).max() > 5e-3
    return system, q, v, gain, multipliers


def assert_near(found, expected):
    for own, other in zip(found, expected, strict=True):
        assert np.abs(own - other).max() < LEFT * max(1.0, np.abs(other).max())


@pytest.mark.parametrize("kind", COMPOSITE)
def test_rows_by_steps(kind):
    system, q, *given = opened(JOINTS[kind][0])
    v, vdot, multipliers = given
    found = constraints_by_steps(system, q, v, 0.0, vdot=vdot, multipliers=multipliers)
    assert found is not None

    def moved(k):
        dx = np.eye(system.ndx)[k]
        return lambda e: np.concatenate(rows(system, system.retract(q, e * dx), *given))

    expected = np.array([derivative(moved(k)) for k in range(system.ndx)]).T
    assert_near([np.concatenate(found)], [expected])


@pytest.mark.parametrize(
    "kind", COMPOSITE[1:2] + [pytest.param(each, marks=pytest.mark.long) for each in COMPOSITE[::2]]
)
def test_rows_by_numbers_of_members(kind):
    joint, fields = JOINTS[kind]
    system, q, *given = opened(joint)
    system = system._blueprint.with_length(0.7)
    v, vdot, multipliers = given
    for field in fields:
        name = f"joints.D.{field}"
        start, moves = moves_of(system, name)
        moving = MovingRows.of(system, name, start, moves)
        assert moving is not None
        more = np.concatenate([vdot, multipliers])[None]
        found = moving.at(TimedStates(q[None], v[None], np.zeros(1)), more)

        def moved(k, name=name, moves=moves, start=start):
            def at(e):
                value = moves[k](e)
                return np.concatenate(rows(system.with_parameters({name: value}), q, *given))

            return at

        expected = np.array([derivative(moved(k)) for k in range(len(moves))]).T
        assert_near([np.concatenate([part[0] for part in found])], [expected])

"""Orders of scipy's methods on the local model and on quaternions, measured.

Each on motions, and at four step sizes, where the leading term of the error is alone, above
rounding: methods of order 8 have little room between the two.
"""

import functools

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.testing import check_integrator
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS
from mbkit.testing.standard_problems import STANDARD_PROBLEMS
from tests.every_representation import in_turn

BODY, TOP = STANDARD_PROBLEMS[:2]
CLOSED_TOP = CONSTRAINED_PROBLEMS[0]

#: From the tip of the top to its centre of mass.
ARM = (0.2, 0.6, -0.1)


@functools.cache
def motion(problem, spin, end):
    """A motion with another angular velocity at the start, and another end."""
    v = (*spin, *np.cross(spin, ARM)) if problem is CLOSED_TOP else spin
    return attrs.evolve(problem, v=v, end=end, reference_steps=int(1600 * end))


SLOW, FAST = (1.0, 3.0, -2.0), (3.0, -4.0, -4.0)

#: Of the local model, and of renormalised quaternions.
CASES = [
    ("RK23", BODY, SLOW, 2.0, (160, 228, 320, 452)),
    ("RK23", TOP, SLOW, 1.5, (160, 228, 320, 452)),
    ("RK23", CLOSED_TOP, SLOW, 1.5, (160, 228, 320, 452)),
    ("RK45", BODY, SLOW, 2.0, (64, 92, 128, 180)),
    ("RK45", TOP, SLOW, 1.5, (92, 128, 180, 256)),
    ("RK45", CLOSED_TOP, SLOW, 1.5, (128, 180, 256, 360)),
    ("DOP853", BODY, SLOW, 2.0, (16, 20, 24, 28)),
    ("DOP853", TOP, FAST, 1.0, (12, 16, 20, 24)),
    ("DOP853", CLOSED_TOP, FAST, 1.0, (12, 16, 20, 24)),
    ("Radau", BODY, SLOW, 2.0, (32, 40, 48, 56)),
    ("Radau", TOP, SLOW, 1.5, (32, 40, 48, 56)),
    ("Radau", CLOSED_TOP, SLOW, 1.5, (32, 40, 48, 56)),
]

#: Of quaternions whose length is a constraint; it drifts too far in larger steps.
CONSTRAINED_CASES = [
    ("RK23", BODY, SLOW, 2.0, (364, 512, 724, 1024)),
    ("RK23", TOP, SLOW, 1.5, (364, 512, 724, 1024)),
    ("RK23", CLOSED_TOP, SLOW, 1.5, (364, 512, 724, 1024)),
    ("RK45", BODY, (2.0, -3.0, 0.0), 2.0, (128, 184, 256, 360)),
    ("RK45", TOP, FAST, 1.0, (92, 128, 180, 256)),
    ("RK45", CLOSED_TOP, FAST, 1.0, (92, 128, 180, 256)),
    ("DOP853", BODY, (2.0, -1.0, 4.0), 2.0, (16, 24, 32, 40)),
    ("DOP853", TOP, (2.0, -3.0, 0.0), 2.0, (40, 48, 56, 64)),
    ("DOP853", CLOSED_TOP, (3.0, -3.0, 3.0), 2.0, (32, 40, 48, 56)),
    ("Radau", BODY, SLOW, 2.0, (32, 40, 48, 56)),
    ("Radau", TOP, SLOW, 1.5, (32, 40, 48, 56)),
    ("Radau", CLOSED_TOP, SLOW, 1.5, (32, 40, 48, 56)),
]


def named(value):
    """What a parameter is called in the names of tests."""
    return value if isinstance(value, str) else getattr(value, "name", "")


def assert_order(integrator, problem, spin, end, counts):
    """The slopes of the errors of q, v and multipliers over the second half of the motion."""
    case = motion(problem, spin, end)
    found = [case.errors(case.sampled(integrator, n, 4)) for n in counts]
    slopes = -np.polyfit(np.log(counts), np.log(found), 1)[0]
    np.testing.assert_allclose(slopes, integrator.order, atol=0.1)


@pytest.mark.some(6)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "kind"),
    in_turn(
        {f"{method}-{problem.name}": (method, problem, *rest) for method, problem, *rest in CASES},
        {kind.__name__: kind for kind in (mb.LocalVectorSpace, mb.QuaternionVectorSpace)},
    ),
)
def test_orders(case, kind):
    method, problem, spin, end, counts = case
    assert_order(kind(method), problem, spin, end, counts)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "problem", "spin", "end", "counts"), CONSTRAINED_CASES, ids=named
)
def test_orders_where_the_length_is_a_constraint(method, problem, spin, end, counts):
    integrator = mb.QuaternionVectorSpace(method, norm="constrained")
    assert_order(integrator, problem, spin, end, counts)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator", [mb.LocalVectorSpace("RK23"), mb.QuaternionVectorSpace("RK23")], ids=repr
)
def test_the_contract_holds(integrator):
    """Orders on the standard problems, what is kept, and the laws of steps."""
    check_integrator(integrator, most_steps=1024).raise_if_failed()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("integrator", "problems"),
    [
        (mb.LocalVectorSpace("DOP853"), [BODY]),
        (mb.LocalVectorSpace("Radau"), [TOP]),
        (mb.QuaternionVectorSpace("RK45"), [BODY, TOP]),
        (mb.QuaternionVectorSpace("Radau", norm="constrained"), [BODY, TOP]),
    ],
    ids=named,
)
def test_the_contract_holds_where_the_order_is_seen(integrator, problems):
    """The laws of steps; orders on the motions on which the leading term is alone."""
    check_integrator(integrator, problems=problems, most_steps=512).raise_if_failed()

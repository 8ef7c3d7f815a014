"""The check of integrators: it passes what is right, and finds each thing that is wrong."""

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.testing import check_integrator
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS
from mbkit.testing.convergence import fitted_slope
from mbkit.testing.standard_problems import STANDARD_PROBLEMS


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "tableau",
    [tableau for tableau in mb.tableaus.TABLEAUS.values() if tableau.order <= 5],
    ids=lambda tableau: tableau.name,
)
def test_the_integrators_of_mbkit_hold(tableau):
    """Those of higher order fall below rounding first; tests/integrators measures them."""
    most_steps = 32768 if tableau.order == 1 else 8192
    report = check_integrator(mb.RungeKuttaMuntheKaas(tableau), most_steps=most_steps)
    report.raise_if_failed()
    orders = 2 * len(STANDARD_PROBLEMS) + 3 * len(CONSTRAINED_PROBLEMS)
    assert sum(line.law.startswith("order of") for line in report.lines) == orders


@attrs.frozen
class Wrong(mb.Integrator):
    """Heun's method with a mistake."""

    mistake: str
    order: int = 2

    def prepare(self, problem):
        right = mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN).prepare(problem)
        calls = [0]

        def run(first, steps, rows):
            calls[0] += 1
            if self.mistake == "memory" and calls[0] > 1:
                problem.v[:] *= 1.0 + 1e-15
            if self.mistake == "start" and calls[0] == 1:
                problem.v[:] *= 1.0 + 1e-15
            result = right(first, steps, rows)
            if self.mistake == "rows":
                rows.t[: result[2]] += 1e-9
            if self.mistake == "count":
                return result[0], result[1], max(0, result[2] - 1)
            if self.mistake == "length":
                rows.q[: result[2]] *= 1.0 + 1e-7
            if self.mistake == "failure" and result[0] != 0:
                problem.v[:] = problem.v_stage
            return result

        return run


class Blind(mb.Integrator):
    """Heun's method, which says that it looks at events, and does not."""

    order = 2
    looks = True

    def prepare(self, problem):
        unwatched = attrs.evolve(problem)
        right = mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN).prepare(unwatched)

        def run(first, steps, rows):

            record = records_at_python(problem.space)
            watch, record["watch"] = int(record["watch"]), 0
            try:
                return right(first, steps, rows)
            finally:
                record["watch"] = watch

        return run


def records_at_python(address):
    """Return the record at an address."""
    import ctypes

    from mbkit.kernels import compile as compiler
    from mbkit.kernels.layout import SPACE

    if compiler.UNCOMPILED:
        return compiler.records_at(address, 1, SPACE)[0]
    raw = (ctypes.c_char * SPACE.itemsize).from_address(address)
    return np.frombuffer(raw, SPACE)[0:1].view(SPACE)[0]


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "law"),
    [
        ("memory", "the same bits, however steps are cut into calls"),
        ("start", "goes on from the problem's state alone"),
        ("rows", "rows are at t0 + k h"),
        ("count", "100 steps are taken and 33 rows saved"),
        ("length", "quaternions keep length one"),
        ("failure", "a failure leaves the last complete step"),
    ],
)
def test_each_mistake_is_found_by_its_law(mistake, law):
    failed = [line.law for line in check_integrator(Wrong(mistake)).failed]
    assert law in failed


@pytest.mark.long
@pytest.mark.slow
def test_an_order_that_is_claimed_and_not_there_is_found():
    """Too high in q and in v, on every problem; too low where nothing shows the one claimed."""
    failed = {line.law for line in check_integrator(Wrong("none", 3)).failed}
    assert {f"order of {x} on the {p.name}" for x in "qv" for p in STANDARD_PROBLEMS} <= failed
    (line,) = check_integrator(Wrong("none", 1)).failed
    assert line.law == "no order is seen everywhere that is higher than the one claimed"
    assert line.remark == "order 2.00 or higher everywhere; claim that one"


@pytest.mark.slow
def test_steps_that_do_not_look_at_events_are_found():
    failed = [line.law for line in check_integrator(Blind()).failed]
    assert failed == ["events are seen"]


def test_a_report_is_raised_with_all_its_lines():
    with pytest.raises(mb.ContractError, match="FAIL  order of q on the heavy top"):
        check_integrator(Wrong("none", 3), problems=[STANDARD_PROBLEMS[1]]).raise_if_failed()


@pytest.mark.parametrize(
    ("integrator", "message"),
    [
        (mb.RungeKuttaMuntheKaas, "call it with an instance"),
        (Wrong("none", 0), "order, .* must be an integer from 1 on, got 0"),
        (Wrong("none", 2.0), "order, .* must be an integer from 1 on, got 2.0"),
    ],
)
def test_what_is_no_integrator_is_refused(integrator, message):
    with pytest.raises(mb.UsageError, match=message):
        check_integrator(integrator)


def test_a_slope_has_an_uncertainty():
    """Of a straight line none, of a crooked one that of the least squares."""
    counts = [10, 20, 40, 80]
    assert fitted_slope(counts, 3.0 * np.array(counts, float) ** -4) == (4.0, pytest.approx(0.0))
    crooked = fitted_slope(counts, np.array([1.0, 0.5, 0.1, 0.07]))
    assert crooked.uncertainty > 0.1


def test_the_torque_free_body_turns_as_jacobi_said():
    """The reference solution against elliptic functions. Landau, Lifshitz, *Mechanics*, 37."""
    from scipy.optimize import brentq
    from scipy.special import ellipj, ellipk

    problem = STANDARD_PROBLEMS[0]
    I1, I2, I3 = 0.3, 0.5, 0.75
    w = np.array(problem.v)
    E2 = I1 * w[0] ** 2 + I2 * w[1] ** 2 + I3 * w[2] ** 2
    L2 = (I1 * w[0]) ** 2 + (I2 * w[1]) ** 2 + (I3 * w[2]) ** 2
    assert L2 > E2 * I2  # it turns about the third axis
    rate = np.sqrt((I3 - I2) * (L2 - E2 * I1) / (I1 * I2 * I3))
    m = (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1))
    sizes = np.sqrt(
        [
            (E2 * I3 - L2) / (I1 * (I3 - I1)),
            (E2 * I3 - L2) / (I2 * (I3 - I2)),
            (L2 - E2 * I1) / (I3 * (I3 - I1)),
        ]
    )
    run = problem.run(mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5), 4096, save_every=64)
    # |w_3| = c dn(u) with u = rate (t - t_0): t_0 from the start

    K = ellipk(m)

    def start(u):
        sn, cn, dn, _ = ellipj(u, m)
        return np.array([sizes[0] * cn, sizes[1] * sn, sizes[2] * dn])

    u0 = brentq(lambda u: start(u)[1] - abs(w[1]), 0.0, K)
    candidates = [u0, -u0, 2 * K - u0, 2 * K + u0]
    best = min(
        max(
            abs(abs(run.v[row]) - abs(start(sign * rate * run.t[row] + u))).max()
            for row in range(65)
        )
        for u in candidates
        for sign in (1, -1)
    )
    assert best < 1e-11

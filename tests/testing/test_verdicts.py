"""Verdicts on measured orders: right methods of all orders do not fail, wrong ones do."""

import re
import subprocess
import sys

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.testing import check_integrator
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS, FAST_TOPS, FAST_TOPS_ON_LOOPS
from mbkit.testing.report import Report
from mbkit.testing.standard_problems import STANDARD_PROBLEMS
from mbkit.testing.verdicts import Measured, falling_line, highest_line, order_line

T = mb.tableaus
BODY, TOP, TETHER, ARM = STANDARD_PROBLEMS
FOUR_BAR = CONSTRAINED_PROBLEMS[-1]

#: Numbers of steps of methods of order 6 on, and of lower ones.
CLOSE = np.array([16 * 2 ** (k / 4) for k in range(20)]).round().astype(int)
HALVED = 16 * 2 ** np.arange(8)


class Claims(mb.Integrator):
    """A method of mbkit that claims another order, or runs with other coefficients."""

    FLAGS = ("looks", "takes_constraints", "keeps_constraints", "gives_multipliers")

    def __init__(self, method, order):
        self.method, self.order = method, order
        for name in (*self.FLAGS, "takes_nonholonomic_joints"):
            setattr(self, name, getattr(method, name))

    def prepare(self, problem):
        return self.method.prepare(problem)


def rk4_with(**changed):
    """Return the method of Kutta with coefficients that no tableau is allowed to have."""
    tableau = object.__new__(mb.Tableau)
    for field in attrs.fields(mb.Tableau):
        value = changed.get(field.name, getattr(T.RK4, field.name))
        object.__setattr__(tableau, field.name, value)
    return mb.RungeKuttaMuntheKaas(tableau)


def errors(counts, order, further=0.0, rounding=0.0):
    """C h^p (1 + further h), and rounding."""
    h = 16.0 / np.asarray(counts)
    return 1e-4 * h**order * abs(1.0 + further * h) + rounding


def line(counts, errors, order, floor=1e-12):
    floors = np.full(len(counts), floor)
    return order_line(
        "law", Measured.above(counts, errors, floors), order, most_steps=int(counts[-1])
    )


# ------------------------------------------------------------------- what errors say


@pytest.mark.parametrize("order", range(1, 9))
def test_a_leading_term_that_is_alone_decides(order):
    """The order holds, and not the one above; the one below does, but is not the highest."""
    found = errors(HALVED, order)
    assert line(HALVED, found, order).holds
    assert line(HALVED, found, order + 1).holds is False
    if order > 1:
        known = Measured.above(HALVED, found, np.zeros(len(HALVED)))
        assert line(HALVED, found, order - 1).holds  # at least
        assert highest_line([known], order).holds
        assert highest_line([known], order - 1).holds is False


@pytest.mark.parametrize("order", [6, 7, 8])
@pytest.mark.parametrize("further", [-0.3, -0.15, 0.3, 3.0])
def test_a_further_term_down_to_rounding_is_no_failure(order, further):
    """A slope above holds as 'at least', one that rises to the order is undecided."""
    found = errors(CLOSE, order, further)
    right = line(CLOSE, found, order)
    assert right.holds is not False
    slope = Measured.above(CLOSE, found, np.full(len(CLOSE), 1e-12)).slope.value
    if slope > order + 0.1:
        assert right.holds
        assert right.remark.startswith(f"at least: order {slope:.3f}")
    elif slope < order - 0.1:
        assert right.undecided
        assert "rises to" in right.remark
    wrong = line(CLOSE, errors(CLOSE, order - 1, further), order)
    assert wrong.holds is False


def test_the_reason_is_the_one_that_there_is():
    """Too few step sizes are undecided; the check fails where the most steps are the reason."""
    capped = line(HALVED[:3], errors(HALVED[:3], 2), 2)
    assert capped.holds is False
    assert str(capped).startswith("?  ")
    assert not Report("capped", (capped,)).holds
    assert "3 step sizes, of 4 that are needed" in capped.remark
    assert "up to most_steps=64; give more" in capped.remark
    rounded = line(HALVED, errors(HALVED, 8) * 1e-4, 8)
    assert rounded.undecided
    assert rounded.remark.endswith("have errors above rounding")


def test_errors_that_rise_or_fall_where_steps_end_are_undecided():
    """A slope above that is not clear, and one below that still rises; one that falls is wrong."""
    counts = HALVED[:5]
    above = line(counts, errors(counts, 2) + errors(counts, 3) * 3.0, 2)
    assert above.undecided
    assert "when most_steps=256 is reached; give more" in above.remark
    assert line(counts, errors(counts, 3, -0.5), 3).undecided
    falls = errors(counts, 3) + 1e-3 * errors(counts, 1)
    assert line(counts, falls, 3).holds is False


def test_errors_that_grow_near_the_floor_are_rounding():
    """Of multipliers it grows as 1 / h^2, by a factor that the floor does not know well."""
    found = errors(CLOSE, 6)
    found[-6:] = 4e-12 * (CLOSE[-6:] / CLOSE[-6]) ** 2
    assert line(CLOSE, found, 6, floor=1e-12).holds is not False
    assert Measured.above(CLOSE, found, np.full(len(CLOSE), 1e-12)).rounded
    grown = errors(CLOSE, -2)
    assert line(CLOSE, grown, 6).holds is False  # far above the floor it is no rounding


@pytest.mark.parametrize(
    ("found", "holds"),
    [
        ([1.0, 2.0**-16], True),
        ([1.0, 2.0**-7.0, 2.0**-14.9], None),  # rises to 8
        ([1.0, 2.0**-7.7, 2.0**-15.2], False),  # does not
        ([1e-9, 1e-9 * 2.0**-7.7, 1e-9 * 2.0**-15.2], None),  # down to rounding
        ([1.0, 2.0**-7, 2.0**-14], False),
    ],
)
def test_what_falls_with_the_step_is_decided_alike(found, holds):
    assert falling_line("law", found, 8, floor=1e-14).holds is holds


def test_errors_that_scatter_down_to_rounding_refute_nothing():
    """Their slope is 0.2 +- 1.0 here; where no rounding follows, it is that of the method."""
    scattered = np.array([1.0, 1.0, 1.0, 0.1, 0.03, 2.0, 1.5])
    found = np.append(errors(HALVED[:-1], 2) * scattered, 1e-14)
    assert line(HALVED, found, 2).undecided
    assert line(HALVED[:-1], found[:-1], 2).holds is False


# ------------------------------------------------------------------- methods


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator",
    [
        *(mb.RungeKuttaMuntheKaas(t) for t in (T.VERNER6, T.FEHLBERG7, T.DORMAND_PRINCE8)),
        *(mb.BLieDF(k) for k in (4, 5, 6)),
        mb.BLieDF(6, formulation="index3"),
    ],
    ids=repr,
)
def test_right_methods_of_high_order_do_not_fail(integrator):
    """On all problems, with the defaults; most orders are seen."""
    report = check_integrator(integrator)
    report.raise_if_failed()
    orders = [each for each in report.lines if each.law.startswith("order of")]
    assert sum(each.holds is True for each in orders) >= 0.7 * len(orders)
    assert str(report).splitlines()[0].endswith("undecided." if report.undecided else "laws hold.")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("integrator", "problem", "law"),
    [
        (Claims(mb.BLieDF(3, correction=False), 3), FAST_TOPS[0], "order of v"),
        (Claims(mb.BLieDF(3, correction=False), 3), FAST_TOPS_ON_LOOPS[1], "order of multipliers"),
        (Claims(mb.RungeKuttaMuntheKaas(), 5), TOP, "order of q"),
        (Claims(mb.BLieDF(4), 5), TOP, "order of v"),
        (rk4_with(A=T.RK4.A + 0.05 * np.eye(4)[2][:, None] * [1, -1, 0, 0]), TOP, "order of q"),
        (rk4_with(b=np.add(T.RK4.b, [1e-6, -1e-6, 0, 0])), TOP, "order of q"),
        (Claims(mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5), 6), ARM, "order of q"),
        (Claims(mb.RungeKuttaMuntheKaas(T.VERNER6), 7), BODY, "order of q"),
        (Claims(mb.RungeKuttaMuntheKaas(T.FEHLBERG7), 8), TETHER, "order of v"),
        (Claims(mb.RungeKuttaMuntheKaas(T.VERNER6, truncation=2), 6), TOP, "order of q"),
        (Claims(mb.BLieDF(5), 6), FOUR_BAR, "order of multipliers"),
        (
            mb.GeneralizedAlpha(formulation="index3", start="plain"),
            CONSTRAINED_PROBLEMS[1],
            "multipliers of every step",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_order_that_is_one_too_high_fails(integrator, problem, law):
    """Also where rounding is near, or terms of higher order hide that of lower one at first."""
    report = check_integrator(integrator, problems=[problem])
    failed = [each.law for each in report.failed]
    assert f"{law} on the {problem.name}" in failed


def test_the_fixture_does_not_fail_what_is_undecided(check_integrator):
    """Kutta's method has a slope of 4.12 on the four-bar where 2048 steps end."""
    report = check_integrator(mb.RungeKuttaMuntheKaas(), problems=[FOUR_BAR], most_steps=2048)
    assert report.holds
    laws = [f"order of {what} on the spatial four-bar" for what in ("v", "multipliers")]
    assert [each.law for each in report.undecided] == laws


@pytest.mark.long
@pytest.mark.parametrize("several", [(), ("-n", "1")], ids=["one process", "several"])
def test_what_is_undecided_is_shown_at_the_end(tmp_path, several):
    """By pytest, also with pytest-xdist, and without a warning."""
    (tmp_path / "test_it.py").write_text(
        "from mbkit.testing.report import Line, Report\n\n"
        "def test_mine(check_integrator, monkeypatch):\n"
        "    line = Line('law', None, remark='no room', undecided=True)\n"
        "    report = Report('Mine()', (line, Line('other', True)))\n"
        "    monkeypatch.setattr('mbkit.testing.check_integrator', lambda *_: report)\n"
        "    assert check_integrator(None).holds\n"
    )
    plugins = [
        "-p",
        "mbkit_pytest",
        "-p",
        "no:cacheprovider",
        *(("-p", "xdist") if several else ()),
    ]
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-W", "error", *plugins, *several, str(tmp_path)],
        capture_output=True, text=True, env=environment, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert "undecided laws of mbkit" in done.stdout
    assert "Mine(): 1 of 1 laws hold, 1 undecided." in done.stdout
    assert re.search(r"\?     law +undecided +no room", done.stdout)


def test_a_claim_that_is_too_low_is_one_of_all_motions():
    """A single quantity may fall faster: velocities of the torque-free body do without brackets."""
    quick = mb.RungeKuttaMuntheKaas(T.VERNER6, truncation=2)
    assert quick.order == 5
    report = check_integrator(quick, problems=[BODY])
    report.raise_if_failed()
    (line,) = [each for each in report.lines if each.law == "order of v on the torque-free body"]
    assert line.remark.startswith("at least: order 5.89")
    low = check_integrator(Claims(mb.RungeKuttaMuntheKaas(), 3), problems=[BODY, TOP])
    (line,) = low.failed
    assert "order 4.00 or higher everywhere; claim that one" in str(line)


@pytest.mark.parametrize(
    "integrator",
    [mb.GeneralizedAlpha(rtol=1e-6), mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5, rtol=1e-6)],
    ids=repr,
)
def test_methods_that_choose_their_steps_have_no_order_in_h(integrator):
    """A remark names the form that has; all else is looked at."""
    assert integrator.adaptive
    assert not type(integrator)().adaptive
    report = check_integrator(integrator, problems=[TOP, FOUR_BAR])
    report.raise_if_failed()
    laws = {each.law: each for each in report.lines}
    remark = laws["orders, and what falls with the step, on the heavy top"]
    assert remark.holds is None
    assert "check the form with steps of one size" in remark.remark
    assert laws["loops stay closed on the spatial four-bar"].holds
    assert laws["goes on from the problem's state alone"].holds

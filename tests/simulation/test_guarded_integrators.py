"""An integrator that breaks its contract is told so by name, and what was computed is kept."""

import re

import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.status import NOT_CONVERGED
from mbkit.testing import check_integrator

# What is looked at is Python's, after runs of a hundred steps each.
pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]

#: The call of `advance` from which on the mistake is made: runs have rows by then.
LATER = 3


class Mistaken(mb.Integrator):
    """Heun's method; what it prepares, or returns later, is changed by a function."""

    order = 2

    def __init__(self, prepared=None, returned=None, looks=False):
        self.prepared, self.returned, self.looks = prepared, returned, looks

    def prepare(self, problem):
        right = mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN).prepare(problem)
        if self.prepared is not None:
            return self.prepared(problem, right)
        calls = [0]

        def advance(first, steps, rows):
            calls[0] += 1
            result = right(first, steps, rows)
            if calls[0] < LATER or self.returned is None:
                return result
            return self.returned(problem, rows, *result)

        return advance


def spin(integrator, **options):
    """A body that spins for a second, in 100 steps."""
    mech = mb.Mechanism("spinner", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.box(1.0, size=(0.2, 0.4, 0.6))))
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, body)
    options = {"v": [1.0, 3.0, -2.0], "progress": False, **options}
    return mb.simulate(mech.assemble(), (0.0, 1.0), 0.01, integrator=integrator, **options)


RETURNED = {
    "no step": (lambda p, r, *_: (0, 0, 0), "must take 1 to .* its status is 0, got 0 steps"),
    "fewer": (lambda p, r, s, n, k: (0, n - 1, k), "got 0 steps|rows written"),
    "more": (lambda p, r, s, n, k: (0, n + 1, k), r"must take 1 to \d+ steps .* got \d+ steps"),
    "more, failed": (lambda p, r, s, n, k: (5, n + 1, k), "must take 0 to .* status is 5, got"),
    "negative": (lambda p, r, s, n, k: (5, -1, k), "got -1 steps"),
    "no rows": (lambda p, r, s, n, k: (0, n, 0), r"save_every=1; got 0 rows written"),
    "more rows": (lambda p, r, s, n, k: (0, n, k + 1), "rows written"),
    "negative rows": (lambda p, r, s, n, k: (0, n, -1), "got -1 rows written"),
    "none": (lambda p, r, *_: None, "must return three whole numbers, .* got None; return for"),
    "one": (lambda p, r, *_: 0, "must return three whole numbers, .* got 0;"),
    "two": (lambda p, r, s, n, k: (0, n), r"must return three whole numbers, .* got \(0, \d+\);"),
    "floats": (lambda p, r, s, n, k: (0, float(n), k), "must return three whole numbers"),
    "interrupted": (lambda p, r, s, n, k: (-1, 0, 0), "or problem.failed(error), got -1"),
    "no exception": (lambda p, r, s, n, k: (-3, 0, 0), "for an exception, and there is none"),
    "no Newton": (lambda p, r, *_: (NOT_CONVERGED, 0, 0), "problem.newton is None; let prepare"),
}  # fmt: skip


@pytest.mark.some(3)
@pytest.mark.parametrize("mistake", RETURNED)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"events": [mb.Event("late", lambda t, q, v: t - 0.9)]},
        {"output": True},
    ],
    ids=["plain", "events", "directory"],
)
def test_what_advance_returns_is_looked_at(mistake, options, tmp_path):
    """In all loops; the result has the rows before, and the state where they end."""
    returned, message = RETURNED[mistake]
    message = message.replace("(error)", r"\(error\)")
    if "output" in options:
        options = {"output": tmp_path / "run"}
    with pytest.raises(mb.IntegratorError, match=f"Mistaken: advance .*({message})") as caught:
        spin(Mistaken(returned=returned), **options)
    assert re.search(r"Called for the steps from t = 0\.0\d+ s on\.", str(caught.value))
    result = caught.value.result
    assert not result.completed
    good = spin(Mistaken())
    np.testing.assert_array_equal(result.t, good.t[: len(result.t)])
    np.testing.assert_array_equal(result.q, good.q[: len(result.t)])
    assert len(result.t) > 2


def test_rows_of_other_times_are_told():
    def swapped(problem, rows, status, taken, saved):
        rows.t[:saved] = 0.0
        return status, taken, saved

    with pytest.raises(mb.IntegratorError, match="begin with row 0 in each call"):
        spin(Mistaken(returned=swapped))


def test_a_step_that_failed_and_was_counted_wrongly_keeps_its_cause():
    def failed(problem, rows, status, taken, saved):
        return problem.failed(ValueError("the reason")), taken + 1, saved

    with pytest.raises(mb.IntegratorError) as caught:
        spin(Mistaken(returned=failed))
    assert str(caught.value.__cause__) == "the reason"


def remembers(name, value):
    def prepared(problem, right):
        problem.memory[name] = value
        return right

    return prepared


def forgets(problem, right):
    problem.memory = None
    return right


def interpolates(problem, right):
    problem.interpolate = 0.5
    return right


PREPARED = {
    "none": (lambda p, right: None, "must return the function advance.* got None"),
    "a pair": (lambda p, right: (right, 1), r"must return the function advance.* got \("),
    "a list": (remembers("a", [1.0]), r"problem\.memory\['a'\] must be an array .* got \[1\.0\]"),
    "a number": (remembers("a", 1.0), r"problem\.memory\['a'\] must be an array .* got 1\.0"),
    "integers": (remembers("a", np.zeros(2, int)), r"got an array of int64 of shape \(2,\)"),
    "a scalar": (remembers("a", np.array(1.0)), r"got an array of float64 of shape \(\)"),
    "a name": (remembers("q", np.zeros(4)), "other than 'q', 'v' and 'work'.* got 'q'"),
    "a number for a name": (remembers(1, np.zeros(4)), "must be texts .* got 1"),
    "no memory": (forgets, "problem.memory must stay a dict of arrays by name, got None"),
    "no function": (interpolates, "problem.interpolate must be a function .* got 0.5"),
}


@pytest.mark.parametrize("mistake", PREPARED)
def test_what_prepare_leaves_is_looked_at(mistake):
    prepared, message = PREPARED[mistake]
    with pytest.raises(mb.IntegratorError, match=f"^Mistaken.prepare.*{message}"):
        spin(Mistaken(prepared=prepared))


@pytest.mark.parametrize("mistake", ["no rows", "no step", "none"])
def test_the_check_of_integrators_reports_what_runs_refuse(mistake):
    """Rather than to end itself."""
    report = check_integrator(Mistaken(returned=RETURNED[mistake][0]), problems=())
    assert any("IntegratorError: Mistaken: advance" in line.remark for line in report.failed)
    report = check_integrator(Mistaken(prepared=lambda p, right: None), problems=())
    assert any("Mistaken.prepare must return" in line.remark for line in report.failed)


def test_an_integrator_without_an_order_is_told_by_the_check():
    class Orderless(mb.Integrator):
        def prepare(self, problem):
            return mb.RungeKuttaMuntheKaas().prepare(problem)

    with pytest.raises(mb.UsageError, match=r"^Orderless: order, .* there is none; write for"):
        check_integrator(Orderless())

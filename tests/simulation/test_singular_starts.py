"""Runs that start where branches of a closed mechanism meet, or where no motion is, say so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.closed_mechanisms import bennett, cycle, four_bar, hinge, parallelogram

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

SINGULAR = "starts at a singular configuration"
METHODS = [mb.RungeKuttaMuntheKaas(), mb.GeneralizedAlpha(), mb.BLieDF(3)]


def opened(mech):
    """Return the system, with gravity in its plane, and its loop cut at C."""
    return mech.assemble(mb.RelativeCoordinates(loop_joints=["C"]))


def in_line():
    """Return a four-bar whose three rods just reach: its only configuration is a straight line."""
    points = [(0, 0, 0), (0.2, 0, 0), (0.7, 0, 0), (1, 0, 0)]
    joints = [hinge(n, p, (0, 1, 0)) for n, p in zip("ABCD", points, strict=True)]
    return opened(cycle("taut", points, joints))


def told(system, integrator, **start):
    """Return the result and the warnings of singular configurations."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", mb.SingularityWarning)
        run = mb.simulate(system, (0.0, 0.1), 1e-2, integrator=integrator, **start)
    return run, [str(each.message) for each in caught if each.category is mb.SingularityWarning]


@pytest.mark.some(2)
@pytest.mark.parametrize("integrator", METHODS, ids=["rkmk", "alpha", "bdf"])
def test_a_start_where_branches_meet_is_told_once(integrator):
    """A stretched parallelogram at rest falls along one of two; beside it nothing is said."""
    run, (text,) = told(opened(parallelogram()), integrator)
    assert SINGULAR in text
    assert "rank 1 there, and 2 beside it: 2 branches of its motion meet there" in text
    assert run.warnings == (text,)
    system = opened(parallelogram())
    beside = system.close_loops({"A": 0.3}, branch=system.close_loops({"A": 0.1, "D": 0.1}))
    assert told(system, integrator, q=beside)[1] == []


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("integrator", METHODS[:2], ids=["rkmk", "alpha"])
def test_samples_of_an_ensemble_have_what_their_runs_alone_have(integrator):
    """The second of three starts is singular, and is warned of by its number."""
    system = opened(parallelogram())
    q = np.array([[0.3, 0.0, 0.3], [0.0, 0.0, 0.0], [-0.3, 0.0, -0.3]])
    q[:, 1] = -q[:, 0]
    with pytest.warns(mb.SingularityWarning, match=r"[Ss]ample \(1,\)"):
        runs = mb.simulate(system, (0.0, 0.1), 1e-2, q=q, integrator=integrator)
    alone = told(system, integrator, q=q[1])[0]
    assert {place: texts for place, texts in runs.warnings.items() if texts} == {
        (1,): alone.warnings
    }
    assert np.array_equal(runs[1].q, alone.q)


@pytest.mark.parametrize("integrator", METHODS, ids=["rkmk", "alpha", "bdf"])
def test_regular_starts_are_not_told_of(integrator):
    """Neither of planar loops nor of Bennett's, whose rows depend on each other everywhere."""
    for mech in (four_bar(), bennett()):
        run, found = told(mech.assemble(), integrator, v={next(iter(mech.joints)): 3.0})
        assert found == []
        assert np.ptp(run.q[:, 0]) > 0.05


def test_a_velocity_along_no_branch_is_refused_with_the_reason():
    """Rods turn by one rate, or by rates in some other ratio; a mixture has no acceleration."""
    with pytest.raises(mb.ConstraintError, match=SINGULAR) as caught:
        mb.simulate(opened(parallelogram()), (0.0, 0.3), 1e-3, v={"A": 3.0})
    assert "belongs to none of its motions" in str(caught.value)
    assert "Drop one" not in str(caught.value)
    assert "contradict" in str(caught.value.__cause__)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("integrator", METHODS[1:], ids=["alpha", "bdf"])
def test_a_mechanism_that_just_reaches_is_no_fault_of_axes_or_steps(integrator):
    """Constraints allow velocities, and no motion follows."""
    with pytest.raises(mb.ConstraintError, match="no motion was found") as caught:
        mb.simulate(in_line(), (0.0, 0.5), 1e-3, integrator=integrator)
    assert "miss by little" not in str(caught.value)


@pytest.mark.slow
def test_numbers_of_a_mechanism_that_just_reaches_are_not_blamed_on_steps():
    with pytest.warns(mb.EnergyBalanceWarning, match="no motion was found") as caught:
        mb.simulate(in_line(), (0.0, 0.5), 1e-3)
    assert "too large" not in str(caught[-1].message)


@pytest.mark.slow
def test_points_of_studies_have_the_reason_in_their_rows():
    """The points beside the singular one have nothing to say."""
    mech = parallelogram()
    found = mb.studies.sweep(mech, (0.0, 0.2), 1e-3, vary={"q.A": [-0.4, 0.0, 0.4]}).table
    assert found["status"].tolist() == ["completed"] * 3
    assert [SINGULAR in str(row.get("warnings", "")) for row in found] == [False, True, False]
    compared = mb.studies.compare(mech, (0.0, 0.2), 1e-3, integrators=["rkmk4"], repeats=0)
    assert SINGULAR in compared.table["warnings"][0]
    assert len(compared.warned) == 1
    assert "<h2>Warnings</h2>" in mb.studies.laboratory.findings.report.page(compared)

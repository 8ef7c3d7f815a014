"""Orders of explicit methods, measured; and what the conditions of order say beforehand."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators.coefficients.composition import COMPOSITIONS
from mbkit.integrators.coefficients.order_conditions import composition_defect, ordered_forests
from mbkit.integrators.multistep_munthe_kaas import adams_bashforth
from mbkit.testing import check_integrator
from tests.integrators.accurate import ARM, BODY, TETHER, TOP, orders

T = mb.tableaus


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator",
    [
        mb.CrouchGrossman(T.MIDPOINT),
        mb.CrouchGrossman(),
        mb.CrouchGrossman(T.CROUCH_GROSSMAN4),
        mb.CommutatorFree(mb.COMMUTATOR_FREE3),
        mb.CommutatorFree(),
        *(mb.MultistepMuntheKaas(k) for k in range(1, 6)),
    ],
    ids=repr,
)
def test_order_and_contract_hold(integrator):
    """Orders within 0.1 on the standard problems, and the laws of steps."""
    most_steps = 32768 if integrator.order == 1 else 8192
    check_integrator(integrator, most_steps=most_steps).raise_if_failed()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tableau", "problem", "counts"),
    [
        (T.VERNER6, BODY, (112, 128, 160, 192)),
        (T.VERNER6, ARM, (64, 80, 96, 112, 128)),
        (T.FEHLBERG7, BODY, (32, 40, 48, 56)),
        (T.FEHLBERG7, TOP, (24, 32, 40, 48)),
        (T.FEHLBERG7, TETHER, (48, 56, 64, 80)),
        (T.DORMAND_PRINCE8, BODY, (12, 14, 16, 18, 20)),
        (T.DORMAND_PRINCE8, ARM, (28, 32, 40, 48)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_high_orders(tableau, problem, counts):
    """Where errors are small enough for the leading term, and above rounding.

    On the torque-free body and the others within 0.1 of the order; on the tethered body and the
    arm, whose higher terms are larger, within 0.2.
    """
    bound = 0.1 if problem in (BODY, TOP) else 0.2
    found = orders(problem, mb.RungeKuttaMuntheKaas(tableau), counts)
    np.testing.assert_allclose(found, tableau.order, atol=bound)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tableau", "truncation", "kept"),
    [
        (T.HEUN, 0, 2),
        (T.KUTTA3, 0, 2),
        (T.KUTTA3, 1, 3),
        (T.BOGACKI_SHAMPINE3, 0, 2),
        (T.BOGACKI_SHAMPINE3, 1, 3),
        (T.RK4, 0, 2),
        (T.RK4, 1, 3),
        (T.RK4, 2, 4),
        (T.DORMAND_PRINCE5, 1, 3),
        (T.DORMAND_PRINCE5, 2, 5),
        (T.VERNER6, 2, 5),
        (T.VERNER6, 4, 6),
    ],
    ids=lambda value: getattr(value, "name", None) or str(value),
)
def test_a_truncated_series_keeps_the_order_that_is_claimed(tableau, truncation, kept):
    """Order p needs p - 2 brackets, and one less for odd p from 5 on: B_3 = B_5 = 0."""
    method = mb.RungeKuttaMuntheKaas(tableau, truncation=truncation)
    assert method.order == kept
    counts = (128, 181, 256, 362)
    if tableau.order == 6:
        counts = (112, 128, 160, 192) if kept == 6 else (160, 192, 224, 256)
    found = orders(BODY if kept == 6 else TOP, method, counts)
    np.testing.assert_allclose(found, kept, atol=0.1)


def test_brackets_are_none_where_coordinates_add():
    """A truncated series is exact there: the same motion to rounding."""
    mech = mb.Mechanism("cart", gravity=(0, 0, -9.81))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.box(1.0, size=(0.1, 0.1, 0.1))))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.box(0.5, size=(0.1, 0.1, 0.5))))
    mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), mech.world, cart)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0), point=(0, 0, 0.4)), cart, bob)
    system = mech.assemble()
    runs = [
        mb.simulate(
            system, (0.0, 1.0), 0.01, v=[0.3, 2.0],
            integrator=mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5, truncation=r),
        )
        for r in (0, None)
    ]  # fmt: skip
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0.0, atol=1e-13)


@pytest.fixture(scope="module")
def skater():
    """A body in the plane, with a pendulum on it: steps of a planar joint are no exponentials."""
    mech = mb.Mechanism("skater", gravity=(0, -9.81, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.box(2.0, size=(0.5, 0.2, 0.1))))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.box(0.7, size=(0.1, 0.6, 0.1))))
    mech.add_joint(mb.PlanarJoint("plane"), mech.world, body)
    mech.add_joint(mb.SphericalJoint("ball", point=(0.2, 0.1, 0)), body, bob)
    return mech.assemble()


@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator",
    [
        mb.RungeKuttaMuntheKaas(T.RK4, truncation=2),
        mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE5, truncation=2),
        mb.CrouchGrossman(T.CROUCH_GROSSMAN4),
        mb.CommutatorFree(),
        mb.MultistepMuntheKaas(3),
    ],
    ids=repr,
)
def test_joints_whose_steps_are_no_exponentials_keep_the_order(skater, integrator):
    """They move in coordinates of their own, with the exact differential (decision 0013)."""
    start = {"v": [2.0, 0.5, 0.3, 0.4, 1.0, -0.6]}

    def state(method, count):
        run = mb.simulate(
            skater, (0.0, 1.0), 1.0 / count, **start, integrator=method, save_every=count
        )
        return run.q[-1], run.v[-1]

    q, v = state(mb.RungeKuttaMuntheKaas(T.DORMAND_PRINCE8), 1000)
    counts, found = (64, 80, 96, 112) if integrator.order == 5 else (128, 181, 256, 362), []
    for count in counts:
        other_q, other_v = state(integrator, count)
        found.append([np.linalg.norm(skater.difference(q, other_q)), np.linalg.norm(other_v - v)])
    slopes = -np.polyfit(np.log(counts), np.log(found), 1)[0]
    np.testing.assert_allclose(slopes, integrator.order, atol=0.1)


# ---------------------------------------------------------------------- conditions of order


def test_the_number_of_ordered_forests_is_known():
    """Catalan's numbers."""
    assert [len(ordered_forests(n)) for n in range(1, 8)] == [1, 2, 5, 14, 42, 132, 429]


def test_the_condition_beyond_the_classical_ones_is_crouch_and_grossmans():
    """sum b_i^2 c_i + 2 sum_(i < j) b_i c_i b_j = 1/3: Hairer, Lubich, Wanner 2006, IV.8.12."""
    for tableau in (T.KUTTA3, T.BOGACKI_SHAMPINE3, T.CROUCH_GROSSMAN3):
        b, c = tableau.b, tableau.c
        pairs = sum(b[i] * c[i] * b[j] for j in range(b.size) for i in range(j))
        missed = abs(b**2 @ c + 2.0 * pairs - 1 / 3)
        rows = [*tableau.A, b]
        stages = [[row[j] * np.eye(b.size)[j] for j in np.flatnonzero(row)] for row in rows]
        assert composition_defect(stages, 3) == pytest.approx(missed / 2, abs=1e-14)


@pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS)
def test_a_composition_has_its_order_and_not_one_more(composition):
    for order in range(1, composition.order + 1):
        assert composition_defect(composition.stages, order) < 1e-15
    assert composition_defect(composition.stages, composition.order + 1) > 1e-3


def test_most_tableaus_lose_their_order_with_an_exponential_a_coefficient():
    """Kutta's method of order 4 keeps 2 of it; Crouch and Grossman's keep theirs."""
    found = {t.name: mb.CrouchGrossman(t).order for t in T.TABLEAUS.values() if t.order <= 4}
    assert found == {
        "euler": 1, "heun": 2, "midpoint": 2, "kutta3": 2, "bogacki_shampine3": 2, "rk4": 2,
        "crouch_grossman3": 3, "crouch_grossman4": 4,
    }  # fmt: skip


def test_exponentials_in_the_wrong_order_are_refused():
    """Which acts first counts."""
    stages = [table.copy() for table in mb.COMMUTATOR_FREE4.stages]
    stages[3] = stages[3][::-1]
    with pytest.raises(mb.UsageError, match="claims order 4, but a condition of order 4 is missed"):
        mb.Composition("swapped", order=4, stages=stages)
    assert mb.Composition("swapped", order=3, stages=stages).order == 3


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([[[1.0]], [[1.0]]], "is not explicit: stage 0 uses stage 0"),
        ([[], [[1.0, 0.0]]], "has 1 stages and its end: entry 1 of stages must be rows of 1"),
        ([[], [[np.inf]]], "finite weights"),
    ],
)
def test_impossible_compositions_are_refused(stages, message):
    with pytest.raises(mb.UsageError, match=message):
        mb.Composition("mine", order=1, stages=stages)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stages": []}, "Composition 'mine': stages must be a list .* one at least, .* got ()"),
        ({"stages": [[]]}, "stages must be a list of the exponents of each stage, one at least"),
        ({"stages": "abc"}, "stages must be a list of the exponents .* got 'abc'; for example"),
        ({"stages": 3}, "stages must be a list of the exponents .* got 3; for example"),
        ({"stages": ["a", "b"]}, "entry 0 of stages must be an array of numbers, .* got 'a'"),
        ({"stages": [[], [[1.0], [0.5, 0.5]]]}, "entry 1 of stages must be an array of numbers"),
        ({"order": 0}, "Composition 'mine': order must be a whole number from 1 on, got 0"),
        ({"order": 1.0}, "Composition 'mine': order must be a whole number from 1 on, got 1.0"),
        ({"name": None}, "Composition: name must be text that is not empty, got None"),
    ],
)
def test_what_is_no_composition_is_refused(options, message):
    with pytest.raises(mb.UsageError, match=message):
        mb.Composition(**{"name": "mine", "order": 1, "stages": [[], [[1.0]]], **options})


def test_the_weights_of_adams_and_bashforth_are_the_known_ones():
    """Hairer, Norsett, Wanner 1993, table III.1.1 and equation III.1.5."""
    assert [float(w * 12) for w in adams_bashforth(3)] == [23, -16, 5]
    assert [float(w * 24) for w in adams_bashforth(4)] == [55, -59, 37, -9]
    assert [float(w * 720) for w in adams_bashforth(5)] == [1901, -2774, 2616, -1274, 251]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mb.RungeKuttaMuntheKaas(truncation=7), "from 0 to 6, or None"),
        (lambda: mb.RungeKuttaMuntheKaas(truncation=1.0), "from 0 to 6, or None"),
        (lambda: mb.MultistepMuntheKaas(6), "an integer from 1 to 5, got 6"),
        (lambda: mb.MultistepMuntheKaas(2.0), "an integer from 1 to 5, got 2.0"),
        (lambda: mb.CrouchGrossman("rk4"), "must be an mbkit.Tableau, got 'rk4'"),
        (lambda: mb.CommutatorFree(T.RK4), "must be an mbkit.Composition"),
    ],
)
def test_what_is_no_coefficient_is_refused(make, message):
    with pytest.raises(mb.UsageError, match=message):
        make()

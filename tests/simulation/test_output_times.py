"""Saved states at times of one's own: exact between steps, and none but those."""

import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import REPRESENTATIONS
from tests.simulation.long_runs import ball_and_hinge

# What is asked holds in steps of any size, and these are too large for the energies.
pytestmark = pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")

START = {"v": [0.2, -0.3, 0.1, 0.5]}


@pytest.fixture(scope="module")
def system():
    return ball_and_hinge().assemble()


def test_rows_are_at_the_times_and_nowhere_else(system):
    times = np.array([0.1, 0.10001, 0.25, 0.2999999, 0.777, 1.0])
    run = mb.simulate(system, (0.0, 1.0), 1e-2, save_at=times, **START)
    np.testing.assert_array_equal(run.t, times)
    plain = mb.simulate(system, (0.0, 1.0), 1e-2, **START)
    for row, step in ((0, 10), (2, 25), (5, 100)):  # on the grid: the same bits
        np.testing.assert_array_equal(run.q[row], plain.q[step])
        np.testing.assert_array_equal(run.v[row], plain.v[step])
    with_start = mb.simulate(system, (0.0, 1.0), 1e-2, save_at=[0.0, 0.5], **START)
    np.testing.assert_array_equal(with_start.q[0], plain.q[0])
    assert with_start.options["steps_taken"] == 100  # the run goes to its end all the same


@pytest.mark.some(7)
@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 4, 5])
@pytest.mark.parametrize("representation", REPRESENTATIONS, ids=lambda each: each.name)
def test_states_between_steps_are_of_the_order_of_the_scheme(order, representation):
    tableau = {each.order: each for each in mb.tableaus.TABLEAUS.values()}[order]
    system = ball_and_hinge().assemble(mb.RelativeCoordinates(representation))
    times = np.array([0.123, 0.3141, 0.5772, 0.6931])

    def states(h, scheme):
        run = mb.simulate(
            system, (0.0, 0.7), h, save_at=times, integrator=mb.RungeKuttaMuntheKaas(scheme),
            **START,
        )  # fmt: skip
        np.testing.assert_allclose(np.linalg.norm(run.q[:, :4], axis=1), 1.0, atol=4e-16)
        return run

    exact = states(0.7 / 10000, mb.tableaus.DORMAND_PRINCE5)
    errors = []
    first = {1: 1400, 2: 1400, 4: 2240, 5: 280}[order]
    for count in (first, 4 * first):
        run = states(0.7 / count, tableau)
        pairs = zip(run.q, exact.q, strict=True)
        errors.append(
            [
                max(np.linalg.norm(system.difference(a, b)) for a, b in pairs),
                abs(run.v - exact.v).max(),
            ]
        )
    slopes = np.log(np.array(errors[0]) / np.array(errors[1])) / np.log(4.0)
    # the error of a polynomial depends on where in a step a time lies, which h changes
    bound = 0.3 if tableau.b_dense is None else 0.6
    assert (slopes > order - bound).all(), (errors, slopes)


def test_outputs_between_resets_belong_to_their_side(system):
    """A ball that bounces twice within a step of a quarter second."""
    mech = mb.Mechanism("ball", gravity=(0, 0, -10.0))
    body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("height"), mech.world, body)
    floor = mb.Event("floor", "height", direction="falling", reset=mb.Impact(1.0))
    times = np.linspace(0.01, 0.99, 38)
    run = mb.simulate(mech.assemble(), (0.0, 1.0), 0.25, q=[0.05], save_at=times, events=[floor])
    phase = np.mod(times + 0.1, 0.2) - 0.1  # it hits the floor every 0.2 s
    np.testing.assert_allclose(run.q[:, 0], 0.05 - 5.0 * phase**2, atol=1e-10)
    np.testing.assert_allclose(run.v[:, 0], -10.0 * phase, atol=1e-9)
    assert run.events.t == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9], abs=1e-10)


@pytest.mark.slow
def test_times_that_nothing_parts_are_rows_of_their_own(system):
    """Next to the start, the end and each other, to the last bit."""
    for times in ([0.0, 1e-12, 2e-12, 0.5], np.geomspace(1e-13, 1.0, 14), [0.5, 0.5 + 1e-15, 1.0]):
        run = mb.simulate(system, (0.0, 1.0), 1e-2, save_at=times, **START)
        np.testing.assert_array_equal(run.t, times)
        assert np.isfinite(run.q).all()
    run = mb.simulate(system, (0.0, 1.0), 0.333333333, save_at=[1.0], **START)
    assert run.t[0] == 1.0  # the span is three steps, but for 1e-9


def test_a_row_at_the_moment_of_an_end_is_the_last_state(system):
    """It is the one after the reset."""
    end = mb.Event(
        "end", lambda t, q, v: t - 0.5, terminal=True, reset=lambda t, q, v: (q, 0.5 * v)
    )
    plain = mb.simulate(system, (0.0, 1.0), 1e-2, save_at=[0.1], events=[end], **START)
    run = mb.simulate(system, (0.0, 1.0), 1e-2, save_at=[0.1, plain.t[-1]], events=[end], **START)
    np.testing.assert_array_equal(run.v, plain.v)
    np.testing.assert_array_equal(run.events.v_after[-1], run.v[-1])


def test_a_terminal_event_is_the_last_row(system):
    end = mb.Event("end", lambda t, q, v: t - 0.5, terminal=True)
    times = [0.1, 0.499, 0.6, 0.9]
    run = mb.simulate(system, (0.0, 1.0), 1e-2, save_at=times, events=[end], **START)
    np.testing.assert_allclose(run.t, [0.1, 0.499, 0.5], atol=1e-11)


def test_a_run_that_is_stopped_keeps_its_last_state(system):
    """Where nothing was saved yet there is one row, the state that was reached."""

    def tau(t, q, v):
        if t > 0.35:
            raise KeyboardInterrupt
        return 0.0 * v

    run = mb.simulate(system, (0.0, 1.0), 1e-2, save_at=[0.9], tau=tau, **START)
    assert not run.completed
    assert run.t.size == 1
    assert 0.33 < run.t[0] <= 0.35


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize("times", [[0.9], [0.0, 0.1234, 0.9], np.linspace(0, 1, 1237)])
def test_a_run_in_a_directory_has_the_same_rows(system, tmp_path, times):
    options = {"save_at": times, "progress": False, **START}
    run = mb.simulate(system, (0.0, 1.0), 1e-2, output=tmp_path / "run", **options)
    memory = mb.simulate(system, (0.0, 1.0), 1e-2, **options)
    for name in ("t", "q", "v", "kinetic_energy", "potential_energy"):
        np.testing.assert_array_equal(getattr(run, name), getattr(memory, name))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"save_at": []}, "must be a list of times"),
        ({"save_at": "end"}, "must be a list of times"),
        ({"save_at": [[0.1]]}, "must be a list of times"),
        ({"save_at": [0.1, 1.1]}, "t = 1.1 s is not between"),
        ({"save_at": [-0.1]}, "t = -0.1 s is not between"),
        ({"save_at": [np.nan]}, "t = nan s is not between"),
        ({"save_at": [0.2, 0.1]}, "save_at must increase"),
        ({"save_at": [0.2, 0.2]}, "save_at must increase"),
        ({"save_at": [0.2], "save_every": 2}, "leave one of them out"),
    ],
)
def test_impossible_times_are_refused_before_the_run(system, options, message):
    with pytest.raises(mb.UsageError, match=message):
        mb.simulate(system, (0.0, 1.0), 1e-2, **options)

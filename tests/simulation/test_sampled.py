"""Controllers that are called at their own rate, and held between, with a delay and a memory."""

import functools

import numpy as np
import pytest
from scipy.linalg import expm

import mbkit as mb
from tests.constraints.test_runs import four_bar

K, D = np.array([30.0]), np.array([4.0])


def cart(axes=1):
    """A mass of 2 kg on a spring of 5 N/m."""
    mech = mb.Mechanism("cart", gravity=(0, 0, 0))
    mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, "cart")
    mech.add_force(mb.JointSpring("spring", "slide", stiffness=5.0))
    return mech.assemble()


class Integral:
    """A controller with an integral, of its own rate; it counts how often it is called."""

    def __init__(self, period):
        self.period, self.sum = period, 0.0

    def __call__(self, t, q, v):
        self.sum += self.period * float(q[0])
        return -K * q - D * v - 20.0 * self.sum

    def state(self):
        return [self.sum]

    def set_state(self, array):
        (self.sum,) = array


def exact(q, count, period, delay=0.0, *, integral=False):
    """States at the samples of the cart, by matrix exponentials between changes of the effort."""
    A = np.array([[0.0, 1.0, 0.0], [-2.5, 0.0, 0.5], [0.0, 0.0, 0.0]])
    x, held, total, states = np.array([q, 0.0]), 0.0, 0.0, []
    waiting = []  # times and efforts, in order
    for k in range(count):
        states.append(x)
        total += period * x[0] if integral else 0.0
        waiting.append((k * period + delay, -K[0] * x[0] - D[0] * x[1] - 20.0 * total))
        t = k * period
        while t < (k + 1) * period - 1e-12:
            while waiting and waiting[0][0] <= t + 1e-12:
                held = waiting.pop(0)[1]
            end = min([(k + 1) * period, *(s for s, _ in waiting)])
            x = (expm(A * (end - t)) @ [*x, held])[:2]
            t = end
    return np.array([*states, x])


METHODS = {
    "runge-kutta": (mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8), 0.01, 1e-10),
    "adaptive": (mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-11), 0.02, 1e-9),
    "scipy": (mb.LocalVectorSpace("DOP853", rtol=1e-11), 0.02, 1e-9),
    "alpha": (mb.GeneralizedAlpha(rho_inf=1.0), 5e-4, 1e-5),
    "alpha, adaptive": (mb.GeneralizedAlpha(rtol=1e-9), 0.02, 1e-4),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("delay", [0.0, 0.02, 0.1, 0.14])
@pytest.mark.parametrize("name", METHODS)
def test_motions_are_those_of_matrix_exponentials(name, delay):
    method, h, tolerance = METHODS[name]
    tau = mb.Sampled(lambda t, q, v: -K * q - D * v, period=0.06, delay=delay)
    run = mb.simulate(cart(), (0.0, 0.6), h, q=[0.3], tau=tau, integrator=method)
    every = round(0.06 / h)
    found = np.column_stack([run.q[::every, 0], run.v[::every, 0]])
    np.testing.assert_allclose(found, exact(0.3, 10, 0.06, delay), atol=tolerance)
    assert run.warnings == ()  # what the controller supplies is in the energy balance


@pytest.mark.slow
def test_without_h_steps_end_where_the_controller_acts():
    tau = mb.Sampled(lambda t, q, v: -K * q - D * v, period=0.07, delay=0.015)
    run = mb.simulate(cart(), (0.0, 0.7), q=[0.3], tau=tau, integrator=METHODS["adaptive"][0])
    assert 900 < len(run.t) < 2100
    rows = np.searchsorted(run.t, np.arange(11) * 0.07 - 1e-9)
    found = np.column_stack([run.q[rows, 0], run.v[rows, 0]])
    np.testing.assert_allclose(found, exact(0.3, 10, 0.07, 0.015), atol=1e-9)
    fast = mb.Sampled(lambda t, q, v: -K * q - D * v, period=1e-4)
    run = mb.simulate(cart(), (0.0, 1.0), q=[0.3], tau=fast)
    assert len(run.t) == 1001


@pytest.mark.slow
def test_a_memory_is_put_back_for_every_run_and_kept_in_directories(tmp_path):
    expected = exact(0.3, 50, 0.04, 0.04, integral=True)
    tau = mb.Sampled(Integral(0.04), 0.04, 0.04)
    simulate = functools.partial(
        mb.simulate, cart(), (0.0, 2.0), 0.02, q=[0.3], tau=tau,
        integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8),
    )  # fmt: skip
    runs = simulate(), simulate(), simulate(output=tmp_path / "run")
    for run in runs:
        np.testing.assert_allclose(run.q[::2, 0], expected[:, 0], atol=1e-10)
    event = mb.Event("crosses", mb.JointPosition("slide"))
    looked = simulate(events=[event])
    np.testing.assert_allclose(looked.q, runs[0].q, atol=1e-13)
    ensemble = simulate(q=[[0.3], [0.1]])
    assert np.array_equal(ensemble.q[0], runs[0].q)


class Stops(Integral):
    """Raises once, in its thirtieth call, as a key that is pressed."""

    broken = False

    def __call__(self, t, q, v):
        if t > 1.2 and not Stops.broken:
            Stops.broken = True
            raise KeyboardInterrupt
        return super().__call__(t, q, v)


def test_runs_go_on_with_the_answers_that_wait_and_the_memory(tmp_path):
    given = {"q": [0.3], "progress": False}
    whole = mb.simulate(
        cart(), (0.0, 2.0), 0.02, tau=mb.Sampled(Integral(0.04), 0.04, 0.1), **given
    )
    Stops.broken = False
    broken = mb.simulate(
        cart(), (0.0, 2.0), 0.02, tau=mb.Sampled(Stops(0.04), 0.04, 0.1), output=tmp_path / "run",
        **given,
    )  # fmt: skip
    assert not broken.completed
    again = mb.resume(tmp_path / "run", tau=mb.Sampled(Stops(0.04), 0.04, 0.1), progress=False)
    assert again.completed
    assert np.array_equal(again.q, whole.q)
    assert np.array_equal(again.v, whole.v)


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_multipliers_of_closed_mechanisms_are_those_of_the_efforts_that_acted():
    bar = four_bar().assemble()
    tau = mb.Sampled(lambda t, q, v: -0.3 * v + [0.1, 0.0, 0.0], period=0.05)
    run = mb.simulate(bar, (0.0, 0.5), 0.01, tau=tau)
    calls = run.v[:-1:5]
    for row in (3, 5, 8, 50):  # the end of a step has the efforts of the step
        acted = -0.3 * calls[(row - 1) // 5] + [0.1, 0.0, 0.0]
        _, expected = bar.solve_dynamics(run.q[row], run.v[row], acted)[:2]
        np.testing.assert_allclose(run.multipliers[row], expected, atol=1e-9)


def test_momenta_are_sampled_as_velocities():
    tau = mb.Sampled(lambda t, q, v: -K * q - D * v, period=0.05)
    given = {"q": [0.3], "tau": tau}
    run = mb.simulate(mb.MomentumForm(cart()), (0.0, 0.5), 0.01, **given)
    np.testing.assert_allclose(run.q, mb.simulate(cart(), (0.0, 0.5), 0.01, **given).q, atol=1e-12)


@pytest.mark.slow
def test_what_does_not_fit_is_refused():
    control = lambda t, q, v: -v  # noqa: E731
    for given, message in (
        ({"controller": 3.0, "period": 0.1}, "controller must be a function"),
        ({"controller": control, "period": 0.0}, "period must be a positive time"),
        ({"controller": control, "period": 0.1, "delay": -1.0}, "delay must be a zero or positive"),
    ):
        with pytest.raises(mb.UsageError, match=message):
            mb.Sampled(**given)
    with pytest.raises(mb.UsageError, match=r"period=0\.03 s must be a whole number of steps"):
        mb.simulate(cart(), (0.0, 1.0), 0.02, tau=mb.Sampled(control, 0.03))
    with pytest.raises(mb.UsageError, match="have no common step"):
        mb.simulate(cart(), (0.0, 1.0), tau=mb.Sampled(control, 0.1 * np.sqrt(2.0)))
    with pytest.raises(
        mb.UsageError, match=r"the delay is no fraction.*let the delay be 0\.000337"
    ):
        mb.simulate(cart(), (0.0, 0.1), tau=mb.Sampled(control, 1e-3, 0.3371e-3))
    with pytest.warns(UserWarning, match="longer than 1e-06 s.*at least 20000 steps") as told:
        mb.simulate(cart(), (0.0, 0.02), tau=mb.Sampled(control, 1e-3, 0.337e-3))
    assert told[0].filename == __file__
    with pytest.raises(mb.ShapeError, match=r"must have shape \(1,\).*got shape \(2,\)"):
        mb.simulate(cart(), (0.0, 1.0), 0.1, tau=mb.Sampled(lambda t, q, v: [0.0, 0.0], 0.1))
    with pytest.raises(mb.NotFiniteError, match=r"must be finite.* at t = 0 s") as caught:
        mb.simulate(cart(), (0.0, 1.0), 0.1, tau=mb.Sampled(lambda t, q, v: [np.nan], 0.1))
    assert "at t = 0 s" in caught.value.__notes__[0]
    run = mb.simulate(cart(), (0.0, 1.0), 0.1, tau=mb.Sampled(control, 0.1))
    with pytest.raises(mb.UsageError, match="Sampled has no derivatives"):
        mb.sensitivities(run, by=["q"])


@pytest.mark.parametrize(
    ("span", "period", "delay", "h"),
    [(0.1, 1e-3, 0.0, 3e-4), (0.1, 1e-3, 0.4e-3, 3e-4), (0.7, 0.07, 0.015, 0.01), (1.0, 0.1, 0, 3)],
)
def test_the_step_that_is_advised_fits(span, period, delay, h):
    tau = mb.Sampled(lambda t, q, v: -v, period, delay)
    with pytest.raises(mb.UsageError, match="Use for example h=") as raised:
        mb.simulate(cart(), (0.0, span), h, tau=tau)
    advised = float(str(raised.value).split("Use for example h=")[1].split(",")[0])
    assert 0.4 * min(h, period) < advised <= h
    assert mb.simulate(cart(), (0.0, span), advised, tau=tau).completed


def test_controllers_of_other_arguments_are_refused():
    """By name, before a run begins; arguments with defaults and partial functions are taken."""

    def control(t, x):
        return -x

    for make in (
        lambda: mb.Sampled(control, 0.1),
        lambda: mb.simulate(cart(), (0.0, 0.1), 0.1, tau=control),
    ):
        with pytest.raises(mb.UsageError, match=r"\(t, q, v\);.*control\(t, x\) does not"):
            make()
    for fine in (lambda t, q, v, gain=2.0: -gain * v, lambda *given: -given[2]):
        assert mb.simulate(cart(), (0.0, 0.1), 0.1, tau=fine).completed
        assert mb.simulate(cart(), (0.0, 0.1), 0.1, tau=mb.Sampled(fine, 0.1)).completed


def test_quantum_and_resolution():
    """Measured positions and efforts are multiples; the motion is that of those efforts."""
    seen = []

    def control(t, q, v):
        seen.append((float(q[0]), float(v[0])))
        return -K * q - D * v

    sizes = {"quantum": 0.5, "resolution": 0.01}
    tau = mb.Sampled(control, period=0.06, **sizes)
    run = mb.simulate(cart(), (0.0, 0.6), 0.06, q=[0.3], tau=tau)
    measured = np.array(seen)
    np.testing.assert_allclose(measured[:, 0], 0.01 * np.round(run.q[:-1, 0] / 0.01), atol=1e-15)
    np.testing.assert_array_equal(measured[:, 1], run.v[:-1, 0])
    efforts = 0.5 * np.round((-K[0] * measured[:, 0] - D[0] * measured[:, 1]) / 0.5)
    assert np.unique(efforts).size > 3
    given = mb.PiecewiseEfforts(efforts[:, None], (0.0, 0.6))
    np.testing.assert_array_equal(
        mb.simulate(cart(), (0.0, 0.6), 0.06, q=[0.3], tau=given).q, run.q
    )
    assert run.options["sampled"] == {"period": 0.06, "delay": 0.0, **sizes}
    # entries of zero leave theirs as they are
    free = mb.Sampled(control, period=0.06, quantum=[0.0], resolution=[0.0])
    exact_run = mb.simulate(cart(), (0.0, 0.6), 0.06, q=[0.3], tau=free)
    assert exact_run.options["sampled"] == {"period": 0.06, "delay": 0.0}


@pytest.mark.parametrize("size", [-1.0, np.nan, np.inf, "fine", [[1.0]], []])
def test_quantum_must_be_a_size(size):
    for name in ("quantum", "resolution"):
        with pytest.raises(mb.UsageError, match=f"{name} must be a size"):
            mb.Sampled(lambda t, q, v: q, period=0.1, **{name: size})
        tau = mb.Sampled(lambda t, q, v: -q, period=0.1, **{name: [0.1, 0.1]})
        with pytest.raises(mb.ShapeError, match=f"{name} must be one number, or 1 of them, got 2"):
            mb.simulate(cart(), (0.0, 0.2), 0.1, tau=tau)

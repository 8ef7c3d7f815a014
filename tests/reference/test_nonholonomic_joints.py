"""Joints with fewer velocities than directions on their group: a skate, and a hoop on a line."""

import warnings

import numpy as np
import pytest
from scipy.special import cosdg, sindg

import mbkit as mb
from mbkit.joints import check_joint_definition
from mbkit.lie import SE3
from mbkit.testing import check_joint
from tests.every_representation import each_representation
from tests.reference.orders import measured_order


class Skate(mb.Joint):
    """A blade on ice turns, and glides along itself: q = (angle, x, y), v = (turning, speed)."""

    num_positions, num_velocities, ndx = 3, 2, 3

    def pose(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return np.array([[c, -s, 0, q[1]], [s, c, 0, q[2]], [0, 0, 1, 0], [0, 0, 0, 1]])

    def rates(self, q, v):
        return np.array([v[0], v[1] * np.cos(q[0]), v[1] * np.sin(q[0])])


class SkateByHand(Skate):
    """The same with what is derived written down, and steps of SE(2) in the axes of the blade."""

    def motion_subspace(self, q):
        return np.eye(6)[:, 2:4]

    def bias(self, q, v):
        return np.zeros(6)

    def rates(self, q, v):
        return np.array([v[0], v[1], 0.0])

    def retract(self, q, dx):
        half = q[0] + 0.5 * dx[0]
        c, s = np.cos(half), np.sin(half)
        way = [c * dx[1] - s * dx[2], s * dx[1] + c * dx[2]]
        return q + np.array([dx[0], way[0], way[1]])

    def difference(self, q0, q1):
        turn, x, y = q1 - q0
        c, s = np.cos(q0[0] + 0.5 * turn), np.sin(q0[0] + 0.5 * turn)
        return np.array([turn, c * x + s * y, c * y - s * x])


class Opaque(SkateByHand):
    """One whose retract nobody can look into."""

    def retract(self, q, dx):
        half = np.rad2deg(q[0] + 0.5 * dx[0])
        c, s = cosdg(half), sindg(half)
        return q + np.array([dx[0], c * dx[1] - s * dx[2], s * dx[1] + c * dx[2]])


def sleigh(joint, offset=0.0, gravity=(0, 0, -9.81)):
    mech = mb.Mechanism("sleigh", gravity=gravity)
    inertia = mb.SpatialInertia.from_com(2.0, (offset, 0.0, 0.1), np.diag([0.1, 0.2, 0.3]))
    body = mech.add_body(mb.Body("sleigh", inertia))
    mech.add_joint(joint, mech.world, body, frames=(np.eye(4), np.eye(4)))
    return mech


def tilted():
    return SE3.exp(np.array([0.4, -0.8, 0.3, 0.2, 0.1, -0.5]))


@pytest.mark.parametrize("kind", [Skate, SkateByHand])
def test_what_is_derived_is_right(kind):
    check_joint(kind("skate")).raise_if_failed()


def test_where_tracing_ends_differences_go_on():
    joint = Opaque("skate")
    x, w = np.array([0.4, -0.3, 0.8]), np.array([0.5, 1.0, -2.0])
    with pytest.warns(mb.JointDerivativeWarning, match="retract"):
        found = joint.dexp_inv(x, w)
    np.testing.assert_allclose(found, SkateByHand("other").dexp_inv(x, w), atol=1e-11)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.JointDerivativeWarning)
        check_joint(Opaque("skate")).raise_if_failed()


@pytest.mark.some(4)
@each_representation
def test_a_sleigh_with_its_mass_on_the_blade_glides_in_circles(representation):
    """No force turns it or drives it: a circle of radius speed / turning."""
    system = sleigh(Skate("skate")).assemble(mb.RelativeCoordinates(representation))
    run = mb.simulate(system, (0.0, 3.0), 1e-2, v=[1.3, 0.7])
    np.testing.assert_allclose(run.v, np.tile([1.3, 0.7], (len(run.t), 1)), atol=1e-12)
    radius, angle = 0.7 / 1.3, 1.3 * run.t
    expected = np.array([angle, radius * np.sin(angle), radius * (1.0 - np.cos(angle))]).T
    np.testing.assert_allclose(run.q, expected, atol=1e-9)


@pytest.mark.some(4)
@each_representation
def test_chaplygin_s_sleigh(representation):
    """Mass ahead of the blade by a: w' = -m a u w / (I + m a^2), u' = a w^2. Chaplygin 1911.

    With k^2 = (I + m a^2) / m, the energy m (u^2 + k^2 w^2) / 2 and r = sqrt(2 E / m):
    u = r tanh(a r t / k^2), w = r / k / cosh(a r t / k^2), from u = 0 on: it ends going straight.
    """
    a, r = 0.3, 0.9
    k = np.sqrt((0.3 + 2.0 * a**2) / 2.0)
    system = sleigh(Skate("skate"), a).assemble(mb.RelativeCoordinates(representation))
    run = mb.simulate(system, (0.0, 8.0), 1e-2, v=[r / k, 0.0])
    tau = a * r * run.t / k**2
    expected = np.array([r / k / np.cosh(tau), r * np.tanh(tau)]).T
    np.testing.assert_allclose(run.v, expected, atol=1e-9)
    turned = 2.0 * k / a * np.arctan(np.tanh(0.5 * tau))
    np.testing.assert_allclose(run.q[:, 0], turned, atol=1e-9)
    assert abs(run.energy_drift).max() < 1e-9


def test_a_sleigh_on_a_slope_does_not_slide_down():
    """It drifts across: with turning w it swings by g sin(alpha) / (2 w^2) down and goes across."""
    slope, w = 0.3, 1.5
    gravity = (9.81 * np.sin(slope), 0.0, -9.81 * np.cos(slope))
    system = sleigh(Skate("skate"), gravity=gravity).assemble()
    run = mb.simulate(system, (0.0, 12.0), 5e-3, q=[0.0, 0.0, 0.0], v=[w, 0.0])
    # speed' = g sin(alpha) cos(w t), place' = speed (cos, sin)
    b = gravity[0] / (2.0 * w**2)
    across = b * (w * run.t - 0.5 * np.sin(2.0 * w * run.t))
    np.testing.assert_allclose(run.q[:, 1], b * np.sin(w * run.t) ** 2, atol=1e-8)
    np.testing.assert_allclose(run.q[:, 2], across, atol=1e-8)


@pytest.mark.some(4)
@pytest.mark.parametrize("kind", [SkateByHand, Skate])
@pytest.mark.parametrize("flipped", [False, True])
def test_groups_and_directions_of_the_tree_do_not_matter(kind, flipped):
    """Steps in the axes of the ice or of the blade; the blade on the sleigh, or the ice on it."""
    a, b = tilted(), SE3.exp(np.array([0.1, 0.5, -0.2, 0.3, 0.0, 0.2]))
    mech = mb.Mechanism("sleigh", gravity=(1.0, -2.0, -9.0))
    inertia = mb.SpatialInertia.from_com(2.0, (0.3, 0.1, 0.1), np.diag([0.1, 0.2, 0.3]))
    body = mech.add_body(mb.Body("sleigh", inertia))
    arm = mech.add_body(mb.Body("arm", inertia))
    if flipped:
        mech.add_joint(kind("skate"), body, mech.world, frames=(b, a))
    else:
        mech.add_joint(kind("skate"), mech.world, body, frames=(a, b))
    mech.add_joint(mb.SphericalJoint("ball", point=(0.1, 0.2, 0.3)), body, arm)
    system = mech.assemble()
    assert (system.nq, system.nv, system.ndx) == (7, 5, 6)
    assert system.tangent_slice("ball") == slice(3, 6)
    q = system.retract(system.reference_configuration(), [0.5, 0.3, -0.2, 0.4, 0.1, -0.3])
    v = np.array([0.8, 0.5, -0.4, 1.0, 0.6])
    run = mb.simulate(system, (0.0, 0.5), 2.5e-3, q=q, v=v)
    assert abs(run.energy_drift).max() < 1e-7
    if kind is Skate:  # the same motion on the other group
        other = SkateByHand("skate")
        again = mb.Mechanism("sleigh", gravity=(1.0, -2.0, -9.0))
        body, arm = (again.add_body(mb.Body(name, inertia)) for name in ("sleigh", "arm"))
        ends = (body, again.world) if flipped else (again.world, body)
        again.add_joint(other, *ends, frames=(b, a) if flipped else (a, b))
        again.add_joint(mb.SphericalJoint("ball", point=(0.1, 0.2, 0.3)), body, arm)
        q[:3] = [0.5, 0.3, -0.2]
        one = mb.simulate(system, (0.0, 0.5), 2.5e-3, q=q, v=v)
        two = mb.simulate(again.assemble(), (0.0, 0.5), 2.5e-3, q=q, v=v)
        np.testing.assert_allclose(one.q[-1], two.q[-1], atol=1e-8)


@pytest.mark.some(7)
@pytest.mark.parametrize(
    "method",
    [
        mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN),
        mb.RungeKuttaMuntheKaas(mb.tableaus.RK4),
        mb.RungeKuttaMuntheKaas(mb.tableaus.RK4, truncation=2),
        mb.CrouchGrossman(),
        mb.CommutatorFree(),
        mb.MultistepMuntheKaas(2),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", [Skate, SkateByHand])
def test_orders_on_the_group(kind, method):
    system = sleigh(kind("skate"), 0.3, gravity=(2.0, 1.0, -9.0)).assemble()
    start = {"q": [0.3, 0.1, 0.2], "v": [1.2, 0.8]}
    exact = mb.simulate(
        system, (0.0, 1.0), 1 / 400, **start, save_every=400,
        integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5),
    )  # fmt: skip
    counts = np.array([20, 40, 80])
    errors = []
    for n in counts.tolist():
        run = mb.simulate(system, (0.0, 1.0), 1 / n, **start, save_every=n, integrator=method)
        errors.append(np.linalg.norm(system.difference(exact.q[-1], run.q[-1])))
    assert abs(measured_order(1.0 / counts, errors) - method.order) < 0.15, errors


class Midpoint(mb.Integrator):
    """Of order 2, in Python: what a problem offers to such methods."""

    order = 2

    def prepare(self, problem):
        assert problem.ndx != problem.nv
        vdot, powers = np.zeros(problem.nv), np.zeros(2)
        x, w = np.zeros(problem.ndx), np.zeros(problem.ndx)
        q, v = problem.q_stage, problem.v_stage

        def stage(t, size):
            status = problem.accelerate(t, q, v, vdot, powers)
            status = status or problem.rates(q, v, w) or problem.dexp_inv(x, w, x)
            x[:] *= size
            v[:] = problem.v + size * vdot
            return status or problem.retract(problem.q, x, q)

        def advance(first, steps, rows):
            saved, h = 0, problem.h
            for taken, k in enumerate(range(first, first + steps)):
                x[:], q[:], v[:] = 0.0, problem.q, problem.v
                t = problem.t0 + k * h
                status = stage(t, h / 2) or stage(t + h / 2, h)
                if status:
                    return status, taken, saved
                problem.q[:], problem.v[:] = q, v
                problem.work[:] += h * powers
                if (k + 1) % problem.save_every == 0:
                    row = (t + h, problem.q, problem.v, problem.work)
                    for part, value in zip(rows, row, strict=False):  # it has no multipliers
                        part[saved] = value
                    saved += 1
            return 0, steps, saved

        return advance


def test_an_integrator_in_python_has_what_it_needs():
    system = sleigh(SkateByHand("skate"), 0.3, gravity=(2.0, 1.0, -9.0)).assemble()
    start = {"q": [0.3, 0.1, 0.2], "v": [1.2, 0.8]}
    exact = mb.simulate(system, (0.0, 0.5), 1 / 400, **start).q[-1]
    counts, errors = np.array([10, 20, 40]), []
    for n in counts.tolist():
        run = mb.simulate(system, (0.0, 0.5), 0.5 / n, **start, integrator=Midpoint())
        errors.append(np.linalg.norm(run.q[-1] - exact))
    assert abs(measured_order(1.0 / counts, errors) - 2.0) < 0.15, errors


def test_long_runs_go_on_with_the_same_bits(tmp_path):
    system = sleigh(Skate("skate"), 0.3).assemble()
    whole = mb.simulate(system, (0.0, 0.2), 1e-2, v=[1.0, 0.5])
    mb.simulate(system, (0.0, 0.2), 1e-2, v=[1.0, 0.5], output=tmp_path / "run")
    kept = mb.load_result(tmp_path / "run")
    np.testing.assert_array_equal(kept.q, whole.q)


# ------------------------------------------------------------------------------ wrong definitions


def variant(**attributes):
    return type("Variant", (Skate,), attributes)("skate")


misspelt = {"rate" if name == "rates" else name: value for name, value in vars(Skate).items()}

WRONG = {
    "no rates": (
        lambda: variant(rates=mb.Joint.rates),
        r"3 steps and 2 velocities; define rates\(q, v\) -> \(3,\)",
    ),
    "rates without steps": (
        lambda: variant(ndx=2, num_positions=2),
        "rates is for joints with fewer velocities; leave it out, or set ndx",
    ),
    "fewer steps than velocities": (
        lambda: variant(ndx=1),
        "ndx must be at least num_velocities, 2, got 1",
    ),
    "steps that are no number": (
        lambda: variant(ndx="three"),
        "ndx must be an integer, zero or more; got 'three'",
    ),
    "no group": (
        lambda: variant(num_positions=4),
        (
            r"must define retract and difference, because it has 4 positions and 3 steps; give "
            r"retract\(q, dx\) -> \(4,\) and difference\(q0, q1\) -> \(3,\)"
        ),
    ),
    "rates of the wrong shape": (
        lambda: variant(rates=lambda self, q, v: v),
        r"rates\(q, v\) must be .* shape \(3,\), got shape \(2,\)",
    ),
    "rates that are not linear": (
        lambda: variant(rates=lambda self, q, v: np.array([v[0], 3.0 * v[1] * v[1], 0.0])),
        r"rates\(q, v\) must be linear in v; at the neutral configuration .* by 6",
    ),
    "other arguments": (
        lambda: variant(rates=lambda self, q: q),
        r"defines rates\(q\), and must define rates\(q, v\) -> \(ndx,\)",
    ),
    "a slip of the pen": (
        lambda: type("Slip", (mb.Joint,), misspelt)("skate"),
        r"defines rate, which nothing calls; did you mean rates\(q, v\)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_definitions_are_refused(case):
    make, message = WRONG[case]
    with pytest.raises(mb.JointError, match=message):
        check_joint_definition(make())


def test_a_joint_with_velocities_for_all_may_have_a_helper_called_rate():
    class Slider(mb.Joint):
        num_positions = num_velocities = 1
        rate = 2.0

        def pose(self, q):
            T = np.eye(4)
            T[0, 3] = self.rate * q[0]
            return T

    check_joint_definition(Slider("slider"))


def test_rates_that_lose_a_velocity_are_reported():
    report = check_joint(variant(rates=lambda self, q, v: np.array([v[0], 0.0 * v[1], 0.0])))
    failed = {line.law for line in report.lines if line.holds is False}
    assert "rates are linear in v, and none is lost" in failed


def test_rates_that_do_not_belong_to_the_motion_subspace_are_reported():
    class Wrong(SkateByHand):
        def rates(self, q, v):
            return np.array([v[0], 0.0, v[1]])  # across the blade

    report = check_joint(Wrong("skate"))
    failed = {line.law for line in report.lines if line.holds is False}
    assert "motion subspace is the derivative of the pose" in failed


def test_impacts_and_prescribed_motion_say_that_they_cannot():
    with pytest.raises(mb.JointError, match="'skate' is nonholonomic, with 3 directions"):
        Skate("skate").prescribe(lambda t: np.array([t, 0, 0]))
    system = sleigh(Skate("skate")).assemble()
    event = mb.Event(
        "wall", mb.JointPosition("skate[1]", level=0.5), direction="rising", reset=mb.Impact(1.0)
    )
    with pytest.raises(mb.UsageError, match="velocity that is the rate of the position"):
        mb.simulate(system, (0.0, 2.0), 1e-2, v=[0.0, 1.0], events=[event])


def test_a_crossing_of_a_position_is_found_all_the_same():
    system = sleigh(Skate("skate")).assemble()
    event = mb.Event("line", mb.JointPosition("skate[1]", level=0.25), terminal=True)
    run = mb.simulate(system, (0.0, 2.0), 1e-2, v=[1.0, 0.5], events=[event])
    assert abs(run.t[-1] - np.arcsin(0.5)) < 1e-9

"""Events in closed mechanisms: impulses of the loops, and states that close them."""

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.loops import closed, closed_chain, consistent
from tests.constraints.test_runs import consistent_with, four_bar
from tests.every_representation import each_representation


def wall(restitution, joint, level):
    return mb.Event(
        "wall", mb.JointPosition(joint, level), direction="rising", reset=mb.Impact(restitution)
    )


@pytest.mark.some(4)
@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")  # it moves in a plane
@pytest.mark.parametrize("cut", ["B", "C", "D"])
@pytest.mark.parametrize("restitution", [1.0, 0.5])
def test_a_mechanism_of_one_freedom_turns_round_as_a_whole(cut, restitution):
    """Whatever joint closes the loop: v+ = -e v, and the energy keeps e^2 of what it was."""
    mech = four_bar(gravity=(0.0, 0.0, 0.0))
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=(cut,)))
    v = consistent_with(system, 1.0)
    run = mb.simulate(system, (0.0, 0.2), 1e-3, v=v, events=[wall(restitution, "A", 0.1)])
    assert len(run.events) == 1
    before, after = run.events.v[0], run.events.v_after[0]
    np.testing.assert_allclose(after, -restitution * before, atol=1e-12)
    kinetic = run.kinetic_energy[[0, -1]]
    assert kinetic[1] == pytest.approx(restitution**2 * kinetic[0], rel=1e-9)
    assert np.abs(run.energy_balance).max() < 1e-10


@pytest.mark.some(6)
@each_representation
@pytest.mark.parametrize(
    "stabilisation", [mb.Projection(), mb.Baumgarte(frequency=20.0), None], ids=repr
)
def test_an_impact_satisfies_the_equations_with_the_impulses_of_the_loops(
    representation, stabilisation
):
    """M (v+ - v) = g p + A^T s, A v+ = 0, g v+ = -e g v, solved at once."""
    mech, q = closed_chain()
    system = closed(mech, ("last",), representation)
    v = consistent(system, q, np.random.default_rng(3).normal(size=system.nv))
    rising = next(k for k in range(system.nv) if abs(v[k]) > 0.1)
    name = system.velocity_names[rising]
    level = 0.02 * np.sign(v[rising]) + q[system.position_names.index(name)]
    event = mb.Event(
        "wall", mb.JointPosition(name, level), reset=mb.Impact(0.7),
        direction="rising" if v[rising] > 0.0 else "falling",
    )  # fmt: skip
    run = mb.simulate(
        system, (0.0, 0.3), 1e-3, q=q, v=v, events=[event], stabilisation=stabilisation
    )
    at, before, after = run.events.q[0], run.events.v[0], run.events.v_after[0]
    g = event.when.gradient(system, run.events.t[0], at)
    M, A = system.mass_matrix(at), system.constraint_jacobian(at)
    n, m = A.shape[1], A.shape[0]
    K = np.zeros((n + m + 1, n + m + 1))
    K[:n, :n], K[:n, n:-1], K[:n, -1] = M, -A.T, -g
    K[n:-1, :n], K[-1, :n] = A, g
    known = np.r_[M @ before, np.zeros(m), -0.7 * g @ before]
    np.testing.assert_allclose(after, np.linalg.lstsq(K, known)[0][:n], atol=1e-7)
    assert np.abs(A @ after).max() < 1e-12
    assert np.abs(run.energy_balance).max() < 1e-7


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_an_impact_on_what_the_loops_hold_is_refused():
    """The crank drives the rocker, which gives way to no impulse."""
    system = four_bar(lambda t: t).assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    v = consistent_with(system, 1.0)
    direction = "rising" if v[system.velocity_names.index("C")] > 0.0 else "falling"
    event = mb.Event(
        "wall", mb.JointPosition("C", 0.1 if direction == "rising" else -0.1),
        direction=direction, reset=mb.Impact(0.5),
    )  # fmt: skip
    with pytest.raises(mb.UsageError, match="moves nothing: what is prescribed, and the constr"):
        mb.simulate(system, (0.0, 0.3), 1e-3, v=v, events=[event])


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
@pytest.mark.parametrize("stabilisation", [mb.Projection(), None], ids=repr)
def test_a_reset_by_a_function_leaves_no_loop_open(stabilisation):
    """Velocities that do not go together become the nearest ones that do, before all is logged."""
    system = four_bar().assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    crank = system.velocity_names.index("A")

    def kick(t, q, v):
        v[crank] += 1.0
        return q, v

    event = mb.Event("kick", mb.JointPosition("A", 0.05), direction="rising", reset=kick)
    v = consistent_with(system, 1.0)
    run = mb.simulate(system, (0.0, 0.1), 1e-3, v=v, events=[event], stabilisation=stabilisation)
    q, before, after = run.events.q_after[0], run.events.v[0], run.events.v_after[0]
    assert np.abs(system.constraint_velocity(q, after)).max() < 1e-13
    unit = system.consistent_velocity({"A": 1.0}, q)
    M = system.mass_matrix(q)
    wished = before + np.eye(system.nv)[crank]
    np.testing.assert_allclose(after, unit * (unit @ M @ wished) / (unit @ M @ unit), atol=1e-8)
    assert np.abs(run.energy_balance).max() < 1e-8


@pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")
def test_a_reset_that_opens_loops_names_its_event():
    system = four_bar().assemble(mb.RelativeCoordinates(loop_joints=("D",)))
    v = consistent_with(system, 1.0)
    at = mb.JointPosition("A", 0.05)

    def run(reset):
        event = mb.Event("jump", at, direction="rising", reset=reset)
        return mb.simulate(system, (0.0, 0.1), 1e-3, v=v, events=[event])

    message = (
        r"Event 'jump': its reset at t = 0\.\d+ s opens loops, 'D\[\d\]' .* system\.close_loops"
    )
    with pytest.raises(mb.ConstraintError, match=message):
        run(lambda t, q, v: (q + 0.1, v))
    moved = run(lambda t, q, v: (system.close_loops(q + 0.1, fixed=["A"], t=t), v))
    assert np.abs(system.constraint_residual(moved.events.q_after[0])).max() < 1e-13
    assert np.abs(moved.residuals[:, :2]).max() < 1e-11

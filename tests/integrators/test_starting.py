"""The first steps of BLieDF, which are explicit: in parts where the motion is stiff."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import flyball_governor

#: Error of the governor's sleeve after 0.5 s, at most, by k and h. [m]
GOVERNOR = {
    2: {4e-3: 3e-5, 5e-3: 5e-5, 1e-2: 2e-4, 2e-2: 5e-4},
    3: {4e-3: 3e-6, 5e-3: 5e-6, 1e-2: 4e-5, 2e-2: 3e-4},
    4: {4e-3: 1e-7, 5e-3: 2e-7, 1e-2: 3e-6, 2e-2: 4e-5},
    5: {4e-3: 5e-9, 5e-3: 5e-9, 1e-2: 1e-7, 2e-2: 1e-6},
    6: {4e-3: 1e-8, 5e-3: 1e-8, 1e-2: 2e-8, 2e-2: 3e-6},
}


def slider(*forces: mb.Force) -> mb.System:
    """Return a mass of 1 kg on a rail without gravity."""
    mech = mb.Mechanism("slider", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("rail"), mech.world, body)
    for force in forces:
        mech.add_force(force)
    return mech.assemble()


@pytest.mark.parametrize("k", GOVERNOR)
def test_hard_springs_and_dampers_need_no_small_steps(k: int) -> None:
    """The governor's fastest rate is 32 to 162 by h, at which parts of a step blow up at first."""
    system = flyball_governor.build().assemble()
    v = flyball_governor.initial_velocity(system)
    for h, bound in GOVERNOR[k].items():
        run = mb.simulate(system, (0.0, 0.5), h, v=v, integrator=mb.BLieDF(k), progress=False)
        height = flyball_governor.HEIGHT + run.q[-1, system.position_slice("slide")][0]
        assert abs(height - flyball_governor.HEIGHT_AFTER_500_MS) < bound


@pytest.mark.some(2)
@pytest.mark.parametrize("formulation", ["stabilized_index2", "index3"])
@pytest.mark.parametrize(("k", "h"), [(2, 5e-3), (4, 1e-2), (6, 2e-2)])
def test_hard_springs_between_constrained_bodies_need_none(
    k: int, h: float, formulation: str
) -> None:
    """The same in absolute coordinates, where joints are constraints."""
    free, tree = (flyball_governor.build().assemble(x) for x in (mb.AbsoluteCoordinates(), None))
    q, v = free.state_of(
        tree, tree.reference_configuration(), flyball_governor.initial_velocity(tree)
    )
    method = mb.BLieDF(k, formulation=formulation)
    run = mb.simulate(free, (0.0, 0.5), h, q=q, v=v, integrator=method, progress=False)
    end, _ = tree.state_of(free, run.q[-1], run.v[-1], tolerance=1e-3)
    height = flyball_governor.HEIGHT + end[tree.position_slice("slide")][0]
    assert abs(height - flyball_governor.HEIGHT_AFTER_500_MS) < GOVERNOR[k][h]


class Fragile(mb.Force):
    """A stiff damper in Python that is not made for fast motion, and fails from a time on."""

    joints = ("rail",)

    def __init__(self, name: str, until: float = np.inf, error: type[BaseException] = ValueError):
        super().__init__(name)
        self.until, self.error, self.raised = until, error, []

    def evaluate(self, t: float, q: Any, v: Any, poses: Any, twists: Any, out: Any) -> None:
        """Damp with 3e4 N s/m."""
        if t > self.until:
            self.raised.append(t)
            raise self.error(f"at t = {t:.6f}")
        if abs(v[0]) > 1e3:
            raise OverflowError("too fast")
        out[0] = -3e4 * v[0]


@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")  # it is over in a step
def test_what_python_raises_in_a_part_that_blows_up_is_not_the_end() -> None:
    """A velocity of 1 m/s is gone in 1e-4 s; parts of a step of 10 ms exceed it first."""
    run = mb.simulate(
        slider(Fragile("oil")), (0.0, 0.1), 1e-2, v=[1.0], integrator=mb.BLieDF(3), progress=False
    )
    assert run.q[-1, 0] == pytest.approx(1.0 / 3e4, rel=1e-8)


def test_what_fails_in_all_parts_of_a_step_comes_out_as_it_is() -> None:
    """Where parts do not blow up the failure is that of the model, at its own time."""
    system = slider(Fragile("oil", until=1e-4))
    with pytest.raises(ValueError, match=r"at t = 0\.00010") as caught:
        mb.simulate(system, (0.0, 0.01), 1e-3, v=[1e-3], integrator=mb.BLieDF(2), progress=False)
    assert any("Raised by force 'oil'. At t = 0.00010" in note for note in caught.value.__notes__)


def test_an_interrupt_in_a_part_of_a_step_is_not_tried_again() -> None:
    """Ctrl-C within a force: the run ends, and the force is not called again."""
    oil = Fragile("oil", until=1e-4, error=KeyboardInterrupt)
    run = mb.simulate(
        slider(oil), (0.0, 0.01), 1e-3, v=[1e-3], integrator=mb.BLieDF(2), progress=False
    )
    assert not run.completed
    assert run.message.startswith("Interrupted by the user")
    assert len(oil.raised) == 1


def test_a_model_that_cannot_be_evaluated_at_the_start_says_so() -> None:
    """An arm along the axis that it hangs on has no inertia about it."""
    mech = mb.Mechanism("arm")
    hub = mech.add_body(mb.Body("hub", mb.SpatialInertia.from_com(1.0, (0, 0, 0))))
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.from_com(1.0, (1, 0, 0))))
    mech.add_joint(mb.RevoluteJoint("turn", axis=(0, 0, 1)), mech.world, hub)
    mech.add_joint(mb.RevoluteJoint("lift", axis=(0, 1, 0)), hub, arm)
    with pytest.raises(mb.SingularMassMatrixError, match="'turn' can move without moving any"):
        mb.simulate(
            mech.assemble(), (0.0, 0.1), 1e-2, q=[0.0, np.pi / 2], integrator=mb.BLieDF(2),
            progress=False,
        )  # fmt: skip


@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")  # it is over in a step
def test_a_motion_too_stiff_for_the_start_says_what_does() -> None:
    """No more than 65536 parts; methods are named that have no such start, and not itself."""
    system = slider(mb.JointDamper("oil", "rail", damping=1e10))
    with pytest.raises(mb.NotFiniteError, match="grows without bounds") as caught:
        mb.simulate(system, (0.0, 0.1), 1e-2, v=[1.0], integrator=mb.BLieDF(2), progress=False)
    message = str(caught.value)
    for part in (
        "the first steps of BLieDF are those of an explicit method, in 65536 parts at most",
        "and need h below about 6.6e-06 s",
        "mbkit.GeneralizedAlpha() and mbkit.BLieDF(1) do not.",
    ):
        assert part in message
    assert "mbkit.BLieDF()" not in message
    for method in (mb.GeneralizedAlpha(), mb.BLieDF(1)):
        run = mb.simulate(system, (0.0, 0.1), 1e-2, v=[1.0], integrator=method, progress=False)
        assert run.completed


def test_parts_that_do_not_agree_say_so() -> None:
    """A spring with 3e4 rad in a step: stable in 65536 parts, and wrong. There is no tolerance."""
    system = slider(mb.JointSpring("spring", "rail", stiffness=1e13))
    with pytest.raises(mb.ConvergenceError, match="cannot start") as caught:
        mb.simulate(system, (0.0, 0.1), 1e-2, q=[1.0], integrator=mb.BLieDF(2), progress=False)
    assert "in 32768 and in 65536 parts of the step does not agree" in str(caught.value)
    assert "tolerance" not in str(caught.value)
    assert caught.value.iterations is None

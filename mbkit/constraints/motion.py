"""States of a constraint, and how they move with given velocities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from mbkit.lie import SO3


@final
@attrs.frozen(eq=False)
class State:
    """Where a constraint is looked at, in numbers or traced numbers.

    Time t [s], positions q (nq,) of the joints that it names, and poses (n, 4, 4) of its bodies.
    """

    t: Any
    q: Any
    poses: Any

    def parts(self) -> tuple[Any, Any, Any]:
        """Return t, q, poses."""
        return self.t, self.q, self.poses


class Motion:
    """Steps of time, of joints on their groups, and of bodies by hybrid twists, in a row."""

    def __init__(self, joints: Sequence[Any], num_bodies: int) -> None:
        self._joints = tuple(joints)
        self._num_bodies = num_bodies
        self.num_positions = sum(int(joint.num_positions) for joint in joints)
        self.num_velocities = sum(int(joint.num_velocities) for joint in joints)
        self.first_body_step = 1 + sum(int(joint.ndx) for joint in joints)
        self.ndx = self.first_body_step + 6 * num_bodies

    def traced(self, retargeting: Any) -> Motion:
        """Return the same for traced numbers."""
        return Motion([retargeting.convert(each) for each in self._joints], self._num_bodies)

    def joint_steps(self, q: Any, v: Any) -> Any:
        """Return the rates of the joints' steps while they move with v."""
        steps, at_q, at_v = [], 0, 0
        for joint in self._joints:
            nq, nv = int(joint.num_positions), int(joint.num_velocities)
            steps += [*joint.rates(q[at_q : at_q + nq], v[at_v : at_v + nv])]
            at_q, at_v = at_q + nq, at_v + nv
        return steps

    def along(self, state: State, v: Any, twists: Any) -> list[Any]:
        """Return the rates of all steps while time goes on."""
        return [1.0, *self.joint_steps(state.q, v), *np.ravel(twists)]

    def retracted(self, q: Any, steps: Any) -> Any:
        """Return the positions of the joints after steps."""
        moved, at_q, at = [], 0, 0
        for joint in self._joints:
            nq, count = int(joint.num_positions), int(joint.ndx)
            moved += [*joint.retract(q[at_q : at_q + nq], steps[at : at + count])]
            at_q, at = at_q + nq, at + count
        return np.array(moved)

    def moved(self, state: State, steps: Any) -> State:
        """Return the state after small steps: poses to first order, R + w x R."""
        poses = np.array(state.poses)
        for k in range(self._num_bodies):
            first = self.first_body_step + 6 * k
            w, u = steps[first : first + 3], steps[first + 3 : first + 6]
            R = state.poses[k][:3, :3]
            skew = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
            poses[k, :3, :3] = R + skew @ R
            poses[k, :3, 3] = state.poses[k][:3, 3] + u
        q = self.retracted(state.q, steps[1 : self.first_body_step])
        return State(state.t + steps[0], q, poses)

    def carried(self, state: State, v: Any, twists: Any, e: float, time: float = 1.0) -> State:
        """Return the state after a time e with constant v and hybrid twists, in numbers.

        `time` is the rate at which time goes on.
        """
        poses = np.array(state.poses)
        for k, twist in enumerate(np.reshape(twists, (-1, 6))):
            poses[k, :3, :3] = SO3.exp(e * twist[:3]) @ state.poses[k, :3, :3]
            poses[k, :3, 3] = state.poses[k, :3, 3] + e * twist[3:]
        steps = e * np.array(self.joint_steps(state.q, v), dtype=np.float64)
        return State(state.t + e * time, self.retracted(state.q, steps), poses)

"""How the positions of a system change, as numbers."""

from __future__ import annotations

import functools
import math
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.joints import Joint
from mbkit.systems.configurations import Configurations, Floats

__all__ = ["PositionRates"]


@attrs.frozen(eq=False, slots=False, repr=False)
class PositionRates(Configurations):
    """Positions of a system as a vector; see `System`."""

    @functools.cached_property
    def quaternions(self) -> tuple[int, ...]:
        """Where in q unit quaternions of four entries begin."""
        return tuple(
            self._position_slices[joint.name].start + first
            for joint in self.arrays.joints
            if joint is not None
            for first in joint.quaternions
        )

    def position_rates(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Return the rate of the positions, as numbers, at a configuration and velocity.

        For methods that take q as a vector, and not as an element of a group.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration.
        v : array_like, shape (..., nv)
            Velocity.

        Returns
        -------
        ndarray, shape (..., nq)
            ``qdot``, the derivative of ``retract(q, e rates(q, v))`` by e at e = 0.

        Raises
        ------
        JointError
            If positions of a joint do not add, and it does not say how they change.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("ball")
        >>> body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> joint = mech.add_joint(mb.SphericalJoint("ball"), mech.world, body)
        >>> mech.assemble().position_rates([1, 0, 0, 0], [0, 0, 3.0]) + 0.0  # half of the velocity
        array([0. , 0. , 0. , 1.5])
        """
        w = self.rates(q, v)
        given = self.evaluator.arguments.with_leading_axes("q", q)
        out = np.empty((*w.shape[:-1], self.nq))
        added, taken, others = self._own_rates
        out[..., added] = w[..., taken]
        samples: Any = ((out, given, w),)
        if out.ndim > 1:
            count = math.prod(out.shape[:-1])  # numpy cannot tell where samples have no numbers
            every = np.broadcast_to(given, out.shape).reshape(count, self.nq)
            w = w.reshape(count, self.num_steps)
            samples = zip(out.reshape(count, self.nq), every, w, strict=True)
        for rate, each, step in samples:
            for joint, positions, steps in others:
                rate[positions] = joint.position_rates(each[positions], step[steps])
        return out

    def time_to_lock(self, q: ArrayLike, v: ArrayLike) -> tuple[float, str]:
        """Return how soon positions may be where `position_rates` are infinite, and of which joint.

        As the angles of absolute coordinates are at gimbal lock; for methods that take q as a
        vector. Zero where they are there, infinite where no joint has such a place, or none comes
        nearer.

        Parameters
        ----------
        q, v : array_like, shape (nq,), (nv,)
            Configuration and velocity.

        Returns
        -------
        float, str
            Time [s], and the name of the joint, "" if it is infinite.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("ball")
        >>> body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> free = mb.AbsoluteJoint("free", mb.EulerAngles("zxz"))
        >>> joint = mech.add_joint(free, mech.world, body)
        >>> mech.assemble().time_to_lock(np.zeros(6), np.zeros(6))
        (0.0, 'free')
        """
        given = self.evaluator.arguments.checked("q", q)
        w = self.rates(given, self.evaluator.arguments.checked("v", v))
        found = math.inf, ""
        for joint, positions, steps in self._own_rates[2]:
            time = joint.time_to_lock(given[positions], w[steps])
            if time < found[0]:
                found = time, joint.name
        return found

    @functools.cached_property
    def _own_rates(self) -> tuple[Any, Any, list[tuple[Joint, slice, slice]]]:
        """Entries of q that add, those of steps that they take; the other joints, with theirs."""
        places = [
            (joint, self._position_slices[joint.name], self._step_slices[joint.name])
            for joint in self.arrays.joints
            if joint is not None
        ]
        none = np.zeros(0, dtype=np.intp)
        adding = [each for each in places if each[0].positions_add]
        added = [none, *(np.arange(self.nq)[positions] for _, positions, _ in adding)]
        taken = [none, *(np.arange(self.num_steps)[steps] for _, _, steps in adding)]
        others = [each for each in places if not each[0].positions_add]
        return np.concatenate(added), np.concatenate(taken), others

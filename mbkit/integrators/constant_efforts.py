"""Constant efforts along coordinates that add: they have a potential, -f q."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["constant_effort"]


def constant_effort(system: Any, force: Any) -> float | None:
    """Return the effort of a force that is constant along a coordinate that adds; None for others.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("wheel")
    >>> wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> axle = mech.add_joint(mb.RevoluteJoint("axle"), mech.world, wheel)
    >>> motor = mech.add_force(mb.JointEffort("motor", "axle", effort=2.0))
    >>> constant_effort(mech.assemble(), motor)
    2.0
    """
    effort = getattr(force, "constant_effort", None)
    if effort is None:
        return None
    at_q, at_x = system.position_slice(force.joint), system.step_slice(force.joint)
    if at_q.stop - at_q.start != 1 or at_x.stop - at_x.start != 1:
        return None
    q, x = system.reference_configuration(), np.zeros(system.ndx)
    x[at_x] = 0.5
    moved = system.retract(q, x)[at_q] - q[at_q]
    return float(effort) if abs(moved[0] - 0.5) < 1e-12 else None

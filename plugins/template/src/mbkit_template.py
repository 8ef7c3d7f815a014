"""A joint for mbkit, and the hook by which mbkit finds it."""

import attrs
import numpy as np

import mbkit as mb
from mbkit.plugins import hookimpl


@attrs.frozen
class TemplateJoint(mb.Joint):
    """Motion on the curve z = steepness x^4, without turning; q is x, in metres.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    steepness : float
        Of the curve. [1/m^3]
    """

    num_positions = num_velocities = 1

    name: str
    steepness: float = 1.0

    def pose(self, q):
        """Return where the successor stands in the predecessor, (4, 4); all else follows."""
        T = np.eye(4)
        T[:3, 3] = q[0], 0.0, self.steepness * q[0] ** 4
        return T


@hookimpl
def mbkit_joint_types():
    """Return the joint by the name that model files call it."""
    return {"template": TemplateJoint}

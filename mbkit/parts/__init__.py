"""Parts of mechanisms: bodies, joints in their places, and what they have besides."""

from mbkit.parts.body import Body as Body
from mbkit.parts.connection import Connection as Connection
from mbkit.parts.joint_data import JointFriction as JointFriction
from mbkit.parts.joint_data import JointLimits as JointLimits
from mbkit.parts.parts import Parts as Parts

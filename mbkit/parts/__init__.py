"""Parts of mechanisms: bodies, joints in their places, and further data."""

from mbkit.catalogue import by_name
from mbkit.parts import built_in
from mbkit.parts.body import Body as Body
from mbkit.parts.body import check_body as check_body
from mbkit.parts.built_in import *
from mbkit.parts.connection import Connection as Connection
from mbkit.parts.joint_data import JointFriction as JointFriction
from mbkit.parts.joint_data import JointLimits as JointLimits
from mbkit.parts.parts import Parts as Parts

#: The bodies that mbkit brings, by the names that model files have for them.
BODY_TYPES: dict[str, type[Body]] = by_name(built_in, Body)

"""Mechanisms: bodies, joints between them, and where these sit."""

from mbkit.model.denavit_hartenberg import DenavitHartenbergRow as DenavitHartenbergRow
from mbkit.model.inertias import check_inertias as check_inertias
from mbkit.model.mechanism import Mechanism as Mechanism
from mbkit.model.plain_data import to_document as to_document
from mbkit.model.plain_data import to_toml as to_toml
from mbkit.parts.body import Body as Body
from mbkit.parts.body import RigidBody as RigidBody
from mbkit.parts.connection import Connection as Connection
from mbkit.parts.joint_data import JointFriction as JointFriction
from mbkit.parts.joint_data import JointLimits as JointLimits

__all__ = [
    "Body",
    "Connection",
    "DenavitHartenbergRow",
    "JointFriction",
    "JointLimits",
    "Mechanism",
    "RigidBody",
    "check_inertias",
    "to_document",
    "to_toml",
]

"""Mechanisms again, with some of their joints moved by functions of time."""

import mbkit as mb


def driven(mech, name, motion):
    """Return the mechanism with the motion of one joint prescribed."""
    found = mb.Mechanism(f"driven {mech.name}", gravity=mech.gravity)
    for body in mech.bodies.values():
        found.add_body(body)
    for each, edge in mech.joints.items():
        joint = edge.joint.prescribe(motion) if each == name else edge.joint
        frames = edge.S_pred, edge.S_succ
        found.add_joint(joint, edge.predecessor, edge.successor, frames=frames)
    return found

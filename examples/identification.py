"""Identification of a two-link arm: masses, friction and what noise leaves of them.

The arm's model has inertias from a drawing and no friction. The arm itself has a tool that nobody
told, cables along its links, and friction. It follows a motion of some frequencies for ten seconds;
torques are measured with noise, which is not known either. What is found are the combinations of
parameters that torques can tell, each with its standard error, and a model that predicts the
torques of another motion. Run it:

    python examples/identification.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mbkit as mb

#: Standard deviations of the measured torques [N m].
NOISE = np.array([0.4, 0.1])
TIMES = np.linspace(0.0, 10.0, 500)
FRICTION = {"forces.friction1.damping": 1.2, "forces.friction2.damping": 0.5}


def arm(extra: bool = False) -> mb.System:
    """Return the arm of the drawing, or the arm itself: in a vertical plane, z up."""
    mech = mb.Mechanism("arm")
    inner, reference = mech.world, np.eye(4)
    for k, (mass, length) in enumerate([(6.0, 0.5), (3.0, 0.4)]):
        link = mb.SpatialInertia.cylinder(mass, radius=0.05, length=length)
        turned = np.array([[0, 0, 1, 0.5 * length], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1.0]])
        inertia = link.transformed(turned)  # along x
        if extra:
            cables = mb.SpatialInertia.box(0.8, size=(length, 0.02, 0.02))
            inertia += cables.transformed(mb.spatial.translation((0.5 * length, 0, 0.06)))
        if extra and k == 1:
            tool = mb.SpatialInertia.sphere(1.5, radius=0.08)
            inertia += tool.transformed(mb.spatial.translation((length, 0, -0.05)))
        body = mech.add_body(mb.Body(f"link{k + 1}", inertia))
        joint = mb.RevoluteJoint(f"joint{k + 1}", axis=(0, 1, 0))
        mech.add_joint(joint, inner, body, reference=reference)
        mech.add_force(mb.JointDamper(f"friction{k + 1}", f"joint{k + 1}", damping=0.0))
        inner, reference = body, mb.spatial.translation((length, 0, 0))
    system = mech.assemble()
    return system.with_parameters(FRICTION) if extra else system


def motion(t: Any, seed: int) -> dict[str, Any]:
    """Return q, v and vdot of a sum of sines, (samples, 2)."""
    rng = np.random.default_rng(seed)
    w = 2.0 * np.pi * np.array([0.1, 0.3, 0.5, 0.9])
    a, phase = rng.normal(size=(2, 2, 4)) * np.array([0.8, 0.4, 0.25, 0.12])
    x = t[:, None, None] * w + 6.0 * phase
    return {
        "q": (a * np.sin(x)).sum(axis=-1),
        "v": (a * w * np.cos(x)).sum(axis=-1),
        "vdot": -(a * w**2 * np.sin(x)).sum(axis=-1),
    }


def torques(system: mb.System, data: dict[str, Any]) -> Any:
    """Return what the motors of an arm bear."""
    return system.inverse_dynamics(data["q"], data["v"], data["vdot"])


def main() -> None:
    """Identify the arm; compare with what it is, and predict another motion."""
    model, real = arm(), arm(extra=True)
    data, rng = motion(TIMES, 1), np.random.default_rng(2)
    data["efforts"] = torques(real, data) + NOISE * rng.normal(size=(len(TIMES), 2))
    found = mb.identify(model, data, ["link1", "link2", *FRICTION])

    exact = found.base.combinations @ np.concatenate(
        [real.inertial_parameters, list(FRICTION.values())]
    )
    print("combination, found, its standard error, exact")
    columns = found.base.names, found.base_values, found.base_standard_errors, exact
    for name, value, error, true in zip(*columns, strict=True):
        print(f"  {name:44} {value:8.4f} +- {error:.4f}  {true:8.4f}")
    print(f"of {len(found.parameters)} parameters {len(found.undetermined)} are not told alone")
    print("noise found [N m]:", found.noise.round(3))

    other = motion(TIMES, 3)
    expected = torques(real, other)
    before, after = (
        np.abs(torques(each, other) - expected).max() for each in (model, found.system)
    )
    print(f"torques of another motion: off by {before:.2f} N m before, by {after:.3f} N m now")

    parts = (found.base_values - exact) / found.base_standard_errors
    assert np.abs(parts).max() < 3.0
    assert np.abs(found.noise / NOISE - 1.0).max() < 0.1
    assert after < 0.02 * before


if __name__ == "__main__":
    main()

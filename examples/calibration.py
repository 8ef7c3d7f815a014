"""Calibration of a robot's screws: where its axes and encoder zeros are, from a tracker's view.

A robot with six hinges was built a few tenths of a millimetre and of a degree from its drawing. A
laser tracker, with noise, sees a reflector at the hand: positions alone. Four numbers of each axis
and the placements of the links are asked for; what positions can tell of them follows from the rank
of their derivative, and the hand is where the calibrated model says. Run it:

    python examples/calibration.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mbkit as mb
from mbkit.lie import SE3
from mbkit.spatial.frames import inverse

#: Of the tracker [m]; sizes of the errors of the robot [rad], [m].
NOISE = 5e-5
TURNED, SHIFTED = 3e-3, 5e-4
#: The reflector on the hand.
REFLECTOR = mb.spatial.translation((0.05, 0.0, 0.12))

#: Axes, and where they are on the link before [m].
AXES = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)]
PLACES = [(0, 0, 0.3), (0.05, 0, 0.3), (0, 0, 0.5), (0.2, 0, 0.05), (0.3, 0, 0), (0.1, 0, 0)]


def robot() -> mb.System:
    """Return the robot of the drawing."""
    mech = mb.Mechanism("robot")
    inner = mech.world
    for k, (axis, place) in enumerate(zip(AXES, PLACES, strict=True), 1):
        link = mech.add_body(mb.Body(f"link{k}", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        reference = mb.spatial.translation(place)
        mech.add_joint(mb.RevoluteJoint(f"joint{k}", axis), inner, link, reference=reference)
        inner = link
    return mech.assemble()


def built(system: mb.System, rng: np.random.Generator) -> mb.System:
    """Return the robot as it was built: each joint's frames are off on both bodies."""
    values: dict[str, Any] = {}
    for joint, place in system.joint_places.items():
        K = np.asarray(place.canonical_frame)
        for end in ("S_pred", "S_succ"):
            off = rng.normal(size=6) * np.repeat([TURNED, SHIFTED], 3)
            name = f"joints.{joint}.{end}"
            values[name] = system.parameters[name] @ K @ SE3.exp(off) @ inverse(K)
    return system.with_parameters(values)


def hand(system: mb.System, q: Any) -> Any:
    """Return positions of the reflector."""
    return system.pose("link6", q, frame=REFLECTOR)[..., :3, 3]


def main() -> None:
    """Calibrate by 60 positions; look at 200 others."""
    rng = np.random.default_rng(4)
    nominal = robot()
    real = built(nominal, rng)
    base = nominal.geometric_base_parameters("link6", rows="linear", frame=REFLECTOR)
    print(f"{len(nominal.geometric_parameter_names)} parameters, of which positions can tell")
    print(f"{len(base.names)} combinations: four an axis, and three")

    q = rng.uniform(-1.5, 1.5, size=(60, 6))
    seen = hand(real, q) + NOISE * rng.normal(size=(60, 3))
    found = mb.calibrate(nominal, {"link6": seen}, q=q, frames={"link6": REFLECTOR})
    print(f"noise found: {1e3 * found.noise[1]:.3f} mm; condition number {found.condition:.0f}")

    q = rng.uniform(-1.5, 1.5, size=(200, 6))
    before, after = (
        np.linalg.norm(hand(each, q) - hand(real, q), axis=1).max()
        for each in (nominal, found.system)
    )
    print(f"the hand is off by {1e3 * before:.1f} mm before, by {1e3 * after:.2f} mm at most now")

    # the screws themselves, where they are asked for alone: within their standard errors
    names = [nominal.geometric_parameter_names[k] for k in base.independent]
    full = np.zeros(len(nominal.geometric_parameter_names))
    sizes = [TURNED if "[w" in name else SHIFTED for name in names]
    full[base.independent] = exact = sizes * rng.normal(size=len(names))
    values: dict[str, Any] = {}
    rows = zip(nominal.joint_places.items(), full.reshape(-1, 2, 6), strict=True)
    for (joint, place), (placement, screw) in rows:
        K, X = np.asarray(place.canonical_frame), SE3.exp(screw)
        for end, Y in (("S_pred", SE3.exp(placement) @ X), ("S_succ", X)):
            name = f"joints.{joint}.{end}"
            values[name] = nominal.parameters[name] @ K @ Y @ inverse(K)
    q = rng.uniform(-1.5, 1.5, size=(60, 6))
    seen = hand(nominal.with_parameters(values), q) + NOISE * rng.normal(size=(60, 3))
    alone = mb.calibrate(nominal, {"link6": seen}, names, q=q, frames={"link6": REFLECTOR})
    parts = (alone.parameters - exact) / alone.standard_errors
    print("name, found, its standard error, exact: the last axis")
    for k, name in enumerate(alone.parameter_names):
        if name.startswith("joint6"):
            values_of = alone.parameters[k], alone.standard_errors[k], exact[k]
            print("  {:22} {:9.5f} +- {:.5f} {:9.5f}".format(name, *values_of))
    print(f"furthest off: {np.abs(parts).max():.1f} standard errors")

    assert len(base.names) == 27
    assert abs(found.noise[1] / NOISE - 1.0) < 0.2
    assert after < 0.05 * before
    assert np.abs(parts).max() < 4.0
    assert 0.6 < np.sqrt((parts**2).mean()) < 1.4


if __name__ == "__main__":
    main()

"""One arm in four representations of twists: what differs, what does not, and how to convert.

Run it:  python examples/four_representations.py
"""

from __future__ import annotations

import pathlib

import numpy as np

import mbkit as mb

MODEL = pathlib.Path(__file__).parent / "models" / "panda.toml"
REPRESENTATIONS = (mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed())


def main() -> None:
    """Compare the four on a random state, then follow one point of the hand."""
    arm = mb.load_model(MODEL)
    systems = [
        arm.assemble(mb.RelativeCoordinates(representation=each)) for each in REPRESENTATIONS
    ]
    body_fixed = systems[0]
    rng = np.random.default_rng(1)
    q, v, vdot = rng.normal(size=(3, body_fixed.nv))
    hand = body_fixed.body_index(body_fixed.body_names[-1])
    pose = body_fixed.poses(q)[hand]

    print(f"The twist of '{body_fixed.body_names[hand]}', (angular; linear):")
    for system in systems:
        print(f"  {system.representation.name:10}", system.twists(q, v)[hand].round(3))

    # Each twist has its own recursion. A conversion of one gives the others.
    V = body_fixed.twists(q, v)[hand]
    for system in systems:
        converted = mb.convert_twist(V, pose, mb.BodyFixed(), system.representation)
        assert np.allclose(converted, system.twists(q, v)[hand], atol=1e-12)

    # Accelerations convert with the rate of that conversion, which hangs on the twist.
    A = body_fixed.accelerations(q, v, vdot)[hand]
    for system in systems:
        own = system.accelerations(q, v, vdot)[hand]
        converted = mb.convert_acceleration(A, V, pose, mb.BodyFixed(), system.representation)
        assert np.allclose(converted, own, atol=1e-10)

    # What the joints feel is the same in all.
    tau = [system.inverse_dynamics(q, v, vdot) for system in systems]
    print("Largest difference of the joint forces [N m]:", f"{np.ptp(tau, axis=0).max():.1e}")

    # Typed values know what they are, and refuse what would be nonsense.
    in_world = systems[2].twists(q, v, typed=True)[hand]
    in_body = body_fixed.twists(q, v, typed=True)[hand]
    try:
        in_world - in_body
    except mb.QuantityError as error:
        print("Refused:", error)
    print("Converted first:", np.abs((in_world - in_body.to(mb.Hybrid())).vector).max() < 1e-12)


if __name__ == "__main__":
    main()

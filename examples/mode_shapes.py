"""Mode shapes of a closed mechanism: two platforms that swing on parallel rods.

The upper platform hangs on two rods from the ceiling, the lower one on two rods from the upper
one. Each pair of rods makes a parallelogram, so that the platforms move without turning. With small
angles a and b of the two pairs against the vertical

    T = m_a (l a')^2 / 2 + m_ab l^2 a' b' + m_b (l b')^2 / 2,   U = g l (w_a a^2 + w_b b^2) / 2,

of which the frequencies and the ratios b : a follow in closed form. The program compares them with
the modes of the linear model, in relative and in absolute coordinates, and with a run of small
amplitude. Run it:

    python examples/mode_shapes.py
"""

from __future__ import annotations

import warnings

import numpy as np

import mbkit as mb

GRAVITY, LENGTH, WIDTH = 9.81, 0.5, 0.8  # length of the rods, distance of a pair [m]
PLATFORMS = 3.0, 2.0  # masses of the upper and the lower platform [kg]
ROD = 0.4  # mass of a rod [kg]


def build() -> mb.Mechanism:
    """Return the mechanism in the x, z plane, hanging straight down."""
    mech = mb.Mechanism("double swing", gravity=(0, 0, -GRAVITY))
    above = "world"
    rod = mb.SpatialInertia.from_com(ROD, (0, 0, 0), np.diag([1, 1, 0]) * ROD * LENGTH**2 / 12)
    for level, (name, mass) in enumerate(zip(("upper", "lower"), PLATFORMS, strict=True)):
        top, bottom = -level * LENGTH, -(level + 1) * LENGTH
        table = mb.SpatialInertia.box(mass, size=(WIDTH, 0.3, 0.05))
        mech.add_body(mb.Body(name, table, mb.spatial.translation((0, 0, bottom))))
        for side, x in (("left", -WIDTH / 2), ("right", WIDTH / 2)):
            middle = mb.spatial.translation((x, 0, (top + bottom) / 2))
            label = f"{name} {side}"
            mech.add_body(mb.Body(f"{label} rod", rod, middle))
            for end, z, bodies in (
                ("top", top, (above, f"{label} rod")), ("bottom", bottom, (f"{label} rod", name)),
            ):  # fmt: skip
                hinge = mb.RevoluteJoint(f"{label} {end}", axis=(0, 1, 0), point=(x, 0, z))
                mech.add_joint(hinge, *bodies)
        above = name
    return mech


def closed_form() -> tuple[np.ndarray, np.ndarray]:
    """Return the angular frequencies [rad/s], and the ratios b : a."""
    upper, lower = PLATFORMS
    m_b = lower + 2 * ROD / 3
    m_ab = lower + ROD
    m_a = upper + lower + 2 * ROD + 2 * ROD / 3
    w_a, w_b = upper + lower + 3 * ROD, lower + ROD
    # (w_a g/l - s m_a) (w_b g/l - s m_b) = s^2 m_ab^2 of s = omega^2
    k = GRAVITY / LENGTH
    squares = np.roots([m_a * m_b - m_ab**2, -k * (w_a * m_b + w_b * m_a), k**2 * w_a * w_b])[::-1]
    return np.sqrt(squares), (k * w_a - squares * m_a) / (squares * m_ab)


def frequency_of_run(system: mb.System, shape: np.ndarray) -> float:
    """Return the angular frequency of a run that starts in a small mode shape."""
    entries = system.velocity_names.index("upper left top")
    q = system.close_loops(1e-4 * shape)
    run = mb.simulate(system, (0.0, 8.0), 2e-3, q=q, progress=False)
    x = run.q[:, entries]
    down = np.flatnonzero((x[:-1] > 0.0) & (x[1:] <= 0.0))
    times = run.t[down] + (run.t[down + 1] - run.t[down]) * x[down] / (x[down] - x[down + 1])
    return float(2.0 * np.pi * (len(times) - 1) / (times[-1] - times[0]))


def main() -> None:
    """Compare frequencies and shapes with the closed form."""
    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)  # of planar loops in space
    mech = build()
    omega, ratios = closed_form()
    relative, absolute = mech.assemble(), mech.assemble(mb.AbsoluteCoordinates())
    found = relative.equilibrium()
    print(found)
    model = relative.linearize(found.q)
    modes = model.modes()
    print(modes)
    other = absolute.linearize(absolute.state_of(relative, found.q)[0]).modes()
    upper, lower = (modes.twists(name) for name in ("upper", "lower"))
    measured = (lower[3] - upper[3]).real / upper[3].real
    print(f"\n{'':24}{'mode 0':>16}{'mode 1':>16}")
    rows = {
        "omega, closed form": omega,
        "  in relative coord.": modes.omega,
        "  in absolute coord.": other.omega,
        "  of a small run": [frequency_of_run(relative, modes.shapes[:, k].real) for k in range(2)],
        "b : a, closed form": ratios,
        "  of the mode shape": measured,
    }
    for name, values in rows.items():
        print(f"{name:24}{values[0]:16.10f}{values[1]:16.10f}")
    turning = max(np.abs(upper[:3]).max(), np.abs(lower[:3]).max())
    print(f"{'turning of platforms':24}{turning:16.1e}")
    for values in (modes.omega, other.omega):
        assert np.allclose(values, omega, rtol=1e-10)
    assert np.allclose(measured, ratios, rtol=1e-10)
    assert np.allclose(rows["  of a small run"], omega, rtol=1e-6)


if __name__ == "__main__":
    main()

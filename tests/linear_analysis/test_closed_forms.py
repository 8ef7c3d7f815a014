"""Frequencies, equilibria and compliances that textbooks give in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from examples import mode_shapes
from mbkit.joints.defaults.differences import derivative
from tests.closed_loops.planar_four_bar import PlanarFourBar, Rod

Y = (0.0, 1.0, 0.0)


def pendulum(*links, spring=0.0, damping=0.0, gravity=9.81):
    """Return a chain of point masses (mass, length) that hangs along -z."""
    mech = mb.Mechanism("pendulum", gravity=(0, 0, -gravity))
    last, depth = mech.world, 0.0
    for k, (mass, length) in enumerate(links):
        body = mech.add_body(
            mb.Body(f"link{k}", mb.SpatialInertia.from_com(mass, (0.0, 0.0, -depth - length)))
        )
        mech.add_joint(mb.RevoluteJoint(f"hinge{k}", axis=Y, point=(0.0, 0.0, -depth)), last, body)
        last, depth = body, depth + length
    mech.add_force(mb.JointSpring("spring", "hinge0", stiffness=spring))
    mech.add_force(mb.JointDamper("damper", "hinge0", damping=damping))
    return mech


def test_pendulum_with_spring_and_damper():
    m, length, k, d = 1.3, 0.7, 5.0, 0.8
    model = pendulum((m, length), spring=k, damping=d).assemble().linearize([0.0])
    inertia, stiffness = m * length**2, k + m * 9.81 * length
    omega = np.sqrt(stiffness / inertia)
    modes = model.modes()
    assert model.is_equilibrium
    np.testing.assert_allclose(modes.omega, omega, rtol=1e-14)
    np.testing.assert_allclose(modes.frequency, omega / (2 * np.pi), rtol=1e-14)
    np.testing.assert_allclose(modes.damping_ratio, d / (2 * inertia * omega), rtol=1e-13)
    np.testing.assert_allclose(model.compliance(), 1.0 / stiffness, rtol=1e-14)
    w = np.array([0.0, 3.0, omega])
    expected = 1.0 / (stiffness - inertia * w**2 + 1j * d * w)
    np.testing.assert_allclose(model.frequency_response(w)[:, 0, 0], expected, rtol=1e-13)
    np.testing.assert_allclose(modes.twists("link0")[:, 0], [0, 1, 0, 0, 0, 0], atol=1e-15)


def test_of_second_order_is_what_hangs_on_its_hinge_and_where_that_is():
    """Inertia, damping and stiffness of a pendulum that accelerates through its lowest place."""
    m, length, k, d, effort, rate = 1.3, 0.7, 5.0, 0.8, 0.6, 0.4
    system = pendulum((m, length), spring=k, damping=d).assemble()
    model = system.linearize([0.0], [rate], tau=[effort], t=2.5)
    inertia = m * length**2
    np.testing.assert_allclose(model.mass, [[inertia]], rtol=1e-14)
    np.testing.assert_allclose(model.damping, [[d]], rtol=1e-14)
    np.testing.assert_allclose(model.stiffness, [[k + m * 9.81 * length]], rtol=1e-14)
    np.testing.assert_array_equal([*model.q, *model.v, model.t], [0.0, rate, 2.5])
    np.testing.assert_allclose(model.vdot, [(effort - d * rate) / inertia], rtol=1e-14)
    assert not model.is_equilibrium


def test_double_pendulum_of_equal_masses():
    """Have omega^2 = g / l (2 -+ sqrt 2), with amplitudes 1 : +-sqrt 2 of the absolute angles."""
    g, length = 9.81, 0.4
    system = pendulum((2.0, length), (2.0, length)).assemble()
    modes = system.linearize([0.0, 0.0]).modes()
    expected = np.sqrt(g / length * (2 + np.array([-1, 1]) * np.sqrt(2)))
    np.testing.assert_allclose(modes.omega, expected, rtol=1e-13)
    absolute = np.cumsum(modes.shapes.real, axis=0)
    np.testing.assert_allclose(absolute[1] / absolute[0], [np.sqrt(2), -np.sqrt(2)], rtol=1e-12)


def test_upright_pendulum_grows_and_is_found_unstable():
    system = pendulum((1.0, 2.0)).assemble()
    found = system.equilibrium([3.0])
    np.testing.assert_allclose(found.q, np.pi, rtol=1e-12)
    assert (found.found, found.stability) == (True, "unstable")
    modes = system.linearize(found.q).modes()
    np.testing.assert_allclose(modes.eigenvalues, np.sqrt(9.81 / 2.0), rtol=1e-12)
    assert modes.omega[0] == 0.0
    assert not modes.is_stable
    assert modes.damping_ratio[0] == -1.0


def test_chain_of_springs_and_masses():
    """n masses on a wall: omega_j = 2 sqrt(k/m) sin((2j - 1) pi / (4n + 2))."""
    n, k, m = 6, 300.0, 0.7
    mech = mb.Mechanism("chain", gravity=(0, 0, 0))
    last = mech.world
    for i in range(n):
        ball = mech.add_body(mb.Body(f"m{i}", mb.SpatialInertia.sphere(m, radius=0.01)))
        mech.add_joint(mb.PrismaticJoint(f"x{i}", axis=(1, 0, 0)), last, ball)
        mech.add_force(mb.JointSpring(f"k{i}", f"x{i}", stiffness=k))
        last = ball
    model = mech.assemble().linearize(
        np.zeros(n), inputs=[f"m{n - 1}.force"], outputs=[f"m{n - 1}.position", "m0.twist"]
    )
    j = np.arange(1, n + 1)
    expected = 2.0 * np.sqrt(k / m) * np.sin((2 * j - 1) * np.pi / (4 * n + 2))
    np.testing.assert_allclose(model.modes().omega, expected, rtol=1e-12)
    np.testing.assert_allclose(model.compliance()[0], [n / k, 0.0, 0.0], rtol=1e-12)


# ------------------------------------------------------------------------ in steady motion


def governor(prescribed):
    """Return a point mass on a hinge on a vertical shaft, and what spins it at 5 rad/s."""
    mech = mb.Mechanism("governor", gravity=(0, 0, -9.81))
    shaft = mech.add_body(mb.Body("shaft", mb.SpatialInertia.sphere(1e-30, radius=1.0)))
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.from_com(1.7, (0, 0, -0.8))))
    spin = mb.RevoluteJoint("spin", axis=(0, 0, 1))
    if prescribed:
        spin = spin.prescribe(lambda t: 5.0 * t, lambda t: 5.0, lambda t: 0.0)
    mech.add_joint(spin, mech.world, shaft)
    mech.add_joint(mb.RevoluteJoint("swing", axis=(0, 1, 0)), shaft, arm)
    return mech.assemble()


@pytest.mark.parametrize("prescribed", [True, False])
def test_conical_pendulum(prescribed):
    """At cos a = g / (l W^2): omega = W sin a with the spin kept, W^2 (1 + 3 cos^2 a) if free."""
    system = governor(prescribed)
    cosine = 9.81 / (0.8 * 25.0)
    model = system.linearize([0.3, np.arccos(cosine)], [5.0, 0.0])
    factor = 1.0 - cosine**2 if prescribed else 1.0 + 3.0 * cosine**2
    assert "steady motion" in repr(model)
    assert not model.is_equilibrium
    np.testing.assert_allclose(model.modes().omega[-1], 5.0 * np.sqrt(factor), rtol=1e-9)
    assert len(model.state_names) == (2 if prescribed else 4)
    with pytest.raises(mb.UsageError, match="at an equilibrium"):
        model.compliance()


def test_sleeping_top():
    """Tilts go with l in I1 l^2 - I3 W l + m g h = 0, and with l - W as increments in the body."""
    I1, I3, mgh, spin = 0.4, 0.2, 1.5 * 9.81 * 0.4, 20.0
    moment = np.diag([I1 - 1.5 * 0.4**2, I1 - 1.5 * 0.4**2, I3])
    mech = mb.Mechanism("top", gravity=(0, 0, -9.81))
    top = mech.add_body(mb.Body("top", mb.SpatialInertia.from_com(1.5, (0, 0, 0.4), moment)))
    mech.add_joint(mb.SphericalJoint("tip"), mech.world, top)
    system = mech.assemble()
    s = np.linalg.eigvals(system.linearize(system.reference_configuration(), [0, 0, spin]).A)
    tilts = np.roots([I1, -I3 * spin, mgh]) - spin
    expected = np.sort([0.0, 0.0, *np.real(tilts), *-np.real(tilts)])
    assert np.isreal(tilts).all()
    np.testing.assert_allclose(np.sort(s.imag), expected, atol=1e-9)
    np.testing.assert_allclose(s.real, 0.0, atol=1e-9)


# ------------------------------------------------------------------------------ a four-bar


def four_bar():
    """Return a four-bar with a spring at its crank, and its description with one coordinate."""
    rods = {"crank": (0.4, 0.6), "coupler": (0.9, 1.1), "rocker": (0.7, 0.8)}
    plane = PlanarFourBar(
        1.0, *(Rod(length, mass, mass * length**2 / 12) for length, mass in rods.values())
    )
    mech = mb.Mechanism("four-bar", gravity=(0, -9.81, 0))
    for name, (length, mass) in rods.items():
        moment = np.diag([1e-3, 1.0, 1.0]) * mass * length**2 / 12
        mech.add_body(mb.Body(name, mb.SpatialInertia.from_com(mass, (length / 2, 0, 0), moment)))
    along = mb.spatial.translation
    for name, ends, near in (
        ("A", ("world", "crank"), (0, 0, 0)), ("B", ("crank", "coupler"), (0.4, 0, 0)),
        ("D", ("world", "rocker"), (1.0, 0, 0)),
    ):  # fmt: skip
        mech.add_joint(mb.RevoluteJoint(name), *ends, frames=(along(near), np.eye(4)))
    mech.add_joint(
        mb.RevoluteJoint("C"), "coupler", "rocker", frames=(along((0.9, 0, 0)), along((0.7, 0, 0)))
    )
    mech.add_force(mb.JointSpring("spring", "A", stiffness=30.0, rest=1.4))
    return mech, plane


def of_one_coordinate(plane, angle):
    """Return J, J', U', U'' of the reduced energy with its spring, by complex steps."""
    step = 1e-30

    def slopes(a):
        J = plane.reduced_inertia(a + 1j * step)
        U = plane.potential_energy(a + 1j * step)
        return np.array([J.real, J.imag / step, U.imag / step + 30.0 * (a - 1.4)])

    return slopes(angle), derivative(lambda e: slopes(angle + e))


def start(plane, angle):
    rocker = plane.rocker_angle(angle)
    return np.array([angle, plane.coupler_angle(angle) - angle, rocker])


@pytest.mark.some(2)
@pytest.mark.parametrize("coordinates", ["relative", "absolute"])
def test_four_bar_with_spring(coordinates):
    mech, plane = four_bar()
    relative = mech.assemble(mb.RelativeCoordinates(loop_joints=["C"]))
    system, q = relative, start(plane, 1.0)
    assert np.abs(system.constraint_residual(q)).max() < 1e-14
    if coordinates == "absolute":
        system = mech.assemble(mb.AbsoluteCoordinates())
        q = system.state_of(relative, q)[0]
    found = system.equilibrium(q)
    assert found.found
    assert found.stability == "stable"
    angle = relative.state_of(system, found.q)[0][0]
    (J, _, slope), (_, _, curvature) = of_one_coordinate(plane, angle)
    assert abs(slope) < 1e-9
    model = system.linearize(
        found.q, inputs=["forces.spring.rest"], outputs=["A.q", "A.vdot"], independent=["A"]
    )
    np.testing.assert_allclose(model.modes().omega, np.sqrt(curvature / J), rtol=1e-10)
    np.testing.assert_allclose(model.compliance(), [[30.0 / curvature], [0.0]], atol=1e-10)
    np.testing.assert_allclose(model.D, [[0.0], [30.0 / J]], rtol=1e-9)
    held = relative.equilibrium(start(plane, 1.0), fixed=["A"])
    np.testing.assert_allclose(held.efforts["A"], of_one_coordinate(plane, 1.0)[0][2], rtol=1e-11)
    again = relative.equilibrium(start(plane, 1.1), tau={"A": held.efforts["A"]})
    np.testing.assert_allclose(again.q, start(plane, 1.0), atol=1e-9)


def test_four_bar_in_motion():
    """a'' = -(J' a'^2 / 2 + U') / J, differentiated by the crank's angle and rate."""
    mech, plane = four_bar()
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["C"]))
    angle, rate = 0.8, 2.5
    q = start(plane, angle)
    v = system.dependent_velocity(q, {"A": rate})
    model = system.linearize(q, v, ["A"], ["D.vdot"], independent=["A"])

    def gain(a):
        (J, J1, U1), _ = of_one_coordinate(plane, a)
        return -(J1 * rate**2 / 2 + U1) / J

    (J, J1, _), _ = of_one_coordinate(plane, angle)
    expected = [[0.0, 1.0], [derivative(lambda e: gain(angle + e)), -J1 * rate / J]]
    np.testing.assert_allclose(model.A, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.B, [[0.0], [1.0 / J]], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(model.D, plane.ratios(angle)[1] / J, rtol=1e-12)
    assert model.state_names == ("A.q", "A.v")
    assert "in motion" in model.state_note


def test_small_run_has_the_frequency():
    """Of the four-bar, by its zero crossings, to 1e-6."""
    mech, plane = four_bar()
    system = mech.assemble(mb.RelativeCoordinates(loop_joints=["C"]))
    found = system.equilibrium(start(plane, 1.0))
    model = system.linearize(found.q)
    q = found.q.copy()
    q[0] += 1e-4
    q = system.close_loops(q, fixed=["A"])
    period = 1.0 / model.modes().frequency[0]
    run = mb.simulate(system, (0.0, 20.3 * period), period / 400, q=q, progress=False)
    x = run.q[:, 0] - found.q[0]
    k = np.flatnonzero((x[:-1] > 0) & (x[1:] <= 0))
    crossings = run.t[k] + (run.t[k + 1] - run.t[k]) * x[k] / (x[k] - x[k + 1])
    np.testing.assert_allclose((crossings[-1] - crossings[0]) / (len(k) - 1), period, rtol=1e-6)


def test_example_of_mode_shapes(capsys):
    """Two platforms on parallel rods: frequencies to 1e-10, those of small runs to 1e-6."""
    mode_shapes.main()
    assert "closed form" in capsys.readouterr().out

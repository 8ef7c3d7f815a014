"""Forces that the adjoint takes along, each by its own bodies and joints, against other ways.

Forward derivatives move the whole tree instead, and differences of runs know nothing of either.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbkit as mb
from mbkit.forces import ForceKernels
from mbkit.kernels.compile import address_kernel
from mbkit.kernels.forces.bodies import apply, point_of, pose_of, velocity_of
from mbkit.kernels.forces.form import FORCE_FORM, joint, parameters, site
from mbkit.kernels.layout import DISSIPATED
from mbkit.kernels.vectors import add, cross, scale, subtract
from mbkit.sensitivities.passes.forces import called_forces, other_forces
from tests.forces.cases import every_force, tree
from tests.sensitivities.differences import assert_adjoint, assert_same
from tests.trees import random_mechanism, random_state

pytestmark = [pytest.mark.compiled, pytest.mark.slow]


def run_of(system, q, v):
    return mb.simulate(system, (0.2, 0.22), 5e-3, q=q, v=v)


def assert_derivatives(system, state, names):
    """Compare the adjoint with forward derivatives, and these with differences of runs."""
    base = run_of(system, state.q, state.v)
    found = mb.sensitivities(base, by=["q", "v", *names])
    assert_adjoint(base, found)
    dx, dv = np.eye(system.ndx)[1], np.eye(system.nv)[2]
    change = lambda e: run_of(system, system.retract(state.q, e * dx), state.v)  # noqa: E731
    assert_same(system, base, found, "q", 1, change, h=1e-3)
    change = lambda e: run_of(system, state.q, state.v + e * dv)  # noqa: E731
    assert_same(system, base, found, "v", 2, change, h=1e-3)


def test_every_force_of_mbkit_and_all_of_their_numbers():
    rng = np.random.default_rng(75)
    mech, single = tree(rng)
    system = mech.assemble().with_forces(every_force(rng, mech, single))
    assert other_forces(system, called_forces(system)) is None
    names = [n for n in system.parameters if n.startswith("forces.") and not n.endswith("times")]
    masses = [n for n in system.parameters if n.endswith(".mass")][:2]
    assert_derivatives(system, random_state(np.random.default_rng(76), system), [*names, *masses])


def test_inertial_parameters_in_fields_on_all_bodies():
    rng = np.random.default_rng(7)
    system = random_mechanism(rng, 4, ("revolute", "universal", "spherical"), reach=2).assemble()
    fields = [mb.UniformField(f"field{k}", acceleration=rng.normal(size=3)) for k in range(2)]
    system = system.with_forces(fields)
    fields = ("mass", "com", "moment_about_com")
    names = [f"bodies.body{k}.{field}" for k in (0, 3) for field in fields]
    names += ["gravity", "forces.field0.acceleration", "forces.field1.acceleration"]
    assert_derivatives(system, random_state(rng, system), names)


@address_kernel(FORCE_FORM, in_lanes=True)
def pull(space, k, t, q, v, _tau, _powers):
    """On b, at a point of it, c_0 t (x_a - x_b), and c_1 times its angular velocity; reaction on a.

    All that times 1 + c_2 q v of the first joint of the tree, which is not named.
    """
    c = parameters(space, k)
    a, b = site(space, k, 0), site(space, k, 1)
    _, x_a = pose_of(space, a)
    _, origin = pose_of(space, b)
    x_b, _ = point_of(space, b, (0.1, 0.2, -0.3))
    w, _ = velocity_of(space, b)
    at_q, at_v, _ = joint(space, k)
    factor = 1.0 + c[2] * q[at_q] * v[at_v]
    f = scale(factor * c[0] * t, subtract(x_a, x_b))
    moment = scale(-factor * c[1], w)
    apply(space, b, add(moment, cross(subtract(x_b, origin), f)), f)
    apply(space, a, scale(-1.0, moment), scale(-1.0, f))
    return 0


@address_kernel(FORCE_FORM, in_lanes=True)
def spring(space, k, _t, q, v, tau, powers):
    """-c q along a joint, with a zero beside it that dual numbers cannot differentiate."""
    at_q, at_v, _ = joint(space, k)
    zero = q[at_q] - q[at_q]
    force = parameters(space, k)[0] * q[at_q] + math.atan2(zero, zero)
    tau[at_v] -= force
    powers[DISSIPATED] += force * v[at_v]
    return 0


class User(mb.Force):
    """A force of a user that is compiled for dual numbers."""

    def __init__(self, name, numbers, function):
        self.name, self.numbers, self.function = name, numbers, function

    def kernels(self):
        return ForceKernels(self.function)

    def parameters(self):
        return np.array(self.numbers)


class Pull(User):
    """Between two bodies."""

    acts_on = "bodies"

    def __init__(self, name, bodies, numbers):
        super().__init__(name, numbers, pull)
        self.bodies = bodies


class Spring(User):
    """Along a joint."""

    joints = ("joint1",)


@pytest.mark.parametrize("by_joint", [0.0, 0.7])
def test_forces_of_users_between_bodies(by_joint):
    """And on the world, in a tree that is turned round in part; they read a joint besides."""
    rng = np.random.default_rng(5)
    kinds = ("revolute", "universal", "spherical")
    system = random_mechanism(rng, 5, kinds, turned_round=0.5, reach=2).assemble()
    pairs = (("body3", "body1"), ("world", "body4"), ("body2", "world"))
    system = system.with_forces(
        [Pull(f"pull{k}", pair, (4.0 + k, 0.3, by_joint)) for k, pair in enumerate(pairs)]
    )
    assert called_forces(system) == [0, 1, 2]
    assert_derivatives(system, random_state(rng, system), [])


def test_where_dual_numbers_have_no_derivative_differences_are_taken():
    rng = np.random.default_rng(5)
    system = random_mechanism(rng, 3, ("revolute",)).assemble()
    system = system.with_forces([Spring("own", (3.0,), spring)])
    state = random_state(rng, system)
    found = [
        mb.gradient(
            run_of(each, state.q, state.v), lambda t, q, v: (0.0, None, np.ones_like(v)), ["q", "v"]
        )
        for each in (
            system,
            system.without_forces(["own"]).with_forces([mb.JointSpring("s", "joint1", 3.0)]),
        )
    ]
    for name in ("q", "v"):
        assert np.allclose(found[0][name], found[1][name], rtol=1e-9, atol=1e-9)

"""Dimensions of bodies that stay free in functions of CasADi."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.peers.test_casadi import same, state_of
from tests.peers.test_casadi_parameters import moved
from tests.trees import random_inertia

casadi = pytest.importorskip("casadi")

_PLACE = SE3.exp(np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0]))
_CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
_WEDGE = mb.MeshShape(_CORNERS, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


@attrs.frozen
class Dumbbell(mb.Body):
    """Two balls at the ends of a bar, whose inertia is a sum."""

    length: float
    radius: float
    density: float

    @property
    def inertia(self):
        bar = mb.SpatialInertia.cylinder(
            density=self.density, radius=0.3 * self.radius, length=self.length
        )
        ball = mb.SpatialInertia.sphere(density=self.density, radius=self.radius)
        up = mb.spatial.translation((0.0, 0.0, 0.5 * self.length))
        down = mb.spatial.translation((0.0, 0.0, -0.5 * self.length))
        return bar + ball.transformed(up) + ball.transformed(down)

    @property
    def shapes(self):
        return ()


BODIES = (
    mb.Rod("rod", length=0.4, radius=0.001, axis=(1, 2, -1), start=(0.1, 0, 0.2), density=2700.0),
    mb.Box("box", size=(1, 2, 3), density=12.0, shape_pose=_PLACE),
    mb.Cylinder("cylinder", radius=0.2, length=3.0, mass=12.0, shape_pose=_PLACE),
    mb.Sphere("ball", radius=1.0, density=2.5),
    mb.PointMass("bob", 2.0, position=(0.3, 0, -1)),
    mb.MeshBody("wedge", _WEDGE, density=6.0, shape_pose=_PLACE),
    Dumbbell("dumbbell", length=0.5, radius=0.1, density=800.0),
)


def system_of(*bodies):
    """Return a chain of bodies, on the first of which there is another one."""
    rng = np.random.default_rng(51)
    mechanism = mb.Mechanism("chain")
    ends = [mechanism.world, *map(mechanism.add_body, bodies)]
    ends.append(mechanism.add_body(mb.Body("tip", random_inertia(rng))))
    for k in range(len(ends) - 1):
        axis, point = rng.normal(size=(2, 3))
        joint = mb.RevoluteJoint(f"joint{k}", axis=axis, point=point)
        mechanism.add_joint(joint, ends[k], ends[k + 1])
    return mechanism.assemble()


def check(system, names):
    """Forward dynamics with other dimensions, and its derivatives by them."""
    rng = np.random.default_rng(52)
    q, v, _, tau = state_of(rng, system)
    function = mb.casadi_function(system, "forward_dynamics", parameters=names)
    values = {name: abs(moved(rng, system.parameters[name])) if np.ndim(system.parameters[name]) < 2
              else moved(rng, system.parameters[name]) for name in names}  # fmt: skip
    other = system.with_parameters(values)
    expected = other.forward_dynamics(q, v, tau)
    assert same(function(q, v, tau, *values.values()), expected)
    parts = function.jacobian()(q, v, tau, *values.values(), np.zeros(system.nv))[3:]
    scalars = [name for name in names if np.ndim(values[name]) < 2]
    rates = other.derivatives("forward_dynamics", q, v, tau, by=scalars)
    for name, found in zip(names, parts, strict=True):
        if name in scalars:
            assert same(found, rates[name], 1e-10), name


@pytest.mark.parametrize("body", BODIES, ids=lambda each: each.name)
def test_dimensions_of_a_body(body):
    system = system_of(body)
    own = [name for name in system.parameters if name.startswith(f"bodies.{body.name}.")]
    check(system, [name for name in own if not name.endswith("shown_radius")])


def test_dimensions_of_many_bodies_with_places_of_joints():
    """All together, and entries of some alone."""
    system = system_of(*BODIES)
    check(system, ["bodies.rod.length", "bodies.box.size", "bodies.ball.radius",
                   "joints.joint1.S_pred", "bodies.tip.com", "gravity"])  # fmt: skip
    function = mb.casadi_function(system, "mass_matrix", parameters=["bodies.box.size[1]"])
    q, *_ = state_of(np.random.default_rng(53), system)
    other = system.with_parameters({"bodies.box.size": (1.0, 2.7, 3.0)})
    assert same(function(q, 2.7), other.mass_matrix(q))


def test_moments_of_a_thin_body_stay_free():
    """Beside a moment that is zero no other one can be without its own, as values nearby are."""
    thin = mb.SpatialInertia.from_com(2.0, (0.1, 0, 0), np.diag([0.0, 1.0, 1.0]))
    system = system_of(mb.Body("thin", thin))
    name = "bodies.thin.moment_about_com"
    function = mb.casadi_function(system, "mass_matrix", parameters=[name])
    q, *_ = state_of(np.random.default_rng(54), system)
    other = np.diag([0.4, 1.0, 1.3])
    expected = system.with_parameters({name: other}).mass_matrix(q)
    assert same(function(q, other), expected)


def test_an_inertia_that_cannot_be_traced_is_named():
    @attrs.frozen
    class Tabulated(mb.Body):
        radius: float

        @property
        def inertia(self):
            mass = float(np.interp(self.radius, [0.0, 1.0], [1.0, 3.0]))
            return mb.SpatialInertia.sphere(mass, radius=self.radius)

    system = system_of(Tabulated("wheel", radius=0.2))
    with pytest.raises(mb.UsageError, match=r"Body 'wheel'.*np\.interp.*write its inertia"):
        mb.casadi_function(system, "mass_matrix", parameters=["bodies.wheel.radius"])

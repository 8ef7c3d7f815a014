"""New classes of the families of mbkit: the text of a file each, and what is to hold with its line.

The checks run in a process of their own, on a copy of mbkit that has the file and the line.
"""

from __future__ import annotations

from typing import NamedTuple


class NewClass(NamedTuple):
    """A class as a contributor would add it.

    Attributes
    ----------
    family : str
        The package.
    module, name : str
        Of the class.
    text : str
        The file.
    checks : str
        A program that uses the class as one of mbkit's own.
    """

    family: str
    module: str
    name: str
    text: str
    checks: str

    @property
    def line(self) -> str:
        """What is added to the list of the family."""
        return f"from mbkit.{self.family}.{self.module} import {self.name} as {self.name}\n"


LIFT = NewClass(
    "joints",
    "scissor_lift",
    "ScissorLiftJoint",
    '''"""Translation along an axis, one for the other way round."""

from typing import final

import attrs

from mbkit.joints.bases.axis_motion import AxisMotion


@final
@attrs.frozen
class ScissorLiftJoint(AxisMotion):
    """Translation along an axis; q is the way. [m]."""

    rate = 0.0
    lead = 1.0
''',
    """
from mbkit.joints import JOINT_TYPES
from mbkit.plugins import registry

joint = mb.ScissorLiftJoint("lift", axis=(1, 0, 0))
mechanism = mb.Mechanism("table", gravity=(-9.81, 0, 0))
body = mechanism.add_body(mb.Body("top", mb.SpatialInertia.sphere(2.0, radius=0.1)))
mechanism.add_joint(joint, mechanism.world, body)
text = mechanism.to_toml()
assert 'type = "scissor_lift"' in text, text
read = mb.parse_model(text)
assert type(read.joints["lift"].joint) is mb.ScissorLiftJoint
assert read.assemble().forward_dynamics([0.0], [0.0]).round(9) == [-9.81]
assert JOINT_TYPES["scissor_lift"] is registry().find("joint", "scissor_lift")
""",
)

CUBIC_SPRING = NewClass(
    "forces",
    "cubic_spring",
    "CubicSpring",
    '''"""A spring in a joint whose effort grows with the third power."""

from typing import final

import attrs
import numpy as np

from mbkit.forces.bases.fields import number
from mbkit.forces.bases.joint_force import PositionForce


@final
@attrs.frozen
class CubicSpring(PositionForce):
    """tau = -k q^3 in a joint, with the potential energy k q^4 / 4."""

    stiffness: float = number(least=0.0)

    power = "conservative"

    def evaluate(self, t, q, v, poses, twists, out):
        """Write tau."""
        out[:] = -self.stiffness * q**3

    def potential_energy(self, t, q, poses):
        """Return k q^4 / 4."""
        return 0.25 * self.stiffness * float(np.sum(q**4))
''',
    """
from mbkit.forces import FORCE_TYPES
from mbkit.plugins import registry

mechanism = mb.Mechanism("cart", gravity=(0, 0, 0))
body = mechanism.add_body(mb.Body("cart", mb.SpatialInertia.sphere(2.0, radius=0.1)))
mechanism.add_joint(mb.PrismaticJoint("rail", axis=(1, 0, 0)), mechanism.world, body)
mechanism.add_force(mb.CubicSpring("spring", "rail", stiffness=5.0))
text = mechanism.to_toml()
assert 'type = "cubic_spring"' in text, text
read = mb.parse_model(text)
assert type(read.forces["spring"]) is mb.CubicSpring
system = read.assemble()
assert system.generalized_forces([2.0], [0.0]).round(9) == [-40.0]
assert system.parameters["forces.spring.stiffness"] == 5.0
changed = system.with_parameters({"forces.spring.stiffness": 7.0})
assert changed.generalized_forces([2.0], [0.0]).round(9) == [-56.0]
run = mb.simulate(system, (0.0, 0.2), 0.01, q=[1.0], outputs=["spring.potential_energy"])
energy = run.outputs["spring.potential_energy"].ravel() + run.v[:, 0] ** 2
assert abs(energy - 1.25).max() < 1e-6, energy
assert FORCE_TYPES["cubic_spring"] is registry().find("force", "cubic_spring")
""",
)

CIRCULAR_SLOT = NewClass(
    "constraints",
    "circular_slot",
    "CircularSlot",
    '''"""A body whose origin stays at a distance from the axis z of the world."""

from typing import final

import attrs
import numpy as np

from mbkit.constraints.constraint import Constraint
from mbkit.forces.bases.fields import check_name_field, number


@final
@attrs.frozen
class CircularSlot(Constraint):
    """The origin of a body stays on a cylinder about the axis z of the world."""

    name: str
    body: str = attrs.field(validator=check_name_field)
    radius: float = number(least=0.0)

    num_rows = 1

    @property
    def bodies(self):
        """The body."""
        return (self.body,)

    def residual(self, t, q, poses):
        """Return the distance from the axis, without the radius."""
        x, y = poses[0][0, 3], poses[0][1, 3]
        return np.array([np.sqrt(x * x + y * y) - self.radius])
''',
    """
import numpy as np
from mbkit.constraints import CONSTRAINT_TYPES
from mbkit.plugins import registry

mechanism = mb.Mechanism("bead", gravity=(0, 0, 0))
body = mechanism.add_body(mb.Body("bead", mb.SpatialInertia.sphere(2.0, radius=0.1)))
mechanism.add_joint(mb.TranslationalJoint("anywhere"), mechanism.world, body)
mechanism.add_constraint(mb.CircularSlot("slot", "bead", radius=0.5))
text = mechanism.to_toml()
assert 'type = "circular_slot"' in text, text
read = mb.parse_model(text)
assert type(read.constraints["slot"]) is mb.CircularSlot
system = read.assemble()
assert system.parameters["constraints.slot.radius"] == 0.5
vdot, multipliers = system.solve_dynamics([0.5, 0.0, 0.0], [0.0, 3.0, 0.0])
assert np.allclose(vdot, [-18.0, 0.0, 0.0]), vdot  # v^2 / r
assert np.allclose(abs(multipliers), [36.0]), multipliers
assert CONSTRAINT_TYPES["circular_slot"] is registry().find("constraint", "circular_slot")
""",
)

MIDPOINT = NewClass(
    "integrators",
    "explicit_midpoint",
    "ExplicitMidpoint",
    '''"""The explicit midpoint rule on the group, written out."""

from typing import Any, final

import attrs
import numpy as np

from mbkit.integrators.integrator import Integrator


@final
@attrs.frozen
class ExplicitMidpoint(Integrator):
    """Runge's method of 1895: the rates in the middle of the step lead to its end."""

    middle: float = 0.5

    order = 2

    def prepare(self, problem: Any) -> Any:
        """Return what takes steps; see `Integrator`."""
        vdot, powers = np.zeros(problem.nv), np.zeros(2)
        x, w = np.zeros(problem.ndx), np.zeros(problem.ndx)
        q, v = problem.q_stage, problem.v_stage

        def stage(t, number, size):
            status = problem.accelerate(t, q, v, vdot, powers, stage=number)
            status = status or problem.rates(q, v, w) or problem.dexp_inv(x, w, x)
            x[:] *= size
            v[:] = problem.v + size * vdot
            return status or problem.retract(problem.q, x, q)

        def advance(first, steps, rows):
            saved, h = 0, problem.h
            for taken, k in enumerate(range(first, first + steps)):
                t = problem.t0 + k * h
                x[:], q[:], v[:] = 0.0, problem.q, problem.v
                status = stage(t, 0, self.middle * h) or stage(t + self.middle * h, 1, h)
                if status != 0:
                    return status, taken, saved
                problem.q[:], problem.v[:] = q, v
                problem.work[:] += h * powers
                if (k + 1) % problem.save_every == 0:
                    row = (problem.t0 + (k + 1) * h, problem.q, problem.v, problem.work)
                    for part, value in zip(rows, row):
                        part[saved] = value
                    saved += 1
            return 0, steps, saved

        return advance
''',
    """
import numpy as np
from mbkit.integrators import INTEGRATORS
from mbkit.integrators.description import described, from_description
from mbkit.plugins import registry
from mbkit.studies.laboratory.factors import integrators_of

mechanism = mb.Mechanism("pendulum")
bob = mechanism.add_body(mb.Body("bob", mb.SpatialInertia.sphere(2.0, radius=0.1)))
mechanism.add_joint(mb.RevoluteJoint("hinge", (0, 1, 0), (0, 0, 1.0)), mechanism.world, bob)
system = mechanism.assemble()
exact = mb.simulate(system, (0.0, 0.2), 1e-2, q=[1.0])
own = mb.ExplicitMidpoint()
runs = [mb.simulate(system, (0.0, 0.2), h, q=[1.0], integrator=own) for h in (0.02, 0.01)]
errors = [abs(run.q[-1] - exact.q[-1]) for run in runs]
assert 3.5 < errors[0] / errors[1] < 4.5, errors
made = mb.ExplicitMidpoint(0.5)
assert from_description(described(made)) == made
assert list(integrators_of("explicit_midpoint").values()) == [made]
assert INTEGRATORS["explicit_midpoint"] is registry().find("integrator", "explicit_midpoint")
""",
)

WORLD_AXES = NewClass(
    "representations",
    "world_axes",
    "WorldAxes",
    '''"""Hybrid twists, under a name of their own."""

from typing import ClassVar, final

import attrs
import numpy as np

from mbkit.lie.arrays import hat
from mbkit.representations.arguments import blocks, joined, poses
from mbkit.representations.representation import Representation


@final
@attrs.frozen
class WorldAxes(Representation):
    """Angular velocity, and velocity of the body's origin, along the axes of the world."""

    name: ClassVar[str] = "world_axes"
    kernel_package: ClassVar[str] = "mbkit.kernels.hybrid"

    def twist_map(self, C):
        """Return diag(R, R)."""
        R = poses(C, "WorldAxes.twist_map")[..., :3, :3]
        return blocks(R, R)

    def twist_map_rate(self, C, V_b):
        """Return diag(R w~, R w~)."""
        C, V_b = joined(C, V_b, "WorldAxes.twist_map_rate")
        rate = C[..., :3, :3] @ hat(np.asarray(V_b)[..., :3])
        return blocks(rate, rate)
''',
    """
import numpy as np
from mbkit.plugins import registry
from mbkit.representations import REPRESENTATIONS
from mbkit.studies.laboratory.factors import representations_of

mechanism = mb.Mechanism("satellite", gravity=(0, 0, -9.81))
hub = mechanism.add_body(mb.Body("hub", mb.SpatialInertia.box(2.0, size=(0.1, 0.2, 0.3))))
inertia = mb.SpatialInertia.from_com(1.0, (0.2, 0, 0.1), np.eye(3) * 0.01)
arm = mechanism.add_body(mb.Body("arm", inertia))
mechanism.add_joint(mb.FreeJoint("free"), mechanism.world, hub)
mechanism.add_joint(mb.RevoluteJoint("elbow", (0, 1, 0), (0.2, 0, 0)), hub, arm)
mechanism.add_force(mb.Drag("air", "arm", linear=0.4, quadratic=0.3))


class Push(mb.Force):
    acts_on = "bodies"
    bodies = ("arm",)
    representation = REPRESENTATIONS["world_axes"]

    def __init__(self):
        self.name = "push"

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = -0.1 * twists[0]


mechanism.add_force(Push())
own, other = (
    mechanism.assemble(mb.RelativeCoordinates(representation=form()))
    for form in (mb.WorldAxes, mb.Hybrid)
)
rng = np.random.default_rng(1)
x, v, tau = rng.normal(size=(3, own.nv))
q = own.retract(own.reference_configuration(), x)
for first, second in (
    (own.forward_dynamics(q, v, tau), other.forward_dynamics(q, v, tau)),
    (own.twist("arm", q, v), other.twist("arm", q, v)),
    (own.acceleration("arm", q, v, tau), other.acceleration("arm", q, v, tau)),
    (own.jerks(q, v, tau, x), other.jerks(q, v, tau, x)),
):
    assert np.allclose(first, second, atol=1e-12)
runs = [mb.simulate(each, (0.0, 0.03), 0.01, q=q, v=v) for each in (own, other)]
assert np.allclose(runs[0].q, runs[1].q, atol=1e-12)
assert list(representations_of("world_axes").values()) == [mb.WorldAxes()]
assert "world_axes" in representations_of("all")
assert REPRESENTATIONS["world_axes"] is registry().find("representation", "world_axes")
assert mb.testing.check_representation(mb.WorldAxes()).holds
""",
)

NEW_CLASSES = (LIFT, CUBIC_SPRING, CIRCULAR_SLOT, MIDPOINT, WORLD_AXES)

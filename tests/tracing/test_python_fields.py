"""Fields of forces, joints and constraints in Python stay free, where they were kept silently."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from tests.systems.complex_steps import ComplexEvaluation


@attrs.frozen
class Hardening(mb.Force):
    name: str
    stiffness: float
    cubic: np.ndarray
    joints = ("screw",)

    def evaluate(self, t, q, v, poses, twists, out):
        out[0] = -self.stiffness * q[0] - self.cubic[0] * q[0] ** 3 - self.cubic[1] * v[0] ** 3


@attrs.frozen
class Turning(mb.Joint):
    """A screw joint whose pitch grows: z = a q + b q^2."""

    name: str
    pitches: np.ndarray
    num_positions = 1
    num_velocities = 1

    def pose(self, q):
        C = np.eye(4)
        C[0, 0] = C[1, 1] = np.cos(q[0])
        C[1, 0] = np.sin(q[0])
        C[0, 1] = -C[1, 0]
        C[2, 3] = self.pitches[0] * q[0] + self.pitches[1] * q[0] ** 2
        return C


@attrs.frozen
class Bowl(mb.Constraint):
    name: str
    curvature: float
    bodies = ("ball",)
    num_rows = 1

    def residual(self, t, q, poses):
        x, y, z = poses[0, :3, 3]
        return [z - self.curvature * (x * x + y * y)]


def system():
    """Return a mechanism that has one of each."""
    mech = mb.Mechanism("bowl")
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.box(1.0, size=(1.0, 0.2, 0.1))))
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    place = mb.spatial.translation((0.3, 0.1, 0.2))
    mech.add_joint(Turning("screw", np.array([0.2, 0.1])), mech.world, arm)
    mech.add_joint(mb.TranslationalJoint("slide"), arm, ball, reference=place)
    mech.add_force(Hardening("spring", 3.0, np.array([2.0, 0.5])))
    mech.add_constraint(Bowl("bowl", 0.7))
    return mech.assemble(mb.RelativeCoordinates(length=1.0))


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("name", "evaluation"),
    [
        ("forces.spring.stiffness", "generalized_forces"),
        ("forces.spring.cubic", "generalized_forces"),
        ("joints.screw.pitches", "mass_matrix"),
        ("joints.screw.pitches", "bias_force"),
        ("joints.screw.pitches", "constraint_jacobian"),
        ("constraints.bowl.curvature", "constraint_jacobian"),
        ("constraints.bowl.curvature", "forward_dynamics"),
    ],
)
def test_derivatives_are_those_of_systems_with_other_numbers(name, evaluation):
    free = system()
    rng = np.random.default_rng(91)
    given = {"q": rng.normal(size=free.nq), "v": rng.normal(size=free.nv), "tau": np.zeros(free.nv)}
    names = {"mass_matrix": "q", "constraint_jacobian": "q", "forward_dynamics": ("q", "v", "tau")}
    given = {key: given[key] for key in names.get(evaluation, ("q", "v"))}
    found = ComplexEvaluation(free, evaluation, [name]).by(given, name)
    value = np.asarray(free.parameters[name])

    def moved(step):
        number = value + step if value.ndim else float(value + step)
        return getattr(free.with_parameters({name: number}), evaluation)(*given.values())

    h, units = 1e-4, np.eye(value.size).reshape((-1, *value.shape))
    expected = np.stack([(moved(h * x) - moved(-h * x)) / (2.0 * h) for x in units], axis=-1)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_what_else_is_computed_from_a_field_is_refused():
    @attrs.frozen
    class Doubled(mb.Force):
        name: str
        stiffness: float
        twice: float = attrs.field(init=False)
        joints = ("screw",)

        def __attrs_post_init__(self):
            object.__setattr__(self, "twice", 2.0 * self.stiffness)

        def evaluate(self, t, q, v, poses, twists, out):
            out[0] = -self.twice * q[0]

    doubled = system().without_forces().with_forces([Doubled("spring", 3.0)])
    with pytest.raises(
        mb.UsageError, match=r"'forces.spring.stiffness' cannot stay free: Doubled\.twice"
    ):
        ComplexEvaluation(doubled, "generalized_forces", ["forces.spring.stiffness"])

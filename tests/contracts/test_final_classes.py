"""No method of a class of mbkit is overridden without being heard."""

from __future__ import annotations

import math

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.final import FinalBuiltIns

BUILT_IN = sorted(
    {
        kind
        for kind in (getattr(mb, name) for name in dir(mb))
        if isinstance(kind, type)
        and issubclass(kind, FinalBuiltIns)
        and vars(kind).get("__final__")
    },
    key=lambda kind: kind.__name__,
)


def overridable(kind):
    """Return the public names of a class that are no fields of it, nor for subclasses to say."""
    fields = {field.name for field in getattr(kind, "__attrs_attrs__", ())}
    heard = set(kind._heard)
    return [name for name in dir(kind) if name[0] != "_" and name not in fields | heard]


def test_there_are_many_of_all_kinds():
    """Joints, forces, constraints, integrators, solvers, representations and their parts."""
    contracts = (
        mb.Joint, mb.Force, mb.Constraint, mb.Integrator, mb.Representation,
        mb.joints.LocalCoordinates, mb.joints.Orientation, mb.ConstraintSolver,
    )  # fmt: skip
    for contract in contracts:
        assert sum(issubclass(kind, contract) for kind in BUILT_IN) >= 3, contract


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.__name__)
def test_an_overridden_method_is_refused(kind):
    """By the method, the classes and the remedy; at once, not when it is used."""
    names = overridable(kind)
    assert names
    for name in names:
        with pytest.raises(
            mb.UsageError, match=f"Mine overrides {name} of mbkit's {kind.__name__}"
        ):
            type("Mine", (kind,), {name: lambda self, *arguments: None})


def test_the_remedy_is_named_and_right():
    """A joint that keeps one of mbkit's, and bends its pose."""
    with pytest.raises(mb.UsageError, match="from mbkit's Joint instead, keep a RevoluteJoint as"):

        class Overriding(mb.RevoluteJoint):
            def pose(self, q):
                return np.eye(4)

    class Bent(mb.Joint):
        num_positions = num_velocities = 1

        def __init__(self, name):
            super().__init__(name)
            self.hinge = mb.RevoluteJoint(name, axis=(0, 1, 0))

        def pose(self, q):
            T = self.hinge.pose(q)
            T[0, 3] = 0.5 * np.sin(q[0])
            return T

    mech = mb.Mechanism("bent")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))))
    mech.add_joint(Bent("bent"), mech.world, body)
    pose = mech.assemble().poses([0.3])[1]
    np.testing.assert_allclose(pose[0, 3], 0.5 * math.sin(0.3), atol=1e-15)
    mb.testing.check_joint(Bent("bent")).raise_if_failed()


def test_ways_round_are_refused_too():
    """A class between, a class beside, and a decorator of attrs."""

    class Named(mb.RevoluteJoint):
        """A subclass that changes nothing."""

    class Beside:
        def pose(self, q):
            return np.eye(4)

    with pytest.raises(mb.UsageError, match="Second overrides pose of mbkit's RevoluteJoint"):
        type("Second", (Named,), {"pose": Beside.pose})
    with pytest.raises(mb.UsageError, match="Mixed overrides pose of mbkit's RevoluteJoint"):
        type("Mixed", (Beside, mb.RevoluteJoint), {})
    with pytest.raises(mb.UsageError, match="Decorated overrides rate of mbkit's RevoluteJoint"):

        @attrs.frozen
        class Decorated(mb.RevoluteJoint):
            rate = 2.0


def test_what_is_heard_may_be_said():
    """Other arguments, methods of other names, and what nothing else of a joint must fit."""

    class Knee(mb.RevoluteJoint):
        def __init__(self, name, side=1.0):
            super().__init__(name, axis=(0.0, side, 0.0))

        def random(self, rng):
            return rng.uniform(0.0, 2.0, 1)

        def bent(self, q):
            return q[0] > 0.1

    @attrs.frozen
    class Ankle(mb.RevoluteJoint):
        stiffness: float = 1.0

    assert np.array_equal(Knee("knee", side=-1.0).screw[:3], [0.0, -1.0, 0.0])
    assert Ankle("ankle", stiffness=3.0).pose([0.0])[0, 0] == 1.0
    assert mb.testing.check_joint(Knee("knee")).holds
    with pytest.raises(mb.UsageError, match="overrides singularit"):
        type("Half", (mb.SphericalJoint,), {"singularity": lambda self, q: 1.0})

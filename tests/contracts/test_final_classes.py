"""No method of a class of mbkit is overridden without being heard."""

from __future__ import annotations

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
    """Return the public names of a class that are no fields of it."""
    fields = {field.name for field in getattr(kind, "__attrs_attrs__", ())}
    return [name for name in dir(kind) if name[0] != "_" and name not in fields]


def test_there_are_many_of_all_kinds():
    """Forces, constraints, integrators, solvers, representations, and parts of joints."""
    contracts = (
        mb.Force, mb.Constraint, mb.Integrator, mb.Representation,
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
    """A force that keeps one of mbkit, and changes what it says."""
    with pytest.raises(mb.UsageError, match="from mbkit's Force instead, keep a JointDamper as"):

        class Overriding(mb.JointDamper):
            def evaluate(self, t, q, v, poses, twists, out):
                out[0] = -v[0]

    class Sticky(mb.Force):
        joints = ("hinge",)

        def __init__(self, name):
            super().__init__(name)
            self.oil = mb.JointDamper(name, "hinge", damping=0.5)

        def evaluate(self, t, q, v, poses, twists, out):
            out[0] = -2.0 * self.oil.damping * v[0]

    mech = mb.Mechanism("sticky")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))))
    mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, body)
    mech.add_force(Sticky("oil"))
    assert mech.assemble().generalized_forces([0.3], [2.0])[0] == -2.0


def test_ways_round_are_refused_too():
    """A class between, a class beside, and a decorator of attrs."""

    class Named(mb.JointDamper):
        """A subclass that changes nothing."""

    class Beside:
        def parameters(self):
            return np.zeros(1)

    with pytest.raises(mb.UsageError, match="Second overrides parameters of mbkit's JointDamper"):
        type("Second", (Named,), {"parameters": Beside.parameters})
    with pytest.raises(mb.UsageError, match="Mixed overrides parameters of mbkit's JointDamper"):
        type("Mixed", (Beside, mb.JointDamper), {})
    with pytest.raises(mb.UsageError, match="Decorated overrides joints of mbkit's JointDamper"):

        @attrs.frozen
        class Decorated(mb.JointDamper):
            joints = ("other",)


def test_other_arguments_and_names_are_welcome():
    """They change nothing that compiled forms say."""

    class Oil(mb.JointDamper):
        def __init__(self, name, joint, viscosity):
            super().__init__(name, joint, damping=3.0 * viscosity)

        def is_thick(self):
            return self.damping > 1.0

    assert Oil("oil", "hinge", 0.5).is_thick()

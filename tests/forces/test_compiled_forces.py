"""Compiled forces of users, by the same door as mbkit's own."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.forces.cases import tree
from tests.forces.compiled_forces import Pull, PullAll, Refuse, Thrust
from tests.trees import random_state


def test_it_is_called_as_our_own():
    """The same as a spring without length from the world's origin."""
    rng = np.random.default_rng(11)
    system = tree(rng)[0].assemble()
    s = random_state(rng, system)
    own = system.with_forces([mb.SpringDamper("p", "world", "body7", stiffness=3.0)])
    user = system.with_forces([Pull("p", "body7", 3.0)])
    np.testing.assert_allclose(
        user.generalized_forces(s.q, s.v), own.generalized_forces(s.q, s.v), atol=1e-12
    )
    np.testing.assert_allclose(user.force_potentials(s.q), own.force_potentials(s.q))
    assert user.arrays.forces.parameters["p"].tolist() == [3.0]


def test_naming_no_body_it_acts_on_all():
    """As the sum of one force a body."""
    rng = np.random.default_rng(12)
    mech, _ = tree(rng)
    system = mech.assemble()
    s = random_state(rng, system)
    everywhere = system.with_forces([PullAll("all", 3.0)])
    each = system.with_forces([Pull(name, name, 3.0) for name in mech.bodies])
    expected = each.generalized_forces(s.q, s.v)
    np.testing.assert_allclose(everywhere.generalized_forces(s.q, s.v), expected, atol=1e-12)


def test_a_wrench_in_the_axes_of_the_body():
    """The same as mbkit's own wrench that turns with its body."""
    rng = np.random.default_rng(13)
    system = tree(rng)[0].assemble()
    s, wrench = random_state(rng, system), rng.normal(size=6)
    own = system.with_forces([mb.BodyWrench("w", "body7", wrench, axes="body")])
    user = system.with_forces([Thrust("w", "body7", wrench)])
    expected = own.generalized_forces(s.q, s.v)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(user.generalized_forces(s.q, s.v), expected, atol=1e-12)


def test_its_failure_names_it():
    system = tree(np.random.default_rng(11))[0].assemble()
    with pytest.raises(mb.ForceError, match=r"Force 'r': its compiled .* At t = 0.011, q = "):
        mb.simulate(system, (0.0, 0.1), 1e-3, forces=[Refuse("r")])


def test_parameters_must_be_finite():
    system = tree(np.random.default_rng(11))[0].assemble()
    with pytest.raises(mb.ForceError, match="'p': its parameters must be finite"):
        system.with_forces([Pull("p", "body7", np.nan)])

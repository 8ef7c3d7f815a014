"""Reactions and wrenches as arrows, by the balance of momentum of the bodies."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.viz.animate import film_of
from tests.viz.test_scene import four_bar


def test_the_reactions_of_a_four_bar_accelerate_its_bodies():
    """Forces of the hinges and the weight are the mass times the acceleration of each body."""
    system = four_bar()
    v = system.consistent_velocity({"A": 3.0}, system.reference_configuration())
    with pytest.warns(mb.RedundantConstraintsWarning):
        run = mb.simulate(system, (0.0, 0.4), 2e-3, v=v, progress=False)
    film = film_of(run, reactions=list("ABCD"), frame_rate=500.0)
    assert len(film.t) == len(run.t)
    arrows = {arrow.name: arrow for arrow in film.arrows}
    longest = max(np.linalg.norm(arrows[f"force {name}"].vectors, axis=1).max() for name in "ABCD")
    assert longest == pytest.approx(0.4 * film.scene.size)
    coms = system.poses(run.q)[:, 1:, :3, 3]
    h = run.t[1] - run.t[0]
    momenta = (coms[2:] - 2 * coms[1:-1] + coms[:-2]) / h**2 - system.gravity  # of 1 kg each
    force = {name: arrows[f"force {name}"].vectors[1:-1] for name in "ABCD"}
    found = np.stack(
        [force["A"] - force["B"], force["B"] - force["C"], force["C"] + force["D"]], axis=1
    )
    scale = np.sum(found * momenta) / np.sum(found * found)  # newtons in a metre of an arrow
    np.testing.assert_allclose(scale * found, momenta, atol=2e-3 * np.abs(momenta).max())
    for name in "AD":  # hinges on the ground
        origins = arrows[f"force {name}"].origins
        np.testing.assert_allclose(origins, np.broadcast_to(origins[0], origins.shape), atol=1e-12)


def test_given_wrenches_are_arrows_and_wrong_ones_are_refused():
    mech = mb.Mechanism("pendulum")
    bob = mb.SpatialInertia.from_com(2.0, (0, 0, -1.0))
    mech.add_body(mb.Body("bob", bob, frames={"tip": mb.spatial.translation((0, 0, -1))}))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), "world", "bob")
    system = mech.assemble()
    run = mb.simulate(system, (0.0, 0.1), 0.01, q=[0.3], tau=[1.0], progress=False)
    W = np.zeros((len(run.t), 6))
    W[:, 5] = np.linspace(0.0, 2.0, len(run.t))
    (arrow,) = film_of(run, wrenches={"tip": W}).arrows
    np.testing.assert_allclose(arrow.origins[0], (-np.sin(0.3), 0, -np.cos(0.3)), atol=1e-12)
    np.testing.assert_allclose(arrow.vectors[-1][:2], 0.0)
    (force, moment) = film_of(run, reactions=["hinge"]).arrows  # of the effort
    assert force.vectors[0] @ system.pose("bob", [0.3])[:3, 2] > 0.0
    np.testing.assert_allclose(moment.vectors[0] / np.linalg.norm(moment.vectors[0]), (0, 1, 0))
    for given, text in (
        ({"wrenches": {"tip": np.zeros(3)}}, r"must have the shape \(6,\)"),
        ({"wrenches": {"top": np.zeros(6)}}, "top"),
        ({"wrenches": {"tip": [np.nan] * 6}}, "wrenches"),
        ({"wrenches": 3}, "wrenches"),
        ({"reactions": ["hing"]}, "did you mean 'hinge'"),
        ({"reactions": 3}, "reactions"),
    ):
        with pytest.raises(mb.MbkitError, match=text):
            film_of(run, **given)
    pushed = mb.simulate(system, (0.0, 0.1), 0.01, tau=lambda t, q, v: [t], progress=False)
    with pytest.raises(mb.UsageError, match="its reactions are not known"):
        film_of(pushed, reactions=["hinge"])

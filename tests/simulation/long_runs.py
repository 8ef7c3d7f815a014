"""Shared tools for tests of long runs: a system, a run, ways to end it and to compare results."""

from __future__ import annotations

import json

import numpy as np

import mbkit as mb
from mbkit.io.results.manifest import manifest_text

NAMES = (
    "t", "q", "v", "kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy",
)  # fmt: skip
SPAN, STEP, EVERY = (0.2, 1.2), 1e-3, 7  # 1000 steps, which are no multiple of 7


def ball_and_hinge(mass=0.7):
    """A group and a vector space."""
    mech = mb.Mechanism("ball and hinge")
    upper = mech.add_body(mb.Body("upper", mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.5))))
    lower = mech.add_body(mb.Body("lower", mb.SpatialInertia.box(mass, size=(0.1, 0.1, 0.4))))
    mech.add_joint(mb.SphericalJoint("ball", point=(0, 0, 0.4)), mech.world, upper)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 1), point=(0, 0, -0.3)), upper, lower)
    return mech


def start(system):
    rng = np.random.default_rng(11)
    q = system.retract(system.reference_configuration(), rng.normal(size=4))
    return {"q": q, "v": rng.normal(size=4), "progress": False}


def simulate(system, path=None, **options):
    options = {"save_every": EVERY, **start(system), **options}
    return mb.simulate(system, SPAN, STEP, output=path, **options)


def manifest(path):
    return json.loads((path / "manifest.json").read_text())


def change_manifest(path, change):
    """Write a manifest that is as whole as one of mbkit."""
    content = manifest(path)
    change(content)
    (path / "manifest.json").write_text(manifest_text(content))


def assert_same(one, other):
    for name in NAMES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert (one.completed, one.message, one.model) == (other.completed, other.message, other.model)

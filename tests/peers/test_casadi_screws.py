"""Axes, screws and pitches of joints that stay free, where no polynomial says what kernels read."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.peers.test_casadi import same, state_of
from tests.peers.test_casadi_parameters import check, composite, moved
from tests.trees import random_inertia

casadi = pytest.importorskip("casadi")

_AXES = {"axis1": (1, 2, 0.3), "axis2": (-2, 1, 0.1), "point": (0.1, 0.2, 0.3)}

#: Members of composite joints: one product of screws, members that are called, and one in another.
MEMBERS = {
    "screws": (mb.UniversalJoint("u", **_AXES), mb.ScrewJoint("s", (1, 2, 3, 0.1, 0.2, 0.3)),
               mb.TranslationalJoint("t", axes=[(1, 0, 0.2), (0, 2, 0.1)])),
    "called": (mb.SphericalJoint("ball"), mb.UniversalJoint("u", **_AXES)),
    "called slides": (mb.TranslationalJoint("t", axes=[(1, 0, 0.2), (0, 2, 0.1)]),
                      mb.SphericalJoint("ball"), mb.ScrewJoint("s", (0, 0, 0, 0.1, 0.2, 0.3))),
    "helical plane": (mb.HelicalPlanarJoint("h", axis=(1, 2, 3), pitch=0.2),
                      mb.ScrewJoint("s", (1, 2, 3, 0.1, 0.2, 0.3))),
    "within another": (mb.SphericalJoint("ball"), mb.CompositeJoint(
        "two", mb.PrismaticJoint("p"), mb.UniversalJoint("u", **_AXES))),
}  # fmt: skip


@pytest.mark.parametrize("turned_round", [False, True])
@pytest.mark.parametrize("name", MEMBERS)
def test_axes_and_screws_within_composite_joints(name, turned_round):
    rng = np.random.default_rng(26)
    system = composite(MEMBERS[name], turned_round=turned_round)
    q, v, vdot, tau = state_of(rng, system)
    fields = ("axis", "axis1", "axis2", "axes", "screw", "pitch", "point", "S_pred")
    values = {}
    for each, value in system.parameters.items():
        if each.startswith("joints.j") and each.rpartition(".")[2] in fields:
            values[each] = moved(rng, value)
            if each.endswith("screw") and not np.asarray(value)[:3].any():
                values.update({f"{each}[{k}]": values[each][k] for k in (3, 4, 5)})
                del values[each]
    other = system.with_parameters(whole(system, values))
    for evaluation, given in (("inverse_dynamics", (q, v, vdot)), ("jerks", (q, v, vdot, tau))):
        function = mb.casadi_function(system, evaluation, parameters=list(values))
        expected = getattr(other, evaluation)(*given)
        assert same(function(*given, *values.values()), expected, 1e-12), evaluation


def whole(system, values):
    """Entries of parameters put into whole ones."""
    found = {}
    for name, value in values.items():
        path, _, index = name.partition("[")
        if index:
            found.setdefault(path, np.array(system.parameters[path]))[int(index[:-1])] = value
        else:
            found[path] = value
    return found


def closed(joint, *, turned_round=False):
    """Two free bodies, between which a joint closes a loop."""
    rng = np.random.default_rng(8)
    mechanism = mb.Mechanism("closed")
    for name in ("a", "b"):
        mechanism.add_body(mb.Body(name, random_inertia(rng)))
        mechanism.add_joint(mb.FreeJoint(f"of {name}"), mechanism.world, name)
    frames = [SE3.exp(0.4 * rng.normal(size=6)) for _ in range(2)]
    ends = ("b", "a") if turned_round else ("a", "b")
    mechanism.add_joint(joint, *ends, frames=frames)
    system = mechanism.assemble(mb.RelativeCoordinates(loop_joints=["j"]))
    start = system.reference_configuration()
    return system, system.retract(start, 0.5 * rng.normal(size=12)), rng.normal(size=12)


@pytest.mark.parametrize("turned_round", [False, True])
@pytest.mark.parametrize(
    "joint",
    [
        mb.TranslationalJoint("j", axes=[(1, 0, 0.2), (0, 2, 0.1)]),
        mb.TranslationalJoint("j"),
        mb.UniversalJoint("j", **_AXES),
        mb.HelicalPlanarJoint("j", pitch=0.3, axis=(1, 2, 3)),
        mb.ScrewJoint("j", (0, 0, 0, 1, 2, 3)),
    ],
    ids=lambda joint: type(joint).__name__,
)
def test_joints_that_close_loops(joint, turned_round):
    system, q, v = closed(joint, turned_round=turned_round)
    rng = np.random.default_rng(5)
    fields = ("axis1", "axis2", "axes", "pitch", "screw")
    names = [n for n in system.parameters if n.rpartition(".")[2] in fields]
    values = {n: moved(rng, system.parameters[n]) for n in names}
    if isinstance(joint, mb.ScrewJoint):
        values = {f"{names[0]}[{k}]": 0.1 + k for k in (3, 4, 5)}
    other = system.with_parameters(whole(system, values))
    rows = {"constraint_residual": (q,), "constraint_jacobian": (q,), "constraint_bias": (q, v)}
    if isinstance(joint, mb.ScrewJoint):  # where its rows are measured follows the axis
        q, v = other.close_loops(q, v)
        rows = {"forward_dynamics": (q, v, rng.normal(size=12))}
    for name, given in rows.items():
        function = mb.casadi_function(system, name, parameters=list(values))
        assert same(function(*given, *values.values()), getattr(other, name)(*given), 1e-10), name


@pytest.mark.parametrize("turned_round", [False, True])
def test_a_joint_that_slides_and_a_helical_plane_of_a_tree(turned_round):
    rng = np.random.default_rng(32)
    mechanism = mb.Mechanism("slide")
    near, far = (mechanism.add_body(mb.Body(name, random_inertia(rng))) for name in "ab")
    for joint, a, b in (
        (mb.ScrewJoint("s", (0, 0, 0, 1, 2, -3)), mechanism.world, near),
        (mb.HelicalPlanarJoint("h", axis=(1, 2, 3), pitch=0.2), near, far),
    ):
        frames = [SE3.exp(rng.normal(size=6)) for _ in range(2)]
        mechanism.add_joint(joint, *((b, a) if turned_round else (a, b)), frames=frames)
    system = mechanism.assemble()
    q, v, vdot, tau = state_of(rng, system)
    values = {"joints.s.screw[3]": -0.3, "joints.s.screw[5]": 0.7, "joints.h.pitch": -0.4}
    other = system.with_parameters(whole(system, values))
    for name, given in (("forward_dynamics", (q, v, tau)), ("jerks", (q, v, vdot, tau))):
        function = mb.casadi_function(system, name, parameters=list(values))
        assert same(function(*given, *values.values()), getattr(other, name)(*given), 1e-11), name
    check(system, "inverse_dynamics", (q, v, vdot), {"joints.h.pitch": 0.5}, 1e-12)
    with pytest.raises(mb.UsageError, match=r"only slides.*'joints\.s\.screw\[3\]' to '\[5\]'"):
        mb.casadi_function(system, "mass_matrix", parameters=["joints.s.screw"])

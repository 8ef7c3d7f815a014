"""Comparisons: errors by closed forms, orders, what does not depend on the choice, and resuming."""

from __future__ import annotations

import json
import math
import pathlib
import subprocess
import sys
import time
from typing import Any

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.studies import compare

#: Of a mass of 1 kg on a spring: it swings as cos(omega t).
OMEGA = 3.0


def oscillator() -> mb.Mechanism:
    mech = mb.Mechanism("oscillator")
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("track", axis=(1, 0, 0)), mech.world, cart)
    mech.add_force(mb.JointSpring("spring", "track", stiffness=OMEGA**2))
    return mech


def top(joint: mb.Joint | None = None) -> mb.Mechanism:
    mech = mb.Mechanism("top", gravity=(0, 0, -9.81))
    inertia = mb.SpatialInertia.from_com(1.0, (0, 0, 0.5), np.diag([0.2, 0.25, 0.1]))
    body = mech.add_body(mb.Body("top", inertia))
    mech.add_joint(mb.SphericalJoint("tip") if joint is None else joint, mech.world, body)
    return mech


def four_bar() -> mb.Mechanism:
    mech = mb.Mechanism("four-bar", gravity=(0, -9.81, 0))
    rod = mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1))
    crank, coupler, rocker = (
        mech.add_body(mb.Body(name, rod)) for name in ("crank", "coupler", "rocker")
    )
    along = mb.spatial.translation
    mech.add_joint(mb.RevoluteJoint("motor"), mech.world, crank)
    mech.add_joint(mb.RevoluteJoint("knee"), crank, coupler, reference=along((1, 0, 0)))
    mech.add_joint(mb.RevoluteJoint("ankle"), coupler, rocker, reference=along((2, 0, 0)))
    frames = along((3, 0, 0)), along((2, 0, 0))
    mech.add_joint(mb.RevoluteJoint("pivot"), mech.world, rocker, frames=frames)
    return mech


def test_errors_by_a_closed_form_fall_with_the_order() -> None:
    methods = {"rkmk2": 2, "rkmk3": 3, "rkmk4": 4, "generalized_alpha": 2, "bliedf3": 3}
    found = compare(
        oscillator(), (0.0, 2.0), [0.02, 0.01], q={"track": 1.0}, integrators=list(methods),
        quantity=lambda _system, q, _v: q[:, 0], reference=lambda t: math.cos(OMEGA * t),
        repeats=1,
    ).table  # fmt: skip
    for name, order in methods.items():
        coarse, fine = found.select(integrator=name)["error"]
        assert math.log2(coarse / fine) == pytest.approx(order, abs=0.25)
    assert (found["time"] > 0.0).all()
    assert np.array_equal(found["steps"], np.tile([100.0, 200.0], len(methods)))


def test_the_computed_reference_is_as_exact_as_it_says() -> None:
    found = compare(
        oscillator(), (0.0, 2.0), 0.005, q=[1.0], integrators="rkmk8", repeats=0
    ).table  # its own error is far below that of the reference
    assert found["error"][0] <= 20.0 * found["doubt"][0] < 1e-9


def test_errors_do_not_depend_on_representation_frames_and_joint_coordinates() -> None:
    variants = {
        "group": top(),
        "angles": top(mb.SphericalJoint("tip", coordinates="second kind", order="xyz")),
    }
    found = compare(
        variants, (0.0, 0.5), 0.01, v=[1.0, 0.4, 2.0], representations="all", body_frames="all",
        integrators="rkmk5", repeats=0,
    ).table  # fmt: skip
    assert len(found) == 2 * 4 * 4
    on_the_group = found.select(mechanism="group")["error"]
    assert np.ptp(on_the_group) < 1e-12
    assert np.ptp(found.select(mechanism="angles")["error"]) < 1e-12
    assert (found["error"] < 1e-6).all()
    assert set(np.isfinite(found["singularity_distance"])) == {True, False}  # angles alone


def test_joint_coordinates_are_a_factor_of_joints_that_have_the_choice() -> None:
    """A top with a ball joint and a disc on a hinge: the same cases as with mechanisms by hand."""

    def spun(**options: Any) -> mb.Mechanism:
        mech = top(mb.SphericalJoint("tip", **options))
        disc = mech.add_body(mb.Body("disc", mb.SpatialInertia.sphere(0.1, radius=0.1)))
        mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), "top", disc)
        return mech

    given: dict[str, Any] = {
        "v": {"tip": [1.0, 0.4, 2.0], "hinge": 3.0}, "repeats": 0, "integrators": "rkmk3"
    }  # fmt: skip
    kinds = ["group", "first kind", "second kind"]
    coordinates = ["relative", "absolute"]
    found = compare(
        spun(coordinates="first kind"), (0.0, 0.5), 0.01, joint_coordinates="all",
        coordinates=coordinates, **given,
    ).table  # fmt: skip
    assert found["joint_coordinates"].tolist() == [*kinds, ""]
    assert len(set(found["error"].tolist())) == 4
    by_hand = compare({kind: spun(coordinates=kind) for kind in kinds}, (0.0, 0.5), 0.01, **given)
    assert found["error"][:3] == pytest.approx(by_hand.table["error"], rel=1e-6)
    assert (found["error"] < 1e-4).all()


def test_coordinates_and_cuts_compute_one_motion() -> None:
    found = compare(
        four_bar(), (0.0, 0.4), 0.005, q={"motor": 1.0},
        coordinates=["relative", "absolute", "rotation_vector/rodrigues_position"],
        loop_joints=["pivot", ["knee"]], integrators="rkmk4", repeats=0,
    ).table  # fmt: skip
    assert list(found["loop_joints"]) == ["pivot", "knee", "all joints", "all joints"]
    assert (found["error"] < 1e-5).all()
    assert (found["constraint_position"] < 1e-9).all()


def test_momentum_of_a_free_body_drifts_by_the_order_and_that_of_a_top_about_gravity() -> None:
    mech = mb.Mechanism("free")
    inertia = mb.SpatialInertia.from_com(1.0, (0.1, 0, 0.2), np.diag([0.2, 0.3, 0.1]))
    mech.add_joint(mb.FreeJoint("float"), mech.world, mech.add_body(mb.Body("body", inertia)))
    steps: dict[str, Any] = {"integrators": ["rkmk4", "rattlie"], "repeats": 0}
    free = compare(mech, (0.0, 1.0), [0.02, 0.01], v=[3.0, 1, 2, 0.1, 0.2, 0.3], **steps).table
    for name in ("momentum_drift", "angular_momentum_drift"):
        coarse, fine = free.select(integrator="rkmk4")[name]
        assert coarse > 8.0 * fine > 0.0
    turning = compare(top(), (0.0, 1.0), 0.01, v=[1.0, 2.0, 9.0], **steps).table
    assert np.isnan(turning["momentum_drift"]).all()
    assert (turning["angular_momentum_drift"] > 0.0).all()


def test_what_fails_is_a_row_and_stops_nothing() -> None:
    class Broken(mb.Integrator):
        order = 1

        def prepare(self, problem: Any) -> Any:
            raise ArithmeticError("no steps today")

    methods = {"broken": Broken(), "fine": mb.RungeKuttaMuntheKaas()}
    found = compare(oscillator(), (0.0, 1.0), 0.1, q=[1.0], integrators=methods, repeats=0)
    assert list(found.failed["integrator"]) == ["broken"]
    assert "no steps today" in found.failed.rows[0]["status"]
    assert found.table["error"][1] < 1e-2


def test_efforts_are_along_the_velocities_of_the_base() -> None:
    """A constant force f on a mass of 1 kg: f / omega^2 (1 - cos(omega t)), and back without it."""
    f, span = 2.0, (0.0, math.pi / OMEGA)
    quantity = {"quantity": lambda _system, q, _v: q[:, 0], "repeats": 0}
    given: dict[str, Any] = {"integrators": ["rkmk4", "bliedf3"], **quantity}

    def pushed(t: float) -> float:
        return f / OMEGA**2 * (1.0 - math.cos(OMEGA * t))

    found = compare(oscillator(), span, span[1] / 40, tau=[f], reference=pushed, **given).table
    assert (found["error"] < [1e-5, 1e-3]).all()
    half = mb.PiecewiseEfforts([[f], [-f]], span)
    given["integrators"] = ["rkmk4", "rkmk3"]  # of one step, which do not look over the change
    found = compare(oscillator(), span, span[1] / 40, tau=half, **given).table
    assert (found["error"] < [1e-5, 1e-3]).all()
    assert (found["energy_drift"] < 1e-2).all()
    other = compare(oscillator(), span, span[1] / 40, tau=[f], coordinates="absolute", repeats=0)
    assert "mbkit.JointEffort" in other.failed.rows[0]["status"]


def test_events_happen_in_all_coordinates_and_their_times_have_errors() -> None:
    """A ball falls from 1 m and bounces: at t = sqrt(2 / g), and 2 e sqrt(2 / g) later again."""
    mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FreeJoint("float"), mech.world, ball)
    floor = mb.PlaneDistance("ball", point=(0, 0, 0), offset=-1.0)
    bounce = mb.Event("bounce", floor, direction="falling", reset=mb.Impact(0.5))
    given: dict[str, Any] = {"v": [0, 1.0, 2.0, 0, 0, 0], "events": [bounce], "repeats": 0}
    given["coordinates"] = ["relative", "unit_quaternion/screw_coordinates"]
    found = compare(mech, (0.0, 1.0), 0.02, **given).table
    assert list(found["status"]) == ["completed"] * 2
    assert list(found["events"]) == [2, 2]
    assert (found["error_event_time"] < 1e-6).all()
    assert (found["error"] < 1e-5).all()
    with pytest.raises(mb.UsageError, match="'bounce' ends the run"):
        compare(mech, (0.0, 1.0), 0.1, events=[attrs.evolve(bounce, terminal=True, reset=None)])
    by_hand = mb.Event("low", lambda _t, q, _v: q[6])
    found = compare(mech, (0.0, 0.1), 0.1, **given | {"events": [by_hand]})
    assert ["functions of 'low'" in row["status"] for row in found.table] == [False, True]


@pytest.mark.long
def test_operations_of_runs_are_those_of_their_evaluations() -> None:
    """Four evaluations a step of RKMK4, of as many operations as forward dynamics has, and more."""
    given: dict[str, Any] = {"operations": True, "repeats": 0, "v": [1.0, 0.4, 5.0]}
    given["integrators"] = ["rkmk4", "rkmk2", "generalized_alpha"]
    found = compare(top(), (0.0, 0.2), [0.02, 0.01], **given).table
    for name in ("rkmk4", "rkmk2"):
        own = found.select(integrator=name)
        assert own["operations_dynamics"][1] == 2 * own["operations_dynamics"][0]
        begins = 2 * own["operations"][0] - own["operations"][1]  # what a run does once
        assert 0 <= begins < 0.03 * own["operations"][1]
    four, two = (found.select(integrator=name)["operations"] for name in ("rkmk4", "rkmk2"))
    dynamics = mb.studies.operations(
        top(), representations="body_fixed", algorithms=["forward_dynamics"]
    ).rows[0]
    one = sum(dynamics[kind] for kind in ("multiplications", "additions", "divisions", "angles"))
    assert 4 * one < four[0] / 10 < 8 * one
    assert 1.8 < four[0] / two[0] < 2.5
    assert (found.select(integrator="generalized_alpha")["operations"] > 0.0).all()
    by = lambda _t, _q, _v: np.zeros(3)  # noqa: E731
    other = compare(top(), (0.0, 0.2), 0.02, **given | {"tau": by}).table
    assert all("function of time" in reason for reason in other["uncounted"])
    closed = compare(
        four_bar(), (0.0, 0.1), 0.01, q={"knee": 1.2}, loop_joints=["knee", "pivot"],
        operations=True, repeats=0,
    ).table  # fmt: skip
    assert (closed["operations"] > 4 * 10 * 1000).all()
    in_python = [mb.LocalVectorSpace(), "rkmk4"]
    found = compare(top(), (0.0, 0.1), 0.02, **given | {"integrators": in_python}).table
    assert ["Python" in str(row.get("uncounted") or "") for row in found] == [True, False]


@pytest.mark.long
def test_a_study_goes_on_with_what_is_missing(tmp_path: pathlib.Path) -> None:
    given: dict[str, Any] = {"q": [1.0], "repeats": 1, "directory": tmp_path / "study"}
    first = compare(
        oscillator(), (0.0, 1.0), 0.1, integrators=["rkmk2", "rkmk4"], samples=5, **given
    )
    files = sorted((tmp_path / "study" / "cases").iterdir())
    stamps = {file.name: file.stat().st_mtime_ns for file in files}
    files[0].unlink()
    again = compare(
        oscillator(), (0.0, 1.0), [0.1, 0.05], integrators=["rkmk2", "rkmk4"], samples=5, **given
    )
    kept = {file.name: file.stat().st_mtime_ns for file in files[1:]}
    assert all(stamps[name] == stamp for name, stamp in kept.items())
    assert len(again.table) == 4
    assert np.array_equal(again.table.select(h=0.1)["error"], first.table["error"])
    manifest = json.loads((tmp_path / "study" / "manifest.json").read_text())
    assert {"environment", "machine", "setting", "factors"} <= set(manifest)
    with pytest.raises(mb.UsageError, match="another setting: t_span"):
        compare(oscillator(), (0.0, 2.0), 0.1, samples=5, **given)


_KILLED = """
from mbkit.studies import compare
from tests.studies.test_compare import MANY, top
compare(top(), (0.0, 1.0), directory={place!r}, **MANY)
"""

#: Cases that take seconds.
MANY: dict[str, Any] = {
    "h": [1e-3, 5e-4, 2.5e-4], "v": [1.0, 0.4, 5.0], "coordinates": "all", "repeats": 0,
    "samples": 10, "integrators": ["rkmk4", "bliedf2"],
}  # fmt: skip


@pytest.mark.long
def test_a_study_that_is_killed_loses_nothing_that_was_finished(tmp_path: pathlib.Path) -> None:
    place = tmp_path / "study"
    command = [sys.executable, "-c", _KILLED.format(place=str(place))]
    with subprocess.Popen(command, cwd=pathlib.Path(__file__).parents[2]) as process:
        until = time.monotonic() + 120.0
        while len([*place.glob("cases/*.json")]) < 5 and time.monotonic() < until:
            time.sleep(0.01)
        process.kill()
    finished = {file.name: file.read_bytes() for file in place.glob("cases/*.json")}
    assert 5 <= len(finished) < 9 * 2 * 3
    found = compare(top(), (0.0, 1.0), directory=place, **MANY).table
    assert all((place / "cases" / name).read_bytes() == text for name, text in finished.items())
    assert len({*place.glob("cases/*.json")}) == len(found) == 9 * 2 * 3
    assert np.array_equal(found["error"], compare(top(), (0.0, 1.0), **MANY).table["error"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"integrators": "rkmk9"}, "none called 'rkmk9'"),
        ({"integrators": "generalized_alpha(rho=1)"}, "rho"),
        ({"coordinates": "absolut"}, "neither 'relative' nor"),
        ({"representations": "bodyfixed"}, "body_fixed"),
        ({"joint_coordinates": "third kind"}, "'group'"),
        ({"joint_coordinates": "group"}, "no joint of 'oscillator' has coordinates of 'group'"),
        ({"h": 0.3}, "does not divide"),
        ({"h": []}, "positive steps"),
        ({"t_span": (1.0, 0.0)}, "later end"),
        ({"samples": 7}, "divides not all"),
        ({"reference": math.cos}, "needs a quantity"),
        ({"reference": mb.RungeKuttaMuntheKaas()}, "steps of one size"),
        ({"q": {"trak": 1.0}}, "track"),
        ({"length": 0.0}, "length"),
        ({"tau": [1.0, 2.0]}, "tau"),
        ({"operations": 1}, "operations must be"),
        ({"events": "bounce"}, "events must be"),
    ],
)
def test_bad_input_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"t_span": (0.0, 1.0), "h": 0.1, "repeats": 0} | change
    with pytest.raises((mb.UsageError, mb.ShapeError, mb.NameUnknownError), match=message):
        compare(oscillator(), **given)

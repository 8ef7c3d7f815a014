"""Notebook pages of mechanisms, topologies, systems and diagnoses: whole pages of HTML."""

from __future__ import annotations

import html.parser
import sys

import pytest

import mbkit as mb
from tests.constraints.closed_mechanisms import four_bar

EMPTY = {"br", "meta", "img", "use", "path", "line", "rect", "circle"}


class Text(html.parser.HTMLParser):
    """The text of HTML; that each element is closed where it must be."""

    def __init__(self):
        super().__init__()
        self.text, self.open = "", []

    def handle_starttag(self, tag, attributes):
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + " "


def shown(thing):
    page = Text()
    page.feed(thing._repr_html_())
    assert page.open == []
    return page.text


@pytest.fixture(scope="module")
def mechanism():
    """A four-bar linkage whose names are markup elsewhere."""
    mech = mb.Mechanism("<four> & bar", gravity=(0, 0, -9.81))
    points = [(0, 0, 0), (0, 0, 0.3), (0.8, 0, 0.5), (0.9, 0, 0)]
    names = ["world"]
    for k in range(3):
        middle = [(a + b) / 2 for a, b in zip(points[k], points[k + 1], strict=True)]
        inertia = mb.SpatialInertia.sphere(1.5, radius=0.1)
        pose = mb.spatial.translation(middle)
        names.append(mech.add_body(mb.Body(f"<b>{k}", inertia, pose)).name)
    for k, point in enumerate(points):
        joint = mb.RevoluteJoint(f"J<{k}>", (0, 1, 0), point)
        mech.add_joint(joint, names[k], (*names[1:], "world")[k])
    mech.add_force(mb.JointSpring("spring", "J<0>", stiffness=3.0))
    return mech


def test_mechanisms(mechanism):
    text = shown(mechanism)
    assert "Mechanism '<four> & bar'" in text
    assert "<b>2 body, 1.5 kg" in text
    assert "J<3> RevoluteJoint, <b>2 to world" in text
    assert "spring JointSpring" in text


def test_systems(mechanism):
    system = mechanism.assemble()
    text = shown(system)
    assert f"nq = 3, nv = 3, {len(system.constraint_names)} constraint rows" in text
    for told in ("3: <b>0", "[rad]", "spring", "(0, 0, -9.81) m/s^2", "4.5 kg", "body_fixed"):
        assert told in text
    assert system.loop_joints[0] in text
    assert "rows" not in shown(mb.Mechanism("empty").assemble())


def test_topologies(mechanism, monkeypatch):
    """With a picture, where matplotlib is installed; the table says the same."""
    topology = mechanism.topology()
    page = topology._repr_html_()
    assert page.count("<svg") == 1
    text = shown(topology)
    assert "mobility -2 by count" in text
    assert f"{topology.loop_joints[0]} closes the loop {topology.loop_joints[0]}," in text
    assert "<b>0 by 'J<0>' from world" in text or "<b>0 against" in text
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<svg" not in topology._repr_html_()
    assert "mobility -2" in shown(topology)


def test_diagnoses():
    found = four_bar().assemble().diagnose()
    assert " ".join(str(found).split()) == " ".join(shown(found).split())

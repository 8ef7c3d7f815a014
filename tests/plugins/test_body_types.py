"""Bodies of plugins: by name in files, and held to their laws."""

from __future__ import annotations

import itertools

import attrs
import pytest

import mbkit as mb
from mbkit.testing import check_plugin
from tests.plugins.examples import added, plugin_module


@attrs.frozen
class Ring(mb.Body):
    """A thin ring about z."""

    radius: float
    mass: float = 1.0

    @property
    def inertia(self):
        lateral = 0.5 * self.mass * self.radius**2
        return mb.SpatialInertia.from_com(
            self.mass, (0, 0, 0), [[lateral, 0, 0], [0, lateral, 0], [0, 0, 2 * lateral]]
        )


def test_a_plugin_brings_bodies(registry):
    """Its type stands in files, its example is checked, mbkit's names stay mbkit's."""
    module = plugin_module(
        mbkit_body_types={"ring": Ring}, mbkit_examples=[Ring("example", radius=0.2)]
    )
    plugin = added(registry, module, name="rings")
    assert not plugin.fault
    text = 'mbkit_model = 1\nname = "m"\n[bodies.hoop]\ntype = "ring"\nradius = 0.5\n'
    assert mb.parse_model(text).bodies["hoop"] == Ring("hoop", 0.5)
    (found,) = check_plugin(plugin)
    assert (found.what, found.holds) == ("body type 'ring'", True)
    with pytest.raises(mb.ModelFileError, match="radiuss: unknown key; did you mean 'radius'"):
        mb.parse_model(text.replace("radius", "radiuss"))
    with pytest.warns(mb.PluginWarning):
        taken = added(registry, plugin_module(mbkit_body_types={"rod": Ring}), name="rods")
    assert "the body type 'rod' is one of mbkit already" in taken.fault


class Bare(mb.Body):
    """No attrs class, no inertia."""


@attrs.frozen
class Drifting(mb.Body):
    """Another inertia whenever it is asked."""

    asked = itertools.count(1)

    @property
    def inertia(self):
        return mb.SpatialInertia.sphere(float(next(self.asked)), radius=0.1)


@attrs.frozen
class Torn(mb.Shape):
    """It has a corner too few."""

    def mesh(self):
        return [[0, 0, 0], [1, 0, 0]], [[0, 1, 2]]


@attrs.frozen
class Deaf(mb.Body):
    """Its number changes nothing, and its shape is torn."""

    length: float = 1.0

    @property
    def inertia(self):
        return mb.SpatialInertia.sphere(1.0, radius=0.1)

    @property
    def shapes(self):
        return (Torn(),)


@attrs.frozen
class Holding(Ring):
    """A file cannot hold it."""

    maker: object = None


@pytest.mark.parametrize(
    ("body", "laws"),
    [
        (object.__new__(Bare), {"complete"}),
        (Drifting("drifting"), {"fields alone"}),
        (Deaf("deaf"), {"corners", "numbers"}),
        (Holding("holding", 0.2, maker=object()), {"file keeps"}),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_breaks_a_law_is_told(body, laws):
    """Each law alone, where the others hold."""
    report = mb.testing.check_body(body)
    assert len(report.failed) == len(laws), str(report)
    for law in laws:
        assert any(law in line.law for line in report.failed), str(report)


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (Bare, "'bare': Bare must have the property inertia"),
        (type("Plain", (mb.Body,), {"inertia": 3}), "must be decorated by attrs.frozen"),
        (mb.Joint, "'bare' must be a class that derives from mbkit.Body"),
    ],
)
def test_classes_that_are_no_bodies_are_refused(registry, kind, fault):
    """When the plugin is loaded."""
    module = plugin_module(mbkit_body_types={"bare": kind})
    with pytest.warns(mb.PluginWarning):
        assert fault in added(registry, module).fault

"""`mbkit plugins --check`, and `check_plugin`: what plugins provide is held to its laws."""

from __future__ import annotations

import functools
import importlib.metadata

import attrs
import click
import numpy as np
import pytest
from click.testing import CliRunner

import mbkit as mb
import mbkit.testing.plugins
from mbkit.cli.main import main
from mbkit.plugins.contracts import KINDS
from mbkit.testing import check_plugin
from mbkit.testing.standard_problems import STANDARD_PROBLEMS
from tests.plugins.examples import Parabola, Pull, added, plugin_module


@attrs.frozen
class Slipping(Parabola):
    """Its bias is not that of its pose."""

    curvature: float = 1.0

    def bias(self, q, v):
        return np.zeros(6)


class Rail(mb.Joint):
    """A joint that is made by its name alone."""

    num_positions = num_velocities = 1

    def pose(self, q):
        return mb.spatial.translation((q[0], 0.0, q[0] ** 2))


@attrs.frozen
class Turbine(Pull):
    """Asks for a ball joint."""

    def check_joint(self, name, nq, nv):
        if nv != 3:
            raise mb.ForceError(f"Force '{self.name}' wants three velocities, got {nv}.")

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = self.size


class Guess(mb.Integrator):
    """Claims an order, and takes no steps."""

    order = 2

    def prepare(self, problem):
        raise RuntimeError("no steps yet")


@click.command()
def hello():
    """Say hello."""


@pytest.fixture
def shown(registry, monkeypatch, tmp_path):
    """What the command prints, and how it ends, where nothing is installed."""
    monkeypatch.chdir(tmp_path)
    entries = importlib.metadata.entry_points
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda **given: () if given.get("group") == "mbkit" else entries(**given),
    )

    def shown(*arguments):
        done = CliRunner().invoke(main, ["plugins", "--check", *arguments])
        return done.exit_code, done.output

    return shown


def found(plugin):
    return {each.what: each for each in check_plugin(plugin)}


@pytest.mark.long
def test_what_comes_with_mbkit_holds_by_the_same_checks(registry, shown, monkeypatch):
    """Joints, forces, integrators and representations, with an example of every type.

    Of integrators on one motion with few steps, which may leave orders undecided: those have tests
    of their own.
    """
    one_motion = functools.partial(
        mb.testing.check_integrator, problems=STANDARD_PROBLEMS[:1], most_steps=1024
    )
    monkeypatch.setattr(mbkit.testing.plugins, "check_integrator", one_motion)
    code, text = shown("--all")
    assert code == 0, text
    for kind in ("joint", "force", "integrator", "representation"):
        for name in registry.known(kind):
            assert f"  ok    {KINDS[kind].title} '{name}': " in text
    assert "FAIL" not in text
    unchecked = sum(len(registry.known(kind)) for kind in ("reader", "command", "viewer"))
    assert text.count("  --    ") == unchecked


def test_what_can_be_made_by_a_name_needs_no_example(registry):
    plugin = added(registry, plugin_module(mbkit_joint_types={"rail": Rail}))
    assert found(plugin)["joint type 'rail'"].holds


def test_examples_are_looked_at_all(registry):
    """Several of a class, and those in a mechanism."""
    mech = mb.Mechanism("ball")
    body = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.SphericalJoint("socket"), mech.world, body)
    mech.add_force(Turbine("turbine", "socket", 3.0))
    examples = [Parabola("flat", 0.1), Parabola("steep", 2.0), Pull("hand", "arm", 1.0), mech]
    plugin = added(
        registry,
        plugin_module(
            mbkit_joint_types={"parabola": Parabola},
            mbkit_force_types={"pull": Pull, "turbine": Turbine},
            mbkit_commands={"hello": hello},
            mbkit_examples=examples,
        ),
    )
    checked = list(check_plugin("sample"))
    assert [(each.what, each.holds) for each in checked] == [
        ("joint type 'parabola'", True),
        ("joint type 'parabola'", True),
        ("force type 'pull'", True),
        ("force type 'turbine'", True),
        ("command 'hello'", None),
    ]
    assert [each.report.subject.split("'")[1] for each in checked[:-1]] == [
        "flat", "steep", "hand", "turbine",
    ]  # fmt: skip
    assert registry.examples(plugin) == examples


def test_the_command_ends_with_1_where_a_law_is_broken(registry, shown):
    """The line of the law is shown, and which plugins are at fault."""
    added(registry, plugin_module(mbkit_joint_types={"rail": Rail}), "sound")
    assert shown("sound")[0] == 0
    added(
        registry,
        plugin_module(
            mbkit_joint_types={"slipping": Slipping, "parabola": Parabola},
            mbkit_examples=[Slipping("s")],
        ),
        "slippery",
    )
    with pytest.warns(mb.PluginWarning):
        added(registry, plugin_module(), "torn")
    code, text = shown()
    assert code == 1
    lines = text.splitlines()
    assert lines[0] == "sound 1.2 (mbkit-sound)"
    assert lines[1] == "  ok    joint type 'rail': Joint 'example' (Rail): 16 of 16 laws hold."
    assert lines[2] == "slippery 1.2 (mbkit-slippery)"
    assert lines[3].startswith("  FAIL  joint type 'slipping': Joint 's' (Slipping): 14 of 16 laws")
    assert lines[4].startswith("          FAIL  bias is the rate of the motion subspace, times v")
    assert lines[5].startswith("          FAIL  power is what the energy gains")
    assert lines[6].startswith("  --    joint type 'parabola': not checked: give an example of it")
    assert lines[8].startswith("  FAIL  plugin: skipped: it provides nothing; mark its functions")
    assert lines[9] == "Laws are broken by slippery, torn."
    assert shown("sound")[0] == 0
    assert shown("torn")[0] == 1


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        (RuntimeError("no wind"), "RuntimeError: no wind"),
        ({"rail": Rail("r")}, "BrokenContract: mbkit_examples() must return a list, and returned"),
        (
            [Rail],
            "must return instances of the bodies, joints, forces, constraints and integrators",
        ),
        ([mb.RevoluteJoint("hinge")], "mechanisms with them, and has RevoluteJoint(name='hinge'"),
        (3, "must return a list, and returned 3"),
    ],
)
def test_examples_that_cannot_be_had_do_not_hold(registry, examples, message):
    """The plugin is loaded all the same: files need no examples."""
    plugin = added(
        registry, plugin_module(mbkit_joint_types={"rail": Rail}, mbkit_examples=examples)
    )
    assert not plugin.fault
    each = found(plugin)
    assert each["mbkit_examples()"].holds is False
    assert message in each["mbkit_examples()"].remark
    assert each["joint type 'rail'"].holds


def test_what_raises_within_a_check_is_named(registry):
    """The check of an integrator does not keep what its prepare raises; the others go on."""
    plugin = added(
        registry,
        plugin_module(mbkit_joint_types={"rail": Rail}, mbkit_integrators={"guess": Guess}),
    )
    each = found(plugin)
    assert each["integrator 'guess'"].holds is False
    assert "RuntimeError: no steps yet" in each["integrator 'guess'"].remark
    assert each["joint type 'rail'"].holds


def test_names_of_plugins_are_suggested(registry, shown):
    added(registry, plugin_module(mbkit_joint_types={"rail": Rail}), "rails")
    code, text = shown("rail")
    assert code == 2
    assert "There is no plugin 'rail'; did you mean 'rails'?" in text
    with pytest.raises(mb.UsageError, match="There is no plugin 'rial'"):
        next(check_plugin("rial"))

"""Plugins are found, checked and asked by name; one that is at fault is named and skipped."""

from __future__ import annotations

import subprocess
import sys
import types
import warnings

import click
import numpy as np
import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main
from mbkit.plugins import Plugin, hookimpl
from mbkit.plugins.contracts import KINDS
from tests.plugins.examples import Parabola, Pull, added, plugin_module

TYPES = {
    "mbkit_joint_types": {"parabola": Parabola},
    "mbkit_force_types": {"pull": Pull},
}

MODEL = """
mbkit_model = 1
name = "slider"
bodies.ball = {mass = 2.0, shape = {type = "sphere", radius = 0.1}}

[joints.wire]
type = "parabola"
predecessor = "world"
successor = "ball"
curvature = 0.8

[forces.hand]
type = "pull"
joint = "wire"
size = 3.0
"""


def test_what_comes_with_mbkit_goes_through_the_hooks(registry):
    """Every public class of joints and forces is registered; but functions are for Python alone."""
    assert {"revolute", "free", "screw"} <= registry.known("joint").keys()
    public = [getattr(mb, name) for name in dir(mb)]
    classes = [each for each in public if isinstance(each, type)]
    for kind, base in (("joint", mb.Joint), ("force", mb.Force), ("integrator", mb.Integrator)):
        expected = {each for each in classes if issubclass(each, base)} - {base, mb.ForceFunction}
        assert expected <= set(registry.known(kind).values())
    assert list(registry.known("representation")) == ["body_fixed", "spatial", "hybrid", "mixed"]
    assert {".toml", ".urdf"} <= registry.known("reader").keys()


def test_types_of_a_plugin_are_types_of_files(registry):
    plugin = added(registry, plugin_module(**TYPES))
    assert not plugin.fault
    system = mb.parse_model(MODEL).assemble()
    # M = m (1 + c^2 x^2), and the bias is gravity along the tangent plus m c^2 x v^2
    x, v, c, m = 0.7, 1.3, 0.8, 2.0
    assert system.mass_matrix([x])[0, 0] == pytest.approx(m * (1 + (c * x) ** 2))
    assert system.bias_force([x], [v])[0] == pytest.approx(m * c * x * (9.81 + c * v**2))
    assert system.generalized_forces([x], [v]) == pytest.approx([3.0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("curvature = 0.8", "curvatur = 0.8", "joints.wire.curvatur: unknown key; did you mean "),
        ("curvature = 0.8", "curvature = '1'", "joints.wire.curvature: must be a number, got '1'"),
        ("curvature = 0.8", "curvature = -1", "curvature must be positive, got -1.0."),
        ("curvature = 0.8", "", "joints.wire.curvature: is missing."),
        ("size = 3.0", "size = [1]", "forces.hand.size: must be a number, got [1]."),
        ("size = 3.0", "size = 1.0\nsiz = 2", "forces.hand.siz: unknown key; did you mean 'size'?"),
        ('joint = "wire"', 'joint = "wir"', "no joint 'wir'; did you mean 'wire'?"),
    ],
)
def test_faults_of_a_plugins_parameters_name_the_plugin(registry, old, new, message):
    added(registry, plugin_module(**TYPES))
    with pytest.raises(mb.ModelFileError) as caught:
        mb.parse_model(MODEL.replace(old, new), source="m.toml")
    line = next(line for line in str(caught.value).splitlines() if message in line)
    assert line.startswith("m.toml:")
    assert line.endswith("('type' is of the plugin 'sample 1.2'.)")


def test_faults_of_mbkits_own_types_name_no_plugin(registry):
    added(registry, plugin_module(**TYPES))
    with pytest.raises(mb.ModelFileError) as caught:
        mb.parse_model(MODEL.replace('successor = "ball"', 'successor = "bal"'))
    assert "plugin" not in str(caught.value)


def test_names_of_plugins_are_suggested(registry):
    added(registry, plugin_module(**TYPES))
    with pytest.raises(
        mb.ModelFileError, match=r"joints\.wire\.type: 'parabol' is no known type of"
    ):
        mb.parse_model(MODEL.replace('"parabola"', '"parabol"'))


class Sprung(mb.Integrator):
    """An integrator without steps."""

    order = 1

    def prepare(self, problem):
        raise NotImplementedError


class Unposed(mb.Joint):
    """A joint without a pose."""

    num_positions = num_velocities = 1


class Misspelt(mb.Joint):
    """A method that nothing would call."""

    num_positions = num_velocities = 1

    def pose(self, q):
        return np.eye(4)

    def motion_subpsace(self, q):
        return np.zeros((6, 1))


class OtherArguments(Parabola):
    """A method that cannot be called as it is."""

    def bias(self, q):
        return np.zeros(6)


class Idle(mb.Force):
    """A force that does nothing."""


class Timeless(Pull):
    """A method that cannot be called as it is."""

    def evaluate(self, q, v, out):
        out[0] = 1.0


class Stepless(mb.Integrator):
    """An integrator that prepares nothing."""

    order = 1


BROKEN = {
    "a joint without a pose": (
        {"mbkit_joint_types": {"unposed": Unposed}},
        r"mbkit_joint_types\(\): 'unposed': Unposed must define pose\.",
    ),
    "a joint with a misspelt method": (
        {"mbkit_joint_types": {"misspelt": Misspelt}},
        r"'misspelt': Misspelt defines motion_subpsace, which nothing calls; did you mean motion_",
    ),
    "a joint whose method takes other arguments": (
        {"mbkit_joint_types": {"other": OtherArguments}},
        r"'other': OtherArguments defines bias\(q\), and must define bias\(q, v\) -> \(6,\)\.",
    ),
    "a force without a method": (
        {"mbkit_force_types": {"idle": Idle}},
        r"'idle': Idle must define evaluate\(t, q, v, poses, twists, out\), or kernels\(\)\.",
    ),
    "a force whose method takes other arguments": (
        {"mbkit_force_types": {"timeless": Timeless}},
        r"'timeless': Timeless defines evaluate\(self, q, v, out\), and must define evaluate\(t,",
    ),
    "an integrator without steps": (
        {"mbkit_integrators": {"stepless": Stepless}},
        r"'stepless': Stepless must define prepare\.",
    ),
    "examples alone": ({"mbkit_examples": []}, "it provides nothing; mark its functions, such as"),
    "a misspelt hook for examples": (
        {"mbkit_exampels": []},
        "there is no hook 'mbkit_exampels'; did you mean 'mbkit_examples'?",
    ),
    "returns no mapping": (
        {"mbkit_joint_types": [Parabola]},
        r"mbkit_joint_types\(\) must return a dictionary by name, and returned \[",
    ),
    "an instance for a class": (
        {"mbkit_joint_types": {"parabola": Parabola("p", 1.0)}},
        r"mbkit_joint_types\(\): 'parabola' must be a class that derives from mbkit.Joint, got Par",
    ),
    "a force for a joint": (
        {"mbkit_joint_types": {"pull": Pull}},
        "'pull' must be a class that derives from mbkit.Joint, got <class",
    ),
    "a name that is no word": (
        {"mbkit_force_types": {"my:pull": Pull}},
        r"mbkit_force_types\(\): names must be words of letters, digits, '_' and '-', got 'my:",
    ),
    "a suffix without point": (
        {"mbkit_file_readers": {"sdf": mb.load_model}},
        "names must be suffixes in lower case, such as '.sdf', got 'sdf'",
    ),
    "a function for a command": (
        {"mbkit_commands": {"check": print}},
        "'check' must be a click.Command, got <built-in function print>",
    ),
    "a representation under another name": (
        {"mbkit_representations": {"mine": mb.Hybrid()}},
        "'mine' must be an mbkit.Representation under its own name",
    ),
    "a name of mbkit": (
        {"mbkit_joint_types": {"revolute": Parabola}},
        "the joint type 'revolute' is one of mbkit already; choose another name.",
    ),
    "a viewer's name of mbkit": (
        {"mbkit_viewers": {"viser": mb.viz.Viewer()}},
        "the viewer 'viser' is one of mbkit already; choose another name.",
    ),
    "a hook that there is not": (
        {"mbkit_joint_type": {"parabola": Parabola}},
        "there is no hook 'mbkit_joint_type'; did you mean 'mbkit_joint_types'?",
    ),
    "no hooks": ({}, "it provides nothing; mark its functions, such as mbkit_joint_types, with"),
    "a hook that raises": (
        {"mbkit_force_types": ZeroDivisionError("no air")},
        r"ZeroDivisionError: no air \(.*examples.py:\d+\)",
    ),
    "a hook that ends the process": (
        {"mbkit_force_types": SystemExit(3)},
        "SystemExit: 3",
    ),
}


@pytest.mark.parametrize(("hooks", "message"), BROKEN.values(), ids=BROKEN)
def test_a_plugin_that_breaks_its_contract_is_skipped_whole(registry, hooks, message):
    """It is named with the cause; nothing of it is left, and a sound one is loaded after it."""
    before = {kind: registry.known(kind) for kind in KINDS}
    sound = {} if "provides nothing" in message else {"mbkit_integrators": {"sprung": Sprung}}
    with pytest.warns(mb.PluginWarning, match=rf"'broken 1.2' \(mbkit-broken\) .*{message}"):
        plugin = added(registry, plugin_module(**{**sound, **hooks}), "broken")
    assert plugin.fault
    assert {kind: registry.known(kind) for kind in KINDS} == before
    assert plugin in registry.plugins
    assert not added(registry, plugin_module(**TYPES)).fault
    assert registry.find("joint", "parabola") is Parabola


def test_what_mbkit_has_is_imported_when_its_kind_is_asked_for():
    """And nothing of another kind, until a plugin comes that might take its names."""
    code = """
import sys
from mbkit.plugins import registry
from mbkit.plugins.registry import Plugin

def there():
    kinds = {"viewer": "viz.built_in", "reader": "io.readers", "force": "forces.drag"}
    return [kind for kind, module in kinds.items() if f"mbkit.{module}" in sys.modules]

assert registry().find("joint", "revolute") and there() == []
assert registry().find("reader", ".urdf") and there() == ["reader"]
assert "drag" in registry().known("force") and there() == ["reader", "force"]
assert registry().add(Plugin("empty", "1.0", "here"), lambda: sys, warn=False).fault
assert there() == ["viewer", "reader", "force"]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("not even this")


class Stop(BaseException):
    pass


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Mute(), "Mute: with a message that cannot be shown"),
        (Stop("now"), "Stop: now"),
        (GeneratorExit(), "GeneratorExit: without a message"),
    ],
)
def test_whatever_a_plugin_raises_it_alone_is_skipped(registry, error, message):
    with pytest.warns(mb.PluginWarning, match=message):
        assert added(registry, plugin_module(mbkit_joint_types=error), "broken").fault
    assert not added(registry, plugin_module(**TYPES)).fault


def test_a_plugin_can_be_interrupted(registry):
    with pytest.raises(KeyboardInterrupt):
        added(registry, plugin_module(mbkit_joint_types=KeyboardInterrupt()))


def test_a_hook_with_arguments_is_refused(registry):
    """pluggy compares signatures when a plugin is registered."""
    module = types.ModuleType("wrong")

    def mbkit_joint_types(config):
        return {"parabola": Parabola}

    module.mbkit_joint_types = hookimpl(mbkit_joint_types)
    with pytest.warns(mb.PluginWarning, match="'config'} are declared in the hookimpl but"):
        assert added(registry, module).fault
    assert registry.find("joint", "parabola") is None


def test_a_plugin_that_cannot_be_imported_is_skipped(registry):
    def load():
        raise ImportError("No module named 'missing'")

    with pytest.warns(mb.PluginWarning, match="'far 0.1' .* ImportError: No module named 'miss"):
        registry.add(Plugin("far", "0.1", "mbkit-far"), load)
    assert [plugin.fault for plugin in registry.plugins][-1].startswith("ImportError")


def test_two_plugins_cannot_have_the_same_name_or_type(registry):
    added(registry, plugin_module(**TYPES), "first")
    with pytest.warns(mb.PluginWarning, match="'pull' is one of the plugin 'first' already"):
        added(registry, plugin_module(mbkit_force_types={"pull": Pull}), "second")
    with pytest.warns(mb.PluginWarning, match="there is a plugin 'first' of mbkit-first already"):
        added(registry, plugin_module(mbkit_integrators={"sprung": Sprung}), "first")


def test_a_plugin_that_was_skipped_can_be_tried_again(registry):
    """After an edit, in the same notebook."""
    with pytest.warns(mb.PluginWarning):
        added(registry, plugin_module())
    assert not added(registry, plugin_module(**TYPES)).fault
    assert [plugin.name for plugin in registry.plugins].count("sample") == 1


def test_a_plugin_given_twice_is_one(registry):
    """A project that is installed is found by its folder and by its entry point."""
    module = plugin_module(**TYPES)
    assert added(registry, module) is added(registry, module)


# ------------------------------------------------------------------------- readers and commands


def test_a_reader_reads_files_of_its_suffix(registry, tmp_path):
    path = tmp_path / "two.masses"
    path.write_text("1.5 2.5")

    def read(path):
        mech = mb.Mechanism(path.stem)
        for k, mass in enumerate(map(float, path.read_text().split())):
            mech.add_body(mb.Body(f"body {k}", mb.SpatialInertia.sphere(mass, radius=0.1)))
        return mech

    added(registry, plugin_module(mbkit_file_readers={".masses": read}))
    assert [body.inertia.mass for body in mb.load_model(path).bodies.values()] == [1.5, 2.5]
    with pytest.raises(mb.UsageError, match="constraint_types are for TOML files"):
        mb.load_model(path, joint_types={})
    path.write_text("1.5 x")
    with pytest.raises(mb.ModelFileError, match=r"by the plugin 'sample 1\.2': ValueError: could"):
        mb.load_model(path)


def test_a_reader_that_returns_something_else_is_named(registry, tmp_path):
    path = tmp_path / "two.masses"
    path.write_text("")
    added(registry, plugin_module(mbkit_file_readers={".masses": lambda path: None}))
    with pytest.raises(
        mb.ModelFileError, match=r"'sample 1\.2': its reader must return an mbkit.M"
    ):
        mb.load_model(path)


def test_a_command_of_a_plugin_is_a_command_of_mbkit(registry):
    @click.command(short_help="Say hello.")
    def hello():
        click.echo("hello from a plugin")

    added(registry, plugin_module(mbkit_commands={"hello": hello}))
    assert CliRunner().invoke(main, ["hello"]).output == "hello from a plugin\n"
    assert "Say hello." in CliRunner().invoke(main, ["--help"]).output


# --------------------------------------------------------------------------------- installed ones

INSTALLED = '''
"""A plugin of a distribution."""
from mbkit.plugins import hookimpl
from tests.plugins.examples import Pull

@hookimpl
def mbkit_force_types():
    return {"pull": Pull}
'''


@pytest.fixture
def installed(registry, tmp_path, monkeypatch):
    """Two distributions, one of which cannot be imported."""
    for name, text in (("sound", INSTALLED), ("torn", "import nothing_of_this_name")):
        (tmp_path / f"mbkit_test_{name}.py").write_text(text)
        about = tmp_path / f"mbkit_test_{name}-2.5.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: mbkit-test-{name}\nVersion: 2.5\n"
        )
        (about / "entry_points.txt").write_text(f"[mbkit]\n{name} = mbkit_test_{name}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return registry


def test_installed_plugins_are_loaded_when_a_name_is_not_mbkits(installed):
    """Not before: names of mbkit take no look at what is installed."""
    mb.parse_model(MODEL.split("[joints", maxsplit=1)[0])
    assert installed.find("force", "joint_spring") is mb.JointSpring
    assert "mbkit_test_sound" not in sys.modules
    with pytest.warns(mb.PluginWarning, match=r"'torn 2.5' \(mbkit-test-torn\) is skipped: Module"):
        assert installed.find("force", "pull") is Pull
    with warnings.catch_warnings():  # told once
        warnings.simplefilter("error")
        assert installed.find("force", "push") is None


def test_the_list_of_plugins_has_versions_and_faults(installed):
    shown = CliRunner().invoke(main, ["plugins"])
    assert shown.exit_code == 0
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.output.splitlines()]
    assert ["sound", "2.5", "mbkit-test-sound", "force type: pull"] in rows
    torn = next(row for row in rows if row and row[0] == "torn")
    assert torn[1:3] == ["2.5", "mbkit-test-torn"]
    assert torn[3].startswith("skipped: ModuleNotFoundError: No module named 'nothing_of_this_n")
    assert "Warning: The plugin 'torn 2.5'" in shown.stderr
    everything = CliRunner().invoke(main, ["plugins", "--all"]).output
    assert "integrators: bliedf" in everything
    assert "runge_kutta_munthe_kaas" in everything


def test_without_plugins_the_list_says_so(registry, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: ())
    assert CliRunner().invoke(main, ["plugins"]).output.startswith("No plugins are installed")


def test_a_plugins_force_simulates_as_the_class_does(registry):
    """The registry only finds classes: the numbers are those of the class."""
    added(registry, plugin_module(**TYPES))
    system = mb.parse_model(MODEL).assemble()
    mech = mb.Mechanism("slider")
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(Parabola("wire", 0.8), mech.world, ball)
    mech.add_force(Pull("hand", "wire", 3.0))
    runs = [
        mb.simulate(each, (0.0, 0.5), 0.01, q=[0.2], v=[1.0]) for each in (system, mech.assemble())
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    assert np.abs(runs[0].energy_balance).max() < 1e-6

"""Identity of a resumed run: everything that would change a bit is refused, by its name."""

import functools
import importlib
import os
import subprocess
import sys

import numba
import numpy as np
import pytest

import mbkit as mb
from mbkit.simulation.long_runs.identity import fingerprint, system_digest
from tests.reference.user_joints import EllipseJoint
from tests.simulation.long_runs import (
    assert_same,
    ball_and_hinge,
    change_manifest,
    manifest,
    simulate,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def system():
    return ball_and_hinge().assemble()


class Switch:
    """Whether forces raise; looked up by name, so that no fingerprint sees it."""

    on = False


def interrupted():
    """Raise as Ctrl-C does, while the switch is on."""
    if importlib.import_module("tests.simulation.test_identity").Switch.on:
        raise KeyboardInterrupt


@pytest.fixture
def stopped(system, tmp_path):
    """Make a run that was stopped at half time, and return its directory."""

    def make(force=None, **options):
        path = tmp_path / f"run-{len(list(tmp_path.iterdir()))}"

        def tau(t, q, v):
            if t > 0.7:
                interrupted()
            return np.zeros(4) if force is None else force(t, q, v)

        Switch.on = True
        run = simulate(options.pop("system", system), path, tau=options.pop("tau", tau), **options)
        Switch.on = False
        assert not run.completed
        return path, tau

    return make


GAIN = 0.1


def damper(t, q, v):
    if t > 0.7:
        interrupted()
    return -GAIN * v


def test_a_force_must_be_given_again_and_be_the_same(stopped, monkeypatch):
    path, _ = stopped(tau=damper)
    with pytest.raises(mb.UsageError, match=r"from the function '.*\.damper'.* give it again"):
        mb.resume(path)
    with pytest.raises(mb.UsageError, match=r"tau is not the same code: it was '.*damper', is"):
        mb.resume(path, tau=lambda t, q, v: -GAIN * v)
    with pytest.raises(mb.UsageError, match="tau was 'callable', is 'constant'"):
        mb.resume(path, tau=np.zeros(4))
    monkeypatch.setattr(sys.modules[__name__], "GAIN", 0.2)
    with pytest.raises(mb.UsageError, match=r"tau: 'GAIN', which '.*damper' uses, is not the same"):
        mb.resume(path, tau=damper)
    monkeypatch.undo()
    assert mb.resume(path, tau=damper).completed


def test_a_run_without_forces_takes_none(system, tmp_path, monkeypatch):
    """And constant forces are in the manifest."""
    advance = mb.RungeKuttaMuntheKaas.prepare

    def failing(self, problem):
        inner = advance(self, problem)

        def run(first, steps, rows):
            if first >= 300 and Switch.on:
                raise KeyboardInterrupt
            return inner(first, min(steps, 100), rows)

        return run

    monkeypatch.setattr("mbkit.simulation.stepping.chunks.CHUNK", 1e-4)
    monkeypatch.setattr(mb.RungeKuttaMuntheKaas, "prepare", failing)
    tau = [0.3, -0.2, 0.1, 1.0 / 3.0]
    for name, given in (("none", None), ("constant", tau)):
        Switch.on = True
        assert not simulate(system, tmp_path / name, tau=given).completed
        Switch.on = False
    for other in (damper, tau):
        with pytest.raises(mb.UsageError, match="tau was 'none'"):
            mb.resume(tmp_path / "none", tau=other)
    with pytest.raises(mb.UsageError, match="the constant forces tau were"):
        mb.resume(tmp_path / "constant", tau=np.ones(4))
    assert_same(mb.resume(tmp_path / "none"), simulate(system))
    assert_same(mb.resume(tmp_path / "constant"), simulate(system, tau=tau))


def test_the_model_must_be_the_same(stopped, system):
    path, tau = stopped()
    with pytest.raises(mb.UsageError, match=r"the system has another model than model\.toml"):
        mb.resume(path, tau=tau, system=ball_and_hinge(mass=0.8).assemble())
    spatial = ball_and_hinge().assemble(mb.RelativeCoordinates(mb.Spatial()))
    with pytest.raises(mb.UsageError, match=r"(?s)other numbers.*representation was 'body_fixed'"):
        mb.resume(path, tau=tau, system=spatial)
    com = ball_and_hinge().assemble(mb.RelativeCoordinates(body_frames="com"))
    with pytest.raises(mb.UsageError, match="same model but other numbers"):
        mb.resume(path, tau=tau, system=com)
    text = (path / "model.toml").read_text()
    (path / "model.toml").write_text(text + "# looked at\n")
    with pytest.raises(mb.UsageError, match=r"model\.toml' has been changed since the run began"):
        mb.resume(path, tau=tau)
    (path / "model.toml").write_text(text)
    assert mb.resume(path, tau=tau, system=system).completed


def test_versions_and_the_processor_must_be_the_same(stopped):
    path, tau = stopped()
    now = manifest(path)["environment"]
    others = dict.fromkeys(("mbkit", "numpy", "numba", "kernels", "python", "processor"), "other")
    for name in others:
        given = now | {name: "other"}
        change_manifest(path, lambda content, given=given: content.update(environment=given))
        with pytest.raises(mb.UsageError, match=f"\n  {name} was other, is {now[name]}") as caught:
            mb.resume(path, tau=tau)
        assert str(caught.value).count(" was ") == 1
    change_manifest(path, lambda content: content.update(environment=now | others))
    run = mb.resume(path, tau=tau, other_versions=True)
    assert run.completed
    assert others.items() <= run.options["began_with"][0].items()


def test_python_matters_only_to_functions_of_the_user(system, tmp_path, stopped):
    path, _ = stopped()
    change_manifest(path, lambda content: content.update(callables={}))
    change_manifest(path, lambda content: content["options"].update(tau="none"))
    change_manifest(path, lambda content: content["environment"].update(python="2.7"))
    assert mb.resume(path).completed


def test_the_integrator_must_be_the_same(stopped):
    heun = mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN)
    path, tau = stopped(integrator=heun)
    with pytest.raises(mb.UsageError, match=r"(?s)integrator was .*heun.*other coefficients"):
        mb.resume(path, tau=tau, integrator=mb.RungeKuttaMuntheKaas())
    assert "heun" in mb.resume(path, tau=tau).options["integrator"]


class Halves(mb.Integrator):
    """Two steps of a method of mbkit's for one."""

    order = 4

    def prepare(self, problem):
        return mb.RungeKuttaMuntheKaas().prepare(problem)


def test_integrators_of_users_are_given_again(stopped):
    path, tau = stopped(integrator=Halves())
    with pytest.raises(mb.UsageError, match="integrator 'Halves', which no file can hold"):
        mb.resume(path, tau=tau)
    assert mb.resume(path, tau=tau, integrator=Halves()).completed


def test_a_force_with_a_memory_is_found(stopped, system):
    """Its code and its values are the same; the step that is taken again is not."""
    calls = np.zeros(1)

    def count():
        calls[0] += 1.0
        return calls[0]

    class Counting:
        """Hides what it counts from the fingerprint, as a device would."""

        def __call__(self, t, q, v):
            if t > 0.7:
                interrupted()
            return np.full(4, 1e-3 * self.count())

        @functools.cached_property
        def count(self):
            return count

    path, _ = stopped(tau=Counting())
    with pytest.raises(mb.UsageError, match=r"taken again, gives another '[qv]' than before"):
        mb.resume(path, tau=Counting())


def ellipse(long=1.0):
    mech = mb.Mechanism("bead")
    bead = mech.add_body(mb.Body("bead", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(EllipseJoint("wire", long, 0.5), mech.world, bead)
    return mech.assemble()


def test_joints_in_python_are_given_again(tmp_path):
    def tau(t, q, v):
        if t > 0.5:
            interrupted()
        return -v

    span, path = ((0.0, 1.0), 1e-2), tmp_path / "run"
    Switch.on = True
    mb.simulate(ellipse(), *span, q=[0.3], tau=tau, output=path)
    Switch.on = False
    assert "joint 'wire'" in manifest(path)["callables"]
    with pytest.raises(mb.UsageError, match=r"(?s)file alone does not give.*system=system"):
        mb.resume(path, tau=tau)
    with pytest.raises(mb.UsageError, match=r"another model|joint 'wire'"):
        mb.resume(path, tau=tau, system=ellipse(2.0))
    run = mb.resume(path, tau=tau, system=ellipse())
    assert_same(run, mb.simulate(ellipse(), *span, q=[0.3], tau=tau))


class Brake(mb.Force):
    """A force in Python that ends the run as Ctrl-C does."""

    def __init__(self, name, damping):
        super().__init__(name)
        self.damping = damping

    def evaluate(self, t, q, v, poses, twists, out):
        if t > 0.7:
            interrupted()
        out[:] = -self.damping * v


def test_forces_and_their_energies_go_on(tmp_path):
    """In the model, given to the run, compiled and in Python; each is compared."""
    mechanism = ball_and_hinge()
    mechanism.add_force(mb.JointSpring("spring", "hinge", stiffness=3.0))
    mechanism.add_force(mb.JointDamper("oil", "hinge", damping=0.2))
    system, path = mechanism.assemble(), tmp_path / "run"
    whole = simulate(system, forces=[Brake("brake", 0.1)])
    assert whole.dissipated_energy[-1] > 0.0
    Switch.on = True
    assert not simulate(system, path, forces=[Brake("brake", 0.1)]).completed
    Switch.on = False
    with pytest.raises(mb.UsageError, match=r"was given the forces .*; give them again"):
        mb.resume(path)
    with pytest.raises(mb.UsageError, match=r"force 'brake': 'damping', which '.*' uses, is not"):
        mb.resume(path, forces=[Brake("brake", 0.3)])
    with pytest.raises(mb.UsageError, match="has a system with other numbers than its model file"):
        mb.resume(path, forces=[mb.JointDamper("brake", "hinge", damping=0.1)])
    assert_same(mb.resume(path, forces=[Brake("brake", 0.1)]), whole)


@pytest.mark.parametrize("again", [False, True])
def test_further_forces_that_the_model_file_holds_go_on_by_themselves(stopped, again):
    """Whether they are given again or not; and not without one that it cannot hold."""
    forces = [
        mb.JointDamper("oil", "hinge", damping=0.2),
        mb.Drag("air", "lower", linear=0.1, wind=(1.0, 0, 0)),
    ]
    path, tau = stopped(forces=forces)
    run = mb.resume(path, tau=tau, forces=forces if again else ())
    system = ball_and_hinge().assemble()
    assert_same(run, simulate(system, tau=tau, forces=forces))
    assert list(mb.parse_model(run.model).forces) == ["oil", "air"]


@pytest.mark.parametrize("changed", ["stiffness", "rest", "joint"])
def test_numbers_of_compiled_forces_are_part_of_a_system(changed):
    values = {"joint": "hinge", "stiffness": 3.0, "rest": 0.1}
    others = {"joint": "second", "stiffness": 3.5, "rest": 0.2}
    mechanism = ball_and_hinge()
    end = mechanism.add_body(mb.Body("end", mb.SpatialInertia.sphere(0.1, radius=0.05)))
    mechanism.add_joint(mb.RevoluteJoint("second", axis=(1, 0, 0)), mechanism.bodies["lower"], end)
    system = mechanism.assemble()
    spring = mb.JointSpring("spring", **values)
    digest = system_digest(system.with_forces([spring]))
    assert digest == system_digest(system.with_forces([mb.JointSpring("spring", **values)]))
    other = mb.JointSpring("spring", **values | {changed: others[changed]})
    assert digest != system_digest(system.with_forces([other]))
    assert digest != system_digest(system)


# ---------------------------------------------------------------------------- fingerprints


def made(source, name="f", **values):
    namespace = {"__name__": "somewhere", **values}
    exec(source, namespace)  # noqa: S102 - our own text
    return namespace[name]


FORCE = "def f(t, q, v, gain=2.0):\n    return [-gain * x + offset for x in q]\n"


def test_fingerprints_look_at_what_a_function_does():
    """Not at comments and places; at code, defaults, and what it finds by name."""
    same = fingerprint(made(FORCE, offset=1.0))
    moved = "\n\n# a comment\n" + FORCE.replace(":\n", ":  # here\n", 1)
    assert fingerprint(made(moved, offset=1.0)) == same
    others = {
        "code": made(FORCE.replace("-gain", "+gain"), offset=1.0),
        "defaults": made(FORCE.replace("2.0", "2.5"), offset=1.0),
        "offset": made(FORCE, offset=np.nextafter(1.0, 2.0)),
    }
    for what, other in others.items():
        found = fingerprint(other)
        assert found != same
        if what == "code":
            assert found["code"] != same["code"]
        else:
            assert found["code"] == same["code"]
            assert {
                key for key in found["values"] if found["values"][key] != same["values"][key]
            } == {what}


def closure(gain):
    def f(t, q, v):
        return gain * q

    return f


class Controller:
    def __init__(self, gain):
        self.gain = gain

    def torque(self, t, q, v):
        return self.gain * q

    def __call__(self, t, q, v):
        return self.torque(t, q, v)


@pytest.mark.parametrize(
    "make",
    [
        closure,
        lambda gain: functools.partial(closure, gain=gain),
        Controller,
        lambda gain: Controller(gain).torque,
        lambda gain: closure(Controller(gain)),
        lambda gain: closure({"a": [gain], "b": {1, 2}}),
        lambda gain: numba.njit(closure(gain)),
        lambda gain: closure(closure(gain)),
    ],
    ids=[
        "closure", "partial", "object", "method", "nested", "containers", "compiled", "function"
    ],
)  # fmt: skip
def test_fingerprints_find_values_wherever_they_are_held(make):
    assert fingerprint(make(2.0)) == fingerprint(make(2.0))
    changed = fingerprint(make(2.5))
    assert changed["code"] == fingerprint(make(2.0))["code"]
    assert changed["values"] != fingerprint(make(2.0))["values"]
    arrays = [fingerprint(make(np.array(x))) for x in ([1.0, 2.0], [1.0, 2.0], [1.0, 3.0])]
    assert arrays[0] == arrays[1] != arrays[2]


def test_compiled_functions_of_a_joint_are_part_of_its_fingerprint():
    def joint(number):
        motion = made(f"def f(slot, parameters, q, v, R, p, S, bias):\n    R[0] = {number}\n")
        source = "class J:\n    def kernels(self):\n        return motion\n"
        return fingerprint(made(source, "J", motion=mb.joint_kernel("motion")(motion)))

    assert joint(1.0) == joint(1.0) != joint(2.0)


def test_objects_that_hold_each_other_have_a_fingerprint():
    one, other = Controller(None), Controller(None)
    one.gain, other.gain = other, one
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.long
def test_another_process_finds_the_same_fingerprints(system):
    """Whatever its addresses and its order of sets."""
    code = (
        "from tests.simulation.test_identity import *\n"
        "one = closure({'names': {'a', 'b', 'c'}, 'system': ball_and_hinge().assemble()})\n"
        "systems = ellipse(), ball_and_hinge().assemble()\n"
        "print(fingerprint(one), *map(system_digest, systems))"
    )
    ways = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout
        for _ in range(2)
    ]
    assert ways[0] == ways[1]
    assert system_digest(system).encode() in ways[0]


WIND = """
import attrs, math
import mbkit as mb

DENSITY, AREA, SHAPE = 1.2, 0.5, 0.8

def gust(t):
    return DENSITY * AREA * math.sin(t) * abs(SHAPE)

@attrs.frozen
class Wind(mb.Force):
    name: str
    size: float = 1.0

    def evaluate(self, t, q, v, poses, twists, out):
        out[:] = self.size * gust(t)
"""


@pytest.mark.long
def test_classes_of_users_have_the_same_fingerprint_in_another_process(tmp_path):
    """Also classes of attrs, whose hash is salted, and functions that name several globals."""
    (tmp_path / "wind_of_a_user.py").write_text(WIND)
    code = (
        f"import sys; sys.path.append({str(tmp_path)!r})\n"
        "from wind_of_a_user import Wind\n"
        "from mbkit.simulation.long_runs.identity import fingerprint\n"
        "print(fingerprint(Wind('wind')))"
    )
    ways = [
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    ]  # fmt: skip
    assert ways[0] == ways[1] == ways[2]


COMPOSITE = """
import mbkit as mb
from mbkit.simulation.long_runs.identity import fingerprints_of_parts, system_digest
from tests.reference.user_joints import EllipseJoint

def system(point=(0, 0, 1), member=None):
    ball = mb.SphericalJoint("ball", point)
    slide = member or mb.HelicalJoint("slide", (1, 0, 1), pitch=0.1)
    mech = mb.Mechanism("m")
    body = mech.add_body(mb.Body("b", mb.SpatialInertia.box(1.0, size=(1, 2, 3))))
    mech.add_joint(mb.CompositeJoint("j", slide, ball), mech.world, body)
    return mech.assemble()
"""


@pytest.mark.long
def test_functions_of_members_are_elsewhere_in_another_process():
    """A composite joint points to functions; the digest is of numbers alone, and of all of them."""
    command = [sys.executable, "-c", COMPOSITE + "print(system_digest(system()))"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    here = {}
    exec(COMPOSITE, here)  # noqa: S102 - above
    assert system_digest(here["system"]()) == found
    assert system_digest(here["system"](point=(0, 0, 2))) != found
    other = mb.HelicalJoint("slide", (1, 0, 1), pitch=0.2)
    assert system_digest(here["system"](member=other)) != found


def test_members_of_users_are_fingerprinted():
    """A joint in Python within a composite one is the user's code all the same."""
    here = {}
    exec(COMPOSITE, here)  # noqa: S102 - above
    system = here["system"](member=EllipseJoint("mine", 1.0, 0.5))
    assert list(here["fingerprints_of_parts"](system)) == ["joint 'mine'"]


CURVES = {
    "cubic": "CubicSpline(T, y)",
    "b-spline": "make_interp_spline(T, y)",
    "pchip": "PchipInterpolator(T, y)",
    "fitted": "UnivariateSpline(T, y)",
    "linear": "interp1d(T, y)",
    "polynomial": "np.polynomial.Polynomial(y)",
    "partial": "functools.partial(np.interp, xp=T, fp=y)",
    "method": "CubicSpline(T, y).antiderivative",
}
PRELUDE = (
    "import functools, numpy as np; from scipy.interpolate import *; "
    "from mbkit.simulation.long_runs.identity import fingerprint; T = np.linspace(0.0, 3.0, 11)\n"
    "def of(y, make):\n    c = eval(make, {**globals(), 'y': y})\n"
    "    return fingerprint(lambda t: 0.5 * c(t))\n"
)


@pytest.mark.parametrize("curve", CURVES)
def test_numbers_of_curves_within_functions_count(curve):
    """Another spline is another function, though the code is the same."""
    space = {}
    exec(PRELUDE, space)  # noqa: S102
    sine, again, cosine = (
        space["of"](f(np.linspace(0.0, 3.0, 11)), CURVES[curve]) for f in (np.sin, np.sin, np.cos)
    )
    assert sine == again
    assert sine["values"] != cosine["values"]


@pytest.mark.long
def test_numbers_of_curves_are_the_same_in_other_processes():
    script = PRELUDE + f"print([of(np.sin(T), make) for make in {list(CURVES.values())!r}])"
    texts = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (1, 2)
    }  # fmt: skip
    assert len(texts) == 1

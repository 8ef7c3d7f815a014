"""Arrays of the wrong size at the doors of compiled code: refused by name, and nothing written.

Memory that a test fears for ends at a page that nobody may touch, and belongs to a child process:
what reads or writes behind it ends the child.
"""

import subprocess
import sys
import textwrap

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators.integrator import Rows

SYSTEM = """
    import numpy as np
    import mbkit as mb
    from tests.robustness.guarded_memory import guarded

    mech = mb.Mechanism("arm")
    last = mech.world
    for k in range(2):
        body = mech.add_body(mb.Body(f"body {k}", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        mech.add_joint(mb.RevoluteJoint(f"joint {k}", axis=(0, 1, 0)), last, body)
        last = body
    system = mech.assemble()

    class Asks(mb.Integrator):
        order, looks = 1, True

        def __init__(self, question):
            self.question = question

        def prepare(self, problem):
            def advance(first, steps, rows):
                self.question(problem, first, steps, rows)
                return 0, steps, 0

            return advance

    def ask(question, system=system, **options):
        try:
            mb.simulate(system, (0, 1), 0.1, integrator=Asks(question), progress=False, **options)
        except mb.ShapeError as error:
            print(error)
"""


def child(code: str) -> subprocess.CompletedProcess[str]:
    """Run code after SYSTEM in a process of its own."""
    text = textwrap.dedent(SYSTEM) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False
    )


def test_a_tree_has_no_constraint_sizes():
    done = child(
        """
        print(system.constraint_sizes(np.zeros(2), np.zeros(2)).shape)
        print(system.constraint_sizes(np.zeros((5, 2)), np.zeros(2), np.zeros((3, 1))).shape)
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["(0,)", "(3, 5, 0)"]


CALLS = [
    ("accelerate(0.0, p.q, p.v, guarded(2), guarded(1))", "powers"),
    ("accelerate(0.0, p.q, p.v, guarded(2), guarded(1), stage=0)", "powers"),
    ("accelerate(0.0, p.q, p.v, guarded(2), guarded(0), stage=1)", "powers"),
    ("accelerate(0.0, p.q, p.v, guarded(1), guarded(2))", "vdot"),
    ("accelerate(0.0, guarded(1), p.v, guarded(2), guarded(2), stage=1)", "q"),
    ("accelerate(0.0, [0.0, 0.0], p.v, guarded(2), guarded(2))", "q"),
    ("look(0.0, guarded(1), guarded(1))", "q"),
    ("look(0.0, guarded(2), guarded(0))", "v"),
    ("close(0.0, guarded(2), guarded(1))", "v"),
    ("retract(p.q, p.v, guarded(1))", "out"),
    ("rates(p.q, p.v, guarded(1))", "out"),
    ("dexp_inv(p.v, guarded(1), guarded(2))", "w"),
]


@pytest.fixture(scope="module")
def answers():
    """What each of the calls says, of a tree with a prescribed joint."""
    calls = "".join(f"    lambda p: p.{call},\n" for call, _ in CALLS)
    done = child(
        f"""
calls = [
{calls}]
mech = mb.Mechanism("cart")
body = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(1.0, radius=0.1)))
rail = mb.PrismaticJoint("rail").prescribe(np.sin, np.cos, lambda t: -np.sin(t))
mech.add_joint(rail, mech.world, body)
bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.sphere(1.0, radius=0.1)))
mech.add_joint(mb.PrismaticJoint("slide"), body, bob)
system = mech.assemble()
for call in calls:
    ask(lambda problem, *_: print(call(problem)), system)
"""
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


@pytest.mark.some(2)
@pytest.mark.parametrize("k", range(len(CALLS)), ids=lambda k: CALLS[k][0])
def test_lengths_are_compared_at_every_door_of_a_problem(answers, k):
    call, name = CALLS[k]
    method = call.split("(")[0]
    assert f"Problem.{method}: argument '{name}' must be a contiguous, writeable" in answers[k]


@pytest.fixture
def system():
    mech = mb.Mechanism("pendulum")
    body = mech.add_body(mb.Body("bob", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, body)
    return mech.assemble()


@pytest.fixture
def closed():
    mech = mb.Mechanism("hanging")
    body = mech.add_body(mb.Body("bob", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FreeJoint("free"), mech.world, body)
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, body)
    return mech.assemble(mb.RelativeCoordinates(loop_joints=["ball"]))


class Wrapped(mb.Integrator):
    """Another method, whose function for steps is called by `taken`, in a `Problem` of `made`."""

    order, takes_constraints, keeps_constraints = 2, True, True

    def __init__(self, method, taken=None, made=None, gives_multipliers=True):
        self.method, self.taken, self.made = method, taken, made
        self.gives_multipliers = gives_multipliers

    def prepare(self, problem):
        advance = self.method.prepare(self.made(problem) if self.made else problem)
        if self.taken is None:
            return advance
        return lambda first, steps, rows: self.taken(advance, first, steps, rows)


def run(system, integrator):
    return mb.simulate(system, (0.0, 0.1), 0.01, integrator=integrator, progress=False)


METHODS = [
    mb.RungeKuttaMuntheKaas(), mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-6),
    mb.CommutatorFree(), mb.MultistepMuntheKaas(), mb.GeneralizedAlpha(),
    mb.GeneralizedAlpha(rtol=1e-6), mb.BLieDF(2), mb.RATTLie(),
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize(
    "rows",
    [
        Rows.empty(1, 1, 1, 0),
        Rows.empty(10, 1, 0, 0),
        Rows(*map(np.zeros, (10, (10, 1), (10, 1), (1, 2), (10, 0)))),
        Rows(*map(np.zeros, (10, (10, 1), (10, 1), (10,), (10, 0)))),
        (1, 2),
        None,
    ],
)
def test_compiled_steps_look_whether_rows_have_room(system, method, rows):
    integrator = Wrapped(method, lambda advance, first, steps, _: advance(first, 10, rows))
    with pytest.raises(mb.IntegratorError, match="Rows"):
        run(system, integrator)


@pytest.mark.parametrize("method", [mb.GeneralizedAlpha(), mb.BLieDF(2), mb.RATTLie()], ids=str)
def test_who_has_no_room_for_multipliers_is_told(closed, method):
    with pytest.raises(mb.IntegratorError, match=r"3 multipliers.*gives_multipliers = True"):
        run(closed, Wrapped(method, gives_multipliers=False))


@pytest.mark.parametrize("name", ["q", "v", "work", "q_stage", "v_stage"])
def test_memory_of_a_problem_has_its_size(system, name):
    def made(problem):
        return attrs.evolve(problem, **{name: np.zeros(0)})

    with pytest.raises(mb.ShapeError, match=f"'{name}' must be a contiguous"):
        run(system, Wrapped(mb.RungeKuttaMuntheKaas(), made=made))

    def replaced(problem):
        setattr(problem, name, np.zeros(0))
        return problem

    with pytest.raises(mb.ShapeError, match=f"'{name}' must be a contiguous"):
        run(system, Wrapped(mb.RungeKuttaMuntheKaas(), made=replaced))


@pytest.mark.parametrize("name", ["space", "nq", "nv", "ndx", "num_rows", "save_every"])
def test_sizes_of_a_problem_stay(system, name):
    def changed(problem):
        setattr(problem, name, 10**6)
        return problem

    with pytest.raises(mb.IntegratorError, match=f"'{name}' cannot be changed"):
        run(system, Wrapped(mb.RungeKuttaMuntheKaas(), made=changed))


def test_dense_output_looks_at_arrays(system):
    def taken(advance, first, steps, rows):
        done = advance(first, steps, rows)
        kept[0].interpolate(0.005, np.zeros(1), np.zeros(0), np.zeros(2))
        return done

    kept = []
    method = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5)
    integrator = Wrapped(method, taken, made=lambda problem: kept.append(problem) or problem)
    with pytest.raises(mb.ShapeError, match=r"Problem.interpolate: argument 'v'.*\(1,\)"):
        run(system, integrator)

"""Calls of everything public with odd arguments: which were made, and whether the law holds.

The law: what is called returns a result of the right shape, or raises an `mbkit.MbkitError`. A call
without an argument that it needs is Python's own TypeError, and no memory is no memory.
"""

from __future__ import annotations

import functools
import inspect
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mbkit as mb
from mbkit import lie
from tests.robustness.odd_values import NUMBERS, dressed, odd, odd_array
from tests.robustness.subjects import SUBJECTS, subject

__all__ = [
    "COUNTS", "MOST", "NOT_CALLED", "SPAN", "Broken", "calls", "functions", "methods_of",
    "momentum_form", "outcome", "regular", "simulation", "studies", "words",
    "words_of", "words_of_run",
]  # fmt: skip

#: Not for users, though without an underscore; and what writes files, runs others' code or prints.
NOT_CALLED = {
    "solved", "solve_hybrid", "start_of_tree", "known", "prescribed_rows", "load_model",
    "save_model", "load_ensemble", "load_result", "load_urdf", "read_urdf", "save_urdf",
    "load_mjcf", "read_mjcf", "save_mjcf", "Mjcf", "load_sdf", "read_sdf", "Sdf", "export_fmu",
    "load_project", "load_study", "resume", "simulate", "plot", "animate", "save", "main",
    "Project", "Study", "Result", "EventLog", "Urdf", "EquationsOfMotion", "System", "MassFactor",
    "SystemJacobian",
    "NewtonEulerEquations", "Topology", "Diagnosis", "InverseKinematics", "RatesFit",
    "Manipulability", "NearSingularity", "Identification", "Derivatives", "BodyPath",
    "JointKernels", "joint_kernel", "Group", "disagreement",
    "SymbolicSystem",
}  # fmt: skip


#: Numbers of attempts: who asks for 2**63 of them gets what he asks for, and the kit would wait.
COUNTS = {"starts", "restarts", "max_iterations", "samples", "repeats", "halvings"}
MOST = 100


class Broken(Exception):
    """The law does not hold; the message says how."""


def outcome(call: Callable[[], Any], expected: tuple[int, ...] | None = None) -> str:
    """Make a call, and return the name of what came of it; `Broken` where the law does not hold."""
    try:
        result = call()
    except (mb.MbkitError, MemoryError) as error:
        return type(error).__name__
    except BaseException as error:
        where = "".join(traceback.format_exception(error)[-6:])
        raise Broken(f"foreign {type(error).__name__}: {error}\n{where}") from None
    if expected is not None and isinstance(result, np.ndarray):
        own = result.shape[result.ndim - len(expected) :]
        if result.ndim < len(expected) or own != expected:
            raise Broken(f"shape {result.shape}, and not (..., {expected})")
    return "result"


# ------------------------------------------------------------------------------- arguments


def regular(system: mb.System, rng: np.random.Generator) -> dict[str, Any]:
    """Return arguments that fit, by name."""
    q = system.reference_configuration()
    n, m = system.nv, system.num_velocity_constraints
    joints = [name for name in system.joint_names if name not in system.loop_joints]
    dx = 0.1 * rng.normal(size=system.ndx)
    names = joints[:1]
    by_name: dict[str, Any] = dict.fromkeys(names, 0.1 if rng.random() < 0.5 else [0.1, 0.2, 0.3])
    return {
        **{
            key: rng.normal(size=n)
            for key in ("v", "vdot", "vddot", "vdddot", "p", "tau", "x")
        },
        **{key: rng.normal(size=system.ndx) for key in ("rate", "dx")},
        "q": q, "q0": q, "q1": system.retract(q, dx), "branch": q, "t": 0.1,
        "multipliers": rng.normal(size=m), "wrenches": np.zeros((len(system.body_names) + 1, 6)),
        "body": "world", "joint": names[0] if names else "x", "name": "q", "names": [],
        "value": q, "values": {}, "independent": by_name, "rates": by_name, "actuated": names,
        "prescribed": names, "fixed": [], "forces": [], "other": system, "starts": 2, "seed": 1,
        "tolerance": 1e-10, "on_error": "raise", "representation": mb.Spatial(), "typed": False,
        "solver": mb.NullSpace(), "minimise": "effort", "out": None, "on": "successor",
        "at": (0.0, 0.0, 0.0), "expressed_in": "world", "with_effort": True, "minimum_norm": True,
        "screws": "body-fixed", "rows": "linear", "inputs": names, "outputs": names,
        "of": "forward_dynamics", "by": ["q", "t", "gravity"], "order": 1, "path": None,
    }  # fmt: skip


def _changed(rng: np.random.Generator, right: Any, key: str) -> Any:
    """Return an argument: mostly right, sometimes dressed, sometimes odd."""
    value = _any(rng, right)
    return MOST if key in COUNTS and isinstance(value, int) and value > MOST else value


def _any(rng: np.random.Generator, right: Any) -> Any:
    kind = rng.random()
    if kind < 0.55:
        return right
    is_array = isinstance(right, np.ndarray | tuple | float)
    if kind < 0.7 and is_array:
        return dressed(rng, right)
    if kind < 0.92 and is_array:
        return odd_array(rng, right)
    if isinstance(right, dict) and right and kind < 0.9:
        return {name: odd_array(rng, np.array(0.1)) for name in right}
    return odd(rng)


# ----------------------------------------------------------------------------------- calls


def methods_of(owner: Any) -> list[str]:
    """Return the names of the methods for users."""
    return [
        key for key in dir(type(owner))
        if not key.startswith("_") and key not in NOT_CALLED and callable(getattr(type(owner), key))
    ]  # fmt: skip


@functools.cache
def momentum_form() -> mb.MomentumForm:
    """Return the tree in momenta."""
    return mb.MomentumForm(subject("tree"))


@functools.cache
def twist_form() -> mb.TwistForm:
    """Return the tree in twists."""
    return mb.TwistForm(subject("tree"))


def _of_system(rng: np.random.Generator) -> tuple[str, Callable[[], Any], Any]:
    name = list(SUBJECTS)[rng.integers(len(SUBJECTS))]
    system = subject(name)
    owners = [system, momentum_form(), twist_form()] if system is subject("tree") else [system]
    methods = [(owner, key) for owner in owners for key in methods_of(owner)]
    owner, method = methods[rng.integers(len(methods))]
    function = getattr(owner, method)
    right = regular(system, rng)
    stacked = rng.normal(size=(2, 6 * (len(system.body_names) - 1)))
    right |= dict(zip(("V", "Vdot"), stacked, strict=True))
    given = {}
    for key, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            continue
        needed = parameter.default is inspect.Parameter.empty
        if needed or rng.random() < 0.4:
            given[key] = _changed(rng, right.get(key), key)
    expected = None
    if method in _VECTORS:
        expected = system.evaluator.arguments.shape(_VECTORS[method])
    return f"{name}: {method}(**{given!r})", lambda: function(**given), expected


#: What methods return one array, and what it is.
_VECTORS = {
    "inverse_dynamics": "tau", "bias_force": "tau",
    "inverse_dynamics_rate": "tau", "inverse_dynamics_second_rate": "tau",
    "mass_matrix": "M", "mass_action": "tau",
    "retract": "q", "difference": "dx", "rates": "dx", "poses": "poses", "dexp": "dx",
    "constraint_jacobian": "constraint jacobian", "constraint_sizes": "constraint sizes",
    "constraint_velocity": "constraint sizes", "generalized_forces": "tau",
    "constraint_force_derivative": "constraint force derivative", "position_rates": "q",
    "coriolis_matrix": "M", "mass_matrix_rate": "M", "inertial_regressor": "regressor",
}  # fmt: skip

_WORDS: dict[str, Any] = {
    "name": "x", "axis": (0.0, 0.0, 1.0), "axis1": (1.0, 0.0, 0.0), "axis2": (0.0, 1.0, 0.0),
    "normal": (0.0, 0.0, 1.0), "point": (0.1, 0.0, 0.0), "mass": 1.0, "size": (0.1, 0.2, 0.3),
    "radius": 0.1, "radii": (0.1, 0.2, 0.3), "color": (0.1, 0.2, 0.3), "shapes": [],
    "world_shapes": [],
    "vertices": np.eye(3), "faces": [[0, 1, 2]], "file": "none.stl", "scale": (1.0, 2.0, 3.0),
    "path": "none.stl", "length": 0.3, "height": 0.3,
    "pitch": 0.1, "joint": "hinge", "joints": "hinge",
    "body": "hand", "bodies": "hand", "body_a": "world", "body_b": "hand", "stiffness": 10.0,
    "controller": lambda t, q, v: -v, "period": 0.1, "delay": 0.2,
    "damping": 0.1, "T": np.eye(4), "C": np.eye(4), "R": np.eye(3), "com": (0.0, 0.0, 0.1),
    "V": np.ones(6), "W": np.ones(6), "X": np.ones(6), "x": np.ones(3),
    "q": np.array([1.0, 0, 0, 0]),
    "positions": np.linspace(0, 1, 5), "lift": np.zeros(5), "function": np.sin, "order": 2,
    "values": np.zeros((2, 3)), "t_span": (0.0, 0.02),
    "moment": np.eye(3), "inertia": np.eye(3), "matrix": np.eye(6), "vector": np.ones(6),
    "screw": np.ones(6), "ratio": 2.0, "coefficients": (1.0, 0.5), "lower": -1.0, "upper": 1.0,
    "a": np.ones(6), "b": np.ones(6), "t": 0.1, "v": np.ones(6), "w": np.ones(6), "dx": np.ones(6),
}  # fmt: skip


def words_of(system: mb.System, rng: np.random.Generator) -> dict[str, Any]:
    """Return arguments that fit functions of a system, by name."""
    bodies = system.body_names
    shape, last = (len(bodies), 6), bodies[-1]
    data = {key: rng.normal(size=(24, system.nv)) for key in ("v", "vdot", "efforts")}
    data["q"] = np.tile(system.reference_configuration(), (24, 1))
    return {
        **_WORDS, **regular(system, rng), "system": system, "body": last, "rows": "linear",
        "twists": rng.normal(size=shape), "twist_rates": rng.normal(size=shape), "locked": [],
        "derivatives": {last: rng.normal(size=(3, 6))},
        "accelerations": rng.normal(size=shape), "weights": np.ones(shape), "limits": {},
        "targets": {last: mb.spatial.translation((0.1, 0.2, 0.3))}, "restarts": 1, "length": 0.3,
        "preferred": system.reference_configuration(), "max_iterations": 20, "threshold": 0.1,
        "evaluation": "mass_matrix", "parameters": [], "simplify": True,
        "data": data, "poses": {last: np.zeros((1, 3))},
        "frame": np.eye(4), "directions": np.eye(3), "preference_tolerance": 1e-6,
    }  # fmt: skip


@functools.cache
def words_of_run(name: str) -> dict[str, Any]:
    """Return arguments that fit functions of a run of a subject, by name."""
    fall = mb.Event("late", lambda t, q, v: t - 0.012, terminal=True)
    run = mb.simulate(subject(name), (0.0, 0.02), 0.01, events=[fall] if name == "tree" else [])
    by_v = np.ones(run.v.shape)
    return {"run": run, "by": ["q", "gravity"], "loss": lambda t, q, v: (v.sum(), None, by_v)}


def words() -> dict[str, Any]:
    """Return arguments that fit functions of no system, by name."""
    return dict(_WORDS)


def _public(module: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """All functions and classes of a module, and the class and static methods of these."""
    for key in dir(module):
        made = getattr(module, key)
        if key.startswith("_") or key in NOT_CALLED or id(made) in seen:
            continue
        if isinstance(made, types.ModuleType) or not callable(made):
            continue
        if isinstance(made, type) and issubclass(made, BaseException):
            continue
        seen.add(id(made))
        if not inspect.isabstract(made):
            yield key, made
        if isinstance(made, type):
            for own, raw in vars(made).items():
                if not own.startswith("_") and isinstance(raw, classmethod | staticmethod):
                    yield f"{key}.{own}", getattr(made, own)


def _of_instances() -> Iterator[tuple[str, Any]]:
    """Public methods of inertias, groups and representations.

    Those of joints, forces and constraints are called by mbkit, which has looked at arguments.
    """
    made: list[Any] = [
        mb.SpatialInertia.sphere(1.0, radius=0.1), lie.SO3, lie.SE3, lie.UnitQuaternion,
        mb.BodyFixed(), mb.Mixed(),
    ]  # fmt: skip
    for each in made:
        for key in dir(type(each) if not isinstance(each, type) else each):
            if key.startswith("_") or key in {*NOT_CALLED, "prepare", "kernels", "kernel", "run"}:
                continue
            method = getattr(each, key, None)
            if inspect.ismethod(method) or inspect.isfunction(method):
                yield f"{type(each).__name__}.{key}", method


def functions() -> list[tuple[str, Any]]:
    seen: set[int] = set()
    modules = (mb, lie, mb.spatial, mb.conventions)
    every = [each for module in modules for each in _public(module, seen)]
    return [*every, *_of_instances()]


_ALL: list[tuple[str, Any]] = []


def _of_functions(rng: np.random.Generator) -> tuple[str, Callable[[], Any], Any]:
    if not _ALL:
        _ALL.extend(functions())
    key, function = _ALL[rng.integers(len(_ALL))]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return key, lambda: None, None
    words = _WORDS
    if any(each.name == "system" for each in parameters):
        words = words_of(subject(list(SUBJECTS)[rng.integers(len(SUBJECTS))]), rng)
    if any(each.name == "run" for each in parameters):
        words = {**_WORDS, **words_of_run(list(SUBJECTS)[rng.integers(len(SUBJECTS))])}
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for each in parameters:
        needed = each.default is inspect.Parameter.empty
        if each.kind is inspect.Parameter.VAR_KEYWORD or not (needed or rng.random() < 0.5):
            continue
        right = words.get(each.name)
        if right is None:
            right = NUMBERS[rng.integers(len(NUMBERS))]
        value = _changed(rng, right, each.name)
        if each.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += [value] * int(rng.integers(3))
        elif each.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[each.name] = value
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters):
        named = {}
    try:
        inspect.signature(function).bind(*positional, **named)
    except TypeError:
        return key, lambda: None, None
    return f"{key}(*{positional!r}, **{named!r})", lambda: function(*positional, **named), None


def simulation(system: mb.System) -> dict[str, Any]:
    """Return arguments that fit `simulate`, without what it needs: a time span and a step."""
    return {
        "q": system.reference_configuration(), "v": np.zeros(system.nv),
        "tau": np.zeros(system.nv), "forces": (), "events": (), "save_every": 1,
        "save_at": np.array([0.005, 0.01]), "stabilisation": mb.Projection(),
        "constraint_solver": None, "dtype": "float64", "notes": {},
        "outputs": {"what": f"{system.body_names[-1]}.pose"},
        "parameters": {"gravity": np.array([0.0, 0.0, -9.81])},
    }  # fmt: skip


SPAN = {"t_span": (0.0, 0.02), "h": 0.01}


def studies() -> dict[str, dict[str, Any]]:
    """Return arguments that fit the functions of `mbkit.studies`, by their names.

    Directories, processes and clusters are left out: who asks for one gets it.
    """
    mech = mb.Mechanism("drop")
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("fall"), mech.world, ball)
    start = {**SPAN, "q": {"fall": 0.1}, "v": {"fall": 0.2}}
    factors: dict[str, Any] = {"constraint_solvers": "automatic", "stabilisations": "projection"}
    factors |= {"coordinates": "relative", "integrators": "rkmk2", "representations": "spatial"}
    factors |= {"body_frames": "joint", "loop_joints": None, "events": (), "tau": None}
    factors |= {"reference": None, "quantity": None, "invariants": None, "length": 1.0}
    compared = {"mechanism": mech, **start, **factors, "samples": 2, "repeats": 0}
    random = {"vary": {"v.fall": (0.0, 1.0)}, "outputs": {"end": lambda run: run.q[-1, 0]}}
    random |= {"time_limit": None, "executor": "serial"}
    drawn = {"what": mech, **start, **random, "samples": 2, "seed": 1}
    sizes = {"representations": "spatial", "body_frames": "joint", "repeats": 1}
    sizes |= {"algorithms": ["inverse_dynamics"]}
    return {
        "compare": {**compared, "executor": "serial", "time_limit": None},
        "convergence": {**compared, "h": 0.01, "halvings": 2},
        "work_precision": {**compared, "errors": [1e-3], "by": "evaluations"},
        "ensemble": drawn,
        "sensitivity": {**drawn, "method": "one_at_a_time"},
        "sweep": {"what": mech, **start, **random, "vary": {"v.fall": [0.0, 1.0]}, "retry": False},
        "scaling": {"make": lambda size: mech, "sizes": [1], **sizes},
    }


def _of_simulate(rng: np.random.Generator) -> tuple[str, Callable[[], Any], Any]:
    name = list(SUBJECTS)[rng.integers(len(SUBJECTS))]
    system = subject(name)
    given = {
        key: _changed(rng, right, key)
        for key, right in {**SPAN, **simulation(system)}.items() if rng.random() < 0.35
    }  # fmt: skip
    given = {**SPAN, **given, "progress": False}
    moving = momentum_form() if name == "tree" and rng.random() < 0.5 else system
    return f"{moving!r}: simulate(**{given!r})", lambda: mb.simulate(moving, **given), None


_SOURCES = (_of_system, _of_system, _of_functions, _of_functions, _of_simulate)


def calls(rng: np.random.Generator) -> tuple[str, Callable[[], Any], tuple[int, ...] | None]:
    """Return a call in words, a function that makes it, and the shape of its result if known."""
    return _SOURCES[rng.integers(len(_SOURCES))](rng)

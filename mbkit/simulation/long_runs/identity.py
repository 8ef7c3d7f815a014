"""Identity of a run that goes on bit for bit: functions, system, versions, processor."""

from __future__ import annotations

import functools
import hashlib
import inspect
import platform
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from mbkit.joints import CompositeJoint
from mbkit.joints.defaults.overriding import moves_as
from mbkit.joints.kernels import CompiledFunction
from mbkit.kernels.layout import OWN_FRAME_SIZE
from mbkit.systems import System

# The attributes of an object are hashed up to this depth.
_DEPTH = 4

# Fields of a row that are addresses: those of another process, or of another moment.
_ADDRESSES = [
    "motion",
    "retract",
    "difference",
    "dexp_inv",
    "rates",
    "constraint_wrenches",
    "configuration_from_pose",
    "parameters",
    "wrench_parameters",
    "configuration_from_pose_parameters",
    "own_frame",
    "floating",
]

# Packages that come with Python, or have a version: their code is not looked into.
_LIBRARIES = {*sys.stdlib_module_names, "mbkit", "numpy", "scipy", "numba", "attr", "attrs"}

# Packages whose objects are made of arrays, such as curves.
_OF_ARRAYS = ("numpy", "scipy")


def environment(versions: Mapping[str, str]) -> dict[str, str]:
    """Return everything that the bits of a result depend on beside model and options.

    The given versions of mbkit and its libraries, the hash of all kernels, and the processor for
    which numba compiles.
    """
    from mbkit.kernels.compile import UNCOMPILED
    from mbkit.kernels.compiling.caching import processor, source_stamp

    kernels = source_stamp()[:16] + (" uncompiled" if UNCOMPILED else "")
    python = ".".join(platform.python_version_tuple()[:2])
    return {**versions, "kernels": kernels, "python": python, "processor": processor()}


def system_digest(system: System) -> str:
    """Return a hash of the numbers of a system, addresses apart.

    It differs between systems of one model that were assembled with other body frames, or whose
    numbers were changed afterwards.
    """
    arrays, closure, forces = system.arrays, system.arrays.closure, system.arrays.forces
    rows = [arrays.bodies[name] for name in arrays.bodies.dtype.names if name not in _ADDRESSES]
    rows += [arrays.frames[name] for name in arrays.frames.dtype.names]
    joints = [
        # of composite joints, others are in their rows; joints in Python have no kernels
        (joint.screw_form() or joint.parameters(), joint.canonical_frame)
        for joint in _joints(arrays.joints)
        if joint.screw_form() is not None or joint.kernels() is not None
    ]
    owners = [each for each in arrays.owners if isinstance(each, np.ndarray)]
    frames = [each for each in owners if each.size == OWN_FRAME_SIZE]
    loops = [closure.names, closure.length, [each.parameters() for each in _joints(closure.joints)]]
    loops += [closure.sites[name] for name in ("row", "place_R", "place_p") if closure]
    constraints = [
        (type(each).__qualname__, each.name, closure.parameters[each.name])
        for each in closure.objects
    ]
    acting = [
        (type(force).__qualname__, force.name, *on, forces.parameters.get(force.name, ()))
        for force, *on in zip(forces.forces, forces.joints, forces.bodies, strict=True)
    ]
    parts = (rows, arrays.velocity_of_column, joints, frames, loops, constraints, acting)
    return hashlib.sha256(_Walk().text((system.representation.name, *parts)).encode()).hexdigest()


def fingerprints_of_parts(system: System) -> dict[str, Any]:
    """Return the fingerprints of joints, forces and constraints that are code of the user.

    By their kind and their names: ``"joint 'name'"``.
    """
    joints = [
        ("joint", joint)
        for joint in _joints((*system.arrays.joints, *system.arrays.closure.joints))
    ]
    forces = [("force", force) for force in system.arrays.forces.forces]
    constraints = [("constraint", each) for each in system.arrays.closure.objects]
    parts: list[tuple[str, Any]] = [*joints, *forces, *constraints]
    found = {
        f"{kind} '{part.name}'": fingerprint(part)
        for kind, part in parts
        if callable(getattr(part, "function", None))
        or not type(part).__module__.startswith("mbkit.")
    }
    solver = system.arrays.closure.chosen_solver
    if solver is not None and not type(solver).__module__.startswith("mbkit."):
        found["constraint solver"] = fingerprint(solver)
    for name, motion in system.motions.items():
        for what in ("position", "rate", "acceleration"):
            function = getattr(motion, what)
            if function is not None:
                found[f"prescribed {what} of joint '{name}'"] = fingerprint(function)
    return found


def fingerprints_of_code(system: System | None, **methods: Any) -> dict[str, Any]:
    """Return the fingerprints of all code of the user by which a system is run.

    Of its parts, as `fingerprints_of_parts`, its representation, and of methods by name, such as
    ``integrator``; empty where all of that is mbkit's, which the hash of its kernels and its
    version identify.
    """
    parts = {} if system is None else fingerprints_of_parts(system)
    if system is not None:
        methods = {"representation": system.representation, **methods}
    return parts | {name: fingerprint(each) for name, each in methods.items() if _of_user(each)}


def _of_user(thing: Any, depth: int = _DEPTH) -> bool:
    """Return whether a method, or one that it holds, is of a class or function of the user."""
    if isinstance(thing, list | tuple):
        return any(_of_user(each, depth) for each in thing)
    if isinstance(thing, types.FunctionType):
        return not thing.__module__.startswith("mbkit.")
    if not _foreign(type(thing)) and type(thing).__module__ != "builtins":
        return True
    fields = getattr(type(thing), "__attrs_attrs__", ())
    held = [getattr(thing, field.name, None) for field in fields if depth]
    return any(_of_user(each, depth - 1) for each in held)


def _joints(joints: Iterable[Any]) -> Iterator[Any]:
    """Give all joints, in place of composite ones their members: these point to functions."""
    for joint in joints:
        if moves_as(joint, CompositeJoint):
            yield from _joints(joint.members)
        elif joint is not None:
            yield joint


def fingerprint(thing: Any) -> dict[str, Any]:
    """Return the identity of a function or an object of the user, with its class.

    ``name``, its qualified name; ``code``, a hash of its bytecode (comments and places in files do
    not count); ``values``, hashes by name of all it uses: default arguments, variables of
    enclosing functions, global constants and functions, attributes.
    """
    name, code, values = _Walk().parts(thing, given=True)
    hashes = {key: _hash(value) for key, value in sorted(values.items())}
    return {"name": name, "code": _hash(code), "values": hashes}


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Walk:
    """Turns values into text that is the same in every process."""

    def __init__(self) -> None:
        self._within: set[int] = set()  # objects that hold each other

    def text(self, value: Any) -> str:
        """Return any value as text; of an opaque object the class alone."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            return f"{type(value).__name__} {value!r}"
        if isinstance(value, np.ndarray | np.generic) and not np.asarray(value).dtype.hasobject:
            array = np.asarray(value)
            content = hashlib.sha256(array.tobytes()).hexdigest()
            return f"array {array.dtype} {array.shape} {content}"
        if isinstance(value, types.ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, System):
            return f"system {system_digest(value)}"
        if id(value) in self._within or len(self._within) > _DEPTH:
            return type(value).__qualname__
        self._within.add(id(value))
        try:
            if isinstance(value, list | tuple):
                return f"{type(value).__name__} {[self.text(each) for each in value]}"
            if isinstance(value, set | frozenset):
                return f"set {sorted(self.text(each) for each in value)}"
            if isinstance(value, Mapping):
                return f"mapping {[(self.text(k), self.text(v)) for k, v in value.items()]}"
            return str(self.parts(value))
        finally:
            self._within.discard(id(value))

    def parts(self, thing: Any, *, given: bool = False) -> tuple[str, str, dict[str, str]]:
        """Return the name of a function, an object or a class, its code, and its values.

        Objects of libraries are their class alone, but for arrays, and for the object given.
        """
        if isinstance(thing, types.FunctionType):
            return _name(thing), self._code(thing.__code__), self._held(thing)
        if isinstance(thing, type):
            return _name(thing), str([*self._methods(thing)]), {}
        if isinstance(thing, functools.partial):
            name, code, values = self.parts(thing.func)
            return name, code, values | {"arguments": self.text((thing.args, thing.keywords))}
        if isinstance(thing, types.MethodType):
            name, code, values = self.parts(thing.__func__)
            return name, code, self._attributes(thing.__self__) | values
        kind = type(thing)
        if isinstance(thing, CompiledFunction):
            return self.parts(thing.function)
        if kind.__module__.startswith("numba.") and hasattr(thing, "py_func"):
            return self.parts(thing.py_func)
        if kind.__module__.partition(".")[0] in _OF_ARRAYS or given or not _foreign(kind):
            return _name(kind), self.text(kind), self._attributes(thing)
        return _name(kind), "", {}

    def _code(self, code: types.CodeType) -> str:
        """Return the instructions of a function and its constants."""
        constants = [
            self._code(each) if isinstance(each, types.CodeType) else self.text(each)
            for each in code.co_consts
        ]
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return f"{code.co_code.hex()} {code.co_flags} {names} {constants}"

    def _held(self, function: types.FunctionType) -> dict[str, str]:
        """Return, by name, the values that a function uses beside its code."""
        values = {"defaults": self.text((function.__defaults__, function.__kwdefaults__))}
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            try:
                values[name] = self.text(cell.cell_contents)
            except ValueError:  # not assigned yet
                values[name] = "nothing"
        for name in sorted(_names(function.__code__)):  # sets have another order in each process
            if name in function.__globals__:
                values[name] = self.text(function.__globals__[name])
        return values

    def _attributes(self, thing: Any) -> dict[str, str]:
        """Return the attributes of an object as text, by name; not those that it computes."""
        kind = type(thing)
        if kind.__module__.startswith("scipy.") and hasattr(thing, "_eval_args"):
            # some curves keep (t, c, k) there, and memory that nobody wrote beside it
            return {"curve": self.text(thing._eval_args)}
        state: Any = object.__getstate__(thing)  # a dictionary, or that and the slots
        self._within.add(id(thing))
        found = {
            name: self.text(value)
            for fields in (state if isinstance(state, tuple) else (state,))
            for name, value in sorted((fields or {}).items())
            if not isinstance(inspect.getattr_static(kind, name, None), functools.cached_property)
        }
        self._within.discard(id(thing))
        return found

    def _methods(self, kind: type) -> Iterator[str]:
        """Give the code of a class, as far as it is the user's."""
        for each in kind.__mro__:
            for name, member in sorted(vars(each).items()) if not _foreign(each) else ():
                inner = getattr(member, "__func__", getattr(member, "fget", member))
                # the hash of attrs has another constant in each process
                own = isinstance(inner, types.FunctionType) and not _foreign(inner)
                if own and name != "__hash__":
                    yield f"{name} {self._code(inner.__code__)} {self._held(inner)}"


def _foreign(kind: type | types.FunctionType) -> bool:
    """Return whether a class or function comes with Python or a library that has a version."""
    return (kind.__module__ or "").partition(".")[0] in _LIBRARIES


def _names(code: types.CodeType) -> set[str]:
    """Return the names that a function and those within it may look up."""
    within = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return set(code.co_names).union(*map(_names, within))

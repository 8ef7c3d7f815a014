"""Identity of a run that goes on bit for bit: functions, system, versions, processor."""

from __future__ import annotations

import functools
import hashlib
import platform
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from mbkit.joints import CompositeJoint
from mbkit.kernels.layout import SEAT_SIZE
from mbkit.systems import System

__all__ = ["environment", "fingerprint", "fingerprints_of_parts", "system_digest"]

# What an object holds is looked into up to this depth.
_DEPTH = 4

# Fields of a row that are addresses: those of another process, or of another moment.
_ADDRESSES = frozenset(
    (
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
        "seat",
        "floating",
    )
)


def environment(versions: Mapping[str, str]) -> dict[str, str]:
    """Return what the bits of a result depend on beside model and options.

    Parameters
    ----------
    versions : mapping
        Of mbkit and its libraries.

    Returns
    -------
    dict of str to str
        Versions, the hash of all kernels, and the processor for which numba compiles.
    """
    from mbkit.kernels.caching import processor, source_stamp
    from mbkit.kernels.compile import UNCOMPILED

    kernels = source_stamp()[:16] + (" uncompiled" if UNCOMPILED else "")
    python = ".".join(platform.python_version_tuple()[:2])
    return {**versions, "kernels": kernels, "python": python, "processor": processor()}


def system_digest(system: System) -> str:
    """Return a hash of the numbers of a system, addresses apart.

    It tells systems of the same model apart that were assembled with other frames inside, or whose
    numbers were changed afterwards.
    """
    digest = hashlib.sha256(system.representation.name.encode())
    arrays = system.arrays
    bodies, frames = arrays.bodies, arrays.frames
    for name in bodies.dtype.names:
        if name not in _ADDRESSES:
            digest.update(np.ascontiguousarray(bodies[name]).tobytes())
    for name in frames.dtype.names:
        digest.update(np.ascontiguousarray(frames[name]).tobytes())
    digest.update(np.ascontiguousarray(arrays.velocity_of_column).tobytes())
    for joint in _joints(arrays.joints):
        if joint.screw_form() is not None:  # of a composite joint; others are in their rows
            digest.update(np.array([*joint.screw_form(), *joint.canonical_frame.ravel()]).tobytes())
        elif joint.kernels() is not None:
            digest.update(np.array(joint.parameters(), dtype=np.float64).tobytes())
            digest.update(np.array(joint.canonical_frame, dtype=np.float64).tobytes())
    for owner in arrays.owners:  # the seats among them; what joints in Python have are addresses
        if isinstance(owner, np.ndarray) and owner.size == SEAT_SIZE:
            digest.update(owner.tobytes())
    closure = arrays.closure
    digest.update(" ".join(closure.names).encode())
    if closure:
        digest.update(np.float64(closure.length).tobytes())
        for name in ("row", "place_R", "place_p"):
            digest.update(np.ascontiguousarray(closure.sites[name]).tobytes())
        for joint in _joints(closure.joints):
            digest.update(np.array(joint.parameters(), dtype=np.float64).tobytes())
    for constraint in closure.objects:
        digest.update(f"{type(constraint).__qualname__} {constraint.name}".encode())
        digest.update(np.ascontiguousarray(closure.parameters[constraint.name]).tobytes())
    forces = arrays.forces
    for force, joints, on_bodies in zip(forces.forces, forces.joints, forces.bodies, strict=True):
        digest.update(f"{type(force).__qualname__} {force.name}".encode())
        for numbers in (joints, on_bodies, forces.parameters.get(force.name, ())):
            digest.update(np.ascontiguousarray(numbers).tobytes())
    return digest.hexdigest()


def fingerprints_of_parts(system: System) -> dict[str, Any]:
    """Return the fingerprints of joints, forces and constraints that are code of the user.

    By what they are and their names: ``"joint 'name'"``.
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


def _joints(joints: Iterable[Any]) -> Iterator[Any]:
    """Give all joints, in place of composite ones their members: these point to functions."""
    for joint in joints:
        if isinstance(joint, CompositeJoint):
            yield from _joints(joint.members)
        elif joint is not None:
            yield joint


def fingerprint(thing: Any) -> dict[str, Any]:
    """Return what identifies a function or an object of the user.

    Parameters
    ----------
    thing : callable or object
        A function, lambda, bound method, partial, compiled function, or an object with its class.

    Returns
    -------
    dict
        ``name``, its qualified name; ``code``, a hash of its bytecode (comments and places in files
        do not count); ``values``, hashes by name of what it holds: default arguments, variables
        of enclosing functions, global constants and functions, attributes.
    """
    walk = _Walk()
    values: dict[str, str] = {}
    function = thing
    while True:
        if isinstance(function, functools.partial):
            values["arguments"] = walk.text((function.args, function.keywords))
            function = function.func
        elif isinstance(function, types.MethodType):
            values |= walk.attributes(function.__self__)
            function = function.__func__
        elif hasattr(function, "py_func"):  # compiled by numba
            function = function.py_func
        else:
            break
    if isinstance(function, types.FunctionType):
        name, code = _name(function), walk.code(function.__code__)
        values |= walk.held(function)
    else:
        name, code = _name(type(function)), walk.text(type(function))
        values |= walk.attributes(function)
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

    def code(self, code: types.CodeType) -> str:
        """Return the instructions of a function and its constants."""
        constants = [
            self.code(each) if isinstance(each, types.CodeType) else self.text(each)
            for each in code.co_consts
        ]
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return f"{code.co_code.hex()} {code.co_flags} {names} {constants}"

    def held(self, function: types.FunctionType) -> dict[str, str]:
        """Return, by name, what a function uses that is not in its code."""
        values = {"defaults": self.text((function.__defaults__, function.__kwdefaults__))}
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            try:
                values[name] = self.text(cell.cell_contents)
            except ValueError:  # not assigned yet
                values[name] = "nothing"
        for name in sorted(_names(function.__code__)):  # sets have another order in each process
            if name in function.__globals__:
                values[name] = self.text(function.__globals__[name])
        return values

    def attributes(self, thing: Any) -> dict[str, str]:
        """Return the attributes of an object as text, by name."""
        self._within.add(id(thing))
        cached = {
            name
            for kind in type(thing).__mro__
            for name, value in vars(kind).items()
            if isinstance(value, functools.cached_property)
        }
        return {
            name: self.text(value) for name, value in _fields(thing).items() if name not in cached
        }

    def text(self, value: Any) -> str:
        """Return any value as text; what cannot be looked into is its class alone."""
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
            return self._nested(value)
        finally:
            self._within.discard(id(value))

    def _nested(self, value: Any) -> str:
        if isinstance(value, list | tuple):
            return f"{type(value).__name__} {[self.text(each) for each in value]}"
        if isinstance(value, set | frozenset):
            return f"set {sorted(self.text(each) for each in value)}"
        if isinstance(value, Mapping):
            return f"mapping {[(self.text(k), self.text(v)) for k, v in value.items()]}"
        if isinstance(value, types.FunctionType):
            return f"{_name(value)} {self.code(value.__code__)} {self.held(value)}"
        if isinstance(value, type):
            return f"class {_name(value)} {self._methods(value)}"
        if isinstance(value, functools.partial):
            return f"partial {self.text((value.func, value.args, value.keywords))}"
        if isinstance(value, types.MethodType):
            return f"method {self.text((value.__func__, value.__self__))}"
        if _holds_numbers(type(value)):  # a spline, say
            # some curves of scipy keep (t, c, k) there, and memory that nobody wrote beside it
            curve = getattr(value, "_eval_args", None)
            held = sorted(self.attributes(value).items()) if curve is None else self.text(curve)
            return f"{_name(type(value))} {held}"
        if _foreign(type(value)):
            return f"{_name(type(value))}"
        return f"{self.text(type(value))} {self.attributes(value)}"

    def _methods(self, kind: type) -> list[str]:
        """Return the code of a class, as far as it is the user's."""
        found = []
        for each in kind.__mro__:
            if not _foreign(each):
                for name, member in sorted(vars(each).items()):
                    if name == "__hash__":  # that of attrs has another constant in each process
                        continue
                    inner = getattr(member, "__func__", getattr(member, "fget", member))
                    if isinstance(inner, types.FunctionType):
                        found.append(f"{name} {self.code(inner.__code__)} {self.held(inner)}")
        return found


def _foreign(kind: type) -> bool:
    """Return whether a class comes with Python or a library that has a version."""
    import sys

    package = kind.__module__.partition(".")[0]
    known: Callable[[str], bool] = sys.stdlib_module_names.__contains__
    library = ("mbkit", "numpy", "scipy", "numba", "attr", "attrs")
    return (known(package) and package != "__main__") or package in library


def _holds_numbers(kind: type) -> bool:
    """Return whether the library of a class makes objects of arrays, such as curves."""
    return kind.__module__.partition(".")[0] in ("numpy", "scipy")


def _fields(thing: Any) -> dict[str, Any]:
    fields = dict(getattr(thing, "__dict__", {}))
    for kind in type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(thing, name) and not name.startswith("__"):
                fields[name] = getattr(thing, name)
    return fields


def _names(code: types.CodeType) -> set[str]:
    """Return the names that a function and those within it may look up."""
    names = set(code.co_names)
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            names |= _names(each)
    return names

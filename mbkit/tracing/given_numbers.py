"""Numbers that compiled forces and constraints give to kernels, on a tape.

Where they are no polynomials of the fields - directions chosen by case, rotations within poses, the
pieces of curves - they are traced: the code of `parameters` is copied for traced numbers and run.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from mbkit.autodiff.namespaces import holds_traced
from mbkit.autodiff.tape import CannotTraceError, Number, Traced, value_of
from mbkit.constraints import prescribed
from mbkit.lie import SE3
from mbkit.tracing.branches import BranchingTape
from mbkit.tracing.copies_of_objects import ObjectCopies
from mbkit.tracing.cubic_spline import TracedCubicSpline

if TYPE_CHECKING:
    from mbkit.tracing.trace import Trace

__all__ = ["GivenNumbers"]


class Part(NamedTuple):
    """A force or a constraint, and where kernels read its numbers."""

    item: Any
    address: int


class GivenNumbers:
    """The numbers of forces and constraints with fields that stay free, as far as they are traced.

    Attributes
    ----------
    paths : set of str
        The parameters that are known so.
    """

    def __init__(self, trace: Trace) -> None:
        self.paths: set[str] = set()
        self._numbers: dict[int, list[Number]] = {}
        fields: dict[str, set[str]] = {}
        for each in trace.free:
            owner, _, field = each.path.rpartition(".")
            fields.setdefault(owner, set()).add(field)
        parts = dict(_parts(trace)) if fields else {}
        for owner, part in parts.items():
            if owner in fields:
                self._trace(trace, owner, part, sorted(fields[owner]))

    def _trace(self, trace: Trace, owner: str, part: Part, fields: list[str]) -> None:
        given = {field: trace.parameter(f"{owner}.{field}")[()] for field in fields}
        try:
            numbers = _numbers(trace.tape, part.item, given, by_value=not trace.is_smooth)
            known = _are_known(part.item, fields)
        except Exception:  # code of a user, which polynomials may do for
            return
        if known:
            self.paths.update(f"{owner}.{field}" for field in fields)
            self._numbers[part.address] = numbers

    def enter(self, trace: Trace) -> None:
        """Write those numbers that depend on free symbols into the memory of the kernels."""
        for address, numbers in self._numbers.items():
            memory = trace.mirror.pointer_at(address)
            for k, number in enumerate(numbers):
                if isinstance(number, Traced):
                    memory[k] = number


def _parts(trace: Trace) -> Iterator[tuple[str, Part]]:
    """Give the compiled forces and constraints whose numbers are in their own memory alone."""
    forces = trace.system.forces
    for force, row in zip(forces, trace.workspace.force_table if forces else (), strict=False):
        kernels = force.kernels()
        if kernels and not (kernels.linear or kernels.field or kernels.spring):
            yield f"forces.{force.name}", Part(force, int(row["parameters"]))
    closure = trace.system.arrays.closure
    if closure:
        rows = closure.constraints[closure.num_joints :]
        for row, constraint in zip(rows, closure.objects, strict=True):
            if constraint.kernel() is not None:
                yield f"constraints.{constraint.name}", Part(constraint, int(row["parameters"]))


def _numbers(
    tape: BranchingTape, item: Any, fields: Mapping[str, Any], *, by_value: bool = False
) -> list[Number]:
    """Return `parameters` of an object with other fields, by every way through comparisons."""

    def run() -> list[Number]:
        return [*np.ravel(_Copies().remade(item, fields).parameters())]

    return run() if by_value else tape.every_way(run)


def _are_known(item: Any, fields: list[str]) -> bool:
    """Return whether traced results equal the object's, also with fields a little changed."""
    moved = {field: _moved(np.asarray(getattr(item, field), dtype=float)) for field in fields}
    tape, traced = BranchingTape(), {}
    for field, value in moved.items():
        inputs = np.array(tape.inputs(field, value.ravel().tolist()), dtype=object)
        traced[field] = inputs.reshape(value.shape)[()]
    given = {field: value if value.ndim else float(value) for field, value in moved.items()}
    expected = np.ravel(attrs.evolve(item, **given).parameters())
    found = np.array([value_of(x) for x in _numbers(tape, item, traced)], dtype=float)
    return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-9, atol=1e-12)


def _moved(value: Any) -> Any:
    """Return a value near another one: poses stay poses, and tables in order."""
    if value.shape[-2:] == (4, 4):
        return value @ SE3.exp(np.linspace(0.01, 0.06, 6))
    return 1.01 * value + 0.003


class _Copies(ObjectCopies):
    """With replacements of curves and of the rotations of a table."""

    def _function(self, function: types.FunctionType, cell: Any = None) -> Any:
        if function is prescribed.quaternions_of:
            return _quaternions_of
        return super()._function(function, cell)

    def _type(self, kind: type) -> Any:
        from scipy.interpolate import CubicSpline

        return TracedCubicSpline if kind is CubicSpline else super()._type(kind)


def _quaternions_of(poses: Any) -> Any:
    """Replace `prescribed.quaternions_of`, for poses whose positions alone are traced."""
    rotations = poses[:, :3, :3]
    if holds_traced(rotations):
        raise CannotTraceError("the sign of a quaternion is chosen by case")
    known = np.tile(np.eye(4), (len(poses), 1, 1))
    known[:, :3, :3] = rotations
    return prescribed.quaternions_of(known).astype(object)

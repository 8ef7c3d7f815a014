"""The contract between derivatives of runs and the integrators whose steps they are made of.

The state of a method is a point x of a manifold, its tangent (dq, dv, further): dq (ndx,) along
steps of `System.retract` at q, dv (nv,), and further memory of the method, as accelerations. A
step is a map x_{k+1} = Phi_k(x_k, p) of the state and of inputs p, linear about the run:

    dx_{k+1} = A_k dx_k + B_k dp,        dx_0 = S dp,

S the change of the start by inputs. Forward derivatives go through these from the start on; an
adjoint comes from the end, lambda_k = A_k^T lambda_{k+1} + seed_k, and the gradient is
S^T lambda_0 + sum_k B_k^T lambda_{k+1}.

An integrator takes part by one subclass of `Linearisation`, called `Steps`, in a module of this
package that stands in `mbkit.sensitivities.methods`: `take` takes some steps as the run does and
returns `LinearSteps`, which give A and B. `LinearSteps.reverse` has a default made of both; a
method overrides it where A^T lambda and B^T lambda are cheaper than the matrices.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, UsageError
from mbkit.given_values import as_list
from mbkit.integrators.integrator import Rows
from mbkit.model.parameters import unknown_parameter
from mbkit.simulation.preparation import Prepared
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_steps, prescribed_velocities
from mbkit.systems.derivatives.inertia_changes import field_of_inertia
from mbkit.systems.derivatives.parameter_moves import shape_of_parameter

__all__ = [
    "STATE_INPUTS",
    "Inputs",
    "LinearSteps",
    "Linearisation",
    "checked_inputs",
    "moving",
    "refuse",
    "shape_of_input",
]

_NO_ROWS = Rows.empty(0, 0, 0, 0)

#: Inputs besides parameters: the state at the start, and constant efforts.
STATE_INPUTS = ("q", "v", "tau")


class LinearSteps(abc.ABC):
    """Some consecutive steps of a run, linear about it.

    Attributes
    ----------
    t, q, v : ndarray, shape (N + 1,), (N + 1, nq), (N + 1, nv)
        Where the N steps begin and end.
    fractions : ndarray, shape (n,)
        The sizes of those n steps that the first one is made of, by its own.
    """

    t: Floats
    q: Floats
    v: Floats

    @property
    def fractions(self) -> Floats:
        """A step of constant size is one."""
        return np.ones(1)

    @abc.abstractmethod
    def matrices(self) -> Floats:
        """Return A (N, size, size)."""

    @abc.abstractmethod
    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return B (N, size, k) by the name of the input, its k entries in a row."""

    def reverse(
        self, adjoint: Floats, seeds: Floats, names: Sequence[str]
    ) -> tuple[Floats, Mapping[str, Floats]]:
        """Take an adjoint from the end to the start.

        Parameters
        ----------
        adjoint : ndarray, shape (size,)
            At the end of the last step.
        seeds : ndarray, shape (N, size)
            The terms added to the adjoint at the beginning of each step.
        names : sequence of str
            Inputs.

        Returns
        -------
        ndarray, shape (size,)
            At the beginning of the first step.
        mapping of str to ndarray
            sum_k B_k^T lambda_{k+1} by input, (k,); of "tau" the terms of the sum, (N s, nv), with
            s terms for each step.
        """
        A, ends = self.matrices(), np.empty(seeds.shape)
        for k in reversed(range(len(A))):
            ends[k] = adjoint
            adjoint = A[k].T @ adjoint + seeds[k]
        found = {}
        for name, B in self.by_inputs(names).items():
            found[name] = np.einsum(f"nik,ni->{'nk' if name == 'tau' else 'k'}", B, ends)
        return adjoint, found


class Linearisation(abc.ABC):
    """A run that is taken again, step by step, and is linear about itself.

    Parameters
    ----------
    run : Prepared
        Before its first step.
    """

    def __init__(self, run: Prepared) -> None:
        self.run = run
        self.system: System = run.system
        self.problem = run.problem

    def with_constant_efforts(self, first: int, count: int) -> Iterator[tuple[int, int]]:
        """Give the steps over which efforts are constant, which act there, from `first` on."""
        begin = 0
        while begin < count:
            held = self.run.held
            size = count if held is None else min(count - begin, held.set(first + begin))
            yield begin, size
            begin += size

    def of_part(self, run: Prepared) -> Linearisation:
        """Return a part of one of the steps: see `mbkit.sensitivities.step_parts`."""
        return type(self)(run)

    def go_through(self, part: Prepared, fractions: Floats) -> int:
        """Take the steps that a part of a step is made of, of these fractions; return the status.

        By default each of them depends on the one before by its end alone.
        """
        integrator, problem = part.integrator, part.problem
        if integrator.adaptive:
            integrator = attrs.evolve(integrator, rtol=None, atol=None)  # type: ignore[misc]
        t, status = problem.t0, 0
        for h in problem.h * fractions:
            if status == 0:
                one = attrs.evolve(problem, t0=t, h=float(h), memory={})
                status, *_ = integrator.prepare(one)(0, 1, _NO_ROWS)
            t += float(h)
        return int(status)

    @property
    def size(self) -> int:
        """How many entries the tangent has: those of q, of v, and of the method's memory."""
        return self.system.ndx + self.system.nv

    @abc.abstractmethod
    def numbers(self, *, matrices: bool, evaluations: float) -> int:
        """Return how many numbers `LinearSteps` hold for a step.

        With its matrices, or for `LinearSteps.reverse`. Says how many steps are taken at once. A
        step of the run has so many evaluations of the equations of motion, on average; 0: unknown.
        """

    def are_by_pass(self, names: Iterable[str]) -> bool:
        """Whether a gradient by inputs needs no derivatives of the equations at each stage."""
        return all(
            name in STATE_INPUTS or field_of_inertia(self.system, name) is not None
            for name in names
        )

    @abc.abstractmethod
    def start(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return S (size, k) by the name of the input: the derivative of the state at the start."""

    def back_to_start(self, adjoint: Floats, names: Sequence[str]) -> Mapping[str, Floats]:
        """Return S^T times an adjoint (size,), (k,) by the name of the input.

        By default of `start`; a method overrides it where the adjoint of closing loops at the
        start is cheaper than its matrix.
        """
        return {name: S.T @ adjoint for name, S in self.start(names).items()}

    @abc.abstractmethod
    def take(self, first: int, count: int) -> LinearSteps:
        """Take the steps `first` to before `first + count` from the problem's state, and keep them.

        The problem's state is advanced as the run itself advances it, to the last bit.
        """


def moving(system: System) -> Floats:
    """Return 1 for entries of the tangent (dq, dv), 0 for those of prescribed joints."""
    held = np.concatenate([prescribed_steps(system), prescribed_velocities(system)])
    return np.where(held, 0.0, 1.0)


def refuse(reasons: Mapping[str, bool]) -> None:
    """Raise UsageError for a run that has no derivatives, for a reason of its method."""
    for reason, holds in reasons.items():
        if holds:
            raise UsageError(f"There are no derivatives of this run, since {reason}.")


@attrs.frozen(eq=False)
class Inputs:
    """The inputs by which derivatives are taken, the entries of all of them in a row.

    Attributes
    ----------
    shapes : mapping of str to tuple
        Axes by name.
    interval : int
        Steps over which a row of "tau" acts; 0 where it is constant.
    """

    shapes: Mapping[str, tuple[int, ...]]
    interval: int = 0

    @property
    def names(self) -> list[str]:
        """In order."""
        return list(self.shapes)

    @property
    def sizes(self) -> list[int]:
        """How many entries each has."""
        return [size_of(shape) for shape in self.shapes.values()]

    def add(self, x: Floats, found: Mapping[str, Floats], step: int) -> None:
        """Add the effects of inputs in a step, (size, k) by name, to columns x (size, width)."""
        ends = np.cumsum(self.sizes)
        for end, (name, shape) in zip(ends, self.shapes.items(), strict=True):
            part = found[name]
            if name == "tau" and self.interval:
                end = end - size_of(shape) + self._row(step) * shape[1] + shape[1]
            x[:, end - part.shape[-1] : end] += part

    def zeros(self) -> dict[str, Floats]:
        """Return sums by name, of nothing."""
        return {name: np.zeros(size_of(shape)) for name, shape in self.shapes.items()}

    def collect(
        self, total: dict[str, Floats], found: Mapping[str, Floats], first: int, count: int
    ) -> None:
        """Add the results of `LinearSteps.reverse` for some steps."""
        for name, part in found.items():
            if name != "tau":
                total[name] += part
            elif self.interval:
                by_step = part.reshape((count, -1, part.shape[-1])).sum(axis=1)
                rows = [self._row(first + k) for k in range(count)]
                np.add.at(total[name].reshape((-1, part.shape[-1])), rows, by_step)
            else:
                total[name] += part.sum(axis=0)

    def _row(self, step: int) -> int:
        return min(step // self.interval, self.shapes["tau"][0] - 1)


def shape_of_input(system: System, name: str) -> tuple[int, ...]:
    """Return the axes of a derivative by an input."""
    sizes = {"q": system.ndx, "v": system.nv, "tau": system.nv}
    return (sizes[name],) if name in sizes else shape_of_parameter(system, name)


def checked_inputs(system: System, by: Any) -> dict[str, tuple[int, ...]]:
    """Return the axes of inputs by name; errors list the inputs."""
    names = as_list(by)
    for name in names:
        if not (isinstance(name, str) and (name in STATE_INPUTS or name in system.parameters)):
            raise NameUnknownError(
                f"A run of system '{system.name}' has no derivatives by {name!r}; "
                f"{unknown_parameter(name, (*STATE_INPUTS, *system.parameters))}"
            )
    if not names:
        raise UsageError("by must name at least one input, such as 'q' or 'bodies.rod.mass'.")
    return {name: shape_of_input(system, name) for name in dict.fromkeys(names)}


def size_of(shape: tuple[int, ...]) -> int:
    """Return how many entries an input has."""
    return math.prod(shape)

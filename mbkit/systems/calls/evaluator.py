"""Calls of kernels from the methods of a system, and their refusals."""

from __future__ import annotations

import copy
import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.kernels.layout import LOADED
from mbkit.representations import Representation
from mbkit.solvers import DenseSolver
from mbkit.systems.calls import batches
from mbkit.systems.calls.arguments import Arguments, Floats, as_kernels_take
from mbkit.systems.calls.direct import REFUSED, Direct, direct_call, direct_pair, new_arrays
from mbkit.systems.calls.evaluations import APPLY_WRENCHES, MASS_MATRIX, Evaluation
from mbkit.systems.calls.failures import failure, named
from mbkit.systems.calls.lanes import BatchInLanes
from mbkit.systems.calls.root_motions import RootMotions
from mbkit.systems.memory.arrays import SystemArrays, python_joint_rows
from mbkit.systems.memory.in_lanes.closure import LanesClosureModel
from mbkit.systems.memory.in_lanes.workspace import LanesModel, LanesWorkspace, native_lanes
from mbkit.systems.memory.on_duals.workspace import DualModel
from mbkit.systems.memory.workspace import Workspace

__all__ = ["Evaluator"]

#: The word as Python keeps it, once: another object takes the long way, where it is compared.
RAISE = "raise"


class Call(NamedTuple):
    """A call for one sample: the data to repeat it with messages if the kernel gave no result."""

    what: Evaluation
    function: int
    given: tuple[Any, Any, Any]
    result: Floats
    out: Any
    on_error: str
    option: int = 0
    apply: int = 0
    wrenches: Any = None


class Evaluator:
    """The compiled functions of one system, and a pool of workspaces to call them with.

    A function is compiled, or loaded from the cache, when it is first used.

    Attributes
    ----------
    arrays : SystemArrays
        The model.
    arguments : Arguments
        The shapes that arguments must have.
    representation : Representation
        Whose functions are called unless another is named.
    doubles : Evaluator or None
        Of one that computes batches in single precision: that of the same system in double.
    in_lanes : dict
        How large batches are computed in lanes, None where they are not: see `batch_in_lanes`.
    moves_in_lanes : bool
        Whether ensembles take their steps in lanes, so that energies are worth it as well.
    """

    arrays: SystemArrays

    def __init__(
        self,
        arrays: SystemArrays,
        representation: Representation,
        arguments: Arguments,
    ) -> None:
        self.arrays: SystemArrays = arrays
        self.arguments = arguments
        self.representation = representation
        self.doubles: Evaluator | None = None
        self.moves_in_lanes = False
        self.zero: Floats = np.zeros(arguments.num_velocities)
        self._functions: dict[tuple[str, str], int] = {}
        self._made: dict[int, Any] = {}  # the same by address
        self._direct: dict[tuple[Any, ...], Direct] = {}
        # A call takes a workspace and gives it back; pop and append are atomic: threads have theirs
        self._pool: list[Workspace] = []
        self.give_back = self._pool.append
        self._changing: list[Workspace] = []  # those of bound calls: `let_joints_change`
        self.lanes_pool: list[LanesWorkspace] = []
        self.in_lanes: dict[tuple[Any, ...], BatchInLanes | None] = {}
        self._of_series: dict[tuple[int, int], Evaluator] = {}
        self.warned: set[tuple[int, ...] | str] = set()  # redundant rows warned of; or "t"

    def takes_names(
        self,
        by_name: Callable[[str, Mapping[str, Any], str], Any],
        names: tuple[tuple[str, ...], tuple[str, ...]],
    ) -> None:
        """Let vectors be given by the names of joints, and messages name entries: `Arguments`."""
        self.arguments = attrs.evolve(self.arguments, by_name=by_name, names=names)

    def take(self, what: Evaluation | None = None) -> Workspace:
        """Return a workspace for one call of a function, to be handed to `give_back` after it."""
        try:
            workspace = self._pool.pop()
        except IndexError:
            workspace = Workspace(self.arrays, self)
        if what is not None and what.changes_joints:
            workspace.let_joints_change(self)
        return workspace

    @functools.cached_property
    def calls_python(self) -> bool:
        """Whether anything is in Python, which threads would only fight for."""
        return (
            bool(python_joint_rows(self.arrays.joints))
            or bool(python_joint_rows(self.arrays.closure.joints))
            or self.arrays.closure.calls_python
            or self.arrays.forces.calls_python
            or isinstance(self.arrays.closure.chosen_solver, DenseSolver)
        )

    @functools.cached_property
    def lanes_model(self) -> LanesModel:
        """The model for batches in lanes, as many as the processor's registers have."""
        from mbkit.kernels.lanes import SingleLanes

        own = native_lanes()
        return LanesModel(self.arrays, own if self.doubles is None else SingleLanes(2 * own.width))

    @functools.cached_property
    def dual_model(self) -> DualModel:
        """The model for dual numbers, by which functions are differentiated."""
        return DualModel(self.arrays)

    @functools.cached_property
    def root_motions(self) -> RootMotions:
        """Along which twists at rest joints on the world have momenta in runs."""
        return RootMotions(self)

    @functools.cached_property
    def lanes_closure(self) -> LanesClosureModel:
        """The constraints for batches in lanes, as many as those of the model."""
        return LanesClosureModel(self.arrays.closure, self.lanes_model.lanes, self.representation)

    def made(self, address: int) -> Any:
        """Return the compiled function behind an address that `function` has returned."""
        return self._made[address]

    def function(self, what: Evaluation, representation: Representation | None = None) -> int:
        """Return the address of a compiled function, by default in the system's representation."""
        chosen = self.representation if representation is None else representation
        key = what.function, chosen.kernel_package
        function = self._functions.get(key)
        if function is None:
            if what.module:
                module = importlib.import_module(f"mbkit.kernels.{what.module}")
                made = getattr(module, what.function)
            else:
                made = chosen.kernel(what.function)
            function = self._functions[key] = int(made.address)
            self._made[function] = made
        return function

    def own_function(self, name: str) -> int:
        """Return the address of a function that the system's representation has, by its name."""
        return self.function(Evaluation(name, ("", "", ""), ""))

    def of_series(self, num_terms: int, num_series: int) -> Evaluator:
        """Return the evaluator for arguments of kinematics of higher order; see `Arguments`."""
        known = self._of_series.get((num_terms, num_series))
        if known is None:
            known = copy.copy(self)
            known.arguments = attrs.evolve(
                self.arguments, num_terms=num_terms, num_series=num_series
            )
            known._direct, known.in_lanes = {}, {}
            self._of_series[num_terms, num_series] = known
        return known

    def in_single_precision(self) -> Evaluator:
        """Return an evaluator of batches in single precision, and of single samples as this one."""
        single = copy.copy(self)
        single.__dict__.pop("lanes_model", None)
        single.__dict__.pop("lanes_closure", None)
        single.doubles = self
        single.arguments = attrs.evolve(self.arguments, dtype=np.float32)
        single.lanes_pool, single.in_lanes, single._of_series = [], {}, {}
        return single

    # ------------------------------------------------------------------------------- one call

    def compute(
        self,
        what: Evaluation,
        *given: Any,
        option: int = 0,
        representation: Representation | None = None,
        out: Any = None,
        on_error: str = "raise",
    ) -> Floats:
        """Compute something for one sample, or for many, of q, v, x, as many as it reads.

        Other arguments are as of all methods of `System`; `option` is a number for the function.
        """
        if on_error.__class__ is not str or on_error != "raise":
            batches.check_on_error(on_error)
        function = self.function(what, representation)
        result: Floats = self.arguments.empty(what.result) if out is None else out
        workspace = self.take(what)
        try:
            status = self.direct(what, function, option)(workspace.record, result, *given)
            if status == 0:
                return result
            padded = (*given, *[None] * (3 - len(given)))
            failed = Call(what, function, padded, result, out, on_error, option)
            return self._settle(status, workspace, failed)
        finally:
            self.give_back(workspace)

    def direct(self, what: Evaluation, function: int, option: int = 0, apply: int = 0) -> Direct:
        """Return the call from Python of a function, which `function` has returned."""
        key = what, function, option, apply
        known = self._direct.get(key)
        if known is None:
            names = what.result, *what.arguments, "wrenches" if apply else ""
            shape = self.arguments.shape
            shapes = [shape(name) if name else None for name in names]
            known = self._direct[key] = direct_call(function, option, shapes, apply)
        return known

    def _settle(self, status: int, workspace: Workspace, call: Call) -> Floats:
        """Raise the error that a kernel reports; compute a refused call in the general way."""
        from mbkit.kernels.status import WRONG_LENGTH, unpack

        if status == REFUSED or unpack(status)[0] == WRONG_LENGTH:
            alone = self._of_one_sample(workspace, call)
            if alone is not None:
                return alone
            return batches.compute(
                self, call.what, call.given, function=call.function, apply=call.apply,
                option=call.option, wrenches=call.wrenches, out=call.out, on_error=call.on_error,
            )  # fmt: skip
        arguments = named(call.what, call.given)
        if call.wrenches is not None:
            arguments["wrenches"] = call.wrenches
        error = failure(self, status, workspace, arguments)
        if call.on_error == "nan" and isinstance(error, Exception):
            call.result[...] = np.nan
            return call.result
        raise error

    def _of_one_sample(self, workspace: Workspace, call: Call) -> Floats | None:
        """Compute a batch of one sample, by a direct call in a tenth of the time of other batches.

        None where it is none, has several axes, or fails: the general way raises the error.
        """
        if call.out is not None or call.wrenches is not None or self.doubles is not None:
            return None
        rows = []
        for name, vector in zip(call.what.arguments, call.given, strict=True):
            if name and not (
                isinstance(vector, np.ndarray) and vector.shape == (1, *self.arguments.shape(name))
            ):
                return None
            rows.append(as_kernels_take(vector)[0] if name else None)
        result: Floats = self.arguments.empty(call.what.result)
        direct = self.direct(call.what, call.function, call.option)
        return None if direct(workspace.record, result, *rows) else result[None]

    def compute_loaded(
        self,
        what: Evaluation,
        *given: Any,
        wrenches: ArrayLike,
        out: Any,
        on_error: str,
        representation: Representation | None = None,
    ) -> Floats:
        """Compute a function of dynamics with wrenches on the bodies; otherwise as `compute`."""
        if on_error.__class__ is not str or on_error != "raise":
            batches.check_on_error(on_error)
        function = self.function(what, representation)
        apply = self.function(APPLY_WRENCHES, representation)
        result: Floats = self.arguments.empty(what.result) if out is None else out
        workspace = self.take(what)
        try:
            status = self.direct(what, function, LOADED, apply)(
                workspace.record, result, *given, wrenches
            )
            if status == 0:
                return result
            failed = Call(what, function, given, result, out, on_error, LOADED, apply, wrenches)
            return self._settle(status, workspace, failed)
        finally:
            self.give_back(workspace)

    def _pool_of(self, what: Evaluation) -> tuple[Callable[[], Workspace], Callable[..., None]]:
        """Return the functions that take workspaces out of their pool, and give them back."""
        changes = what.changes_joints and self.arrays.joints_vary
        pool = self._changing if changes else self._pool
        return pool.pop, pool.append

    def _new(self, name: str) -> Callable[[], Any]:
        """Return a function that makes a result's array; for large ones it checks memory first."""
        if name in self.arguments.large:
            return functools.partial(self.arguments.empty, name)
        return new_arrays(self.arguments.shape(name))

    # `compute` for frequent calls: everything is a cell of the function and nothing is packed,
    # which saves 0.2 us, a fifth of the inverse dynamics of seven bodies.

    def bind(self, what: Evaluation, option: int = 0) -> Callable[..., Floats]:
        """Return ``call(q, v, x, out, on_error)``, which returns the result."""
        (pop, give_back), settle = self._pool_of(what), self._settle
        function = self.function(what)
        direct = self.direct(what, function, option)
        empty = self._new(what.result)

        def call(q: Any, v: Any, x: Any, out: Any, on_error: str) -> Any:
            if on_error is not RAISE:
                return self.compute(what, q, v, x, option=option, out=out, on_error=on_error)
            result = empty() if out is None else out
            try:
                workspace = pop()
            except IndexError:
                workspace = self.take(what)
            try:
                status = direct(workspace.record, result, q, v, x)
                if status:
                    failed = Call(what, function, (q, v, x), result, out, on_error, option)
                    return settle(status, workspace, failed)
            finally:
                give_back(workspace)
            return result

        return call

    def bind_pair(self, what: Evaluation, apart: int) -> Callable[..., tuple[Floats, Floats]]:
        """Return ``call(q, v, x, on_error)`` of two vectors, which it returns one by one.

        `apart` is the option of the function by which it writes them into two arrays.
        """
        (pop, give_back), settle = self._pool_of(what), self._settle
        function = self.function(what)
        shape = self.arguments.shape
        one = shape(what.result)[1:]
        direct = direct_pair(function, apart, [one, *map(shape, what.arguments)])
        empty = new_arrays(one)

        def call(q: Any, v: Any, x: Any, on_error: str) -> Any:
            if on_error is not RAISE:
                found = self.compute(what, q, v, x, on_error=on_error)
                return found[..., 0, :], found[..., 1, :]
            first, second = empty(), empty()
            try:
                workspace = pop()
            except IndexError:
                workspace = self.take(what)
            try:
                status = direct(workspace.record, first, second, q, v, x)
                if status:
                    failed = Call(what, function, (q, v, x), first, None, on_error)
                    found = settle(status, workspace, failed)
                    return found[..., 0, :], found[..., 1, :]
            finally:
                give_back(workspace)
            return first, second

        return call

    def bind_mass_matrix(self) -> Callable[..., Floats]:
        """Return ``call(q, out, on_error)``, which returns the result."""
        pop, give_back, settle = self._pool.pop, self._pool.append, self._settle
        function = self.function(MASS_MATRIX)
        direct = self.direct(MASS_MATRIX, function)
        empty = self._new(MASS_MATRIX.result)

        def call(q: Any, out: Any, on_error: str) -> Any:
            if on_error is not RAISE:
                return self.compute(MASS_MATRIX, q, out=out, on_error=on_error)
            result = empty() if out is None else out
            try:
                workspace = pop()
            except IndexError:
                workspace = Workspace(self.arrays, self)
            try:
                status = direct(workspace.record, result, q)
                if status:
                    failed = Call(MASS_MATRIX, function, (q, None, None), result, out, on_error)
                    return settle(status, workspace, failed)
            finally:
                give_back(workspace)
            return result

        return call

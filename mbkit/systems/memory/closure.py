"""The constraints of a system as frozen arrays, and their memory in a workspace."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.kernels.constraints import layout
from mbkit.kernels.constraints.layout import KEPT
from mbkit.kernels.layout import SCRATCH
from mbkit.memory import check_memory
from mbkit.solvers import ConstraintSolver, DenseSolver, SolverKernels, automatic_solver
from mbkit.systems.memory.callbacks import register
from mbkit.systems.memory.python_constraint import PythonConstraintSlot, PythonSolverSlot

if TYPE_CHECKING:
    from mbkit.constraints import Constraint
    from mbkit.constraints.derivatives import ConstraintDerivatives
    from mbkit.joints import Joint
    from mbkit.systems.calls.evaluator import Evaluator

#: By how much more, squared, a row must be independent of others where there are separators: a part
#: subtracted before a separator goes is put back by it, and leaves its rounding.
_SEPARATORS_ROUND = 100.0

#: By how much, in parts of the least that counts, what a light body leaves of a row, squared, may
#: come near to it until rows that are left out are looked at.
_LOST = 1e-3


@attrs.frozen(eq=False)
class ClosureArrays:
    """The arrays of constraints for kernels; see `mbkit.kernels.constraints.layout`."""

    names: tuple[str, ...] = ()  # names of the constraints: loop joints, then the others
    num_joints: int = 0  # number of loop joints
    # CONSTRAINT, CONSTRAINT_SITE, BODY (row 0 is none), PAIR, BLOCK and SEPARATOR rows; of the last
    # one more than there are
    constraints: Any = None
    sites: Any = None
    joint_rows: Any = None
    pairs: Any = None
    blocks: Any = None
    separators: Any = None
    joints: tuple[Joint | None, ...] = ()  # joint of each row of `joint_rows`
    # by constraint: the rows of the tree that it moves, from the tips inwards; empty with local
    # elimination of nested loops
    supports: tuple[Any, ...] = ()
    site_bodies: tuple[int, ...] = ()  # body of each site, as in `System.body_names`
    objects: tuple[Constraint, ...] = ()  # the constraints besides loop joints
    # derivatives of each of these that is in Python
    derivatives: tuple[ConstraintDerivatives | None, ...] = ()
    # by the name of each of these: the numbers that its compiled function reads
    parameters: dict[str, Any] = attrs.field(factory=dict)
    length: float = 1.0  # length that scales moments against forces. [m]
    num_rows: int = 0  # numbers of rows of velocity and of position level
    num_position_rows: int = 0
    num_wrenches: int = 0  # sizes of memory, in numbers
    num_coefficients: int = 0
    num_response: int = 0
    num_propagated: int = 0
    num_gram: int = 0
    num_unknowns: int = 0  # rows of velocity level, and velocities of separators
    num_buffer: int = 0
    # PROPAGATION rows, one more than there are, and the first of each row of the tree; None without
    # local elimination
    propagations: Any = None
    first_propagations: Any = None
    # whether nested loops can be eliminated locally, also where the solver takes all at once
    has_nested_loops: bool = False
    num_velocities: int = 0  # of the tree
    # strategy of the user; by default chosen by size and rank
    chosen_solver: ConstraintSolver | None = None
    owners: tuple[Any, ...] = ()  # objects that the addresses point to, kept alive here

    def __bool__(self) -> bool:
        return bool(self.names)

    @property
    def calls_python(self) -> bool:
        """Whether a constraint is written in Python."""
        return any(each is not None for each in self.derivatives)

    @property
    def solver(self) -> ConstraintSolver:
        """The solver that finds the multipliers."""
        if self.chosen_solver is not None:
            return self.chosen_solver
        return automatic_solver(self.num_velocities, self.num_rows)

    def solver_kernels(self) -> SolverKernels:
        """Return the functions of the solver, for this pattern."""
        kernels = self.solver.kernels(self.num_velocities, self.num_rows)
        if self.propagations is None:
            return kernels
        assert kernels.nested is not None
        return kernels.nested

    @property
    def row_names(self) -> tuple[str, ...]:
        """One name a row of velocity level: "joint", or "joint[k]" where it has several."""
        return self._row_names("num_rows")

    @property
    def position_row_names(self) -> tuple[str, ...]:
        """The same of position level."""
        return self._row_names("num_position_rows")

    def _row_names(self, field: str) -> tuple[str, ...]:
        if self.constraints is None:
            return ()
        rows = zip(self.names, self.constraints["num_rows"], self.constraints[field], strict=True)
        return tuple(
            name if whole == 1 else f"{name}[{k}]"
            for name, whole, count in rows
            for k in range(count)
        )


class ClosureMemory:
    """Memory of one workspace to solve for the multipliers of its system.

    Attributes
    ----------
    numbers : dict of str to ndarray
        The arrays, by the names of `CLOSURE`.
    slots : dict of int to PythonConstraintSlot
        By constraint: those that are called back.
    """

    def __init__(self, arrays: ClosureArrays, totals: Any, evaluator: Evaluator) -> None:
        from mbkit.kernels.compile import array_address

        m, nv = arrays.num_rows, int(totals["num_velocities"])
        solver = arrays.solver
        kernels = arrays.solver_kernels()
        self.joint_scratch = np.zeros(len(arrays.joint_rows), SCRATCH)
        self.sites = arrays.sites.copy()
        self.constraints = arrays.constraints.copy()
        self.slots = self._install(arrays)
        self.blocks = arrays.blocks.copy()
        unknowns = arrays.num_unknowns
        self.kept = np.zeros(unknowns, dtype=np.int64)
        self.multipliers = np.zeros(m)
        numbers = {
            "residual": arrays.num_position_rows, "rate": m, "time_rate": m, "bias": m,
            "limits": unknowns, "largest": unknowns, "unknowns": unknowns,
            "wrenches": arrays.num_wrenches, "coefficients": arrays.num_coefficients,
            "response": arrays.num_response, "propagated": arrays.num_propagated,
            "gram": arrays.num_gram, "buffer": arrays.num_buffer,
            "step": int(totals["ndx"]), "change": nv, "unloaded": nv,
            "next_q": int(totals["num_positions"]), "room": 3 * unknowns, "efforts": nv,
        }  # fmt: skip
        _check_memory(solver, kernels, sum(numbers.values()), nv, m)
        self.numbers: dict[str, Any] = {
            # one entry at least: an empty array has no address of its own
            **{name: np.zeros(max(1, count)) for name, count in numbers.items()},
            **{
                name: np.zeros(unknowns, dtype=np.int64) for name in ("pivots", "chosen", "counted")
            },
            "kept": self.kept,
            "multipliers": self.multipliers,
            "sites": self.sites,
            "blocks": self.blocks,
            "joint_scratch": self.joint_scratch,
            "joints": arrays.joint_rows,
            "constraints": self.constraints,
            "pairs": arrays.pairs,
            "separators": arrays.separators,
        }
        self.record = np.zeros(1, layout.CLOSURE)
        closure: Any = self.record[0]
        for name, array in self.numbers.items():
            closure[name] = array_address(array)
        self._count(arrays)
        self._compare(arrays, evaluator)
        self._call(evaluator)
        if arrays.propagations is not None:
            self._install_nested(arrays, nv, evaluator)
        self._install_solver(solver, kernels, nv, evaluator)
        self.residual = self.numbers["residual"]
        self.address = array_address(self.record)

    def _call(self, evaluator: Evaluator) -> None:
        """Write the addresses of the functions that are called."""
        from mbkit.kernels.constraints.evaluate import constraint_rows
        from mbkit.kernels.constraints.solve.dynamics import free_motion_and_rows

        closure: Any = self.record[0]
        for name, what in (
            ("free_dynamics", "forward_dynamics"), ("hybrid_dynamics", "hybrid_dynamics"),
            ("move_sites", "constraint_sites"),
            ("respond", "constraint_response"), ("spread", "constraint_motion"),
        ):  # fmt: skip
            closure[name] = evaluator.own_function(what)
        closure["constraint_rows"] = constraint_rows.address
        closure["linearise"] = free_motion_and_rows.address

    def _count(self, arrays: ClosureArrays) -> None:
        """Write how many there are of everything."""
        closure: Any = self.record[0]
        for name in (
            "wrenches", "coefficients", "response", "propagated", "gram", "buffer",
            "constraints", "sites", "blocks", "pairs", "joints",
        ):  # fmt: skip
            closure[f"num_{name}"] = len(self.numbers[name])
        closure["num_rows"], closure["num_unknowns"] = arrays.num_rows, arrays.num_unknowns
        closure["num_separators"] = len(arrays.separators) - 1
        closure["num_position_rows"] = arrays.num_position_rows
        closure["length"] = arrays.length

    def _compare(self, arrays: ClosureArrays, evaluator: Evaluator) -> None:
        """Give memory to `kernels.constraints.solve.rank`, and mark the velocities that turn."""
        from mbkit.kernels.compile import array_address

        closure: Any = self.record[0]
        nv, m = len(evaluator.zero), arrays.num_rows
        self.numbers["scales"] = np.where(evaluator.arrays.turning, 1.0 / arrays.length, 1.0)
        closure["scales"] = array_address(self.numbers["scales"])
        if nv and m <= layout.MOST_COMPARED and arrays.propagations is None:
            self.numbers["compared"] = np.zeros(nv * (m + 1))
            closure["compared"] = array_address(self.numbers["compared"])
            closure["num_compared"] = len(self.numbers["compared"])

    def _install(self, arrays: ClosureArrays) -> dict[int, PythonConstraintSlot]:
        """Give a slot to each constraint that is in Python."""
        from mbkit.kernels.compile import array_address

        slots = {}
        for k, (constraint, derivatives) in enumerate(
            zip(arrays.objects, arrays.derivatives, strict=True), arrays.num_joints
        ):
            if derivatives is not None:
                slots[k] = slot = PythonConstraintSlot(constraint, derivatives)
                address = array_address(slot.memory)
                self.constraints[k]["slot"] = address
                weakref.finalize(self, register(address, slot))
        return slots

    def _install_nested(self, arrays: ClosureArrays, nv: int, evaluator: Evaluator) -> None:
        """Let the record point to the arrays of local elimination."""
        from mbkit.kernels.compile import array_address

        closure: Any = self.record[0]
        self.numbers |= {
            "propagations": arrays.propagations, "first_propagations": arrays.first_propagations,
            "closed_columns": np.zeros(nv, layout.CLOSED_COLUMN),
        }  # fmt: skip
        for name in ("propagations", "first_propagations", "closed_columns"):
            closure[name] = array_address(self.numbers[name])
        for name in ("propagations", "closed_columns"):
            closure[f"num_{name}"] = len(self.numbers[name])
        closure["eliminate_inward"] = evaluator.own_function("constraint_elimination")
        closure["solve_nested"] = evaluator.own_function("constraint_solution")

    def _install_solver(
        self, solver: ConstraintSolver, kernels: SolverKernels, nv: int, evaluator: Evaluator
    ) -> None:
        """Let the record point to a strategy, and to its memory."""
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.constraints.solve.strategy import gather_response

        closure: Any = self.record[0]
        gather = gather_response if kernels.gather is None else kernels.gather
        closure["gather"] = gather.address
        closure["prepare"], closure["resolve"] = kernels.prepare.address, kernels.resolve.address
        closure["reduce"] = 0 if kernels.reduce is None else kernels.reduce.address
        rounding = _SEPARATORS_ROUND if kernels.dense is None and closure["num_separators"] else 1.0
        closure["tolerance"] = kernels.tolerance * rounding
        least = KEPT if closure["compared"] else closure["tolerance"]
        closure["watched"] = least * evaluator.arrays.inertia_spread.ratio > _LOST
        self.solver_slot: PythonSolverSlot | None = None
        self._kernels = kernels  # compiled functions live as long as something refers to them
        dense = kernels.dense
        if dense is None:
            return
        closure["dense_prepare"] = dense.prepare.address
        closure["dense_solve"] = dense.solve.address
        size = nv * int(closure["num_rows"])
        matrix, memory = np.zeros(size), np.zeros(max(1, dense.memory))
        self.numbers |= {"dense": matrix, "memory": memory}
        closure["dense"], closure["memory"] = array_address(matrix), array_address(memory)
        if isinstance(solver, DenseSolver):
            self.solver_slot = slot = PythonSolverSlot(solver, memory, matrix.reshape((nv, -1)))
            weakref.finalize(self, register(array_address(memory), slot))


def _check_memory(
    solver: ConstraintSolver, kernels: SolverKernels, numbers: int, nv: int, m: int
) -> None:
    """Raise NoMemoryError where there is no memory to solve for the multipliers."""
    dense = 0 if kernels.dense is None else nv * m + kernels.dense.memory
    check_memory(
        numbers + dense,
        f"{type(solver).__name__} of {nv} velocities and {m} rows of constraints",
        "let mbkit choose the solver, or take other coordinates: absolute where constraints "
        "share joints of the tree, relative where they share bodies",
    )

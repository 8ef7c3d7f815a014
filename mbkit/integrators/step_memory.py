"""The memory of an implicit step, and the functions of the system that it calls, by address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mbkit.integrators.integrator import Problem
from mbkit.integrators.newton_record import Newton
from mbkit.kernels.implicit_integrators.layout import IMPLICIT, MADE_HEAD, MOST_STEPS
from mbkit.memory import check_memory

__all__ = ["Record", "StepMemory"]

_EMPTY: Mapping[str, int] = {}


class Record:
    """A record for kernels: numbers, addresses of functions, and arrays by their addresses.

    Parameters
    ----------
    dtype : dtype
        Its fields.
    floats, integers : dict of str to int
        Fields that are new arrays of so many zeros. They lie side by side: numpy takes 1 us to
        return the address of an array.
    **fields : int, float, ndarray or Record
        Values of the others, 0 if not given. Arrays and other records live as long as the record.
    """

    address: int  # of the record

    def __init__(
        self,
        dtype: np.dtype[Any],
        *,
        floats: Mapping[str, int] = _EMPTY,
        integers: Mapping[str, int] = _EMPTY,
        **fields: Any,
    ) -> None:
        from mbkit.kernels.compile import array_address

        self._fields = fields
        self._parts: list[Any] = []
        values: dict[str, Any] = dict.fromkeys(dtype.names or (), 0)
        known = len(values)
        for name, each in fields.items():
            if isinstance(each, np.ndarray):
                values[name] = array_address(each)
            else:
                values[name] = each.address if isinstance(each, Record) else each
        for sizes, kind in ((floats, np.float64), (integers, np.int64)):
            if sizes:
                self._add(values, sizes, kind)
        assert len(values) == known, f"no fields of the record: {', '.join([*values][known:])}"
        self._record = np.array([tuple(values.values())], dtype)
        self.address = array_address(self._record)

    def _add(self, values: dict[str, Any], sizes: Mapping[str, int], kind: Any) -> None:
        """Let fields be parts of one new array; none has the address of the next."""
        from mbkit.kernels.compile import UNCOMPILED, array_address

        memory = np.zeros(sum(sizes.values()) + len(sizes), kind)
        first, address = 0, array_address(memory)
        for name, size in sizes.items():
            self._fields[name] = memory[first : first + size]
            if UNCOMPILED:  # arrays are found again by their addresses while they live
                self._parts.append(memory[first : first + (size or 1)])
                values[name] = array_address(self._parts[-1])
            else:
                values[name] = address + 8 * first
            first += size or 1

    def __getitem__(self, name: str) -> Any:
        """Return a field as it was given, 0 where it was not."""
        return self._fields.get(name, 0)


#: The remedy where there is no memory for one.
REMEDY = (
    "assemble in absolute coordinates, mbkit.AbsoluteCoordinates(), where GeneralizedAlpha and "
    "BLieDF have a matrix by blocks, or take an explicit integrator, such as RungeKuttaMuntheKaas"
)

#: Iterations of Newton's method in a step before it is given up.
MOST_ITERATIONS = 30


class StepMemory(Record):
    """Arrays for `mbkit.kernels.implicit_integrators`, and the record of their addresses.

    Parameters
    ----------
    problem : Problem
        The problem; its `newton` is set, and its memory gets where the matrix was made.
    stabilised : bool
        Whether the constraints of velocities are solved too.
    tolerance : float
        Of the velocity errors of all steps in a second: one step is solved to h times that.
        [rad/s^2], [m/s^2]
    gain : bool
        Whether velocities follow D in a matrix of their own: see `gain` in the record.
    **functions : FunctionAddress
        The functions that the time loop calls.

    Attributes
    ----------
    functions : dict of str to FunctionAddress
        The functions of the system that a step calls, by their names in the record.
    sizes : dict of str to int
        By name, how many numbers the arrays have of which each run has its own.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        stabilised: bool,
        tolerance: float,
        gain: bool = False,
        **functions: Any,
    ) -> None:
        nq, nv = problem.nq, problem.nv
        m = problem.equations.num_velocity_constraints
        mp = problem.equations.num_position_constraints
        n = nv + m * (2 if stabilised else 1)
        made = MADE_HEAD + 2 * nq + 3 * nv + m
        blocks = problem.blocks(stabilised) if problem.blocks is not None else None
        width = blocks.num_columns if blocks is not None else nv
        counts = {"nq": nq, "nv": nv, "m": m, "mp": mp, "n": n, "num_made": made, "width": width}
        matrix = n * n if blocks is None else blocks.num_entries
        sizes = _sizes(**counts) | {"matrix": matrix}
        check_memory(
            sum(sizes.values()) + 3 * nv * width,
            f"An implicit step of {nv} velocities and {m} rows of constraints, with a matrix "
            + (f"of {n} x {n}," if blocks is None else "by blocks,"),
            REMEDY,
        )
        if gain:
            sizes["gain"] = nv * MOST_STEPS
        problem.newton = newton = Newton.empty(MOST_ITERATIONS, nv + m, problem.newton)
        problem.memory["linearisation"] = linearisation = np.zeros(made)
        position_of_row = np.zeros(m or 1, np.int64)
        loops_alone = False
        if m:
            from mbkit.kernels.implicit_integrators.position_rows import describe_rows

            loops_alone = bool(describe_rows(problem.space, position_of_row))
        if blocks is None:
            tables = {"column_of": np.arange(max(1, problem.ndx, nv))}
        else:
            tables = blocks.counts | blocks.tables | {"column_of": blocks.column_of}
        functions |= _functions(closed=m > 0, loops_alone=loops_alone, blocks=blocks is not None)
        self.functions = functions
        self.sizes = sizes | {
            "q": nq, "v": nv, "work": 2, "q_next": nq, "v_next": nv, "pivots": n, "kept": m,
            "derivatives": 3 * nv * width, "made_at": made, "history": 2 * MOST_ITERATIONS,
            "residual": nv + m, "total": 2,
        }  # fmt: skip
        derivatives = np.zeros(3 * nv * width or 1)
        super().__init__(
            IMPLICIT, **counts, **tables,
            **{name: each.address for name, each in functions.items()},
            floats=sizes, integers={"pivots": n, "kept": m, "prescribed": nv},
            stabilised=stabilised, tolerance=tolerance * problem.h, most=MOST_ITERATIONS,
            q=problem.q, v=problem.v, work=problem.work,
            q_next=problem.q_stage, v_next=problem.v_stage,
            derivatives=derivatives, mass=derivatives[2 * nv * width :],
            position_of_row=position_of_row, made_at=linearisation,
            history=newton.history, residual=newton.residual,
            count=newton.count, total=newton.total,
        )  # fmt: skip


def _sizes(
    *, nv: int, m: int, mp: int, n: int, width: int, num_made: int, **_: int
) -> dict[str, int]:
    """Return how many numbers each vector, and each matrix of derivatives, has."""
    from mbkit.kernels.configuration import BLOCK_SIZE

    return {
        "D": nv, "vdot": nv, "multipliers": m, "eta": m, "change": n, "shift": nv,
        "applied": nv, "left": nv, "powers_kept": 2, "rate": m,
        "constraint_values": mp + 2 * m, "given": nv + 1,
        "A": m * width, "A_start": m * width, "A_made": m * width, "Z": m * width,
        "scale": 1, "more": max(2 * nv, m) * width,
        "differential": nv * MOST_STEPS, "columns": 3 * nv, "block": 2 * BLOCK_SIZE,
        "made": num_made, "restore": num_made, "largest": n, "sorted": n,
        "waits": 1, "failed": 1,
    }  # fmt: skip


def _functions(*, closed: bool, loops_alone: bool, blocks: bool) -> dict[str, Any]:
    """Return the functions of the system that a step calls."""
    from mbkit.kernels.derivatives.forces import force_derivatives
    from mbkit.kernels.derivatives.inverse_dynamics import inverse_dynamics_derivatives
    from mbkit.kernels.forces.force_pass import generalized_forces
    from mbkit.kernels.implicit_integrators.newton import solve_step
    from mbkit.kernels.implicit_integrators.starting_values import accelerate, add_least_change

    functions: dict[str, Any] = {
        "solve_step": solve_step,
        "accelerate": accelerate,
        "add_least": add_least_change,
        "generalized_forces": generalized_forces,
        "dynamics_derivatives": inverse_dynamics_derivatives,
        "force_derivatives": force_derivatives,
    }
    if closed:
        from mbkit.kernels.constraints.evaluate import constraint_state
        from mbkit.kernels.constraints.jacobian import constraint_jacobian

        functions |= {
            "constraint_state": constraint_state, "constraint_jacobian": constraint_jacobian
        }  # fmt: skip
    if loops_alone:
        from mbkit.kernels.derivatives.constraints import force_derivative, velocity_derivative

        functions |= {
            "velocity_derivative": velocity_derivative, "force_derivative": force_derivative
        }  # fmt: skip
    if blocks:
        from mbkit.kernels.implicit_integrators.block_factor import solve_blocks
        from mbkit.kernels.implicit_integrators.newton_block_matrix import make_blocks

        functions |= {"make": make_blocks, "solve": solve_blocks}
    else:
        from mbkit.kernels.implicit_integrators.newton_matrix import make

        functions["make"] = make
    return functions

"""How a method of a system reaches its kernel, and what happens when the kernel refuses."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbkit.representations import Representation
from mbkit.systems.arguments import Arguments
from mbkit.systems.arrays import SystemArrays
from mbkit.systems.failures import failure
from mbkit.systems.workspace import Workspace

#: Stands for a status where a kernel took none of the arguments it was given.
REFUSED = -1

__all__ = ["FORWARD_DYNAMICS", "INVERSE_DYNAMICS", "Evaluator"]

Floats = NDArray[np.float64]

#: What the arguments of the dynamics kernels are, for `Arguments.normalised`.
INVERSE_DYNAMICS = ("q", "v", "vdot", "", "out:v")
FORWARD_DYNAMICS = ("q", "v", "tau", "", "out:v")


class Evaluator:
    """The kernels of one system, and a pool of workspaces to call them with.

    A kernel is imported, which compiles it or loads it from the cache, when it is first used.

    Attributes
    ----------
    arrays : SystemArrays
        The model.
    arguments : Arguments
        The shapes that arguments must have.
    """

    def __init__(
        self,
        arrays: SystemArrays,
        representation: Representation,
        arguments: Arguments,
    ) -> None:
        self.arrays = arrays
        self.arguments = arguments
        self.representation = representation
        self.zero: Floats = np.zeros(arguments.num_velocities)
        # A call takes a workspace and gives it back; pop and append are atomic, so that threads
        # and callbacks into the same system each have their own.
        self._pool: list[Workspace] = []

    def run(
        self,
        kernel: Any,
        names: tuple[str, ...],
        *arguments: Any,
        wrenches: ArrayLike | None = None,
    ) -> None:
        """Call a kernel; look at the arguments only if it refuses them.

        Parameters
        ----------
        kernel : callable
            It gets the workspace's address, then `arguments`.
        names : tuple of str
            What each argument is, as `Arguments.normalised` reads it.
        *arguments : Any
            As the user gave them.
        wrenches : array_like, optional
            On the bodies.
        """
        workspace = self._take()
        try:
            if wrenches is not None:
                self.apply_wrenches(workspace.address, self.arguments.checked("wrenches", wrenches))
            try:
                state = kernel(workspace.address, *arguments)
            except (TypeError, ValueError):  # of numba: types, empty lists
                state = REFUSED
            if state != 0:
                self._settle(state, workspace, kernel, names, arguments)
        finally:
            self._pool.append(workspace)

    def _take(self) -> Workspace:
        try:
            return self._pool.pop()
        except IndexError:
            return Workspace(self.arrays)

    def _settle(
        self,
        state: int,
        workspace: Workspace,
        kernel: Any,
        names: tuple[str, ...],
        arguments: tuple[Any, ...],
    ) -> None:
        """Convert arguments that a kernel refused and call it again; raise what it reports."""
        arguments = self.arguments.normalised(names, arguments)
        if state == REFUSED:
            state = kernel(workspace.address, *arguments)
        if state != 0:
            raise failure(self, state, workspace, dict(zip(names, arguments, strict=True)))

    # `run` for the kernels that are called most, without wrenches: everything is a cell of the
    # function and nothing is packed, which saves 0.2 us, a fifth of the inverse dynamics of seven
    # bodies.

    def _bind_dynamics(self, kernel: Any, names: tuple[str, ...]) -> Callable[..., Floats]:
        pop, give_back, settle = self._pool.pop, self._pool.append, self._settle

        def call(q: Any, v: Any, given: Any, loaded: bool, out: Any) -> Any:
            try:
                workspace = pop()
            except IndexError:
                workspace = Workspace(self.arrays)
            try:
                try:
                    state = kernel(workspace.address, q, v, given, loaded, out)
                except (TypeError, ValueError):  # of numba: types, empty lists
                    state = REFUSED
                if state != 0:
                    settle(state, workspace, kernel, names, (q, v, given, loaded, out))
            finally:
                give_back(workspace)
            return out

        return call

    def _bind_mass_matrix(self, kernel: Any, names: tuple[str, ...]) -> Callable[..., Floats]:
        pop, give_back, settle = self._pool.pop, self._pool.append, self._settle

        def call(q: Any, out: Any) -> Any:
            try:
                workspace = pop()
            except IndexError:
                workspace = Workspace(self.arrays)
            try:
                try:
                    state = kernel(workspace.address, q, out)
                except (TypeError, ValueError):  # of numba: types, empty lists
                    state = REFUSED
                if state != 0:
                    settle(state, workspace, kernel, names, (q, out))
            finally:
                give_back(workspace)
            return out

        return call

    def joint_of_position(self, entry: int) -> str:
        """Return the name of the joint that has an entry of q."""
        return self._joint_of("first_position", "num_positions", entry)

    def joint_of_velocity(self, entry: int) -> str:
        """Return the name of the joint that has an entry of v."""
        return self._joint_of("first_velocity", "num_velocities", entry)

    def _joint_of(self, first: str, count: str, entry: int) -> str:
        rows = self.arrays.bodies[1:]
        start = rows[first]
        row = int(np.flatnonzero((start <= entry) & (entry < start + rows[count]))[0])
        return self.arrays.joint_names[row + 1]

    def positions_of_row(self, row: int, arguments: dict[str, Any]) -> Any:
        """Return the entries of q that belong to a row of the model, one state a row, (k, nq_i)."""
        body = self.arrays.bodies[row]
        start = int(body["first_position"])
        names = ("q", "q0", "q1", "rows:q")
        none = np.zeros((0, self.arguments.num_positions))
        states = np.vstack([none, *(arguments[name] for name in names if name in arguments)])
        return states[:, start : start + int(body["num_positions"])]

    # Kernels that the representation chooses.

    @functools.cached_property
    def inverse_dynamics(self) -> Callable[..., Floats]:
        """``(q, v, vdot, loaded, tau)``: tau."""
        return self._bind_dynamics(self.inverse_dynamics_kernel, INVERSE_DYNAMICS)

    @functools.cached_property
    def inverse_dynamics_kernel(self) -> Any:
        """The kernel itself."""
        return self.representation.kernel("inverse_dynamics", "inverse_dynamics")

    @functools.cached_property
    def forward_dynamics(self) -> Callable[..., Floats]:
        """``(q, v, tau, loaded, vdot)``: vdot."""
        return self._bind_dynamics(self.forward_dynamics_kernel, FORWARD_DYNAMICS)

    @functools.cached_property
    def forward_dynamics_kernel(self) -> Any:
        """The kernel itself."""
        return self.representation.kernel("forward_dynamics", "forward_dynamics")

    @functools.cached_property
    def mass_matrix(self) -> Callable[..., Floats]:
        """``(q, M)``: M."""
        kernel = self.representation.kernel("mass_matrix", "mass_matrix")
        return self._bind_mass_matrix(kernel, ("q", "out:M"))

    @functools.cached_property
    def twists(self) -> Any:
        """Twists of q, v."""
        return self.representation.kernel("kinematics", "twists")

    @functools.cached_property
    def accelerations(self) -> Any:
        """Accelerations of q, v, vdot."""
        return self.representation.kernel("kinematics", "accelerations")

    @functools.cached_property
    def jacobian(self) -> Any:
        """Jacobian of a body at q."""
        return self.representation.kernel("kinematics", "jacobian")

    @functools.cached_property
    def apply_wrenches(self) -> Any:
        """Leaves wrenches where dynamics finds them."""
        return self.representation.kernel("kinematics", "apply_wrenches")

    # Kernels that are the same in all representations.

    @functools.cached_property
    def poses(self) -> Any:
        """Poses of q."""
        return _kernel("poses", "poses")

    @functools.cached_property
    def retract(self) -> Any:
        """Q exp(dx)."""
        return _kernel("configuration", "retract")

    @functools.cached_property
    def difference(self) -> Any:
        """The dx between two configurations."""
        return _kernel("configuration", "difference")

    @functools.cached_property
    def energies(self) -> Any:
        """Energies of many states."""
        return _kernel("energy", "energies")

    @functools.cached_property
    def momentum(self) -> Any:
        """Momentum and moment of mass."""
        return _kernel("energy", "momentum")


def _kernel(module: str, function: str) -> Any:
    return getattr(importlib.import_module(f"mbkit.kernels.{module}"), function)

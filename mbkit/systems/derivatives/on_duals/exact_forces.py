"""Derivatives of forces: of compiled ones by dual numbers, in Python by their arguments."""

from __future__ import annotations

import functools
import math
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.kernels import layout
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.memory.callbacks import register
from mbkit.systems.memory.force_slopes import ForceSlopes
from mbkit.systems.memory.forces import PythonForceSlot
from mbkit.systems.memory.in_lanes.forces import LanesForces, forces_have_lanes
from mbkit.systems.memory.on_duals.python_force import DualForceSlot
from mbkit.systems.memory.on_duals.workspace import DualWorkspace, motions_are_dual

if TYPE_CHECKING:
    from mbkit.systems.calls.evaluator import Evaluator

__all__ = ["ExactForces"]


class ExactForces:
    """The forces of a system, with derivatives by q and v, by the time and by their numbers.

    Functions are compiled for dual numbers, or loaded from the cache, at their first use.

    Parameters
    ----------
    evaluator : Evaluator
        Of the system; see `of`.
    say_differences : callable
        ``say_differences(name, reason)`` is called once of a force in Python that cannot be traced.

    Attributes
    ----------
    lock : context manager
        To be held while the memory of dual numbers is in use.
    """

    def __init__(self, evaluator: Evaluator, say_differences: Callable[[str, str], None]) -> None:
        from mbkit.kernels.compile import array_address

        self._say_differences = say_differences
        self._arrays = arrays = evaluator.arrays
        world: Any = arrays.bodies[0]
        self._nv = int(world["num_velocities"])
        self._entries = int(world["ndx"]) + self._nv
        self._workspace = DualWorkspace(evaluator.dual_model)
        self._forces = LanesForces(evaluator.dual_model, ())  # known by address
        self._workspace.let_act(self._forces)
        space: Any = self._workspace.record[0]
        # those first that time loops call, then the others
        forces = arrays.forces
        called = forces.order[: forces.num_called].tolist()
        others = [k for k in range(len(forces.forces)) if k not in called]
        order = np.array([*called, *others], dtype=np.int64)
        self._places = np.argsort(order)
        self._order = order
        space["force_order"], space["num_ordered"] = array_address(order), len(order)
        self._numbers = [self._numbers_of(k) for k in range(len(order))]
        self._slots: dict[int, DualForceSlot] = {}
        for k, force in enumerate(forces.forces):
            if force.kernels() is None:
                self._slots[k] = self._slot_of(k)
        # a force in Python may let another thread in
        self.lock = threading.RLock()

    @classmethod
    def of(
        cls, evaluator: Evaluator, say_differences: Callable[[str, str], None]
    ) -> ExactForces | None:
        """Return those of a system, if the motions of its joints are written for it."""
        from mbkit.kernels.compile import UNCOMPILED

        arrays = evaluator.arrays
        if UNCOMPILED or not arrays.forces.forces or not motions_are_dual(arrays):
            return None
        return cls(evaluator, say_differences)

    def _slot_of(self, k: int) -> DualForceSlot:
        """Return the object that calls a force in Python, entered in its row."""
        from mbkit.kernels.compile import array_address

        forces = self._arrays.forces
        of = forces.forces[k], forces.joints[k], forces.bodies[k]
        say = functools.partial(self._say_differences, forces.names[k])
        slot = DualForceSlot(*of, self._workspace.numbers, say)
        row: Any = self._forces.table[k]
        row["slot"] = address = array_address(slot.numbers)
        weakref.finalize(self, register(address, slot))
        return slot

    def slopes_of(self, k: int, fields: Mapping[str, tuple[int, ...]]) -> ForceSlopes:
        """Return the derivatives of a force in Python for the adjoint, also by some fields."""
        forces, rows = self._arrays.forces, self._arrays.bodies
        known = self._slots[k].derivatives
        plain = PythonForceSlot(forces.forces[k], forces.joints[k], forces.bodies[k])
        entries = forces.joints[k].reshape(-1, layout.JOINT_SIZE)[:-1]
        moving = entries[entries[:, layout.JOINT_NUM_VELOCITIES] > 0, layout.JOINT_VELOCITY]
        own = rows[1:][
            np.isin(rows["first_velocity"][1:], moving) & (rows["num_velocities"][1:] > 0)
        ]
        steps, steps_add = int(own["ndx"].sum()), not own["retract"].any()
        return ForceSlopes(plain, steps, steps_add, fields, known)

    def are_known(self, rows: Iterable[int], *, exactly: bool = True) -> bool:
        """Whether forces are compiled functions for dual numbers, or in Python.

        Exactly: of forces in Python those that give their derivatives, or can be traced as far as
        is known.
        """
        slots = self._slots
        known = {k for k in slots if slots[k].derivatives.is_exact or not exactly}
        return forces_have_lanes(self._arrays.forces, [k for k in rows if k not in known])

    @property
    def exact_in_python(self) -> set[str]:
        """Names of the forces in Python whose derivatives are exact, as far as is known."""
        names = self._arrays.forces.names
        return {names[k] for k, each in self._slots.items() if each.derivatives.is_exact}

    def _forget(self) -> None:
        for slot in self._slots.values():
            slot.forget()

    def _raise_mistakes(self) -> None:
        self._workspace.raise_interrupts()
        for slot in self._slots.values():
            slot.raise_mistake()

    def _numbers_of(self, k: int) -> Floats:
        """Return memory for the time and the parameters of a force, (1 + n, 1 + DIRECTIONS)."""
        from mbkit.kernels.compile import array_address

        forces = self._arrays.forces
        row: Any = self._forces.table[k]
        own = forces.parameters[forces.names[k]]
        memory: Floats = self._workspace.numbers(1 + len(own))
        memory[1:, 0] = own
        row["parameters"] = array_address(memory[1:])
        return memory

    def lend(self, rows: Iterable[int]) -> tuple[int, int]:
        """Return the addresses of a SPACE of dual numbers, and of its FORCE entries.

        These rows may be called there, whose numbers have no derivatives. It is for one caller at a
        time: see `lock`.
        """
        from mbkit.kernels.compile import array_address

        self._forces.let_call(rows)
        space: Any = self._workspace.record[0]
        space["time"] = array_address(self._time)
        return self._workspace.address, array_address(self._forces.table)

    # ------------------------------------------------------------------------- by q and v

    @functools.cached_property
    def has_states(self) -> bool:
        """Whether there are derivatives by q and v: all that are called are written for it.

        Or they are in Python; those that give no derivatives have differences.
        """
        forces = self._arrays.forces
        called = forces.order[: forces.num_called].tolist()
        return len(called) > 0 and self.are_known(called, exactly=False)

    @property
    def is_exact(self) -> bool:
        """Whether these are exact, as far as is known of forces that have to be traced."""
        return self.has_states and all(each.derivatives.is_exact for each in self._slots.values())

    @functools.cached_property
    def _by_states(self) -> int:
        from mbkit.kernels.derivatives.exact_forces import FORM, called_forces_along
        from mbkit.kernels.duals import DUAL
        from mbkit.kernels.lanes import address_in_lanes

        self._forces.let_call(self._order[: self._arrays.forces.num_called])
        return address_in_lanes(called_forces_along, FORM, DUAL)

    @functools.cached_property
    def _time(self) -> Floats:
        time: Floats = self._workspace.numbers(1)
        return time

    def add(self, both: Floats, q: Floats, v: Floats, t: Floats) -> Any:
        """Add derivatives to those of the other forces, (..., ndx + nv, nv).

        q (..., nq), v (..., nv) and t (..., 1) broadcast. Returns the samples of which there are
        none, as one of the forces fails or its derivative is not finite, (...).
        """
        from mbkit.kernels.derivatives.exact_forces import States, along_all

        leading, nv = both.shape[:-2], self._nv
        states = States(*(_rows(x, leading) for x in (q, v, t)))
        found = np.empty((math.prod(leading), self._entries, nv))
        with self.lock:  # one workspace is enough for all threads
            self._forget()
            along_all(self._by_states, self._workspace.address, self._time, states, found)
            self._raise_mistakes()
        rows, ndx = np.swapaxes(found, 1, 2), self._entries - nv
        parts = (rows[..., :ndx], rows[..., ndx:])
        flat = [x.reshape((*leading, nv * x.shape[-1])) for x in parts]
        both += np.concatenate(flat, axis=-1).reshape(both.shape)
        return ~np.isfinite(found).all(axis=(1, 2)).reshape(leading)

    # ----------------------------------------------------------- by numbers, and by the time

    @functools.cached_property
    def _by_numbers(self) -> int:
        from mbkit.kernels.derivatives.exact_forces import FORM, one_force_along
        from mbkit.kernels.duals import DUAL
        from mbkit.kernels.lanes import address_in_lanes

        return address_in_lanes(one_force_along, FORM, DUAL)

    def has_numbers(self, name: str) -> bool:
        """Whether the compiled function of a force is written for it."""
        forces = self._arrays.forces
        return forces_have_lanes(forces, [forces.names.index(name)])

    def by_field(
        self, name: str, field: str, axes: tuple[int, ...], states: TimedStates
    ) -> Floats | None:
        """Return the derivatives by a field with these axes that a force in Python gives.

        Otherwise as `by_numbers`; not numbers where it gives none by this field, None where it
        gives none at all.
        """
        from mbkit.kernels.duals import DIRECTIONS

        k = self._arrays.forces.names.index(name)
        slot = self._slots.get(k)
        if slot is None or not slot.derivatives.is_given:
            return None
        found, count = [], math.prod(axes)
        with self.lock:
            for first in range(0, count, DIRECTIONS):
                entries = slice(first, min(count, first + DIRECTIONS))
                slot.moving = field, axes, entries
                try:
                    none = np.zeros((1, entries.stop - first))
                    found.append(self._of_force(k, none, states))
                finally:
                    slot.moving = None
        return np.concatenate([np.zeros((*states.v.shape, 0)), *found], axis=-1)

    def by_numbers(self, name: str, rates: Floats, states: TimedStates) -> Floats:
        """Return the derivatives of the generalized forces by entries that change its parameters.

        Parameters
        ----------
        name : str
            The force; see `has_numbers`.
        rates : ndarray, shape (n, k)
            Derivatives of its numbers by the entries; see `ForceKernels`.
        states : TimedStates
            N states.

        Returns
        -------
        ndarray, shape (N, nv, k)
            Not numbers where the force fails.
        """
        k = self._arrays.forces.names.index(name)
        return self._of_force(k, np.concatenate([np.zeros((1, rates.shape[1])), rates]), states)

    def by_time(self, states: TimedStates) -> Floats | None:
        """Return the derivative of the generalized forces by the time, (N, nv, 1).

        None where a force reads it that is not written for dual numbers.
        """
        forces = self._arrays.forces
        if not self.are_known(forces.reading_time):
            return None
        found = np.zeros((len(states.q), self._nv, 1))
        for k in forces.reading_time:
            seed = np.zeros((len(self._numbers[k]), 1))
            seed[0] = 1.0
            found += self._of_force(k, seed, states)
        return found if self.are_known(forces.reading_time) else None

    def _of_force(self, k: int, rates: Floats, states: TimedStates) -> Floats:
        """Return derivatives along directions in which the time and the numbers have rates."""
        from mbkit.kernels.derivatives.exact_forces import Numbers, States, one_along_all
        from mbkit.kernels.duals import DIRECTIONS

        self._forces.let_call([k])
        memory = self._numbers[k]
        n, count = rates.shape
        seeds = np.zeros((-(-count // DIRECTIONS), *memory.shape))
        seeds[..., 0] = memory[:, 0]
        for part, seed in enumerate(seeds):
            own = rates[:n, part * DIRECTIONS : (part + 1) * DIRECTIONS]
            seed[:n, 1 : 1 + own.shape[1]] = own
        q, v, t = states
        found = np.empty((len(q), count, self._nv))
        rows: Any = States(*(_rows(x, (len(q),)) for x in (q, v, t[:, None])))
        numbers: Any = Numbers(memory, seeds)
        space, place = self._workspace.address, int(self._places[k])
        with self.lock:
            self._forget()
            one_along_all(self._by_numbers, space, place, numbers, rows, found)
            self._raise_mistakes()
        return np.swapaxes(found, 1, 2)


def _rows(x: Floats, leading: tuple[int, ...]) -> Floats:
    """Return vectors as rows that kernels take, with these leading axes in one."""
    size = x.shape[-1]
    if x.shape[:-1] != leading:
        x = np.broadcast_to(x, (*leading, size))
    return np.array(x, order="C").reshape((-1, size))

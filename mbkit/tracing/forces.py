"""Forces of a traced system: replacements of their kernels and callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.autodiff.tape import Number, add
from mbkit.kernels import layout
from mbkit.kernels.layout import SITE
from mbkit.systems.memory.callbacks import callback_address
from mbkit.tracing.memory import as_objects

if TYPE_CHECKING:
    from mbkit.tracing.trace import Trace


def enter_forces(trace: Trace) -> None:
    """Let the forces of a system be called, by every way through their comparisons."""
    from mbkit.kernels.forces import force_pass, python_force

    functions, copies = trace.mirror.functions, trace.copies
    functions[force_pass.force_search.address] = copies.convert(force_pass.force_search.function)
    slots: dict[int, Any] = {}
    for k, force in enumerate(trace.system.forces):
        kernels: Any = force.kernels()
        if kernels is None:
            slot = trace.workspace.force_slots[k]
            address = int(slot.memory.ctypes.data)
            slots[address] = slot
            trace.mirror.put(address, as_objects(slot.memory))
            kernels = python_force
        for kernel, call in ((kernels.evaluate, _acting), (kernels.potential, _storing)):
            if kernel is not None:
                functions[kernel.address] = call(trace, copies.convert(kernel.function))
    for operation in ("evaluate", "potential", "powers"):
        functions[callback_address(operation)] = _calling(trace, slots, operation)


def _acting(trace: Trace, function: Any) -> Callable[..., int]:
    """Return the replacement of the kernel for the efforts and wrenches of a force."""
    record = trace.workspace.record[0]

    def call(space: int, k: int, t: Any, q: Any, v: Any, tau: Any, powers: Any) -> int:

        sites = trace.mirror.records_at(record["sites"], int(record["num_sites"]), SITE)
        parts = [tau, powers, *(sites[s]["W"] for s in range(len(sites)))]
        start = [part.copy() for part in parts]

        def run() -> list[Number]:
            for part, value in zip(parts, start, strict=True):
                part[...] = value
            if function(space, k, t, q, v, tau, powers) != 0:
                raise ValueError("it reports a failure")
            return [number for part in parts for number in part]

        found = iter(_every_way(trace, k, run))
        for part in parts:
            part[...] = [next(found) for _ in part]
        return 0

    return call


def _storing(trace: Trace, function: Any) -> Callable[..., int]:
    """Return the replacement of the kernel for the potential energy of a force."""

    def call(space: int, k: int, t: Any, q: Any, out: Any) -> int:
        def run() -> list[Number]:
            energy = np.zeros(2, dtype=object)
            if function(space, k, t, q, energy) != 0:
                raise ValueError("it reports a failure")
            return [energy[0]]

        out[0] = add(out[0], _every_way(trace, k, run)[0])
        return 0

    return call


def _every_way(trace: Trace, k: int, run: Callable[[], list[Number]]) -> list[Number]:
    name = f"Force {trace.system.forces[k].name!r}"
    found: list[Number] = trace.refusing(name, lambda: trace.tape.every_way(run))
    return found


def _calling(trace: Trace, slots: dict[int, Any], operation: str) -> Callable[[int], int]:
    """Return the replacement of the callbacks of forces in Python."""

    def call(address: int) -> int:
        slot = slots[address]
        memory = trace.mirror.floats_at(address, len(slot.memory))
        q, v, poses, twists, out = slot.arguments
        counts = np.cumsum([q.size, v.size, poses.size, twists.size])
        parts = np.split(memory[layout.OWN_VECTORS :], counts)
        t, force = memory[layout.OWN_TIME], trace.copies.convert(slot.force)
        given = [
            part.reshape(x.shape) for part, x in zip(parts[:4], slot.arguments[:4], strict=True)
        ]
        poses = given[2]
        for b in range(len(poses)):
            poses[b, 3] = [0.0, 0.0, 0.0, 1.0]
        if operation == "evaluate":
            force.evaluate(t, *given, parts[4][: out.size].reshape(out.shape))
        elif operation == "potential":
            parts[4][0] = force.potential_energy(t, given[0], poses)
        else:
            parts[4][:2] = force.powers(t, *given)
        memory[layout.SLOT_STATUS] = layout.DONE
        return 0

    return call

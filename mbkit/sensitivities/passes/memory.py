"""Sums of one pass over the bodies, the parameters that they are by, and its memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, final

import numpy as np

from mbkit.integrators.step_memory import Record
from mbkit.sensitivities.passes.called_constraints import CalledConstraints
from mbkit.sensitivities.passes.called_forces import CalledForces
from mbkit.sensitivities.passes.called_loops import (
    CalledLoops,
    loop_joints_moved,
    places_of_loop_joints,
)
from mbkit.sensitivities.passes.forces import (
    by_closed_forms,
    closed_form_parameters,
    other_forces,
    table_of_bushings,
    table_of_drags,
)
from mbkit.sensitivities.passes.joint_numbers import MovedJoints, joints_moved
from mbkit.sensitivities.passes.places import by_places, places_moved
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.inertia_changes import field_of_inertia, inertial_changes

__all__ = ["PassSums", "no_sums"]


@final
class PassSums:
    """Sums of one pass over the bodies at each of some states, and its memory.

    Attributes
    ----------
    sums : Sums
        Of `mbkit.kernels.vector_jacobian_products.dynamics`.
    memory : Record
        By which kernels find them: PASSES of `mbkit.kernels.sensitivities.closed_passes`.

    Parameters
    ----------
    system : System
        For which `has_pass` holds.
    names : sequence of str
        Parameters.
    called : sequence of int
        Rows of the forces that are called, which the pass takes along.
    """

    def __init__(self, system: System, names: Sequence[str], called: list[int]) -> None:
        from mbkit.kernels.sensitivities import closed_passes as passes

        self._system = system
        self._closed = closed_form_parameters(system, names)
        fields = {name: field_of_inertia(system, name, with_fields=True) for name in names}
        self._fields = {name: each for name, each in fields.items() if each is not None}
        self._forces = CalledForces(system, called, [x for x in names if x not in self._closed])
        self._constraints = CalledConstraints(system, names)
        # forces that the pass does not differentiate depend on poses of bodies
        is_known = other_forces(system, called) is None
        numbers = joints_moved(system, names) if is_known else {}
        moved = places_moved(system, names, numbers) if is_known else {}
        loops = loop_joints_moved(system, names) if is_known else {}
        moved |= places_of_loop_joints(system, loops)
        self._loops = CalledLoops(system, loops)
        self._places = moved
        self._joints = MovedJoints(system, numbers)
        self.sums = sums = _sums(
            system, (self._joints.address, self._forces.address),
            inertial=bool(self._fields), places=bool(moved),
            springs=any(each.kind == "springs" for each in self._closed.values()),
        )  # fmt: skip
        m = system.num_velocity_constraints
        self.memory = Record(
            passes.PASSES, moves=int(self._constraints.over_time), bodies=len(sums.twists), rows=m,
            frames=len(sums.regressor), springs=len(sums.springs), bushings=len(sums.bushings),
            drags=len(sums.drags), floats={"factors": 5 * m}, places=len(sums.places),
            sites=len(sums.sites), twists=sums.twists, momenta=sums.momenta, turns=sums.turns,
            pushes=sums.pushes, origins=sums.origins, regressor=sums.regressor,
            by_springs=sums.springs, table_of_bushings=sums.bushings, table_of_drags=sums.drags,
            by_places=sums.places, by_sites=sums.sites, numbers=sums.numbers, called=sums.called,
            constraints=self._constraints.address, loops=self._loops.address,
            solve_adjoint=passes.solve_adjoint.address,
            multipliers_of=passes.multipliers_of.address,
            back_through_equations=passes.back_through_equations.address,
        )  # fmt: skip

    @property
    def known(self) -> set[str]:
        """The parameters by which it finds derivatives."""
        found = {*self._closed, *self._fields, *self._places}
        found |= self._forces.known | {*self._constraints.by_parameters}
        return found | {*self._joints.by_parameters} | {*self._loops.by_parameters}

    def raise_errors(self) -> None:
        """Raise the exception of a function in Python, if it has ended the pass."""
        self._forces.raise_errors()
        self._constraints.raise_errors()

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Hold the memory of dual numbers, which is the system's."""
        with self._forces.lock, self._constraints.lock, self._loops.lock:
            yield

    def found(self) -> Mapping[str, Floats]:
        """Return derivatives (k,) by name."""
        found = by_closed_forms(self._system, self.sums, self._closed) | self._forces.by_parameters
        found |= self._constraints.by_parameters | by_places(self.sums, self._places)
        for joints in (self._joints, self._loops):
            for name, by_numbers in joints.by_parameters.items():
                found[name] = by_numbers + found.get(name, 0.0)  # and by its places
        if self._fields:
            found |= inertial_changes(self._system, self.sums.regressor[1:], self._fields)
        return found


def _sums(
    system: System, records: tuple[int, int], *, inertial: bool, springs: bool, places: bool
) -> Any:
    """Return the sums of a pass, those that are wanted."""
    from mbkit.kernels.vector_jacobian_products.dynamics import Sums

    rows, arrays = len(system.arrays.bodies), system.arrays
    sites = len(arrays.closure.sites) if places and arrays.closure else 0
    return Sums(
        twists=np.zeros((rows, 6)),
        momenta=np.zeros((rows, 6)),
        turns=np.zeros((rows, 6)),
        pushes=np.zeros((rows, 6)),
        origins=np.zeros((rows, 3)),
        regressor=np.zeros((len(arrays.frames) if inertial else 0, 10)),
        springs=np.zeros((len(arrays.forces.springs) if springs else 0, 9)),
        bushings=table_of_bushings(system),
        drags=table_of_drags(system),
        places=np.zeros((rows if places else 0, 12)),
        sites=np.zeros((sites, 6)),
        numbers=records[0],
        called=records[1],
    )


def no_sums() -> Any:
    """Return the sums where there is no pass."""
    from mbkit.kernels.vector_jacobian_products.dynamics import Sums

    widths = {"twists": 6, "momenta": 6, "turns": 6, "pushes": 6, "origins": 3, "regressor": 10}
    widths |= {"springs": 9, "bushings": 0, "drags": 0, "places": 12, "sites": 6}
    return Sums(
        **{name: np.zeros((0, width)) for name, width in widths.items()}, numbers=0, called=0
    )

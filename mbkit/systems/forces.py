"""The forces of a system as the kernels read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from mbkit.errors import DuplicateNameError, ForceError
from mbkit.forces import Force, check_force_definition, check_force_names
from mbkit.representations import REPRESENTATIONS
from mbkit.systems.callbacks import callback_address

__all__ = ["ForceArrays", "PythonForceSlot", "force_arrays"]


@attrs.frozen(eq=False)
class ForceArrays:
    """The table of forces; see `mbkit.kernels.layout.FORCE`.

    Attributes
    ----------
    forces : tuple of Force
        In the order of the rows.
    table : ndarray of FORCE, or None
        One row each; what it points to is kept alive by `owners`.
    joints, bodies : tuple of ndarray of int
        By force: its joints by their entries of q and v, its bodies by their rows of FRAME.
    parameters : dict of str to ndarray
        By the name of the force: the numbers that its compiled functions read.
    owners : tuple
        Compiled functions.
    """

    forces: tuple[Force, ...] = ()
    table: Any = None
    joints: tuple[Any, ...] = ()
    bodies: tuple[Any, ...] = ()
    parameters: dict[str, Any] = attrs.field(factory=dict)
    owners: tuple[Any, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the forces."""
        return tuple(force.name for force in self.forces)

    @property
    def on_bodies(self) -> bool:
        """Whether a force needs the motion of bodies."""
        return any(force.acts_on == "bodies" or force.bodies for force in self.forces)

    @property
    def calls_python(self) -> bool:
        """Whether a force is written in Python."""
        return any(force.kernels() is None for force in self.forces)


def force_arrays(
    forces: Sequence[Force],
    owner: str,
    positions: Mapping[str, slice],
    velocities: Mapping[str, slice],
    bodies: Sequence[str],
) -> ForceArrays:
    """Return the table of forces.

    Parameters
    ----------
    forces : sequence of Force
        In order.
    owner : str
        Whose they are, for messages.
    positions, velocities : mapping of str to slice
        Where each joint's entries stand.
    bodies : sequence of str
        Names in the order of FRAME, the world first.

    Returns
    -------
    ForceArrays
        The table.

    Raises
    ------
    ForceError, NameUnknownError, DuplicateNameError
        If a force is none, or names what is not there, or has the name of another.
    """
    if not forces:
        return ForceArrays()
    from mbkit.kernels import layout

    sizes = {name: (_size(positions[name]), _size(velocities[name])) for name in velocities}
    known = {name: row for row, name in enumerate(bodies)}
    table = np.zeros(len(forces), layout.FORCE)
    kept: dict[str, Force] = {}
    made: list[tuple[Any, Any, Any, Any]] = []
    for force, row in zip(forces, table, strict=True):
        check_force_definition(force)
        if force.name in kept:
            raise DuplicateNameError(f"There are two forces {force.name!r}; rename one.")
        kept[force.name] = force
        check_force_names(force, owner, sizes, known)
        named = force.joints or tuple(name for name in velocities if sizes[name][1])
        entries = [
            (positions[name].start, sizes[name][0], velocities[name].start, sizes[name][1])
            for name in named
        ]
        made.append(_fill(row, force, entries, [known[name] for name in force.bodies]))
    functions, joints, sites, parameters = zip(*made, strict=True)
    table.flags.writeable = False
    return ForceArrays(
        forces=tuple(forces),
        table=table,
        joints=joints,
        bodies=sites,
        parameters=dict(zip(kept, parameters, strict=True)),
        owners=functions,
    )


def _size(entries: slice) -> int:
    return int(entries.stop - entries.start)


def _fill(row: Any, force: Force, entries: list[Any], sites: list[int]) -> tuple[Any, ...]:
    """Write one row; return what it points to: functions, joints, bodies, parameters."""
    from mbkit.kernels.compile import array_address

    kernels: Any = force.kernels()
    potential: Any = None
    numbers = np.zeros(0)
    if kernels is None:
        from mbkit.kernels.forces import python_force

        kernels = python_force
        potential = python_force.potential if _has_potential(force) else None
    else:
        potential = kernels.potential
        numbers = np.array(force.parameters(), dtype=np.float64).reshape(-1)
        if not np.isfinite(numbers).all():
            raise ForceError(f"Force {force.name!r}: its parameters must be finite, got {numbers}.")
    row["function"] = kernels.evaluate.address
    row["potential"] = 0 if potential is None else potential.address
    # one entry at least: an empty array has no address of its own
    parameters = np.zeros(max(1, numbers.size))
    parameters[: numbers.size] = numbers
    joints = np.array([*entries, (0, 0, 0, 0)], dtype=np.int64).reshape(-1)
    bodies = np.array([*sites, 0], dtype=np.int64)
    row["parameters"], row["num_parameters"] = array_address(parameters), numbers.size
    row["joints"], row["num_joints"] = array_address(joints), len(entries)
    row["bodies"], row["num_bodies"] = array_address(bodies), len(sites)
    return (kernels.evaluate, potential), joints, bodies, parameters


def _has_potential(force: Force) -> bool:
    return type(force).potential_energy is not Force.potential_energy


class PythonForceSlot:
    """The arguments and the answer of one Python force in one workspace.

    Memory: see OWN_* in `mbkit.kernels.layout`.
    """

    def __init__(self, force: Force, joints: Any, bodies: Any) -> None:
        from mbkit.kernels import layout

        entries = joints.reshape(-1, layout.JOINT_SIZE)
        nq = int(entries[:, layout.JOINT_NUM_POSITIONS].sum())
        nv = int(entries[:, layout.JOINT_NUM_VELOCITIES].sum())
        nb = len(bodies) - 1
        on_bodies = force.acts_on == "bodies"
        answers = max(1, 6 * nb if on_bodies else nv)
        start = layout.OWN_VECTORS
        self.force = force
        self.error: BaseException | None = None
        self.memory = np.zeros(start + nq + nv + 22 * nb + answers)
        head = self.memory
        head[layout.OWN_EVALUATE] = callback_address("evaluate")
        head[layout.OWN_POTENTIAL] = callback_address("potential")
        head[layout.OWN_NUM_POSITIONS] = nq
        head[layout.OWN_NUM_VELOCITIES] = nv
        head[layout.OWN_ON_BODIES] = on_bodies
        head[layout.OWN_REPRESENTATION] = list(REPRESENTATIONS).index(force.representation.name)
        head[layout.OWN_POWER] = _power(force)
        parts = np.split(self.memory[start:], np.cumsum([nq, nv, 16 * nb, 6 * nb]))
        parts[2].reshape(nb, 4, 4)[:, 3, 3] = 1.0
        q, v, poses, twists = (_read_only(part) for part in parts[:4])
        out = parts[4][: answers if on_bodies or nv else 0]
        self._scalar = parts[4]
        self._call = force.evaluate
        self._arguments = (
            q, v, poses.reshape(nb, 4, 4), twists.reshape(nb, 6),
            out.reshape(nb, 6) if on_bodies else out,
        )  # fmt: skip
        self._time = layout.OWN_TIME

    def evaluate(self) -> None:
        """Call the force, which writes into the memory itself."""
        answer = self._call(self.memory.item(self._time), *self._arguments)
        if answer is not None:
            raise ForceError(
                f"Force {self.force.name!r}: evaluate must write into 'out', as in out[:] = ..., "
                f"and return nothing; it returned {answer!r}."
            )

    def potential(self) -> None:
        """Write the potential energy."""
        q, _, poses, _, _ = self._arguments
        self._scalar[0] = self.force.potential_energy(self.memory.item(self._time), q, poses)


def _power(force: Force) -> int:
    """Return the entry of powers that is the force's own, -1 where it is conservative."""
    word = force.power or ("conservative" if _has_potential(force) else "supplied")
    return {"dissipated": 0, "supplied": 1, "conservative": -1}[word]


def _read_only(view: Any) -> Any:
    view = view.view()
    view.flags.writeable = False
    return view

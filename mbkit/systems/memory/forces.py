"""The forces of a system as arrays for kernels."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from mbkit.errors import DuplicateNameError, ForceError
from mbkit.forces import Force, ForceKernels, check_force_definition, check_force_names
from mbkit.kernels import layout
from mbkit.representations import Hybrid
from mbkit.systems.memory.callbacks import callback_address, read_only


@attrs.frozen(eq=False)
class ForceArrays:
    """The table of forces; see `mbkit.kernels.layout.FORCE`."""

    forces: tuple[Force, ...] = ()  # forces in the order of the rows
    table: Any = None  # one row each; `owners` keeps alive the objects that it points to
    # by force: its joints by their entries of q and v, its bodies by their rows of SITE
    joints: tuple[Any, ...] = ()
    bodies: tuple[Any, ...] = ()
    sites: Any = ()  # the bodies that forces act on, by their rows of FRAME
    num_moved: int = 0  # number of these, the first ones, that time loops use
    # fields, then the forces that time loops call, then springs between bodies. One longer than
    # that, as `linear` is: an empty array has no address of its own.
    order: Any = ()
    # how many forces are fields on all bodies; how many these and those that are called
    num_fields: int = 0
    num_called: int = 0
    field: Any = None  # (3,): the sum of the fields. [m/s^2]
    linear: Any = None  # linear springs and dampers of joints, which are not called
    # the springs and dampers between points of bodies, which are not called either
    springs: tuple[int, ...] = ()
    # by the name of the force: the numbers that its compiled functions read
    parameters: dict[str, Any] = attrs.field(factory=dict)
    owners: tuple[Any, ...] = ()  # compiled functions

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the forces."""
        return tuple(force.name for force in self.forces)

    @property
    def reading_time(self) -> tuple[int, ...]:
        """Rows of the forces that depend on the time."""
        kernels = [force.kernels() for force in self.forces]
        return tuple(k for k, each in enumerate(kernels) if each is None or each.reads_time)

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
    loop_joints: Collection[str] = (),
    *,
    remedy: str = "",
    acting: Sequence[str] | None = None,
) -> ForceArrays:
    """Return the table of forces.

    `owner` and `remedy`, the end of a sentence, are for messages about joints that have no
    coordinates, `loop_joints`. `positions` and `velocities` are the entries of each joint, `bodies`
    the names in the order of FRAME, the world first; `acting` the joints of a force on joints that
    names none, by default all. ForceError, NameUnknownError or DuplicateNameError if an object is
    no force, names a missing joint or body, or has the name of another force.
    """
    if not forces:
        return ForceArrays()

    joints = {
        name: (positions[name].start, _size(positions[name]), own.start, _size(own))
        for name, own in velocities.items()
    }
    sizes = {name: (nq, nv) for name, (_, nq, _, nv) in joints.items()}
    known = {name: row for row, name in enumerate(bodies)}
    table = np.zeros(len(forces), layout.FORCE)
    kept: dict[str, Force] = {}
    found: list[tuple[Any, Any, list[int]]] = []

    # one list for all forces that name no joints
    moving = [name for name in joints if sizes[name][1]]
    whole = _entries_of(joints, moving)
    along = whole if acting is None else _entries_of(joints, [n for n in acting if sizes[n][1]])
    for force in forces:
        check_force_definition(force)
        if force.name in kept:
            raise DuplicateNameError(f"There are two forces {force.name!r}; rename one.")
        kept[force.name] = force
        check_force_names(force, owner, sizes, known, loop_joints, remedy)
        every = along if force.acts_on == "joints" else whole
        entries = _entries_of(joints, force.joints) if force.joints else every
        kernels: Any = force.kernels()
        on = [known[name] for name in force.bodies]
        if force.acts_on == "bodies" and not on and kernels.field is None:
            on = list(range(1, len(known)))
        found.append((kernels, entries, on))
    sites, num_moved = _site_numbers(found)
    made = [
        _fill(row, force, kernels, entries, [sites[frame] for frame in on])
        for row, force, (kernels, entries, on) in zip(table, forces, found, strict=True)
    ]
    table.flags.writeable = False
    return ForceArrays(
        forces=tuple(forces),
        table=table,
        joints=tuple(each.joints for each in made),
        bodies=tuple(each.bodies for each in made),
        sites=np.array(list(sites), dtype=np.int64),
        num_moved=num_moved,
        **_evaluated(made),
        parameters={name: each.parameters for name, each in zip(kept, made, strict=True)},
        owners=tuple(each.functions for each in made),
    )


def _entries_of(joints: Mapping[str, tuple[int, ...]], names: Iterable[str]) -> Any:
    """Return where the entries of joints stand, as JOINT_SIZE numbers a joint, and one more."""
    rows = [joints[name] for name in names]
    return np.array([*rows, (0, 0, 0, 0)], dtype=np.int64).reshape(-1)


def _site_numbers(found: Sequence[tuple[Any, Any, list[int]]]) -> tuple[dict[int, int], int]:
    """Return the row of SITE of each row of FRAME; how many of them time loops have use for."""
    numbers: dict[int, int] = {}
    num_moved = 0
    for springs in (False, True):
        for kernels, _, on in found:
            if _is_spring(kernels) is springs:
                for frame in on:
                    numbers.setdefault(frame, len(numbers))
        if not springs:
            num_moved = len(numbers)
    return numbers, num_moved


def _is_spring(kernels: ForceKernels | None) -> bool:
    return kernels is not None and kernels.spring


@attrs.frozen
class _Made:
    """Memory of the row of a force, and how time loops evaluate the force."""

    functions: tuple[Any, Any]
    joints: Any
    bodies: Any
    parameters: Any
    linear: tuple[float, float, float] | None = None
    field: tuple[float, float, float] | None = None
    spring: bool = False

    @property
    def is_called(self) -> bool:
        """Whether time loops call it."""
        return self.linear is None and self.field is None and not self.spring


def _evaluated(made: Sequence[_Made]) -> dict[str, Any]:
    """Return which forces are called in which order, and how the others are computed."""
    fields = {k: each.field for k, each in enumerate(made) if each.field is not None}
    called = [k for k, each in enumerate(made) if each.is_called]
    springs = [k for k, each in enumerate(made) if each.spring]
    return {
        "order": np.array([*fields, *called, *springs, 0], dtype=np.int64),
        "num_fields": len(fields),
        "num_called": len(fields) + len(called),
        "springs": tuple(springs),
        "field": np.array([*fields.values(), (0.0, 0.0, 0.0)]).sum(axis=0),
        "linear": _linear_rows([each for each in made if each.linear is not None]),
    }


def _linear_rows(made: Sequence[_Made]) -> Any:
    """Return LINEAR rows, a damper in the row of the spring along its velocity if there is one."""
    rows: list[list[Any]] = []
    springs: dict[int, list[Any]] = {}
    for spring in (True, False):
        for each in made:
            stiffness, rest, damping = each.linear or (0.0, 0.0, 0.0)
            if (stiffness != 0.0) is not spring:
                continue
            at_q, nq, at_v, nv = each.joints[: layout.JOINT_SIZE]
            for j in range(nv):
                if not spring and at_v + j in springs:
                    springs[at_v + j][-1] += damping
                    continue
                # without stiffness the position is read for nothing: any will do
                row = [at_q + j if nq == nv else at_q, at_v + j, stiffness, rest, damping]
                springs.setdefault(at_v + j, row)
                rows.append(row)
    return np.array([*map(tuple, rows), (0, 0, 0.0, 0.0, 0.0)], layout.LINEAR)


def _size(entries: slice) -> int:
    return int(entries.stop - entries.start)


def _fill(row: Any, force: Force, kernels: Any, joints: Any, sites: list[int]) -> _Made:
    """Write one row; return the objects that it points to."""
    from mbkit.kernels.compile import array_address

    numbers = np.zeros(0)
    if kernels is None:
        from mbkit.kernels.forces import python_force

        potential = python_force.potential if _has_potential(force) else None
        kernels = ForceKernels(python_force.evaluate, potential)
    else:
        numbers = np.array(force.parameters(), dtype=np.float64).reshape(-1)
        if not np.isfinite(numbers).all():
            raise ForceError(f"Force {force.name!r}: its parameters must be finite, got {numbers}.")
        if kernels.spring and (len(sites), numbers.size) != (2, 9):
            raise ForceError(
                f"Force {force.name!r}: a spring between points names two bodies and has nine "
                f"parameters, got {len(sites)} and {numbers.size}; correct them, or leave out "
                f"'spring' in its ForceKernels."
            )
    row["function"] = kernels.evaluate.address
    row["potential"] = 0 if kernels.potential is None else kernels.potential.address
    # one entry at least: an empty array has no address of its own
    parameters = np.zeros(max(1, numbers.size))
    parameters[: numbers.size] = numbers
    bodies = np.array([*sites, 0], dtype=np.int64)
    row["parameters"], row["num_parameters"] = array_address(parameters), numbers.size
    row["joints"], row["num_joints"] = array_address(joints), len(joints) // layout.JOINT_SIZE - 1
    row["bodies"], row["num_bodies"] = array_address(bodies), len(sites)
    functions = kernels.evaluate, kernels.potential
    return _Made(
        functions, joints, bodies, parameters, kernels.linear, kernels.field, kernels.spring
    )


def _has_potential(force: Force) -> bool:
    return type(force).potential_energy is not Force.potential_energy


class PythonForceSlot:
    """The arguments and the answer of one Python force in one workspace.

    Attributes
    ----------
    memory : ndarray
        See OWN_* in `mbkit.kernels.layout`.
    arguments : tuple of ndarray
        The arguments of `Force.evaluate` besides t, views of the memory.
    is_converted : bool
        Whether the force is written in a representation that kernels do not know: the memory is
        hybrid then.
    """

    def __init__(self, force: Force, joints: Any, bodies: Any) -> None:

        entries = joints.reshape(-1, layout.JOINT_SIZE)
        nq = int(entries[:, layout.JOINT_NUM_POSITIONS].sum())
        nv = int(entries[:, layout.JOINT_NUM_VELOCITIES].sum())
        nb = len(bodies) - 1
        on_bodies = force.acts_on == "bodies"
        answers = max(layout.OWN_LEAST, 6 * nb if on_bodies else nv)
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
        number = force.representation.kernel_number
        head[layout.OWN_REPRESENTATION] = Hybrid.kernel_number if number is None else number
        head[layout.OWN_POWERS] = callback_address("powers")
        head[layout.OWN_POWER] = _power(force)
        parts = np.split(self.memory[start:], np.cumsum([nq, nv, 16 * nb, 6 * nb]))
        parts[2].reshape(nb, 4, 4)[:, 3, 3] = 1.0
        q, v, poses, twists = (read_only(part) for part in parts[:4])
        out = parts[4][: 6 * nb if on_bodies else nv]
        self._answer = parts[4]
        self.is_converted = number is None and nb > 0
        self._call = self._call_converted if self.is_converted else force.evaluate
        self.arguments = (
            q, v, poses.reshape(nb, 4, 4), twists.reshape(nb, 6),
            out.reshape(nb, 6) if on_bodies else out,
        )  # fmt: skip
        self._time = layout.OWN_TIME

    def evaluate(self) -> None:
        """Call the force, which writes into the memory itself."""
        answer = self._call(self.memory.item(self._time), *self.arguments)
        if answer is not None:
            raise ForceError(
                f"Force {self.force.name!r}: evaluate must write into 'out', as in out[:] = ..., "
                f"and return nothing; it returned {answer!r}."
            )

    def _converted(self, poses: Any, twists: Any) -> tuple[Any, Any]:
        """Return T with V = T V_h, of hybrid twists V_h, and V."""
        own = self.force.representation
        T = own.twist_map(poses) @ Hybrid().inverse_twist_map(poses)
        return T, (T @ twists[..., None])[..., 0]

    def _call_converted(self, t: float, q: Any, v: Any, poses: Any, twists: Any, out: Any) -> Any:
        """Call the force where its representation is none that kernels know."""
        T, own_twists = self._converted(poses, twists)
        evaluate: Any = self.force.evaluate
        answer = evaluate(t, q, v, poses, own_twists, out)
        if self.force.acts_on == "bodies":
            out[:] = (np.swapaxes(T, -1, -2) @ out[..., None])[..., 0]  # W_h = T^T W
        return answer

    def potential(self) -> None:
        """Write the potential energy."""
        q, _, poses, _, _ = self.arguments
        self._answer[0] = self.force.potential_energy(self.memory.item(self._time), q, poses)

    def powers(self) -> None:
        """Write the dissipated and the supplied power."""
        q, v, poses, twists = self.arguments[:4]
        if self.is_converted:
            _, twists = self._converted(poses, twists)
        found = self.force.powers(self.memory.item(self._time), q, v, poses, twists)
        try:
            dissipated, supplied = found
            self._answer[:2] = dissipated, supplied
        except (TypeError, ValueError):
            raise ForceError(
                f"Force {self.force.name!r}: powers must return two numbers, dissipated and "
                f"supplied [W], got {found!r}."
            ) from None


def _power(force: Force) -> int:
    """Return the entry of its power, 2 where it defines both, -1 where it is conservative."""
    if type(force).powers is not Force.powers:
        return 2
    word = force.power or ("conservative" if _has_potential(force) else "supplied")
    return {"dissipated": 0, "supplied": 1, "conservative": -1}[word]

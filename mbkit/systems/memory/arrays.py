"""The frozen arrays of a system, the functions of its joints, the spread of its inertias."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import attrs
import numpy as np

from mbkit.joints import Joint
from mbkit.joints.defaults.own_methods import defines
from mbkit.kernels import layout
from mbkit.systems.memory.closure import ClosureArrays
from mbkit.systems.memory.forces import ForceArrays
from mbkit.systems.memory.joint_pieces import JointPieces
from mbkit.systems.memory.python_joint import python_parameters

__all__ = ["InertiaSpread", "SystemArrays", "fill_table", "padded"]

#: Central moments below this part of the body's largest one about its origin are rounding.
_NOTHING = 1e-12


class InertiaSpread(NamedTuple):
    """The largest inertia of a body by the least, 1 where there are none."""

    # largest ratio of masses, and of central moments of inertia by the square of the length
    ratio: float
    least: int  # rows of BODY with the least and the largest inertia
    greatest: int

    @classmethod
    def of(cls, bodies: Any, length: float) -> Self:
        """Return how far the inertias of a model are apart; those that are zero do not count.

        Moments are compared with forces by the length [m].
        """
        with np.errstate(over="ignore", invalid="ignore"):  # numbers may be as large as there are
            inertias = np.c_[bodies["mass"], _central_moments(bodies) / length**2]
            inertias[0] = 0.0  # the world
            counted = inertias > 0.0
            if not counted.any():
                return cls(1.0, 0, 0)
            least = int(np.argmin(np.where(counted, inertias, np.inf)))
            greatest = int(np.argmax(inertias))
            ratio = float(inertias.flat[greatest] / inertias.flat[least])
        return cls(ratio, least // 4, greatest // 4)


def _central_moments(bodies: Any) -> Any:
    """Return the principal moments of inertia about the centres of mass, (bodies, 3)."""
    mass = bodies["mass"]
    com = bodies["first_moment"] / np.where(mass > 0.0, mass, 1.0)[:, None]
    xx, xy, xz, yy, yz, zz = bodies["moment"].T
    about_origin = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=-1).reshape(-1, 3, 3)
    squares = (com**2).sum(axis=1)[:, None, None] * np.eye(3) - com[:, :, None] * com[:, None]
    central = about_origin - mass[:, None, None] * squares
    moments = np.linalg.eigvalsh(np.where(np.isfinite(central), central, 0.0))
    moments[moments < _NOTHING * (xx + yy + zz)[:, None]] = 0.0
    return moments


_PADDING = 8

_GROUP_OPERATIONS = ("retract", "difference", "dexp_inv")
_OPERATIONS = (
    "motion", "retract", "difference", "dexp_inv", "rates", "constraint_wrenches",
    "configuration_from_pose",
)  # fmt: skip


@attrs.frozen(eq=False)
class SystemArrays:
    """The arrays of a system for kernels; see `mbkit.kernels.layout`."""

    bodies: Any  # the model, world first
    frames: Any  # the user's bodies, world first
    velocity_of_column: Any  # (nv,): index of the velocity of each column; see BODY
    joints: tuple[Joint | None, ...]  # the joint of each row of `bodies`; None for the world
    owners: tuple[Any, ...]  # objects that the addresses in `bodies` point to, kept alive here
    forces: ForceArrays = attrs.field(factory=ForceArrays)  # the table of forces
    closure: ClosureArrays = attrs.field(factory=ClosureArrays)  # the constraints

    @functools.cached_property
    def tree_joints(self) -> Mapping[str, Joint]:
        """The joints that move, by name, in the order of the rows."""
        joints = {joint.name: joint for joint in self.joints if joint is not None}
        return MappingProxyType(joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Name of the joint of each row, "" for the world."""
        return tuple("" if joint is None else joint.name for joint in self.joints)

    def joint_of_position(self, entry: int) -> str:
        """Return the name of the joint that has an entry of q."""
        return self._joint_of("first_position", "num_positions", entry)

    def joint_of_velocity(self, entry: int) -> str:
        """Return the name of the joint that has an entry of v."""
        return self._joint_of("first_velocity", "num_velocities", entry)

    def joint_of_step(self, entry: int) -> str:
        """Return the name of the joint to which an entry of a step belongs."""
        return self._joint_of("first_step", "ndx", entry)

    def _joint_of(self, first: str, count: str, entry: int) -> str:
        rows = self.bodies[1:]
        start = rows[first]
        row = int(np.flatnonzero((start <= entry) & (entry < start + rows[count]))[0])
        return self.joint_names[row + 1]

    def positions_of_row(self, row: int, arguments: dict[str, Any]) -> Any:
        """Return the entries of q that belong to a row of the model, one state a row, (k, nq_i)."""
        body = self.bodies[row]
        start = int(body["first_position"])
        none = np.zeros((0, int(self.bodies[0]["num_positions"])))
        states = np.vstack([none, *(arguments[n] for n in ("q", "q0", "q1") if n in arguments)])
        return states[:, start : start + int(body["num_positions"])]

    @functools.cached_property
    def turning(self) -> Any:
        """Which velocities turn a body, booleans (nv,)."""
        found = np.zeros(int(self.bodies[0]["num_velocities"]), dtype=bool)
        for row, joint in zip(self.bodies, self.joints, strict=True):
            first = int(row["first_velocity"])
            if row["kind"] == layout.SCREW and row["num_velocities"]:
                found[first] = row["rate"] != 0.0
            elif joint is not None and row["num_velocities"]:
                S = np.asarray(joint.motion_subspace(np.asarray(joint.neutral())))
                turns = np.abs(S[:3]).max(axis=0) > 1e-9
                found[first : first + len(turns)] = turns
        return found

    @functools.cached_property
    def joint_pieces(self) -> JointPieces:
        """The joints whose motion subspace changes, as series of higher order need them."""
        return JointPieces.of(self.bodies, self.joints)

    @functools.cached_property
    def has_constant_subspaces(self) -> bool:
        """Whether no joint has a motion subspace that changes with q, seen from its successor."""
        return bool((self.bodies["constant"][1:] != 0).all())

    @functools.cached_property
    def joints_vary(self) -> bool:
        """Whether some motion subspaces change, by dual numbers and not by a closed form."""
        from mbkit.kernels.compile import UNCOMPILED

        rows = self.bodies[1:]
        return not UNCOMPILED and bool(((rows["constant"] == 0) & (rows["product"] == 0)).any())

    @functools.cached_property
    def size_of_columns(self) -> int:
        """How many numbers a caller has for columns: of the mass matrix, or of derivatives."""
        from mbkit.kernels.derivatives import articulated_memory, branches
        from mbkit.kernels.derivatives.second_order.pairs import room_alone

        nq, nv = (int(self.bodies[0][count]) for count in ("num_positions", "num_velocities"))
        ndx = max(1, int(self.bodies[0]["ndx"]))
        return max(
            layout.COLUMN_SIZE * nv,
            articulated_memory.memory_size(self.bodies["parent"], nv, ndx),
            branches.memory_size(len(self.bodies), ndx),
            nq + nv + room_alone(self.bodies),
        )

    @functools.cached_property
    def inertia_spread(self) -> InertiaSpread:
        """By how much the inertias of the bodies differ, in the length of the system."""
        return InertiaSpread.of(self.bodies, self.closure.length)


def fill_table(row: Any, joint: Joint, *, loop: bool = False) -> list[Any]:
    """Write the functions and parameters of a joint that is no screw into its row of BODY.

    The row of a loop joint also gets `configuration_from_pose` and `constraint_wrenches`, or
    general forms of them that call its motion. Returns objects that the row points to, to be kept
    alive with it.
    """
    from mbkit.kernels.compile import array_address
    from mbkit.kernels.joints import screw_product

    kernels: Any = joint.kernels()
    if kernels is None:
        from mbkit.kernels.joints import python_joint

        kernels = python_joint
        parameters = python_parameters(joint)
    else:
        parameters = padded(joint.parameters())
    # a Python joint without a group adds steps: that needs no call
    adds = joint.kernels() is None and (joint.positions_add or type(joint).retract is Joint.retract)
    owners: list[Any] = [parameters]
    for operation in _OPERATIONS:
        function = getattr(kernels, operation, None)
        if operation == "rates" and joint.ndx == joint.num_velocities:
            continue
        if operation == "configuration_from_pose" and not (loop and _locates(joint)):
            continue
        if function is not None and not (adds and operation in _GROUP_OPERATIONS):
            row[operation] = function.address
            owners.append(function)
    v_is_rate_of_q = row["retract"] == row["rates"] == 0
    # by the function itself: access to an address compiles
    is_product = getattr(kernels, "motion", None) is screw_product.motion
    row["product"] = v_is_rate_of_q and is_product
    for entry in ("parameters", "wrench_parameters", "configuration_from_pose_parameters"):
        row[entry] = array_address(parameters)
    if loop and joint.num_velocities:
        owners += _general_forms(row, joint)
    return owners


def _locates(joint: Joint) -> bool:
    """Return whether a joint finds its configuration by a pose, by a method or a compiled form."""
    holonomic = joint.ndx == joint.num_velocities
    return holonomic and (joint.kernels() is not None or defines(joint, "configuration_from_pose"))


def _general_forms(row: Any, joint: Joint) -> list[Any]:
    """Write forms that call the joint's motion where it has none of its own."""
    from mbkit.kernels.compile import array_address
    from mbkit.kernels.joints import general_forms

    sizes = np.array([row["motion"], row["parameters"], row["retract"], 0.0, 0.0])
    sizes[3:] = joint.num_positions, joint.num_velocities
    # An address is below 2^47 on the machines numba knows: a double holds it exactly.
    general = np.concatenate([sizes, np.asarray(joint.neutral(), dtype=np.float64)])
    if row["constraint_wrenches"] == 0:
        row["constraint_wrenches"] = general_forms.wrenches.address
        row["wrench_parameters"] = array_address(general)
    if row["configuration_from_pose"] == 0 and joint.ndx == joint.num_velocities:
        row["configuration_from_pose"] = general_forms.nearest.address
        row["configuration_from_pose_parameters"] = array_address(general)
    return [general, general_forms.wrenches, general_forms.nearest]


def padded(parameters: Any) -> Any:
    """Return parameters for a compiled form, and NaN behind them for one that reads too far."""
    given = np.asarray(parameters, dtype=np.float64)
    return np.concatenate([given, np.full(_PADDING, np.nan)])


def python_joint_rows(joints: Sequence[Joint | None]) -> list[int]:
    """Return the rows whose joint is called back in Python."""
    return [
        i
        for i, joint in enumerate(joints)
        if joint is not None and joint.screw_form() is None and joint.kernels() is None
    ]

"""Blueprint of a system, with its bodies and joints as frozen numbers.

Assembly makes the numbers: places of joints, inertias, split bodies. The bodies and joints of the
model are kept in two places only: by the blueprint, which writes the model's text and assembles
with other numbers, and the joints and constraints in `SystemArrays` and `ClosureArrays`: their
methods know the coordinates, and kernels call those that are written in Python
(docs/decisions/0002-joints-by-address.md lists each use).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.forces import Force
from mbkit.parts import Body
from mbkit.shapes import Shape
from mbkit.solvers import ConstraintSolver
from mbkit.spatial import SpatialInertia
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array

if TYPE_CHECKING:
    from mbkit.joints import Joint
    from mbkit.systems.system import System


@final
@attrs.frozen(eq=False)
class JointPlace:
    """The bodies of a joint, and its frames on them.

    Attributes
    ----------
    predecessor, successor : str
        Names of the bodies.
    near, far : ndarray, shape (4, 4)
        Pose of the joint frame on either body, in the frame of that body.
    canonical_frame : ndarray, shape (4, 4)
        `Joint.canonical_frame`: the frame on the joint's axis, in the joint frame.
    is_weld : bool
        Whether the joint lets its bodies not move at all.
    """

    predecessor: str
    successor: str
    near: FloatArray
    far: FloatArray
    canonical_frame: FloatArray = attrs.field(converter=frozen_array)
    is_weld: bool


@final
@attrs.frozen(eq=False)
class BodyInertias:
    """Inertias of all bodies, in the order of `System.body_names`; of the world zero."""

    masses: FloatArray = attrs.field(converter=frozen_array)  # (bodies + 1,): [kg]
    # (bodies + 1, 3): centres of mass in the frames of the bodies. [m]
    coms: FloatArray = attrs.field(converter=frozen_array)
    # (bodies + 1, 3, 3): in the axes of the bodies. [kg m^2]
    moments_about_com: FloatArray = attrs.field(converter=frozen_array)


@final
@attrs.frozen
class BodyFrame:
    """A named frame on a body."""

    body: str  # the body's name
    pose: FloatArray = attrs.field(eq=EQUAL, hash=False)  # (4, 4): in the frame of the body


@final
@attrs.frozen
class SplitBody:
    """The second part of a split body."""

    whole: str  # the body that it is welded to, with the same frame
    origin: str  # the body that gave its inertia: the same, or one that is fixed to it


@final
@attrs.frozen
class InertiaTransfer:
    """A moment of inertia amount (1 - n n^T), moved from one body of a joint to the other.

    If a joint allows no rotation but one about n, both bodies have the same angular velocity across
    n, and the same rate of the angular momentum of such a moment: the transfer changes no motion.
    It changes the wrench of the joint by that rate.

    Attributes
    ----------
    joint : str
        The joint of the two bodies.
    receiver : str
        The body that gets the moment.
    giver : str
        The body that gives it; the world, which does not rotate, can give any moment.
    amount : float
        [kg m^2]
    receiver_axis, giver_axis : ndarray, shape (3,)
        n in the axes of either body; zero if the joint allows no rotation.
    """

    joint: str
    receiver: str
    giver: str
    amount: float
    receiver_axis: FloatArray = attrs.field(converter=frozen_array, eq=EQUAL, hash=False)
    giver_axis: FloatArray = attrs.field(converter=frozen_array, eq=EQUAL, hash=False)

    def moment(self, axis: FloatArray) -> FloatArray:
        """Return amount (1 - n n^T), (3, 3), in the axes of n."""
        found: FloatArray = self.amount * (np.eye(3) - np.outer(axis, axis))
        return found

    def rate(self, R: FloatArray, w: FloatArray, wdot: FloatArray) -> FloatArray:
        """Return the rate of its angular momentum, (..., 3), in the world.

        R, w and wdot are rotation, angular velocity and acceleration of the receiver in the world.
        """
        n = R @ self.receiver_axis
        # H = w - n (n.w), with n' = w x n, which is across w
        along = (n * w).sum(axis=-1)[..., None]
        changed = (n * wdot).sum(axis=-1)[..., None]
        found: FloatArray = self.amount * (wdot - n * changed - np.cross(w, n) * along)
        return found


#: Function of numbers of a joint by name, to the joint as it is computed and its frame (4, 4).
ComputedJoint: TypeAlias = "Callable[[Mapping[str, ArrayLike]], tuple[Joint, FloatArray]]"


class Blueprint(Protocol):
    """The contract of a blueprint: it writes the model, and makes systems with other numbers."""

    def joint_places(self) -> Mapping[str, JointPlace]:
        """Return the places of all joints of the system, those that close loops included."""
        ...

    def inertias(self, values: Mapping[str, ArrayLike] | None = None) -> BodyInertias:
        """Return the inertias of the bodies of the system, with other numbers if there are any."""
        ...

    def frames(self) -> Mapping[str, BodyFrame]:
        """Return the named frames on the bodies."""
        ...

    def shapes(self) -> tuple[tuple[int, Shape], ...]:
        """Return the shapes of the bodies, each with the row of its body."""
        ...

    @property
    def coordinates(self) -> Any:
        """The strategy that made the system."""
        ...

    @property
    def split_bodies(self) -> Mapping[str, SplitBody]:
        """Split bodies of the system, by name."""
        ...

    @property
    def free_joints(self) -> tuple[str, ...]:
        """Added free joints between the world and the bodies."""
        ...

    @property
    def inertia_transfers(self) -> Mapping[str, InertiaTransfer]:
        """Moments of inertia that bodies have for others, by the joint between."""
        ...

    def relative(self) -> System:
        """Return the system of the same parts in relative coordinates."""
        ...

    @property
    def remedy(self) -> str:
        """How a joint that closes a loop gets coordinates, as the end of a sentence."""
        ...

    @property
    def loop_joints(self) -> tuple[str, ...]:
        """Return the names of the joints that are not in the tree."""
        ...

    def text(self) -> str:
        """Return the text of a model file."""
        ...

    def system(self) -> System:
        """Return the system."""
        ...

    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters by name."""
        ...

    def with_forces(self, forces: tuple[Force, ...]) -> System:
        """Return the system with further forces."""
        ...

    def without_forces(self, names: tuple[str, ...]) -> System:
        """Return the system without some forces."""
        ...

    def locked_positions(
        self, values: Mapping[str, Any]
    ) -> tuple[Mapping[str, FloatArray], tuple[str, ...]]:
        """Return where joints are locked, and the names of the constraints along them alone."""
        ...

    def locked(self, positions: Mapping[str, FloatArray]) -> System:
        """Return the system with fixed joints in place of some."""
        ...

    def with_constraint_solver(self, solver: ConstraintSolver | None) -> System:
        """Return the system with another strategy for its constraints; by itself if None."""
        ...

    def changed(self, values: Mapping[str, ArrayLike], system: System) -> System:
        """Return a system with other numbers; `system` is the one as it is."""
        ...

    def continued(self) -> Blueprint:
        """Return the same, whose systems with other axes measure loops in frames that do not jump.

        A frame on an axis is turned about it by a rule that jumps between half spaces.
        """
        ...

    @property
    def bodies(self) -> Mapping[str, Body]:
        """The bodies of the mechanism as they were given, without the world."""
        ...

    def with_inertias(
        self, inertias: Mapping[str, SpatialInertia], values: Mapping[str, ArrayLike]
    ) -> System:
        """Return the system with other numbers, some bodies having inertias that are given.

        They need not be such as a body has, and no longer follow from dimensions.
        """
        ...

    def loosened(self, places: Sequence[tuple[str, str]]) -> tuple[System, tuple[str, ...]]:
        """Return the system with free joints at places of joints, and their names."""
        ...

    def joint(self, name: str) -> Joint:
        """Return a joint as it was made."""
        ...

    def computed_joint(self, name: str) -> ComputedJoint:
        """Return a function that returns a joint of the tree as computed, and its frame (4, 4).

        With other numbers of the joint, by name; the frame, in the joint frame, stays beside the
        same point of the body.
        """
        ...

    def joint_alone(self, joint: str) -> System:
        """Return a joint alone, with its parameters, between the world and one body."""
        ...

    def with_length(self, length: float) -> System:
        """Return the system with another length, by which moments are scaled in constraints."""
        ...

    def loop_frames_with(self, values: Mapping[str, ArrayLike]) -> tuple[FloatArray, FloatArray]:
        """Return the frames in which loop joints are measured, with other numbers, and the rest.

        (joints, 2, 4, 4): on predecessor and successor, in the frame of the body. The rest (k,) is
        the numbers of the joints themselves that kernels read.
        """
        ...

    def length_by(self, path: str) -> Callable[[ArrayLike], float] | None:
        """Return the length by which moments are scaled in constraints, by a number of the model.

        None where the length does not depend on this number.
        """
        ...

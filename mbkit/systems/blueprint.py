"""The blueprint of a system: access to the data from which it was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import ArrayLike

from mbkit.forces import Force
from mbkit.solvers import ConstraintSolver
from mbkit.systems.frozen_model import BodyInertias, InertiaTransfer, JointPlace, SplitBody

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Blueprint"]


class Blueprint(Protocol):
    """The contract of a blueprint: it writes the model, and makes systems with other numbers."""

    def joint_places(self) -> Mapping[str, JointPlace]:
        """Return the places of all joints of the system, those that close loops included."""
        ...

    def inertias(self) -> BodyInertias:
        """Return the inertias of the bodies of the system."""
        ...

    @property
    def coordinates(self) -> Any:
        """The strategy that made the system."""
        ...

    @property
    def split_bodies(self) -> Mapping[str, SplitBody]:
        """Bodies of the system that are parts of others."""
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
        """Return the system of the same parts in relative coordinates, of a tree of its own."""
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

    def parameters(self) -> Mapping[str, Any]:
        """Return the parameters by name."""
        ...

    def with_forces(self, forces: tuple[Force, ...]) -> System:
        """Return the system with further forces."""
        ...

    def without_forces(self, names: tuple[str, ...]) -> System:
        """Return the system without some forces."""
        ...

    def with_constraint_solver(self, solver: ConstraintSolver | None) -> System:
        """Return the system with another strategy for its constraints; by itself if None."""
        ...

    def changed(self, values: Mapping[str, ArrayLike]) -> System:
        """Return the system with other numbers."""
        ...

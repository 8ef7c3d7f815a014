"""The diagnosis of a system, as a record and in words."""

from __future__ import annotations

import html
from typing import final

import attrs

from mbkit.results.diagnosis_text import text_of
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen(eq=False)
class LoopScrews:
    """The joint screws of one loop, and the motions that they generate.

    Attributes
    ----------
    name : str
        The joint that closes it.
    joints : tuple of str
        All its joints: the one that closes it, then those of the tree from its successor to its
        predecessor.
    span : int
        Dimension of the span of the screws at this configuration.
    dimension : int
        Dimension of the smallest subalgebra of se(3) that holds the screws of all configurations.
        All motions in the loop stay in its group.
    motions : str
        The group, in words.
    """

    name: str
    joints: tuple[str, ...]
    span: int
    dimension: int
    motions: str

    @property
    def num_redundant(self) -> int:
        """Rows that are redundant by structure, in every configuration: 6 less the dimension."""
        return 6 - self.dimension


@final
@attrs.frozen(eq=False)
class Branch:
    """Closed configurations around the one that was diagnosed, on one smooth set.

    Attributes
    ----------
    mobility : int
        Number of its velocities less the rank of the constraints, at its generic configurations.
    q : ndarray, shape (nq,)
        One of these.
    singular_values : ndarray
        Of the scaled Jacobian there, largest first.
    """

    mobility: int
    q: FloatArray
    singular_values: FloatArray


@final
@attrs.frozen(eq=False)
class Reaction:
    """Which part of a joint's wrench the equations of motion determine, and which they do not.

    Attributes
    ----------
    name : str
        A joint in a loop, or another constraint.
    closes_loop : bool
        Whether it is not in the tree.
    num_wrenches : int
        Number of components that it transmits.
    undetermined : tuple of str
        The part that internal stress may add to its wrench, in words, with axes in the world; of a
        constraint that is no joint how many multipliers.
    wrenches : ndarray, shape (k, 6)
        The same, (moment, force) in the world's axes at `point`; [N m] beside [N]. Of a constraint
        that is no joint: none.
    point : ndarray, shape (3,)
        A point of the joint, in the world. [m]
    """

    name: str
    closes_loop: bool
    num_wrenches: int
    undetermined: tuple[str, ...]
    wrenches: FloatArray
    point: FloatArray

    @property
    def is_unique(self) -> bool:
        """Whether the whole wrench is determined."""
        return not self.undetermined


@final
@attrs.frozen(eq=False)
class Diagnosis:
    """Mobility, redundant constraints and reactions of a system at and near a configuration.

    Made by `System.diagnose`; ``print`` shows it.

    Attributes
    ----------
    system : str
        Its name.
    q : ndarray, shape (nq,)
        Closed configuration.
    gap : float
        The largest residual there. [m]
    length : float
        Length by which angles and moments are compared with lengths and forces. [m]
    num_velocities, num_rows : int
        Velocities of the tree without its prescribed joints, and rows of its constraints.
    prescribed : tuple of str
        Joints that are moved by functions of time: here they stand still.
    rank : int
        Rank of the constraint Jacobian, as in the dynamics: rows of which more than 1e-6 of the
        largest is left after elimination of the others.
    singular_values : ndarray
        Of the Jacobian whose rows and translations are divided by the length; angles in radians;
        largest first.
    tolerance : float
        Singular values of about this size and less count as zero.
    loops : tuple of LoopScrews
        One for each joint that closes a loop.
    branches : tuple of Branch
        Smooth sets of closed configurations that meet at q: one at a regular configuration; none
        where no motion was found; eight at the most.
    rows : dict of str to str
        By the name of each row: the component of the joint's wrench that it is at q, in words with
        axes in the world; "" for constraints that are no joints.
    redundant, independent : tuple of str
        Rows that can be dropped at generic configurations, all at once, and those that are left: as
        few as do the same. At a singular posture these depend on each other, too.
    reactions : tuple of Reaction
        Of all joints in loops and other constraints, at q.
    """

    system: str
    q: FloatArray
    gap: float
    length: float
    num_velocities: int
    num_rows: int
    prescribed: tuple[str, ...]
    rank: int
    singular_values: FloatArray
    tolerance: float
    loops: tuple[LoopScrews, ...]
    branches: tuple[Branch, ...]
    rows: dict[str, str]
    redundant: tuple[str, ...]
    independent: tuple[str, ...]
    reactions: tuple[Reaction, ...]

    @property
    def mobility(self) -> int:
        """Number of independent velocities at q."""
        return self.num_velocities - self.rank

    @property
    def generic_mobility(self) -> int:
        """Number of independent velocities at generic configurations, the most of any branch."""
        if self.mobility == 0:
            return 0
        return max((branch.mobility for branch in self.branches), default=0)

    @property
    def gruebler_count(self) -> int:
        """Number of velocities less that of rows, the count of Gruebler and Kutzbach in space."""
        return self.num_velocities - self.num_rows

    @property
    def is_singular(self) -> bool:
        """Whether there are velocities at q that no generic configuration around it has."""
        return self.mobility > self.generic_mobility

    @property
    def structural_redundancy(self) -> int:
        """Rows that are redundant by the structure of their loop, whatever its dimensions are."""
        return sum(loop.num_redundant for loop in self.loops)

    @property
    def unique_reactions(self) -> tuple[str, ...]:
        """Names of the joints whose whole wrench is determined."""
        return tuple(each.name for each in self.reactions if each.is_unique)

    def __str__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(text_of(self))}</pre>"

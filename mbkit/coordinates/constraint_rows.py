"""From a constraint object to its row of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from mbkit.constraints import Constraint, check_constraint_names
from mbkit.constraints.derivatives import ConstraintDerivatives
from mbkit.errors import ConstraintError
from mbkit.kernels.constraints import layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbkit.coordinates.rows import Slices
    from mbkit.parts.parts import Parts


@final
@attrs.frozen(eq=False)
class Made:
    """The objects that the row of a constraint points to."""

    function: Any  # of the form of `mbkit.kernels.constraints.kinds.form`
    parameters: Any  # its numbers
    joints: Any  # the joints it names, and the velocities it has coefficients for
    velocities: Any
    units: tuple[str, ...]  # of its rows
    scales: Any  # factors that convert rows to metres
    derivatives: ConstraintDerivatives | None  # derivatives of a constraint in Python

    def set_scales(self, row: Any, length: float) -> None:
        """Let the row point to its scales, those of angles the length of the system."""
        from mbkit.kernels.compile import array_address

        self.scales[:] = [length if unit == "rad" else 1.0 for unit in self.units]
        row["scales"] = array_address(self.scales)


@final
@attrs.frozen(eq=False)
class KnownNames:
    """Names of joints and bodies that constraints may use.

    Joints by name, numbers of their positions and velocities, bodies with the world first, and for
    messages the owner of them all. `traced` are derivatives of constraints in Python: they serve
    again where a system differs from the one that they were made for in other numbers alone. Like
    those of one system, they stay when a list changes that a constraint holds.
    """

    owner: str
    joints: dict[str, Any]
    sizes: dict[str, tuple[int, int]]
    bodies: dict[str, Any]
    traced: tuple[ConstraintDerivatives, ...]

    def derivatives_of(self, constraint: Constraint, joints: list[Any]) -> ConstraintDerivatives:
        """Return those of a constraint in Python, made before or new."""
        found = (each for each in self.traced if each.are_of(constraint, joints))
        return next(found, None) or ConstraintDerivatives(constraint, joints)

    @classmethod
    def of(cls, parts: Parts, traced: Iterable[ConstraintDerivatives | None]) -> KnownNames:
        """Return the names of joints and bodies of a mechanism."""
        joints = {name: edge.joint for name, edge in parts.joints.items()}
        sizes = {name: (j.num_positions, j.num_velocities) for name, j in joints.items()}
        bodies = {"world": None, **parts.bodies}
        known = tuple(each for each in traced if each is not None)
        return cls(f"mechanism {parts.name!r}", joints, sizes, bodies, known)


def set_constraint(
    row: Any,
    constraint: Constraint,
    known: KnownNames,
    slices: Slices,
) -> Made:
    """Write the row of a constraint, but for its sites and scales; return the objects it points to.

    NameUnknownError or ConstraintError if a joint or body does not exist, or parameters or units
    are wrong.
    """
    from mbkit.kernels.compile import array_address
    from mbkit.kernels.constraints.kinds import python_constraint

    check_constraint_names(constraint, known.owner, known.sizes, known.bodies)
    joints = [known.joints[name] for name in constraint.joints]
    compiled = constraint.kernel()
    numbers = np.zeros(0)
    derivatives = None
    if compiled is None:
        derivatives = known.derivatives_of(constraint, joints)
    else:
        numbers = np.array(constraint.parameters(), dtype=np.float64).reshape(-1)
        if not np.isfinite(numbers).all():
            raise ConstraintError(
                f"Constraint {constraint.name!r}: its parameters must be finite, got {numbers}."
            )
    function: Any = python_constraint.evaluate if compiled is None else compiled
    named = [(slices.positions[name], slices.velocities[name]) for name in constraint.joints]
    entries = [(q.start, q.stop - q.start, v.start, v.stop - v.start) for q, v in named]
    moving = [k for _, v in named for k in range(v.start, v.stop)]
    made = Made(
        function=function,
        # one entry at least: an empty array has no address of its own
        parameters=np.concatenate([numbers, np.zeros(int(numbers.size == 0))]),
        joints=np.array([*entries, (0, 0, 0, 0)], dtype=np.int64).reshape(-1),
        velocities=np.array([*moving, 0], dtype=np.int64),
        units=_checked_units(constraint, joints),
        scales=np.ones(constraint.num_rows),
        derivatives=derivatives,
    )
    row["kind"], row["function"] = layout.TABLE, function.address
    row["num_rows"] = constraint.num_rows
    row["num_position_rows"] = constraint.num_position_rows
    row["parameters"], row["num_parameters"] = array_address(made.parameters), numbers.size
    row["joints"], row["num_joints"] = array_address(made.joints), len(entries)
    row["velocities"], row["num_velocities"] = array_address(made.velocities), len(moving)
    return made


def _checked_units(constraint: Constraint, joints: list[Any]) -> tuple[str, ...]:
    units = tuple(constraint.row_units(joints))
    if len(units) != constraint.num_rows or not {*units} <= {"m", "rad"}:
        raise ConstraintError(
            f"Constraint {constraint.name!r}: row_units must return 'm' or 'rad' for each of its "
            f"{constraint.num_rows} rows, got {units!r}."
        )
    return units

"""Loads of a system: generalized forces, powers and potential energies of its forces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import attrs
from numpy.typing import ArrayLike

from mbkit.errors import ForceError, several
from mbkit.forces import Force
from mbkit.systems.calls.arguments import Floats, times_of
from mbkit.systems.calls.evaluations import FORCE_POTENTIALS, FORCE_POWERS, GENERALIZED_FORCES
from mbkit.systems.energetics import Energetics

__all__ = ["Loads"]


@attrs.frozen(eq=False, slots=False, repr=False)
class Loads(Energetics):
    """Forces of a system; see `System`."""

    @property
    def forces(self) -> tuple[Force, ...]:
        """The forces, in the order in which they were added."""
        return self.arrays.forces.forces

    @property
    def force_names(self) -> tuple[str, ...]:
        """Names of the forces."""
        return self.arrays.forces.names

    def generalized_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        t: ArrayLike = 0.0,
        *,
        out: Floats | None = None,
        on_error: str = "raise",
    ) -> Floats:
        """Return the sum of the generalized forces of all forces of the system.

        `forward_dynamics` and `inverse_dynamics` do not know the forces: give this sum as `tau`, as
        a simulation does.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        t : array_like, shape (...), default 0
            Time. [s]
        out : ndarray, shape (..., nv), optional
            Where to write.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., nv)
            [N m], [N]. Cost: O(bodies + forces).

        Raises
        ------
        NotFiniteError
            If a force is not finite; it is named. What a force in Python raises comes out as it is,
            with a note that names the force.
        """
        return self.evaluator.compute(
            GENERALIZED_FORCES, q, v, _times(t), out=out, on_error=on_error
        )

    def force_powers(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return what each force dissipates and supplies.

        Parameters
        ----------
        q, v, t : array_like, shape (..., nq), (..., nv), (...)
            Configuration, velocity, time.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., forces, 2)
            Dissipated and supplied power, by force in the order of `force_names`. The power of a
            force is -dU/dt minus the first plus the second. [W]
        """
        return self.evaluator.compute(FORCE_POWERS, q, v, _times(t), on_error=on_error)

    def force_potentials(
        self, q: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return the potential energy of each force, zero where it has none.

        `potential_energy` is that of the mechanism's gravity, without these.

        Parameters
        ----------
        q, t : array_like, shape (..., nq), (...)
            Configuration and time.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., forces)
            In the order of `force_names`. [J]
        """
        zero = self.evaluator.zero
        return self.evaluator.compute(FORCE_POTENTIALS, q, zero, _times(t), on_error=on_error)

    def with_forces(self, forces: Iterable[Force]) -> Self:
        """Return a system with further forces; this one stays as it is.

        Parameters
        ----------
        forces : iterable of Force
            Their names must be new.

        Returns
        -------
        System
            Its `model_text` has those that a model file can hold: of mbkit's classes, and of
            classes of yours that hold nothing but numbers, arrays and strings under attrs.

        Raises
        ------
        ForceError, NameUnknownError, DuplicateNameError
            If a force is none, or names what is not there, or has the name of another.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("wheel")
        >>> wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> axle = mech.add_joint(mb.RevoluteJoint("axle"), mech.world, wheel)
        >>> system = mech.assemble().with_forces([mb.JointDamper("oil", "axle", damping=0.5)])
        >>> system.force_names
        ('oil',)
        """
        if isinstance(forces, Force) or not several(forces):
            raise ForceError(f"with_forces takes several forces, got {forces!r}; give a list.")
        return self._blueprint.with_forces(tuple(forces))  # type: ignore[return-value]

    def without_forces(self, names: Iterable[str]) -> Self:
        """Return a system without some of its forces; this one stays as it is.

        Parameters
        ----------
        names : iterable of str
            Of `force_names`.

        Returns
        -------
        System
            With the others, in their order.

        Raises
        ------
        NameUnknownError
            If there is no such force.

        Examples
        --------
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("wheel")
        >>> wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> axle = mech.add_joint(mb.RevoluteJoint("axle"), mech.world, wheel)
        >>> oil = mech.add_force(mb.JointDamper("oil", "axle", damping=0.5))
        >>> mech.assemble().without_forces(["oil"]).force_names
        ()
        """
        if isinstance(names, str):
            raise ForceError(f"without_forces takes several names, got {names!r}; give a list.")
        if not (several(names) and all(isinstance(each, str) for each in names)):
            raise ForceError(f"without_forces takes names of forces, got {names!r}.")
        return self._blueprint.without_forces(tuple(names))  # type: ignore[return-value]


def _times(t: ArrayLike) -> Floats:
    times: Floats = times_of(t, "nan")[..., None]
    return times

"""A configuration in which forces balance."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.errors import NameUnknownError, suggestion
from mbkit.spatial.arrays import FloatArray

#: Stiffness that counts as none, in parts of the largest.
_NEUTRAL = 1e-9

#: Positions that the text of a result names.
_TOLD = 12


@final
@attrs.frozen(eq=False, repr=False)
class Equilibrium:
    """A configuration in which forces balance, or the end of a search for one.

    ``found["elbow"]`` is the position of a joint, or its positions; `System.linearize` takes all of
    it.

    Attributes
    ----------
    name : str
        That of the system.
    q : ndarray, shape (nq,)
        The configuration, with closed loops.
    tau : ndarray, shape (nv,)
        Generalized forces that act in it: those that were given, and those on joints that are
        held; none of prescribed joints. [N m], [N]
    t : float
        Time at which prescribed joints stand. [s]
    found : bool
        Whether the forces balance to 1e-8 of the largest, the weight included.
    reason : str
        "found", or the forces that are left, with their place.
    efforts : dict of str to float
        Efforts that hold the joints that are fixed or prescribed, by velocity. [N m], [N]
    multipliers : ndarray, shape (num_velocity_constraints,)
        Of the constraints; of least norm where they are redundant. [N]
    residual : float
        The largest residual force, in parts of the largest force.
    stiffness : ndarray, shape (m, m)
        Change of the forces by the independent coordinates that are free, with its sign turned; its
        rows and columns are those of `independent`.
    stiffnesses : ndarray, shape (m,)
        Its eigenvalues where all motions count in metres, rotations by the length of the system,
        and motions of all joints have unit length. Of the symmetric part. [N/m]
    independent : tuple of str
        Names of the independent coordinates.
    is_conservative : bool
        Whether the stiffness is symmetric. Where it is not, as with forces that follow a body,
        its signs do not decide on stability: see the modes of `System.linearize`.
    is_singular : bool
        Whether the mechanism has more freedoms in this configuration than around it; the stiffness
        then includes motions that end at once.
    position_names : tuple of str
        Of the entries of q.
    """

    name: str
    q: FloatArray
    tau: FloatArray
    t: float
    found: bool
    reason: str
    efforts: dict[str, float]
    multipliers: FloatArray
    residual: float
    stiffness: FloatArray
    stiffnesses: FloatArray
    independent: tuple[str, ...]
    is_conservative: bool
    is_singular: bool
    position_names: tuple[str, ...]

    def __getitem__(self, name: str) -> float | FloatArray:
        """Return the position of a joint, or of one of its entries, or all that a joint has.

        NameUnknownError if no joint of the tree has this name.
        """
        labels = self.position_names
        if name in labels:
            return float(self.q[labels.index(name)])
        own = [k for k, label in enumerate(labels) if label.rpartition("[")[0] == name]
        if not own:
            raise NameUnknownError(
                f"Equilibrium of '{self.name}': there is no joint {name!r} in q; "
                f"{suggestion(name, labels)}"
            )
        return self.q[own]

    @property
    def positions(self) -> dict[str, float]:
        """The entries of q by name."""
        return dict(zip(self.position_names, self.q.tolist(), strict=True))

    @property
    def stability(self) -> str:
        """Return "stable", "unstable" or "neutral", by the signs of the stiffness.

        "undecided" where no equilibrium was found, the stiffness is not symmetric, or the
        configuration is singular. A mechanism that cannot move is stable.
        """
        if not self.found or not self.is_conservative or self.is_singular:
            return "undecided"
        limit = _NEUTRAL * np.abs(self.stiffnesses).max(initial=0.0)
        if (self.stiffnesses < -limit).any():
            return "unstable"
        return "neutral" if (self.stiffnesses <= limit).any() else "stable"

    def __repr__(self) -> str:
        if not self.found:
            return f"No equilibrium of '{self.name}': {self.reason}"
        signs = self.stiffnesses
        limit = _NEUTRAL * np.abs(signs).max(initial=0.0)
        counts = int((signs > limit).sum()), int((np.abs(signs) <= limit).sum())
        told = f"{counts[0]} positive, {counts[1]} zero, {len(signs) - sum(counts)} negative"
        lines = [
            f"Equilibrium of '{self.name}', {self.stability}"
            + (", in a singular configuration" if self.is_singular else ""),
            f"  stiffnesses: {told if len(signs) else 'none, it cannot move'}",
            *(f"  {name} = {_told(value)}" for name, value in [*self.positions.items()][:_TOLD]),
            *([f"  and {len(self.q) - _TOLD} more positions"] if len(self.q) > _TOLD else []),
            *(f"  '{name}' is held by {value:.6g}" for name, value in self.efforts.items()),
            f"  residual force: {self.residual:.1e} of the largest force",
        ]
        return "\n".join(lines)


def _told(x: float) -> str:
    """Return a number of a position as text, zero where it is rounding."""
    return f"{x if abs(x) > 1e-12 else 0.0:.6g}"

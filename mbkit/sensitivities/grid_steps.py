"""Steps of whole size, and branches from them: to output times and to recorded events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from mbkit.sensitivities.linear_steps import LinearSteps
from mbkit.sensitivities.passages import Branch, Found, Seeds
from mbkit.systems.calls.arguments import Floats

__all__ = ["GridSteps"]


@final
@attrs.frozen(eq=False)
class GridSteps:
    """N steps: a `Piece`.

    Attributes
    ----------
    steps : LinearSteps
        From the beginning of the first to the end of the last.
    rows : sequence of N + 1 sequences
        Rows of the result that are the states where steps begin and end.
    branches : mapping of int to list of Branch
        Of some of the steps, by their number, the first being 0.
    width : int
        Entries of q and v.
    """

    steps: LinearSteps
    rows: Sequence[Sequence[int]]
    branches: Mapping[int, list[Branch]]
    width: int

    def forward(self, x: Floats, names: Sequence[str], found: Found) -> Floats:
        """See `Piece`."""
        A, B = self.steps.matrices(), self.steps.by_inputs(names)
        changes = np.concatenate([B[name] for name in names], axis=-1)
        still = np.zeros(x.shape[1])
        for k in range(len(A)):
            for branch in self.branches.get(k, ()):
                branch.forward(x, still, names, found)
            x = A[k] @ x + changes[k]
            found.rows[list(self.rows[k + 1])] = x[: self.width]
        return x

    def reverse(
        self, adjoint: Floats, seeds: Seeds, names: Sequence[str]
    ) -> tuple[Floats, Mapping[str, Floats]]:
        """See `Piece`."""
        added = np.zeros((len(self.rows) - 1, adjoint.size))
        further: dict[str, Any] = dict.fromkeys(names, 0.0)
        for k, rows in enumerate(self.rows[:-1]):
            added[k, : self.width] = seeds.rows[list(rows)].sum(axis=0)
        for k, branches in self.branches.items():
            for branch in branches:
                more, _, found = branch.reverse(seeds, names, moving=False)
                added[k] += more
                for name, part in found.items():
                    further[name] = further[name] + part
        adjoint, found = self.steps.reverse(adjoint, added, names)
        return adjoint, {name: part + further[name] for name, part in found.items()}

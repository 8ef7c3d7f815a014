"""Steps of whole size, and branches from them: to output times and to recorded events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import attrs
import numpy as np

from mbkit.sensitivities.event_steps import Branch, Found, Seeds
from mbkit.sensitivities.linear_steps import Inputs, LinearSteps
from mbkit.systems.calls.arguments import Floats

__all__ = ["GridSteps"]


@final
@attrs.frozen(eq=False)
class GridSteps:
    """N steps: a `Piece`.

    Attributes
    ----------
    first : int
        Number of the first of them.
    steps : LinearSteps
        From the beginning of the first to the end of the last.
    rows : sequence of N + 1 sequences
        Rows of the result that are the states where steps begin and end.
    branches : mapping of int to list of Branch
        Of some of the steps, by their number, the first being 0.
    width : int
        Entries of q and v.
    """

    first: int
    steps: LinearSteps
    rows: Sequence[Sequence[int]]
    branches: Mapping[int, list[Branch]]
    width: int

    def forward(self, x: Floats, inputs: Inputs, found: Found) -> Floats:
        """See `Piece`."""
        A, B = self.steps.matrices(), self.steps.by_inputs(inputs.names)
        changes: Floats | None = None
        if not inputs.interval:
            changes = np.concatenate([B[name] for name in inputs.names], axis=-1)
        still = np.zeros(x.shape[1])
        for k in range(len(A)):
            for branch in self.branches.get(k, ()):
                branch.forward(x, still, inputs, found)
            x = A[k] @ x
            if changes is None:
                inputs.add(x, {name: each[k] for name, each in B.items()}, self.first + k)
            else:
                x += changes[k]
            found.rows[list(self.rows[k + 1])] = x[: self.width]
        return x

    def reverse(
        self, adjoint: Floats, seeds: Seeds, inputs: Inputs, total: dict[str, Floats]
    ) -> Floats:
        """See `Piece`."""
        count = len(self.rows) - 1
        added = np.zeros((count, adjoint.size))
        saved = [(k, row) for k, rows in enumerate(self.rows[:-1]) for row in rows]
        steps, numbers = np.array(saved, dtype=np.intp).reshape((-1, 2)).T
        np.add.at(added[:, : self.width], steps, seeds.rows[numbers])
        for k, branches in self.branches.items():
            for branch in branches:
                added[k] += branch.reverse(seeds, inputs, total)[0]
        adjoint, found = self.steps.reverse(adjoint, added, inputs.names)
        inputs.collect(total, found, self.first, count)
        return adjoint

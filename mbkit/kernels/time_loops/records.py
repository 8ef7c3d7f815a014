"""The records that all time loops share: the state, the grid of its steps, the saved rows."""

from typing import NamedTuple

from mbkit.kernels.compile import float64, floats, int64, integers, matrix, typed


class State(NamedTuple):
    """A state: q (nq,), v (nv,), and the work dissipated and supplied since the start."""

    q: floats
    v: floats
    work: floats


class Grid(NamedTuple):
    """Times t0 + k h, and which steps between them a call takes: `steps` from `first` on."""

    t0: float64
    h: float64
    first: int64
    steps: int64
    save_every: int64  # steps between saved states


class Step(NamedTuple):
    """A step: when it begins, its size, when it ends."""

    t: float64
    h: float64
    end: float64


class KeptSamples(NamedTuple):
    """Beside the rows: states after so many steps since the start, in ascending order."""

    steps: integers
    q: matrix
    v: matrix
    work: matrix


class Saved(NamedTuple):
    """How far a call has come, and the states that it has saved, one a row.

    The multipliers have no columns where nobody keeps them.
    """

    counts: integers  # steps taken, rows written, samples written
    t: floats
    q: matrix
    v: matrix
    work: matrix
    multipliers: matrix
    sampled: typed(KeptSamples)

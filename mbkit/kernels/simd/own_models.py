"""Samples side by side of which each has a model of its own: masses, gravity, numbers of forces.

Numbers are those of `mbkit.kernels.lanes`. What differs is what lies at the addresses in `SPACE`:
lanes where the model has masses, springs and parameters of forces. How joints move is there once,
in doubles, so that kernels branch on it as they do for one sample.
"""

from __future__ import annotations

import functools
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.extending import register_model
from numba.np.numpy_support import from_dtype

from mbkit.kernels.lanes import (
    ADDRESSES,
    LINE,
    Lanes,
    LanesAddress,
    LanesRecord,
    with_addresses,
)
from mbkit.kernels.layout import BODY, FORCE, SPACE

#: The numbers of a body that each sample has for itself; its frame may follow its centre of mass
#: along the axis of its joint.
OF_BODIES = ("p", "mass", "first_moment", "moment", "gravity")

#: The tables in `SPACE` with numbers that each sample has for itself.
TABLES = frozenset({"bodies", "frames", "linear", "springs", "force_table"})


class OwnModels(LanesAddress):
    """The address of a SPACE with lanes, or of a record, where models are in lanes too."""

    def record(self, kind: types.Record) -> types.Record:
        """Return the record with addresses, or with models in lanes, that replaces a record."""
        if kind == from_dtype(SPACE):
            return with_addresses(kind, self, ADDRESSES | TABLES)
        if kind == from_dtype(FORCE):
            return with_addresses(kind, self, frozenset({"parameters"}))
        if kind == from_dtype(BODY):
            return record_of_body(self.number)
        return super().record(kind)


@register_model(OwnModels)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: OwnModels) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@functools.cache
def record_of_body(lanes: Lanes) -> LanesRecord:
    """Return the record of a body with lanes for what is its own, behind them the rest as it is."""
    kind: Any = from_dtype(BODY)
    fields: Any = []
    offset = 0
    for own in (True, False):
        for name, field in kind.members:
            if (name in OF_BODIES) is not own:
                continue
            nested = isinstance(field, types.NestedArray)
            found = LanesAddress(lanes) if name == "floating" else field
            if own:
                found = types.NestedArray(lanes, field.shape) if nested else lanes
            fields.append((name, {"type": found, "offset": offset}))
            offset += 8 * (field.nitems if nested else 1) * (lanes.width if own else 1)
    return LanesRecord(fields, -(-offset // LINE) * LINE, True)

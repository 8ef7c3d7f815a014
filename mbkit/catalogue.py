"""Tables of mbkit's own classes, by the names that files have for them.

A family of classes (joints, forces, constraints, integrators, representations) is listed once, in
the module ``built_in`` of its package, which imports each class under its own name and nothing
besides. The public names of `mbkit` and the tables by name follow from this list.
"""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

#: Before a capital that begins a word: RATTLie and BLieDF are one word each.
_NEXT_WORD = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")


def file_name(kind: type, contract: type[Any]) -> str:
    """Return the name in files of a class of mbkit: its words without that of its contract.

    Examples
    --------
    >>> from mbkit import joints
    >>> file_name(joints.HelicalPlanarJoint, joints.Joint)
    'helical_planar'
    """
    return _NEXT_WORD.sub("_", kind.__name__.removesuffix(contract.__name__)).lower()


def by_name(built_in: ModuleType, contract: type[Any]) -> dict[str, Any]:
    """Return the classes of a contract that a module lists, by their names in files."""
    return {
        file_name(kind, contract): kind
        for kind in vars(built_in).values()
        if isinstance(kind, type) and issubclass(kind, contract)
    }

"""Places in a time step at which an operation is done: by algorithm, and by how often."""

from __future__ import annotations

import functools
import pathlib
from types import CodeType, FrameType
from typing import NamedTuple

__all__ = ["ALGORITHMS", "Place", "place_of"]

#: The parts of a run whose operations are counted separately.
ALGORITHMS = ("dynamics", "constraints", "matrices", "steps")

#: Folders and files of `mbkit.kernels`, by algorithm; code in none of them is "steps".
_PARTS = {
    **dict.fromkeys(
        ("recursions", "body_fixed", "spatial", "hybrid", "mixed", "joints", "forces"), "dynamics"
    ),
    "constraints": "constraints",
    "configuration.py": "steps",  # which calls joints
}

#: Folders of the methods that have a Newton iteration, with that of the factors of its matrix; and
#: the files of this matrix alone.
_WITH_NEWTON = ("implicit_integrators", "linear_algebra", "variational_integrators")
_MATRIX_FILES = (
    "implicit_integrators/newton_matrix.py",
    "implicit_integrators/newton_block_matrix.py",
)

#: Functions that make and factorise the matrix of Newton's method.
_MATRICES = ("newton_matrix", "factorised", "factorise", "factorise_blocks")

#: Files in which all is done once an evaluation: the equations of motion, Newton's iterations.
_EVALUATIONS = (
    "equations_of_motion.py",
    "implicit_integrators/newton.py",
    "variational_integrators/newton.py",
)


class Place(NamedTuple):
    """The algorithm that an operation belongs to, and how often it is repeated.

    Attributes
    ----------
    algorithm : str
        One of `ALGORITHMS`.
    each : str
        Its repetition: "evaluations", "factorisations" or "steps", as runs count them.
    """

    algorithm: str
    each: str


def place_of(frame: FrameType | None) -> Place:
    """Return the place of an operation: that of the outermost of its calls that has one."""
    algorithm, each = "steps", "steps"
    inner = ""
    while frame is not None:
        part, what, name = _told(frame.f_code)
        algorithm = part or algorithm
        if what == "factorisations" or (name == "newton" and inner == "factorised"):
            each = "factorisations"
        elif what and each != "factorisations":
            each = what
        inner = "factorised" if name == "factorised" else inner
        frame = frame.f_back
    return Place(algorithm, each)


@functools.cache
def _told(code: CodeType) -> tuple[str, str, str]:
    """Return algorithm and repetition of a function, empty if none, and its name."""
    path = pathlib.PurePath(code.co_filename)
    name = code.co_name
    if "kernels" not in path.parts:
        return "", "", name
    below = path.parts[len(path.parts) - path.parts[::-1].index("kernels") :]
    file = "/".join(below)
    matrices = name in _MATRICES and below[0] in _WITH_NEWTON
    if file in _MATRIX_FILES or matrices:
        return "matrices", "" if name == "factorised" else "factorisations", name
    residual = file == "implicit_integrators/residual.py" and name == "evaluate"
    once = residual or file in _EVALUATIONS
    return _PARTS.get(below[0], ""), "evaluations" if once else "", name

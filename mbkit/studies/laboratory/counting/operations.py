"""Operations of the recursions, counted by running them on numbers that count.

That needs kernels that Python runs: `operations` starts a process of its own, with
``NUMBA_DISABLE_JIT=1``, which runs this module.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.coordinates import RelativeCoordinates
from mbkit.errors import MbkitError, UsageError, check_choice, check_kind, several
from mbkit.io.toml.loading import parse_model
from mbkit.model import Mechanism
from mbkit.studies.laboratory.counting.counted import Counted, counting
from mbkit.studies.laboratory.counting.uncompiled import answer_of
from mbkit.studies.laboratory.factors import representations_of
from mbkit.studies.laboratory.findings.table import Table

__all__ = ["ALGORITHMS", "KINDS", "counts_of", "operations"]

#: The names of the counts, and the operations.
ALGORITHMS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
KINDS = ("multiplications", "additions", "divisions", "roots", "angles")


def operations(
    mechanism: Mechanism,
    *,
    representations: Any = "all",
    body_frames: str = "joint",
    algorithms: Sequence[str] = ALGORITHMS,
) -> Table:
    """Return how many operations the recursions of a tree take, in each representation.

    They are counted as they are executed, also products with entries that happen to be 0 or 1;
    signs, comparisons and copies are not counted. Of a closed mechanism they are those of its tree,
    without forces and constraints.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism whose operations are counted; a model file can hold it.
    representations : as of `compare`
        Of mbkit itself.
    body_frames : {"joint", "user", "com", "world"}
        Frames in which the recursions run.
    algorithms : sequence of str
        Of "inverse_dynamics", "forward_dynamics" and "mass_matrix".

    Returns
    -------
    Table
        A row a representation and algorithm; the columns are ``multiplications``, ``additions``,
        ``divisions``, ``roots`` and ``angles``: sine, cosine and arctangent.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    >>> rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.from_com(1.0, (0, 0, -0.5))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    >>> table = mb.studies.operations(mech, algorithms=["inverse_dynamics"])
    >>> [row["angles"] for row in table]  # one sine and one cosine
    [2, 2, 2, 2]
    """
    check_kind("mechanism", mechanism, Mechanism, "an mbkit.Mechanism")
    names = list(representations_of(representations))
    algorithms = checked_algorithms(algorithms)
    found = counts_of([mechanism], names, body_frames, algorithms)[0]
    units = dict.fromkeys(("representation", "algorithm", *KINDS), "")
    return Table(found, units, ("representation", "algorithm"))


def checked_algorithms(given: Any) -> list[str]:
    """Return a list of names of algorithms; UsageError unless it is one."""
    if isinstance(given, str) or not several(given):
        raise UsageError(f"algorithms must be a list of names, got {given!r}.")
    names = list(given)
    for name in names:
        check_choice("algorithms", name, ALGORITHMS)
    return names


def counts_of(
    mechanisms: Sequence[Mechanism],
    representations: Sequence[str],
    body_frames: str,
    algorithms: Sequence[str],
) -> list[list[dict[str, Any]]]:
    """Return rows of operations for each mechanism, counted in a process of its own."""
    models = [
        each.assemble(RelativeCoordinates(body_frames=body_frames)).model_text
        for each in mechanisms
    ]
    given = {
        "models": models, "representations": list(representations), "body_frames": body_frames,
        "algorithms": list(algorithms),
    }  # fmt: skip
    answer, reason = answer_of(__name__, json.dumps(given).encode())
    if answer is None:
        raise UsageError(f"operations: '{mechanisms[0].name}' cannot be counted: {reason}")
    rows: list[list[dict[str, Any]]] = json.loads(answer)
    return rows


def _counted(text: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a model; kernels are run by Python here."""
    from mbkit.studies.laboratory.counting.number_types import OtherNumbers

    system = parse_model(text).assemble(RelativeCoordinates(body_frames=given["body_frames"]))
    rng = np.random.default_rng(0)
    q = system.retract(system.reference_configuration(), rng.uniform(-1.0, 1.0, system.ndx))
    numbers = OtherNumbers(system, Counted)
    v, x = (numbers.vector(each) for each in rng.uniform(-1.0, 1.0, (2, system.nv)))
    q = numbers.vector(q)
    rows = []
    for name, representation in representations_of(given["representations"]).items():
        for algorithm in given["algorithms"]:
            size = system.nv ** (2 if algorithm == "mass_matrix" else 1)
            with counting() as counts:
                numbers.call(representation.kernel(algorithm), q, v, x, size)
            rows.append({"representation": name, "algorithm": algorithm,
                         **{kind: counts[kind] for kind in KINDS}})  # fmt: skip
    return rows


def main() -> None:
    """Read models from the standard input, write their operations."""
    given = json.load(sys.stdin)
    try:
        found = [_counted(text, given) for text in given["models"]]
    except MbkitError as error:
        sys.exit(str(error))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()

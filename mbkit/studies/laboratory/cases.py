"""Cases of a study: one choice of each factor, and the product of all of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from mbkit.coordinates import AbsoluteCoordinates, RelativeCoordinates
from mbkit.coordinates.body_frames import BODY_FRAMES
from mbkit.errors import UsageError, check_choice, listed, several
from mbkit.integrators import Integrator
from mbkit.model import Mechanism
from mbkit.model.joint_variants import with_joint_coordinates
from mbkit.solvers import ConstraintSolver
from mbkit.studies.laboratory import factors
from mbkit.systems import System

__all__ = ["FACTORS", "Case", "cases_of", "cuts_of", "frames_of", "steps_of"]

#: The columns of choices, in the order of tables.
FACTORS = (
    "mechanism", "joint_coordinates", "coordinates", "representation", "body_frames", "loop_joints",
    "integrator", "constraint_solver", "stabilisation", "h",
)  # fmt: skip


@attrs.frozen(eq=False)
class Case:
    """A choice of each factor.

    Attributes
    ----------
    choices : dict
        The labels of the chosen variants, by factor, and the number `h`.
    mechanism : Mechanism
        The model.
    coordinates : RelativeCoordinates or AbsoluteCoordinates
        With their representation, frames and cut.
    integrator : Integrator
        The method.
    h : float
        Step. [s]
    constraint_solver : ConstraintSolver or None
        None: that of the assembled system.
    stabilisation : Projection, Baumgarte or None
        Not used for trees, nor by integrators that keep constraints.
    """

    choices: Mapping[str, Any]
    mechanism: Mechanism
    coordinates: AbsoluteCoordinates | RelativeCoordinates
    integrator: Integrator
    h: float
    constraint_solver: ConstraintSolver | None
    stabilisation: Any

    def assemble(self) -> System:
        """Return the system of the case."""
        system = self.mechanism.assemble(self.coordinates)
        if self.constraint_solver is None or not system.num_velocity_constraints:
            return system
        return system.with_constraint_solver(self.constraint_solver)

    @property
    def label(self) -> str:
        """The choices of the case, in one line."""
        return ", ".join(f"{name} {value}" for name, value in self.choices.items())


def cases_of(
    mechanisms: Mapping[str, Mechanism],
    *,
    joint_coordinates: Any = None,
    coordinates: Any = "relative",
    representations: Any = None,
    body_frames: Any = None,
    loop_joints: Any = None,
    integrators: Any = "rkmk4",
    constraint_solvers: Any = "automatic",
    stabilisations: Any = "projection",
    h: Any = 1e-3,
) -> list[Case]:
    """Return the product of all factors.

    `joint_coordinates`, `representations`, `body_frames` and `loop_joints` are of relative
    coordinates; absolute ones are there once. Stabilisations are there once for an integrator that
    keeps constraints itself.
    """
    kinds = factors.joint_coordinates_of(joint_coordinates)
    variants = {name: _in_kinds(own, kinds) for name, own in mechanisms.items()}
    chosen = factors.coordinates_of(coordinates)
    methods = factors.integrators_of(integrators)
    solvers = factors.solvers_of(constraint_solvers)
    stabilisers = factors.stabilisations_of(stabilisations)
    steps = steps_of(h)
    relative = {
        "representation": None if representations is None
        else factors.representations_of(representations),
        "body_frames": frames_of(body_frames),
        "loop_joints": cuts_of(loop_joints),
    }  # fmt: skip
    made = []
    for own, (name, coords) in itertools.product(mechanisms, chosen.items()):
        is_relative = isinstance(coords, RelativeCoordinates)
        moving = variants[own] if is_relative else {"": mechanisms[own]}
        for (kind, mechanism), (labels, variant) in itertools.product(
            moving.items(), _variants(coords, relative)
        ):
            for method, solver, step in itertools.product(methods.items(), solvers.items(), steps):
                kept = method[1].keeps_constraints
                for label, stabilisation in list(stabilisers.items())[: 1 if kept else None]:
                    choices = {
                        "mechanism": own, "joint_coordinates": kind, "coordinates": name, **labels,
                        "integrator": method[0], "constraint_solver": solver[0],
                        "stabilisation": "integrator" if kept else label, "h": step,
                    }  # fmt: skip
                    made.append(
                        Case(
                            choices, mechanism, variant, method[1], step, solver[1],
                            stabilisation,
                        )
                    )  # fmt: skip
    return made


def _in_kinds(mechanism: Mechanism, kinds: tuple[str, ...] | None) -> dict[str, Mechanism]:
    """Return a mechanism with joint coordinates of each kind, by label; itself where none is given.

    UsageError where no joint has coordinates of any of them.
    """
    if kinds is None:
        return {"": mechanism}
    made = {kind: with_joint_coordinates(mechanism, kind) for kind in kinds}
    found = {kind: each for kind, each in made.items() if each is not None}
    if not found:
        raise UsageError(
            f"joint_coordinates: no joint of '{mechanism.name}' has coordinates of "
            f"{listed(kinds)}; see the kinds of coordinates in docs/joints.md."
        )
    return found


def steps_of(h: Any) -> list[float]:
    """Return step sizes, largest first; UsageError if they are none."""
    try:
        steps = [float(each) for each in (h if hasattr(h, "__iter__") else [h])]
    except (TypeError, ValueError, OverflowError):
        steps = []
    if not steps or not all(0.0 < each < float("inf") for each in steps):
        raise UsageError(f"h must be one or several positive steps in seconds, got {h!r}.")
    return sorted(set(steps), reverse=True)


def frames_of(given: Any) -> dict[str, str] | None:
    """Return frames of recursions by label; UsageError if there are none of a name."""
    if given is None:
        return None
    if isinstance(given, str):
        names = list(BODY_FRAMES) if given == "all" else [given]
    elif several(given):
        names = list(given)
    else:
        raise UsageError(f"body_frames must be a name, or several, got {given!r}.")
    for name in names:
        check_choice("body_frames", name, BODY_FRAMES)
    return {name: name for name in names}


def cuts_of(given: Any) -> dict[str, tuple[str, ...]] | None:
    """Return loop joints by label: a name, several of them, or a list or mapping of such."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return {str(label): _joints(each) for label, each in given.items()}
    if not several(given) or isinstance(given, bytes):
        raise UsageError(f"loop_joints must be names of joints, or lists of them, got {given!r}.")
    cuts = [given] if isinstance(given, str) else list(given)
    return {" ".join(_joints(each)): _joints(each) for each in cuts}


def _joints(cut: Any) -> tuple[str, ...]:
    names = (cut,) if isinstance(cut, str) or not several(cut) else tuple(cut)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"loop_joints: a cut is a name of a joint or a list of names, got {cut!r}; give a list "
            "of cuts, such as [['ankle'], ['knee']]."
        )
    return names


def _variants(
    coordinates: AbsoluteCoordinates | RelativeCoordinates, relative: Mapping[str, Any]
) -> Iterable[tuple[dict[str, str], Any]]:
    """Return the variants of coordinates, with labels of the factors of relative ones."""
    if isinstance(coordinates, AbsoluteCoordinates):
        own = {"representation": coordinates.representation.name, "body_frames": ""}
        return [({**own, "loop_joints": "all joints"}, coordinates)]
    given = {
        "representation": coordinates.representation, "body_frames": coordinates.body_frames,
        "loop_joints": coordinates.loop_joints,
    }  # fmt: skip
    labels = {
        "representation": factors.label_of(given["representation"]),
        "body_frames": str(given["body_frames"]),
        "loop_joints": "automatic" if given["loop_joints"] is None
        else " ".join(given["loop_joints"]),  # type: ignore[arg-type]
    }  # fmt: skip
    options = [relative[name] or {labels[name]: given[name]} for name in labels]
    return [
        (dict(zip(labels, names, strict=True)), attrs.evolve(coordinates, **dict(zip(
            ("representation", "body_frames", "loop_joints"),
            (option[name] for option, name in zip(options, names, strict=True)), strict=True,
        ))))
        for names in itertools.product(*options)
    ]  # fmt: skip

"""The function that continues a run from its directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.coordinates import RelativeCoordinates
from mbkit.coordinates.body_frames import BODY_FRAMES
from mbkit.errors import (
    ModelFileError,
    NameUnknownError,
    ResultFileError,
    UsageError,
    check_kind,
)
from mbkit.integrators.description import from_description as integrator_of
from mbkit.io.results.run_directory import RunDirectory
from mbkit.io.results.run_result import open_run
from mbkit.io.text_file import checked_place
from mbkit.io.toml.loading import parse_model
from mbkit.simulation.long_runs.differences import differences
from mbkit.simulation.long_runs.identity import environment, system_digest
from mbkit.simulation.long_runs.long_run import go_on, recorder_for
from mbkit.simulation.long_runs.recording import new_buffer
from mbkit.simulation.outputs.by_name import Outputs, outputs_again
from mbkit.simulation.preparation import prepare, versions
from mbkit.simulation.stabilisation import from_description as stabilisation_of
from mbkit.simulation.stepping.failed_step import explain
from mbkit.solvers import described
from mbkit.solvers import from_description as solver_of
from mbkit.systems import System

if TYPE_CHECKING:
    from mbkit.events import Event
    from mbkit.forces import Force
    from mbkit.integrators import Integrator
    from mbkit.results import Result
    from mbkit.simulation.preparation import Prepared
    from mbkit.solvers import ConstraintSolver


def resume(
    path: str | os.PathLike[str],
    *,
    system: System | None = None,
    tau: ArrayLike | Callable[[float, Any, Any], ArrayLike] | None = None,
    forces: Iterable[Force] = (),
    events: Iterable[Event] = (),
    integrator: Integrator | None = None,
    outputs: Outputs | None = None,
    other_versions: bool = False,
    progress: bool = True,
) -> Result:
    """Continue a run that was interrupted; the result is that of an uninterrupted one, bit for bit.

    Parameters
    ----------
    path : str or path
        The directory that was given to `simulate` as `output`.
    system : System, optional
        Needed where the model file is not complete, as with joints in Python; assembled from
        ``model.toml`` if left out.
    tau : array_like or callable, optional
        The forces again, where they are a function; those of the run if left out.
    forces : iterable of Force, optional
        The further forces again, all of them, where `simulate` was given some that the model file
        cannot hold; those of the run if left out.
    events : iterable of Event, optional
        The events again, where `simulate` was given some.
    integrator : Integrator, optional
        Needed where it is none of mbkit's.
    outputs : mapping of str to callable, optional
        The outputs of the run that are functions, again, by their names.
    other_versions : bool
        Go on although versions or the processor differ. The result notes it in its options, and is
        not that of an uninterrupted run to the last bit.
    progress : bool
        As for `simulate`.

    Returns
    -------
    Result
        As of `simulate`. If the run was completed already, its result, and nothing is computed.

    Raises
    ------
    UsageError
        If model, options, functions of the user, versions or processor are not those of the run,
        each by its name; or if another process is writing the run.
    ResultFileError
        If there is no run in the directory, its files are damaged, or it cannot be written to.

    Examples
    --------
    ``mb.simulate(system, (0.0, 1e4), 1e-3, output="runs/arm")`` is killed; later, in another
    process, ``run = mb.resume("runs/arm")`` takes the steps that are left.
    """
    if system is not None:
        check_kind("resume: system", system, System, "an mbkit.System")
    directory = RunDirectory(checked_place(path, "resume"))
    directory.read_manifest()  # or it is no place for a lock
    with directory.locked():
        manifest = directory.read_manifest()
        if os.path.lexists(directory.result):
            result = _result_so_far(directory, manifest)
            if result.completed:  # killed, perhaps, before everything was tidied up
                directory.clean()
                directory.delete_parts()
                directory.release()
                directory.write_manifest({**manifest, "status": "completed"})
                return result
        directory.check_parts(manifest)
        run = _prepared(
            directory, manifest, system, outputs,
            tau=tau, forces=tuple(forces), events=tuple(events), integrator=integrator,
        )  # fmt: skip
        found = differences(run, manifest, other_versions=other_versions)
        if found:
            raise UsageError(
                f"The run in '{directory.path}' cannot be continued bit for bit:"
                + "".join(f"\n  {each}" for each in found)
                + "\nGo on with what it began with, or start a new run."
            )
        number, last = _load_state(run, directory, manifest, check=not other_versions)
        if other_versions:
            manifest = _noted(manifest)
        step = int(last["step"])
        shapes = {each.label: last[f"output_{k}"].shape[1:] for k, each in enumerate(run.outputs)}
        recorder = recorder_for(run, directory, manifest, run.steps - step, shapes)
        directory.clean()  # and nothing is deleted before: the run may have been refused
        directory.result.unlink(missing_ok=True)
        return go_on(run, recorder, manifest, step=step, part=number + 1, progress=progress)


def _result_so_far(directory: RunDirectory, manifest: Mapping[str, Any]) -> Result:
    """Return the result of the directory; errors of a damaged one name a way out."""
    try:
        return open_run(directory, manifest)
    except ResultFileError as error:
        if not directory.parts():
            raise
        raise ResultFileError(
            f"{error} The parts of the run are beside it: once '{directory.result}' is deleted, "
            f"mbkit.resume('{directory.path}') goes on from them."
        ) from error


def _prepared(
    directory: RunDirectory,
    manifest: Mapping[str, Any],
    system: System | None,
    outputs: Outputs | None,
    *,
    tau: Any,
    forces: tuple[Force, ...],
    events: tuple[Event, ...],
    integrator: Integrator | None,
) -> Prepared:
    text = directory.read_model(manifest)
    options = manifest["options"]
    if manifest.get("events") and not events:
        raise UsageError(
            f"The run in '{directory.path}' was given the events "
            f"{', '.join(map(repr, manifest['events']))}; give them again: "
            "mbkit.resume(..., events=events)."
        )
    if system is None:
        system, forces = _assembled(directory, manifest, text, forces)
    elif options["forces"] and not forces:
        raise _ask_for_forces(directory, manifest)
    if tau is None:
        tau = manifest["tau"]
        if options["tau"] == "callable":
            raise UsageError(
                f"The run in '{directory.path}' has forces tau from the function "
                f"'{manifest['callables']['tau']['name']}', which no file can hold; give it again: "
                "mbkit.resume(..., tau=function)."
            )
    if integrator is None:
        integrator = _integrator(directory, manifest["integrator"])
    span = tuple(options["t_span"])
    recorded = outputs_again(system, manifest.get("outputs", {}), outputs)
    run = prepare(
        system, integrator, span, options["h"], q=None, v=None, continued=True,
        tau=tau, forces=forces, events=events, save_every=options["save_every"] or 1,
        save_at=_save_at(directory, options),
        stabilisation=stabilisation_of(options.get("stabilisation", {"kind": "Projection"})),
        constraint_solver=_solver(system, options),
    )  # fmt: skip
    return attrs.evolve(run, outputs=recorded)


def _solver(system: System, options: Mapping[str, Any]) -> ConstraintSolver | None:
    """Return the strategy for constraints of a run; None where the system has it."""
    about = options.get("constraint_solver")
    if about is None:
        return None
    solver = solver_of(about)
    own = system.constraint_solver
    if solver is None and (own is None or described(own) != about):
        raise UsageError(
            f"The run has the constraint solver '{about['kind']}', which no file can hold; give "
            f"a system that has it: mbkit.resume(..., system=system.with_constraint_solver(...))."
        )
    return solver


def _ask_for_forces(directory: RunDirectory, manifest: Mapping[str, Any]) -> UsageError:
    forces = ", ".join(manifest["options"]["forces"])
    return UsageError(
        f"The run in '{directory.path}' was given the forces {forces}; "
        "give them again: mbkit.resume(..., forces=forces)."
    )


def _save_at(directory: RunDirectory, options: Mapping[str, Any]) -> Any:
    """Return the output times of a run, which are in its first part."""
    if "save_at" not in options:
        return None
    return directory.read_part(0, ("save_at",))["save_at"]


def _assembled(
    directory: RunDirectory, manifest: Mapping[str, Any], text: str, forces: tuple[Force, ...]
) -> tuple[System, tuple[Force, ...]]:
    """Return the system of the model file, with the frames inside that the run had.

    And the further forces of the run, which it does not have: those given, or those of the file.
    """
    from mbkit.plugins import registry

    ask = "assemble the system as before and give it: mbkit.resume(..., system=system)."
    try:
        mechanism = parse_model(text, source=str(directory.path / "model.toml"))
    except ModelFileError as error:
        raise UsageError(
            f"The run in '{directory.path}' has a model that its file alone does not give ("
            f"{error}); {ask}"
        ) from error
    further = manifest["further_forces"]
    held = [name for name in further if name in mechanism.forces]
    if further and not forces:
        if held != further:
            raise _ask_for_forces(directory, manifest)
        forces = tuple(mechanism.forces[name] for name in further)
    representation = registry().find("representation", manifest["options"]["representation"])
    if representation is None:
        raise UsageError(
            f"The run in '{directory.path}' has the representation "
            f"'{manifest['options']['representation']}', which is not known here; {ask}"
        )
    for coordinates in strategies(manifest["options"], representation):
        try:
            system = mechanism.assemble(coordinates).without_forces(held)
        except NameUnknownError:  # a weld in a body that was cut
            break
        if system_digest(system.with_forces(forces)) == manifest["system"]:
            return system, forces
    raise UsageError(
        f"The run in '{directory.path}' has a system with other numbers than its model file "
        f"gives, as with RelativeCoordinates(cut_bodies=...) or RelativeCoordinates(length=...), "
        f"which are not in it; {ask}"
    )


def strategies(options: Mapping[str, Any], representation: Any) -> list[Any]:
    """Return the coordinates that a run may have had: its body frames are not stored."""
    from mbkit.io.toml.coordinates import read_coordinates

    if "coordinates" in options:
        return [read_coordinates(options["coordinates"])]
    loops = options.get("loop_joints")
    frames = ("joint", *BODY_FRAMES)
    return [RelativeCoordinates(representation, each, loops) for each in frames]


def _integrator(directory: RunDirectory, about: Mapping[str, Any]) -> Integrator:
    integrator = integrator_of(about)
    if integrator is None:
        raise UsageError(
            f"The run in '{directory.path}' has the integrator '{about['class']}', which no file "
            "can hold; give it again: mbkit.resume(..., integrator=integrator)."
        )
    return integrator


def _load_state(
    run: Prepared, directory: RunDirectory, manifest: Mapping[str, Any], *, check: bool
) -> tuple[int, dict[str, Any]]:
    """Put the state of the last part into the problem; return its number and its arrays.

    With `check`, the first step of that part is taken again, and must come out as it did.
    """
    numbers = directory.parts()
    if not numbers:
        raise ResultFileError(f"'{directory.path}' has no parts; they were deleted.")
    last = directory.read_part(numbers[-1])
    problem, course = run.problem, run.course
    for monitor in course.monitors:  # which warn only once
        monitor.resume(last.get("warnings", ()))
    if check and "second_q" in last:
        before = directory.read_part(numbers[-2])
        _set_state(run, before, "state")
        step = int(before["step"])
        least = 1 if course.times is None else course.times.most
        rows = new_buffer(1, problem.nq, problem.nv, problem.multipliers.size, least)
        status, *_ = course(step, 1, rows)
        if status != 0:
            raise explain(run, status, step)
        course.log.clear()
        if course.samples is not None:
            course.samples.forget(run.steps)
        for name, value in problem.state.items():
            if not np.array_equal(value, last[f"second_{name}"]):
                raise UsageError(
                    f"The run in '{directory.path}' cannot be continued bit for bit: the step from "
                    f"t = {problem.t0 + step * problem.h:.9g} s, taken again, gives another "
                    f"'{name}' than before. Forces or joints in Python must give the same for the "
                    "same arguments, and the machine must be alike."
                )
    _set_state(run, last, "state")
    if "ended" in last:  # killed after the last part, before the result
        course.ended = float(last["ended"])
        course.ended_by = manifest["events"][int(last["ended_by"])]
    return numbers[-1], last


def _set_state(run: Prepared, part: Mapping[str, Any], prefix: str) -> None:
    for name, value in run.problem.state.items():
        value[:] = part[f"{prefix}_{name}"]


def _noted(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a run that goes on with other versions, as they are now."""
    now = environment(versions())
    if now == manifest["environment"]:
        return manifest
    before = [*manifest["options"].get("began_with", ()), manifest["environment"]]
    options = {**manifest["options"], "began_with": before}
    return {**manifest, "options": options, "versions": versions(), "environment": now}

"""Export of a system as an FMU, by pythonfmu and pythonfmu3."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mbkit.errors import MbkitError, UsageError, check_choice, check_kind, printable
from mbkit.extras import extra_package
from mbkit.integrators.description import described, is_described
from mbkit.integrators.integrator import Integrator
from mbkit.io.replacement import replacement
from mbkit.io.text_file import checked_place
from mbkit.simulation.fmi.unit import MODEL, SETTINGS, input_names, output_channels, read_unit
from mbkit.simulation.preparation import StateByName
from mbkit.simulation.simulate import simulate
from mbkit.systems import System

__all__ = ["export_fmu"]


class Standard(NamedTuple):
    """A version of FMI: the package that makes its FMUs, and their kind and abilities."""

    package: str
    script: str
    can: dict[str, bool]


_HEAD = '"""An FMU of mbkit. The Python that runs it needs mbkit."""\n'

_STATE = """
    def _get_fmu_state(self):
        return self.slave.state()

    def _set_fmu_state(self, state):
        self.slave.set_state(state)
"""

#: The entry of pythonfmu: a class of its own for each FMU, derived from its own class directly.
_SCRIPT_2 = f"""{_HEAD}
from pythonfmu.enums import Fmi2Causality, Fmi2Status
from pythonfmu.fmi2slave import Fmi2Slave
from pythonfmu.variables import Real

from mbkit.simulation.fmi.slave import Slave


class {{name}}(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.slave = Slave(self, Real, Fmi2Causality, Fmi2Status.error)

    def to_xml(self, *options):
        return self.slave.completed(super().to_xml(*options))

    def setup_experiment(self, start_time, stop_time, tolerance):
        self.slave.unit.t = start_time

    def do_step(self, current_time, step_size):
        return self.slave.do_step(current_time, step_size)
{_STATE}"""

#: The same of pythonfmu3. FMI 3 wants the time among the variables.
_SCRIPT_3 = f"""{_HEAD}
from pythonfmu3.enums import Fmi3Causality, Fmi3Status, Fmi3Variability
from pythonfmu3.fmi3slave import Fmi3Slave, Fmi3StepResult
from pythonfmu3.variables import Float64

from mbkit.simulation.fmi.slave import Slave


class {{name}}(Fmi3Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.slave = Slave(self, Float64, Fmi3Causality, Fmi3Status.error)
        self.register_variable(
            Float64(
                "time",
                causality=Fmi3Causality.independent,
                variability=Fmi3Variability.continuous,
                getter=lambda: float(self.slave.unit.t),
            ),
            nested=False,
        )

    def setup_experiment(self, start_time):
        self.slave.unit.t = start_time

    def do_step(self, current_time, step_size):
        done = self.slave.do_step(current_time, step_size)
        return Fmi3StepResult(status=Fmi3Status.ok if done else Fmi3Status.error)
{_STATE}"""

STANDARDS = {
    "2.0": Standard(
        "pythonfmu", _SCRIPT_2, {"canGetAndSetFMUstate": True, "canSerializeFMUstate": True}
    ),
    "3.0": Standard(
        "pythonfmu3",
        _SCRIPT_3,
        {
            "canGetAndSetFMUState": True,
            "canSerializeFMUState": True,
            "canHandleVariableCommunicationStepSize": True,
        },
    ),
}


def export_fmu(
    system: System,
    path: str | os.PathLike[str],
    *,
    inputs: Iterable[str] | Mapping[str, str] | None = None,
    outputs: Iterable[str] | Mapping[str, str] | None = None,
    h: float = 1e-3,
    integrator: Integrator | None = None,
    q: StateByName | None = None,
    v: StateByName | None = None,
    version: str = "2.0",
) -> None:
    """Write a system as an FMU, which other simulation programs load, for co-simulation.

    It is made by pythonfmu and pythonfmu3, from ``pip install 'mbkit[fmi]'``. The program that
    loads it runs Python: mbkit must be installed in the environment that it finds.

    Parameters
    ----------
    system : System
        Its model text must have all of it: no joints, forces and constraints in plain Python.
    path : path
        A name that ends in ``.fmu``; an existing file is replaced.
    inputs : sequence of str, or mapping of str to str, optional
        Names of velocities, whose efforts go in: ``["main"]`` makes the variable "tau.main",
        ``{"torque": "main"}`` the variable "torque". All of them if left out. They are held over a
        step of the other program. [N m], [N]
    outputs : sequence of str, or mapping of str to str, optional
        The outputs: "q.main" and "v.main" for entries of `System.position_names` and
        `System.velocity_names`, and outputs as of `simulate`, such as "hand.position", whose
        numbers are "hand.position[0]" and so on. All positions and velocities if left out.
    h : float
        Longest step inside; those of the other program are divided into equal ones. [s]
    integrator : Integrator, optional
        One of mbkit's; as of `simulate`.
    q, v : array_like or mapping, optional
        The state at the start, as of `simulate`.
    version : {"2.0", "3.0"}
        Of FMI.

    Raises
    ------
    UsageError
        If the name does not end in ``.fmu``, `version` is neither of the two, pythonfmu is missing,
        the integrator is one's own, or the model text does not have all of the system.
    NameUnknownError
        If there is no such velocity or output.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> rod = mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))
    >>> bob = mech.add_body(mb.Body("bob", rod, frames={"tip": mb.spatial.translation((0, 0, -2))}))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("main", axis=(0, 1, 0)), mech.world, bob)
    >>> mb.export_fmu(  # doctest: +SKIP
    ...     mech.assemble(), "pendulum.fmu", inputs={"torque": "main"},
    ...     outputs={"angle": "q.main", "tip": "tip.position"}, q={"main": 0.5},
    ... )
    """
    target = checked_place(path, "export_fmu")
    if target.suffix.lower() != ".fmu":
        raise UsageError(f"export_fmu: '{printable(target)}' must end in .fmu.")
    remedy = "make one by mechanism.assemble()"
    check_kind("export_fmu: system", system, System, "an mbkit.System", remedy)
    inputs = input_names(system, inputs)
    outputs = output_channels(system, outputs)[1]
    if integrator is not None and not is_described(integrator):
        raise UsageError(
            f"export_fmu: integrator must be one of mbkit's, which a file can name, got "
            f"{integrator!r}."
        )
    check_choice("export_fmu: version", version, STANDARDS)
    standard = STANDARDS[version]
    builder = _builder(standard)
    run = simulate(system, (0.0, h), h, q=q, v=v, integrator=integrator, progress=False)
    kept = ("representation", "loop_joints", "coordinates")
    settings = {
        "inputs": inputs,
        "outputs": outputs,
        "h": h,
        "integrator": None if integrator is None else described(integrator),
        "q": run.q[0].tolist(),
        "v": run.v[0].tolist(),
        "options": {key: run.options[key] for key in kept if key in run.options},
    }
    with tempfile.TemporaryDirectory(prefix="mbkit-fmu-") as name:
        folder = pathlib.Path(name)
        (folder / MODEL).write_text(system.model_text, encoding="utf-8")
        (folder / SETTINGS).write_text(json.dumps(settings, indent=1), encoding="utf-8")
        _check_whole(system, folder)
        made = _build(builder, standard, system, folder)
        with replacement(target) as temporary:
            shutil.copyfile(made, temporary)


def _builder(standard: Standard) -> Any:
    name = standard.package
    return extra_package(f"{name}.builder", f"FMUs are made by {name}", "fmi").FmuBuilder


def _check_whole(system: System, folder: pathlib.Path) -> None:
    """Raise UsageError unless the files give the same system again."""
    why = "its model text gives another system, as where a force is a function in Python"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were issued for the system itself
            unit = read_unit(folder)
        again, q, v = unit.system, unit.q, np.linspace(0.3, 0.7, system.nv)
        pairs = [
            (each.mass_matrix(q), each.bias_force(q, v), each.generalized_forces(q, v))
            for each in (system, again)
        ]
        is_same = again.position_names == system.position_names and all(
            np.allclose(a, b, rtol=1e-12, atol=1e-12) for a, b in zip(*pairs, strict=True)
        )
    except MbkitError as error:
        is_same, why = False, str(error)
    if not is_same:
        raise UsageError(
            f"export_fmu: system '{system.name}' cannot be made again from a file ({why}); use "
            "parts that a model file holds."
        )


def _build(builder: Any, standard: Standard, system: System, folder: pathlib.Path) -> pathlib.Path:
    """Return the FMU that pythonfmu makes in a folder; its changes to Python are undone."""
    name = re.sub(r"\W", "_", system.name, flags=re.ASCII)
    name = name if re.match(r"[A-Za-z]", name) else f"m_{name}"
    files = [folder / MODEL, folder / SETTINGS]
    # FMUs of one process share their modules: each has a name of its own
    mark = hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()[:12]
    module = f"mbkit_fmu_{mark}"
    script = folder / f"{module}.py"
    script.write_text(standard.script.format(name=name), encoding="utf-8")
    path = list(sys.path)
    try:
        made = builder.build_FMU(
            script, dest=folder / "out.fmu", project_files=files, **standard.can
        )
    finally:
        sys.path[:] = path
        sys.modules.pop(module, None)
    return pathlib.Path(made) if made else folder / "out.fmu"

"""MJCF files: read by MuJoCo, to documents and mechanisms."""

from __future__ import annotations

import os
import pathlib
import warnings
from typing import Any

import numpy as np

from mbkit.errors import ModelFileError, ModelFileWarning, printable
from mbkit.extras import extra_package
from mbkit.io.mjcf.document import Mjcf, MjcfActuator, MjcfSensor
from mbkit.io.mjcf.files import check_files
from mbkit.io.mjcf.losses import notes_of, warnings_of
from mbkit.io.mjcf.names import Names, names_of
from mbkit.io.text_file import checked_path
from mbkit.model import Mechanism

__all__ = ["load_mjcf", "read_mjcf", "warning_of_mjcf"]

#: MuJoCo's name of a model without a name.
_NO_NAME = ("MuJoCo Model", "")


def load_mjcf(path: str | os.PathLike[str], *, armature: str = "rotors") -> Mechanism:
    """Return the mechanism of an MJCF file, a model of MuJoCo, without contact.

    Parameters
    ----------
    path : path
        An MJCF file; it is read by the package mujoco, from ``pip install 'mbkit[mjcf]'``. All
        files that it names have to lie in its folder.
    armature : {"rotors", "ignore"}
        Treatment of the armature of hinges and slides, an inertia that moves with the joint's
        position alone: a disc on the world for each, called "rotor of JOINT", and a `GearRatio`; or
        nothing.

    Returns
    -------
    Mechanism
        See ``docs/mjcf.md``. Joints have MuJoCo's names and positions. Of several joints of a body
        each but the last leads to a body without inertia.

    Raises
    ------
    ModelFileError
        If the file cannot be read, MuJoCo refuses it, or it names a file outside its folder.
    UsageError
        If `armature` is none of the two, or mujoco is not installed.

    Warns
    -----
    ModelFileWarning
        Of elements that influence the motion in MuJoCo, not contacts and actuators, and are lost.

    Examples
    --------
    >>> import mbkit as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pendulum.xml"
    >>> _ = path.write_text('''<mujoco model="pendulum"><worldbody><body name="rod">
    ...   <joint name="hinge" axis="0 1 0" damping="0.1"/>
    ...   <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02"/>
    ... </body></worldbody></mujoco>''')
    >>> pendulum = mb.load_mjcf(path)  # doctest: +SKIP
    >>> list(pendulum.joints), list(pendulum.forces)  # doctest: +SKIP
    (['hinge'], ['damper of hinge'])
    """
    mjcf = read_mjcf(path)
    mechanism = mjcf.mechanism(armature=armature)
    if note := warning_of_mjcf(mjcf):
        warnings.warn(note, ModelFileWarning, stacklevel=2)
    return mechanism


def warning_of_mjcf(mjcf: Mjcf) -> str:
    """Return the warning that the motion differs from MuJoCo's, "" for none."""
    if not mjcf.warnings:
        return ""
    source, parts = printable(mjcf.source), "; ".join(mjcf.warnings)
    return f"MJCF file '{source}' has what the mechanism has not: {parts}."


def read_mjcf(path: str | os.PathLike[str]) -> Mjcf:
    """Return the content of an MJCF file: actuators, sensors, and notes on the rest.

    Parameters
    ----------
    path : path
        As for `load_mjcf`.

    Returns
    -------
    Mjcf
        Its method `mechanism` makes the mechanism.

    Raises
    ------
    ModelFileError, UsageError
        As of `load_mjcf`.

    Examples
    --------
    See `Mjcf`.
    """
    source = checked_path(path, "read_mjcf")
    what = f"MJCF file '{printable(source)}'"
    check_files(source, what)
    mujoco = _mujoco()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_file(str(source))
            # bodies and shapes are kept, whatever the file's options: they cost nothing here
            spec.compiler.fusestatic = spec.compiler.discardvisual = False
            model = spec.compile()
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        reason = printable(" ".join(str(error).split()))
        raise ModelFileError(f"{what} is refused by MuJoCo {mujoco.__version__}: {reason}") from (
            error
        )
    names = names_of(model)
    return Mjcf(
        source.stem if spec.modelname in _NO_NAME else spec.modelname.strip(),
        str(source),
        tuple(_actuator(mujoco, model, names, i) for i in range(model.nu)),
        tuple(_sensor(mujoco, model, i) for i in range(model.nsensor)),
        tuple(warnings_of(model, names)),
        (*notes_of(model, names), *(f"MuJoCo says: {printable(each.message)}" for each in said)),
        model,
        tuple(_mesh_file(source, spec, model.mesh(i).name) for i in range(model.nmesh)),
    )


def _mujoco() -> Any:
    return extra_package("mujoco", "MJCF files are read by mujoco", "mjcf")


def _mesh_file(source: pathlib.Path, spec: Any, name: str) -> pathlib.Path | None:
    """Return the file of a mesh that programs beside MuJoCo can read."""
    mesh = spec.mesh(name)
    if mesh is None or not mesh.file:
        return None
    file = pathlib.Path(mesh.file)
    folder = spec.meshdir or ""
    found = source.parent / folder / (file.name if spec.strippath else file)
    return found.resolve() if found.is_file() and found.suffix.lower() != ".msh" else None


def _word(value: Any, prefix: str) -> str:
    return str(value.name).removeprefix(prefix).lower()


def _actuator(mujoco: Any, m: Any, names: Names, i: int) -> MjcfActuator:
    transmission = _word(mujoco.mjtTrn(int(m.actuator_trntype[i])), "mjTRN_")
    target, length = int(m.actuator_trnid[i, 0]), 1
    if transmission in ("joint", "jointinparent"):
        name = names.joints[target]
        last = m.jnt_dofadr[target + 1] if target + 1 < m.njnt else m.nv
        length = int(last - m.jnt_dofadr[target])
    else:
        kind = "site" if transmission == "slidercrank" else transmission
        name = getattr(m, kind)(target).name
    ranges = [
        tuple(rows[i].tolist()) if is_limited[i] else None
        for rows, is_limited in (
            (m.actuator_ctrlrange, m.actuator_ctrllimited),
            (m.actuator_forcerange, m.actuator_forcelimited),
        )
    ]
    gear = tuple(m.actuator_gear[i, :length].tolist())
    kind = _actuator_kind(mujoco, m, i)
    return MjcfActuator(m.actuator(i).name, kind, transmission, name, gear, *ranges)


def _actuator_kind(mujoco: Any, m: Any, i: int) -> str:
    """Return MuJoCo's shortcut for an actuator, such as "motor", found from its numbers."""
    gain, bias = m.actuator_gainprm[i], m.actuator_biasprm[i]
    kinds = m.actuator_dyntype[i], m.actuator_gaintype[i], m.actuator_biastype[i]
    none, fixed = int(mujoco.mjtDyn.mjDYN_NONE), int(mujoco.mjtGain.mjGAIN_FIXED)
    if kinds == (none, fixed, int(mujoco.mjtBias.mjBIAS_NONE)) and gain[0] == 1.0:
        return "motor"
    if kinds == (none, fixed, int(mujoco.mjtBias.mjBIAS_AFFINE)) and gain[0]:
        if np.array_equal(bias[:2], [0.0, -gain[0]]):
            return "position"
        if np.array_equal(bias[:3], [0.0, 0.0, -gain[0]]):
            return "velocity"
    return "general"


def _sensor(mujoco: Any, m: Any, i: int) -> MjcfSensor:
    kind = _word(mujoco.mjtSensor(int(m.sensor_type[i])), "mjSENS_")
    name = ""
    if m.sensor_objid[i] >= 0 and m.sensor_objtype[i] > 0:
        name = mujoco.mj_id2name(m, int(m.sensor_objtype[i]), int(m.sensor_objid[i])) or ""
    return MjcfSensor(m.sensor(i).name, kind, name)

"""Loops of Pinocchio's functions over many samples in C++, compiled where there is a compiler."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

SOURCE = pathlib.Path(__file__).with_suffix(".cpp")

#: What Pinocchio's own library was compiled with, whose functions are called.
DEFINED = (
    "NDEBUG", "PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", "BOOST_MPL_LIMIT_LIST_SIZE=30",
    "BOOST_MPL_LIMIT_VECTOR_SIZE=30", "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "BOOST_FUSION_INVOKE_MAX_ARITY=12",
)  # fmt: skip


@functools.cache
def _library() -> Any:
    """Return the compiled loops, in a minute; None without a compiler, or where it fails."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    casadi = importlib.util.find_spec("casadi")  # which has the headers of Eigen
    if compiler is None or casadi is None or casadi.origin is None:
        return None
    prefix = pathlib.Path(pin.__file__).parents[4]
    headers = prefix / "include", pathlib.Path(casadi.origin).parent / "include" / "eigen3"
    lib = prefix / "lib"
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, "loops.so")
        command = [
            compiler, "-std=c++17", "-O2", "-w", "-shared", "-fPIC", "-pthread",
            *(f"-D{each}" for each in DEFINED), *(f"-I{each}" for each in headers), str(SOURCE),
            "-o", str(made), f"-L{lib}", "-lpinocchio_default", f"-Wl,-rpath,{lib}",
        ]  # fmt: skip
        if subprocess.run(command, check=False).returncode:  # which has said why
            return None
        found = ctypes.CDLL(str(made))
    found.new_loops.restype, found.add_joint.restype = ctypes.c_void_p, ctypes.c_bool
    return found


def pinocchio_loops(
    model: pin.Model, threads: int, columns: dict[str, Any]
) -> dict[str, tuple[Callable[[], Any], Any]] | None:
    """Return loops of crba and computeABADerivatives, and what they write; or None, uncompiled.

    `columns` are q, v and x of all samples, one a column. Entries [i] of what they write are
    the transposed mass matrix, of which crba fills one half; and the transposed derivatives of
    accelerations by q, v and tau.
    """
    library = _library()
    if library is None:
        return None
    loops, data = ctypes.c_void_p(library.new_loops()), model.createData()
    for i in range(1, model.njoints):
        place, inertia = np.ascontiguousarray(model.jointPlacements[i]), model.inertias[i]
        moments = np.ascontiguousarray(inertia.inertia)
        S = pin.computeJointJacobian(model, data, pin.neutral(model), i)[:, model.idx_vs[i]]
        axis = np.ascontiguousarray(S[:3] + S[3:])  # of a screw, which one half has
        name = model.joints[i].shortname()
        if not library.add_joint(
            loops, name.encode(), model.parents[i], _at(axis), _at(place),
            ctypes.c_double(inertia.mass), _at(inertia.lever), _at(moments),
        ):  # fmt: skip
            raise RuntimeError(f"{SOURCE.name} has no {name}")
    library.begin(loops, threads, _at(model.gravity.linear.copy()))
    q, v, x = (np.asfortranarray(columns[name]) for name in "qvx")
    count, nv = q.shape[1], model.nv
    M, derivatives = np.empty((count, nv, nv)), np.empty((count, 3, nv, nv))

    def mass_matrices() -> None:
        library.mass_matrices(loops, count, _at(q), _at(M))

    def forward_dynamics_derivatives() -> None:
        library.forward_dynamics_derivatives(loops, count, _at(q), _at(v), _at(x), _at(derivatives))

    return {
        "mass matrix": (mass_matrices, M),
        "derivatives of forward dynamics": (forward_dynamics_derivatives, derivatives),
    }


def _at(array: Any) -> Any:
    """Return the address of an array, which lives as long."""
    return array.ctypes.data_as(ctypes.c_void_p)

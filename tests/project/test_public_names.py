"""The package root: a table of contents that resolves, and costs next to nothing to import."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import mbkit as mb

HEAVY = (
    "casadi", "control", "h5netcdf", "h5py", "jax", "matplotlib", "networkx", "numba", "pandas",
    "rich", "scipy", "sympy", "trimesh", "viser", "xarray",
)  # fmt: skip


def imported_by(code, packages=HEAVY):
    """Return which of some packages a fresh interpreter has loaded after running `code`."""
    code += "\nimport sys; print('LOADED', *sorted(sys.modules))"
    command = [sys.executable, "-W", "error", "-c", code]
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    loaded = finished.stdout.rpartition("LOADED")[2].split()
    return {name for name in packages if name in loaded}


PUBLIC = [
    name for name in dir(mb) if not (name.startswith("_") or inspect.ismodule(getattr(mb, name)))
]

# What scripts of users rely on; a name that leaves this list breaks them.
PROMISED = [
    "Body",
    "BodyFixed",
    "CompositeJoint",
    "ConstantVelocityJoint",
    "CylindricalJoint",
    "FixedJoint",
    "FreeJoint",
    "HelicalJoint",
    "HelicalPlanarJoint",
    "Integrator",
    "Joint",
    "Mechanism",
    "PlanarJoint",
    "PrismaticJoint",
    "RelativeCoordinates",
    "Representation",
    "Result",
    "RevoluteJoint",
    "RungeKuttaMuntheKaas",
    "SchoenfliesJoint",
    "ScrewJoint",
    "SpatialInertia",
    "SphericalJoint",
    "System",
    "Tableau",
    "Topology",
    "TranslationalJoint",
    "UniversalJoint",
    "load_model",
    "load_ensemble",
    "load_result",
    "resume",
    "save_model",
    "simulate",
    "tableaus",
]


@pytest.mark.parametrize("name", PROMISED)
def test_promised_names_are_there(name):
    assert hasattr(mb, name)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_ours_and_documented(name):
    """Nothing that was only imported for use is offered, and everything offered is explained."""
    value = getattr(mb, name)
    assert value.__module__.startswith("mbkit.")
    assert inspect.getdoc(value)


def test_every_error_is_public_and_derives_from_the_root():
    from mbkit import errors

    classes = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error")]
    assert all(issubclass(each, mb.MbkitError) for each in classes)
    assert {each.__name__ for each in classes} <= set(dir(mb))


def test_import_loads_nothing_heavy():
    """Nor do its names load plugins, which cost the more, the more are installed."""
    more = ("cattrs", "mbkit.plugins", "multiprocessing", "pluggy", "subprocess")
    asked = "import mbkit; [getattr(mbkit, name) for name in dir(mbkit)]"
    assert imported_by(asked, (*HEAVY, *more)) == set()


def test_names_are_imported_when_they_are_asked_for():
    packages = ("attrs", "numpy", "mbkit.joints", "mbkit.systems", "mbkit.viz")
    assert imported_by("import mbkit", packages) == set()
    assert imported_by("import mbkit; mbkit.Twist", packages) == {"attrs", "numpy"}


def test_a_name_of_a_family_does_not_import_the_others():
    """Their table by name does."""
    parts = ("mbkit.forces.drag", "mbkit.forces.joint_spring", "mbkit.integrators.bliedf")
    spring = "import mbkit; print(mbkit.JointSpring, mbkit.RungeKuttaMuntheKaas)"
    assert imported_by(spring, parts) == {"mbkit.forces.joint_spring"}
    assert imported_by("from mbkit.forces import FORCE_TYPES", parts) == {*parts[:2]}


def test_a_function_keeps_the_name_that_a_package_has_too():
    """Whatever imports the package, before or after the name is asked for."""
    imported, asked = "from mbkit.sensitivities import Gradient", "print(mbkit.sensitivities)"
    for order in ((imported, asked), (asked, imported, asked)):
        run = [sys.executable, "-c", "; ".join(("import mbkit", *order))]
        found = subprocess.run(run, check=True, capture_output=True, text=True)
        lines = found.stdout.splitlines()
        assert all(line.startswith("<function sensitivities") for line in lines)


def test_names_that_are_not_there_are_named():
    with pytest.raises(AttributeError, match="module 'mbkit' has no attribute 'Mechanisms'"):
        mb.Mechanisms  # noqa: B018
    assert not hasattr(mb, "_parts")


def test_star_imports_everything():
    names: dict = {}
    exec("from mbkit import *", names)  # noqa: S102
    assert {"Mechanism", "RevoluteJoint", "simulate", "viz"} <= names.keys()


def test_help_loads_nothing_heavy():
    """`mbkit --help` answers before numba would be loaded."""
    code = "from mbkit.cli.main import main\nmain(['simulate', '--help'], standalone_mode=False)"
    assert imported_by(code) == set()

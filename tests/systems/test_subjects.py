"""Functions of a system by subject: each takes what the method of its name takes."""

from __future__ import annotations

import importlib
import inspect

import pytest

import mbkit as mb

SUBJECTS = [
    "closed_loops.dynamics",
    "closed_loops.kinematics",
    "systems.body_motion",
    "systems.configurations",
    "systems.constraint_checks",
    "systems.constraints",
    "systems.derivatives.dynamics_derivatives",
    "systems.dynamics",
    "systems.derivatives.evaluation_derivatives",
    "systems.forces",
    "systems.kinematics",
    "systems.reactions",
]
FUNCTIONS = [
    (subject, name)
    for subject in SUBJECTS
    for name, value in vars(importlib.import_module(f"mbkit.{subject}")).items()
    if getattr(value, "__module__", "") == f"mbkit.{subject}"
    and callable(getattr(mb.System, name, None))
    and not name.startswith("_")
]


@pytest.mark.parametrize(("subject", "name"), FUNCTIONS)
def test_functions_take_what_methods_take(subject, name):
    """Names, order, defaults and types, the system first in the place of self."""
    function = getattr(importlib.import_module(f"mbkit.{subject}"), name)
    own, *others = inspect.signature(function).parameters.values()
    assert own.name == "system"
    assert others == list(inspect.signature(getattr(mb.System, name)).parameters.values())[1:]


def test_there_are_many_such_functions():
    assert len(FUNCTIONS) > 30


def test_all_of_a_system_stands_in_one_class():
    assert mb.System.__mro__ == (mb.System, object)

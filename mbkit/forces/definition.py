"""Checks of a force's definition, made as soon as it is added."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from mbkit.definition_checks import check_methods, check_named, check_names, check_part
from mbkit.errors import ForceError, check_choice
from mbkit.forces.force import Force
from mbkit.representations import Representation

_POWERS = ("", "dissipated", "supplied", "conservative")


def check_force_definition(force: Any) -> None:
    """Raise ForceError, which states the requirement, if a definition is wrong in its structure.

    Examples
    --------
    >>> check_force_definition(Force("wind"))
    Traceback (most recent call last):
    mbkit.errors.ForceError: Force 'wind': Force must define evaluate(t, q, v, poses, twists, \
    out), or kernels().
    """
    hint = "; give a function a name: mbkit.ForceFunction('name', function)"
    what = check_part(force, Force, ForceError, hint if callable(force) else "")
    kind = type(force).__name__
    check_methods(what, force, Force, ForceError)
    check_names(what, force, ForceError)
    check_choice(f"{what}: acts_on", force.acts_on, ("joints", "bodies"), ForceError)
    if not (isinstance(force.power, str) and force.power in _POWERS):
        raise ForceError(
            f"{what}: power must be 'dissipated', 'supplied' or 'conservative', got "
            f"{force.power!r}."
        )
    if force.power and type(force).powers is not Force.powers:
        raise ForceError(
            f"{what}: {kind} defines powers(), which says where its power goes; leave power = "
            f"{force.power!r} out."
        )
    if not isinstance(force.representation, Representation):
        raise ForceError(
            f"{what}: representation must be one of mbkit's or a plugin's, got "
            f"{force.representation!r}; for example mbkit.Hybrid()."
        )
    if force.kernels() is not None:
        if type(force).derivatives is not Force.derivatives:
            raise ForceError(
                f"{what}: {kind} defines derivatives(), which are asked of forces in Python alone, "
                f"beside kernels(). Leave derivatives() out: a compiled function that is made by "
                f"address_kernel(FORCE_FORM, in_lanes=True) is differentiated exactly."
            )
        return
    if type(force).evaluate is Force.evaluate:
        raise ForceError(
            f"{what}: {kind} must define evaluate(t, q, v, poses, twists, out), or kernels()."
        )
    if force.acts_on == "bodies" and not force.bodies:
        raise ForceError(f"{what}: {kind} acts on bodies and must name them in 'bodies'.")
    has_potential = type(force).potential_energy is not Force.potential_energy
    if force.power == "conservative" and not has_potential:
        raise ForceError(
            f"{what}: a conservative force must define potential_energy(t, q, poses); {kind} "
            "does not."
        )


def gives_derivatives(force: Force) -> bool:
    """Return whether a force in Python gives the derivatives of its output."""
    return force.kernels() is None and type(force).derivatives is not Force.derivatives


def check_force_names(
    force: Force,
    owner: str,
    joints: Mapping[str, tuple[int, int]],
    bodies: Mapping[str, Any],
    loop_joints: Collection[str] = (),
    remedy: str = "",
) -> None:
    """Raise unless the joints and bodies that a force names are there, and fit it.

    As `check_named`. Loop joints have no coordinates; `remedy` is a way to give them some, as the
    end of a sentence.
    """
    what = f"Force {force.name!r}"
    for name in force.joints:
        if name in loop_joints:
            raise ForceError(
                f"{what}: joint {name!r} closes a loop in {owner}, and has no "
                f"coordinates that a force could act along; {remedy}."
            )
    check_named(what, force, owner, joints, bodies)

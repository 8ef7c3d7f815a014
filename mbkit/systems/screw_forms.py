"""The forms in which joint screws can be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbkit.errors import UsageError, suggestion
from mbkit.lie import SE3
from mbkit.representations import BodyFixed, Hybrid, Mixed, Representation, Spatial
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["screw_maps"]

_FORMS: dict[str, Representation] = {
    form.name: form for form in (BodyFixed(), Spatial(), Hybrid(), Mixed())
}
_REFERENCE = "reference"


def screw_maps(
    system: System, C: FloatArray, representation: Representation, screws: str | None
) -> tuple[str, FloatArray, FloatArray]:
    """Return the name of a form of screws, and the maps to it from body-fixed ones and back.

    Parameters
    ----------
    system : System
        The system, for poses of bodies at the reference configuration.
    C : ndarray, shape (n, 4, 4)
        Poses of the bodies, without the world.
    representation : Representation
        Representation whose form is the default.
    screws : str or None
        As in `System.system_jacobian`.

    Returns
    -------
    str, ndarray, ndarray
        The name and both maps, (n, 6, 6).

    Raises
    ------
    UsageError
        If there is no such form.
    """
    word = representation.name if screws is None else screws
    words = dict.fromkeys((*_FORMS, _REFERENCE, representation.name))
    if not (isinstance(word, str) and word in words):
        raise UsageError(
            f"system_jacobian: screws cannot be written as {word!r}; {suggestion(word, words)}"
        )
    if word == _REFERENCE:
        rest = system.poses(system.reference_configuration())[1:]
        return word, SE3.Ad(rest), SE3.Ad(SE3.inverse(rest))
    form = representation if word == representation.name else _FORMS[word]
    return word, form.twist_map(C), form.inverse_twist_map(C)


def between(to_form: FloatArray, from_form: FloatArray, *, same: bool) -> FloatArray:
    """Return the product of two maps (n, 6, 6), exactly the identity where they undo each other."""
    if same:
        return np.broadcast_to(np.eye(6), to_form.shape)
    return np.asarray(to_form @ from_form)

"""Residuals of a fit beside the noise and the efforts that were measured."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mbkit.errors import PoorFitWarning, listed
from mbkit.identification.results import root_mean_square
from mbkit.spatial.arrays import FloatArray
from mbkit.systems import System
from mbkit.users_line import users_line

__all__ = ["warn_of_poor_fit"]

#: Residuals in parts of the given noise from which on they are something else.
_FAR = 3.0

#: Residuals in parts of the efforts from which on the model explains little of these; the efforts
#: that count, in parts of the largest: those of passive joints are noise alone.
_LARGE = 0.5
_COUNTS = 0.1

_REMEDY = (
    "The model may lack a force, or data may be in degrees, in other signs, or of rows that do not "
    "belong together; plot found.residuals over the samples."
)


def warn_of_poor_fit(system: System, efforts: FloatArray, left: FloatArray, noise: Any) -> None:
    """Warn where residuals (samples, nv) are far above a given noise, or as large as efforts."""
    names, of_left, of_efforts = (
        system.velocity_names, root_mean_square(left), root_mean_square(efforts)
    )  # fmt: skip
    texts = []
    if noise is not None:
        ratio = root_mean_square(left / noise)
        texts += [
            f"those of '{names[k]}' {ratio[k]:.3g} times the noise that was given"
            for k in np.flatnonzero(ratio > _FAR)
        ]
    counts = of_efforts > _COUNTS * of_efforts.max(initial=0.0)
    texts += [
        f"those of '{names[k]}' {of_left[k]:.3g}, of efforts of {of_efforts[k]:.3g}"
        for k in np.flatnonzero(counts & (of_left > _LARGE * of_efforts))
    ]
    if texts:
        warnings.warn(
            f"identify: the fit leaves large residuals (root mean square): {listed(texts, str)}. "
            f"{_REMEDY}",
            PoorFitWarning,
            stacklevel=users_line(),
        )

"""The configuration that a search by inverse kinematics ends at, with the reason."""

from __future__ import annotations

from typing import Any, final

import attrs

from mbkit.kinematics.reasons import described, position_of
from mbkit.spatial.arrays import FloatArray

__all__ = ["InverseKinematics"]


@final
@attrs.frozen(eq=False, repr=False)
class InverseKinematics:
    """The configuration that `inverse_kinematics` found, and why it stopped there.

    Of many targets, every attribute has their leading axes: arrays of numbers, and of objects where
    one sample has a text or names; shorter lists of singular values end in NaN.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        The configuration: it reaches the targets, or none was found that is nearer.
    converged : bool
        Whether all targets are reached within the tolerance.
    reason : str
        "reached"; "open loops: ..." where the loops cannot be closed at the start, or not where the
        targets are reached, with the constraint that stays open and its gap; "joint limits: ..."
        with the positions that hold it off, where the targets are reached from there without them;
        "unreachable: ..." at a least-squares stationary point, with the angles and distances by
        which targets are missed, whether the posture is singular, and which limits hold it there;
        "singular posture: ..." where no motion helps to first order, the curvature promises some,
        and no step was found; "stopped at rounding: ..." where the tolerance is less than poses are
        known by; "iteration limit".
    gap : float
        By how much the loops are open at `q`: the largest entry of the constraints, less than 1e-10
        of the length of the system where they are closed; angles count by that length. Zero for
        trees. [m]
    errors : dict of str to ndarray
        By body: log(target^-1 pose), (angular, linear), or the part of it that counts. [rad], [m]
    singular_values : ndarray
        Of the weighted Jacobian of all targets by the joints that may move, along the motions that
        keep the loops closed, largest first.
    singular : bool
        Whether it has less rank here than at random configurations.
    singular_directions : dict of str to tuple of str
        By body: motions of its target's frame that no joint makes here, of the rows that count; in
        words, with axes in the world.
    active_limits : tuple of str
        Names of the positions that stand at a limit.
    preference_left : float or None
        The preferred gradient that remains in the null space of the targets; None where nothing
        is preferred or the targets are not reached.
    iterations, starts : int
        Steps tried, and the configurations from which they were begun.
    position_names : tuple of str
        Of the entries of `q`; ``found["elbow"]`` is the position of a joint, or its positions.
    """

    q: FloatArray
    converged: Any
    reason: Any
    gap: Any
    errors: dict[str, FloatArray]
    singular_values: FloatArray
    singular: Any
    singular_directions: dict[str, Any]
    active_limits: Any
    preference_left: Any
    iterations: Any
    starts: Any
    position_names: tuple[str, ...]

    __repr__ = described
    __getitem__ = position_of

"""Placements and screws of joints from measured poses of bodies."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import (
    NameUnknownError,
    ShapeError,
    UsageError,
    check_kind,
    listed,
    suggestion,
)
from mbkit.identification.measured import (
    check_mapping,
    check_ordinary,
    names_given,
    noise_of,
    numbers_of,
)
from mbkit.identification.results import Identification, Linear, estimated_noise, minimised
from mbkit.lie import SE3, SO3
from mbkit.lie.se3 import require_poses
from mbkit.memory import check_memory
from mbkit.representations import Hybrid
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import inverse
from mbkit.systems import BaseParameters, System
from mbkit.systems.parameters.base_parameters import base_of, triangle
from mbkit.systems.parameters.geometric_parameters import geometric_order

_WHO = "calibrate"

#: Noise that cannot be distinguished from rounding. [rad], [m]
_ROUNDING = 1e-13


def calibrate(
    system: System,
    poses: Mapping[str, ArrayLike],
    parameters: Iterable[str] | None = None,
    *,
    q: ArrayLike,
    frames: Mapping[str, ArrayLike] | None = None,
    noise: ArrayLike | None = None,
) -> Identification:
    """Return placements and screws of joints from measured poses, or positions, of bodies.

    The sum of the squared errors of all bodies, in parts of their noise, is made least.

    Parameters
    ----------
    system : System
        The mechanism, a tree, with the geometry to start from.
    poses : mapping of str to array_like
        By body, poses (samples, 4, 4) in the world, or positions alone (samples, 3). [m]
    parameters : list of str, optional
        Geometric parameters, as of `System.geometric_parameter_names`: ``"elbow.screw[x]"``; or
        all six of a kind, ``"elbow.placement"``; or joints, for all twelve. All parameters of all
        joints that carry one of the bodies if left out.
    q : array_like, shape (samples, nq)
        Configurations at which the bodies were measured.
    frames : mapping of str to array_like (4, 4), optional
        Poses, on bodies that were measured, of the frames that were; the body's own if left out.
    noise : array_like, shape (2,), optional
        Standard deviations of rotations and of positions. If left out, both are estimated from the
        residuals of a first fit without weights. [rad], [m]

    Returns
    -------
    Identification
        Variations of the parameters from the geometry of the system, standard errors, unidentified
        ones, residuals, and the system with the new frames ``S_pred`` and ``S_succ`` of joints.

    Raises
    ------
    UsageError
        If the system has loops; if an argument is invalid, or there are too few poses.
    NameUnknownError, ShapeError, NotFiniteError, GeometryError
        If there is no such body or parameter, or poses do not fit.
    ConvergenceError
        If the iteration does not end.

    See Also
    --------
    identify : inertial parameters from measured motion.
    System.geometric_base_parameters : identifiable combinations, before anything is measured.

    Notes
    -----
    By `scipy.optimize.least_squares`, with the exact derivative `System.geometric_regressor`. With
    the frames F and G of a joint on both bodies and the variations b and x, the joint takes its
    successor to C_p F exp(b) exp(x) T(q) exp(-x) G^-1. Errors of q are not in the standard errors.
    A camera or tool whose mounting is not known is a body on a fixed joint, whose placement is
    among the parameters. Source: Mueller 2018, section 6.2; docs/identification.md.

    Examples
    --------
    The zero of an encoder, from points that a camera saw:

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("arm")
    >>> arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 0, 1)), mech.world, arm)
    >>> system, tip = mech.assemble(), mb.spatial.translation((1, 0, 0))
    >>> q = np.linspace(-1.0, 1.0, 9)[:, None]
    >>> seen = system.pose("arm", q + 0.02, frame=tip)[:, :3, 3]
    >>> found = calibrate(
    ...     system, {"arm": seen}, ["hinge.placement[wz]"], q=q, frames={"arm": tip}
    ... )
    >>> found.parameters.round(9)
    array([0.02])
    >>> bool(np.allclose(found.system.pose("arm", q, frame=tip)[:, :3, 3], seen))
    True
    """
    check_kind(f"{_WHO}: system", system, System, "an mbkit.System")
    names = system.geometric_parameter_names  # refuses loops
    views, configurations = _views(system, poses, q, frames)
    chosen = _chosen(system, parameters, names, [each.body for each in views])
    given = noise_of(
        _WHO, noise, [(2,)], "two standard deviations, of rotations [rad] and positions [m]"
    )
    problem = _Problem(system, configurations, views, tuple(names[k] for k in chosen), chosen)
    parts = np.concatenate([each.parts for each in views])
    if given is None:
        given = np.ones(2)
        measured, groups = np.unique(parts, return_inverse=True)
        given[measured] = estimated_noise(problem.fit, groups, _ROUNDING)
    x, linear, residuals = problem.fit(given[parts])
    of_base, errors = linear.errors(len(x))
    ends = np.cumsum([len(each.parts) for each in views])[:-1]
    left = np.split(residuals, ends)
    return Identification(
        problem.names, x, errors, linear.base, linear.base.combinations @ x, of_base,
        linear.covariance,
        {each.body: rows.reshape(len(configurations), -1)
         for each, rows in zip(views, left, strict=True)},
        given, linear.condition, system, lambda: problem.values(x),
    )  # fmt: skip


class _View(NamedTuple):
    """Measurements of a body; `parts` is 0 for rows of rotations, 1 for rows of positions."""

    body: str
    frame: Any
    rotations: Any
    positions: Any
    parts: Any

    @classmethod
    def of(cls, body: str, frame: Any, measured: Any, samples: int) -> Self:
        given = numbers_of(measured)
        if given.shape not in ((samples, 4, 4), (samples, 3)):
            raise ShapeError(
                f"{_WHO}: poses of body '{body}' must have shape ({samples}, 4, 4), or "
                f"({samples}, 3) for positions, one for each row of q; got {np.shape(given)}."
            )
        check_ordinary(given, f"{_WHO}: poses of body '{body}'")
        if given.ndim == 2:
            return cls(body, frame, None, given, np.ones(3 * samples, dtype=np.int64))
        require_poses(given, f"{_WHO}: poses of body '{body}'")
        parts = np.tile(np.repeat([0, 1], 3), samples)
        return cls(body, frame, given[:, :3, :3], given[:, :3, 3], parts)

    def errors(self, C: FloatArray) -> FloatArray:
        """Return measured less that of poses C, in the axes of the world, one row a sample."""
        left: FloatArray = self.positions - C[:, :3, 3]
        if self.rotations is None:
            return left
        turned = SO3.log(self.rotations @ np.swapaxes(C[:, :3, :3], -1, -2))
        return np.concatenate([turned, left], axis=-1)

    def slopes(self, B: FloatArray, errors: FloatArray) -> FloatArray:
        """Return the derivative of the errors, for hybrid twists B (samples, 6, n)."""
        if self.rotations is None:
            return -B[:, 3:]
        # log(R_m R^T) where R moves with w: R_m R^T exp(-w)
        turned = -SO3.dexp_body_inv(errors[:, :3]) @ B[:, :3]
        return np.concatenate([turned, -B[:, 3:]], axis=-2)


@final
@attrs.frozen(eq=False, slots=False)
class _Problem:
    """The chosen of the geometric parameters, and the poses for them."""

    system: System
    q: FloatArray
    views: list[_View]
    names: tuple[str, ...]
    chosen: Any

    def values(self, x: FloatArray) -> dict[str, FloatArray]:
        """Return S_pred and S_succ of the joints by the names of the system's parameters."""
        found = {}
        for joint, b, s in self._variations(x):
            K = np.asarray(self.system.joint_places[joint].canonical_frame)
            for end, X in (("S_pred", SE3.exp(b) @ SE3.exp(s)), ("S_succ", SE3.exp(s))):
                name = f"joints.{joint}.{end}"
                found[name] = _orthonormal(self.system.parameters[name] @ K @ X @ inverse(K))
        return found

    def moved(self, x: FloatArray) -> System:
        """Return the system with variations."""
        return self.system.with_parameters(self.values(x))

    def residuals(self, moved: System) -> FloatArray:
        """Return measured less modelled, all in one row."""
        return np.concatenate(
            [each.errors(self._poses(moved, each)).ravel() for each in self.views]
        )

    def fit(self, noise: FloatArray) -> tuple[FloatArray, Linear, FloatArray]:
        """Return the parameters, the linear problem at these, and the residuals.

        Those that the poses identify move, where they can be separated; all others stay. Poses at
        the geometry found can identify more than those at the start do.
        """
        x = np.zeros(len(self.chosen))
        base = self._base_at_start
        while True:
            x = self._least(x, base, noise)
            moved = self.moved(x)
            better = self._base(moved)
            if len(better.independent) <= len(base.independent):
                break
            base = better
        W = -self.slopes(moved, x) / noise[:, None]
        linear = Linear.of(W, np.zeros(len(W)), base, _WHO)
        return x, linear, self.residuals(moved)

    @functools.cached_property
    def _base_at_start(self) -> BaseParameters:
        return self._base(self.system)

    def _base(self, moved: System) -> BaseParameters:
        """Return the variations from a system that its poses identify."""
        D = self._rows(moved)
        order = geometric_order(D.shape[1])
        place = {int(k): column for column, k in enumerate(self.chosen)}
        columns = np.array([place[int(k)] for k in order if int(k) in place], dtype=np.int64)
        largest = float(np.linalg.norm(D, axis=0).max())
        W = triangle([D[:, self.chosen]], len(self.chosen), _WHO)
        return base_of(W, self.names, columns, largest)

    def _least(self, x: FloatArray, base: BaseParameters, noise: FloatArray) -> FloatArray:
        """Return x with the identified parameters changed."""
        told = base.independent
        kept: dict[bytes, System] = {}

        def at(z: FloatArray) -> tuple[FloatArray, System]:
            there = np.array(x)
            there[told] = z
            key = z.tobytes()
            if key not in kept:
                kept.clear()
                kept[key] = self.moved(there)
            return there, kept[key]

        def slopes(z: FloatArray) -> FloatArray:
            there, moved = at(z)
            return self.slopes(moved, there)[:, told] / noise[:, None]

        found = np.array(x)
        if len(told):
            found[told] = minimised(
                lambda z: self.residuals(at(z)[1]) / noise, slopes, x[told], _WHO
            )
        return found

    def _rows(self, moved: System) -> FloatArray:
        """Return the derivative of the residuals by variations from a system."""
        blocks = []
        for view in self.views:
            B = moved.geometric_regressor(
                view.body, self.q, frame=view.frame, representation=Hybrid()
            )
            D = view.slopes(B, view.errors(self._poses(moved, view)))
            blocks.append(D.reshape(-1, D.shape[-1]))
        return np.concatenate(blocks)

    def slopes(self, moved: System, x: FloatArray) -> FloatArray:
        """Return the derivative of the residuals by the parameters.

        The regressor is of variations from the moved frames: those of b and x make
        Ad_exp(x)^-1 dexp(b) db, and dexp(x) dx.
        """
        D = self._rows(moved)
        joints = list(self.system.joint_places)
        for joint, b, s in self._variations(x):
            first = 12 * joints.index(joint)
            placement, screw = slice(first, first + 6), slice(first + 6, first + 12)
            D[:, placement] = D[:, placement] @ SE3.Ad(SE3.exp(-s)) @ SE3.dexp_body(b)
            D[:, screw] = D[:, screw] @ SE3.dexp_body(s)
        chosen: FloatArray = D[:, self.chosen]
        return chosen

    def _poses(self, moved: System, view: _View) -> FloatArray:
        return moved.pose(view.body, self.q, frame=view.frame)

    def _variations(self, x: FloatArray) -> list[tuple[str, FloatArray, FloatArray]]:
        """Return the joints that vary, with the variations of placement and screw."""
        full = np.zeros(len(self.system.geometric_parameter_names))
        full[self.chosen] = x
        rows = full.reshape(-1, 2, 6)
        joints = list(self.system.joint_places)
        return [(joints[k], *rows[k]) for k in np.unique(self.chosen // 12)]


def _orthonormal(C: FloatArray) -> FloatArray:
    """Return a pose whose rotation is one to rounding."""
    U, _, Vt = np.linalg.svd(C[:3, :3])
    found = np.array(C)
    found[:3, :3] = U @ Vt
    return found


def _views(system: System, poses: Any, q: ArrayLike, frames: Any) -> tuple[list[_View], FloatArray]:
    """Return the measurements, and the configurations, checked."""
    frames = {} if frames is None else frames
    example = system.body_names[-1]
    check_mapping(f"{_WHO}: poses", poses, f"bodies to poses or positions, {{{example!r}: poses}}")
    check_mapping(f"{_WHO}: frames", frames, f"bodies to poses (4, 4), {{{example!r}: pose}}")
    if not poses:
        raise UsageError(f"{_WHO}: poses of no body are given.")
    configurations = system.evaluator.arguments.with_leading_axes("q", q)
    if configurations.ndim != 2:
        raise ShapeError(
            f"{_WHO}: q must have shape (samples, {system.nq}), got {configurations.shape}."
        )
    check_ordinary(configurations, f"{_WHO}: q")
    for body in (*poses, *frames):
        system.body_index(body)
    unseen = [body for body in frames if body not in poses]
    if unseen:
        raise UsageError(f"{_WHO}: frames on {listed(unseen)}, of which no poses are given.")
    check_memory(
        12.0 * len(poses) * len(configurations) * 12.0 * len(system.joint_places),
        f"The regressor of {len(configurations)} poses", "give fewer samples",
    )  # fmt: skip
    views = []
    for body, measured in poses.items():
        frame = frames.get(body)
        if frame is not None:
            system.pose(body, configurations[:1], frame=frame)  # refuses arrays that are no poses
            frame = np.array(frame, dtype=np.float64)
            if frame.shape != (4, 4):
                raise ShapeError(
                    f"{_WHO}: frames on '{body}' must have shape (4, 4), got {frame.shape}."
                )
        views.append(_View.of(body, frame, measured, len(configurations)))
    return views, configurations


def _chosen(system: System, parameters: Any, names: tuple[str, ...], bodies: list[str]) -> Any:
    """Return the numbers of the chosen parameters."""
    index = {name: k for k, name in enumerate(names)}
    if parameters is None:
        q = system.reference_configuration()
        near = [
            np.any(system.geometric_regressor(body, q), axis=0).reshape(-1, 12).any(axis=1)
            for body in bodies
        ]
        return np.flatnonzero(np.repeat(np.any(near, axis=0), 12))
    found: dict[int, None] = {}
    kinds = [name.removesuffix("[wx]") for name in names[::6]]
    groups = {joint: range(12 * k, 12 * k + 12) for k, joint in enumerate(system.joint_places)}
    groups |= {kind: range(6 * k, 6 * k + 6) for k, kind in enumerate(kinds)}
    for name in names_given(_WHO, parameters):
        if name in index:
            found[index[name]] = None
        elif name in groups:
            found |= dict.fromkeys(groups[name])
        else:
            raise NameUnknownError(
                f"{_WHO}: there is no geometric parameter {name!r}; "
                f"{suggestion(name, (*names, *groups))}"
            )
    return np.array(sorted(found), dtype=np.int64)

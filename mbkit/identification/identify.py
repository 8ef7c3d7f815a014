"""Inertial parameters, and force parameters, from measured motion and efforts."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import InertiaError, MbkitError, UsageError, check_kind, check_switch
from mbkit.identification.fit_quality import warn_of_poor_fit
from mbkit.identification.force_numbers import exact_slopes, force_values
from mbkit.identification.inertias import (
    check_whole,
    of_bodies,
    of_combinations,
    sizes_of,
    with_possible_bodies,
)
from mbkit.identification.measured import Motion, Unknown, check_timeless, noise_of
from mbkit.identification.results import (
    Identification,
    Linear,
    completed,
    estimated_noise,
    minimised,
)
from mbkit.memory import check_memory
from mbkit.spatial import SpatialInertia
from mbkit.spatial.arrays import FloatArray
from mbkit.systems import BaseParameters, System
from mbkit.systems.parameters.base_parameters import base_of, triangle
from mbkit.systems.parameters.inertial_parameters import inertial_order

_WHO = "identify"

#: Efforts are linear in a force's numbers if the rest is below this part of their change.
_LINEAR = 1e-9

#: Noise that cannot be distinguished from rounding, in parts of the largest effort.
_ROUNDING = 1e-13

#: Weight of a log-Cholesky parameter that moves by one, in standard deviations: noise that wants
#: an impossible body draws them towards infinity.
_HELD = 1e-3

#: Step of differences by force parameters, relative to the parameter.
_STEP = 1e-5


def identify(
    system: System,
    data: Mapping[str, ArrayLike],
    parameters: Iterable[str] | None = None,
    *,
    noise: ArrayLike | None = None,
    consistent: bool = False,
) -> Identification:
    """Return inertial parameters, and force parameters, from measured motion and efforts.

    The efforts are those of actuators, besides the forces of the mechanism,
    ``inverse_dynamics(q, v, vdot, t=t)``, zero at passive joints. The sum of their squared errors,
    in parts of their noise, is made least.

    Parameters
    ----------
    system : System
        The mechanism, a tree. Parameters that are not identified keep its values.
    data : mapping of str to array_like
        Samples, one a row: ``q`` (samples, nq), ``v``, ``vdot``, ``efforts`` (samples, nv), and
        ``t`` (samples,) where forces depend on time.
    parameters : list of str, optional
        Inertial parameters, as of `System.inertial_parameter_names`; bodies, for all ten of them;
        force parameters, as ``"forces.damper.damping"`` of `System.parameters`. All inertial
        parameters if left out.
    noise : array_like, shape (nv,) or (samples, nv), optional
        Standard deviation of the efforts. If left out, one for each velocity is estimated from the
        residuals of a first fit without weights. [N m], [N]
    consistent : bool
        Whether the inertias of bodies shall be those of possible bodies; then all ten parameters of
        a body are identified, or none.

    Returns
    -------
    Identification
        Values, standard errors, unidentified parameters, residuals, and the system with the values.

    Raises
    ------
    UsageError
        If the system has loops; if an argument is invalid, data are missing, or there are too few.
    NameUnknownError, ShapeError, NotFiniteError
        If there is no such parameter, or data do not fit.
    InertiaError
        With `consistent`, if a body of the system has no mass, or mass in a plane: there is nothing
        to start from.
    ConvergenceError
        If the iteration does not end.

    Warns
    -----
    PoorFitWarning
        If the residuals of a velocity are far above the noise that is given, or at least half of
        its efforts.

    See Also
    --------
    calibrate : geometry from measured poses.
    System.base_parameters : identifiable combinations, before anything is measured.

    Notes
    -----
    By linear least squares, with combinations of parameters by rank, if forces are linear in their
    numbers; else by `scipy.optimize.least_squares`. `consistent` uses log-Cholesky parameters, in
    which any numbers are those of a body; the standard errors are then those of a fit without this
    bound. Errors of q, v and vdot are not in the standard errors, and bias the values: smooth
    them. Sources: Gautier 1991; Rucker, Wensing 2022 (Smooth parameterization of rigid-body
    inertia); docs/identification.md.

    Examples
    --------
    A pendulum with friction in its hinge:

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> ball = mb.SpatialInertia.sphere(2.0, radius=0.3)
    >>> bob = ball.transformed(mb.spatial.translation((0, 0, -1)))
    >>> bob = mech.add_body(mb.Body("bob", bob))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    >>> friction = mech.add_force(mb.JointDamper("friction", "hinge", damping=1.0))
    >>> system = mech.assemble()
    >>> t = np.linspace(0.0, 3.0, 50)[:, None]
    >>> q, v, vdot = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    >>> efforts = 2.5 * vdot + 20.0 * np.sin(q) + 0.3 * v
    >>> found = identify(
    ...     system, {"q": q, "v": v, "vdot": vdot, "efforts": efforts},
    ...     ["bob", "forces.friction.damping"], noise=[0.01],
    ... )
    >>> found.base.names[2:], found.base_values[2:].round(6)
    (('bob.moment_about_origin[yy]', 'forces.friction.damping'), array([2.5, 0.3]))
    >>> round(found.system.parameters["forces.friction.damping"], 6)
    0.3
    """
    check_kind(f"{_WHO}: system", system, System, "an mbkit.System")
    check_switch(f"{_WHO}: consistent", consistent)
    if system.arrays.closure:
        raise UsageError(
            f"{_WHO}: system '{system.name}' has loops, or is in absolute coordinates: efforts of "
            f"its joints do not tell the forces of its constraints. Give the tree."
        )
    motion, unknown = Motion.of(system, data), Unknown.of(system, parameters)
    if "t" not in data:
        check_timeless(system, motion)
    shape = motion.efforts.shape
    words = f"standard deviations of shape ({system.nv},) or {shape}"
    told = given = noise_of(_WHO, noise, [(system.nv,), shape], words)
    if consistent:
        check_whole(unknown)
    problem = _Problem.of(system, motion, unknown)

    if given is None:
        groups = np.tile(np.arange(system.nv), len(motion.q))
        rounding = _ROUNDING * float(np.abs(motion.efforts).max(initial=0.0))
        given = estimated_noise(problem.fit, groups, max(rounding, _ROUNDING))
    rows = np.broadcast_to(given, shape).ravel()
    x, linear, residuals = problem.fit(rows, consistent)
    warn_of_poor_fit(system, motion.efforts, residuals.reshape(shape), told)
    if not consistent:
        x = with_possible_bodies(unknown, linear, problem.sizes, x)
    of_base, errors = linear.errors(len(x))
    return Identification(
        unknown.names, x, errors, linear.base, linear.base.combinations @ x, of_base,
        linear.covariance, residuals.reshape(shape), given, linear.condition, system,
        lambda: _values(system, unknown, x),
    )  # fmt: skip


@final
@attrs.frozen(eq=False, slots=False)
class _Problem:
    """``Y x_inertial - F(x_forces) = efforts - rest``, F the forces, Y the chosen columns."""

    system: System
    motion: Motion
    unknown: Unknown
    Y: FloatArray
    largest: float  # size of the largest column of the whole regressor
    sizes: FloatArray  # of the parameters
    target: FloatArray  # efforts, less those by parameters that are not identified
    affine: FloatArray | None  # of the forces, by their numbers, where it is constant

    @classmethod
    def of(cls, system: System, motion: Motion, unknown: Unknown) -> _Problem:
        width = len(system.inertial_parameter_names)
        check_memory(
            3.0 * motion.efforts.size * (width + len(unknown.forces)),
            f"The regressor of {len(motion.q)} samples and {width} parameters",
            "give fewer samples",
        )
        full = system.inertial_regressor(motion.q, motion.v, motion.vdot)
        full = full.reshape(-1, width)
        rest = np.ones(width, dtype=bool)
        rest[unknown.inertial] = False
        target = motion.efforts.ravel() - full[:, rest] @ system.inertial_parameters[rest]
        largest = float(np.linalg.norm(full, axis=0).max(initial=0.0))
        made = cls(
            system, motion, unknown, full[:, unknown.inertial], largest,
            sizes_of(system, unknown), target, None,
        )  # fmt: skip
        return attrs.evolve(made, affine=made._slopes_if_constant())

    @property
    def count(self) -> int:
        """Number of inertial parameters, which come first."""
        return len(self.unknown.inertial)

    def forces(self, numbers: Any) -> FloatArray:
        """Return the forces in one row, for numbers of theirs."""
        values = force_values(self.system, self.unknown, numbers)
        system = self.system.with_parameters(values) if values else self.system
        m = self.motion
        return system.generalized_forces(m.q, m.v, m.t).ravel()

    def residuals(self, x: FloatArray) -> FloatArray:
        """Return measured less fitted; where forces are linear, for numbers beyond bounds too."""
        n = self.count
        if self.affine is not None:
            W, y = self._weighted(np.ones(1))
            return y - W @ x
        found: FloatArray = self.target + self.forces(x[n:]) - self.Y @ x[:n]
        return found

    def fit(
        self, noise: FloatArray, consistent: bool = False
    ) -> tuple[FloatArray, Linear, FloatArray]:
        """Return the parameters, the linear problem at these, and the residuals."""
        if self.affine is not None and not consistent:
            linear = Linear.of(*self._weighted(noise), self._base_of_all, _WHO)
            x = completed(linear.base, linear.values, self.unknown.start, self.sizes)
        else:
            x = self._least(noise, consistent)
            W = self._derivative(x, noise)
            linear = Linear.of(W, np.zeros(len(W)), self._base(W, noise), _WHO)
        return x, linear, self.residuals(x)

    @functools.cached_property
    def _base_of_all(self) -> BaseParameters:
        """Base parameters where forces are linear in theirs; weights do not change them."""
        W = np.column_stack([self.Y, -np.asarray(self.affine)])
        return self._base(W, np.ones(1))

    def _base(self, W: FloatArray, noise: FloatArray) -> BaseParameters:
        """Return the combinations that the columns of W identify, inertial and those of forces."""
        width = W.shape[1]
        order = np.concatenate([self._order(), np.arange(self.count, width)])
        least = self.largest / float(noise.max())
        return base_of(triangle([W], width, _WHO), self.unknown.names[:width], order, least)

    def _order(self) -> Any:
        """Return in which order the inertial columns are kept."""
        order = inertial_order(10 * len(self.system.body_names[1:]))
        place = {int(k): column for column, k in enumerate(self.unknown.inertial)}
        return np.array([place[int(k)] for k in order if int(k) in place], dtype=np.int64)

    def _least(self, noise: FloatArray, consistent: bool) -> FloatArray:
        """Return the parameters by an iteration."""
        n, start = self.count, self.unknown.start
        if consistent:
            coordinates = of_bodies(self.unknown)
        else:
            base = self._base(self.Y / noise[:, None], noise)
            coordinates = of_combinations(base, start[:n], self.sizes)
        size, held = len(coordinates.start), (_HELD if consistent else 0.0)
        first = np.concatenate([coordinates.start, start[n:]])
        if self.affine is None:
            left: Any = lambda x: -self.residuals(x) / noise  # noqa: E731
            derivative: Any = lambda x: self._derivative(x, noise)  # noqa: E731
        else:  # the same sums of squares, of few rows
            W, y = self._weighted(noise)
            R: Any = np.linalg.qr(np.column_stack([W, y]), mode="r")
            left = lambda x: R[:, :-1] @ x - R[:, -1]  # noqa: E731
            derivative = lambda _: R[:, :-1]  # noqa: E731

        def parameters(y: Any) -> Any:
            return np.concatenate([coordinates.parameters(y[:size]), y[size:]])

        def residual(y: Any) -> Any:
            return np.concatenate([left(parameters(y)), held * (y - first)[:size]])

        def slopes(y: Any) -> Any:
            D = derivative(parameters(y))
            D = np.column_stack([coordinates.columns(D[:, :n], y[:size]), D[:, n:]])
            return np.vstack([D, held * np.eye(size, len(y))])

        lower = np.concatenate([np.full(size, -np.inf), self._lower()])
        found: FloatArray = parameters(
            minimised(
                residual, slopes, first, _WHO, tolerance=1e-6 if consistent else 1e-13,
                bounds=(lower, np.inf), x_scale=1.0 if consistent else "jac",
            )
        )  # fmt: skip
        return found

    def _weighted(self, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return W and y of W x = y, where forces are linear."""
        numbers, affine = self.unknown.start[self.count :], np.asarray(self.affine)
        y = self.target + self.forces(numbers) - affine @ numbers
        return np.column_stack([self.Y, -affine]) / noise[:, None], y / noise

    def _derivative(self, x: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the derivative of the fitted efforts, weighted."""
        found: FloatArray = np.column_stack([self.Y, -self._slopes(x[self.count :])])
        return found / noise[:, None]

    # -------------------------------------------------------------------------- force parameters

    def _tried(self, numbers: Any) -> FloatArray | None:
        """Return the forces for numbers, None if the system refuses these."""
        try:
            return self.forces(numbers)
        except MbkitError:
            return None

    def _slopes_if_constant(self) -> FloatArray | None:
        """Return the derivative of the forces by their numbers, if it is constant."""
        start = self.unknown.start[self.count :]
        steps = np.diag(np.maximum(np.abs(start), 1.0))
        if not len(start):
            return np.zeros((len(self.Y), 0))
        middle = self.forces(start)
        moved = [*steps, *(2.0 * steps), steps.sum(axis=0)]
        tried = [self._tried(start + step) for step in moved]
        changes = np.array([each - middle for each in tried if each is not None])
        if len(changes) < len(moved):
            return None
        D = changes[: len(start)]
        bent = [changes[len(start) : -1] - 2.0 * D, changes[-1] - D.sum(axis=0)]
        if max(np.abs(each).max() for each in bent) > _LINEAR * np.abs(D).max():
            return None
        found: FloatArray = (D / np.diagonal(steps)[:, None]).T
        return found

    def _slopes(self, numbers: Any) -> FloatArray:
        """Return the derivative of the forces by their numbers: exact, or by differences."""
        if self.affine is not None:
            return self.affine
        system = self.system.with_parameters(force_values(self.system, self.unknown, numbers))
        exact = exact_slopes(system, self.motion, self.unknown)
        if exact is not None:
            return exact
        columns = []
        for k, step in enumerate(_STEP * np.maximum(np.abs(numbers), 1e-2)):
            ends = []
            for sign in (1.0, -1.0):
                there = np.array(numbers)
                there[k] += sign * step
                ends.append((self._tried(there), sign * step))
            known = [each for each in ends if each[0] is not None]
            if len(known) < 2:  # at a bound
                known.append((self.forces(numbers), 0.0))
            (a, e), (b, f) = known[:2]
            columns.append((np.asarray(a) - np.asarray(b)) / (e - f))
        return np.array(columns).reshape(-1, len(self.Y)).T

    def _lower(self) -> FloatArray:
        """Return 0 for numbers that must not be negative."""
        start = self.unknown.start[self.count :]
        found = np.full(len(start), -np.inf)
        for k in range(len(start)):
            there = np.array(start)
            there[k] = -abs(there[k]) - 1.0
            if self._tried(there) is None and start[k] >= 0.0:
                found[k] = 0.0
        return found


def _values(system: System, unknown: Unknown, x: FloatArray) -> dict[str, Any]:
    """Return the parameters of the system by name, with new inertias and force parameters."""
    n = len(unknown.inertial)
    values = force_values(system, unknown, x[n:])
    rows = np.array(system.inertial_parameters)
    rows[unknown.inertial] = x[:n]
    rows = rows.reshape(-1, 10)
    for k in np.unique(unknown.inertial // 10):
        name = system.body_names[1 + k]
        if f"bodies.{name}.moment_about_com" not in system.parameters:
            raise UsageError(
                f"identify: body '{name}' computes its inertia from its dimensions, so that no "
                "other one can be put in its place; make it an mbkit.RigidBody in the model."
            )
        try:
            inertia = SpatialInertia.from_parameters(rows[k])
        except InertiaError as error:
            raise InertiaError(f"Body '{name}': {error}") from error
        for field in ("mass", "com", "moment_about_com"):
            values[f"bodies.{name}.{field}"] = getattr(inertia, field)
    return values

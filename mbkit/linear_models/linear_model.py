"""Linear models of mechanisms, with named states, inputs and outputs."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import (
    NoEquilibriumWarning,
    NotFiniteError,
    UsageError,
    check_switch,
    listed,
)
from mbkit.extras import extra_package
from mbkit.lie.arrays import as_floats
from mbkit.linear_models.modes import Modes, SecondOrderForm, modes_of, symmetric_modes
from mbkit.spatial.arrays import FloatArray

if TYPE_CHECKING:
    import control
    from scipy.signal import StateSpace

#: How much K may be unsymmetric, by its largest entry, and which damping ratios count as none:
#: forces are differentiated by differences.
_SYMMETRIC, _UNDAMPED = 1e-9, 1e-10

#: How the note begins of a state in which forces balance, and v is not zero.
STEADY = "in steady motion"

#: Stiffness that counts as none, in parts of the largest.
_LOOSE = 1e-11


@final
@attrs.frozen(eq=False, repr=False)
class LinearModel:
    """Small motions of a system around a state: ``x' = A x + B u``, ``y = C x + D u``.

    Made by `System.linearize`. x are the increments of the independent coordinates, along the
    configuration group, and of their velocities, from the motion that passes through the state;
    u and y are changes of inputs and outputs.

    Attributes
    ----------
    name : str
        That of the system.
    state_names, input_names, output_names : tuple of str
        ``"main.q"``, ``"main.v"``; inputs and outputs as they were named.
    A, B, C, D : ndarray, shape (n, n), (n, inputs), (outputs, n), (outputs, inputs)
        The model.
    mass, damping, stiffness : ndarray, shape (n/2, n/2)
        The second-order form ``mass xi'' + damping xi' + stiffness xi = input_matrix u`` of the
        independent coordinates; for a state in motion with joints in group coordinates,
        ``xi' = eta + E xi``, the upper left block of A, takes the place of xi'.
    input_matrix : ndarray, shape (n/2, inputs)
        Generalized forces of the inputs in the independent coordinates.
    q, v, vdot : ndarray
        The state, and its acceleration.
    t : float
        Time. [s]
    is_equilibrium : bool
        Whether the state is at rest, and the forces balance to 1e-8 of the largest, the weight
        included.
    state_note : str
        A description of the state.

    Examples
    --------
    See `System.linearize`.
    """

    name: str
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    input_matrix: FloatArray
    is_equilibrium: bool
    state_note: str
    _form: SecondOrderForm

    @property
    def independent(self) -> tuple[str, ...]:
        """Names of the independent coordinates."""
        return self._form.names

    @property
    def mass(self) -> FloatArray:
        """``H^T M H``."""
        return self._form.M

    @property
    def damping(self) -> FloatArray:
        """The change of the forces by velocities, with its sign turned."""
        return self._form.D

    @property
    def stiffness(self) -> FloatArray:
        """The change of the forces by positions, with its sign turned: the static stiffness."""
        return self._form.K

    @property
    def q(self) -> FloatArray:
        """Configuration (nq,)."""
        return self._form.q

    @property
    def v(self) -> FloatArray:
        """Velocity (nv,)."""
        return self._form.v

    @property
    def vdot(self) -> FloatArray:
        """Acceleration (nv,)."""
        return self._form.vdot

    @property
    def t(self) -> float:
        """Time, in seconds."""
        return self._form.t

    def modes(self, *, damped: bool = True) -> Modes:
        """Return natural frequencies, damping ratios and mode shapes.

        Parameters
        ----------
        damped : bool
            Whether the damping matrix is considered.

        Returns
        -------
        Modes
            Of A; by ``scipy.linalg.eigh`` of stiffness and mass where these are symmetric and
            there is no damping, or it is left out.

        Raises
        ------
        UsageError
            If damping is to be left out and the stiffness is not symmetric, as where the state is
            not at rest or forces follow their body.

        Warns
        -----
        NoEquilibriumWarning
            If forces do not balance at the state; `Modes.warnings` keeps the text.
        """
        check_switch("damped", damped)
        found = self._modes(damped=damped)
        is_steady = self.is_equilibrium or self.state_note.startswith(STEADY)
        if is_steady or not self.independent:
            return found
        text = (
            f"The state of '{self.name}' is {self.state_note}: these modes are of motions near the "
            f"one through the state, at this instant, and no oscillations about a rest. For those, "
            f"linearize at an equilibrium: system.linearize(system.equilibrium(q))."
        )
        warnings.warn(text, NoEquilibriumWarning, stacklevel=2)
        return attrs.evolve(found, warnings=(text,))

    def _modes(self, *, damped: bool) -> Modes:
        """Return the modes, whatever the state is."""
        form = self._form
        symmetric = not form.E.any() and _small(form.K - form.K.T, form.K)
        if not damped and not symmetric:
            raise UsageError(
                f"The stiffness of '{self.name}' at this state is not symmetric ({self.state_note})"
                f": without damping its modes are no eigenvectors of stiffness and mass; "
                f"ask for modes() of the whole model."
            )
        scale = np.sqrt(np.abs(form.K).max(initial=0.0) * np.abs(form.M).max(initial=0.0))
        if symmetric and (not damped or np.abs(form.D).max(initial=0.0) <= _UNDAMPED * scale):
            return symmetric_modes(form, damped=damped)
        return modes_of(form, self.A)

    def compliance(self) -> FloatArray:
        """Return the changes of outputs by constant inputs, at rest, (outputs, inputs).

        Raises
        ------
        UsageError
            If the state is no equilibrium, or the mechanism is free to move there; the message
            names the joints.
        """
        if not self.is_equilibrium:
            raise UsageError(
                f"compliance is at an equilibrium, and this state of '{self.name}' is none: "
                f"{self.state_note}. Linearize at one: system.linearize(system.equilibrium(q))."
            )
        K = self.stiffness
        _, sizes, directions = np.linalg.svd(K)
        if len(K) and sizes[-1] <= _LOOSE * max(sizes[0], 1e-300):
            loose = np.abs(directions[sizes <= _LOOSE * sizes[0]]).max(axis=0)
            names = [n for n, x in zip(self.independent, loose, strict=True) if x > 1e-6]
            raise UsageError(
                f"'{self.name}' has no stiffness against motions of {listed(names)}: constant "
                f"inputs move it away. Hold them, or add springs."
            )
        still = np.linalg.solve(K, self.input_matrix)
        return self.C[:, : len(K)] @ still + self.D

    def frequency_response(self, omega: ArrayLike) -> Any:
        """Return ``C (i omega - A)^-1 B + D``.

        Parameters
        ----------
        omega : array_like, shape (...)
            Angular frequencies. [rad/s]

        Returns
        -------
        ndarray of complex, shape (..., outputs, inputs)
            At an undamped natural frequency it is infinite, and the result is infinite or as
            large as rounding of omega and A makes it, such as 1e15.

        Raises
        ------
        NotFiniteError
            If a frequency is not finite.
        """
        given = as_floats(omega, "omega")
        if not np.isfinite(given).all():
            raise NotFiniteError(
                f"frequency_response: omega must be finite, got {given[~np.isfinite(given)][0]}; "
                f"far above all natural frequencies the response is D."
            )
        unit = np.eye(len(self.A))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.empty((given.size, *self.D.shape), dtype=complex)
            for k, each in enumerate(given.ravel()):
                try:
                    found[k] = self.C @ np.linalg.solve(1j * each * unit - self.A, self.B) + self.D
                except np.linalg.LinAlgError:
                    found[k] = np.inf
        return found.reshape((*given.shape, *self.D.shape))

    def to_scipy(self) -> StateSpace:
        """Return a `scipy.signal.StateSpace`; it has no names."""
        from scipy.signal import StateSpace

        self._check_size("to_scipy")
        return StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> control.StateSpace:
        """Return a `control.StateSpace` with named signals, "main_q" for "main.q".

        Raises
        ------
        UsageError
            If python-control is not installed.
        """
        control = extra_package("control", "to_control needs python-control", "control")
        self._check_size("to_control")
        names = {
            key: [_plain(name) for name in given]
            for key, given in (
                ("states", self.state_names), ("inputs", self.input_names),
                ("outputs", self.output_names),
            )
        }  # fmt: skip
        return control.ss(self.A, self.B, self.C, self.D, name=_plain(self.name), **names)

    def _check_size(self, who: str) -> None:
        for what, names in (
            ("states", self.state_names),
            ("inputs", self.input_names),
            ("outputs", self.output_names),
        ):
            if not names:
                raise UsageError(f"{who}: the model of '{self.name}' has no {what}.")

    def __repr__(self) -> str:
        def row(what: str, names: tuple[str, ...]) -> str:
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            return f"  {what:8s} {len(names):3d}  {', '.join(names[:8])}{more}".rstrip()

        lines = [
            f"LinearModel of '{self.name}': {self.state_note}",
            row("states", self.state_names), row("inputs", self.input_names),
            row("outputs", self.output_names),
        ]  # fmt: skip
        return "\n".join(lines)


def _small(A: FloatArray, of: FloatArray) -> bool:
    return bool(np.abs(A).max(initial=0.0) <= _SYMMETRIC * np.abs(of).max(initial=0.0))


def _plain(name: str) -> str:
    """Return a name as python-control takes it, which uses dots itself."""
    return re.sub(r"[.\s]", "_", name)

"""Natural frequencies, damping ratios and mode shapes."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.given_values import is_whole
from mbkit.representations import Hybrid, Representation
from mbkit.spatial.arrays import FloatArray

#: Bounds of zero: of squares of frequencies, in parts of the largest; of the imaginary part of
#: an eigenvalue, in parts of the largest eigenvalue; of its real part, in parts of the norm of A
#: times the condition number of the eigenvalue. Rounding leaves up to 1e-16 of the real parts of
#: gyroscopic chains with 4 to 64 states, differentiation of forces by differences 1e-12.
_ZERO = 1e-12

#: Joints of a mode that its text names.
_NAMED = 3


@final
@attrs.frozen(eq=False)
class SecondOrderForm:
    """Small motions around a state: ``M eta' + D eta + K xi = F u``, ``xi' = eta + E xi``.

    Attributes
    ----------
    system : System
        Which moves.
    q, v, vdot, t
        The state, with its acceleration.
    names : tuple of str
        The independent coordinates.
    H : ndarray, shape (nv, m)
        Increments of all joints by those of the independent coordinates.
    M, D, K, E : ndarray, shape (m, m)
        The equations.
    sizes, units : ndarray, shape (nv,)
        Factors that make velocities comparable, and the unit of an entry: 1 rad, or the length.
    """

    system: Any
    q: FloatArray
    v: FloatArray
    vdot: FloatArray
    t: float
    names: tuple[str, ...]
    H: FloatArray
    M: FloatArray
    D: FloatArray
    K: FloatArray
    E: FloatArray
    sizes: FloatArray
    units: FloatArray


@final
@attrs.frozen(eq=False, repr=False)
class Modes:
    """Modes of small motions, by rising frequency.

    Attributes
    ----------
    eigenvalues : ndarray of complex, shape (k,)
        s of motions ``shape exp(s t)``: one of each conjugate pair, that with a positive imaginary
        part, and all real ones; without damping, one of each pair. [1/s]
    shapes : ndarray of complex, shape (nv, k)
        Motions of all joints, dependent ones included, along increments of q; the largest entry is
        1, where translations count in parts of the length of the system.
    damped : bool
        Whether damping was considered.
    warnings : tuple of str
        A warning: that forces do not balance at the state.

    Notes
    -----
    A real part is zero if it is at most ``1e-12 |A| kappa``: with A balanced (LAPACK's gebal), |A|
    its largest singular value, and ``kappa = 1 / |y^H x|``, of unit left and right eigenvectors y
    and x, the condition number of the eigenvalue (Wilkinson 1965), to first order its shift with
    A changed by 1e-12 |A|. Where ``kappa >= 1e6``, such a change may make it a multiple one
    with one eigenvector, as at the onset of flutter: real parts are left as they are then, and the
    modes do not count as stable unless they are below ``-1e-12 |A| kappa``.
    """

    eigenvalues: Any
    shapes: Any
    damped: bool
    _form: SecondOrderForm
    _defective: Any
    warnings: tuple[str, ...] = ()

    @property
    def omega(self) -> FloatArray:
        """Natural angular frequencies ``|s|`` in rad/s, 0 where the motion does not oscillate."""
        return np.where(self.eigenvalues.imag > 0.0, np.abs(self.eigenvalues), 0.0)

    @property
    def frequency(self) -> FloatArray:
        """Natural frequencies, in Hz."""
        return self.omega / (2.0 * np.pi)

    @property
    def damping_ratio(self) -> FloatArray:
        """``-Re s / |s|``: 1 for a motion that decays without oscillating, -1 if it grows."""
        size = np.abs(self.eigenvalues)
        ratio = -self.eigenvalues.real / np.where(size > 0.0, size, 1.0)
        return np.asarray(ratio + 0.0)

    @property
    def is_stable(self) -> bool:
        """Whether all modes decay or oscillate: none grows, and none is neutral.

        Real parts that are rounding are zero, by the tolerance in the notes of the class. At the
        onset of flutter, where two modes become one, the motion grows with t, and this is False.
        """
        s = self.eigenvalues
        steady = (s.real < 0.0) | ((s.real == 0.0) & (s.imag > 0.0))
        return bool(np.all(steady & ~self._defective))

    def shape(self, mode: int) -> dict[str, complex]:
        """Return the motion of each joint in a mode, by the names of velocities.

        Parameters
        ----------
        mode : int
            Its number, from 0; as in lists, -1 is the last.

        Raises
        ------
        UsageError
            If there is no such mode.
        """
        names, count = self._form.system.velocity_names, len(self.eigenvalues)
        if not (is_whole(mode) and -count <= mode < count):
            raise UsageError(
                f"shape: mode must be an integer of 0 or more and below {count}, the number of "
                f"modes of '{self._form.system.name}', got {mode!r}."
            )
        return dict(zip(names, self.shapes[:, mode].tolist(), strict=True))

    def twists(self, body: str, representation: Representation | None = None) -> Any:
        """Return the motion of a body in each mode as a twist, shape (6, k).

        Parameters
        ----------
        body : str
            The body's name.
        representation : Representation, optional
            By default `Hybrid`: a small rotation and the displacement of the origin of the body's
            frame, in the axes of the world.

        Raises
        ------
        NameUnknownError
            If there is no such body.
        """
        form = self._form
        chosen = Hybrid() if representation is None else representation
        return form.system.jacobian(body, form.q, representation=chosen) @ self.shapes

    def __repr__(self) -> str:
        system = self._form.system
        lines = [
            f"Modes of '{system.name}'" + ("" if self.damped else ", without damping"),
            "  mode  frequency [Hz]  omega [rad/s]  damping ratio  largest motions",
        ]
        rows = zip(self.frequency, self.omega, self.damping_ratio, strict=True)
        for k, (hertz, omega, ratio) in enumerate(rows):
            size = np.abs(self.shapes[:, k] * self._form.sizes)
            largest = [int(j) for j in np.argsort(-size, kind="stable")[:_NAMED] if size[j] > 0.0]
            named = ", ".join(
                f"{system.velocity_names[j]} {_number(self.shapes[j, k])}" for j in largest
            )
            motion = f"{hertz:14.6g}  {omega:13.6g}"
            if omega == 0.0:
                motion = f"{f'exp({self.eigenvalues[k].real:.6g} t)':>29}"
            lines.append(f"  {k:4d}  {motion}  {ratio:13.4g}  {named}")
        if not len(self.eigenvalues):
            lines.append("  none: nothing can move")
        lines += [f"  warning: {each}" for each in self.warnings]
        return "\n".join(lines)


def _number(x: complex) -> str:
    phase = round(float(np.angle(x, deg=True)))
    if phase % 180 == 0:
        return f"{abs(x):.3g}" if phase == 0 else f"{-abs(x):.3g}"
    return f"{abs(x):.3g} at {phase} deg"


def modes_of(form: SecondOrderForm, A: FloatArray) -> Modes:
    """Return the modes of the first-order form ``x' = A x``, x = (xi, eta)."""
    from scipy.linalg import eig, matrix_balance

    m = len(form.names)
    if not m:
        return symmetric_modes(form, damped=True)
    balanced, scales = matrix_balance(A)
    s, left, vectors = eig(balanced, left=True, right=True)
    s.imag[np.abs(s.imag) <= _ZERO * np.abs(s).max()] = 0.0
    product = np.abs((left.conj() * vectors).sum(axis=0))  # 1 / kappa; 0 of a defective one
    small = np.abs(s.real) * product <= _ZERO * np.linalg.norm(balanced, 2)
    defective = small & (product <= np.sqrt(_ZERO))
    s.real[small & ~defective] = 0.0
    kept = np.flatnonzero(s.imag >= 0.0)
    order = kept[np.lexsort((s[kept].imag, np.abs(s[kept])))]
    shapes = _scaled(form, form.H @ (scales @ vectors)[:m, order])
    return Modes(s[order], shapes, True, form, defective[order])


def symmetric_modes(form: SecondOrderForm, *, damped: bool) -> Modes:
    """Return the modes of ``M xi'' + K xi = 0``, by eigh."""
    from scipy.linalg import eigh

    m = len(form.names)
    symmetric = (form.K + form.K.T) / 2.0
    squares, vectors = eigh(symmetric, form.M) if m else (np.zeros(0), np.zeros((0, 0)))
    squares[np.abs(squares) <= _ZERO * np.abs(squares).max(initial=0.0)] = 0.0
    s = np.where(squares < 0.0, np.sqrt(np.abs(squares)), 1j * np.sqrt(np.abs(squares)))
    return Modes(s, _scaled(form, form.H @ vectors), damped, form, np.zeros(len(s), dtype=bool))


def _scaled(form: SecondOrderForm, shapes: Any) -> Any:
    """Return shapes whose largest entry is 1, in radians or parts of the length."""
    compared = np.abs(shapes) * form.sizes[:, None]
    shapes = np.array(shapes, dtype=complex)
    if not shapes.size:
        return shapes
    first = np.argmax(compared >= (1.0 - 1e-9) * compared.max(axis=0), axis=0)
    columns = np.arange(shapes.shape[1])
    return shapes / (shapes[first, columns] / form.units[first])

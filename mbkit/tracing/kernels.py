"""mbkit's kernels on traced numbers: copies of their functions, run by Python.

See decision 32 for why they are copied by `mbkit.autodiff.retarget`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.autodiff.retarget import Retargeting
from mbkit.autodiff.tape import Number, Traced, apply
from mbkit.tracing.branches import BranchingTape
from mbkit.tracing.curves import Curves
from mbkit.tracing.memory import Mirror

__all__ = ["KernelCopies"]


class KernelCopies(Retargeting):
    """Copies of kernels that work on a mirror of their memory.

    Parameters
    ----------
    mirror : Mirror
        The memory.
    maps : object
        Replacements of functions that have a series next to zero: `ClosedForms` or `SmoothForms`.
    """

    def __init__(self, mirror: Mirror, maps: ClosedForms) -> None:
        super().__init__()
        from mbkit.kernels import compile as door
        from mbkit.kernels import integers_in_floats
        from mbkit.kernels.constraints.kinds import loop_joint
        from mbkit.kernels.joints import revolute_prismatic_screw, unit_quaternion
        from mbkit.kernels.lie import quaternion, series
        from mbkit.kernels.simd import matrix_product, rows, weighted_sums

        self._curves = Curves(maps.tape)
        pairs: list[tuple[Any, Callable[..., Any]]] = [
            (door.records_at, mirror.records_at),
            (door.floats_at, mirror.floats_at),
            (door.integers_at, mirror.integers_at),
            (door.pointer_at, mirror.pointer_at),
            (door.call_address, mirror.call_address),
            (door.at, lambda array, index: array.reshape(-1)[index:]),
            (door.pointer_after, lambda pointer, count: pointer[count:]),
            (door.as_array, lambda pointer, count: pointer[:count]),
            (door.of_one, lambda function, arguments: function(*arguments)),
            (matrix_product.multiply, _multiply),
            (rows.times, rows.times_in_python),
            (rows.plus_times, rows.plus_times_in_python),
            (rows.add_to, rows.add_to_in_python),
            (weighted_sums.weigh, weighted_sums.weigh_in_python),
            (weighted_sums.solve_and_spread, weighted_sums.solve_and_spread_in_python),
            (integers_in_floats.shared, lambda x: x),
            (unit_quaternion.normalised, maps.normalised),
            (quaternion.quaternion_exp, maps.quaternion_exp),
            (quaternion.quaternion_log, maps.quaternion_log),
            (quaternion.quaternion_from_rotation, maps.quaternion_from_rotation),
            (revolute_prismatic_screw.locate_screw, _locate_screw),
            (series.a1_a2, maps.coefficients("a1_a2")),
            (series.a2_a3, maps.coefficients("a2_a3")),
            (series.b2_b3, maps.coefficients("b2_b3")),
            (series.c2_c3, maps.coefficients("c2_c3")),
            *maps.elementary(),
            *self._curves.stand_ins(),
        ]
        pairs.append((loop_joint.log_near, self._logarithm))
        self._stand_ins = {python_of(kernel): made for kernel, made in pairs}

    def replace(self, kernel: Any, function: Callable[..., Any]) -> None:
        """Let a function stand for a kernel from now on."""
        self._stand_ins[python_of(kernel)] = function

    def _logarithm(self, R: Any, d: Any) -> Any:
        """Return log(R, d) on SE(3), for every angle below pi."""
        from mbkit.kernels.lie import so3

        x = self.convert(so3.so3_log)(R)
        return x, self.convert(so3.so3_dexp_spatial_inv)(x, d)

    def _entry_of_curve(
        self, curves: tuple[Any, ...], order: int, component: int, x: Traced
    ) -> Number:
        """Return an entry of a curve of scipy by its pieces."""
        return self._curves.scipy(curves[order], component, x)

    def _function(self, function: Any, cell: Any = None) -> Any:
        made = self._stand_ins.get(function)
        return super()._function(function, cell) if made is None else made


def python_of(kernel: Any) -> Any:
    """Return the Python function of a helper, of an intrinsic, or of an uncompiled function."""
    return inspect.unwrap(getattr(kernel, "py_func", kernel))


class ClosedForms:
    """Functions of the Lie groups in the form that holds for every angle but zero."""

    def __init__(self, tape: BranchingTape) -> None:
        self.tape = tape

    def elementary(self) -> list[tuple[Any, Callable[..., Any]]]:
        """Return the replacements of elementary functions."""
        from mbkit.kernels import elementary

        return [
            (elementary.sqrt, lambda x: apply("sqrt", x)),
            (elementary.sin, lambda x: apply("sin", x)),
            (elementary.cos, lambda x: apply("cos", x)),
            (elementary.sin_cos, lambda x: (apply("sin", x), apply("cos", x))),
            (elementary.select, lambda condition, x, y: x if condition else y),
            (elementary.any_lane, bool),
            (elementary.all_lanes, bool),
            (elementary.limit_of, lambda x, doubles, singles: doubles),
            (elementary.arctan2, lambda y, x: apply("arctan2", y, x)),
            (elementary.isfinite, lambda x: True),
        ]

    def normalised(self, Q: Any) -> tuple[bool, Any]:
        """Return a quaternion as it is, of length one."""
        return True, tuple(Q)

    def quaternion_exp(self, x: Any) -> Any:
        """Return (cos(phi/2), sin(phi/2) x / phi)."""
        quarter = 0.25 * _dot(x, x)
        sinc, _ = self.coefficients("a1_a2")(quarter)
        cosine = self.coefficients("cosine")(quarter)
        return (cosine, *(0.5 * sinc * x_k for x_k in x))

    def quaternion_log(self, q: Any) -> Any:
        """Return the rotation vector of a quaternion whose first entry is not negative."""
        sine = apply("sqrt", _dot(q[1:], q[1:]))
        factor = 2.0 * apply("arctan2", sine, q[0]) / sine
        return tuple(factor * x for x in q[1:])

    def quaternion_from_rotation(self, R: Any) -> Any:
        """Return the quaternion of a rotation by less than pi."""
        double = apply("sqrt", 1.0 + R[0] + R[4] + R[8])  # 2 cos(phi / 2)
        factor = 0.5 / double
        off = (R[7] - R[5], R[2] - R[6], R[3] - R[1])
        return (0.5 * double, *(factor * x for x in off))

    def coefficients(self, name: str) -> Callable[[Any], Any]:
        """Return one of the functions of z = phi^2 below; of constants, zero too, by its series."""
        smooth = SmoothForms(self.tape)
        return lambda z: getattr(self if isinstance(z, Traced) else smooth, name)(z)

    def cosine(self, z: Any) -> Any:
        """Return cos(sqrt(z))."""
        return apply("cos", apply("sqrt", z))

    def a1_a2(self, z: Any) -> Any:
        """Return sin phi / phi and (1 - cos phi) / z."""
        phi = apply("sqrt", z)
        return apply("sin", phi) / phi, (1.0 - apply("cos", phi)) / z

    def a2_a3(self, z: Any) -> Any:
        """Return (1 - cos phi) / z and (phi - sin phi) / phi^3."""
        a1, a2 = self.a1_a2(z)
        return a2, (1.0 - a1) / z

    def b2_b3(self, z: Any) -> Any:
        """Return a_2' / phi and a_3' / phi."""
        a1, a2 = self.a1_a2(z)
        a3 = (1.0 - a1) / z
        return (a1 - 2.0 * a2) / z, (a2 - 3.0 * a3) / z

    def c2_c3(self, z: Any) -> Any:
        """Return b_2' / phi and b_3' / phi."""
        a1, _ = self.a1_a2(z)
        b2, b3 = self.b2_b3(z)
        b1 = (self.cosine(z) - a1) / z
        return (b1 - 4.0 * b2) / z, (b2 - 5.0 * b3) / z


class SmoothForms(ClosedForms):
    """The same with the series where the closed forms have lost their digits.

    Both are finite everywhere, with their derivatives, so that the one not taken does no harm.
    """

    def normalised(self, Q: Any) -> tuple[bool, Any]:
        """Return Q / |Q|."""
        factor = 1.0 / apply("sqrt", _dot(Q, Q))
        return True, tuple(factor * x for x in Q)

    def quaternion_log(self, q: Any) -> Any:
        """Return the principal rotation vector, the same for Q and -Q."""
        sign = self.tape.where(("<", q[0], 0.0), -1.0, 1.0)
        w, square = sign * q[0], _dot(q[1:], q[1:])
        small = "<", square, 1e-6
        sine = apply("sqrt", self.tape.where(small, 1.0, square))
        r = square / (w * w)  # atan(s/w) / s = (1 - r/3 + r^2/5 - ...) / w
        near = (1.0 - r * (1.0 / 3.0 - r * (0.2 - r / 7.0))) / w
        factor = 2.0 * sign * self.tape.where(small, near, apply("arctan2", sine, w) / sine)
        return tuple(factor * x for x in q[1:])

    def cosine(self, z: Any) -> Any:
        """Return cos(sqrt(z)) = 1 - z a_2."""
        return 1.0 - z * self.a1_a2(z)[1]

    def _either(self, name: str, limit: float, coefficients: tuple[Any, ...], z: Any) -> Any:
        """Return series up to a limit, and closed forms beyond it."""
        if not isinstance(z, Traced):
            z = float(z)
            safe: Number = max(z, limit)
        else:
            safe = self.tape.where(("<", z, limit), limit, z)
        closed = getattr(ClosedForms(self.tape), name)(safe)
        found = []
        for numbers, beyond in zip(coefficients, closed, strict=True):
            series: Any = 0.0
            for number in numbers:
                series = series * z + number
            if isinstance(z, Traced):
                found.append(self.tape.where(("<", z, limit), series, beyond))
            else:
                found.append(series if z < limit else beyond)
        return tuple(found)

    def a1_a2(self, z: Any) -> Any:
        """Return sin phi / phi and (1 - cos phi) / z."""
        from mbkit.kernels.lie import series

        return self._either("a1_a2", 1.0, (series._A1, series._A2), z)

    def a2_a3(self, z: Any) -> Any:
        """Return (1 - cos phi) / z and (phi - sin phi) / phi^3."""
        from mbkit.kernels.lie import series

        _, a3 = self._either("a2_a3", 16.0, (series._A3, series._A3), z)
        return self.a1_a2(z)[1], a3

    def b2_b3(self, z: Any) -> Any:
        """Return a_2' / phi and a_3' / phi."""
        from mbkit.kernels.lie import series

        return self._either("b2_b3", 16.0, (series._B2, series._B3), z)

    def c2_c3(self, z: Any) -> Any:
        """Return b_2' / phi and b_3' / phi."""
        from mbkit.kernels.lie import series

        return self._either("c2_c3", 16.0, (series._C2, series._C3), z)


def _locate_screw(rate: Any, lead: Any, R: Any, p: Any) -> Any:
    """Return q for each number of turns.

    As `mbkit.kernels.joints.revolute_prismatic_screw.locate_screw` does.
    """
    if rate == 0.0:
        return p[2] / lead
    angle = apply("arctan2", R[3] - R[1], R[0] + R[4])
    if lead == 0.0:
        return angle / rate
    turn = 2.0 * math.pi
    angle = angle + turn * apply("floor", (p[2] * rate / lead - angle) / turn + 0.5)
    return (rate * angle + lead * p[2]) / (rate * rate + lead * lead)


def _dot(a: Any, b: Any) -> Any:
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def _multiply(A: Any, B: Any, out: Any) -> None:
    out[...] = np.array(A) @ np.array(B)

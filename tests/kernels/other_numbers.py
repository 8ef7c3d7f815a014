"""Prints what `test_other_numbers.py` looks at: the kernels on numbers that are no doubles.

Run as ``NUMBA_DISABLE_JIT=1 python -m tests.kernels.other_numbers``, which writes JSON.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np

import mbkit as mb
from mbkit.kernels import vectors
from mbkit.kernels.recursions import inertias
from mbkit.studies.laboratory.counting.counted import Counted, counting
from mbkit.studies.laboratory.counting.number_types import OtherNumbers, convert
from tests.trees import random_mechanism, random_state

REPRESENTATIONS = {
    "body_fixed": mb.BodyFixed(),
    "spatial": mb.Spatial(),
    "hybrid": mb.Hybrid(),
    "mixed": mb.Mixed(),
}
FRAMES = ("joint", "com")
DIGITS = 40


def trees(representation: str = "body_fixed") -> Iterator[tuple[str, mb.System, Any]]:
    """Give small trees of screws and balls, with joints turned round, and a state of each."""
    for frames in FRAMES:
        rng = np.random.default_rng(11)
        mechanism = random_mechanism(rng, 7, ("revolute", "helical", "spherical", "prismatic"))
        chosen = REPRESENTATIONS[representation]
        system = mechanism.assemble(mb.RelativeCoordinates(chosen, body_frames=frames))
        yield frames, system, random_state(rng, system)


def exact() -> dict[str, Any]:
    """Return tau of vdot and vdot of tau with 40 digits, as decimal numbers."""
    found: dict[str, Any] = {}
    mpmath.mp.dps = DIGITS
    for frames, system, state in trees():
        numbers = OtherNumbers(system, mpmath.mpf)
        for name in REPRESENTATIONS:
            own = importlib.import_module(f"mbkit.kernels.{name}.algorithms")
            given = state.q, state.v
            vdot = numbers.call(own.forward_dynamics, *given, state.tau, system.nv)
            results = {
                "forward": vdot,
                "inverse": numbers.call(own.inverse_dynamics, *given, state.vdot, system.nv),
                "there and back": numbers.call(own.inverse_dynamics, *given, vdot, system.nv),
                "mass": numbers.call(own.mass_matrix, *given, state.v, system.nv**2),
            }
            found[f"{frames} {name}"] = {
                what: [mpmath.nstr(x, DIGITS) for x in result] for what, result in results.items()
            }
    return found


def differences(
    system: mb.System, numbers: OtherNumbers, function: Any, given: Any, inputs: Any
) -> list[str]:
    """Return central differences of 1e-12 by entries of "q", "v" or "x", one array after another.

    The function takes all of them, given as q, v, x, to a vector (nv,).
    """
    from mbkit.kernels.configuration import retract

    h, found = mpmath.mpf(10) ** -12, []
    for along in inputs:
        columns = []
        for k in range(system.nv):
            both = []
            for e in (-h, h):
                step = numbers.vector(np.zeros(system.nv))
                step[k] = e
                q, v, x = given
                if along == "q":
                    q = numbers.call(retract, q, step, q, system.nq)
                elif along == "v":
                    v = v + step
                else:
                    x = x + step
                both.append(numbers.call(function, q, v, x, system.nv))
            columns.append((both[1] - both[0]) / (2 * h))
        found += [mpmath.nstr(x, DIGITS) for x in np.array(columns).T.ravel()]
    return found


def derivatives() -> dict[str, Any]:
    """Return derivatives of tau, and central differences of it and of vdot, with 40 digits."""
    from mbkit.kernels.derivatives.forward_dynamics import forward_dynamics_derivatives
    from mbkit.kernels.derivatives.inverse_dynamics import inverse_dynamics_derivatives
    from mbkit.kernels.spatial.algorithms import forward_dynamics, inverse_dynamics

    found: dict[str, Any] = {}
    mpmath.mp.dps = DIGITS
    for frames, system, state in trees():
        numbers = OtherNumbers(system, mpmath.mpf)
        q, v, vdot, tau = (numbers.vector(x) for x in (state.q, state.v, state.vdot, state.tau))
        both = numbers.call(inverse_dynamics_derivatives, q, v, vdot, 2 * system.nv**2)
        found[frames] = {
            "exact": [mpmath.nstr(x, DIGITS) for x in both],
            "differences": differences(system, numbers, inverse_dynamics, (q, v, vdot), "qv"),
        }
    given = q, v, tau  # the last frames alone: these evaluations take the longest
    every = numbers.call(forward_dynamics_derivatives, *given, system.nv * (3 * system.nv + 1))
    parts = np.split(every.reshape((system.nv, -1))[:, :-1], 3, axis=1)
    found[frames]["every"] = [mpmath.nstr(x, DIGITS) for part in parts for x in part.ravel()]
    found[frames]["forward"] = differences(system, numbers, forward_dynamics, given, "qvx")
    return found


def second_derivatives() -> dict[str, Any]:
    """Return second derivatives of tau, and along three directions by differences, 40 digits."""
    from mbkit.kernels.configuration import retract
    from mbkit.kernels.derivatives.second_order import inverse_dynamics as second
    from mbkit.kernels.derivatives.second_order import motion
    from mbkit.kernels.spatial.algorithms import inverse_dynamics

    found: dict[str, Any] = {}
    mpmath.mp.dps = DIGITS
    h = mpmath.mpf(10) ** -10
    for frames, system, state in trees():
        numbers, nv = OtherNumbers(system, mpmath.mpf), system.nv
        motion.new_numbers = lambda _like, count, made=numbers: made.vector(np.zeros(count))
        q, v, vdot = (numbers.vector(x) for x in (state.q, state.v, state.vdot))
        kernel = second.inverse_dynamics_second_derivatives
        tensors = numbers.call(kernel, q, v, vdot, 3 * nv**3)
        qq, vv, qv = tensors.reshape((3, nv, nv, nv))
        rng = np.random.default_rng(12)
        along, differences = [], []
        for _ in range(3):
            x, y = (numbers.vector(each) for each in rng.normal(size=(2, nv)))
            along += [*(qq @ x @ x + 2 * (qv @ y @ x) + vv @ y @ y)]
            at = [
                numbers.call(
                    inverse_dynamics, numbers.call(retract, q, e * x, q, system.nq), v + e * y,
                    vdot, nv,
                )
                for e in (-h, 0 * h, h)
            ]  # fmt: skip
            differences += [*((at[2] - 2 * at[1] + at[0]) / (h * h))]
        found[frames] = {
            what: [mpmath.nstr(x, DIGITS) for x in numbers_of]
            for what, numbers_of in (
                ("tensors", tensors), ("along", along), ("differences", differences),
            )
        }  # fmt: skip
    return found


def momenta() -> dict[str, Any]:
    """Return v and the rates of p of p = M v, and these by differences of M v, with 40 digits."""
    from mbkit.kernels.configuration import retract
    from mbkit.kernels.momentum.canonical import canonical_forward_dynamics
    from mbkit.kernels.recursions.mass_action import mass_action
    from mbkit.kernels.spatial.algorithms import forward_dynamics

    found: dict[str, Any] = {}
    mpmath.mp.dps = DIGITS
    h = mpmath.mpf(10) ** -12
    for frames, system, state in trees():
        numbers = OtherNumbers(system, mpmath.mpf)
        nv = system.nv
        q, v, tau = (numbers.vector(x) for x in (state.q, state.v, state.tau))
        vdot = numbers.call(forward_dynamics, q, v, tau, nv)
        p = numbers.call(mass_action, q, v, v, nv)
        moved = [
            numbers.call(mass_action, there, v + e * vdot, v, nv)
            for e in (-h, h)
            for there in [numbers.call(retract, q, e * v, q, system.nq)]
        ]
        results = {
            "p": p,
            "found": numbers.call(canonical_forward_dynamics, q, p, tau, 2 * nv),
            "expected": [*v, *((moved[1] - moved[0]) / (2 * h))],
        }
        found[frames] = {
            what: [mpmath.nstr(x, DIGITS) for x in result] for what, result in results.items()
        }
    return found


def helper_counts() -> dict[str, Any]:
    """Return the operations of small functions."""
    rng = np.random.default_rng(0)

    def numbers(*shape: int) -> Any:
        return convert(rng.normal(size=shape), Counted)

    R, p, X = numbers(3, 3), numbers(3), numbers(6)
    a, b, c, d = (tuple(numbers(3)) for _ in range(4))
    cases = {
        "cross": lambda: vectors.cross(a, b),
        "dot": lambda: vectors.dot(a, b),
        "rotate": lambda: vectors.rotate(R, a),
        "motion_to_child": lambda: vectors.motion_to_child(R, p, a, b),
        "motion_bracket": lambda: vectors.motion_bracket(a, b, c, d),
        "symmetric_times": lambda: inertias.symmetric_times(X, a),
        "rotate_symmetric": lambda: inertias.rotate_symmetric(R, X),
    }
    found = {}
    for name, function in cases.items():
        with counting() as count:
            function()
        found[name] = count["additions"], count["multiplications"]
    q = Counted(2.0)
    with counting() as count:
        assert float(1.0 / q - 2 * np.float64(3.0) * q.sqrt() + q.sin() * q.cos() - (-q)) != 0.0
    found["all"] = count
    return found


def chain_counts() -> dict[str, Any]:
    """Return the operations of forward dynamics of chains of 2, 4 and 8 bodies."""
    found = {}
    for name in REPRESENTATIONS:
        own = importlib.import_module(f"mbkit.kernels.{name}.algorithms")
        for count in (2, 4, 8):
            rng = np.random.default_rng(3)
            mechanism = random_mechanism(rng, count, ("revolute",), turned_round=0.0, reach=1)
            system = mechanism.assemble()
            state = random_state(rng, system)
            numbers = OtherNumbers(system, Counted)
            with counting() as counts:
                numbers.call(own.forward_dynamics, state.q, state.v, state.tau, system.nv)
            found[f"{name} {count}"] = counts
    return found


if __name__ == "__main__":
    results = {
        "exact": exact(),
        "derivatives": derivatives(),
        "second derivatives": second_derivatives(),
        "momenta": momenta(),
        "helpers": helper_counts(),
        "chains": chain_counts(),
    }
    print(json.dumps(results))  # noqa: T201 - the other process reads it

"""Prints a run of a four-bar with 40 digits, and its derivatives by differences of 1e-12.

Run as ``NUMBA_DISABLE_JIT=1 python -m tests.sensitivities.closed_forty_digits``, which writes JSON.
M and the bias come from inverse dynamics of the open chain. The loop is written here anew, as a
sum of vectors in the plane, and so are accelerations, steps and the way back to closed loops.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import mpmath
import numpy as np

import mbkit as mb
from mbkit.studies.laboratory.counting.number_types import OtherNumbers
from tests.constraints.closed_mechanisms import assembled, four_bar

H, STEPS = 0.03125, 2
EPSILON = "1e-12"
POINTS = np.array([(0, 0), (0, 0.3), (0.8, 0.5), (0.9, 0)])  # x and z
MASS, STIFFNESS = "bodies.rod 2.mass", "forces.spring.stiffness"


def linkage() -> tuple[mb.System, Any, Any]:
    """Return a four-bar with a spring, and a state that is closed."""
    mech = four_bar()
    mech.add_force(mb.JointSpring("spring", "A", stiffness=8.0, rest=0.25))
    system = assembled(mech, "D")
    q = system.close_loops(np.array([0.3, 0.0, 0.0]))
    return system, q, system.close_loops(q, [6.0, 0.0, 0.0])[1]


def directions() -> dict[str, Any]:
    """Return one direction of each input."""
    rng = np.random.default_rng(5)
    return {**{x: np.round(rng.normal(size=3), 3) for x in "qv"}, MASS: 1.0, STIFFNESS: 1.0}


class Run:
    """Steps of the classical method, each of which ends where the loop is closed."""

    def __init__(self, system: mb.System, mass: Any = 0, stiffness: Any = 0) -> None:
        value = system.parameters[MASS]
        others = system, system.with_parameters({MASS: value + 1.0})
        self.chains = [OtherNumbers(each, mpmath.mpf) for each in others]
        self.more, self.stiffness = mass, 8 + stiffness
        ways = np.diff(POINTS, axis=0).tolist()
        self.links = [tuple(map(mpmath.mpf, x)) for x in ways]

    def inverse(self, q: Any, v: Any, vdot: Any) -> Any:
        """Return efforts, which are linear in a mass."""
        from mbkit.kernels.body_fixed.algorithms import inverse_dynamics

        one, two = (each.call(inverse_dynamics, q, v, vdot, 3) for each in self.chains)
        return one + self.more * (two - one)

    def mass(self, q: Any) -> Any:
        still = self.inverse(q, 0 * q, 0 * q)
        columns = [self.inverse(q, 0 * q, x) - still for x in np.eye(3)]
        return np.stack(columns, axis=1)

    def loop(self, q: Any, v: Any) -> tuple[Any, Any, Any]:
        """Return g, A, and A-dot v: links turn about y by the sum of the angles before them.

        The rows of a joint are along the axes of its successor, which the third link is: while a
        stage has the loop a little open, A-dot v has -w x (A v) besides.
        """
        g, A, turned = np.array([mpmath.mpf(0)] * 2), np.array([[mpmath.mpf(0)] * 3] * 2), 0 * q[:2]
        for k, (x, z) in enumerate(self.links):
            c, s = mpmath.cos(sum(q[: k + 1])), mpmath.sin(sum(q[: k + 1]))
            link = np.array([c * x + s * z, c * z - s * x])
            g += link
            A[:, : k + 1] += np.array([[link[1]], [-link[0]]])
            turned = turned - sum(v[: k + 1]) ** 2 * link
        rate, w = A @ v, sum(v)
        return g - POINTS[3], A, turned - w * np.array([rate[1], -rate[0]])

    @staticmethod
    def solved(M: Any, A: Any, b: Any, r: Any) -> Any:
        """Return x of M x + A^T m = b, A x = r."""
        K = mpmath.matrix(5, 5)
        for i in range(3):
            for j in range(3):
                K[i, j] = M[i, j]
            for j in range(2):
                K[i, 3 + j] = K[3 + j, i] = A[j, i]
        return np.array(list(mpmath.lu_solve(K, mpmath.matrix([*b, *r])))[:3])

    def vdot(self, q: Any, v: Any) -> Any:
        tau = -self.inverse(q, v, 0 * q)
        tau[0] -= self.stiffness * (q[0] - mpmath.mpf(0.25))
        _, A, turned = self.loop(q, v)
        return self.solved(self.mass(q), A, tau, -turned)

    def closed(self, q: Any, v: Any) -> tuple[Any, Any]:
        """Return the state where the loop is closed, nearest by kinetic energy."""
        for _ in range(2):
            g, A, _ = self.loop(q, v)
            q = q + self.solved(self.mass(q), A, 0 * q, -g)
        _, A, _ = self.loop(q, v)
        return q, v + self.solved(self.mass(q), A, 0 * q, -A @ v)

    def end(self, q: Any, v: Any) -> Any:
        h = mpmath.mpf(H)
        q, v = self.closed(q, v)
        for _ in range(STEPS):
            k, a, x, w = [], [], q, v
            for c in (h / 2, h / 2, h, 0):
                k.append(w)
                a.append(self.vdot(x, w))
                x, w = q + c * k[-1], v + c * a[-1]
            weights = [h / 6, h / 3, h / 3, h / 6]
            q = q + sum(b * each for b, each in zip(weights, k, strict=True))
            v = v + sum(b * each for b, each in zip(weights, a, strict=True))
            q, v = self.closed(q, v)
        return np.concatenate([q, v])


def main() -> None:
    mpmath.mp.dps = 40
    system, *state = linkage()
    base, e = Run(system), mpmath.mpf(EPSILON)
    q, v = (base.chains[0].vector(x) for x in state)
    found = {"end": base.end(q, v)}
    for name, along in directions().items():
        ends = []
        for move in (e, -e):
            if name in "qv":
                step = move * base.chains[0].vector(along)
                ends.append(base.end(*((q + step, v) if name == "q" else (q, v + step))))
            else:
                run = Run(system, **{"mass" if name == MASS else "stiffness": move})
                ends.append(run.end(q, v))
        found[name] = (ends[0] - ends[1]) / (2 * e)
    sys.stdout.write(json.dumps({key: [mpmath.nstr(x, 25) for x in found[key]] for key in found}))


if __name__ == "__main__":
    main()

"""Differences of runs, and the identity between forward derivatives and the adjoint."""

from __future__ import annotations

import numpy as np

import mbkit as mb

#: Central differences of eighth order.
STEPS = np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])
WEIGHTS = np.array([3.0, -32.0, 168.0, -672.0, 672.0, -168.0, 32.0, -3.0]) / 840.0


def difference(system, base, change, h):
    """Return the derivatives of q, along steps at the base, and v of runs ``change(e)``."""
    q, v = 0.0, 0.0
    for weight, e in zip(WEIGHTS / h, h * STEPS, strict=True):
        run = change(e)
        q = q + weight * system.difference(base.q, run.q)
        v = v + weight * run.v
    return q, v


def assert_same(system, base, found, name, entry, change, *, h=2e-3, rtol=1e-9):
    """Compare a column of derivatives with differences, by the size of all of them."""
    expected = difference(system, base, change, h)
    for own, other in zip((found.q[name], found.v[name]), expected, strict=True):
        column = own[(..., *(entry if isinstance(entry, tuple) else (entry,)))]
        assert np.abs(column - other).max() < rtol * max(1.0, np.abs(own).max()), (name, entry)


def assert_adjoint(base, found, *, rtol=1e-12):
    """Compare the gradient of a random linear function of all states with forward derivatives."""
    rng = np.random.default_rng(0)
    ndx, nv = (next(iter(each.values())).shape[1] for each in (found.q, found.v))
    by_q, by_v = (rng.normal(size=(base.t.size, n)) for n in (ndx, nv))
    gradient = mb.gradient(base, lambda t, q, v: (1.0, by_q, by_v), by=list(found.q))
    assert gradient.value == 1.0
    for name in found.q:
        expected = np.tensordot(by_q, found.q[name], 2) + np.tensordot(by_v, found.v[name], 2)
        # the sum may be far smaller than its terms, whose rounding it has
        terms = [(abs(by_q), abs(found.q[name])), (abs(by_v), abs(found.v[name]))]
        size = np.max(sum(np.tensordot(*each, 2) for each in terms))
        assert np.abs(gradient[name] - expected).max() <= rtol * size, name

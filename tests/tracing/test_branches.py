"""Comparisons of traced numbers as branches of a result."""

from __future__ import annotations

import pytest

from mbkit.autodiff.rules import differentiate
from mbkit.autodiff.tape import CannotTraceError
from mbkit.tracing.branches import BranchingTape


def clipped(x):
    return [min(max(x * x, 1.0), 9.0), 3.0 if x == 0.0 else 4.0]


def value(number, x):
    """Evaluate a number of a tape at another input."""
    if not hasattr(number, "operation"):
        return number
    if number.operation == "input":
        return x
    if number.operation == "where":
        sign, left, right, a, b = number.arguments
        sides = value(left, x), value(right, x)
        holds = sides[0] < sides[1] if sign == "<" else sides[0] <= sides[1]
        return value(a if holds else b, x)
    a, b = (value(each, x) for each in number.arguments)
    return {"mul": a * b, "add": a + b}[number.operation]


def test_every_way_is_followed_and_differentiated():
    tape = BranchingTape()
    x = tape.input("x", 2.0)
    found, other = tape.every_way(lambda: clipped(x))
    assert other == 4.0  # equality is of single points
    (slope,) = differentiate([found], {x: 1.0})
    for at, expected, rate in (
        (0.5, 1.0, 0.0),
        (2.0, 4.0, 4.0),
        (-2.0, 4.0, -4.0),
        (5.0, 9.0, 0.0),
    ):
        assert value(found, at) == expected
        assert value(slope, at) == rate


def test_too_many_ways_are_refused():
    tape = BranchingTape()
    many = [tape.input(f"x{k}", 1.0) for k in range(10)]
    with pytest.raises(CannotTraceError, match="more than 512"):
        tape.every_way(lambda: [sum(1.0 if y > 0.0 else 0.0 for y in many)])

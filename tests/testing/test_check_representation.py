"""check_representation: those of mbkit hold; a map or a recursion that is off is found."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.testing import check_representation

LAWS = (
    "the map of twists is a homomorphism",
    "the rate of the map is its derivative",
    "maps broadcast over leading axes",
    "motion is what it is in body-fixed twists",
    "twists, accelerations, Jacobians go by the map",
    "wrenches go by the inverse transpose of the map",
)


@pytest.mark.parametrize(
    "representation", [mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed()], ids=lambda r: r.name
)
def test_those_of_mbkit_hold(representation):
    report = check_representation(representation)
    assert report.holds, str(report)
    assert tuple(line.law for line in report.lines) == LAWS


class WrongRate(mb.Representation):
    """Hybrid, with a rate that is too fast."""

    name = "wrong_rate"
    kernel_package = "mbkit.kernels.hybrid"

    def twist_map(self, C):
        return mb.Hybrid().twist_map(C)

    def twist_map_rate(self, C, V_b):
        return 1.001 * mb.Hybrid().twist_map_rate(C, V_b)


class NoHomomorphism(WrongRate):
    """The columns of Hybrid in units of another length, where the body is away from the origin."""

    def twist_map(self, C):
        return (1.0 + np.asarray(C)[..., :1, 3:] ** 2) * mb.Hybrid().twist_map(C)


class OtherRecursions(WrongRate):
    """The maps of Hybrid, with the recursions of Spatial."""

    kernel_package = "mbkit.kernels.spatial"

    def twist_map_rate(self, C, V_b):
        return mb.Hybrid().twist_map_rate(C, V_b)


class NoKernels(OtherRecursions):
    kernel_package = "mbkit.kernels.nowhere"


class OneByOne(OtherRecursions):
    """Takes one pose at a time."""

    kernel_package = "mbkit.kernels.hybrid"

    def twist_map(self, C):
        return mb.Hybrid().twist_map(np.asarray(C).reshape(4, 4))


@pytest.mark.parametrize(
    ("kind", "broken"),
    [
        (WrongRate, {LAWS[1], LAWS[4]}),
        (OtherRecursions, {LAWS[4], LAWS[5]}),
        (OneByOne, {LAWS[2]}),
    ],
)
def test_a_broken_law_is_found(kind, broken):
    report = check_representation(kind())
    assert {line.law for line in report.failed} == broken, str(report)


def test_a_map_that_is_no_homomorphism_is_found():
    assert LAWS[0] in {line.law for line in check_representation(NoHomomorphism()).failed}


def test_without_kernels_it_says_what_there_must_be():
    report = check_representation(NoKernels())
    assert {line.law for line in report.failed} == set(LAWS[3:])
    assert "must have a module 'algorithms' with all functions" in str(report)


def test_what_is_no_representation_is_refused():
    with pytest.raises(mb.UsageError, match="call it with an instance"):
        check_representation(mb.Hybrid)

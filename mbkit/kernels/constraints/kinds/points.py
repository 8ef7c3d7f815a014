"""Points of bodies for constraints: where they are, how they move, and forces at them."""

from mbkit.kernels.compile import helper
from mbkit.kernels.vectors import add, angular, cross, linear, load, rotate, store


@helper
def vector_of(p, first):
    """Three parameters."""
    return p[first], p[first + 1], p[first + 2]


@helper
def point_of(site, r):
    """Of the point r of a body: its arm from the body's origin, place, velocity, and w x (w x arm).

    Its acceleration is a + alpha x arm + w x (w x arm).
    """
    arm = rotate(site.R, r)
    turned = cross(angular(site.V), arm)
    return (
        arm,
        add(load(site.p), arm),
        add(linear(site.V), turned),
        cross(angular(site.V), turned),
    )


@helper
def put_force(wrench, arm, f):
    """The wrench of a force f at an arm from the body's origin."""
    store(wrench, cross(arm, f), f)

"""Wrenches applied to the bodies from outside."""

from mbkit.kernels.compile import helper
from mbkit.kernels.vectors import angular, linear, store, subtract


@helper
def subtract_applied(body, loaded):
    """F -= W, W the wrench applied from outside."""
    if loaded != 0:
        store(
            body.F,
            subtract(angular(body.F), angular(body.wrench)),
            subtract(linear(body.F), linear(body.wrench)),
        )

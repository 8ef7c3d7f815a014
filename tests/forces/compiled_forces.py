"""A force as a user compiles it."""

import numpy as np

import mbkit as mb
from mbkit.forces import ForceKernels
from mbkit.kernels.compile import address_kernel
from mbkit.kernels.forces.bodies import add_body_fixed, point_of, push
from mbkit.kernels.forces.form import FORCE_FORM, POTENTIAL_FORM, force_rows, parameters, site
from mbkit.kernels.vectors import dot, scale


@address_kernel(FORCE_FORM)
def pull(space, k, _t, _q, _v, _tau, _powers):
    """Towards the world's origin, by the distance, at the body's origin."""
    body = site(space, k, 0)
    x, _ = point_of(space, body, (0.0, 0.0, 0.0))
    push(space, body, (0.0, 0.0, 0.0), scale(-parameters(space, k)[0], x))
    return 0


@address_kernel(FORCE_FORM)
def pull_all(space, k, _t, _q, _v, _tau, _powers):
    """The same on each of its bodies."""
    for j in range(force_rows(space)[k].num_bodies):
        body = site(space, k, j)
        x, _ = point_of(space, body, (0.0, 0.0, 0.0))
        push(space, body, (0.0, 0.0, 0.0), scale(-parameters(space, k)[0], x))
    return 0


@address_kernel(FORCE_FORM)
def thrust(space, k, _t, _q, _v, _tau, _powers):
    """A constant wrench in the axes of the body, at its origin."""
    p = parameters(space, k)
    add_body_fixed(space, site(space, k, 0), (p[0], p[1], p[2]), (p[3], p[4], p[5]))
    return 0


@address_kernel(POTENTIAL_FORM)
def energy(space, k, _t, _q, out):
    """c x.x / 2."""
    x, _ = point_of(space, site(space, k, 0), (0.0, 0.0, 0.0))
    out[0] += 0.5 * parameters(space, k)[0] * dot(x, x)
    return 0


@address_kernel(FORCE_FORM)
def refuse(_space, _k, t, _q, _v, _tau, _powers):
    """A failure after t = 0.0107."""
    return 1 if t > 0.0107 else 0


class Pull(mb.Force):
    """Compiled."""

    acts_on = "bodies"

    def __init__(self, name, body, strength):
        super().__init__(name)
        self.bodies = (body,)
        self.strength = strength

    def kernels(self):
        return ForceKernels(pull, energy)

    def parameters(self):
        return np.array([self.strength])


class PullAll(mb.Force):
    """Compiled, on all bodies: it names none."""

    acts_on = "bodies"

    def __init__(self, name, strength):
        super().__init__(name)
        self.strength = strength

    def kernels(self):
        return ForceKernels(pull_all)

    def parameters(self):
        return np.array([self.strength])


class Thrust(mb.Force):
    """Compiled, a wrench that turns with its body."""

    acts_on = "bodies"

    def __init__(self, name, body, wrench):
        super().__init__(name)
        self.bodies = (body,)
        self.wrench = wrench

    def kernels(self):
        return ForceKernels(thrust)

    def parameters(self):
        return np.array(self.wrench)


class Refuse(mb.Force):
    """Compiled, and fails."""

    def kernels(self):
        return ForceKernels(refuse)

"""Motions of a tree of six bodies and of four closed mechanisms, and their exact derivatives.

By complex steps, which have no error but rounding (`tests.systems.complex_steps`).
"""

from __future__ import annotations

import functools

import attrs
import numpy as np

import mbkit as mb
from tests.kinematics.test_any_order import free_velocities
from tests.systems.complex_steps import ComplexEvaluation
from tests.systems.test_complex_steps import KINDS, forces
from tests.systems.test_complex_steps_of_closed import CLOSED, allowed, closed
from tests.trees import random_mechanism, random_state

TIME = 0.45
#: Without forces all is exact; one force of the other tree and of the mechanisms is in Python.
TREES = ("tree", "tree without forces")
FORMS = (mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed())


@attrs.frozen(slots=False)
class Motion:
    """A system, a configuration, and the rates v, vdot, ... of a motion through it."""

    system: mb.System
    q: np.ndarray
    rates: np.ndarray
    tau: np.ndarray
    form: mb.Representation
    body: str
    independent: tuple[str, ...]
    geometry: dict = attrs.field(factory=dict)

    @property
    def given(self):
        """What evaluations depend on, by name."""
        names = ("v", "vdot", "vddot")
        return {"q": self.q, "tau": self.tau, **dict(zip(names, self.rates, strict=False))}

    @functools.cached_property
    def _known(self):
        return {}

    @property
    def parameters(self):
        """Mass, centre of mass and moment of inertia of the body, and a stiffness."""
        own = (f"bodies.{self.body}.{part}" for part in ("mass", "com", "moment_about_com"))
        return *own, *[n for n in self.system.parameters if n.endswith(".stiffness")][:1]

    def exact(self, name, **options):
        """Return an evaluation on complex numbers; the first of a system takes the longest."""
        key = name, repr(options)
        if not self._known:
            free = *self.parameters, *self.geometry
            self._known[None] = ComplexEvaluation(self.system, "mass_matrix", free)
        if key not in self._known:
            self._known[key] = self._known[None].another(name, **options)
        return self._known[key]

    def by(self, evaluation, *names, **options):
        """Return the derivatives of an evaluation by inputs."""
        exact = self.exact(evaluation, **options)
        return [exact.by(self.given, name, TIME) for name in names]

    def rate(self, evaluation, given=None, moves=None, **options):
        """Return the rate of an evaluation along the motion, with other values and moves."""
        speeds = dict(zip(("v", "vdot", "vddot"), self.rates[1:], strict=False))
        own = {"q": self.system.position_rates(self.q, self.rates[0]), "t": 1.0, **speeds}
        return self.along(evaluation, own | (moves or {}), given, **options)

    def along(self, evaluation, moves, given=None, **options):
        """Return the change of an evaluation along moves, arrays (size,) or several (k, size)."""
        value, found = self.exact(evaluation, **options)(self.given | (given or {}), moves, TIME)
        several = next(iter(moves.values())).shape[:-1]
        return np.broadcast_to(found, (*several, *value.shape))


@functools.cache
def motion_of(name):
    """Return the motion of a system: any of the tree, of others one that loops allow."""
    rng = np.random.default_rng(90)
    if name in TREES:
        mech = random_mechanism(np.random.default_rng(70), 6, KINDS, turned_round=0.5)
        system = (mech if name == "tree without forces" else forces(mech)).assemble()
        q, names = random_state(rng, system).q, tuple(system.velocity_names)
        rates, tau = rng.normal(size=(5, system.nv)), rng.normal(size=system.nv)
        return Motion(system, q, rates, tau, mb.Hybrid(), system.body_names[-1], names)
    example, body, _, geometry = CLOSED[name]
    system, state = closed(example)
    q, tau, names = state["q"], state["tau"], tuple(free_velocities(system, state["q"]))
    N = allowed(system.constraint_jacobian(q))
    drawn = N @ rng.normal(size=(N.shape[1], 5))
    rates = system.dependent_rates(
        q, {each: drawn[system.velocity_names.index(each)] for each in names}
    )
    form = FORMS[list(CLOSED).index(name)]
    return Motion(system, q, rates, tau, form, body.partition(".")[2], names, geometry)


def brackets(m):
    """Return [e_j, e_k]_i of velocities, from the rates of positions that these are."""
    unit = np.eye(m.system.nv)
    R = m.system.position_rates(m.q, unit)
    # by k, j: how q-dot of e_k changes along e_j
    turned = [m.along("position_rates", {"q": R}, {"v": each}) for each in unit]
    change = np.array(turned) - np.swapaxes(turned, 0, 1)
    return np.einsum("ip,kjp->ijk", np.linalg.pinv(R.T), change)


def moves_by_independent(m, entries):
    """Return moves of q and v, (2 m, nv) each: by independent positions, then by velocities."""
    count, system = len(entries), m.system
    units = np.eye(system.nv)[entries]
    if not system.num_velocity_constraints:
        return np.vstack([units, 0.0 * units]), np.vstack([0.0 * units, units])
    A = m.exact("constraint_jacobian")
    value = A(m.given, {})[0]
    rest = np.setdiff1d(np.arange(system.nv), entries)

    def completed(x, rate):
        x = x.copy()
        x[:, rest] = -np.linalg.lstsq(value[:, rest], rate.T, rcond=1e-9)[0].T
        return x

    x = completed(units, units @ value.T)
    turned = A(m.given, {"q": system.position_rates(m.q, x)})[1]
    w = completed(0.0 * units, np.broadcast_to(turned, (count, *value.shape)) @ m.rates[0])
    return np.vstack([x, 0.0 * x]), np.vstack([w, x])


def by_centre_of_mass(system, body):
    """Return the derivatives of a body's inertial parameters by mass, centre of mass and moment.

    These depend on mass m, centre c and moment I about it as (m, m c, I + m (c.c 1 - c c^T)), of
    which central differences of any step are exact.
    """
    m, c, own = (
        system.parameters[f"bodies.{body}.{x}"] for x in ("mass", "com", "moment_about_com")
    )
    upper = np.triu_indices(3)

    def parameters(x):
        m, c, own = x[0], x[1:4], np.zeros((3, 3))
        own[upper] = x[4:]
        about = own + m * (c @ c * np.eye(3) - np.outer(c, c))
        return np.concatenate([[m], m * c, about[upper]])

    at = np.concatenate([[m], c, own[upper]])
    return np.transpose([parameters(at + e) - parameters(at - e) for e in 0.5 * np.eye(10)])

"""Every method that returns derivatives, of a tree of six bodies and of four closed mechanisms.

One law: what a method returns is the derivative of another evaluation, by a complex step, which has
no error but rounding (`tests.systems.complex_steps`). Motions of closed mechanisms satisfy the
constraints; their bodies are resolved in each of the four representations in turn. Forward and
hybrid dynamics are in `test_complex_steps` and `test_complex_steps_of_closed`, by more parameters.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import mbkit as mb
from tests.systems.complex_steps import along_changes
from tests.systems.exact_motions import (
    TIME,
    TREES,
    brackets,
    by_centre_of_mass,
    motion_of,
    moves_by_independent,
)
from tests.systems.test_complex_steps import ASKED
from tests.systems.test_complex_steps_of_closed import CLOSED, allowed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning"),
]


#: What is compared: of each name a function of a motion, which gives pairs of what methods return
#: and of the derivatives that these are. Some are of trees or of closed mechanisms alone.
LAWS = {}


def law(function=None, *, of=(*TREES, *CLOSED)):
    """Enter a function into the laws."""
    if function is None:
        return functools.partial(law, of=of)
    LAWS[function.__name__] = function, of
    return function


# ------------------------------------------------------------------------------------- dynamics


@law
def inverse_dynamics(m):
    q, (v, vdot) = m.q, m.rates[:2]
    exact = m.by("inverse_dynamics", "q", "v", "vdot", "t")
    yield from zip(m.system.inverse_dynamics_derivatives(q, v, vdot, t=TIME), exact, strict=False)
    names = ("q", "v", "vdot", "t", *m.parameters)
    found = m.system.derivatives("inverse_dynamics", q, v, vdot=vdot, by=names, t=TIME)
    yield from zip([found[n] for n in names[:3]], exact, strict=False)
    yield found["t"], exact[3][..., 0]
    for name in m.parameters:
        own = along_changes(m.system, found[name], name)
        yield own.reshape((m.system.nv, -1)), m.by("inverse_dynamics", name)[0]


@law
def wrenches_on_bodies(m):
    """They turn with their bodies, whose Jacobians change."""
    q, (v, vdot) = m.q, m.rates[:2]
    W = np.random.default_rng(91).normal(size=6)
    exact = np.einsum(
        "avk,a->vk", m.by("jacobian", "q", body=m.body, representation=mb.BodyFixed())[0], W
    )
    given = {m.body: W}
    loaded = m.system.inverse_dynamics_derivatives(q, v, vdot, given, t=TIME)[0]
    yield loaded, m.by("inverse_dynamics", "q")[0] - exact
    if not m.system.num_velocity_constraints:
        J = m.system.jacobian(m.body, q, representation=mb.BodyFixed())
        found = m.system.forward_dynamics_derivatives(q, v, m.tau, given, t=TIME)
        same = {"tau": m.tau + W @ J}
        forward = m.exact("forward_dynamics")
        expected = [forward.by(m.given | same, name, TIME) for name in ("q", "v", "tau")]
        yield found[0], expected[0] + expected[2] @ exact
        yield from zip(found[1:], expected[1:], strict=True)


@law
def second_derivatives(m):
    """Along random moves of q and v together."""
    system, moves = m.system, np.random.default_rng(72).normal(size=(2, 6, m.system.nv))
    exact = m.exact("inverse_dynamics").second(m.given, dict(zip("qv", moves, strict=True)), TIME)
    d_qq, d_vv, d_qv, d_mass = system.inverse_dynamics_second_derivatives(m.q, *m.rates[:2], t=TIME)
    x, w = moves
    parts = [
        np.einsum("ijk,aj,ak->ai", d, a, b)
        for d, a, b in ((d_qq, x, x), (d_vv, w, w), (2.0 * d_qv, x, w))
    ]
    yield sum(parts), exact
    yield d_mass, m.by("mass_matrix", "q")[0]
    W = np.random.default_rng(91).normal(size=6)
    turned = m.exact("jacobian", body=m.body, representation=mb.BodyFixed()).second(
        m.given, {"q": moves[0]}
    )
    loaded = system.inverse_dynamics_second_derivatives(m.q, *m.rates[:2], {m.body: W}, t=TIME)
    own = np.einsum("ijk,aj,ak->ai", loaded[0], x, x)
    yield own, np.einsum("ijk,aj,ak->ai", d_qq, x, x) - np.einsum("bav,a->bv", turned, W)


@law
def mass_matrix(m):
    """First and second derivatives of M and M^-1, the latter along moves."""
    mass = m.by("mass_matrix", "q")[0]
    inverse = np.linalg.inv(m.system.mass_matrix(m.q))
    yield m.system.mass_matrix_derivatives(m.q), mass
    yield m.system.mass_matrix_rate(m.q, m.rates[0]), m.rate("mass_matrix")
    expected = -np.einsum("ij,jkl,km->iml", inverse, mass, inverse)
    yield m.system.inverse_mass_matrix_derivatives(m.q), expected
    x = np.random.default_rng(74).normal(size=(3, m.system.ndx))
    for name in ("mass_matrix", "inverse_mass_matrix"):
        second = getattr(m.system, f"{name}_derivatives")(m.q, 2)
        own = np.einsum("ijkl,ak,al->aij", second, x, x)
        yield own, m.exact(name).second(m.given, {"q": x})


@law
def coriolis_matrix(m):
    """C w = (D_v b w + M [v, w]) / 2, b the bias force: no torsion, and the metric is M."""
    v = m.rates[0]
    M, by_v = m.system.mass_matrix(m.q), m.by("bias_force", "v")[0]
    C = 0.5 * (by_v + M @ np.einsum("ijk,j->ik", brackets(m), v))
    yield m.system.coriolis_matrix(m.q, v), C
    yield m.system.christoffel(m.q) @ v, C


@law(of=TREES)
def hamiltons_equations(m):
    """The rates of the momenta M v."""
    form, (q, v) = mb.MomentumForm(m.system), (m.q, m.rates[0])
    vdot = m.system.forward_dynamics(q, v, m.tau, t=TIME)
    own, pdot = form.canonical_forward_dynamics(q, form.momenta(q, v), m.tau, t=TIME)
    yield own, v
    yield pdot, m.rate("momenta", moves={"v": vdot})


@law(of=TREES)
def rates_of_inverse_dynamics(m):
    yield (m.system.inverse_dynamics_rate(m.q, *m.rates[:3], t=TIME), m.rate("inverse_dynamics"))
    yield (
        m.system.inverse_dynamics_second_rate(m.q, *m.rates[:4], t=TIME),
        m.rate("inverse_dynamics_rate"),
    )


@law(of=("tree", *CLOSED))
def force_derivatives(m):
    found = m.system.force_derivatives(m.q, m.rates[0], TIME)
    yield from zip(found, m.by("generalized_forces", "q", "v"), strict=True)


@law
def inertial_regressor(m):
    """Of one body; its parameters are a map of mass, centre of mass and moment about it."""
    found = m.system.inertial_regressor(m.q, *m.rates[:2])
    own = found.reshape((m.system.nv, -1, 10))[:, m.system.body_index(m.body) - 1]
    needed, of_forces = (
        np.concatenate(m.by(evaluation, *m.parameters[:3]), axis=1)
        for evaluation in ("inverse_dynamics", "generalized_forces")
    )  # a field of forces pulls at masses
    yield own @ by_centre_of_mass(m.system, m.body), needed + of_forces


# ---------------------------------------------------------------------------------- kinematics


@law
def motion_of_bodies(m):
    """Accelerations, jerks and the rate beyond, each that of the one before."""
    system, form = m.system, {"representation": m.form}
    found = system.body_derivatives(m.q, m.rates[:4], **form)
    yield found[1], m.rate("twists", **form)
    yield found[2], m.rate("accelerations", **form)
    yield found[3], m.rate("jerks", **form)
    yield system.accelerations(m.q, *m.rates[:2], **form), found[1]
    yield system.jerks(m.q, *m.rates[:3], **form), found[2]


@law
def rates_of_jacobians(m):
    system, (v, vdot), place = m.system, m.rates[:2], {"representation": m.form}
    yield system.jacobian_rate(m.body, m.q, v, **place), m.rate("jacobian", body=m.body, **place)
    yield (
        system.jacobian_rate(m.body, m.q, v, vdot, **place),
        m.rate("jacobian_rate", body=m.body, order=1, **place),
    )
    u = m.tau  # any velocity
    turned = m.rate("twists", {"v": u}, {"v": 0.0 * u}, **place)[1:].ravel()
    yield system.newton_euler(m.q, v, m.form).J_rate @ u, turned
    if m.form == mb.BodyFixed():
        yield system.system_jacobian(m.q, m.form).rates(v).J_rate @ u, turned


@law
def partial_derivatives_of_jacobians(m):
    """By the velocities along which q moves; those of second order along the motion twice."""
    system, unit, place = m.system, np.eye(m.system.nv), {"representation": m.form}
    R = system.position_rates(m.q, unit)
    J = m.along("jacobian", {"q": R}, body=m.body, **place)
    yield system.jacobian_derivatives(m.body, m.q, **place), J
    v, still = m.rates[0], np.zeros(system.nv)
    second = system.jacobian_derivatives(m.body, m.q, 2, **place)
    found = np.einsum("j,k,jkab->ab", v, v, second)
    yield found, m.rate("jacobian_rate", moves={"v": still}, body=m.body, order=1, **place)


@law
def rates_of_motion_subspaces(m):
    system, (v, vdot) = m.system, m.rates[:2]
    yield system.motion_subspace_rates(m.q, v), m.rate("motion_subspaces")
    found = system.motion_subspace_rates(m.q, v, vdot)
    yield found, m.rate("motion_subspace_rates", order=1)


@law
def steps_of_configurations(m):
    """How the end of a step moves with it, along the rates of `dexp`, and back."""
    system, unit = m.system, np.eye(m.system.ndx)
    x = 0.4 * m.tau
    end = system.retract(m.q, x)
    moved = m.along("retract", {"dx": unit}, {"dx": x})
    yield system.position_rates(end, system.dexp(x, unit)), moved
    yield system.dexp_inv(x, system.dexp(x, unit)), unit


# ----------------------------------------------------------------------------------- constraints


@law(of=CLOSED)
def constraints(m):
    """Rates of the residual, and the derivatives of A v and A^T multipliers along steps."""
    system, (v, vdot) = m.system, m.rates[:2]
    A = m.by("constraint_jacobian", "q")[0]
    multipliers = np.random.default_rng(92).normal(size=len(A))
    u = m.tau  # any velocity, which opens the loops
    yield (
        system.constraint_jacobian(m.q) @ u,
        m.rate("constraint_residual", moves={"q": system.position_rates(m.q, u)}),
    )
    yield (system.constraint_jacobian_velocity_derivative(m.q, u), np.einsum("mvk,v->mk", A, u))
    yield (
        system.constraint_force_derivative(m.q, multipliers),
        np.einsum("mvk,m->vk", A, multipliers),
    )
    bias = np.einsum("mvk,v,k->m", A, v, system.rates(m.q, v))
    yield system.constraint_bias(m.q, v), bias
    found = system.constraint_acceleration(m.q, v, 0.0 * vdot)
    yield found, m.rate("constraint_velocity", moves={"v": 0.0 * vdot})


@law(of=CLOSED)
def motion_from_independent_joints(m):
    """And from the body, whose motion says the same."""
    system, rates, names = m.system, m.rates, list(m.independent)
    entries = [system.velocity_names.index(name) for name in names]
    x, _ = moves_by_independent(m, entries)
    yield system.constrained_jacobian(m.q, names), x[: len(names)].T
    seen = {"representation": m.form}
    D = system.body_derivatives(m.q, rates[:4], **seen)[:, system.body_index(m.body)]
    for fit, own in zip(mb.fit_derivatives(system, m.q, {m.body: D}, **seen), rates, strict=False):
        yield fit.rates, own
    own = rates[:, entries]
    split = {"independent": names}
    for k, name in enumerate(("velocity", "acceleration", "jerk")):
        key = ("v", "vdot", "vddot")[k] + "_independent"
        found = m.rate(f"dependent_{name}", {key: own[k]}, {key: own[k + 1]}, **split)
        yield rates[k + 1], found
    given = [dict(zip(names, each, strict=True)) for each in own]
    yield system.dependent_acceleration(m.q, rates[0], given[1]), rates[1]
    yield system.dependent_jerk(m.q, *rates[:2], given[2]), rates[2]


@law(of=CLOSED)
def efforts_of_actuators(m):
    """By q along motions that keep rows dependent that are; by all else one after the other."""
    system, (v, vdot) = m.system, m.rates[:2]
    N = allowed(system.constraint_jacobian(m.q))
    names = ("v", "vdot", "tau", "t", *m.parameters, *m.geometry)
    every = list(system.joint_names)
    for drive in (
        {"actuated": list(m.independent)},
        {"actuated": every, "minimise": "effort"},
        {"actuated": every, "minimise": {every[0]: 3.0}},
        {"actuated": every, "minimise": "constraint"},
    ):
        found = system.derivatives(
            "closed_inverse_dynamics", m.q, v, m.tau, vdot=vdot, by=("q", *names), t=TIME, **drive
        )
        exact = m.exact("closed_inverse_dynamics", **drive)
        expected = exact(m.given, {"q": system.position_rates(m.q, N.T)}, TIME)[1].T
        yield np.concatenate([part["q"] @ N for part in (found.tau, found.multipliers)]), expected
        for name in names:
            parts = [part[name] for part in (found.tau, found.multipliers)]
            if name in system.parameters:
                parts = [along_changes(system, part, name) for part in parts]
            own = np.concatenate([part.reshape((len(part), -1)) for part in parts])
            chosen = m.geometry.get(name) or slice(None)
            yield own[:, chosen], exact.by(m.given, name, TIME)[:, chosen]


# ---------------------------------------------------------------------------------- linear models


@law(of=("tree", *CLOSED))
def linear_model(m):
    """A, B, C and D, from moves of q and v that keep the loops closed."""
    system, (q, v), names = m.system, (m.q, m.rates[0]), list(m.independent)
    entries = [system.velocity_names.index(name) for name in names]
    point, stiffness = np.array([0.1, -0.2, 0.3]), m.parameters[3]
    inputs = [names[0], (f"{m.body}.wrench", point), stiffness]
    outputs = [
        *(f"{each}.{kind}" for each in system.velocity_names for kind in ("q", "v", "vdot")),
        (f"{m.body}.pose", point), (f"{m.body}.twist", point),
    ]  # fmt: skip
    model = system.linearize(q, v, inputs, outputs, tau=m.tau, independent=names, t=TIME)
    x, w = moves_by_independent(m, entries)
    moves = {"q": system.position_rates(q, x), "v": w}
    vdot = m.along("forward_dynamics", moves)
    E = np.einsum("ijk,aj,k->ai", brackets(m), x, v)[:, entries]
    eta = np.vstack([np.zeros((len(entries),) * 2), np.eye(len(entries))])
    yield model.A, np.hstack([E + eta, vdot[:, entries]]).T
    frame = {"body": m.body, "frame": mb.spatial.translation(point)}
    twist = {**frame, "representation": mb.Hybrid()}
    C, turned = system.pose(q=q, **frame), m.along("pose", {"q": moves["q"]}, **frame)
    spin = turned[:, :3, :3] @ C[:3, :3].T
    pose = [spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0], *turned[:, :3, 3].T]
    joints = np.stack([x, w, vdot], axis=-1).reshape((len(x), -1))
    moved = m.along("twist", moves, **twist)
    yield model.C, np.hstack([joints, np.transpose(pose), moved]).T
    J = m.exact("twist", **twist).by(m.given, "v")
    pushes = np.vstack([np.eye(system.nv)[entries[:1]], J])
    by_input = np.vstack([
        m.along("forward_dynamics", {"tau": pushes}),
        m.by("forward_dynamics", stiffness)[0].T,
    ])  # fmt: skip
    yield model.B, np.hstack([0.0 * by_input[:, entries], by_input[:, entries]]).T
    none = np.zeros_like(by_input)
    gains = np.stack([none, none, by_input], axis=-1).reshape((8, -1))
    yield model.D, np.hstack([gains, np.zeros((8, 12))]).T


#: Those that take the longest; the other tree, and the slider-crank, are held to the same.
LONG = ("tree without forces", "Bricard", "Stewart platform")

#: Of the four-bar, whose rows depend on others, and where only body-fixed twists are looked at.
OF_FOUR_BAR = (
    "rates_of_jacobians", "motion_from_independent_joints", "efforts_of_actuators", "linear_model"
)  # fmt: skip


def is_long(name, which):
    return name in LONG or (name == "four-bar" and which not in OF_FOUR_BAR)


CASES = [
    pytest.param(
        name, which, id=f"{name}, {which.replace('_', ' ')}",
        marks=[pytest.mark.long] if is_long(name, which) else [],
    )
    for name in (*TREES, *CLOSED)
    for which, (_, of) in LAWS.items()
    if name in of
]  # fmt: skip


@pytest.mark.parametrize(("name", "which"), CASES)
def test_methods_return_derivatives(name, which):
    """Entries that are zero may have 1e-16 left: others are of order one."""
    for found, expected in LAWS[which][0](motion_of(name)):
        assert found.shape == expected.shape
        size = max(1e-6, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=ASKED * size)

"""Errors of a system's methods for impossible arguments."""

import threading

import numpy as np
import pytest

import mbkit as mb


@pytest.fixture(scope="module")
def system():
    """A slider that carries a ball joint."""
    mech = mb.Mechanism("slider and ball")
    slider = mech.add_body(mb.Body("slider", inertia=mb.SpatialInertia.sphere(2.0, radius=0.2)))
    ball = mech.add_body(mb.Body("ball", inertia=mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))))
    mech.add_joint(mb.PrismaticJoint("rail", axis=(1, 0, 0)), mech.world, slider)
    mech.add_joint(mb.SphericalJoint("socket", point=(0.1, 0, 0.3)), slider, ball)
    return mech.assemble()


@pytest.fixture
def state(system):
    """A configuration and two velocities."""
    rng = np.random.default_rng(5)
    q = system.retract(system.reference_configuration(), rng.normal(size=4))
    return q, rng.normal(size=4), rng.normal(size=4)


def test_names_tell_the_order_of_positions_and_velocities(system):
    """One name for an entry, with the joint's own name where it has one entry."""
    assert system.position_names == ("rail", "socket[0]", "socket[1]", "socket[2]", "socket[3]")
    assert system.velocity_names == ("rail", "socket[0]", "socket[1]", "socket[2]")
    assert system.body_names == ("world", "slider", "ball")
    assert (system.nq, system.nv) == (5, 4)
    assert system.position_slice("socket") == slice(1, 5)
    assert system.velocity_slice("socket") == slice(1, 4)
    assert system.body_index("ball") == 2
    assert repr(system) == "<System 'slider and ball': 2 bodies, nq=5, nv=4, body_fixed>"


def test_an_unknown_name_is_answered_with_a_likely_one(system):
    """Bodies and joints alike."""
    with pytest.raises(mb.NameUnknownError, match=r"has no body 'bal'.*'ball'"):
        system.body_index("bal")
    with pytest.raises(mb.NameUnknownError, match=r"has no joint 'socked'.*'socket'"):
        system.velocity_slice("socked")


def test_lists_and_strided_and_read_only_arrays_are_taken(system, state):
    """Whatever is made of real numbers and has the right shape gives the same result."""
    q, v, vdot = state
    expected = system.inverse_dynamics(q, v, vdot)
    strided = np.repeat(v, 2)[::2]
    frozen = q.copy()
    frozen.flags.writeable = False
    for arguments in (
        (list(q), list(v), list(vdot)),
        (frozen, strided, vdot),
        (tuple(q), v.astype(">f8"), vdot),
    ):
        np.testing.assert_array_equal(system.inverse_dynamics(*arguments), expected)
    assert system.forward_dynamics([0, 1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]).shape == (4,)


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("inverse_dynamics", ([0] * 4, [0] * 4, [0] * 4), r"'q' must have shape .*; got \(4,\)"),
        ("inverse_dynamics", ([0, 1, 0, 0, 0], [0] * 5, [0] * 4), r"'v' must have shape \(4,\)"),
        ("forward_dynamics", ([0, 1, 0, 0, 0], [0.0] * 4, [0.0]), r"'tau' must have shape \(4,\)"),
        ("forward_dynamics", ([[0, 1, 0, 0]], [0] * 4), r"'q' .*or \(\.\.\., 5\).*; got \(1, 4\)"),
        ("forward_dynamics", ([0, 1, 0, 0, 0], 3.0), r"'v' must have shape \(4,\).*; got \(\)"),
        ("accelerations", ([0, 1, 0, 0, 0], [0] * 4, [0] * 3), r"'vdot' must have shape \(4,\)"),
        ("accelerations", (np.eye(5)[1], np.zeros(4), np.zeros(3)), r"'vdot' must have shape"),
        ("twists", (np.eye(5)[1], np.zeros(3)), r"'v' must have shape \(4,\) \(.*\[0\], .*\[1\]"),
        ("retract", (np.eye(5)[1], np.zeros(3)), r"'dx' must have shape \(4,\)"),
        ("difference", (np.eye(5)[1], np.zeros(4)), r"'q1' must have shape \(5,\)"),
        ("hybrid_dynamics", (np.eye(5)[1], np.zeros(3)), r"'v' must have shape \(4,\)"),
        ("mass_matrix", (["a", 1, 0, 0, 0],), "'q' must be an array of real numbers"),
        ("mass_matrix", ([1j, 1, 0, 0, 0],), "'q' must be an array of real numbers"),
        ("mass_matrix", (None,), r"'q' .*; None was given.*system\.reference_configuration\(\)"),
        ("inverse_dynamics", (np.eye(5)[1], np.zeros(4), None), r"'vdot' .*None.*zeros\(system"),
        ("retract", (np.eye(5)[1], None), r"'dx' must be an array of real numbers; None was given"),
        ("poses", (np.zeros(9),), r"'q' must have shape \(5,\)"),
        ("energies", (np.zeros((2, 5)), np.zeros((3, 4))), r"do not broadcast: q \(2,\), v \(3,\)"),
    ],
)  # fmt: skip
def test_a_wrong_shape_is_named_with_the_right_one(system, method, arguments, message):
    """The argument, the shape it must have, the shape it has."""
    with pytest.raises(mb.ShapeError, match=message):
        getattr(system, method)(*arguments)


def test_vectors_by_names_are_those_that_configuration_and_velocity_make(system):
    joint, entry = system.joint_names[0], system.velocity_names[-1]
    at, moving = {joint: 0.3}, {entry: 0.2, joint: -1.0}
    q, v = system.configuration(at), system.velocity(moving)
    for method, given, vectors in (
        ("mass_matrix", (at,), (q,)),
        ("twists", (at, moving), (q, v)),
        ("inverse_dynamics", (at, moving, {joint: 2.0}), (q, v, system.velocity({joint: 2.0}))),
        ("forward_dynamics", (at, v, {joint: 2.0}), (q, v, system.velocity({joint: 2.0}))),
        ("jerks", (q, moving, v, v), (q, v, v, v)),
        ("kinetic_energy", (at, np.stack([v, 2.0 * v])), (q, np.stack([v, 2.0 * v]))),
    ):
        call = getattr(system, method)
        np.testing.assert_array_equal(call(*given), call(*vectors))
    for bad, told in (({"jonit": 1.0}, "no joint 'jonit'"), ({joint: [1, 2]}, "takes 1 number")):
        for method in ("mass_matrix", "linearize", "close_loops"):
            with pytest.raises(mb.MbkitError, match=told.replace("no joint", "no joint.*")):
                getattr(system, method)(bad)


def test_results_are_written_where_the_caller_wants_them(system, state):
    """out= receives the result, is returned, and is refused where it cannot hold it."""
    q, v, vdot = state
    out = np.empty(4)
    assert system.inverse_dynamics(q, v, vdot, out=out) is out
    np.testing.assert_array_equal(out, system.inverse_dynamics(q, v, vdot))
    for bad in (np.empty(3), np.empty(4, dtype=np.float32), np.empty(8)[::2], [0.0] * 4):
        with pytest.raises(mb.ShapeError, match=r"'out' must be a contiguous.*shape \(4,\)"):
            system.inverse_dynamics(q, v, vdot, out=bad)
    for method, shape in (("poses", (3, 4, 4)), ("mass_matrix", (4, 4))):
        with pytest.raises(mb.ShapeError, match="'out' must be"):
            getattr(system, method)(q, out=np.empty((shape[0] + 1, *shape[1:])))
    with pytest.raises(mb.ShapeError, match="'out' must be"):
        system.jacobian("ball", q, out=np.empty((6, 5)))


def test_a_quaternion_must_be_of_length_one(system, state):
    """The joint, the rule, the value and the remedy; tiny deviations are divided out."""
    q, *_ = state
    q[1:] *= 1.5
    with pytest.raises(mb.ConfigurationError, match=r"'socket'.*length 1\.5;.*system\.retract"):
        system.mass_matrix(q)
    q[1:] /= 1.5
    M = system.mass_matrix(q)
    q[1:] *= 1.0 + 1e-9
    np.testing.assert_allclose(system.mass_matrix(q), M, rtol=1e-14, atol=1e-15)
    R = system.poses(q)[2, :3, :3]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)


def test_not_a_number_is_named_with_its_joint(system, state):
    """Forward dynamics would spread it over everything."""
    q, v, tau = state
    tau[2] = np.nan
    with pytest.raises(mb.NotFiniteError, match=r"tau\[2\] of joint 'socket' is nan"):
        system.forward_dynamics(q, v, tau)


def test_a_system_may_be_shared_between_threads(system, state):
    """Each call has its own scratch memory."""
    q, v, vdot = state
    expected = system.inverse_dynamics(q, v, vdot)
    wrong = []

    def work():
        taus = (system.inverse_dynamics(q, v, vdot) for _ in range(2000))
        wrong.extend(tau for tau in taus if not np.array_equal(tau, expected))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_system_and_its_arrays_cannot_be_changed(system):
    """Immutable, so that it may be shared."""
    with pytest.raises(AttributeError):
        system.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        system.arrays.bodies["mass"] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        system.gravity[0] = 1.0
    q = system.reference_configuration()
    q[0] = 7.0
    assert system.reference_configuration()[0] == 0.0


@pytest.mark.parametrize("method", ["poses", "twists", "accelerations", "jacobian", "mass_matrix"])
@pytest.mark.parametrize("change", [-1, 1])
def test_no_kernel_writes_beyond_a_result_that_is_too_small(system, state, method, change):
    """Every extent of out is compared before anything is written."""
    q, v, vdot = state
    arguments = {
        "twists": (q, v), "accelerations": (q, v, vdot), "jacobian": ("ball", q)
    }.get(method, (q,))  # fmt: skip
    shape = getattr(system, method)(*arguments).shape
    for axis in range(len(shape)):
        wrong = list(shape)
        wrong[axis] += change
        memory = np.full(1000, 7.0)
        out = memory[: np.prod(wrong)].reshape(wrong)
        with pytest.raises(mb.ShapeError, match="'out' must be"):
            getattr(system, method)(*arguments, out=out)
        np.testing.assert_array_equal(memory, 7.0)


def test_energies_of_one_state_are_numbers(system, state):
    """And arrays for several."""
    q, v, _ = state
    assert isinstance(system.kinetic_energy(q, v), float)
    assert isinstance(system.potential_energy(q), float)
    with pytest.raises(mb.ShapeError, match=r"'q' must have shape \(5,\).*; got \(3,\)"):
        system.potential_energy(q[:3])
    with pytest.raises(mb.ShapeError, match="'q' must be an array of real numbers"):
        system.kinetic_energy("abc", v)
    kinetic, potential = system.energies([q, q], [v, 2 * v])
    np.testing.assert_allclose(kinetic, system.kinetic_energy(q, v) * np.array([1, 4]))
    np.testing.assert_allclose(potential, system.potential_energy(q))


def test_what_an_earlier_call_left_behind_blames_nobody(system, state):
    """The scratch memory of a call that ended in NaN is looked at by no later message."""
    q, v, tau = state
    with pytest.raises(mb.NotFiniteError):
        system.forward_dynamics(q, v, tau * np.nan)
    q[1:] *= 2.0
    with pytest.raises(mb.ConfigurationError, match=r"'socket'.*quaternion"):
        system.forward_dynamics(q, v, tau)


@pytest.mark.parametrize("method", ["difference", "retract", "poses"])
def test_every_method_wants_unit_quaternions(system, state, method):
    """Also those that only compare configurations."""
    q, v, _ = state
    good, q[1:] = q.copy(), q[1:] * 1.001
    arguments = {"difference": (good, q), "retract": (q, v), "poses": (q,)}[method]
    with pytest.raises(mb.ConfigurationError, match="quaternion"):
        getattr(system, method)(*arguments)


def test_empty_lists_are_arrays_of_the_wrong_shape(system):
    """Or of the right one, where there is nothing to move."""
    with pytest.raises(mb.ShapeError, match=r"'q' must have shape \(5,\)"):
        system.poses([])
    mech = mb.Mechanism("still")
    block = mech.add_body(mb.Body("block", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FixedJoint("weld"), mech.world, block)
    still = mech.assemble()
    assert still.inverse_dynamics([], [], []).shape == (0,)
    np.testing.assert_array_equal(still.poses([]), np.tile(np.eye(4), (2, 1, 1)))


def test_each_argument_that_is_not_finite_is_named(system, state):
    """With the entry and its joint, or the body's row."""
    q, v, tau = state
    wrenches = np.zeros((3, 6))
    wrenches[2, 4] = np.inf
    with pytest.raises(mb.NotFiniteError, match=r"wrenches\[2, 4\] is inf"):
        system.forward_dynamics(q, v, tau, wrenches)
    tau[0] = np.nan
    with pytest.raises(mb.NotFiniteError, match=r"vdot\[0\] of joint 'rail' is nan"):
        system.hybrid_dynamics(q, v, vdot=tau, prescribed=["rail"])


def test_words_of_on_error_are_checked_before_anything_fails(system, state):
    """A misspelt word is no silent default."""
    q, v, tau = state
    for call in (
        lambda: system.poses(q, on_error="skip"),
        lambda: system.inverse_dynamics(q, v, tau, on_error="skip"),
        lambda: system.mass_matrix(q, on_error="skip"),
        lambda: system.forward_dynamics(q, v, tau, np.zeros((3, 6)), on_error="skip"),
    ):
        with pytest.raises(mb.UsageError, match="on_error must be 'raise' or 'nan', got 'skip'"):
            call()


def test_typed_values_are_in_the_representation_that_was_asked_for(system, state):
    """Their vectors are the rows of the plain result; an acceleration has its twist."""
    q, v, vdot = state
    for representation in (None, mb.Spatial(), mb.Mixed()):
        V = system.twists(q, v, representation=representation, typed=True)
        A = system.accelerations(q, v, vdot, representation=representation, typed=True)
        expected = system.twists(q, v, representation=representation)
        np.testing.assert_array_equal([twist.vector for twist in V], expected)
        np.testing.assert_array_equal([each.twist.vector for each in A], expected)
        rates = system.accelerations(q, v, vdot, representation=representation)
        np.testing.assert_array_equal([each.vector for each in A], rates)
        assert {each.representation for each in V} == {representation or mb.BodyFixed()}
        assert [each.body for each in V] == [*system.body_names]


def test_a_representation_without_kernels_says_what_it_lacks(system, state):
    """When it is first used, with what it must have."""

    class Half(mb.BodyFixed.__mro__[1]):
        name = "half"
        kernel_package = "nowhere.at_all"

        def twist_map(self, C):
            return np.eye(6)

        def twist_map_rate(self, C, V_b):
            return np.zeros((6, 6))

    with pytest.raises(mb.UsageError, match=r"'half' has no function 'twists'.*algorithms"):
        system.twists(*state[:2], representation=Half())

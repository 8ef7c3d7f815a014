"""Leading axes, kinds of arrays, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from mbkit.errors import GeometryError, ShapeError
from mbkit.lie import SE3, SO3, Group, SO3xR3, UnitQuaternion
from tests.at_each import at_each

OF_VECTORS = [
    "exp", "ad", "dexp_spatial", "dexp_body", "dexp_spatial_inv", "dexp_body_inv",
    "cay", "dcay_spatial", "dcay_body", "dcay_spatial_inv", "dcay_body_inv",
]  # fmt: skip
OF_ELEMENTS = ["log", "inverse", "Ad", "cay_inv"]

each_function = at_each("name", {name: name for name in OF_VECTORS + OF_ELEMENTS})


def with_argument(group, name):
    """Return a function of a group, and an array (2, 3, ...) that it takes."""
    rng = np.random.default_rng(20180)
    if name in OF_VECTORS:
        return getattr(group, name), rng.standard_normal((2, 3, group.dimension))
    return getattr(group, name), group.random(rng, (2, 3))


@each_function
def test_leading_axes_are_kept(group, name):
    """A batch gives what its members give one by one.

    Compiled loops take several rows at a time, with sums in another order: a few roundings.
    """
    function, argument = with_argument(group, name)
    batch = function(argument)
    assert batch.shape[:2] == (2, 3)
    for i in range(2):
        for j in range(3):
            single = function(argument[i, j])
            bound = 4 * np.finfo(float).eps * np.max(np.abs(single))
            np.testing.assert_allclose(batch[i, j], single, rtol=0, atol=bound)


@each_function
def test_empty_batches(group, name):
    function, argument = with_argument(group, name)
    assert function(argument[:0]).shape == (0, *function(argument).shape[1:])


@each_function
def test_arrays_of_any_layout_and_kind(group, name):
    """Read-only, strided, byte-swapped arrays and lists are as good as contiguous ones."""
    function, argument = with_argument(group, name)
    expected = function(argument)
    frozen = argument.copy()
    frozen.setflags(write=False)
    strided = np.repeat(argument, 2, axis=-1)[..., ::2]
    for other in (frozen, strided, np.asfortranarray(argument), argument.tolist(),
                  argument.astype(argument.dtype.newbyteorder())):  # fmt: skip
        np.testing.assert_array_equal(function(other), expected)


@each_function
def test_results_are_new_arrays(group, name):
    """Nothing returned shares memory with what came in."""
    function, argument = with_argument(group, name)
    before = argument.copy()
    function(argument)[...] = 7.0
    np.testing.assert_array_equal(argument, before)


def test_integers_are_numbers(group):
    np.testing.assert_array_equal(
        group.exp(np.ones(group.dimension, dtype=int)), group.exp(np.ones(group.dimension))
    )


def test_composition_broadcasts(group, rng):
    a, b = group.random(rng, (4, 1)), group.random(rng, (3,))
    product = group.compose(a, b)
    assert product.shape == (4, 3, *group.element_shape)
    np.testing.assert_allclose(product[2, 1], group.compose(a[2, 0], b[1]), rtol=0, atol=1e-14)


def test_groups_share_one_interface(group):
    assert issubclass(group, Group)
    assert group.identity().shape == group.element_shape
    assert group.random(np.random.default_rng(0)).shape == group.element_shape
    assert group.exp(np.zeros(group.dimension)).shape == group.element_shape


# ------------------------------------------------------------------------------------ refusals


@each_function
def test_wrong_shapes_are_refused(group, name):
    function, argument = with_argument(group, name)
    name = f"{group.__name__}.{name}"
    with pytest.raises(ShapeError, match=rf"^{name} takes an array of shape \(\.\.\., \d.*got"):
        function(argument[..., :-1])
    with pytest.raises(ShapeError, match=name):
        function(1.0)


@each_function
def test_complex_numbers_and_ragged_rows_are_refused(group, name):
    function, argument = with_argument(group, name)
    name = f"{group.__name__}.{name}"
    with pytest.raises(ShapeError, match=f"{name} takes an array of real numbers.*complex128"):
        function(argument * 1j)
    with pytest.raises(ShapeError, match=f"{name} takes an array of real numbers.*rows"):
        function([[1.0, 2.0], [3.0]])


def test_batches_that_do_not_broadcast_are_refused(group, rng):
    with pytest.raises(ShapeError, match=f"{group.__name__}.compose .*leading axes"):
        group.compose(group.random(rng, (2,)), group.random(rng, (3,)))


@pytest.mark.parametrize("function", [SO3.log, SO3.cay_inv, UnitQuaternion.from_rotation])
@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        (1.01 * np.eye(3), "= 0.0201, det R = 1.0303"),
        (np.diag([1.0, 1.0, -1.0]), "det R = -1"),
        (np.full((3, 3), np.nan), "= nan"),
        (np.zeros((3, 3)), "= 1, det R = 0"),
        ([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]], "= 0.6, det R = 0.8"),
    ],
)
def test_matrices_that_are_no_rotations_are_refused(function, matrix, why):
    with pytest.raises(GeometryError, match=rf"takes rotation matrices.*{why}.*Orthonormalise"):
        function(matrix)


@pytest.mark.parametrize("entry", [(0, 0), (1, 0), (2, 1)])
def test_every_entry_of_a_rotation_is_looked_at(entry):
    matrix = SO3.exp([0.3, 0.2, 0.1])
    matrix[entry] += 1e-5
    with pytest.raises(GeometryError, match="takes rotation matrices"):
        SO3.log(matrix)
    matrix[entry] -= 1e-5 - 1e-8
    assert SO3.log(matrix) == pytest.approx([0.3, 0.2, 0.1], abs=1e-7)


@pytest.mark.parametrize("group", [SE3, SO3xR3])
@pytest.mark.parametrize("name", ["log", "cay_inv"])
def test_matrices_that_are_no_poses_are_refused(group, name, rng):
    """The message says which of a batch it is."""
    poses = group.random(rng, (2, 3))
    poses[1, 2, 3, 0] = 0.5
    match = rf"^{group.__name__}.{name} takes poses.*\[0.5, 0.0, 0.0, 1.0\] at index \[1, 2\]"
    with pytest.raises(GeometryError, match=match):
        getattr(group, name)(poses)
    poses = group.random(rng)
    poses[:3, :3] *= 2
    with pytest.raises(GeometryError, match="det R = 8"):
        getattr(group, name)(poses)


@pytest.mark.parametrize("name", ["log", "cay_inv"])
def test_quaternions_that_are_not_unit_are_refused(name):
    with pytest.raises(GeometryError, match=r"\|q\|\^2 = 4 at index \[1\]. Divide it"):
        getattr(UnitQuaternion, name)([[1, 0, 0, 0], [0, 0, 2, 0]])
    with pytest.raises(GeometryError, match="unit quaternions"):
        getattr(UnitQuaternion, name)([np.nan, 0, 0, 0])


def test_half_turns_have_no_cayley_coordinates(group):
    """The refusal names the group, the reason and the place."""
    half_turn = group.identity()
    if group is UnitQuaternion:
        half_turn[:] = [0.0, 1.0, 0.0, 0.0]
    else:
        half_turn[1, 1] = half_turn[2, 2] = -1.0
    match = rf"{group.__name__}.cay_inv .*less than pi.*by pi at index \[1\]. Use log."
    with pytest.raises(GeometryError, match=match):
        group.cay_inv([group.identity(), half_turn])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("name", ["exp", "dexp_spatial", "dexp_spatial_inv"])
def test_numbers_that_are_not_finite_pass_through(group, name, bad):
    """A blown-up vector gives a result that is not finite, without an exception or warning."""
    x = np.full(group.dimension, 0.1)
    x[1] = bad
    assert not np.all(np.isfinite(getattr(group, name)(x)))


def test_translations_that_are_not_finite_stay_where_they_are():
    """An infinite y leaves the rotation alone, beside the pole too."""
    for angle in (0.1, 6.0):
        x = np.array([angle, 0.0, 0.0])
        result = SE3.dexp_spatial_inv([*x, np.inf, 1.0, 1.0])
        np.testing.assert_array_equal(result[:3, :3], SO3.dexp_spatial_inv(x))
        assert not np.all(np.isfinite(result[3:, :3]))

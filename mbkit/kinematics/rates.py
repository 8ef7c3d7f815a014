"""Rates of the joints from twists of the bodies, joint by joint along the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import JointError
from mbkit.kinematics.measured import bias_accelerations, chosen, measured_rows
from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.memory.body_tree import Integers
from mbkit.systems.rank import singular_values

if TYPE_CHECKING:
    from mbkit.representations import Representation
    from mbkit.systems import System

#: Least singular value of a motion subspace, as a part of its largest, below which rates are not
#: determined: a hundred times the rounding of a subspace that has lost rank.
_RANK_TOLERANCE = 1e-12


def rates_from_twists(
    system: System,
    q: ArrayLike,
    twists: ArrayLike,
    representation: Representation | None = None,
) -> FloatArray:
    """Return the velocities that give the bodies their twists, each from its joint alone.

    Parameters
    ----------
    system : System
        The mechanism.
    q : array_like, shape (nq,)
        Configuration.
    twists : array_like, shape (bodies + 1, 6)
        Twist of every body at its frame, as `System.twists` orders them; row 0 is ignored, since
        the world stands still. [rad/s], [m/s]
    representation : Representation, optional
        Of the twists; the system's if left out.

    Returns
    -------
    ndarray, shape (nv,)
        ``v``: for every joint the least-squares solution of X_i v_i = V_i - Ad V_p, the body-fixed
        twist of its body relative to the parent. For a joint with one velocity
        v_i = X_i^T (V_i - Ad V_p) / |X_i|^2.

    Raises
    ------
    ShapeError, NotFiniteError
        If an array does not fit, or has entries that are not finite.
    JointError
        If a joint's motion subspace has lost rank at `q`, so that no rates follow.

    See Also
    --------
    fit_rates : Minimises the error of the twists themselves, with weights.

    Notes
    -----
    Exact for twists that the mechanism can have. For others it minimises
    ``|(I - T)(V - J v)|``, body-fixed, in the notation of `SystemJacobian`: the error of the twists
    *relative* to the parents. Remark 9 of the source calls it the least-squares solution of
    V = J v, which it is for consistent twists only; an error in one twist spreads to no joint but
    those of this body. Radians per second and metres per second at the frames of the bodies count
    alike in it. Cost: O(bodies).

    Source: Mueller 2018, (26) and remark 9.

    Examples
    --------
    >>> import numpy as np
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("pendulum")
    >>> rod = mb.Body("rod", inertia=mb.SpatialInertia.box(1.0, size=(1.0, 0.1, 0.1)))
    >>> hinge = mb.RevoluteJoint("hinge", axis=(0, 1, 0), point=(-0.5, 0, 0))
    >>> joint = mech.add_joint(hinge, mech.world, mech.add_body(rod))
    >>> system = mech.assemble()
    >>> V = system.twists([0.3], [2.0])
    >>> rates_from_twists(system, [0.3], V)
    array([2.])
    """
    who = "rates_from_twists"
    given = measured_rows(system, twists, who, "twists")
    q = system.checked("q", q)
    return _by_joint(system, q, chosen(system, representation, who), given)


def accelerations_from_twist_rates(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    twist_rates: ArrayLike,
    representation: Representation | None = None,
) -> FloatArray:
    """Return the joint accelerations that give the twists of the bodies their rates.

    Parameters
    ----------
    system : System
        The mechanism.
    q, v : array_like, shape (nq,), (nv,)
        Configuration and velocity; the latter as `rates_from_twists` gives it.
    twist_rates : array_like, shape (bodies + 1, 6)
        Component-wise rate of the twist of every body, as `System.accelerations` gives them,
        without gravity's offset; row 0 is ignored. [rad/s^2], [m/s^2]
    representation : Representation, optional
        Of the twists; the system's if left out.

    Returns
    -------
    ndarray, shape (nv,)
        ``vdot``: for every joint the least-squares solution of X_i vdot_i = D_i - Ad D_p, with D
        the body-fixed part of the accelerations that is not there for vdot = 0.

    Raises
    ------
    ShapeError, NotFiniteError, JointError
        As `rates_from_twists`.

    Notes
    -----
    D takes the place of the brackets [X_i, V_i] v_i in Mueller 2018, remark 14, and in (11) of its
    companion. For twists that belong to `v` it is the same; it holds also for joints whose motion
    subspace changes in the body, and for hybrid and mixed twists, whose rates do not convert by the
    adjoint alone. It is exact, and minimises otherwise, as `rates_from_twists` does. Cost:
    O(bodies).

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("top")
    >>> body = mb.Body("body", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1))
    >>> joint = mech.add_joint(mb.SphericalJoint("tip"), mech.world, mech.add_body(body))
    >>> system = mech.assemble()
    >>> q, v = system.reference_configuration(), [1.0, 2.0, 3.0]
    >>> A = system.accelerations(q, v, [0.1, 0.2, 0.3])
    >>> accelerations_from_twist_rates(system, q, v, A)
    array([0.1, 0.2, 0.3])
    """
    who = "accelerations_from_twist_rates"
    given = measured_rows(system, twist_rates, who, "twist_rates")
    form = chosen(system, representation, who)
    q, v = system.checked("q", q), system.checked("v", v)
    return _by_joint(system, q, form, given - bias_accelerations(system, q, v, form))


def _by_joint(system: System, q: ArrayLike, form: Representation, given: FloatArray) -> FloatArray:
    """Return the least-squares solution joint by joint, from twists in a representation."""
    tree = system.tree
    C = system.poses(q)
    twists = (form.inverse_twist_map(C) @ given[:, :, None])[:, :, 0]
    parents = np.maximum(tree.parents, 0)
    to_body = SE3.Ad(SE3.inverse(C) @ C[parents])
    twists[0] = 0.0
    relative = twists - (to_body @ twists[parents][:, :, None])[:, :, 0]
    subspaces = system.motion_subspaces(q)
    rates = np.zeros(system.nv)
    for count in np.unique(tree.num_velocities[tree.num_velocities > 0]):
        bodies = np.flatnonzero(tree.num_velocities == count)
        velocities = tree.first_velocity[bodies][:, None] + np.arange(count)
        X = np.swapaxes(subspaces[velocities], -1, -2)  # (m, 6, count)
        U, sizes, Vt = singular_values(X, full_matrices=False)
        _require_rank(system, bodies, sizes)
        along = np.einsum("mij,mi->mj", U, relative[bodies]) / sizes
        rates[velocities] = np.einsum("mji,mj->mi", Vt, along)
    return rates


def _require_rank(system: System, bodies: Integers, sizes: FloatArray) -> None:
    lost = ~(sizes[:, -1] > _RANK_TOLERANCE * sizes[:, 0])
    if lost.any():
        body = int(bodies[np.argmax(lost)])
        found = sizes[np.argmax(lost)]
        rank = int((found > _RANK_TOLERANCE * found[0]).sum())
        raise JointError(
            f"Joint '{system.tree.joints[body]}': its motion subspace has rank {rank} of "
            f"{len(found)} at this configuration, so that its rates do not follow from the twist "
            f"of body '{system.body_names[body]}'; use mbkit.fit_rates, which says what is left "
            f"undetermined."
        )

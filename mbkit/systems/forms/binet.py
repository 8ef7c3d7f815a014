"""Christoffel symbols of the first kind in Binet's form."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError, check_kind
from mbkit.lie.arrays import hat
from mbkit.representations import BodyFixed
from mbkit.spatial import translation
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.system import System


def binet_christoffel(system: System, q: ArrayLike, body: str | None = None) -> FloatArray:
    """Return Christoffel symbols of the first kind in Binet's form, of all bodies or of one.

    Parameters
    ----------
    system : System
        The tree, where v is the rate of q.
    q : array_like, shape (nq,)
        Configuration.
    body : str, optional
        The body whose share is wanted; the sum over all bodies if left out.

    Returns
    -------
    ndarray, shape (nv, nv, nv)
        G[i, j, k], symmetric in j and k. Their sum over all bodies is `System.christoffel`, which
        costs less.

    Raises
    ------
    UsageError
        If the velocities of a joint are not the rates of its positions.
    NameUnknownError, ShapeError
        If there is no such body; if q has another shape.

    Notes
    -----
    With the pose C of a frame at the centre of mass of a body, where its moment of inertia is Theta
    and Binet's tensor theta = tr(Theta) / 2 I - Theta, the integral of r r^T dm,

        G_ijk = sum tr(d2C/dq_j dq_k diag(theta, m) (dC/dq_i)^T).

    dC/dq_j is C J_j^ for the column J_j of the body-fixed Jacobian, the second derivative is
    C (J_k^ J_j^ + dJ_j^/dq_k). For joints of one velocity, j not beyond k, this is the sum of
    w_j . theta (w_k x w_i) + m v_i . (w_j x v_k): Mueller 2018, (87), corrected. Here it is of any
    joint in coordinates.

    See Also
    --------
    System.christoffel : by recursions, and of quasi-velocities too.

    Examples
    --------
    A bob of 1 kg slides out along an arm, 2 m from the hinge:

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("arm")
    >>> arm = mech.add_body(mb.Body("arm"))
    >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, 0))))
    >>> hinge = mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 0, 1)), mech.world, arm)
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), arm, bob)
    >>> mb.binet_christoffel(mech.assemble(), [0.4, 2.0], "bob").round(9) + 0.0
    array([[[ 0.,  2.],
            [ 2.,  0.]],
    <BLANKLINE>
           [[-2.,  0.],
            [ 0.,  0.]]])
    """
    who = "binet_christoffel"
    check_kind(f"{who}: system", system, System, "an mbkit.System")
    for name, joint in system.arrays.tree_joints.items():
        if not joint.positions_add:
            raise UsageError(
                f"{who}: the velocities of joint '{name}' are not the rates of its positions, and "
                f"Binet's form is of coordinates; take system.christoffel(q), or give the joint "
                f"coordinates where it has a choice, such as coordinates='second kind'."
            )
    q = system.checked("q", q)
    bodies: Iterable[str] = system.body_names[1:] if body is None else (body,)
    found = np.zeros((system.nv,) * 3)
    for each in bodies:
        row, own = system.body_index(each), system.inertias
        com, form = translation(own.coms[row]), BodyFixed()
        J = system.jacobian(each, q, frame=com, representation=form)
        dJ = system.jacobian_derivatives(each, q, frame=com, representation=form)
        (w, v), (dw, dv) = np.split(J, 2), np.split(np.moveaxis(dJ, 0, -1), 2)
        W = hat(w.T)
        turning = np.einsum("kab,jbc->jkac", W, W) + hat(np.moveaxis(dw, 0, -1))
        shifting = np.einsum("kab,bj->jka", W, v) + np.moveaxis(dv, 0, -1)
        Theta = own.moments_about_com[row]
        theta = 0.5 * np.trace(Theta) * np.eye(3) - Theta
        found += np.einsum("jkab,bc,iac->ijk", turning, theta, W)
        found += own.masses[row] * np.einsum("jka,ai->ijk", shifting, v)
    return found

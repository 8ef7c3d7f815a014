"""Joints of a system near a singular configuration, with remedies."""

from __future__ import annotations

import numbers

import attrs
from numpy.typing import ArrayLike

from mbkit.errors import check_kind
from mbkit.systems.system import System

#: The bound of near, in the measure of `mbkit.Joint.singularity`: 6 degrees of an angle at pi/2.
NEAR = 0.1


@attrs.frozen
class NearSingularity:
    """A joint near a singular configuration.

    Attributes
    ----------
    joint : str
        Its name.
    kind : str
        The name of its class.
    distance : float
        `Joint.singularity`: zero where it is singular.
    remedy : str
        Remedy, as the end of a sentence; "" if the joint has none.
    """

    joint: str
    kind: str
    distance: float
    remedy: str


def near_singularity(
    system: System, q: ArrayLike, threshold: float = NEAR
) -> tuple[NearSingularity, ...]:
    """Return the joints that are near a singular configuration.

    Parameters
    ----------
    system : System
        Any system.
    q : array_like, shape (nq,)
        Configuration.
    threshold : float, default 0.1
        Limit of the measure `Joint.singularity`.

    Returns
    -------
    tuple of NearSingularity
        Joints with distances and remedies, nearest first.

    Raises
    ------
    ShapeError
        If q does not fit.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("gyroscope")
    >>> top = mech.add_body(mb.Body("top", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> ball = mb.SphericalJoint("ball", coordinates="second kind", order="zyx")
    >>> joint = mech.add_joint(ball, mech.world, top)
    >>> system = mech.assemble()
    >>> mb.near_singularity(system, [0.3, 0.2, 0.1])
    ()
    >>> mb.near_singularity(system, [0.3, 1.57, 0.1])[0].joint
    'ball'
    """
    check_kind("near_singularity: system", system, System, "an mbkit.System")
    check_kind("near_singularity: threshold", threshold, numbers.Real, "a number")
    configuration = system.checked("q", q)
    found = []
    for name, joint in system.arrays.tree_joints.items():
        distance = joint.singularity(configuration[system.position_slice(name)])
        if distance < threshold:
            kind, remedy = type(joint).__name__, joint.singularity_remedy
            found.append(NearSingularity(name, kind, float(distance), remedy))
    return tuple(sorted(found, key=lambda each: each.distance))

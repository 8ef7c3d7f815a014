"""The contract of forces."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mbkit.errors import ForceError
from mbkit.final import FinalBuiltIns
from mbkit.forces.derivatives import ForceDerivatives
from mbkit.forces.kernels import ForceKernels
from mbkit.representations import Hybrid, Representation
from mbkit.spatial.arrays import FloatArray


class Force(FinalBuiltIns):
    """A force or controller that acts on joints or bodies, given by their names.

    Subclass it to make a force of your own, as a plain class or under ``attrs.frozen``.

    Required members

    1. ``name``: set by ``super().__init__(name)``, or an attribute of an attrs class.
    2. ``evaluate(t, q, v, poses, twists, out)``: writes into `out`, which is zero before
       the call, generalized forces or wrenches; see below. Or ``kernels()``: compiled functions, a
       `ForceKernels`.

    Members with a default

    3. ``joints``, ``bodies``: names, tuples of str; class attributes or properties. Default none.
       q and v are those of the joints it names, one after another; of all joints of the system, in
       the order of ``system.joint_names``, where it names none. `poses` (n, 4, 4) and `twists`
       (n, 6) are those of its bodies, which may be the world.
    4. ``acts_on``: "joints" (default) or "bodies". Then `out` has one generalized force for each
       entry of v [N m, N], or one wrench (moment, force) for each of its bodies, (n, 6) [N m, N].
    5. ``representation``: of twists and wrenches at the bodies' own frames. Default `Hybrid`: axes
       of the world, moments about the origin of the body's frame.
    6. ``potential_energy(t, q, poses) -> float``: [J]. Default none.
    7. ``power``: "dissipated", "supplied" or "conservative": where the power of the force goes in
       the energy balance. Default "conservative" where there is a potential energy, else
       "supplied".
    8. ``powers(t, q, v, poses, twists) -> (dissipated, supplied)``: both parts [W], in place of
       `power`, for a force that has several: W.V = -dU/dt - dissipated + supplied. Where U depends
       on time, its partial derivative by t is supplied power.
    9. ``derivatives(t, q, v, poses, twists) -> ForceDerivatives``: derivatives of the output of
       `evaluate` by its arguments and, optionally, by fields of the force. A force in Python
       without it is differentiated exactly by tracing, where it uses the functions listed in
       docs/custom-joints.md; else by differences, some eight calls of it for each velocity.
    10. ``parameters()``: numbers that the compiled functions get. Default none.

    Rules

    - A force depends on its arguments only, and keeps no memory: integrators evaluate it several
      times a step, and not in the order of time alone. Attributes may change between runs.
    - A conservative force is minus the gradient of its potential energy U. Where U depends on time,
      `powers` gives its partial derivative by t as supplied; else the energy balance is wrong.
    - It is as smooth as the integrator's order requires.
    - ``mbkit.testing.check_force`` finds derivatives that are not those of `evaluate`.

    Arguments

    - Arguments but for `out` are read-only views that the next call overwrites: copy those
      that are kept.

    Attributes
    ----------
    name : str
        Unique among the forces of a mechanism.

    Examples
    --------
    A magnet that pulls a body to the world's origin:

    >>> import numpy as np
    >>> import mbkit as mb
    >>> class Magnet(mb.Force):
    ...     acts_on = "bodies"
    ...     bodies = ("ball",)
    ...
    ...     def evaluate(self, t, q, v, poses, twists, out):
    ...         x = poses[0, :3, 3]
    ...         out[0, 3:] = -2.0 * x
    ...
    ...     def potential_energy(self, t, q, poses):
    ...         x = poses[0, :3, 3]
    ...         return float(x @ x)
    >>> mech = mb.Mechanism("ball")
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, ball)
    >>> magnet = mech.add_force(Magnet("magnet"))
    >>> mech.assemble().generalized_forces([0.5], [0.0])
    array([-1.])
    """

    name: str
    joints: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    acts_on: ClassVar[str] = "joints"
    representation: ClassVar[Representation] = Hybrid()
    power: ClassVar[str] = ""

    def __init__(self, name: str) -> None:
        self.name = name

    def evaluate(
        self,
        t: float,
        q: FloatArray,
        v: FloatArray,
        poses: FloatArray,
        twists: FloatArray,
        out: FloatArray,
    ) -> None:
        """Write generalized forces or wrenches into `out`."""
        raise ForceError(
            f"Force {getattr(self, 'name', '?')!r}: {type(self).__name__} must define "
            "evaluate(t, q, v, poses, twists, out), or kernels()."
        )

    def potential_energy(self, t: float, q: FloatArray, poses: FloatArray) -> float:
        """Return the potential energy. [J]."""
        return 0.0

    def powers(
        self, t: float, q: FloatArray, v: FloatArray, poses: FloatArray, twists: FloatArray
    ) -> tuple[float, float]:
        """Return the dissipated and the supplied power, where `power` is not sufficient. [W]."""
        return 0.0, 0.0

    def derivatives(
        self, t: float, q: FloatArray, v: FloatArray, poses: FloatArray, twists: FloatArray
    ) -> ForceDerivatives:
        """Return the partial derivatives of the output of `evaluate` at the same arguments.

        They take the place of traces and differences in `System.force_derivatives` and in all that
        is made of it: derivatives of dynamics by state, time and parameters, linear models,
        equilibria, derivatives of runs, functions for JAX. The method is called where all joints of
        the tree are compiled; see `System.force_derivatives`. An entry that is NaN means that
        there is no derivative: differences take the place of all of them at that state.

        Examples
        --------
        A spring that gets stiffer, along one joint:

        >>> import mbkit as mb
        >>> class Stiffening(mb.Force):
        ...     joints = ("slide",)
        ...
        ...     def evaluate(self, t, q, v, poses, twists, out):
        ...         out[0] = -4.0 * q[0] ** 3
        ...
        ...     def derivatives(self, t, q, v, poses, twists):
        ...         return mb.ForceDerivatives(q=[[-12.0 * q[0] ** 2]])
        >>> mech = mb.Mechanism("oscillator", gravity=(0, 0, 0))
        >>> mass = mech.add_body(mb.Body("mass", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> slide = mech.add_joint(mb.PrismaticJoint("slide"), mech.world, mass)
        >>> spring = mech.add_force(Stiffening("spring"))
        >>> mech.assemble().force_derivatives([0.5], [0.0])[0]
        array([[-3.]])
        """
        raise NotImplementedError

    def kernels(self) -> ForceKernels | None:
        """Return the compiled functions, or None for a force in Python."""
        return None

    def parameters(self) -> FloatArray:
        """Return the numbers (n,) that the compiled functions get."""
        return np.zeros(0)

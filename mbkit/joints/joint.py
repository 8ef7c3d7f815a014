"""The contract of joints."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mbkit.errors import JointError
from mbkit.joints.defaults.configuration_from_pose import nearest
from mbkit.joints.defaults.derivatives import derivatives_of
from mbkit.joints.defaults.overriding import derive_anew
from mbkit.joints.defaults.reciprocal_wrenches import complement
from mbkit.joints.kernels import JointKernels
from mbkit.joints.prescribed.prescribed_joint import PrescribedJoint
from mbkit.spatial.arrays import FloatArray


class Joint(abc.ABC):
    """A joint: the motion of a successor body relative to a predecessor body.

    Either body carries a joint frame; the pose of the successor's in the predecessor's is T(q).
    `Mechanism.add_joint` places the joint frames on the bodies; a joint does not depend on bodies.

    Subclass it to make a joint of your own, as a plain class or under ``attrs.frozen``, or subclass
    a joint of mbkit: members that follow from methods which you override then have their defaults.
    With nq for `num_positions`, nv for `num_velocities`:

    Required members

    1. ``name``: set by ``super().__init__(name)``, or an attribute of an attrs class.
    2. ``num_positions``, ``num_velocities``: integers, nv in 0..6, nq = 0 where nv = 0; class
       attributes or properties.
    3. ``pose(q) -> (4, 4)``: the pose T(q), a rotation and a translation exactly, to rounding.

    Members with a default

    4. ``motion_subspace(q) -> (6, nv)``: S, expressed in the successor's joint frame, angular part
       first. Column k is vee(T^-1 dT/de) for T = pose(retract(q, e rates(q, e_k))) at e = 0.
       Default the derivative of `pose`, exact but for rounding, if `pose` is written with the
       functions of numpy that docs/custom-joints.md lists.
    5. ``bias(q, v) -> (6,)``: Sdot v, the component-wise rate of S along the motion with velocity v
       times v. Default the derivative, likewise.
    6. ``retract(q, dx) -> (nq,)``: the configuration that a step dx (nv,) leads to, with
       retract(q, 0) = q. Default q + dx.
    7. ``difference(q0, q1) -> (nv,)``: the inverse, retract(q0, difference(q0, q1)) is the
       configuration q1. Default q1 - q0.
    8. ``dexp_inv(x, w) -> (nv,)``: the rate xdot while q = retract(q0, x) moves with velocity w.
       Default w, or the derivative of `retract` where that is given. It must not depend on
       q0: retract must be that of a group (q0 times exp(x), or times another map of x to the
       group, or that times q0), or of coordinates that are added.
    9. ``neutral() -> (nq,)``: a configuration. Default zeros.
    10. ``constraint_wrenches(q) -> (6, 6 - nv)``: a basis, in the successor's joint frame, of the
        wrenches that do no work along S, smooth in q. Default an orthonormal one by reflections
        of the columns of S.
    11. ``configuration_from_pose(T) -> (nq,)``: the one whose pose is nearest to T (4, 4).
        Joints that close loops need 10 and 11. Default a search with `pose` and `motion_subspace`.

    Where nq differs from nv, 6 and 7 must be given; if one of them is given, so must the other.

    Members of nonholonomic joints, which have fewer velocities than the tangent dimension

    12. ``ndx``: the dimension of the group of positions, more than nv. Steps dx and x, and the
        results of 7 and 8, then have as many entries; 6 and 7 must be given where nq is another
        number. Default nv.
    13. ``rates(q, v) -> (ndx,)``: the velocity w on the group that belongs to v at q, linear in v:
        to first order q moves to retract(q, t w). Default v.

    Members for integrators on coordinate vectors

    14. ``position_rates(q, w) -> (nq,)``: the component-wise rate of q, the derivative of
        retract(q, e w) by e at e = 0. Default w where positions add; else there is none.
        ``quaternions``: the indices in q at which unit quaternions begin. Default none.
        ``time_to_lock(q, w)``: the time after which that rate may be infinite, as for angles at
        gimbal lock [s]. Default never.

    Members of compiled joints

    15. ``kernels()``: compiled forms of 4 to 8, 10, 11 and 13, a `JointKernels`. Default None: the
        methods above are called.
    16. ``parameters()``: numbers that the compiled forms get. Default none.
    17. ``canonical_frame``: the pose K, in the joint frame, of the frame in which the compiled
        forms work: they give K^-1 T K and Ad_K^-1 S. Default the identity.
    18. ``position_units``: a unit for each position, to label plots. Default "".
    19. ``screw_form()``: for a screw motion about the z axis of the canonical frame, its rate and
        lead; the recursions then compute it in place. Default None.

    Further properties

    20. ``random(rng) -> (nq,)``: a random configuration. Default a step of normally distributed
        numbers from the neutral one.
    21. ``singularity(q)``: a measure of the distance of q from where S loses rank, and
        ``singularity_remedy``: a way to avoid that. Default infinite: no singular configurations.
        ``singularities(q)``: the same for the rows of q. Default one by one.
    22. ``zero_reference``: whether `neutral` is declared to give the identity. Default False.
    23. ``constant_subspace``: whether S and `constraint_wrenches` are declared to be the same at
        every q: derivatives of the dynamics are then exact and cheaper. Default False.

    Rules

    - T and S are smooth in q; S(q) has rank nv except at isolated configurations.
    - The velocity v is defined by S alone: T^-1 dT/dt = hat(S v). For nq = nv with the default
      retract, v is dq/dt.
    - The functions depend on their arguments only, change none of them, and keep no memory: a
      system calls them from several threads, several times a step.
    - Returned arrays are new, or never changed again. Nested lists may replace arrays.

    Arguments

    - q comes from `neutral` or `retract`, or was checked by the system's user. All are float64
      arrays of the shapes above, possibly read-only. From NaN the results must be NaN.

    `mbkit.Mechanism.add_joint` checks the structure (`check_joint_definition`);
    `mbkit.testing.check_joint` checks everything against `pose`.

    Attributes
    ----------
    name : str
        Unique in a mechanism.
    num_positions, num_velocities : int
        nq and nv.

    Examples
    --------
    A slider on a parabola z = x^2 that does not turn:

    >>> class ParabolaJoint(Joint):
    ...     num_positions = num_velocities = 1
    ...
    ...     def pose(self, q):
    ...         T = np.eye(4)
    ...         T[:3, 3] = q[0], 0.0, q[0] ** 2
    ...         return T
    >>> slider = ParabolaJoint("slider")
    >>> slider.motion_subspace(np.array([3.0])).T
    array([[0., 0., 0., 1., 0., 6.]])
    >>> slider.bias(np.array([3.0]), np.array([2.0]))
    array([0., 0., 0., 0., 0., 8.])
    """

    name: str
    num_positions: int
    num_velocities: int

    zero_reference: bool = False
    constant_subspace: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Restore the defaults of members that follow from overridden ones."""
        super().__init_subclass__(**options)
        derive_anew(cls, Joint)

    def __init__(self, name: str) -> None:
        self.name = name

    @abc.abstractmethod
    def pose(self, q: FloatArray) -> FloatArray:
        """Return the pose T(q) of the successor's joint frame in the predecessor's, (4, 4)."""

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return S (6, nv): the successor's twist relative to the predecessor is S v.

        Body-fixed: in the successor's joint frame, angular first. [rad/s, m/s per unit of v]
        """
        nv = self.num_velocities
        if nv == 0:
            return np.zeros((6, 0))
        S: FloatArray = derivatives_of(self).motion(_floats(q), np.zeros(nv))[1]
        return S

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return Sdot v (6,), in the successor's joint frame."""
        if self.num_velocities == 0:
            return np.zeros(6)
        bias: FloatArray = derivatives_of(self).motion(_floats(q), _floats(v))[2]
        return bias

    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray:
        """Return the configuration (nq,) that the step dx (ndx,) leads to from q."""
        return q + dx

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return the step (ndx,) that leads from q0 to q1."""
        return q1 - q0

    def dexp_inv(self, x: FloatArray, w: FloatArray) -> FloatArray:
        """Return the rate xdot (ndx,) of the step x while retract(q0, x) moves with w.

        w (ndx,) is the result of `rates` there: the velocity v but for nonholonomic joints.
        """
        if type(self).retract is Joint.retract:
            return w
        rate: FloatArray = derivatives_of(self).dexp_inv(_floats(x), _floats(w))
        return rate

    @property
    def ndx(self) -> int:
        """Dimension of the group of positions, of which retract takes steps: nv or more."""
        return self.num_velocities

    def rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the velocity (ndx,) on the group of positions that v is at q."""
        return v

    def position_rates(self, q: FloatArray, w: FloatArray) -> FloatArray:
        """Return the component-wise rate (nq,) of q while it moves with the velocity w (ndx,).

        Raises JointError where positions do not add, and a class does not define it.
        """
        if type(self).retract is not Joint.retract:
            raise JointError(
                f"Joint '{self.name}': its positions do not add, and {type(self).__name__} does "
                f"not say how they change; define position_rates(q, w) -> (nq,), the derivative of "
                f"retract(q, e w) by e at e = 0."
            )
        return w

    def time_to_lock(self, q: FloatArray, w: FloatArray) -> float:
        """Return the time until `position_rates` may be infinite, at velocity w, in s."""
        return math.inf

    @property
    def quaternions(self) -> tuple[int, ...]:
        """The indices in q at which unit quaternions, of four entries, begin."""
        return ()

    def prescribe(
        self,
        position: Callable[[float], Any] | str | Sequence[str] | Mapping[str, Any],
        rate: Callable[[float], Any] | None = None,
        acceleration: Callable[[float], Any] | None = None,
    ) -> PrescribedJoint:
        """Return the joint with its motion as a function of time, for `Mechanism.add_joint`.

        It is then never integrated: in a simulation it takes its position and velocity from the
        function, and its acceleration enters the equations of the others. Its effort is
        `System.driving_efforts`.

        Parameters
        ----------
        position : callable, str, sequence of str, or mapping
            ``position(t)``: the positions (nq,), or a number where there is one. It is
            differentiated exactly, if it is written with the functions of numpy that
            docs/custom-joints.md lists, or is a curve of `scipy.interpolate`. A model file holds
            it as well if it is an expression ``"0.5 * sin(2*t)"``, one for each position, or a
            table ``{"times": (k,), "positions": (k,) or (k, nq)}``, k >= 4, a cubic spline that
            ends with its times. [s], [rad], [m]
        rate, acceleration : callable, optional
            ``rate(t)`` and ``acceleration(t)`` (nv,), both or neither, instead of the derivatives.

        Returns
        -------
        PrescribedJoint
            The prescribed joint, for `Mechanism.add_joint`.

        Raises
        ------
        JointError
            If the joint does not move, or an argument is no function and no motion.

        Examples
        --------
        A bob of one kilogram on a rail that is moved to and fro:

        >>> import mbkit as mb
        >>> mech = mb.Mechanism("shaker", gravity=(0, 0, 0))
        >>> bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.sphere(1.0, radius=0.1)))
        >>> rail = mb.PrismaticJoint("rail", axis=(1, 0, 0))
        >>> _ = mech.add_joint(rail.prescribe("0.5 * sin(2 * t)"), mech.world, bob)
        >>> system = mech.assemble()
        >>> run = mb.simulate(system, t_span=(0.0, 1.0), h=0.1)
        >>> bool(run.q[-1, 0] == 0.5 * np.sin(2.0))
        True
        >>> force = system.driving_efforts(run.q, run.v, t=run.t)
        >>> np.allclose(force[:, 0], -2.0 * np.sin(2.0 * run.t))
        True
        """
        return PrescribedJoint.of(self, position, rate, acceleration)

    def neutral(self) -> FloatArray:
        """Return the configuration (nq,) from which a motion starts unless another is given."""
        return np.zeros(self.num_positions)

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return a basis (6, 6 - nv) of the wrenches that do no work along S.

        Where S loses rank, there are more of them; as many are returned as elsewhere.
        """
        return complement(_floats(self.motion_subspace(q)))

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return the configuration whose pose is nearest to a pose.

        A function of T alone, smooth near poses of the joint. Nearest is least |w|^2 + |d|^2, with
        w the rotation vector between the poses and d the way between the origins of the canonical
        frame, radians as metres. A form of a class's own may leave away terms of second order in
        w and d.

        Parameters
        ----------
        T : ndarray, shape (4, 4)
            A pose of the successor's joint frame in the predecessor's.

        Returns
        -------
        ndarray, shape (nq,)
            The configuration; where T is a pose of the joint, one that has it. Not a number where T
            is not.

        Raises
        ------
        JointError
            If the joint is nonholonomic.

        Notes
        -----
        The default searches, from the neutral configuration first, and from elsewhere where that
        does not come within 0.01 of T: the search may then end in a place that is only nearest
        among those around it. docs/joints.md has more.

        Examples
        --------
        >>> import mbkit as mb
        >>> hinge = mb.RevoluteJoint("hinge", axis=(0, 0, 1))
        >>> hinge.configuration_from_pose(hinge.pose(np.array([0.5 + 2.0 * np.pi]))).round(12)
        array([0.5])
        """
        if self.ndx != self.num_velocities:
            raise JointError(
                f"Joint '{self.name}' is nonholonomic, with {self.ndx} directions to go in "
                f"and {self.num_velocities} velocities: its poses have more dimensions than its "
                f"wrenches leave, so that it cannot close a loop; make it a joint of the tree."
            )
        return nearest(self, T, self.canonical_frame)

    def random(self, rng: np.random.Generator) -> FloatArray:
        """Return a random configuration (nq,), anywhere around the neutral one."""
        return self.retract(self.neutral(), rng.normal(size=self.ndx))

    def singularity(self, q: FloatArray) -> float:
        """Return a distance of q from a singular configuration: zero there, about one far from it.

        Infinite for a joint that has none. docs/joints.md has the measure of each joint.
        """
        return math.inf

    def singularities(self, q: FloatArray) -> FloatArray:
        """Return `singularity` of each row of q (k, nq), shape (k,)."""
        return np.array([self.singularity(each) for each in q], dtype=np.float64)

    @property
    def singularity_remedy(self) -> str:
        """A way to avoid singular configurations, as the end of a sentence; "" if it has none."""
        return ""

    def kernels(self) -> JointKernels | None:
        """Return the compiled forms of the methods, or None for a joint in Python."""
        return None

    def parameters(self) -> FloatArray:
        """Return the numbers (n,) that the compiled forms get."""
        return np.zeros(0)

    @property
    def positions_add(self) -> bool:
        """Whether retract(q, dx) is q + dx, so that v is the rate of q."""
        return type(self).retract is Joint.retract and self.ndx == self.num_velocities

    @property
    def position_units(self) -> tuple[str, ...]:
        """Unit of each position, for labels: "rad", "m", or "" for none."""
        return ("",) * self.num_positions

    @property
    def canonical_frame(self) -> FloatArray:
        """Pose (4, 4), in the joint frame, of the frame in which the compiled forms work."""
        return np.eye(4)

    @property
    def velocity_twist(self) -> str | None:
        """The representation in which v is the successor's twist in the predecessor, by its name.

        None if it is none; only joints of six velocities have one.
        """
        return None

    def screw_form(self) -> tuple[float, float] | None:
        """Return rate [rad] and lead [m] of a screw about z of its canonical frame, or None."""
        return None


def _floats(value: FloatArray) -> FloatArray:
    return np.asarray(value, dtype=np.float64)

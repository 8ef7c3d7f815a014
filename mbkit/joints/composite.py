"""Joints made of joints."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import JointError, ModelError
from mbkit.given_values import check_name
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.bases.screw_motion import ScrewMotion
from mbkit.joints.defaults.overriding import moves_as
from mbkit.joints.joint import Joint
from mbkit.joints.kernels import JointKernels
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import inverse

#: The volume of unit columns of S below which a configuration counts as singular.
_SINGULAR = 1e-6

#: Kinds of entries of vectors, as `_places` lists them.
_POSITIONS, _VELOCITIES, _STEPS = 0, 1, 2


@final
@attrs.frozen(init=False, slots=False)  # a dictionary for the cached properties
class CompositeJoint(Joint):
    """Joints one after another, without bodies between them: a macro joint.

    T = T_1(q_1) T_2(q_2) ..., where all members have their axes in the joint frame, in the
    reference configuration; q and v are those of the members in their order. It moves as the chain
    of the members with massless bodies between them does.

    Attributes
    ----------
    name : str
        Unique in the mechanism; the members' names joined by "+" if left out.
    members : tuple of Joint
        Any joints, with at most six velocities together. Their names are those of their parameters:
        ``joints.NAME.MEMBER.axis``.

    Raises
    ------
    JointError
        If there is no member, or they have more than six velocities.
    ModelError
        If two members have the same name.

    Notes
    -----
    Compiled where all members are. Products of exponentials (screw, cylindrical, translational and
    universal joints, and coordinates of the second kind) become one product; other members are
    called by the addresses of their functions.

    Examples
    --------
    >>> import mbkit as mb
    >>> lift = mb.PrismaticJoint("lift")
    >>> swing = mb.RevoluteJoint("swing", axis=(0, 1, 0))
    >>> boom = CompositeJoint("boom", lift, swing)
    >>> boom.num_velocities
    2
    >>> boom.pose(np.array([2.0, 0.0]))[:3, 3]
    array([0., 0., 2.])
    """

    name: str
    members: tuple[Joint, ...]

    def __init__(
        self, *parts: str | Joint, name: str | None = None, members: Iterable[Joint] = ()
    ) -> None:
        if parts and isinstance(parts[0], str):
            name, parts = parts[0], parts[1:]
        shown = f"Joint {name!r}" if name is not None else "CompositeJoint"
        try:
            joints: tuple[Any, ...] = (*parts, *members)
        except TypeError:
            raise JointError(
                f"{shown}: members must be a list of joints, got {members!r}."
            ) from None
        for joint in joints:
            if not isinstance(joint, Joint):
                raise JointError(f"{shown}: members must be joints, got {joint!r}.")
        if name is None:
            name = "+".join(joint.name for joint in joints)
        _check_members(name, joints)
        vars(self).update(name=name, members=joints)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the arguments alone: addresses mean nothing in another process."""
        return {name: value for name, value in vars(self).items() if not _is_cached(self, name)}

    @functools.cached_property
    def _places(self) -> tuple[tuple[slice, slice, slice], ...]:
        """Where each member's entries of q, of v and of steps are."""
        sizes = [(j.num_positions, j.num_velocities, j.ndx) for j in self.members]
        ends = np.cumsum([(0, 0, 0), *sizes], axis=0).tolist()
        return tuple(
            (slice(a[0], b[0]), slice(a[1], b[1]), slice(a[2], b[2]))
            for a, b in itertools.pairwise(ends)
        )

    def _parts(
        self, a: FloatArray, b: FloatArray, kinds: tuple[int, int] = (_POSITIONS, _VELOCITIES)
    ) -> Iterable[tuple[Joint, Any, Any]]:
        """Give each member with its entries of two vectors, of q, v or steps."""
        a, b = np.asarray(a), np.asarray(b)
        for joint, own in zip(self.members, self._places, strict=True):
            yield joint, a[own[kinds[0]]], b[own[kinds[1]]]

    @property
    def num_positions(self) -> int:  # type: ignore[override]
        """Those of all members."""
        return sum(joint.num_positions for joint in self.members)

    @property
    def num_velocities(self) -> int:  # type: ignore[override]
        """Those of all members."""
        return sum(joint.num_velocities for joint in self.members)

    @property
    def ndx(self) -> int:
        """Those of all members."""
        return sum(joint.ndx for joint in self.members)

    @property
    def zero_reference(self) -> bool:  # type: ignore[override]
        """Whether all members declare it."""
        return all(joint.zero_reference for joint in self.members)

    @property
    def positions_add(self) -> bool:
        """Whether those of all members do."""
        return all(joint.positions_add for joint in self.members)

    @property
    def position_units(self) -> tuple[str, ...]:
        """Those of all members."""
        return tuple(unit for joint in self.members for unit in joint.position_units)

    def pose(self, q: FloatArray) -> FloatArray:
        """Return the product of the members' poses."""
        T = np.eye(4)
        for joint, own, _ in self._parts(q, np.zeros(self.num_velocities)):
            T = T @ joint.pose(own)
        return T

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return the members' motion subspaces as seen from behind all later members."""
        S = np.zeros((6, 0))
        for joint, own, _ in self._parts(q, np.zeros(self.num_velocities)):
            back = SE3.Ad(inverse(joint.pose(own)))
            S = np.hstack([back @ S, joint.motion_subspace(own)])
        return S

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return c, built up by c = Ad^-1 c + c_i + [Ad^-1 V, S_i v_i], V = Ad^-1 V + S_i v_i."""
        V, c = np.zeros(6), np.zeros(6)
        for joint, own, rates in self._parts(q, v):
            back = SE3.Ad(inverse(joint.pose(own)))
            V, c = back @ V, back @ c
            twist = joint.motion_subspace(own) @ rates
            c = c + joint.bias(own, rates) + SE3.ad(V) @ twist
            V = V + twist
        return c

    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray:
        """Return each member's."""
        parts = self._parts(q, dx, (_POSITIONS, _STEPS))
        return _joined(joint.retract(own, step) for joint, own, step in parts)

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return each member's."""
        parts = self._parts(q0, q1, (_POSITIONS, _POSITIONS))
        return _joined(joint.difference(first, last) for joint, first, last in parts)

    def dexp_inv(self, x: FloatArray, w: FloatArray) -> FloatArray:
        """Return each member's."""
        parts = self._parts(x, w, (_STEPS, _STEPS))
        return _joined(joint.dexp_inv(step, rate) for joint, step, rate in parts)

    def rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return each member's."""
        return _joined(joint.rates(own, speed) for joint, own, speed in self._parts(q, v))

    def position_rates(self, q: FloatArray, w: FloatArray) -> FloatArray:
        """Return each member's."""
        parts = self._parts(q, w, (_POSITIONS, _STEPS))
        return _joined(joint.position_rates(own, rate) for joint, own, rate in parts)

    def time_to_lock(self, q: FloatArray, w: FloatArray) -> float:
        """Return that of the first member to be there."""
        parts = self._parts(q, w, (_POSITIONS, _STEPS))
        return min((joint.time_to_lock(own, rate) for joint, own, rate in parts), default=math.inf)

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Those of all members."""
        pairs = zip(self.members, self._places, strict=True)
        return tuple(own[0].start + first for joint, own in pairs for first in joint.quaternions)

    def neutral(self) -> FloatArray:
        """Return each member's."""
        return _joined(joint.neutral() for joint in self.members)

    def random(self, rng: np.random.Generator) -> FloatArray:
        """Return each member's."""
        return _joined(joint.random(rng) for joint in self.members)

    @functools.cached_property
    def _neutral_subspace(self) -> FloatArray:
        return self.motion_subspace(self.neutral())

    def singularity(self, q: FloatArray) -> float:
        """Return the volume of S, in that of the neutral configuration, where it is one.

        Where the neutral configuration is singular itself, in the product of the columns' lengths
        there, metres against radians.
        """
        lengths = np.linalg.norm(self._neutral_subspace, axis=0)
        volume, reference = (
            float(np.prod(np.linalg.svd(S)[1]))
            for S in (self.motion_subspace(q) / lengths, self._neutral_subspace / lengths)
        )
        return volume / reference if reference > _SINGULAR else volume

    @property
    def singularity_remedy(self) -> str:
        """A way to avoid singular configurations, as text."""
        return (
            "a dedicated joint with coordinates='group' has no such place where there is one, "
            "another order of the members has it elsewhere"
        )

    @functools.cached_property
    def screw_product(self) -> ScrewProduct | None:
        """The members as one product of exponentials, if they are."""
        screws: list[Any] = []
        for joint in self.members:
            if moves_as(joint, ScrewMotion):
                screws.append(joint.screw)
            elif moves_as(joint, MotionJoint) and isinstance(joint.motion, ScrewProduct):
                screws += list(joint.motion.screws @ SE3.Ad(joint.canonical_frame).T)
            elif moves_as(joint, CompositeJoint) and joint.screw_product is not None:
                screws += list(joint.screw_product.screws)
            elif not _is_nothing(joint):
                return None
        return ScrewProduct(np.array(screws), self.position_units) if screws else None

    def kernels(self) -> JointKernels | None:
        """Return the compiled forms, None if a member has none."""
        if self.screw_product is not None:
            return self.screw_product.kernels()
        if self._compiled is None:
            return None
        from mbkit.kernels.joints import composite

        rates = composite.rates if self.ndx != self.num_velocities else None
        return JointKernels.of(composite, rates=rates)

    def parameters(self) -> FloatArray:
        """Return the screws, or the members' functions, frames and parameters."""
        if self.screw_product is not None:
            return self.screw_product.parameters()
        return np.zeros(0) if self._compiled is None else self._compiled[0]

    @functools.cached_property
    def _compiled(self) -> tuple[FloatArray, list[Any]] | None:
        """The parameters of the compiled forms, and the functions that they point to."""
        functions: list[Any] = []

        def address(_: str, function: Any) -> int:
            functions.append(function)
            return int(function.address)

        parameters = self.parameters_with(address)
        return None if parameters is None else (parameters, functions)

    def parameters_with(self, address: Callable[[str, Any], int]) -> FloatArray | None:
        """Return the members' functions, frames and parameters; None if a member is not compiled.

        ``address(operation, function)`` returns the address of a compiled form of a member, also of
        members that are composite joints themselves.
        """
        from mbkit.kernels.joints import composite

        members = [joint for joint in self.members if not _is_nothing(joint)]
        size = composite.MEMBER_SIZE
        rows = np.zeros((len(members), size))
        first = composite.FIRST_MEMBER + rows.size
        numbers: list[FloatArray] = []
        for row, joint in zip(rows, members, strict=True):
            kernels, parameters, K = _forms(joint, address)
            if kernels is None:
                return None
            for entry, name in (
                (composite.MOTION, "motion"),
                (composite.RETRACT, "retract"),
                (composite.DIFFERENCE, "difference"),
                (composite.DEXP_INV, "dexp_inv"),
                (composite.RATES, "rates"),
            ):
                function = getattr(kernels, name)
                row[entry] = 0 if function is None else address(name, function)
            row[composite.POSITIONS] = joint.num_positions
            row[composite.VELOCITIES] = joint.num_velocities
            row[composite.STEPS] = joint.ndx
            row[composite.PARAMETERS] = first
            row[composite.FRAME :] = [*K[:3, :3].ravel(), *K[:3, 3]]
            numbers.append(parameters)
            first += len(parameters)
        start = [len(members), self.num_velocities]
        # one number more, so that every member's parameters begin inside
        return np.concatenate([start, rows.ravel(), *numbers, [0.0]])


def _is_cached(joint: CompositeJoint, name: str) -> bool:
    return isinstance(getattr(type(joint), name, None), functools.cached_property)


def _joined(vectors: Iterable[FloatArray]) -> FloatArray:
    return np.concatenate([np.zeros(0), *vectors])


def _is_nothing(joint: Joint) -> bool:
    """Return whether a joint holds its bodies together where they are."""
    return joint.num_velocities == 0 and np.array_equal(joint.pose(np.zeros(0)), np.eye(4))


def _forms(
    joint: Joint, address: Callable[[str, Any], int]
) -> tuple[JointKernels | None, Any, FloatArray]:
    """Return the compiled forms, their parameters and the canonical frame of a member."""
    if moves_as(joint, ScrewMotion):
        product = ScrewProduct(joint.screw.reshape(1, 6), joint.position_units)
        return product.kernels(), product.parameters(), np.eye(4)
    if moves_as(joint, CompositeJoint) and joint.screw_product is None:
        return joint.kernels(), joint.parameters_with(address), joint.canonical_frame
    return joint.kernels(), np.asarray(joint.parameters(), np.float64), joint.canonical_frame


def _check_members(name: Any, members: tuple[Joint, ...]) -> None:
    if not members:
        raise JointError(f"Joint {name!r}: a composite joint must have members, got none.")
    check_name("Joint", name)
    names = [joint.name for joint in members]
    repeated = [each for each in dict.fromkeys(names) if names.count(each) > 1]
    if repeated:
        raise ModelError(
            f"Joint {name!r}: members must have different names, got {repeated[0]!r} "
            f"{names.count(repeated[0])} times; their parameters are found by them."
        )
    count = sum(int(joint.num_velocities) for joint in members)
    if count > 6:
        raise JointError(
            f"Joint {name!r}: members must have at most 6 velocities together, got {count}; no "
            "body has more freedom, so put a body between some of them."
        )

"""Split bodies: a loop is opened in a body, whose two parts a loop joint welds together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import (
    DuplicateNameError,
    InertiaError,
    NameUnknownError,
    TopologyError,
    UsageError,
    listed,
    several,
    suggestion,
)
from mbkit.joints import FixedJoint
from mbkit.model import Body, Connection
from mbkit.model.graph import graph_of
from mbkit.parts.body import with_inertia
from mbkit.parts.parts import Parts
from mbkit.spatial import SpatialInertia
from mbkit.topology import WORLD, held_loop


def _names(joints: Any) -> tuple[str, ...]:
    names = (joints,) if isinstance(joints, str) else joints
    if not (isinstance(names, Collection) and several(names)) or not all(
        isinstance(name, str) for name in names
    ):
        raise UsageError(
            f"A body is cut at a joint's name or at a collection of such, got {joints!r}; for "
            "example BodyCut(['left', 'right'])."
        )
    return tuple(names)


@final
@attrs.frozen
class BodyCut:
    """How a body is cut in two.

    Attributes
    ----------
    joints : str or collection of str
        Names of the joints on the second part; the others stay on the first.
    share : float, default 0.5
        Share of the inertia of the second part, between 0 and 1. The motion does not depend on it,
        the wrench in the weld does.

    Raises
    ------
    UsageError
        If the joints are no names, or the share is not between 0 and 1.
    """

    joints: tuple[str, ...] = attrs.field(converter=_names)
    share: float = attrs.field(default=0.5)

    @share.validator
    def _check_share(self, _attribute: object, share: object) -> None:
        if not isinstance(share, (int, float)) or not 0.0 < share < 1.0:
            raise UsageError(
                f"BodyCut: share must be a number between 0 and 1, got {share!r}; it is the share "
                "of the inertia that the second part of the split body has."
            )


#: Ways to define the cut of a body: the joints of the second part, or a `BodyCut`.
Cut = BodyCut | str | Collection[str]


def check_cuts(cuts: object) -> None:
    """Raise UsageError unless an object is a mapping from bodies to their cuts."""
    if not (isinstance(cuts, Mapping) and all(isinstance(name, str) for name in cuts)):
        raise UsageError(
            f"cut_bodies must be a mapping of bodies to joints, got {cuts!r}; for example "
            "{'rod': 'hinge'}."
        )
    for cut in cuts.values():
        if not isinstance(cut, BodyCut):
            BodyCut(cut)


def split_name(body: str) -> str:
    """Return the name of the second part of a split body."""
    return f"{body} (cut)"


def weld_name(body: str) -> str:
    """Return the name of the weld between the parts of a split body."""
    return f"{body} (weld)"


def cut_bodies(parts: Parts, cuts: Mapping[str, Cut]) -> Parts:
    """Return the parts of a mechanism with bodies cut in two.

    This opens a loop whose joints cannot be loop joints, because they are prescribed or
    nonholonomic, or because their constraint wrenches are unsuitable.

    Parameters
    ----------
    parts : Parts
        Bodies, joints and forces.
    cuts : mapping of str to BodyCut, str or collection of str
        By the name of the body: the joint or joints on the second part, or a `BodyCut` with a share
        of the inertia.

    Returns
    -------
    Parts
        The parts with a further body ``"NAME (cut)"`` for each split body, in the same frame and
        reference pose, with its share of the inertia and its joints. The fixed joint
        ``"NAME (weld)"`` connects NAME with it: a loop joint with six constraint rows. Forces stay
        on the first part.

    Raises
    ------
    NameUnknownError
        If there is no such body or joint.
    UsageError
        If `cuts` is no such mapping, if a joint is not on the body, or is named twice; if one of
        the parts has no joint.
    TopologyError
        If the body is the world, or on no loop through joints of both parts.
    InertiaError
        If the body has no mass that could be shared.
    DuplicateNameError
        If the name of a part or a weld is taken.

    Examples
    --------
    >>> import mbkit as mb
    >>> mech = mb.Mechanism("swing")
    >>> seat = mech.add_body(mb.Body("seat", mb.SpatialInertia.sphere(8.0, radius=0.2)))
    >>> for name in ("left", "right"):
    ...     _ = mech.add_joint(mb.RevoluteJoint(name), mech.world, seat)
    >>> parts = cut_bodies(Parts.of(mech), {"seat": BodyCut("right", share=0.25)})
    >>> {name: body.inertia.mass for name, body in parts.bodies.items()}
    {'seat': 6.0, 'seat (cut)': 2.0}
    >>> {name: edge.successor for name, edge in parts.joints.items()}
    {'left': 'seat', 'right': 'seat (cut)', 'seat (weld)': 'seat (cut)'}
    """
    check_cuts(cuts)
    bodies, joints = dict(parts.bodies), dict(parts.joints)
    for name, given in cuts.items():
        cut = given if isinstance(given, BodyCut) else BodyCut(given)
        _check(parts, name, cut)
        body, second, weld = bodies[name], split_name(name), weld_name(name)
        for kind, taken, known in (("body", second, bodies), ("joint", weld, joints)):
            if taken in known:
                raise DuplicateNameError(
                    f"Body {name!r} cannot be cut: there is a {kind} {taken!r}, as the cut would "
                    "name its own; rename it."
                )
        bodies[name] = with_inertia(body, _part(body.inertia, 1.0 - cut.share))
        bodies[second] = Body(second, _part(body.inertia, cut.share), body.pose)
        for joint in cut.joints:
            joints[joint] = _moved(joints[joint], name, second)
        joints[weld] = Connection(FixedJoint(weld), name, second, np.eye(4), np.eye(4))
    if not cuts:
        return parts
    made = attrs.evolve(parts, bodies=MappingProxyType(bodies), joints=MappingProxyType(joints))
    _check_loops(made, cuts)
    return made


def all_cuts(parts: Parts, cuts: Mapping[str, Cut]) -> dict[str, Cut]:
    """Return the user's cuts, and those of loops that no joint can open, for `cut_bodies`.

    Such loops are of prescribed and nonholonomic joints alone. Of the bodies between two of its
    joints one that has mass is cut.
    """
    every = dict(cuts)
    while loop := held_loop(graph_of(cut_bodies(parts, every)).edges()):
        further = _between(parts, loop)
        if further is None or further[0] in every:
            break
        every[further[0]] = further[1]
    return every


def _between(parts: Parts, loop: tuple[str, ...]) -> tuple[str, str] | None:
    """Return a body with mass between two joints of a loop, and one of these."""
    for k, name in enumerate(loop):
        one, other = (parts.joints[each] for each in (name, loop[k - 1]))
        shared = {one.predecessor, one.successor} & {other.predecessor, other.successor}
        for body in shared - {WORLD}:
            if parts.bodies[body].inertia.mass > 0.0:
                return body, name
    return None


def _check(parts: Parts, name: str, cut: BodyCut) -> None:
    if name == WORLD:
        raise TopologyError(
            "The world cannot be cut: it does not move; cut another body of the loop."
        )
    if name not in parts.bodies:
        raise NameUnknownError(
            f"Body {name!r} to be cut is not in mechanism {parts.name!r}; "
            f"{suggestion(name, parts.bodies)}"
        )
    own = [key for key, edge in parts.joints.items() if name in (edge.predecessor, edge.successor)]
    for joint in cut.joints:
        if joint not in parts.joints:
            raise NameUnknownError(
                f"Body {name!r} is to be cut at joint {joint!r}, which is not in mechanism "
                f"{parts.name!r}; {suggestion(joint, own)}"
            )
        if joint not in own:
            raise UsageError(
                f"Body {name!r} is to be cut at joint {joint!r}, which is not on it; its joints "
                f"are {listed(own)}."
            )
    if not 0 < len(set(cut.joints)) < len(own) or len(set(cut.joints)) < len(cut.joints):
        raise UsageError(
            f"Body {name!r} is cut between its joints {listed(own)}: some must go over to the "
            f"second part and some stay, got {listed(cut.joints) or 'none'}; name those that go "
            "over, each once."
        )
    if parts.bodies[name].inertia.mass == 0.0:
        raise InertiaError(
            f"Body {name!r} cannot be cut: it has no mass that its two parts could share; cut "
            "another body of the loop, or give it mass."
        )


def _part(inertia: SpatialInertia, share: float) -> SpatialInertia:
    return attrs.evolve(
        inertia,
        mass=share * inertia.mass,
        moment_about_com=share * inertia.moment_about_com,
    )


def _moved(edge: Connection, body: str, second: str) -> Connection:
    if edge.predecessor == body:
        return attrs.evolve(edge, predecessor=second)
    return attrs.evolve(edge, successor=second)


def _check_loops(parts: Parts, cuts: Collection[str]) -> None:
    """Raise unless both parts are connected without their weld, by the rest of a loop."""
    welds = [weld_name(name) for name in cuts]
    groups = graph_of(parts, welds).groups(without=welds)
    for name in cuts:
        if any((name in group) != (split_name(name) in group) for group in groups):
            raise TopologyError(
                f"Body {name!r} cannot be cut so: no loop leads from joints of one part to those "
                "of the other; cut it between two joints of one loop."
            )

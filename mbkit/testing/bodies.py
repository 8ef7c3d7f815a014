"""Laws of bodies: inertia and shapes follow from their fields alone, and files keep these."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from mbkit.errors import InertiaError
from mbkit.io import parse_model
from mbkit.joints import FixedJoint
from mbkit.model import Body, Mechanism, to_document, to_toml
from mbkit.model.parameters import changed, parameters
from mbkit.model.plain_data import type_name
from mbkit.parts import check_body as check_definition
from mbkit.parts.parts import Parts
from mbkit.spatial import SpatialInertia
from mbkit.testing.laws import refused, text_of
from mbkit.testing.report import Line, Report

#: By how much numbers of a body are changed, of their size.
_STEP = 1e-3


def check_body(body: Body) -> Report:
    """Return a report on the laws that a body keeps or breaks.

    1. Its definition is complete: a frozen attrs class, an inertia, shapes.
    2. The inertia is one that a body can have.
    3. Inertia and shapes are the same at each access, and equal to those of an equal body.
    4. The shapes are triangles whose corners are there.
    5. Its numbers are parameters: a system with others has the body with these, and they do change
       its inertia or its shapes.
    6. A model file keeps it.

    Parameters
    ----------
    body : Body
        Any body.

    Returns
    -------
    Report
        It prints as a table; ``raise_if_failed()`` makes an exception of it.

    Examples
    --------
    >>> import mbkit as mb
    >>> print(mb.testing.check_body(mb.Sphere("ball", radius=0.1, mass=2.0)).headline)
    Body 'ball' (Sphere): 6 of 6 laws hold.
    """
    name = f"Body {getattr(body, 'name', '?')!r} ({type(body).__name__})"
    definition = "the definition is complete"
    try:
        check_definition(body)
        body.__setattr__("name", body.name)
        remark = f"{type(body).__name__} can be changed; decorate it by attrs.frozen"
        return Report(name, (Line(definition, False, remark=remark),))
    except attrs.exceptions.FrozenInstanceError:
        pass
    except Exception as error:
        return refused(name, definition, error)
    return Report(name, (Line(definition, True), *(_line(*each, body) for each in _LAWS)))


def _line(law: str, function: Any, body: Body) -> Line:
    """Return whether a law holds; the function returns where it does not, None if not checked."""
    try:
        found = function(body)
    except Exception as error:
        return Line(law, False, remark=text_of(error))
    return Line(law, None if found is None else not found, remark=found or "")


def _possible(body: Body) -> str:
    inertia = body.inertia
    try:
        SpatialInertia(inertia.mass, inertia.com, inertia.moment_about_com)
    except InertiaError as error:
        return str(error)
    return ""


def _repeated(body: Body) -> str:
    for what, other in (("itself", body), ("an equal body", attrs.evolve(body))):
        if other != body:
            return "made again of its fields it is another body"
        if other.inertia != body.inertia or other.shapes != body.shapes:
            return f"asked again, {what} has another inertia or other shapes"
    return ""


def _surfaces(body: Body) -> str | None:
    for shape in body.shapes:
        vertices, faces = (np.asarray(each) for each in shape.mesh())
        kind = type(shape).__name__
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            return f"{kind}: vertices must be (n, 3) finite numbers, got shape {vertices.shape}"
        if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
            return f"{kind}: faces must be (m, 3) whole numbers, got shape {faces.shape}"
        if faces.size and not 0 <= faces.min() <= faces.max() < len(vertices):
            return f"{kind}: faces must be rows of vertices, got {faces.min()} to {faces.max()}"
    return "" if body.shapes else None


def _parts(body: Body) -> Parts:
    mechanism = Mechanism("body")
    mechanism.add_body(body)
    mechanism.add_joint(FixedJoint("weld"), mechanism.world, body)
    return Parts.of(mechanism)


def _numbers(body: Body) -> str | None:
    """Change one number after another, those that are no pose: any number makes another body."""
    parts = _parts(body)
    start = f"bodies.{body.name}."
    asked = moved = False
    for path, value in parameters(parts).items():
        number = np.asarray(value, dtype=float)
        if not path.startswith(start) or number.shape == (4, 4) or not number.any():
            continue
        asked = True
        given: Any = (1.0 + _STEP) * number
        other = changed(parts, {path: given if number.ndim else float(given)}).bodies[body.name]
        if other == body:
            return f"with another {path.removeprefix(start)} it is the same body"
        moved |= other.inertia != body.inertia or other.shapes != body.shapes
    if not asked:
        return None
    return "" if moved else "none of its numbers changes its inertia or its shapes"


def _kept(body: Body) -> str:
    parts = _parts(body)
    table = to_document(parts)["bodies"][body.name]
    if "not_written" in table:
        lost = ", ".join(table["not_written"])
        return f"a file cannot hold {lost}, which is no number, array or string"
    read = parse_model(to_toml(parts), body_types={type_name(body): type(body)})
    return "" if read.bodies[body.name] == body else "read back it is another body"


_LAWS = (
    ("the inertia is one that a body can have", _possible),
    ("inertia and shapes follow from the fields alone", _repeated),
    ("shapes are triangles whose corners are there", _surfaces),
    ("its numbers are parameters, which change inertia or shapes", _numbers),
    ("a model file keeps it", _kept),
)

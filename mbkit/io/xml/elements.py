"""XML read by expat into elements that know their lines, within limits."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

import attrs

from mbkit.errors import ModelFileError, printable

__all__ = ["Element", "parse_elements"]

#: Beyond any robot: it could only exhaust memory. The robots of example-robot-data have up
#: to 5000 elements, eight deep.
MAX_DEPTH = 64
MAX_ELEMENTS = 200_000

_TEXT_KEPT = 4096  # characters of a text: a pose with all its digits has some 200
_ENCODINGS = ("utf-8", "utf8", "us-ascii", "ascii")


@attrs.define
class Element:
    """An element of XML, its attributes and children in the order of the file.

    The tag has a prefix if it has one; the line, from 1, is where it begins; text is the beginning
    of the text between its children, without blanks.
    """

    tag: str
    line: int
    attributes: dict[str, str]
    children: list[Element] = attrs.field(factory=list)
    text: str = ""


class _Builder:
    """Handlers of one parser. Their exceptions end the parsing and pass through it."""

    def __init__(self, parser: Any, what: str, name: str, text: str) -> None:
        self.parser = parser
        self.what, self.name = what, name
        self.is_ascii = text.isascii()
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.data
        parser.StartDoctypeDeclHandler = self.doctype
        parser.XmlDeclHandler = self.declaration

    def refuse(self, problem: str) -> ModelFileError:
        line = self.parser.CurrentLineNumber
        return ModelFileError(f"{self.what} {printable(problem)} ({self.name}:{line})")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.open) >= MAX_DEPTH:
            raise self.refuse(
                f"has elements nested more than {MAX_DEPTH} deep, with <{tag:.40}>; "
                "a robot description needs fewer than ten levels."
            )
        if self.count > MAX_ELEMENTS:
            raise self.refuse(f"has more than {MAX_ELEMENTS} elements; split it up.")
        element = Element(tag, self.parser.CurrentLineNumber, attributes)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, _tag: str) -> None:
        element = self.open.pop()
        element.text = element.text.strip()

    def data(self, text: str) -> None:
        element = self.open[-1]
        if element.text or not text.isspace():
            element.text += text[: max(_TEXT_KEPT - len(element.text), 0)]

    def doctype(self, *_declaration: Any) -> None:
        raise self.refuse(
            "must have no DOCTYPE, which can define entities and name other files; remove it."
        )

    def declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        # The text was read as UTF-8. With another encoding that is right for ASCII alone.
        if encoding and encoding.lower() not in _ENCODINGS and not self.is_ascii:
            raise self.refuse(f"must be UTF-8 text, and says encoding={encoding!r}; convert it.")


def parse_elements(text: str, what: str, name: str) -> Element:
    r"""Return the root element of XML, else raise ModelFileError with the line.

    No DOCTYPE, hence no entities but the five of XML and no other file; elements nested at most 64
    deep, and not more than 200000 of them. Messages begin with `what`, and have `name` before the
    line.

    Examples
    --------
    >>> robot = parse_elements('<robot name="r">\n<link name="l"/></robot>', "File", "r.urdf")
    >>> [(child.tag, child.line) for child in robot.children]
    [('link', 2)]
    """
    parser = expat.ParserCreate("utf-8")  # whatever the declaration: the text is decoded
    builder = _Builder(parser, what, name, text)
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise ModelFileError(
            f"{what} is no XML: {reason} ({name}:{error.lineno}); correct it there, or just before."
        ) from error
    assert builder.root is not None  # else: no element found
    return builder.root

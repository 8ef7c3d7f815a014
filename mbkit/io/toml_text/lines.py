"""Lines of the keys of a TOML text, which Python's parser does not return."""

from __future__ import annotations

import re

__all__ = ["line_nested_deeper", "line_of", "line_of_long_integer", "lines_of_keys"]

# Strings of all four kinds, comments, line ends, brackets, and characters of keys and numbers.
_TOKEN = re.compile(
    r'(?P<string>"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')'
    r"|(?P<comment>#[^\n]*)|(?P<newline>\n)|(?P<mark>[\[\]{},=.])|(?P<bare>[^\s\[\]{},=.\"'#]+)"
    r"|(?P<unclosed>[\"'])",
    re.DOTALL,
)

Path = tuple[str, ...]


def line_nested_deeper(text: str, most: int) -> int:
    """Return the line where brackets and dotted keys are first nested deeper than that, or 0."""
    depth = dots = 0
    line = 1
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "mark":
            mark = token[0]
            dots = dots + 1 if mark == "." else 0
            if mark in "[{":
                depth += 1
            elif mark in "]}" and depth:
                depth -= 1
            if depth + dots > most:
                return line
        elif kind == "newline":
            line += 1
            dots = 0
        elif kind == "string":
            line += token[0].count("\n")
        elif kind == "unclosed":
            break  # no TOML from here on; each further quote could have the rest looked through
    return 0


def line_of_long_integer(text: str, digits: int) -> int:
    """Return the line of the first decimal integer of more digits than that, or 1."""
    line, before = 1, ""
    for token in _TOKEN.finditer(text):
        word = (token["bare"] or "").lstrip("+-")
        is_long = len(word) > digits and len(word) - word.count("_") > digits
        follows = text[token.end() : token.end() + 1]
        # without parts of floats and keys
        if is_long and word.replace("_", "").isdigit() and before != "." and follows != ".":
            return line
        before = token[0]
        line += token[0].count("\n")
    return 1


def lines_of_keys(text: str) -> dict[Path, int]:
    r"""Return the lines in which keys and tables of valid TOML are given, by their full names.

    Keys of inline tables too; those of tables in an array have the line where one of them has it
    first.

    Examples
    --------
    >>> lines_of_keys('name = "m"\n[bodies."a b"]')
    {('name',): 1, ('bodies',): 2, ('bodies', 'a b'): 2}
    """
    scan = _Scan()
    for token in _TOKEN.finditer(text):
        scan.take(token)
    scan.end_of_line()
    return scan.lines


class _Scan:
    """The state of one pass: whose table, which key, within which brackets."""

    def __init__(self) -> None:
        self.lines: dict[Path, int] = {}
        self.line = 1
        self.table: Path = ()
        self.words: list[str] = []  # of the key that is being read
        self.brackets: list[tuple[str, Path]] = []  # open ones, with the table around the next key
        self.key: Path = ()  # whose value is being read
        self.state = "key"  # or "header", "value"

    def take(self, token: re.Match[str]) -> None:
        """Go on by one token."""
        if token["newline"]:
            self.end_of_line()
        elif token["string"] or token["bare"]:
            if self.state != "value":
                self.words.append(_unquoted(token["string"] or token["bare"]))
            self.line += (token["string"] or "").count("\n")
        elif token["mark"]:
            self._mark(token["mark"])

    def end_of_line(self) -> None:
        """Finish a key or a header."""
        if not self.brackets:
            if self.state == "header":
                self.table = tuple(self.words)
                self._note(self.table)
            self.state, self.words = "key", []
        self.line += 1

    def _mark(self, mark: str) -> None:
        if self.state == "header" or (mark == "[" and self.state == "key" and not self.words):
            self.state = "header"
            return
        around = self.brackets[-1][1] if self.brackets else self.table
        if mark == "=" and self.state == "key":
            self.key = (*around, *self.words)
            self._note(self.key)
            self.state, self.words = "value", []
        elif mark in "[{" and self.state == "value":
            in_array = bool(self.brackets) and self.brackets[-1][0] == "["
            self.brackets.append((mark, around if in_array else self.key))
            self.state = "key" if mark == "{" else "value"
        elif mark in "]}" and self.brackets:
            self.brackets.pop()
            self.state, self.words = "value", []
        elif mark == "," and self.brackets:
            self.state, self.words = ("key" if self.brackets[-1][0] == "{" else "value"), []

    def _note(self, path: Path) -> None:
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], self.line)


def _unquoted(word: str) -> str:
    import tomllib

    if word[0] not in "\"'":
        return word
    try:
        return str(tomllib.loads(f"x = {word}")["x"])
    except tomllib.TOMLDecodeError:
        return word


def line_of(path: Path, lines: dict[Path, int]) -> int:
    """Return the line of a key, or of the innermost table around it that is there, or 1."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return 1

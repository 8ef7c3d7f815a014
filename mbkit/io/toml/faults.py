"""All faults of a file with the paths of their keys, from cattrs' groups of exceptions."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator

import attrs
import cattrs

from mbkit.errors import MbkitError, ModelFileError, printable, suggestion
from mbkit.io.text_file import shortened
from mbkit.io.toml_text.lines import line_of, lines_of_keys

_SHOWN = 50  # faults in a message


class Faults:
    """A list of faults that grows while a file is read.

    Of each `found` has the path of the key, the error in it, and the end of the
    message.
    """

    def __init__(self) -> None:
        self.found: list[tuple[tuple[str, ...], str, Callable[[], str]]] = []

    @contextlib.contextmanager
    def at(self, *path: str) -> Iterator[None]:
        """Note the errors while the part at the keys `path` is read; go on after it."""
        try:
            yield
        except (cattrs.BaseValidationError, MbkitError, TypeError) as error:
            self._note(error, path)

    @contextlib.contextmanager
    def of_plugin(self, plugin: object) -> Iterator[None]:
        """Mark the faults noted inside as those of an object of this plugin, if it is one."""
        before = len(self.found)
        yield
        if plugin is not None:
            end = f" ('type' is of the plugin '{printable(plugin)}'.)"
            self.found[before:] = [
                (path, message, functools.partial(_both, hint, end))
                for path, message, hint in self.found[before:]
            ]

    def refuse(self, text: str, what: str, name: str) -> None:
        """Raise ModelFileError with the faults, if there are any; see `told`."""
        if total := len(self.found):
            count = "a fault" if total == 1 else f"{total} faults"
            lines = self.told(text, name, _SHOWN)
            more = [f"and {total - _SHOWN} more."] if total > _SHOWN else []
            raise ModelFileError(f"{what} has {count}:\n" + "\n".join(lines + more))

    def add(self, path: tuple[str, ...], message: str, hint: Callable[[], str] = str) -> None:
        """Note one fault; `hint` makes the end of the message, if it comes to be shown."""
        self.found.append((path, shortened(message), hint))

    def add_unknown(
        self, path: tuple[str, ...], message: str, name: object, known: Iterable[str]
    ) -> None:
        """Note that a name is none of those there are."""
        self.add(path, f"{message}; ", functools.partial(suggestion, name, known))

    def told(self, text: str, name: str, count: int) -> list[str]:
        """Return a line for each fault, at most `count`: file and line, key, error.

        By lines of `text`, the valid TOML that was read from the file `name`.
        """
        lines = lines_of_keys(text)
        placed = [(line_of(path, lines), path, end, hint) for path, end, hint in self.found]
        placed.sort(key=lambda fault: fault[0])
        # Looking for names that may have been meant takes time: for what is shown alone.
        return [
            f"{name}:{line}: {shortened('.'.join(map(_written, path)))}{': ' * bool(path)}"
            f"{shortened(message + hint())}"
            for line, path, message, hint in placed[:count]
        ]

    def _note(self, error: BaseException, path: tuple[str, ...]) -> None:
        if isinstance(error, (cattrs.ClassValidationError, cattrs.IterableValidationError)):
            placed, rest = error.group_exceptions()
            for inner, note in placed:
                step = note.index if isinstance(note, cattrs.IterableValidationNote) else note.name
                self._note(inner, (*path, str(step)))
            for inner in rest:
                self._note(inner, path)
        elif isinstance(error, cattrs.ForbiddenExtraKeysError):
            known = [field.name for field in attrs.fields(error.cl)]
            for key in sorted(error.extra_fields):
                self.add_unknown((*path, key), "unknown key", key, known)
        elif isinstance(error, KeyError) and not isinstance(error, MbkitError):
            # cattrs has put the key of an attribute into the path already
            key = str(error.args[0])
            self.add(path if path[-1:] == (key,) else (*path, key), "is missing.")
        elif isinstance(error, MbkitError):
            steps = error.key.split(".") if error.key else []
            self.add((*path, *steps), str(error))
        else:
            self.add(path, str(error))


def _both(hint: Callable[[], str], end: str) -> str:
    return hint() + end


def _written(key: str) -> str:
    """Return a key as TOML spells it in a path."""
    is_bare = key.isascii() and key.replace("-", "_").replace("_", "a").isalnum()
    return key if is_bare else f'"{key}"'

"""One law at several places, as one test: most laws take less time than pytest takes for a test."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any


def at_each(name: str, values: Mapping[Any, Any]) -> Callable[[Any], Any]:
    """Run a test with each of the values of one argument; the one that fails is told by its key.

    In place of `pytest.mark.parametrize`, where values are many and each is quick.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def test_at_each(**arguments: Any) -> None:
            for key, value in values.items():
                try:
                    test(**arguments, **{name: value})
                except BaseException as error:
                    error.add_note(f"{name}: {key}")
                    raise

        own = inspect.signature(test)
        others = [each for each in own.parameters.values() if each.name != name]
        test_at_each.__signature__ = own.replace(parameters=others)  # which pytest asks for
        return test_at_each

    return decorate

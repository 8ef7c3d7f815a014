"""What a method of `System` does is found by its name."""

from __future__ import annotations

import ast
import pathlib

ROOT = pathlib.Path(__file__).parents[2]

#: Methods without a function of their name, besides those that call one kernel.
OTHERS = {
    "configuration",
    "in_single_precision",
    "position_slice",
    "prescribed_state",
    "reference_configuration",
    "tangent_slice",
    "velocity",
    "velocity_slice",
    "with_parameters",
}


def test_methods_are_in_functions_of_their_names():
    """Who looks for what a method does finds a function of its name, or a kernel."""
    tree = ast.parse((ROOT / "mbkit/systems/system.py").read_text(encoding="utf-8"))
    methods = {
        method.name: method
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "System"
        for method in node.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_")
        # attributes; what is overloaded is replaced by its last form
        if not any("property" in ast.unparse(each) for each in method.decorator_list)
    }
    assert len(methods) >= 80
    assert {name for name, method in methods.items() if not _is_elsewhere(method)} == OTHERS


def _is_elsewhere(method):
    """Return whether a method calls a function of its name, or a kernel."""
    calls = [node.func for node in ast.walk(method) if isinstance(node, ast.Call)]
    for called in calls:
        text = ast.unparse(called)
        own = text.startswith("self.")
        if text.rpartition(".")[2] == method.name and not own:
            return True
        if text == "self.evaluator.compute" or (text.startswith("self._") and text.count(".") == 1):
            return True
    return False


def test_the_exceptions_are_named():
    """Both texts that promise functions of these names say which methods have none."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    module = ast.get_docstring(ast.parse((ROOT / "mbkit/systems/system.py").read_text("utf-8")))
    _, _, page = page.partition("A method that is one call of a kernel")
    for text in (page.partition("\n\n")[0], module):
        assert not [name for name in OTHERS if f"`{name}`" not in text]

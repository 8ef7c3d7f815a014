"""Laws of everything that a plugin provides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import attrs

from mbkit.constraints import Constraint
from mbkit.errors import UsageError, suggestion
from mbkit.executors import Executor
from mbkit.forces import Force
from mbkit.integrators import Integrator
from mbkit.joints import Joint
from mbkit.model import Body, Mechanism
from mbkit.testing.bodies import check_body
from mbkit.testing.constraints import check_constraint
from mbkit.testing.executors import check_executor
from mbkit.testing.forces import check_force
from mbkit.testing.integrators import check_integrator
from mbkit.testing.joints import check_joint
from mbkit.testing.laws import text_of
from mbkit.testing.report import Report
from mbkit.testing.representations import check_representation

if TYPE_CHECKING:
    from mbkit.plugins import Plugin


@attrs.frozen
class Checked:
    """The check of one object that a plugin provides.

    Attributes
    ----------
    what : str
        Its kind and its name, such as "joint type 'cam'".
    holds : bool or None
        Whether no law is broken; None where it was not checked.
    report : Report or None
        The report of the check, where it was checked.
    remark : str
        Why it was not, or cannot be, checked.
    """

    what: str
    holds: bool | None
    report: Report | None = None
    remark: str = ""


def check_plugin(plugin: Plugin | str) -> Iterator[Checked]:
    """Check the objects that a plugin provides, one after another.

    Bodies are looked at by `check_body`, joints by `check_joint`, forces by `check_force`,
    constraints by `check_constraint`, integrators by `check_integrator`, executors by
    `check_executor` and representations by `check_representation`: the instances that the hook
    ``mbkit_examples`` returns, or one made of a class with a name alone. There is no check
    of readers and commands.

    Parameters
    ----------
    plugin : Plugin or str
        A plugin, or its name.

    Yields
    ------
    Checked
        An object that it provides, and whether it holds; a plugin that was skipped, or whose
        examples cannot be had, is one that does not hold.

    Raises
    ------
    UsageError
        If there is no plugin of the name.

    Examples
    --------
    >>> import types
    >>> import mbkit as mb
    >>> from mbkit.plugins import Plugin, hookimpl, registry
    >>> class Rail(mb.Joint):
    ...     num_positions = num_velocities = 1
    ...
    ...     def pose(self, q):
    ...         return mb.spatial.translation((q[0], 0.0, q[0] ** 2))
    >>> module = types.ModuleType("rails")
    >>> module.mbkit_joint_types = hookimpl(lambda: {"rail": Rail})
    >>> plugin = registry().add(Plugin("rails", "1.0", "here"), lambda: module)
    >>> for each in mb.testing.check_plugin(plugin):
    ...     print(each.what, each.holds)
    joint type 'rail' True
    """
    from mbkit.plugins import registry
    from mbkit.plugins.contracts import EXAMPLES, KINDS

    plugin = _found(plugin) if isinstance(plugin, str) else plugin
    if plugin.fault:
        yield Checked("plugin", False, remark=f"skipped: {plugin.fault}")
        return
    examples: list[Any] = []
    try:
        examples = registry().examples(plugin)
    except Exception as error:
        yield Checked(f"{EXAMPLES}()", False, remark=text_of(error))
    for kind, things in plugin.provides.items():
        for name, thing in things.items():
            what = f"{KINDS[kind].title} '{name}'"
            if kind == "representation":
                yield _checked(what, check_representation, thing)
            elif kind in _CHECKS:
                yield from _of_class(what, kind, thing, examples)
            else:
                yield Checked(what, None, remark="there is no check of it")


def _found(name: str) -> Plugin:
    from mbkit.plugins import registry

    registry().load()
    plugins = {plugin.name: plugin for plugin in registry().plugins}
    if name not in plugins:
        raise UsageError(f"There is no plugin '{name}'; {suggestion(name, plugins)}")
    return plugins[name]


def _checked(what: str, check: Callable[..., Report], *arguments: Any) -> Checked:
    """Return the findings of a check, also where the checked object raises."""
    try:
        report = check(*arguments)
    except Exception as error:
        return Checked(what, False, remark=text_of(error))
    return Checked(what, report.holds, report)


def _body(body: Body, mechanism: Mechanism | None) -> Report:
    return check_body(body)


def _joint(joint: Joint, mechanism: Mechanism | None) -> Report:
    return check_joint(joint)


def _integrator(integrator: Integrator, mechanism: Mechanism | None) -> Report:
    return check_integrator(integrator)


def _executor(executor: Executor, mechanism: Mechanism | None) -> Report:
    return check_executor(executor)


_CHECKS: dict[str, Callable[[Any, Mechanism | None], Report]] = {
    "body": _body,
    "joint": _joint,
    "force": check_force,
    "constraint": check_constraint,
    "integrator": _integrator,
    "executor": _executor,
}


def _of_class(what: str, kind: str, thing: type, examples: list[Any]) -> Iterator[Checked]:
    found = list(_instances(thing, examples))
    if not found:
        try:
            found = [(thing() if kind in ("integrator", "executor") else thing("example"), None)]
        except Exception:
            remark = "not checked: give an example of it in mbkit_examples()"
            yield Checked(what, None, remark=remark)
            return
    for instance, mechanism in found:
        yield _checked(what, _CHECKS[kind], instance, mechanism)


def _instances(thing: type, examples: list[Any]) -> Iterator[tuple[Any, Mechanism | None]]:
    """Yield the examples of a class, with the mechanism they are in."""
    for example in examples:
        if type(example) is thing:
            yield example, None
        elif isinstance(example, Mechanism):
            parts: list[Body | Joint | Force | Constraint] = [
                *example.bodies.values(),
                *(connection.joint for connection in example.joints.values()),
                *example.forces.values(),
                *example.constraints.values(),
            ]
            yield from ((part, example) for part in parts if type(part) is thing)

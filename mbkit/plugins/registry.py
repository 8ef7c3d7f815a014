"""The plugins of this process: found, checked, and the objects that they provide, by name."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import pluggy

from mbkit.errors import PluginWarning, printable, suggestion
from mbkit.plugins import hookspecs
from mbkit.plugins.contracts import EXAMPLES, KINDS, BrokenContract, checked, checked_examples

#: The origin of what comes with mbkit.
BUILT_IN = "mbkit"

#: Modules of mbkit by what they provide. `mbkit.io` and `mbkit.viz` stand above this package:
#: imported by name, as a plugin's module is.
_MODULES = {
    **dict.fromkeys(
        ("body", "joint", "force", "constraint", "integrator", "representation", "executor"),
        "mbkit.plugins.built_in",
    ),
    "reader": "mbkit.io.readers",
    "viewer": "mbkit.viz.built_in",
}


@attrs.frozen
class Plugin:
    """A plugin that was found.

    Attributes
    ----------
    name : str
        Of its entry point.
    version : str
        Of its distribution or project; empty where it has none.
    origin : str
        Where it comes from: "mbkit", the name of a distribution, or the folder of a project.
    provides : mapping
        Things by name, by kind: "body", "joint", "force", "constraint", "integrator",
        "representation", "executor", "reader", "command", "viewer".
    fault : str
        Why it was skipped; empty where it was not.
    """

    name: str
    version: str
    origin: str
    provides: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()


class Registry:
    """Types and functions by name: of mbkit at once, of installed plugins when they are needed.

    Distributions are searched for entry points, and their plugins imported, only when a name is
    looked up that mbkit itself does not have, or when all names are listed. The names of mbkit of a
    kind are imported when a name of this kind is looked up.
    """

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._plugins: dict[str, Plugin] = {}
        self._things: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
        self._owners: dict[tuple[str, str], Plugin] = {}
        self._sources: list[Callable[[], object]] = [self._load_installed]
        self._lock = threading.RLock()
        self._own = dict(_MODULES)  # those that are not imported yet

    # ------------------------------------------------------------------------------ questions

    def known(self, kind: str) -> dict[str, Any]:
        """Return things of a kind by name, as far as they are loaded: those of mbkit at least."""
        self._ask_own(kind)
        return dict(self._things[kind])

    def all(self, kind: str) -> dict[str, Any]:
        """Return all things of a kind by name; loads the plugins there are."""
        self.load()
        return self.known(kind)

    def find(self, kind: str, name: str) -> Any:
        """Return the thing of a name, or None; loads the plugins where mbkit has none."""
        self._ask_own(kind)
        if name not in self._things[kind]:
            self.load()
        return self._things[kind].get(name)

    def owner(self, kind: str, thing: Any) -> Plugin | None:
        """Return the plugin that a thing comes from; None if from mbkit, or from no plugin."""
        for name, known in self._things[kind].items():
            if known is thing:
                plugin = self._owners[kind, name]
                return None if plugin.origin == BUILT_IN else plugin
        return None

    def examples(self, plugin: Plugin) -> list[Any]:
        """Return the examples that a plugin gives of its types.

        Parameters
        ----------
        plugin : Plugin
            One that was loaded.

        Returns
        -------
        list
            Joints, forces, integrators, and mechanisms with them; empty where it has no such hook.

        Raises
        ------
        BrokenContract
            If the hook returns something else; what it raises comes out as it is.
        """
        return [
            example
            for returned in self._call(plugin.name, EXAMPLES)
            for example in checked_examples(returned, plugin.provides)
        ]

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """All plugins found so far, those that were skipped included."""
        self._ask_own(*KINDS)
        return tuple(self._plugins.values())

    # -------------------------------------------------------------------------------- loading

    def load(self) -> None:
        """Load the plugins that are installed, and those of further sources."""
        with self._lock:
            self._ask_own(*KINDS)
            while self._sources:
                self._sources.pop()()

    def add_source(self, source: Callable[[], object]) -> None:
        """Call `source` when plugins are loaded; it adds further ones."""
        self._sources.append(source)

    def add_built_in(self, kind: str, module: str) -> None:
        """Import a module of mbkit when an object of its kind is looked up."""
        self._own[kind] = module

    def add(self, plugin: Plugin, load: Callable[[], Any], *, warn: bool = True) -> Plugin:
        """Import and register a plugin, or skip it with a warning that names it and the cause.

        Parameters
        ----------
        plugin : Plugin
            What is known of it, without what it provides.
        load : callable
            Returns its module, or another object with hooks.
        warn : bool
            Whether there is a warning; without it the caller reports the fault.

        Returns
        -------
        Plugin
            With what it provides, or with its fault.
        """
        with self._lock:
            self._ask_own(*KINDS)  # whose names it must not take
            try:
                plugin = self._enter(load(), plugin)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                plugin = attrs.evolve(plugin, fault=_cause(error))
                if not self._is_loaded(plugin.name):
                    self._plugins[plugin.name] = plugin
        if plugin.fault and warn:
            warnings.warn(
                f"The plugin '{printable(plugin)}' ({printable(plugin.origin)}) is skipped: "
                f"{plugin.fault}",
                PluginWarning,
                stacklevel=2,
            )
        return plugin

    def _ask_own(self, *kinds: str) -> None:
        """Register the modules of mbkit that have things of these kinds, and take these alone."""
        for kind in kinds:
            with self._lock:
                if kind not in self._own:
                    continue
                name = self._own[kind]
                if name not in self._plugins:
                    with self._registered(importlib.import_module(name), name):
                        self._plugins[name] = Plugin(name, "", BUILT_IN)
                own = self._plugins[name]
                things = self._provided(name, kind, closely=False)  # our own are tested
                self._take(attrs.evolve(own, provides={**own.provides, kind: things}))
                del self._own[kind]

    def _load_installed(self) -> None:
        found = importlib.metadata.entry_points(group=hookspecs.PROJECT)
        for entry in sorted(found, key=lambda entry: entry.name):
            dist = entry.dist
            version, origin = (dist.version, dist.name) if dist is not None else ("", "")
            self.add(Plugin(entry.name, version, origin), entry.load)

    def _enter(self, module: Any, plugin: Plugin) -> Plugin:
        """Register a plugin and take what it provides; all of it or nothing."""
        name = self._manager.get_name(module)
        if name is not None:  # a project that is installed as well
            return self._plugins[name]
        key = plugin.name
        if self._is_loaded(key):
            raise BrokenContract(
                f"there is a plugin '{key}' of {self._plugins[key].origin} already; "
                "rename one of them"
            )
        with self._registered(module, key):
            provides = {kind: self._provided(key, kind) for kind in KINDS}
            if not any(provides.values()):
                raise BrokenContract(
                    "it provides nothing; mark its functions, such as mbkit_joint_types, with "
                    "mbkit.plugins.hookimpl"
                )
            self._refuse_taken(provides)
        return self._take(attrs.evolve(plugin, provides=provides))

    def _take(self, plugin: Plugin) -> Plugin:
        """Enter a plugin with what it provides."""
        self._plugins[plugin.name] = plugin
        for kind, things in plugin.provides.items():
            self._things[kind] |= things
            self._owners |= {(kind, each): plugin for each in things}
        return plugin

    @contextlib.contextmanager
    def _registered(self, module: Any, key: str) -> Iterator[None]:
        try:
            self._manager.register(module, key)
            self._check_pending()
            yield
        except BaseException:
            if self._manager.has_plugin(key):
                self._manager.unregister(name=key)
            raise

    def _check_pending(self) -> None:
        """Raise where a function is marked as a hook and there is no hook of its name."""
        try:
            self._manager.check_pending()
        except pluggy.PluginValidationError as error:
            hooks = [*(kind.hook for kind in KINDS.values()), EXAMPLES]
            unknown = [name for name in vars(self._manager.hook) if name not in hooks]
            marked = [name for name in unknown if getattr(self._manager.hook, name).get_hookimpls()]
            raise BrokenContract(
                f"there is no hook '{marked[0]}'; {suggestion(marked[0], hooks)}"
                if marked
                else str(error)
            ) from error

    def _provided(self, key: str, kind: str, *, closely: bool = True) -> dict[str, Any]:
        """Call the hook of one plugin for a kind of things."""
        things: dict[str, Any] = {}
        for returned in self._call(key, KINDS[kind].hook):
            things |= checked(KINDS[kind], returned, closely=closely)
        return things

    def _call(self, key: str, hook: str) -> list[Any]:
        """Return what a hook of one plugin returns, a list of one, or of none where it has none."""
        others = [each for name, each in self._manager.list_name_plugin() if name != key]
        answers: list[Any] = self._manager.subset_hook_caller(hook, others)()
        return answers

    def _is_loaded(self, name: str) -> bool:
        return name in self._plugins and not self._plugins[name].fault

    def _refuse_taken(self, provides: Mapping[str, Mapping[str, Any]]) -> None:
        for kind, things in provides.items():
            for name in things:
                if name in self._things[kind]:
                    owner = self._owners[kind, name]
                    whose = "mbkit" if owner.origin == BUILT_IN else f"the plugin '{owner.name}'"
                    raise BrokenContract(
                        f"the {KINDS[kind].title} '{name}' is one of {whose} already; choose "
                        "another name"
                    )


def _cause(error: BaseException) -> str:
    """Return what went wrong, and where in the plugin, as the end of a message."""
    try:
        message = " ".join(printable(error).split())
    except Exception:
        message = "with a message that cannot be shown"
    if isinstance(error, BrokenContract):
        return f"{message}."
    where = ""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is not None and not isinstance(error, ImportError | pluggy.PluginValidationError):
        where = f" ({printable(last.tb_frame.f_code.co_filename)}:{last.tb_lineno})"
    return f"{type(error).__name__}: {message or 'without a message'}{where}"


@functools.cache
def registry() -> Registry:
    """Return the registry of this process.

    Examples
    --------
    >>> registry().find("force", "joint_spring").__name__
    'JointSpring'
    """
    return Registry()

"""Plugins: additions to mbkit by hooks, which mbkit's own classes use as well.

``from mbkit.plugins import hookimpl`` is all that a plugin needs; docs/plugins.md explains it. This
package loads pluggy, so modules of mbkit import it inside the functions that look a name up.
"""

from mbkit.plugins.hookspecs import hookimpl as hookimpl
from mbkit.plugins.registry import Plugin as Plugin
from mbkit.plugins.registry import Registry as Registry
from mbkit.plugins.registry import registry as registry

__all__ = ["Plugin", "Registry", "hookimpl", "registry"]

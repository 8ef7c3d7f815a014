"""Pages of all public names, by subject, from their docstrings.

A name belongs to the subject of its package, so that a new one is on its page by itself; a package
without a subject is an error.
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

import mbkit


class Subject(NamedTuple):
    """A page of the reference.

    Attributes
    ----------
    title : str
        Its title.
    packages : tuple of str
        Packages of mbkit whose names in `mbkit` it has.
    modules : tuple of str
        Public modules, which it has with their lists `__all__`.
    names : tuple of str
        Names of other modules which pages of documentation use, for compiled parts of one's own.
    """

    title: str
    packages: tuple[str, ...]
    modules: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


#: What compiled forces, joints, integrators and representations of users are made of.
COMPILED = (
    "mbkit.kernels.compile.address_kernel", "mbkit.kernels.compile.helper",
    "mbkit.kernels.configuration.dexp_inv_rows", "mbkit.kernels.configuration.rates_rows",
    "mbkit.kernels.configuration.retract_rows", "mbkit.kernels.equations_of_motion.acceleration",
    "mbkit.kernels.forces.form.FORCE_FORM", "mbkit.kernels.forces.form.POTENTIAL_FORM",
    "mbkit.kernels.forces.form.joint", "mbkit.kernels.forces.form.parameters",
    "mbkit.kernels.recursions.algorithms.algorithms", "mbkit.kernels.status.NOT_CONVERGED",
    "mbkit.kernels.time_loops.event_watch.look",
)  # fmt: skip

SUBJECTS = {
    "mechanisms": Subject("Mechanisms and bodies", ("model", "parts", "shapes", "topology")),
    "joints": Subject("Joints", ("joints",)),
    "forces": Subject("Forces", ("forces",), (), ("mbkit.forces.ForceKernels",)),
    "constraints": Subject(
        "Constraints and their solvers", ("constraints", "solvers"), (),
        ("mbkit.solvers.DenseKernels", "mbkit.solvers.SolverKernels"),
    ),
    "systems": Subject("Systems", ("systems", "coordinates")),
    "simulation": Subject("Simulation, events and results", ("simulation", "events", "results")),
    "integrators": Subject(
        "Integrators", ("integrators",), ("mbkit.integrators.coefficients.tableaus",),
        ("mbkit.integrators.integrator.Problem", "mbkit.integrators.newton_record.Newton"),
    ),
    "kinematics": Subject("Kinematics", ("kinematics",)),
    "screws": Subject("Screws, inertias and poses", ("spatial",), ("mbkit.spatial",)),
    "representations": Subject(
        "Representations and conventions", ("representations",), ("mbkit.conventions",)
    ),
    "lie": Subject("Lie groups", (), ("mbkit.lie",)),
    "linear-analysis": Subject("Linear analysis", ("linear_models",)),
    "identification": Subject("Identification", ("identification",)),
    "sensitivities": Subject("Derivatives of runs", ("sensitivities",)),
    "files": Subject("Files", ("io",)),
    "pictures": Subject(
        "Pictures", ("viz",), ("mbkit.viz",), ("mbkit.viz.viewers.live_page.LivePage",)
    ),
    "studies": Subject("Projects and studies", ("studies",), ("mbkit.studies",)),
    "plugins": Subject("Plugins", (), ("mbkit.plugins",)),
    "bridges": Subject("sympy, CasADi and JAX", ("bridges",)),
    "testing": Subject(
        "Checks of what users write", (), ("mbkit.testing",),
        ("mbkit.testing.constrained_problems.CONSTRAINED_PROBLEMS",),
    ),
    "compiled": Subject("Compiled parts of your own", (), (), COMPILED),
    "errors": Subject("Errors and warnings", ("errors", "memory")),
}  # fmt: skip

#: Where the pages are written, from the root of the project.
FOLDER = pathlib.Path("build", "reference")

#: A source and where it is cited.
SOURCE = re.compile(r"(?:(?<=^\.\. )\[(?=\d+\] )|\[(?=\d+\]_))(?P<number>\d+)\]")


def public_names() -> dict[str, list[str]]:
    """Return all public names by subject, as `mbkit.Body` or `mbkit.testing.check_joint`.

    Raises
    ------
    ValueError
        If a package has no subject.
    """
    subjects = {package: key for key, each in SUBJECTS.items() for package in each.packages}
    found: dict[str, list[str]] = {key: [] for key in SUBJECTS}
    for name in dir(mbkit):
        value = getattr(mbkit, name)
        if name.startswith("_") or isinstance(value, ModuleType):
            continue
        package = value.__module__.split(".")[1]
        if package not in subjects:
            raise ValueError(
                f"mbkit.{name}: package {package!r} has no page of the reference. Enter it in"
                " SUBJECTS of tools/pages/reference.py."
            )
        found[subjects[package]].append(f"mbkit.{name}")
    for key, subject in SUBJECTS.items():
        found[key] += [name for module in subject.modules for name in _names_of(module)]
        found[key] += subject.names
    return found


def _names_of(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    for each in module.__all__:
        value = getattr(module, each)
        if not isinstance(value, ModuleType) and getattr(mbkit, each, None) is not value:
            yield f"{name}.{each}"


def _named(name: str) -> Any:
    module, _, word = name.rpartition(".")
    return getattr(importlib.import_module(module), word)


def page(title: str, names: list[str]) -> str:
    """Return a page of the reference in reStructuredText: a table of names, then each."""
    lines = [title, "=" * len(title), "", ".. autosummary::", "   :nosignatures:", ""]
    values = {name: _named(name) for name in names}
    lines += [f"   ~{name}" for name in names if not isinstance(values[name], int | str)]
    for name, value in values.items():
        if isinstance(value, type):
            lines += ["", f".. autoclass:: {name}", "   :members:"]
        elif inspect.isroutine(value):
            lines += ["", f".. autofunction:: {name}"]
        elif isinstance(value, int | str):  # whose docstring is that of their type
            about = inspect.getdoc(importlib.import_module(name.rpartition(".")[0])) or ""
            lines += ["", f".. py:data:: {name}", f"   :value: {value!r}", ""]
            lines += [f"   {line}".rstrip() for line in about.splitlines()]
        else:
            lines += ["", f".. autodata:: {name}", "   :no-value:"]
    return "\n".join([*lines, ""])


def _write(app: Sphinx, config: Config) -> None:
    folder = pathlib.Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    found = public_names()
    contents = [f"   {key}" for key in SUBJECTS]
    head = "All public names\n================\n\n.. toctree::\n   :maxdepth: 1\n\n"
    pages = {"index": head + "\n".join([*contents, ""])}
    pages |= {key: page(SUBJECTS[key].title, names) for key, names in found.items()}
    for key, text in pages.items():
        path = folder / f"{key}.rst"
        # A page that has not changed is not built again.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _escape(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Keep bars as they are, and number sources by page: several docstrings share one."""
    example = False
    for k, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            parts = line.split("`")
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[k] = SOURCE.sub(rf"[#{name}-\g<number>]", "`".join(parts))


def _link_types(app: Sphinx, doctree: nodes.document) -> None:
    """Link public classes among the words of types; other words, as `shape`, are no names."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        target = link["reftarget"]
        if link.get("refdomain") != "py" or "." in target:
            continue
        if isinstance(getattr(mbkit, target, None), type):
            link["reftarget"] = f"mbkit.{target}"
            link["refspecific"] = False
        else:
            link.replace_self(link.children)


def _complete(app: Sphinx, env: BuildEnvironment) -> None:
    """Refuse pages on which a public name is missing."""
    there = env.domains.python_domain.objects
    missing = [name for names in public_names().values() for name in names if name not in there]
    if missing:
        raise ExtensionError(f"The reference has no entry for {', '.join(missing)}.")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before a build looks for its sources."""
    app.connect("config-inited", _write)
    app.connect("env-check-consistency", _complete)
    app.connect("autodoc-process-docstring", _escape, priority=400)  # before napoleon
    app.connect("doctree-read", _link_types)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

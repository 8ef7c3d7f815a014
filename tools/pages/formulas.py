"""Formulas as pictures within the page, drawn by matplotlib: pages need no script and no fonts.

matplotlib knows the part of TeX without environments; a formula that it cannot draw is an error.
"""

from __future__ import annotations

import base64
import html
import io

from docutils import nodes
from matplotlib import mathtext
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator

#: Points; the height of a picture in em is that in points divided by this.
SIZE = 12.0


def picture(tex: str) -> str:
    """Return an HTML image of a formula.

    Parameters
    ----------
    tex
        A formula in TeX, without dollars.

    Raises
    ------
    ValueError
        If matplotlib cannot draw it.
    """
    out = io.BytesIO()
    formula = f"${' '.join(tex.split())}$"
    depth = mathtext.math_to_image(formula, out, dpi=72, format="svg", color="#777777")
    data = base64.b64encode(out.getvalue()).decode()
    height = float(out.getvalue().split(b'viewBox="', 1)[1].split(b'"', 1)[0].split()[3])
    style = f"height: {height / SIZE:.3f}em; vertical-align: {-depth / SIZE:.3f}em"
    source = f"data:image/svg+xml;base64,{data}"
    return f'<img class="formula" style="{style}" src="{source}" alt="{html.escape(tex)}">'


def _checked(node: nodes.Element) -> str:
    try:
        return picture(node.astext())
    except ValueError as error:
        place = f"{node.source}:{node.line}"
        raise ExtensionError(
            f"{place}: matplotlib cannot draw {node.astext()!r}: {error}"
        ) from error


def _inline(writer: HTML5Translator, node: nodes.Element) -> None:
    writer.body.append(_checked(node))
    raise nodes.SkipNode


def _displayed(writer: HTML5Translator, node: nodes.Element) -> None:
    writer.body.append(f'<p style="text-align: center">{_checked(node)}</p>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Enter the renderer under the name `mathtext`."""
    app.add_html_math_renderer("mathtext", (_inline, None), (_displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

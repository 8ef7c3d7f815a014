"""Write the notebook of a page: `python tools/notebook.py docs/tutorials/custom-joint.md`.

Blocks of Python become cells of code, what is between them cells of text; no outputs are kept. The
notebook stands beside the page, under its name.
"""

import json
import pathlib
import re
import sys

CODE = re.compile(r"^```python\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook(page):
    """Return the text of the notebook of a page."""
    cells = []
    for k, part in enumerate(CODE.split(page)):
        source = part.strip("\n").splitlines(keepends=True)
        if not source:
            continue
        cell = {"id": f"cell-{len(cells)}", "metadata": {}, "source": source}
        if k % 2:
            cell |= {"cell_type": "code", "execution_count": None, "outputs": []}
        else:
            cell |= {"cell_type": "markdown"}
        cells.append(dict(sorted(cell.items())))
    content = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        path.with_suffix(".ipynb").write_text(notebook(path.read_text()))

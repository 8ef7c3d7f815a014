"""`Viewer`: the contract of programs that draw scenes, in files and on the screen."""

from __future__ import annotations

import pathlib
from typing import Any, ClassVar

import numpy as np

from mbkit.errors import UsageError
from mbkit.spatial.arrays import FloatArray
from mbkit.viz.film import Film
from mbkit.viz.scene import Scene


class Viewer:
    """Draws scenes: writes films to files, or shows a mechanism on the screen.

    A subclass has `write`, or `show`, or both. A plugin returns instances by name from its hook
    ``mbkit_viewers``; ``run.animate(path)`` takes the first viewer that writes files of the suffix
    of the path. Heavy packages are imported in these methods, never with the module.

    Attributes
    ----------
    suffixes : tuple of str
        Of the files that it writes, in lower case: ``(".html",)``.
    is_live : bool
        Whether it has `show`.

    Examples
    --------
    >>> import mbkit as mb
    >>> class Tables(mb.viz.Viewer):
    ...     suffixes = (".txt",)
    ...
    ...     def write(self, film, path):
    ...         path.write_text(str(film.scene.poses(film.q).shape))
    >>> Tables().is_live
    False
    """

    suffixes: ClassVar[tuple[str, ...]] = ()

    @property
    def is_live(self) -> bool:
        """Whether it shows scenes on the screen."""
        return type(self).show is not Viewer.show

    def write(self, film: Film, path: pathlib.Path) -> None:
        """Write a film to a file of one of its suffixes; of one instant, a picture.

        Parameters
        ----------
        film : Film
            The film: the scene, and its times.
        path : Path
            Its folder exists.

        Raises
        ------
        UsageError
            If a package that it needs is not installed; the message names it. Its caller turns an
            `OSError` into one that the file cannot be written.
        """
        raise UsageError(f"{type(self).__name__} writes no files, such as '{path}'.")

    def show(self, scene: Scene, q: FloatArray, **options: Any) -> Any:
        """Show a scene at a configuration (nq,), to be moved by hand; return without waiting.

        Parameters
        ----------
        scene : Scene
            The scene that is shown.
        q : ndarray, shape (nq,)
            The configuration at first.
        **options
            Of the viewer, such as ``host`` and ``port`` of a page.

        Returns
        -------
        object
            The live view, to be closed by its method ``close``.
        """
        raise UsageError(f"{type(self).__name__} shows nothing live, configuration {np.shape(q)}.")

"""Pictures of results, trees and mechanisms; heavy packages are imported when they are drawn."""

from mbkit.viz.film import Arrow as Arrow
from mbkit.viz.film import Film as Film
from mbkit.viz.film import Trace as Trace
from mbkit.viz.scene import Scene as Scene
from mbkit.viz.scene import scene_of as scene_of
from mbkit.viz.show import Picture as Picture
from mbkit.viz.show import show as show
from mbkit.viz.viewers.viewer import Viewer as Viewer

__all__ = ["Arrow", "Film", "Picture", "Scene", "Trace", "Viewer", "scene_of", "show"]

"""Pictures of results, trees and mechanisms; heavy packages are imported when they are drawn."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.viz.film import Arrow as Arrow
    from mbkit.viz.film import Film as Film
    from mbkit.viz.film import Trace as Trace
    from mbkit.viz.scene import Scene as Scene
    from mbkit.viz.scene import scene_of as scene_of
    from mbkit.viz.show import Picture as Picture
    from mbkit.viz.show import show as show
    from mbkit.viz.viewers.viewer import Viewer as Viewer

look_up_names(__name__)

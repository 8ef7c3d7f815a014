"""URDF, the robot descriptions of ROS: read strictly, and written where it can hold a mechanism."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.io.urdf.document import Urdf as Urdf
    from mbkit.io.urdf.reader import load_urdf as load_urdf
    from mbkit.io.urdf.reader import parse_urdf as parse_urdf
    from mbkit.io.urdf.reader import read_urdf as read_urdf
    from mbkit.io.urdf.writer import save_urdf as save_urdf

look_up_names(__name__)

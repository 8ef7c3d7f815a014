"""URDF, the robot descriptions of ROS: read strictly, and written where it can hold a mechanism."""

from mbkit.io.urdf.document import Urdf as Urdf
from mbkit.io.urdf.reader import load_urdf as load_urdf
from mbkit.io.urdf.reader import parse_urdf as parse_urdf
from mbkit.io.urdf.reader import read_urdf as read_urdf
from mbkit.io.urdf.writer import save_urdf as save_urdf

__all__ = ["Urdf", "load_urdf", "parse_urdf", "read_urdf", "save_urdf"]

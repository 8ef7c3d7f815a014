"""MJCF, the model files of MuJoCo: read by MuJoCo itself, and written where they can say it."""

from mbkit.io.mjcf.document import Mjcf as Mjcf
from mbkit.io.mjcf.reader import load_mjcf as load_mjcf
from mbkit.io.mjcf.reader import read_mjcf as read_mjcf
from mbkit.io.mjcf.writer import save_mjcf as save_mjcf

__all__ = ["Mjcf", "load_mjcf", "read_mjcf", "save_mjcf"]

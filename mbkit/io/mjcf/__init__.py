"""MJCF, the model files of MuJoCo: read by MuJoCo itself, and written as far as they can hold."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.io.mjcf.document import Mjcf as Mjcf
    from mbkit.io.mjcf.reader import load_mjcf as load_mjcf
    from mbkit.io.mjcf.reader import read_mjcf as read_mjcf
    from mbkit.io.mjcf.writer import save_mjcf as save_mjcf

look_up_names(__name__)

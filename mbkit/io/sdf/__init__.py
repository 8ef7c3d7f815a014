"""SDF files (SDFormat): to documents and mechanisms."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.io.sdf.document import Sdf as Sdf
    from mbkit.io.sdf.reader import load_sdf as load_sdf
    from mbkit.io.sdf.reader import parse_sdf as parse_sdf
    from mbkit.io.sdf.reader import read_sdf as read_sdf

look_up_names(__name__)

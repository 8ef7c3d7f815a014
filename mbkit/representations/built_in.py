"""The representations that mbkit brings, in the order of tables: a new one is a file and a line.

Their names in files, and the public ones, follow from this list: see `mbkit.catalogue`.
"""

# isort: off
from mbkit.representations.body_fixed import BodyFixed as BodyFixed
from mbkit.representations.spatial import Spatial as Spatial
from mbkit.representations.hybrid import Hybrid as Hybrid
from mbkit.representations.mixed import Mixed as Mixed

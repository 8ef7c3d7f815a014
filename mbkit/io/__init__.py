"""Files: models as TOML, results as netCDF."""

from mbkit.io.model_file import load_model as load_model
from mbkit.io.model_file import parse_model as parse_model
from mbkit.io.model_file import save_model as save_model
from mbkit.io.results.netcdf import load_result as load_result
from mbkit.io.results.netcdf import save_result as save_result
from mbkit.io.urdf import Urdf as Urdf
from mbkit.io.urdf import load_urdf as load_urdf
from mbkit.io.urdf import parse_urdf as parse_urdf
from mbkit.io.urdf import read_urdf as read_urdf
from mbkit.io.urdf import save_urdf as save_urdf

__all__ = [
    "Urdf",
    "load_model",
    "load_result",
    "load_urdf",
    "parse_model",
    "parse_urdf",
    "read_urdf",
    "save_model",
    "save_result",
    "save_urdf",
]

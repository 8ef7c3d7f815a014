"""Files: models as TOML, results as netCDF."""

from mbkit.io.model_file import load_model as load_model
from mbkit.io.model_file import parse_model as parse_model
from mbkit.io.model_file import save_model as save_model
from mbkit.io.netcdf import load_result as load_result
from mbkit.io.netcdf import save_result as save_result

__all__ = ["load_model", "load_result", "parse_model", "save_model", "save_result"]

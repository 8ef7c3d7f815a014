"""Files: models as TOML, results as netCDF."""

from mbkit.io.model_file import load_model as load_model
from mbkit.io.model_file import parse_model as parse_model
from mbkit.io.model_file import save_model as save_model

__all__ = ["load_model", "parse_model", "save_model"]

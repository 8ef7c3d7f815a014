"""Files: models as TOML, results as netCDF."""

from typing import TYPE_CHECKING

from mbkit.lazy_names import look_up_names

if TYPE_CHECKING:
    from mbkit.io.mjcf import Mjcf as Mjcf
    from mbkit.io.mjcf import load_mjcf as load_mjcf
    from mbkit.io.mjcf import read_mjcf as read_mjcf
    from mbkit.io.mjcf import save_mjcf as save_mjcf
    from mbkit.io.results.ensembles import load_ensemble as load_ensemble
    from mbkit.io.results.loading import load_result as load_result
    from mbkit.io.results.saving import save_result as save_result
    from mbkit.io.sdf import Sdf as Sdf
    from mbkit.io.sdf import load_sdf as load_sdf
    from mbkit.io.sdf import parse_sdf as parse_sdf
    from mbkit.io.sdf import read_sdf as read_sdf
    from mbkit.io.toml.loading import load_model as load_model
    from mbkit.io.toml.loading import parse_model as parse_model
    from mbkit.io.toml.loading import save_model as save_model
    from mbkit.io.urdf import Urdf as Urdf
    from mbkit.io.urdf import load_urdf as load_urdf
    from mbkit.io.urdf import parse_urdf as parse_urdf
    from mbkit.io.urdf import read_urdf as read_urdf
    from mbkit.io.urdf import save_urdf as save_urdf

look_up_names(__name__)

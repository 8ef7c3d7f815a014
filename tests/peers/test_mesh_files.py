"""Shapes from files, which trimesh reads."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb

trimesh = pytest.importorskip("trimesh")


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "dae"])
def test_a_file_gives_its_triangles_in_metres(suffix, tmp_path):
    """Of a box in millimetres, that is scaled; COLLADA files say their unit themselves."""
    path = tmp_path / f"box.{suffix}"
    box = trimesh.creation.box((100.0, 200.0, 300.0))
    box.export(path)
    scale = 0.001
    if suffix == "dae":
        text = path.read_text()
        path.write_text(text.replace("<asset>", '<asset><unit name="mm" meter="0.001"/>', 1))
        scale = 1.0
    vertices, faces = mb.MeshShape.from_file(path, scale=scale).mesh()
    np.testing.assert_allclose(vertices.max(axis=0), (0.05, 0.1, 0.15), rtol=1e-6)
    found = trimesh.Trimesh(vertices, faces)
    assert found.is_watertight
    assert found.volume == pytest.approx(0.006, rel=1e-5)


@pytest.mark.parametrize("name", ["panda", "talos_reduced", "a1"])
def test_robots_have_their_shapes(name):
    """Every visual of the file, each with triangles of the size of a robot."""
    pytest.importorskip("pinocchio")  # with whose environment the robots are installed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        system = mb.load_urdf(f"robot:{name}").assemble()
    visuals = sum(
        shape.use == "visual"
        for link in mb.read_urdf(f"robot:{name}").links
        for shape in link.shapes
    )
    assert len(system.shapes) == visuals > 5
    for _, shape in system.shapes:
        vertices, faces = shape.mesh()
        assert len(faces) >= 12
        if isinstance(shape, mb.MeshShape):
            assert 0.005 < np.ptp(vertices, axis=0).max() < 2.0


def test_a_file_that_is_no_mesh_is_refused_by_name(tmp_path):
    """With the reason of the reader."""
    path = tmp_path / "notes.obj"
    path.write_text("no mesh at all\n")
    with pytest.raises(mb.ModelFileError, match=r"notes.obj' cannot be read as a mesh"):
        mb.MeshShape.from_file(path).mesh()

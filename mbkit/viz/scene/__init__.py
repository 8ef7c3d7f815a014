"""Scenes: the visible parts of a system, for every viewer."""

from mbkit.viz.scene.meshes import Mesh as Mesh
from mbkit.viz.scene.parts import scene_of as scene_of
from mbkit.viz.scene.scene import LAYERS as LAYERS
from mbkit.viz.scene.scene import Camera as Camera
from mbkit.viz.scene.scene import Label as Label
from mbkit.viz.scene.scene import Part as Part
from mbkit.viz.scene.scene import Scene as Scene

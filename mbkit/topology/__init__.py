"""Graphs of bodies and joints by their names; the only owner of networkx."""

from mbkit.topology.graph import BodyGraph as BodyGraph
from mbkit.topology.path import BodyPath as BodyPath
from mbkit.topology.spanning_tree import build_topology as build_topology
from mbkit.topology.topology import WORLD as WORLD
from mbkit.topology.topology import Topology as Topology

__all__ = ["WORLD", "BodyGraph", "BodyPath", "Topology", "build_topology"]

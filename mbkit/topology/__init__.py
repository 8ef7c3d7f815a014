"""Graphs of bodies and joints by their names; the only owner of networkx."""

from mbkit.topology.cuts import Cut as Cut
from mbkit.topology.cuts import Cuts as Cuts
from mbkit.topology.graph import WORLD as WORLD
from mbkit.topology.graph import BodyGraph as BodyGraph
from mbkit.topology.graph import JointEdge as JointEdge
from mbkit.topology.graph import check_connected as check_connected
from mbkit.topology.path import BodyPath as BodyPath
from mbkit.topology.spanning_tree import build_topology as build_topology
from mbkit.topology.spanning_tree import held_loop as held_loop
from mbkit.topology.spanning_tree import numbered_tree as numbered_tree
from mbkit.topology.topology import Topology as Topology

__all__ = [
    "WORLD",
    "BodyGraph",
    "BodyPath",
    "Cut",
    "Cuts",
    "JointEdge",
    "Topology",
    "build_topology",
    "check_connected",
    "held_loop",
    "numbered_tree",
]

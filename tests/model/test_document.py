"""Mechanisms as plain data, and as TOML."""

import functools
import tomllib

import attrs
import hypothesis
import hypothesis.strategies as st
import numpy as np

import mbkit as mb
from mbkit.joints import Joint
from mbkit.model import to_document, to_toml
from mbkit.model.toml_text import render

plain = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@hypothesis.given(st.dictionaries(st.text(), plain, max_size=5))
def test_text_is_toml_of_the_same_data(document):
    """The standard library reads what was written, to the last bit."""
    assert tomllib.loads(render(document)) == document


def test_long_matrices_take_a_line_a_row():
    """And short ones a line."""
    matrix = (np.arange(9.0).reshape(3, 3) + 1.0 / 3.0).tolist()
    lines = render({"t": {"m": matrix, "n": [[1.0, 2.0], [3.0, 4.0]]}}).splitlines()
    assert lines[:2] == ["[t]", "m = ["]
    assert len(lines) == 7
    assert lines[-1] == "n = [[1.0, 2.0], [3.0, 4.0]]"


class Plain(Joint):
    """A user's joint that holds state no file knows."""

    num_positions = num_velocities = 1

    def __init__(self, name, law=None):
        super().__init__(name)
        if law:
            self.law = law

    def pose(self, q):
        return np.eye(4)

    def motion_subspace(self, q):
        return np.eye(6, 1)

    def bias(self, q, v):
        return np.zeros(6)

    @functools.cached_property
    def derived(self):
        return 3.0


@attrs.frozen
class Record(Plain):
    """A user's joint of attrs."""

    name: str
    length: float
    table: tuple = (1, 2.5, "x")
    law: object = None


def joint_table(joint):
    mech = mb.Mechanism("m")
    mech.add_joint(joint, mech.world, mech.add_body(mb.Body("b")))
    return to_document(mech)["joints"][joint.name]


def test_joints_of_users_are_called_by_module_and_class():
    """The fields of attrs classes are written; what a file cannot hold is listed."""
    assert joint_table(Record("r", np.float64(2.0), law=len)) == {
        "type": f"{__name__}:Record",
        "predecessor": "world",
        "successor": "b",
        "length": 2.0,
        "table": [1, 2.5, "x"],
        "not_written": ["law"],
    }
    bare = Plain("p")
    assert bare.derived == 3.0
    assert "not_written" not in joint_table(bare)
    assert joint_table(Plain("p", len))["not_written"] == ["law"]


def test_assembling_needs_no_complete_document():
    """The text that goes with results is made of any mechanism."""
    mech = mb.Mechanism("m")
    mech.add_joint(Plain("p", len), "world", mech.add_body(mb.Body("b")))
    assert 'not_written = ["law"]' in to_toml(mech)

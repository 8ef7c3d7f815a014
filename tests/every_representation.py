"""The four representations, for tests that hold in each."""

import pytest

from mbkit.representations import REPRESENTATIONS as BY_NAME

REPRESENTATIONS = tuple(BY_NAME.values())

each_representation = pytest.mark.parametrize(
    "representation", REPRESENTATIONS, ids=[each.name for each in REPRESENTATIONS]
)

"""Pictures of results: what is in the panels, and where they can be drawn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import mbkit as mb
from mbkit.viz.plot import plot_result


def make_result(columns=3, instants=50, **changes):
    t = np.linspace(0.0, 2.0, instants)
    names = tuple(f"joint{k}" for k in range(columns))
    fields = {
        "t": t,
        "q": np.sin(t)[:, None] * np.arange(1, columns + 1),
        "v": np.cos(t)[:, None] * np.arange(1, columns + 1),
        "kinetic_energy": np.cos(t) ** 2,
        "potential_energy": np.sin(t) ** 2 + 1e-3 * t,
        "body_names": ("world", "body"),
        "joint_names": names,
        "position_names": names,
        "velocity_names": names,
    }
    return mb.Result(**fields | changes)


def labels(panel):
    return [text.get_text() for text in panel.get_legend().get_texts()]


def test_panels_show_the_columns_by_name(tmp_path):
    """Each curve is the column that its label names."""
    run = make_result()
    positions, velocities, energies, drift = plot_result(run, tmp_path / "run.png").axes
    assert labels(positions) == labels(velocities) == ["joint0", "joint1", "joint2"]
    np.testing.assert_array_equal(positions.lines[2].get_xydata(), np.c_[run.t, run.q[:, 2]])
    np.testing.assert_array_equal(velocities.lines[1].get_xydata(), np.c_[run.t, run.v[:, 1]])
    assert labels(energies) == ["kinetic", "potential", "total"]
    np.testing.assert_array_equal(energies.lines[2].get_ydata(), run.energy)
    np.testing.assert_array_equal(drift.lines[0].get_ydata(), run.energy_drift)
    assert drift.get_title() == "largest: 2.0e-03 of the peak kinetic energy"
    assert drift.get_xlabel() == "time t [s]"


def test_the_balance_is_drawn_where_energy_is_supplied_or_dissipated(tmp_path):
    """Not the drift, which is what motors do; and what is supplied and dissipated."""
    t = np.linspace(0.0, 2.0, 50)
    run = make_result(dissipated_energy=0.1 * t, supplied_energy=2.0 * t)
    *_, energies, balance = plot_result(run, tmp_path / "run.png").axes
    assert labels(energies) == ["kinetic", "potential", "total", "dissipated", "supplied"]
    np.testing.assert_array_equal(energies.lines[4].get_ydata(), run.supplied_energy)
    np.testing.assert_array_equal(balance.lines[0].get_ydata(), run.energy_balance)
    assert np.abs(run.energy_balance - run.energy_drift).max() > 1.0
    assert balance.get_ylabel() == "missing in the balance [J]"
    assert balance.get_title().startswith("largest: 3.8e+00 of")


def test_what_may_be_wrong_stands_above(tmp_path):
    text = "The balance of energies misses up to 3 J. " * 5
    figure = plot_result(make_result(warnings=(text, "A motion jumps.")), tmp_path / "run.png")
    assert figure.get_suptitle().split() == f"{text} A motion jumps.".split()
    assert figure.get_suptitle().endswith("\nA motion jumps.")
    assert max(map(len, figure.get_suptitle().splitlines())) <= 110


def test_units_have_panels_of_their_own(tmp_path):
    run = make_result(position_units=("rad", "m", "rad"))
    angles, lengths, *_ = plot_result(run, tmp_path / "run.png").axes
    assert (angles.get_ylabel(), labels(angles)) == ("positions q [rad]", ["joint0", "joint2"])
    assert (lengths.get_ylabel(), labels(lengths)) == ("positions q [m]", ["joint1"])


def test_many_joints_keep_the_legend_short(tmp_path):
    positions = plot_result(make_result(columns=30), tmp_path / "run.png").axes[0]
    assert len(positions.lines) == 30
    assert labels(positions) == [f"joint{k}" for k in range(10)]
    assert positions.get_legend().get_title().get_text() == "first 10 of 30"


def test_no_joints_and_one_instant(tmp_path):
    """The extremes are drawn: nothing that moves, and points where there is no curve."""
    figure = plot_result(make_result(columns=0, instants=1), tmp_path / "run.png")
    assert figure.axes[0].texts[0].get_text() == "none"
    assert figure.axes[2].lines[0].get_marker() == "o"


def test_incomplete_runs_say_so(tmp_path):
    run = make_result(completed=False, message="Interrupted by the user after t = 2 s.")
    figure = plot_result(run, tmp_path / "run.png")
    assert figure.get_suptitle() == "not completed: Interrupted by the user after t = 2 s."


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_the_suffix_is_the_format(tmp_path, suffix, start):
    path = tmp_path / f"run{suffix}"
    make_result().plot(path)
    assert path.read_bytes().startswith(start)


def test_pictures_that_cannot_be_written_are_named(tmp_path):
    with pytest.raises(mb.UsageError, match=r"run\.what' has a suffix .* Format 'what'"):
        plot_result(make_result(), tmp_path / "run.what")
    with pytest.raises(mb.UsageError, match="directory that does not exist"):
        plot_result(make_result(), tmp_path / "none" / "run.png")


def test_a_folder_that_takes_no_pictures_is_named(sealed_folder):
    """As the user named it."""
    with pytest.raises(mb.UsageError, match=r"'/proc/run\.png' cannot be written: No such file"):
        plot_result(make_result(), f"{sealed_folder}/run.png")


def test_missing_matplotlib_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(mb.UsageError, match=r"pip install 'mbkit\[plot\]'"):
        plot_result(make_result(), tmp_path / "run.png")


@pytest.mark.long
def test_files_are_written_without_pyplot(tmp_path):
    """A picture for a file opens no window and keeps no figure alive."""
    run = make_result()
    run.save(tmp_path / "run.nc")
    code = (
        "import sys, mbkit as mb\n"
        f"mb.load_result({str(tmp_path / 'run.nc')!r}).plot({str(tmp_path / 'run.png')!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "run.png").stat().st_size > 10_000


def test_without_a_path_pyplot_has_the_figure():
    import matplotlib.pyplot as plt

    figure = make_result().plot()
    assert plt.gcf() is figure
    plt.close(figure)

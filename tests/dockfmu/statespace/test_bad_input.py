"""Bad input is refused with what is wrong and what to do; the command writes files that others read."""

import numpy as np
import pytest
from scipy.io import loadmat

import dockfmu
from dockfmu.cli import main


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"at": -1.0}, "at = -1.0 s lies before the start of the run, 0.0 s"),
        ({"at": float("nan")}, "at must be a finite time in s, not nan"),
        ({"at": 1.0, "start": 2.0}, "lies before the start of the run, 2.0 s"),
        ({"step": 0.0}, "step must be a positive time"),
        ({"count": 0}, "count must be a number of macro steps"),
        ({"by": "guessing"}, "by must be one of differences, directional, impulses"),
        ({"element": "Osillator"}, "has no element 'Osillator'; there are Oscillator; did you mean Oscillator?"),
        ({"inputs": ["farce"]}, "inputs: 'farce' names no continuous input"),
        ({"outputs": ["audit.dissipated"]}, "outputs: 'audit.dissipated' names no continuous output"),
        ({"hold": ["nothing.like.it"]}, "hold: 'nothing.like.it' names no state"),
        ({"inputs": "force"}, "inputs must be a list of patterns"),
        ({"by": "impulses", "samples": 2}, "samples must be an integer, at least 4"),
        ({"by": "impulses", "element": "Oscillator"}, "repeats the run of the whole system"),
        ({"by": "impulses", "impulse": -1.0}, "impulse positive"),
    ],
)
def test_refused(oscillator, options, text):
    with pytest.raises(dockfmu.LinearisationError) as error:
        dockfmu.linearise(oscillator, **options)
    assert text in str(error.value)


def test_the_command_writes_both_files(oscillator, tmp_path, capsys):
    mat, npz = tmp_path / "model.mat", tmp_path / "model.npz"
    arguments = ["linearise", str(oscillator), "--at", "500ms", "--set", "parameters.stiffness=40N/m", "--step", "0.01"]
    assert main([*arguments, "-o", str(mat), "-o", str(npz)]) == 0
    shown = capsys.readouterr().out
    assert "Oscillator at t = 0.5 s" in shown
    assert "+- 6.32456i" in shown
    assert "undamped" in shown
    assert "Oscillator.status.code" in shown
    with np.load(npz, allow_pickle=False) as content:
        assert set("ABCD") < set(content)
        np.testing.assert_allclose(content["A"], [[0.0, 1.0], [-40.0, 0.0]], atol=1e-8)
        assert content["states"].tolist() == ["Oscillator.position", "Oscillator.velocity"]
        assert content["units"].tolist()[:3] == ["m", "m/s", "N"]
        frequencies = content["frequencies"]
    matlab = loadmat(mat)
    np.testing.assert_allclose(matlab["A"], [[0.0, 1.0], [-40.0, 0.0]], atol=1e-8)
    np.testing.assert_allclose(matlab["frequencies"].ravel(), frequencies)
    assert matlab["states"].ravel()[1].item() == "Oscillator.velocity"


def test_the_command_refuses_other_files_and_times(oscillator, tmp_path, capsys):
    assert main(["linearise", str(oscillator), "-o", str(tmp_path / "model.txt")]) == 2
    assert "must end in .npz or .mat" in capsys.readouterr().err
    assert main(["linearise", str(oscillator), "--at", "-1"]) == 2
    assert "lies before the start of the run" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["linearise", str(oscillator), "--at", "soon"])
    assert "'soon' is not a time" in capsys.readouterr().err


def test_a_model_is_written_as_npz_or_mat_alone(oscillator, tmp_path):
    with pytest.raises(dockfmu.LinearisationError, match=r"must end in \.npz or \.mat"):
        dockfmu.linearise(oscillator).write(tmp_path / "model.csv")

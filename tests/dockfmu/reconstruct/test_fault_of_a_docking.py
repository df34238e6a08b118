"""Which fault was it? The first second of a docking of V1 in which DK1 was late: the thrusters push late."""

import pytest

import dockfmu
from dockfmu.reconstruct.by_model import estimate
from dockfmu.reconstruct.model_findings import findings
from dockfmu.reconstruct.model_problem import models, read_problem
from dockfmu.reconstruct.model_result import compare_models
from dockfmu.reconstruct.reading import read_telemetry
from dockfmu.telemetry.make import write_telemetry
from tests.dockfmu.small_systems import as_toml

SYSTEM, STOP, STEP = "atv_probe_cone", 0.9, 2e-3
TRUTH = {"initial_conditions.velocity": [0.105, 0.0, 0.0], "chaser.parameters.mass": 20300.0}
FAULT = "cyclogram.parameters.fault"
MODELS = {
    "as built": {},
    "no push": {f"{FAULT}.push": True},
    "DK1 late": {f"{FAULT}.sensor[1]": "LATE", f"{FAULT}.delay[1]": 0.4},
}
SENSORS = {
    "frame": [
        {
            "name": "unit",
            "rate": "50 Hz",
            "signal": [
                {"column": "stroke", "variable": "mechanism.axial.stroke", "unit": "mm", "noise": "0.5 mm"},
                {
                    "column": "axial", "port": "chaser.port[1]", "axis": [1.0, 0.0, 0.0], "measures": "acceleration",
                    "unit": "mm/s2", "noise": "2 mm/s2", "average": "20 ms",
                },
            ],
        }
    ]
}  # fmt: skip
UNKNOWN = [
    {"name": "initial_conditions.velocity[1]", "law": "uniform", "low": "0.08 m/s", "high": "0.13 m/s"},
    {"name": "chaser.parameters.mass", "law": "normal", "mean": "20 t", "deviation": "0.3 t", "limit": "0.9 t"},
]


@pytest.mark.slow
def test_evidence_and_residuals_tell_the_fault_of_a_docking(tmp_path):
    """Speed and mass unknown: no other model has a chance, and none of them explains the readings."""
    fault = "DK1 late"
    dockfmu.load(SYSTEM, TRUTH | MODELS[fault]).record(tmp_path / "run", stop=STOP, step=STEP, every=1, report=False)
    (tmp_path / "sensors.toml").write_text(as_toml(SENSORS))
    write_telemetry(tmp_path / "run", tmp_path / "sensors.toml", tmp_path / "telemetry", seed=7)
    asked = {
        "members": 12, "start": 0.0, "refinements": 4, "model_error": 0.005, "run": {"step": STEP}, "unknown": UNKNOWN,
        "model": [{"label": label, "values": values} for label, values in MODELS.items()],
    }  # fmt: skip
    content = {"system": SYSTEM, "folder": "telemetry", "sensors": "sensors.toml", "ensemble": asked}
    (tmp_path / "file.toml").write_text(as_toml(content))
    telemetry = read_telemetry(tmp_path / "file.toml")
    labels = models(telemetry)
    said = {label: findings(estimate(read_problem(telemetry, tmp_path / label, label), workers=0)) for label in labels}
    chances = compare_models(labels, list(said.values()))
    explained = {label: all(signal.explained for signal in each.residuals) for label, each in said.items()}
    assert chances[fault] > 0.99
    assert explained == {label: label == fault for label in labels}

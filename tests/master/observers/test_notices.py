"""Counters `notice.*` are told at the end of a run, without doubt about its results (ruling R58)."""

from types import SimpleNamespace

import numpy as np
import pytest

from dockfmu.master.observers.validity import Validity

pytestmark = pytest.mark.quick


def test_a_notice_is_told_and_is_no_matter_of_validity():
    watch = Validity()
    watch.counters = {"arm.notice.not_reached": "commands", "arm.validity.late": "steps", "arm.notice.singular": ""}
    watch.reset()
    watch.sample(np.array([0.0, 0.5, 1.0]), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 3.0, 0.0]]))
    result = SimpleNamespace(validity={}, warnings=[])
    watch.end(result)
    assert list(result.validity) == ["arm.validity.late"]
    assert result.warnings == [
        "arm.notice.not_reached = 2 from t = 0.5 s on (commands)",
        "arm.validity.late = 3 from t = 1 s on (steps): results there are outside the domain of the formulas",
    ]

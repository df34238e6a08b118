"""A multibody system from a file, in a system and on the command line."""

from pathlib import Path

import pytest

from dockfmu.components.multibody import EXAMPLE
from dockfmu.components.multibody.declaration import ModelError
from dockfmu.declare.declaration import read
from dockfmu.declare.packages.assembly import make_component
from dockfmu.fmus import catalogue

SYSTEM = """
name = "swing"
[elements.swing]
component = "multibody"
model = "models/swing.toml"
[run]
stop = 1.0
step = 0.01
"""


def test_the_file_of_a_mechanism_is_found_beside_that_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "swing.toml").write_text(EXAMPLE.read_text().replace('"Multibody"', '"swing"'))
    file = tmp_path / "system.toml"
    file.write_text(SYSTEM)
    element = read(str(file)).elements["swing"]
    component = make_component(element.component, element.origin, dict(element.options))
    assert component.name == "swing"
    assert "joint.hinge2.angle.position" in component.record.index
    # the component carries the text: it can be made again where the file is not
    (tmp_path / "models" / "swing.toml").unlink()
    again = catalogue.component("Multibody", **component.options)
    assert again.record.index == component.record.index


def test_a_file_is_a_component_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "swing.toml"
    file.write_text(EXAMPLE.read_text())
    assert catalogue.component(str(file)).name == "Multibody"


def test_mistakes_in_the_file_are_told_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "swing.toml"
    file.write_text(EXAMPLE.read_text().replace('["rod1", "rod2"]', '["rod1", "rod4"]').replace('"1 kg"', '"1 m"', 1))
    with pytest.raises(ModelError) as told:
        make_component(str(file), "build", {})
    assert len(told.value.problems) == 2
    assert all(problem.startswith(f"{file}: ") for problem in told.value.problems)

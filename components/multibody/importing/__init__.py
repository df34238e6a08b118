"""Import of URDF and MJCF: a robot that exists becomes a declaration, with a list of what was left out."""

from dockfmu.components.multibody.importing.robot import ImportedRobot, RobotError, read_robot
from dockfmu.components.multibody.importing.text import declaration_text

__all__ = ["ImportedRobot", "RobotError", "declaration_text", "read_robot"]

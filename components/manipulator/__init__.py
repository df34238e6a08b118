"""A manipulator of N revolute joints that carries a payload to its berth, spec/08."""

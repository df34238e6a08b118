"""The lateral damper of the probe: springs, stops and brakes, their chains of bodies and of massless links."""

"""Drivers of inputs from outside the system: functions of time and live signals."""

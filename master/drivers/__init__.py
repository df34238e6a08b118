"""Inputs from outside the system: functions of time, live signals."""

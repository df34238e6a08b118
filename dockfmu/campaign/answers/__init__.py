"""Answers of a campaign, one subject per file: functions of numbers, which `questions` applies to a campaign."""

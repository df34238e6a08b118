"""Answers of a campaign, one subject per file: functions of numbers, which `asked` applies to a campaign."""

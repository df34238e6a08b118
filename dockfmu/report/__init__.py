"""What is made of a system or of a run for people and other programs: report, plots, tables, drawings."""

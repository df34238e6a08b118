"""Output of systems and runs for users and other programs: report, plots, tables, diagrams."""

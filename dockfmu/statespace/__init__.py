"""State-space models of FMUs and coupled systems at an operating point."""

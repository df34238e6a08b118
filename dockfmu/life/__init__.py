"""The life that dockings spend of a structure: cycles of stress, damage, and a ledger over many recordings."""

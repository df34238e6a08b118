"""Any mechanism as a declaration: bodies, joints and forces in a file become a component (spec/10)."""

"""A docking ring on six legs: what all ring mechanisms share."""

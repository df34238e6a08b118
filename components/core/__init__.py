"""What every component is made of: its record, rotations and frames, small linear algebra, tables."""

"""Building blocks of every component: records, rotations and frames, small linear algebra, tables."""

"""Systems whose coupling can be computed by hand, for tests and figures of the algorithms."""

"""Systems whose coupling can be computed by hand: what tests and figures of the algorithms are made with."""

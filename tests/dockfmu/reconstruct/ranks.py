"""Ranks of true values among draws of a posterior, which are uniform if it is calibrated."""

import numpy as np
from scipy.stats import chi2


def uniformity(ranks, bins=10):
    """Return the probability of a histogram of ranks as uneven, of each unknown, by Pearson's test."""
    found = []
    for column in ranks.T:
        counts, _ = np.histogram(column, bins=bins, range=(0.0, 1.0 + 1e-9))
        expected = len(column) / bins
        found.append(chi2.sf(np.sum((counts - expected) ** 2 / expected), bins - 1))
    return found

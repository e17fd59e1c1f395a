"""How unusual it is that the nearest of so many entries is so near, if none of them is the same mark.

Distances from a query to marks that have nothing to do with it are spread, near the smallest of them, like a power:
twice the distance, 2^m times as many marks within it. Then the logarithms log(d_k/d_j) of the k − 1 smallest of
d_1 ≤ … ≤ d_k are independent and exponential with the same unknown mean, and the share of the largest in their sum,

    g = log(d_k/d_1) / Σ_j log(d_k/d_j),

has a distribution that depends on nothing else (Fisher 1929, the test of the largest of many periodogram ordinates):

    P(g > x) = Σ_{j ≥ 1, jx < 1} (−1)^{j−1} C(n, j) (1 − jx)^{n−1},    n = k − 1.

That is the chance of a match: the probability that a catalogue without the mark has an entry that stands out as much.
It is uniform between 0 and 1 for such queries. For the entry of rank r the better ones are left out first.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

NEIGHBOURS = 8
"""Farther entries that a chance is computed from, k − 1 = 8: with more, marks of the same motif and others would be
mixed, which lie at different distances; with fewer, matches would hardly stand out."""


def fisher_g(share: float, n: int) -> float:
    """Probability that the largest of n exponential variables has at least this share of their sum.

    >>> from radoncdt.catalogue.chance import fisher_g
    >>> fisher_g(0.5, 2), round(fisher_g(0.9, 2), 3)
    (1.0, 0.2)
    """
    if n < 2 or share <= 1 / n:
        return 1.0
    j = np.arange(1, int(np.ceil(1 / share)) if share > 0 else n)
    j = j[j * share < 1]
    if not j.size:
        return 0.0
    logs = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1) + (n - 1) * np.log1p(-j * share)
    return float(np.clip(np.sum(np.where(j % 2, 1, -1) * np.exp(logs)), 0, 1))


def chances(distances: NDArray[np.float64], shown: int) -> list[float | None]:
    """Chances of the first `shown` of ascending distances; None where too few entries are behind one."""
    finite = distances[np.isfinite(distances)]
    found: list[float | None] = []
    for rank in range(min(shown, len(distances))):
        tail = finite[rank : rank + NEIGHBOURS + 1]
        if len(tail) < 4 or tail[-1] <= 0:
            found.append(None)
            continue
        logs = np.log(tail[-1] / np.maximum(tail[:-1], 1e-300 + tail[-1] * 1e-12))
        total = logs.sum()
        found.append(fisher_g(float(logs[0] / total), len(logs)) if total > 0 else 1.0)
    return found

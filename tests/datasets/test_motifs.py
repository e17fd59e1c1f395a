"""The motifs of synthetic watermarks."""

import numpy as np

from radoncdt import datasets
from radoncdt.datasets import motifs


def test_every_motif_is_drawn_within_the_frame():
    for name, motif in motifs.MOTIFS.items():
        for seed in range(20):
            parts = motif(np.random.default_rng(seed))
            assert len(parts) >= 2, name  # a near-twin needs a part to move
            assert all(np.isfinite(line).all() and len(line) >= 2 for part in parts for line in part)
    for mark in datasets.watermarks(60, seed=1):
        corners = np.concatenate(mark.lines)
        assert np.linalg.norm(corners, axis=1).max() <= motifs.REACH + 1e-9

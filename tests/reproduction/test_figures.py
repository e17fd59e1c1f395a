"""The figures of the report."""

import numpy as np

from radoncdt.reproduction.figures import CAPTIONS, draw_figures


def test_curves_have_a_band_and_the_papers_crosses(report, digits):
    drawn = draw_figures(report[1], digits)
    assert drawn.keys() <= CAPTIONS.keys()
    for name in ("accuracy_table2", "accuracy_table3", "accuracy_table4"):
        crosses = [line for ax in drawn[name].axes for line in ax.lines if line.get_marker() == "x"]
        lines = [line for ax in drawn[name].axes for line in ax.lines if line.get_marker() == "o"]
        bands = [band for ax in drawn[name].axes for band in ax.collections]
        assert len(lines) == len(bands) > 3
        assert sum(len(cross.get_xdata()) for cross in crosses) > 3
        assert any(np.ptp(path.vertices[:, 1]) > 0.02 for band in bands for path in band.get_paths())
        for ax in drawn[name].axes:
            low, _ = ax.get_ylim()
            assert all(path.vertices[:, 1].min() >= low for band in ax.collections for path in band.get_paths())

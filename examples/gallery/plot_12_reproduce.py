"""
Reproduce a table of the paper
==============================

radoncdt can repeat the experiments of the paper and compare the results with the printed ones.

:func:`radoncdt.reproduction.reproduce` does the same as the command ``radoncdt reproduce``: it repeats measurements and
writes a report. This example uses few random draws and the smaller class sizes, which takes a few seconds. The pages on
the results have all tables.
"""

# %%
# Measure
# -------
#
# Table 4 of the paper is about the digits 1 and 7 under random affine maps. A linear classifier is trained on a tenth
# of the images. In the protocol "published", ten maps move all images, as in the paper.

import tempfile

import matplotlib.pyplot as plt
import numpy as np

from radoncdt import reproduction

choice = reproduction.Choice(
    parts=("table4",), protocols=("published",), draws=4, seed=0, angles=(8, 32), sizes=(10, 20, 50)
)
with tempfile.TemporaryDirectory() as folder:
    outcome = reproduction.reproduce(folder, choice)

# %%
# Our results and the printed ones
# --------------------------------
#
# Every row has the mean over our draws and the result of the paper.

names = {"euclidean": "pixels", "rcdt": "R-CDT", "mnrcdt": "mNR-CDT"}
cells = [summary for summary in outcome.select_cells("table4") if summary.measurand.variant is None]
print(f"class size  {'feature':18} {'ours':>5}  paper")
for summary in cells:
    cell = summary.measurand
    label = names[cell.feature] + (f", {cell.n_angles} angles" if cell.n_angles else "")
    print(f"{cell.class_size:10}  {label:18} {summary.mean:.3f}  {summary.paper_mean:.3f}")

# %%
# A picture of the table
# ----------------------
#
# The bars are our means. Their whiskers are the standard deviation over the accuracies of a draw, averaged over the
# draws. The crosses are the results of the paper, with the standard deviations that it states.

sizes = sorted({summary.measurand.class_size for summary in cells})
shown = [("euclidean", None, "#999999"), ("rcdt", 32, "#e69f00"), ("mnrcdt", 32, "#0072b2")]
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for k, (feature, angles, colour) in enumerate(shown):
    row = [s for s in cells if (s.measurand.feature, s.measurand.n_angles) == (feature, angles)]
    places = np.arange(len(sizes)) + 0.27 * (k - 1)
    label = names[feature] + (f", {angles} angles" if angles else "")
    ax.bar(places, [s.mean for s in row], 0.25, color=colour, yerr=[s.std for s in row], label=label, ecolor="0.3")
    papers = [s.paper for s in row]
    ax.errorbar(
        places + 0.06,
        [paper.mean for paper in papers],
        yerr=[paper.std for paper in papers],
        fmt="X",
        color="black",
        markersize=7,
        label=None if k else "the paper",
    )
ax.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
ax.set_xticks(range(len(sizes)), [f"{size} images per class" for size in sizes])
ax.set(ylabel="accuracy (dotted: chance)", ylim=(0, 1.3), title="Table 4 of the paper, smaller class sizes")
ax.legend(frameon=False, ncols=4, loc="upper center")
plt.show()

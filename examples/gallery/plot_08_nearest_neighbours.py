"""
Nearest neighbours up to affine maps
====================================

:class:`radoncdt.AffineNeighbors` finds the nearest images, whatever affine maps moved them.

The distance of two images is that of their transforms along whitened directions, at the best rotation or reflection.
The search skips entries that cannot be among the nearest, and returns exactly what a comparison with all entries would
return.
"""

# %%
# A set of marks
# --------------
#
# :func:`radoncdt.datasets.watermarks` draws synthetic marks. Every tenth mark is a near-twin of the one before it: the
# same drawing with one part moved.

import matplotlib.pyplot as plt
import numpy as np

import radoncdt
from radoncdt import datasets

marks = datasets.watermarks(200)
images = np.stack([mark.image() for mark in marks])
neighbours = radoncdt.AffineNeighbors(n_neighbors=4).fit(images)
print(neighbours.descriptors_)

# %%
# Moved copies and their neighbours
# ---------------------------------
#
# We move three marks by random affine maps, and look for the four nearest entries of each. The first one is the mark
# itself. If the second one is nearly as close, it is the twin.

chosen = np.array([8, 57, 129])
maps = datasets.AffineDistribution(scale=(0.5, 0.9), isotropic=False, mirror=True, rotation=180, shear=20)
queries, _ = datasets.random_affine(images[chosen], maps, rng=1)
distances, indices = neighbours.kneighbors(queries)

figure, axes = plt.subplots(3, 5, figsize=(10, 6.6), layout="constrained")
for k, row in enumerate(axes):
    row[0].imshow(queries[k], cmap="gray_r")
    row[0].set_title(f"copy of mark {chosen[k]}")
    for ax, index, distance in zip(row[1:], indices[k], distances[k]):
        right = index == chosen[k]
        ax.imshow(images[index], cmap="gray_r")
        ax.set_title(f"mark {index}: {distance:.3f}", fontweight="bold" if right else "normal")
        ax.spines[:].set(color="#0072b2" if right else "black", linewidth=3 if right else 0.8)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
figure.suptitle("Queries, and their nearest marks with the distances; the right mark has a blue frame")

# %%
# How far is far?
# ---------------
#
# The distances of copies, of twins and of unrelated marks differ. A histogram like this one for your own images helps
# to choose a radius.

copies, _ = datasets.random_affine(images, maps, rng=2)
table = radoncdt.affine_distances(copies, images)
other = np.ones_like(table, dtype=bool)
np.fill_diagonal(other, False)
firsts = np.flatnonzero(marks.twins >= 0)
other[firsts, marks.twins[firsts]] = False
groups = {"a mark and its copy": np.diag(table), "twins": table[firsts, marks.twins[firsts]], "others": table[other]}

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for (name, values), colour in zip(groups.items(), ("#0072b2", "#d55e00", "#009e73")):
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
    print(f"{name:20} median {middle:.3f}, 90 % of the pairs from {low:.3f} to {high:.3f}")
    bins = np.linspace(0, 0.3, 61)
    ax.hist(values, bins, weights=np.full(len(values), 1 / len(values)), color=colour, alpha=0.7, label=name)
ax.set(xlabel="distance", ylabel="share of the pairs", title="Distances of marks that are moved by affine maps")
ax.legend(frameon=False)
plt.show()

"""
Transport morphing
==================

:func:`radoncdt.interpolate` transforms one image into another by moving its mass instead of cross-fading.

It interpolates the quantile functions of all projections and computes the image by filtered back projection. In each
direction, this is the geodesic of optimal transport on the line.
"""

# %%
# Two filled shapes
# -----------------
#
# A square on the left becomes a triangle on the right. At every time there is one shape.

import matplotlib.pyplot as plt
import numpy as np

import radoncdt
from radoncdt import datasets

size = 96
square, triangle = np.zeros((2, size, size))
square[34:62, 8:36] = 1
for row in range(40):
    triangle[28 + row, 68 - row // 2 : 69 + row // 2] = 1

times = np.linspace(0, 1, 6)
moved = radoncdt.interpolate(square, triangle, times)
faded = [(1 - t) * square + t * triangle for t in times]

figure, axes = plt.subplots(2, 6, figsize=(11, 4), layout="constrained")
for row, images, title in zip(axes, (moved, faded), ("interpolate", "cross-fade")):
    row[0].set_ylabel(title)
    for ax, image in zip(row, images):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
for ax, t in zip(axes[0], times):
    ax.set_title(f"t = {t:.1f}")

# %%
# Two drawings
# ------------
#
# The interpolation does not match the parts of a drawing. It treats every direction separately, so thin lines of two
# different drawings are blurred in between.

symbols = datasets.templates(["shield-circle", "square-star8"], size=128, canvas=136, line_width=5)
drawings = radoncdt.interpolate(*symbols.values(), times)
figure, axes = plt.subplots(1, 6, figsize=(11, 2.3), layout="constrained")
for ax, image, t in zip(axes, drawings, times):
    ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[], title=f"t = {t:.1f}")

# %%
# How far is it?
# --------------
#
# The sliced Wasserstein distance to the first image grows almost linearly in t, as on a geodesic. The Euclidean
# distance of the pixels hardly grows once the shapes no longer overlap.

fine = np.linspace(0, 1, 21)
path = radoncdt.interpolate(square, triangle, fine)
unit = path / path.sum(axis=(1, 2), keepdims=True)
sliced = radoncdt.sliced_wasserstein_distances(unit[:1], unit)[0]
euclidean = np.linalg.norm(unit - unit[0], axis=(1, 2))
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(fine, sliced / sliced[-1], color="#0072b2", marker="o", markersize=4, label="sliced Wasserstein")
ax.plot(fine, euclidean / euclidean[-1], color="#d55e00", marker="s", markersize=4, label="Euclidean, pixels")
ax.set(xlabel="time t", ylabel="distance to t = 0, relative to t = 1", title="Along the morphing")
ax.legend(frameon=False)
plt.show()

"""
Distances between point clouds
==============================

Point clouds are measures, too: they have transforms, transport distances and affine maps between them.

A :class:`radoncdt.PointCloud` has points and weights. All functions accept clouds wherever they accept images.
"""

# %%
# Clouds of three kinds
# ---------------------
#
# We draw points on rings, crosses and spirals, with random positions and a random number of points.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

import radoncdt
from radoncdt import plot

rng = np.random.default_rng(0)
kinds, clouds = [], []
for kind in ("ring", "cross", "spiral") * 12:
    u = rng.random(rng.integers(80, 160))
    if kind == "ring":
        points = np.stack([np.cos(2 * np.pi * u), np.sin(2 * np.pi * u)], axis=1)
    elif kind == "cross":
        arm = np.where(rng.random(len(u)) < 0.5, 0, 1)[:, None]
        points = (2 * u - 1)[:, None] * np.concatenate([1 - arm, arm], axis=1)
    else:
        points = u[:, None] * np.stack([np.cos(4 * np.pi * u), np.sin(4 * np.pi * u)], axis=1)
    clouds.append(radoncdt.PointCloud(10 * points + rng.normal(scale=0.4, size=points.shape)))
    kinds.append(kind)
kinds = np.array(kinds)

figure, axes = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained", sharex=True, sharey=True)
for ax, cloud, kind in zip(axes, clouds, kinds):
    plot.measure(cloud, ax=ax).set(title=f"{kind}, {len(cloud)} points", xlabel="x")
axes[0].set_ylabel("y")

# %%
# Transport distances
# -------------------
#
# :func:`radoncdt.sliced_wasserstein_distances` compares all pairs, whatever their numbers of points. Classical
# multidimensional scaling places the clouds on a plane, so that their distances there are close to those of the table.

COLOURS = {"ring": "#0072b2", "cross": "#d55e00", "spiral": "#009e73"}
MARKERS = {"ring": "o", "cross": "X", "spiral": "^"}
table = radoncdt.sliced_wasserstein_distances(clouds)
print(table.shape, "symmetric:", np.allclose(table, table.T))

# %%
# Then we move every cloud by its own affine map. The transport distances now see the maps, whereas
# :func:`radoncdt.affine_distances` ignores them.

moved = [radoncdt.push_forward(c, rng.normal(size=(2, 2)), rng.normal(size=2) * 10) for c in clouds]
tables = {
    "sliced Wasserstein,\nclouds as drawn": table,
    "sliced Wasserstein,\nmoved by affine maps": radoncdt.sliced_wasserstein_distances(moved),
    "affine distance,\nmoved by affine maps": radoncdt.affine_distances(moved),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 4.6), layout="constrained")
for ax, (title, distances) in zip(axes, tables.items()):
    np.fill_diagonal(distances, np.inf)
    nearest = kinds[distances.argmin(axis=1)]
    np.fill_diagonal(distances, 0)
    squares = distances**2
    centred = squares.mean(axis=0) + squares.mean(axis=1)[:, None] - squares - squares.mean()
    values, vectors = np.linalg.eigh(centred / 2)
    places = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    for kind in COLOURS:
        ax.scatter(*places[kinds == kind].T, color=COLOURS[kind], marker=MARKERS[kind], label=kind)
    side = 1.15 * np.abs(places).max()
    ax.set(title=title, aspect="equal", xlim=(-side, side), ylim=(-side, side))
    ax.set_xlabel(f"nearest of the same kind: {np.mean(nearest == kinds):.0%}")
figure.legend(*axes[0].get_legend_handles_labels(), frameon=False, ncols=3, loc="outside lower center")
plt.show()

"""
Pools compared
==============

The maximum keeps one number per level; other pools over the circle keep more and distinguish more shapes.

Along whitened directions, an affine map only rotates or reverses the circle. Every functional that ignores where the
circle begins and which way it runs is then invariant.
"""

# %%
# From the circle to features
# ---------------------------
#
# At one level, the transform is a function on the circle. The maximum keeps its largest value, the pool "sorted" its
# order statistics, and the pool "fourier" the magnitudes of its lowest frequencies.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

import radoncdt
from radoncdt import datasets

images, labels, _ = datasets.lin_mnist(range(10), 30, rng=0, canvas=72)
n_angles, level = 64, 50
half = radoncdt.nrcdt(images[120], n_angles=n_angles, directions="whitened")
circle = np.concatenate([half, -half[:, ::-1]])[:, level]
magnitudes = radoncdt.pooled_nrcdt(images[120], pool="fourier", n_angles=n_angles, n_components=12)

figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
axes[0].imshow(images[120], cmap="gray_r")
axes[0].set(title="a digit", xticks=[], yticks=[])
axes[1].plot(np.arange(2 * n_angles) * 180 / n_angles, circle, color="#0072b2")
axes[1].axhline(circle.max(), color="#d55e00", linestyle="--")
axes[1].set(title="one level, and its maximum", xlabel="angle in degrees", ylabel="normalised quantile")
axes[1].set_xticks([0, 90, 180, 270, 360])
axes[2].plot(np.sort(circle), color="#0072b2")
axes[2].set(title="sorted", xlabel="rank", ylabel="normalised quantile")
axes[3].bar(range(12), magnitudes.reshape(12, -1)[:, level], color="#0072b2")
axes[3].set(title="fourier", xlabel="frequency", ylabel="magnitude", xticks=range(0, 12, 2))

# %%
# How invariant they are
# ----------------------
#
# We move a symbol by random affine maps, and compare the change of the features with their norm, for more and more
# directions.

symbol = datasets.templates(["square-star4"], size=128, canvas=256)["square-star4"]
maps = datasets.AffineDistribution(scale=(0.7, 1.2), isotropic=False, mirror=True, rotation=180, shear=20)
copies, _ = datasets.random_affine(np.stack([symbol] * 20), maps, rng=0)
numbers = [4, 8, 16, 32, 64, 128]
styles = {"max": ("#0072b2", "o"), "mean": ("#d55e00", "s"), "sorted": ("#009e73", "^"), "fourier": ("#cc79a7", "X")}

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for pool, (colour, marker) in styles.items():
    errors = []
    for n in numbers:
        first, *others = radoncdt.pooled_nrcdt([symbol, *copies], pool=pool, directions="whitened", n_angles=n)
        errors.append(np.mean([np.linalg.norm(other - first) for other in others]) / np.linalg.norm(first))
    ax.loglog(numbers, errors, color=colour, marker=marker, label=pool)
ax.set(xlabel="directions", ylabel="mean relative change", title="Change of the features under affine maps")
ax.set_xticks(numbers, numbers)
ax.minorticks_off()
ax.legend(frameon=False)

# %%
# How well they classify
# ----------------------
#
# A nearest-neighbour classifier recognises ten handwritten digits, with ten examples of each.

train = np.tile(np.arange(30) < 10, 10)
for pool in styles:
    model = radoncdt.NormalizedRadonCDT(pool=pool, directions="whitened", n_angles=32)
    features = model.fit_transform(images)
    accuracy = KNeighborsClassifier(1).fit(features[train], labels[train]).score(features[~train], labels[~train])
    print(f"{pool:8} {features.shape[1]:4} features, accuracy {accuracy:.3f}")
plt.show()

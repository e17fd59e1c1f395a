r"""
Specks and robust moments
=========================

A few specks far from a shape change its normalisation; robust moments make the features insensitive to them.

The NR-CDT subtracts the mean and divides by the standard deviation. Both depend strongly on distant mass. With
``moments="robust"``, the location and the scatter of a Student t distribution replace them. These follow affine maps in
the same way, so the features remain invariant. ``trim`` omits the outermost levels, to which the specks belong.
"""

# %%
# A clean and a dirty image
# -------------------------
#
# The whitened images show how the image is normalised. With exact moments, the specks enlarge the covariance, so the
# shape becomes smaller. With robust moments it keeps its size.

import matplotlib.pyplot as plt
import numpy as np

import radoncdt
from radoncdt import datasets

clean = datasets.templates(["shield-triangle"], size=128, canvas=256)["shield-triangle"]
dirty = datasets.salt(clean[None], rng=2, dots=(9, 9), diameter=(5, 5))[0]

figure, axes = plt.subplots(2, 3, figsize=(8, 5.4), layout="constrained")
for row, image, title in zip(axes, (clean, dirty), ("clean", "with specks")):
    row[0].imshow(image, cmap="gray_r")
    row[0].set_ylabel(title)
    for ax, moments in zip(row[1:], ("exact", "robust")):
        frame = radoncdt.WhitenedImages(frame_size=64, moments=moments).fit_transform([image])
        ax.imshow(frame.reshape(64, 64), cmap="gray_r")
for ax, title in zip(axes[0], ("image", "whitened, exact moments", "whitened, robust moments")):
    ax.set_title(title)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])

# %%
# The features
# ------------

settings = {"exact": {}, "robust": {"moments": "robust", "trim": 1 / 16}}
levels = radoncdt.quantile_levels(64)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, (name, options) in zip(axes, settings.items()):
    curves = radoncdt.max_nrcdt([clean, dirty], **options)
    kept = levels[(levels >= options.get("trim", 0)) & (levels <= 1 - options.get("trim", 0))]
    ax.plot(kept, curves[0], color="#0072b2", linewidth=2, label="clean")
    ax.plot(kept, curves[1], color="#d55e00", linewidth=2, linestyle="--", label="with specks")
    ax.set(xlabel="level t", title=f"{name} moments: largest difference {np.abs(np.subtract(*curves)).max():.2f}")
    ax.legend(frameon=False)
axes[0].set_ylabel("mNR-CDT")

# %%
# Recognition under more and more specks
# --------------------------------------
#
# We classify affine copies of twelve symbols by the nearest symbol, while the number of specks grows.

symbols = np.stack(list(datasets.templates(size=128, canvas=192).values()))
labels = np.tile(np.arange(len(symbols)), 5)
maps = datasets.AffineDistribution(scale=(0.7, 1.1), rotation=180, shear=15, shift=5)
copies, _ = datasets.random_affine(symbols[labels], maps, rng=3)

numbers = range(0, 13, 2)
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for (name, options), colour, marker in zip(settings.items(), ("#0072b2", "#d55e00"), "os"):
    model = radoncdt.AffineNeighborsClassifier(1, **options).fit(symbols, np.arange(len(symbols)))
    accuracies = [model.score(datasets.salt(copies, rng=4, dots=(n, n)), labels) for n in numbers]
    print(f"{name:6}", " ".join(f"{accuracy:.3f}" for accuracy in accuracies))
    ax.plot(numbers, accuracies, color=colour, marker=marker, label=f"{name} moments")
ax.axhline(1 / len(symbols), color="black", linewidth=0.8, linestyle=":", label="chance")
ax.set(xlabel="specks per image", ylabel="accuracy", ylim=(0, 1.05), title="Twelve symbols, one example of each")
ax.legend(frameon=False)
plt.show()

"""
Recognise shapes from one example
=================================

One image per class is enough if the images of a class differ only by affine maps.

The max-normalised Radon cumulative distribution transform (mNR-CDT) turns an image into a curve. Shifting, rotating,
scaling, shearing or mirroring the image does not change the curve, so the nearest curve identifies the shape.
"""

# %%
# Four shapes and their copies
# ----------------------------
#
# :func:`radoncdt.datasets.templates` draws symbols. :func:`radoncdt.datasets.random_affine` moves every image by a
# random affine map of its own.

import matplotlib.pyplot as plt
import numpy as np

import radoncdt
from radoncdt import datasets, plot

plt.style.use("seaborn-v0_8-colorblind")
names = np.array(["circle-star8", "shield-triangle", "square-star4", "triangle-star1"])
templates = np.stack(list(datasets.templates(names, size=128, canvas=192).values()))

n_copies = 30
labels = np.repeat(names, n_copies)
maps = datasets.AffineDistribution(scale=(0.6, 1.1), isotropic=False, mirror=True, rotation=180, shear=20, shift=10)
copies, _ = datasets.random_affine(np.repeat(templates, n_copies, axis=0), maps, rng=0)

figure, axes = plt.subplots(4, 6, figsize=(8, 5.6), layout="constrained")
for k, row in enumerate(axes):
    for ax, image in zip(row, [templates[k], *copies[labels == names[k]]]):
        ax.imshow(image, cmap="gray_r")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set(color=f"C{k}", linewidth=3 if ax is row[0] else 0.8)
    row[0].set_ylabel(names[k], color=f"C{k}")
axes[0, 0].set_title("the example")
axes[0, 3].set_title("some of its copies")

# %%
# The nearest example
# -------------------
#
# Every copy takes the class of the nearest example. We compare three kinds of features: the pixels, the Radon
# cumulative distribution transform (R-CDT), which is not invariant, and the mNR-CDT.

features = {
    "pixels": lambda images: images,
    "R-CDT": radoncdt.rcdt,
    "mNR-CDT": radoncdt.max_nrcdt,
}
for name, transform in features.items():
    examples, queries = (transform(images).reshape(len(images), -1) for images in (templates, copies))
    distances = np.linalg.norm(queries[:, None] - examples, axis=2)
    accuracy = np.mean(names[distances.argmin(axis=1)] == labels)
    print(f"{name:8} {accuracy:.3f}")

# %%
# The curves
# ----------
#
# The broad line is the curve of the example, and the thin lines are the curves of its copies. These nearly coincide,
# whereas the curves of different shapes differ clearly.

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
plot.pooled(radoncdt.max_nrcdt(copies), labels, templates=radoncdt.max_nrcdt(templates), template_labels=names, ax=ax)
ax.set_title("mNR-CDT of the examples and of all copies")
plt.show()

"""
Digits from a few examples
==========================

A scikit-learn pipeline and a classifier for few examples learn to recognise handwritten digits.

The digits are those of MNIST, and every image is moved by its own random affine map. Handwritten digits also differ by
more than affine maps, so this task is harder than the recognition of drawn symbols.
"""

# %%
# The images
# ----------
#
# :func:`radoncdt.datasets.lin_mnist` moves the first images of each digit. We use five examples of each digit for
# training and twenty others for testing.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import radoncdt
from radoncdt import datasets, plot

n_train, n_test = 5, 20
images, labels, _ = datasets.lin_mnist(range(10), n_train + n_test, rng=0, canvas=72)
train = np.tile(np.arange(n_train + n_test) < n_train, 10)

figure, axes = plt.subplots(2, 10, figsize=(11, 2.6), layout="constrained")
for digit in range(10):
    for ax, image in zip(axes[:, digit], images[labels == digit]):
        ax.imshow(image, cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    axes[0, digit].set_title(digit)

# %%
# A pipeline and a grid search
# ----------------------------
#
# :class:`radoncdt.NormalizedRadonCDT` is a transformer of scikit-learn. The grid search compares pools and penalties
# by cross-validation on the 50 training images.

pipeline = make_pipeline(radoncdt.NormalizedRadonCDT(n_angles=32), SVC(kernel="linear"))
grid = {"normalizedradoncdt__pool": ["max", "mean", "fourier"], "svc__C": [1, 10]}
search = GridSearchCV(pipeline, grid, cv=n_train).fit(images[train], labels[train])
print(search.best_params_)

# %%
# A classifier for few examples
# -----------------------------
#
# :class:`radoncdt.FewShotClassifier` registers an image with the examples, compares the pixels, and lets the most
# similar examples vote. It chooses its parameters on the training images.

few_shot = radoncdt.FewShotClassifier().fit(images[train], labels[train])
pixels = KNeighborsClassifier(1).fit(images[train].reshape(train.sum(), -1), labels[train])
probabilities, _ = few_shot.predict_with_evidence(images[~train])
predicted = few_shot.classes_[probabilities.argmax(axis=1)]
print(f"pixels, nearest neighbour   {pixels.score(images[~train].reshape((~train).sum(), -1), labels[~train]):.3f}")
print(f"pipeline of the grid search {search.score(images[~train], labels[~train]):.3f}")
print(f"FewShotClassifier           {np.mean(predicted == labels[~train]):.3f}")

# %%
# Which examples decided?
# -----------------------
#
# ``explain`` returns the examples that contributed most to a decision, with the maps to them. We show four predictions,
# from the least certain to the most certain one.

certainty = probabilities.max(axis=1).argsort()
figure, axes = plt.subplots(2, 4, figsize=(11, 6), layout="constrained")
for (above, below), k in zip(axes.T, certainty[[0, 40, 120, -1]]):
    image, digit = images[~train][k], labels[~train][k]
    evidence = few_shot.explain(image)[0]
    plot.measure(image, ax=above).set(title=f"a {digit}, read as {predicted[k]}", xticks=[], yticks=[])
    plot.overlay(image, images[train][evidence.example], evidence.registration, ax=below)
    below.set(title=f"over an example of {evidence.label}\n{evidence.share:.0%} of the votes", xticks=[], yticks=[])
    below.set(xlim=(-36, 36), ylim=(-36, 36))
    below.get_legend().remove()
axes[0, 0].set_ylabel("image")
axes[1, 0].set_ylabel("image (orange), example (blue)")
plt.show()

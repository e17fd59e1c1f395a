r"""
Whitening turns affine maps into rotations
==========================================

Whitened copies of a shape differ only by a rotation or a reflection, and so do their transforms.

Let m and Σ be the mean and the covariance of a measure. The whitened measure :math:`\Sigma^{-1/2}(\mu - m)` has mean 0
and covariance 1. If ν is an affine copy of μ, then the whitened measure of ν is a rotated, or rotated and mirrored,
copy of the whitened measure of μ.
"""

# %%
# Three copies of one drawing
# ---------------------------
#
# :class:`radoncdt.WhitenedImages` computes images of the whitened measures.

import matplotlib.pyplot as plt
import numpy as np

import radoncdt
from radoncdt import datasets, plot

image = datasets.watermarks(12)[1].image()
matrices = [np.eye(2), [[1.0, 0.7], [0.0, 0.5]], [[0.3, -0.8], [0.9, 0.2]], [[-0.6, 0.3], [0.4, 1.0]]]
copies = [radoncdt.push_forward(image, matrix, shape=(270, 270)) for matrix in matrices]
whitened = radoncdt.WhitenedImages(frame_size=96).fit_transform(copies).reshape(-1, 96, 96)

figure, axes = plt.subplots(2, 4, figsize=(10, 5), layout="constrained")
for k, (above, below) in enumerate(axes.T):
    plot.measure(copies[k], ax=above).set(title=f"copy {k}" if k else "drawing", xticks=[], yticks=[])
    below.imshow(whitened[k], cmap="gray_r")
    below.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("as it is")
axes[1, 0].set_ylabel("whitened")

# %%
# Along the circle
# ----------------
#
# With ``directions="whitened"``, :func:`radoncdt.nrcdt` takes equispaced directions of the whitened measure. An affine
# map then shifts the transform along the circle, and reverses it if it mirrors. With equispaced directions of the
# image, it also stretches some parts of the circle and compresses others.

n_angles, level = 180, 57
angles = np.arange(0, 360, 360 / (2 * n_angles))
figure, axes = plt.subplots(2, 1, figsize=(9, 6), layout="constrained", sharex=True)
for ax, directions in zip(axes, ("equispaced", "whitened")):
    for k, colour in zip((0, 1, 2), ("#0072b2", "#d55e00", "#009e73")):
        half = radoncdt.nrcdt(copies[k], n_angles=n_angles, directions=directions)
        circle = np.concatenate([half, -half[:, ::-1]])  # the opposite directions
        ax.plot(angles, circle[:, level], color=colour, linewidth=1.8, label=f"copy {k}" if k else "drawing")
    ax.set(ylabel="normalised quantile", title=f'directions="{directions}"', xticks=range(0, 361, 45))
axes[1].set_xlabel("angle in degrees")
axes[0].set_ylim(1.15, 1.8)
axes[0].legend(frameon=False, ncols=3, loc="upper center")

# %%
# Undo the rotation
# -----------------
#
# We try all shifts along the circle, forwards and backwards. At the best shift, the transforms of the whitened copies
# agree. Without whitening, no shift makes them agree.

for directions in ("equispaced", "whitened"):
    halves = radoncdt.nrcdt(copies, n_angles=n_angles, directions=directions)
    circles = np.concatenate([halves, -halves[..., ::-1]], axis=1)
    for k in (1, 2, 3):
        turns = [np.roll(c, s, axis=0) for c in (circles[k], circles[k][::-1]) for s in range(2 * n_angles)]
        smallest = min(np.sqrt(np.mean((turn - circles[0]) ** 2)) for turn in turns)
        print(f"{directions:10} copy {k}: root mean square difference {smallest:.3f}")

# %%
# :func:`radoncdt.affine_distances` does this for many images, with Fourier transforms.

print(radoncdt.affine_distances(copies[:1], copies[1:]).round(3))
plt.show()

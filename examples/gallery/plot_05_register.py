"""
Register two images
===================

:func:`radoncdt.register` finds the affine map from one image to another without corresponding points.

Once both images are whitened, they differ only by a rotation or a reflection, which maximises the correlation of the
two transforms along the circle. The map is then refined on the grey values.
"""

# %%
# A drawing and its copy
# ----------------------
#
# The copy is mirrored, sheared, rotated and shifted.

import warnings

import matplotlib.pyplot as plt
import numpy as np

import radoncdt
from radoncdt import datasets, plot

moving = datasets.watermarks(40)[3].image()
matrix, shift = np.array([[-0.5, 0.6], [0.7, 0.4]]), np.array([12, -8])
fixed = radoncdt.push_forward(moving, matrix, shift, shape=(240, 300))

found = radoncdt.register(moving, fixed)
print(found)
print(f"largest error of the matrix: {np.abs(found.matrix - matrix).max():.6f}")
print(f"largest error of the shift: {np.abs(found.shift - shift).max():.6f} pixels")

# %%
# The overlay
# -----------
#
# :func:`radoncdt.plot.overlay` moves the first image, in orange, onto the second one, in blue. Where both have ink, the
# picture is dark.

figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
plot.measure(moving, ax=axes[0]).set(title="moving")
plot.measure(fixed, ax=axes[1]).set(title="fixed")
plot.overlay(moving, fixed, found, ax=axes[2]).set(title="moving over fixed")
for ax in axes:
    ax.set(xlim=(-110, 110), ylim=(-110, 110))

# %%
# Points follow the map
# ---------------------
#
# ``found.apply`` moves points, clouds and images, and ``found.inverse()`` is the map in the opposite direction.

corners = np.array([(-60, 60), (60, 60), (60, -60), (-60, -60)])
there = found.apply(corners)
print(there.round(1))
print("there and back:", np.allclose(found.inverse().apply(there), corners))

# %%
# Copies that are bent and have specks
# ------------------------------------
#
# Specks far from the shape change its mean and its covariance. Robust moments and a trim make the registration
# insensitive to them. With exact moments the map is wrong: ``credible`` is false, and ``register`` warns, which we
# suppress here.

bent = datasets.elastic(fixed[None] / fixed.max(), rng=2, amplitude=(2, 3))
dirty = datasets.salt(bent, rng=1, dots=(20, 20), diameter=(5, 5))[0]
robust = radoncdt.DescriptorSettings(moments="robust", trim=1 / 16)
figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
for ax, settings, title in zip(axes, (None, robust), ("exact moments", "robust moments and a trim")):
    with warnings.catch_warnings(action="ignore"):
        registration = radoncdt.register(moving, dirty, settings=settings)
    plot.overlay(moving, dirty, registration, ax=ax).set_title(f"{title}: distance {registration.distance:.3f}")
    ax.set(xlim=(-150, 150), ylim=(-120, 120))
    print(f"{title}: credible {registration.credible}")
plt.show()

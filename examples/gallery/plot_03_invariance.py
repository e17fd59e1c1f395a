r"""
Why the maximum does not change
===============================

An affine map only rearranges the projections of an image along the circle, so their maximum stays the same.

Let ν be the measure μ moved by :math:`x \mapsto Ax + y`. Proposition 5 of the paper says that the normalised quantile
functions satisfy :math:`N_\theta[\nu] = N_\eta[\mu]` with :math:`\eta = A^\top\theta / \lVert A^\top\theta \rVert`. The
shift y disappears, and the matrix A moves the directions.
"""

# %%
# A shape and its copy
# --------------------

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np

import radoncdt
from radoncdt import datasets, plot

image = datasets.templates(["triangle-star4"], size=128)["triangle-star4"]
matrix, shift = np.array([[1.3, 0.5], [0.1, 0.7]]), [6, -4]
moved = radoncdt.push_forward(image, matrix, shift, shape=(160, 200))

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
plot.measure(image, ax=left).set(title="μ", xlabel="x in pixels", ylabel="y in pixels")
plot.measure(moved, ax=right).set(title="ν, a copy of μ", xlabel="x in pixels")

# %%
# One level, all directions
# -------------------------
#
# The plots show one level, t ≈ 0.9, around the full circle. Both curves take the same values in the same order, but at
# different angles. Their maxima are equal, up to the error of the pixels and of 360 directions.

angles = np.deg2rad(np.arange(360))
levels = radoncdt.quantile_levels(64)
level = np.abs(levels - 0.9).argmin()
first, second = (radoncdt.nrcdt(measure, angles=angles)[:, level] for measure in (image, moved))
print(f"maxima {first.max():.3f} and {second.max():.3f}")
print(f"means  {first.mean():.3f} and {second.mean():.3f}")

directions = np.stack([np.cos(angles), np.sin(angles)])
eta = matrix.T @ directions
eta_angles = np.rad2deg(np.arctan2(eta[1], eta[0])) % 360
order = eta_angles.argsort()

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
left.plot(np.rad2deg(angles), first, color="#0072b2", linewidth=2, label="μ")
left.plot(np.rad2deg(angles), second, color="#d55e00", linewidth=2, linestyle="--", label="ν")
left.axhline(first.max(), color="black", linewidth=0.8, linestyle=":")
left.set(xlabel="angle ϑ in degrees", ylabel=f"$N_\\theta(t)$ at t = {levels[level]:.2f}", title="Over the angle of θ")
right.plot(np.rad2deg(angles), first, color="#0072b2", linewidth=2, label="μ over θ")
right.plot(eta_angles[order], second[order], color="#d55e00", linewidth=2, linestyle="--", label="ν over η")
right.axhline(first.max(), color="black", linewidth=0.8, linestyle=":")
right.set(xlabel="angle in degrees", title="With the angles of ν moved to η")
for ax in (left, right):
    ax.set_xticks([0, 90, 180, 270, 360])
    ax.legend(frameon=False, loc=(0.52, 0.02))

# %%
# All levels
# ----------
#
# The same holds for all levels. The maximum does not depend on the density of the directions. The mean does, so it
# changes more.

for pool in ("max", "mean"):
    curves = radoncdt.pooled_nrcdt([image, moved], pool=pool, directions="equispaced")
    print(f"{pool:4} over θ: largest difference {np.abs(np.subtract(*curves)).max():.3f}")
plt.show()

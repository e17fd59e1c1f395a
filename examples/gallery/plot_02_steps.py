"""
Every step of the transform
===========================

An image becomes a curve in four steps, and each step is one function.

The steps are projections, quantile functions, a normalisation, and a maximum over all directions. This example applies
them to one drawing.
"""

# %%
# The image is a measure
# ----------------------
#
# A pixel is a unit square, and its value is the mass in it. Coordinates are in pixels from the centre of the image,
# with x to the right and y up.

# sphinx_gallery_thumbnail_number = 4
import matplotlib.pyplot as plt
import numpy as np

import radoncdt
from radoncdt import datasets, plot

image = datasets.templates(["shield-square"], size=128)["shield-square"]
print(f"mass {radoncdt.mass(image):.1f}, centre {radoncdt.mean(image).round(2)}")

figure, ax = plt.subplots(figsize=(4.5, 4), layout="constrained")
plot.measure(image, ax=ax).set(title="the measure μ", xlabel="x in pixels", ylabel="y in pixels")

# %%
# Projections
# -----------
#
# :func:`radoncdt.radon` projects the measure on the directions θ = (cos ϑ, sin ϑ). The result is the mass between two
# neighbouring edges, so every projection has the mass of the image.

masses, edges = radoncdt.radon(image, n_angles=180)
print("masses", masses.shape, "edges", edges.shape)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot.sinogram(image, ax=left)
for angle, colour in ((0, "#0072b2"), (60, "#d55e00")):
    right.stairs(masses[angle] / np.diff(edges[angle]), edges[angle], color=colour, label=f"ϑ = {angle}°")
right.set(xlabel="⟨x, θ⟩ in pixels", ylabel="mass per pixel", title="Two projections", xlim=(-80, 80))
right.legend(frameon=False)

# %%
# Quantile functions and their normalisation
# ------------------------------------------
#
# :func:`radoncdt.rcdt` replaces every projection by its quantile function. Its value at the level t = 0.25 is the
# position to the left of which lies a quarter of the mass. :func:`radoncdt.nrcdt` subtracts the mean in each direction
# and divides by the standard deviation. This removes the position and the size of the shape.

levels = radoncdt.quantile_levels(64)
quantiles = radoncdt.rcdt(image, n_angles=180)
normalised = radoncdt.nrcdt(image, n_angles=180)
print("R-CDT", quantiles.shape, "NR-CDT", normalised.shape)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for angle, colour in ((0, "#0072b2"), (60, "#d55e00")):
    left.plot(levels, quantiles[angle], color=colour, label=f"ϑ = {angle}°")
    right.plot(levels, normalised[angle], color=colour, label=f"ϑ = {angle}°")
left.set(xlabel="level t", ylabel="quantile in pixels", title="R-CDT")
right.set(xlabel="level t", ylabel="normalised quantile", title="NR-CDT")
left.legend(frameon=False)

# %%
# The maximum over all directions
# -------------------------------
#
# :func:`radoncdt.max_nrcdt` takes the maximum over the full circle at each level. The result is the mNR-CDT, one number
# per level. :func:`radoncdt.plot.pipeline` draws all steps in one figure.

print("mNR-CDT", radoncdt.max_nrcdt(image).shape)
figure, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
plot.pipeline(image, axes=axes)
plt.show()

"""
Lazy features with Dask
=======================

Transforms of a Dask array are lazy: they are computed block by block, when their values are needed.

So images that do not fit into memory, or that lie on the computers of a cluster, have features in the same way as a
NumPy array has them.
"""

# %%
# A lazy collection
# -----------------
#
# Every block of this array is made by a function, as it would be read from files. Nothing is drawn yet.

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask import delayed

import radoncdt
from radoncdt import datasets

symbols = np.stack(list(datasets.templates(size=64, canvas=96, line_width=3).values()))
labels = np.arange(len(symbols)).repeat(20)
maps = datasets.AffineDistribution(scale=(0.6, 1.0), rotation=180, shear=15, shift=4)

blocks = [
    da.from_delayed(
        delayed(datasets.random_affine)(symbols[labels[k : k + 40]], maps, k)[0], shape=(40, 96, 96), dtype=np.float32
    )
    for k in range(0, len(labels), 40)
]
images = da.concatenate(blocks)
print(images)

# %%
# Lazy features
# -------------
#
# The transform returns a Dask array with the same blocks along the first axis.

features = radoncdt.max_nrcdt(images, n_angles=64)
print(features)

# %%
# Compute them
# ------------
#
# ``compute`` starts the work, here in threads; a client of ``dask.distributed`` would send it to a cluster. The values
# are those of the transform of the whole array, bit for bit.

with dask.config.set(scheduler="threads"):
    computed = features.compute()
    same = radoncdt.max_nrcdt(images.compute(), n_angles=64)
print("equal:", np.array_equal(computed, same))

# %%
# Only the blocks that a result needs are computed. The first three rows need one block of six.

tasks = {"all rows": features, "three rows": features[:3]}
for name, rows in tasks.items():
    optimised = rows.__dask_optimize__(rows.dask, rows.__dask_keys__())
    print(f"{name}: {len(optimised)} tasks")

# %%
# Reductions stay lazy, too
# -------------------------
#
# Means and standard deviations over the copies of each symbol, and the largest deviation of a copy, take one pass over
# the images.

groups = features.reshape(len(symbols), 20, features.shape[1])
means, spreads = da.compute(groups.mean(axis=1), groups.std(axis=1))

levels = radoncdt.quantile_levels(features.shape[1])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for mean, spread in zip(means, spreads):
    left.plot(levels, mean - means.mean(axis=0), color="#0072b2", alpha=0.7)
    right.plot(levels, spread, color="#d55e00", alpha=0.7)
left.set(title="Means of twelve symbols", ylabel="difference from the mean of all")
right.set(title="Standard deviations of their copies", ylabel="standard deviation")
for ax in (left, right):
    ax.set(xlabel="level t", ylim=(-0.6, 0.6))
    ax.axhline(0, color="black", linewidth=0.8)
plt.show()

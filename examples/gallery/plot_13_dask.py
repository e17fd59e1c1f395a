"""
Lazy features with Dask
=======================

Transforms of a Dask array are lazy: they are computed block by block, when their values are needed.

Therefore the transforms also work for images that do not fit into memory or that are distributed over the machines of
a cluster.
"""

# %%
# A lazy collection
# -----------------
#
# A function draws every block of this array; in practice, it would read the block from files. A list keeps track of the
# blocks that are drawn. So far, none is drawn.

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask import delayed

import radoncdt
from radoncdt import datasets

symbols = np.stack(list(datasets.templates(size=64, canvas=96, line_width=3).values()))
labels = np.arange(len(symbols)).repeat(20)
maps = datasets.AffineDistribution(scale=(0.6, 1.0), rotation=180, shear=15, shift=4)
drawn = []


def draw_block(start):
    """Draw copies of 40 symbols."""
    drawn.append(start)
    return datasets.random_affine(symbols[labels[start : start + 40]], maps, rng=start)[0]


starts = range(0, len(labels), 40)
images = da.concatenate([da.from_delayed(delayed(draw_block)(s), (40, 96, 96), np.float32) for s in starts])
print(images)

# %%
# Lazy features
# -------------
#
# The transform returns a Dask array with the same blocks along the first axis.

features = radoncdt.max_nrcdt(images, n_angles=64)
print(features)
print("blocks drawn:", drawn)

# %%
# Compute some of them
# --------------------
#
# ``compute`` starts the work, here in threads; a client of ``dask.distributed`` would send it to a cluster. Only the
# blocks that the result needs are drawn.

some = features[50:53].compute()
print(some.shape, "blocks drawn:", drawn)

# %%
# The values are those of the transform of the whole array, bit for bit.

print("equal:", np.array_equal(features.compute(), radoncdt.max_nrcdt(images.compute(), n_angles=64)))

# %%
# Reductions stay lazy, too
# -------------------------
#
# Means and standard deviations over the copies of each symbol take one pass over the images. The copies of a symbol
# have nearly equal features, whereas different symbols have different ones.

groups = features.reshape(len(symbols), 20, features.shape[1])
means, within = da.compute(groups.mean(axis=1), groups.std(axis=1))
between = means.std(axis=0)

levels = radoncdt.quantile_levels(features.shape[1])
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.semilogy(levels, between, color="#0072b2", linewidth=2.5, label="between the symbols")
ax.semilogy(levels, within.T, color="#d55e00", linewidth=0.8, alpha=0.7)
ax.plot([], [], color="#d55e00", label="between the copies of one symbol, for all twelve")
ax.set(xlabel="level t", ylabel="standard deviation", ylim=(1e-4, 2), title="Spread of the features")
ax.legend(frameon=False, loc="upper center")
plt.show()

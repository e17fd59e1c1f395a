"""
Find characters of one font in another
======================================

One example of each letter, in one font, is enough to recognise most letters of other fonts.

Letters of two fonts differ by more than affine maps: strokes are broader, or have serifs.
:class:`radoncdt.FewShotClassifier` allows for small distortions after the registration.
"""

# %%
# The letters
# -----------
#
# :func:`radoncdt.datasets.list_fonts` lists, among others, the fonts that matplotlib carries.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay

import radoncdt
from radoncdt import datasets, plot

letters = list("ABCDEFGHJKLMNPQRSTUVWXYZ")
fonts = {font.name: font for font in datasets.list_fonts(system=False)}
chosen = ["DejaVu Sans Book", "DejaVu Sans Bold Oblique", "DejaVu Serif Book", "STIXGeneral Regular"]
glyphs = {name: datasets.glyphs(fonts[name], letters, size=48) for name in chosen}

figure, axes = plt.subplots(4, 8, figsize=(9, 4.6), layout="constrained")
for name, row in zip(chosen, axes):
    for ax, image in zip(row, glyphs[name]):
        ax.imshow(image, cmap="gray_r")
        ax.set_axis_off()
    row[0].set_title(name, loc="left", fontsize=10)

# %%
# Recognise them
# --------------
#
# The first font trains. Letters are upright, and ``prior="upright"`` says so: maps that rotate or stretch have a price.

examples = glyphs[chosen[0]]
models = {
    "any map": radoncdt.FewShotClassifier(),
    "upright": radoncdt.FewShotClassifier(prior="upright"),
}
predictions = {}
for title, model in models.items():
    model.fit(examples, letters)
    for name in chosen[1:]:
        predicted = predictions[title, name] = model.predict(glyphs[name])
        print(f"{title:8} {name:25} accuracy {np.mean(predicted == np.array(letters)):.3f}")

# %%
# The confusions
# --------------
#
# If any map is allowed, letters that are affine copies of each other are confused, such as M and W.

figure, axes = plt.subplots(1, 2, figsize=(12, 5.8), layout="constrained")
for ax, title in zip(axes, models):
    found = np.concatenate([predictions[title, name] for name in chosen[1:]])
    display = ConfusionMatrixDisplay.from_predictions(
        letters * 3, found, ax=ax, colorbar=False, include_values=False, cmap="Blues"
    )
    ax.set(title=title, xlabel="predicted", ylabel="letter")

# %%
# Why?
# ----
#
# The overlays show letters of the other fonts over the examples that decided.

figure, axes = plt.subplots(1, 5, figsize=(11, 2.9), layout="constrained")
for ax, letter in zip(axes, "AGMRZ"):
    image = glyphs[chosen[2]][letters.index(letter)]
    evidence = models["upright"].explain(image)[0]
    plot.overlay(image, examples[evidence.example], evidence.registration, ax=ax)
    ax.set(title=f"{letter}, read as {evidence.label}", xticks=[], yticks=[])
    ax.get_legend().remove()
plt.show()

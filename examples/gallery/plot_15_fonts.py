"""
Find characters of one font in another
======================================

One example of each letter in one font is enough to recognise most letters of other fonts.

The letters of two fonts differ by more than affine maps, for example in the width of strokes and in serifs.
:class:`radoncdt.FewShotClassifier` allows for small distortions after the registration.
"""

# %%
# The letters
# -----------
#
# :func:`radoncdt.datasets.list_fonts` lists, among others, the fonts that matplotlib carries.

# sphinx_gallery_thumbnail_number = 3
import string

import matplotlib.pyplot as plt
import numpy as np

import radoncdt
from radoncdt import datasets, plot

letters = np.array(list(string.ascii_uppercase))
fonts = {font.name: font for font in datasets.list_fonts(system=False)}
first, *others = (
    *("DejaVu Sans Book", "DejaVu Sans Bold Oblique", "DejaVu Serif Book"),
    *("STIXGeneral Italic", "cmr10 Regular", "cmtt10 Regular"),
)
glyphs = {name: datasets.glyphs(fonts[name], letters.tolist(), size=48) for name in (first, *others)}

figure, axes = plt.subplots(6, 9, figsize=(8, 5.6), layout="constrained")
for name, row in zip(glyphs, axes):
    for ax, image in zip(row[1:], glyphs[name]):
        ax.imshow(image, cmap="gray_r")
    row[0].text(1, 0.5, name.replace(" ", "\n", 1), ha="right", va="center", transform=row[0].transAxes)
    for ax in row:
        ax.set_axis_off()

# %%
# Recognise them
# --------------
#
# The classifier learns from the first font. Letters are upright, so we pass ``prior="upright"``, which penalises maps
# that rotate or stretch.

models = {"any map": radoncdt.FewShotClassifier(), "upright": radoncdt.FewShotClassifier(prior="upright")}
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
for k, (title, model) in enumerate(models.items()):
    model.fit(glyphs[first], letters)
    predictions = [model.predict(glyphs[name]) for name in others]
    accuracies = [np.mean(predicted == letters) for predicted in predictions]
    bars = ax.barh(np.arange(5) + 0.4 * k - 0.2, accuracies, 0.36, color=("#e69f00", "#0072b2")[k], label=title)
    ax.bar_label(bars, fmt="%.2f", padding=3)
    for name, predicted in zip(others, predictions):
        wrong = [f"{a} as {b}" for a, b in zip(letters, predicted) if a != b]
        print(f"{title:8} {name:25} {', '.join(wrong) or 'no mistakes'}")
ax.set_yticks(range(5), others)
ax.set(xlabel="accuracy", xlim=(0, 1.1), title=f"Capitals by one example of each, in {first}")
ax.invert_yaxis()
ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.4, -0.15), ncols=2)

# %%
# Why letters are confused
# ------------------------
#
# The overlays show letters of one font, in orange, over the examples that decided, in blue. If all maps are allowed, N
# is a rotated and sheared Z.

figure, axes = plt.subplots(2, 5, figsize=(10, 5), layout="constrained")
for (title, model), row in zip(models.items(), axes):
    for ax, letter in zip(row, "AGNUZ"):
        image = glyphs["cmr10 Regular"][string.ascii_uppercase.index(letter)]
        evidence = model.explain(image)[0]
        plot.overlay(image, glyphs[first][evidence.example], evidence.registration, ax=ax)
        ax.set(title=f"{letter}, read as {evidence.label}", xlim=(-26, 26), ylim=(-26, 26), xticks=[], yticks=[])
        ax.get_legend().remove()
    row[0].set_ylabel(title)
plt.show()

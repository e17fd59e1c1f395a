"""
A catalogue of watermarks
=========================

A catalogue stores drawings of marks in one file and finds the drawing that matches a photograph.

The commands ``radoncdt catalogue add`` and ``radoncdt search`` do the same.
"""

# %%
# Make a catalogue
# ----------------
#
# We write drawings of 80 synthetic marks into a temporary folder, and add them to a new
# :class:`radoncdt.catalogue.Catalogue`.

import io
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from radoncdt import datasets
from radoncdt.catalogue import Catalogue
from radoncdt.catalogue.report import draw_overlay

folder = tempfile.TemporaryDirectory()
drawings = Path(folder.name) / "drawings"
drawings.mkdir()
marks = datasets.watermarks(80)
for k, mark in enumerate(marks):
    Image.fromarray(np.uint8(255 - 255 * mark.image())).save(drawings / f"mark{k:02}.png")

catalogue = Catalogue(Path(folder.name) / "marks.db", create=True)
catalogue.add(drawings, n_jobs=1)
print(f"{len(catalogue)} entries")

# %%
# Calibrate it
# ------------
#
# The calibration redraws entries and searches for them in the rest of the catalogue. Searches then have p-values: how
# often a catalogue without the mark would yield a best match at least as prominent.

n_marks = catalogue.calibrate(n_marks=40)
print(f"calibrated with {n_marks} marks, so the smallest p-value is {1 / (n_marks + 1):.3f}")

# %%
# Search for a photograph
# -----------------------
#
# The photograph has uneven light, laid lines and noise. ``kind="watermark"`` detects bright lines in it.

queries = marks.queries(12, kind="photograph", rng=8)
photograph, truth = np.uint8(255 * queries.images[2]), queries.marks[2]
found = catalogue.search(photograph, kind="watermark", top=4)
for match in found.matches:
    print(f"{match.rank}. {Path(match.file).name}  score {match.score:.3f}  p {match.p_value:.3f}")

# %%
# The overlays show the ink of the photograph, moved by the map that was found, in orange over the entry in blue.

figure, axes = plt.subplots(2, 5, figsize=(12, 5.2), layout="constrained")
axes[0, 0].imshow(photograph, cmap="gray")
axes[0, 0].set_title(f"photograph of mark {truth}")
axes[1, 0].imshow(found.query.ink, cmap="gray_r")
axes[1, 0].set_title("detected ink")
for match, (above, below) in zip(found.matches, axes[:, 1:].T):
    thumbnail = found.thumbnails[match.entry]
    above.imshow(Image.open(io.BytesIO(thumbnail)), cmap="gray")
    above.set_title(f"{match.rank}. {Path(match.file).stem}")
    below.imshow(draw_overlay(found.query.ink, thumbnail, match))
    below.set_title(f"score {match.score:.3f}")
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
catalogue.close()
folder.cleanup()
plt.show()

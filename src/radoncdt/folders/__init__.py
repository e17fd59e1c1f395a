"""Classification of image files by folders of examples: each folder is a class with one or more images.

>>> from radoncdt.folders import classify_folders
>>> found = classify_folders("examples/", "unknown/")  # doctest: +SKIP
>>> for row in found.rows:  # doctest: +SKIP
...     print(row.file, row.predicted, row.p, row.example)
"""

from radoncdt.folders.classification import classify_folders
from radoncdt.folders.copies import copy_to_classes
from radoncdt.folders.predictions import Prediction, Predictions

__all__ = ["Prediction", "Predictions", "classify_folders", "copy_to_classes"]

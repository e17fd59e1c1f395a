"""Images to try the transforms on: drawn symbols, digits, watermarks, random affine maps of them, and noise.

>>> from radoncdt import datasets
>>> images, labels, maps = datasets.academic(5, rng=0)
>>> images.shape, maps.matrices.shape
((15, 256, 256), (15, 2, 2))
"""

from radoncdt.datasets.affine import AffineDistribution, AffineMaps, random_affine
from radoncdt.datasets.distorted import FEW_SHOT, SYMBOL_CANVAS, few_shot
from radoncdt.datasets.drawing import SHAPES, TEMPLATES, draw, templates
from radoncdt.datasets.mnist import Mnist, load_mnist
from radoncdt.datasets.noise import bars, elastic, salt, sticks
from radoncdt.datasets.sets import NARROW, WIDE, academic, lin_mnist
from radoncdt.datasets.watermarks import Mark, Queries, Watermarks, watermarks

__all__ = [
    "FEW_SHOT",
    "NARROW",
    "SHAPES",
    "SYMBOL_CANVAS",
    "TEMPLATES",
    "WIDE",
    "AffineDistribution",
    "AffineMaps",
    "Mark",
    "Mnist",
    "Queries",
    "Watermarks",
    "academic",
    "bars",
    "draw",
    "elastic",
    "few_shot",
    "lin_mnist",
    "load_mnist",
    "random_affine",
    "salt",
    "sticks",
    "templates",
    "watermarks",
]

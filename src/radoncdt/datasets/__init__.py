"""Images to try the transforms on: drawn symbols, digits, random affine maps of both, and noise (§4 of the paper).

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

__all__ = [
    "FEW_SHOT",
    "NARROW",
    "SHAPES",
    "SYMBOL_CANVAS",
    "TEMPLATES",
    "WIDE",
    "AffineDistribution",
    "AffineMaps",
    "Mnist",
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
]

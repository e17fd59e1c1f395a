"""Images for trying out the transforms: symbols, digits, watermarks, random affine maps, and noise.

>>> from radoncdt import datasets
>>> images, labels, maps = datasets.academic(5, rng=0)
>>> images.shape, maps.matrices.shape
((15, 256, 256), (15, 2, 2))
"""

from radoncdt.datasets.affine import AffineDistribution, AffineMaps, random_affine
from radoncdt.datasets.affine_copies import NARROW, WIDE, academic, lin_mnist
from radoncdt.datasets.distortions import bars, elastic, salt, sticks
from radoncdt.datasets.few_shot_sets import FEW_SHOT, SYMBOL_CANVAS, few_shot
from radoncdt.datasets.lines import draw
from radoncdt.datasets.marks import Mark, Queries, Watermarks, watermarks
from radoncdt.datasets.mnist import Mnist, load_mnist
from radoncdt.datasets.symbols import SHAPES, TEMPLATES, templates

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

"""Images for trying out the transforms: symbols, digits, characters, watermarks, random affine maps, and noise.

>>> from radoncdt import datasets
>>> images, labels, maps = datasets.academic(5, rng=0)
>>> images.shape, maps.matrices.shape
((15, 256, 256), (15, 2, 2))
"""

from radoncdt.datasets.affine import AffineDistribution, AffineMaps, random_affine
from radoncdt.datasets.affine_copies import NARROW, WIDE, academic, lin_mnist
from radoncdt.datasets.distortions import bars, elastic, salt, sticks
from radoncdt.datasets.few_shot_sets import FEW_SHOT, SYMBOL_CANVAS, few_shot
from radoncdt.datasets.fonts import Font, glyphs, list_fonts, read_font, shared_characters
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
    "Font",
    "Mark",
    "Mnist",
    "Queries",
    "Watermarks",
    "academic",
    "bars",
    "draw",
    "elastic",
    "few_shot",
    "glyphs",
    "lin_mnist",
    "list_fonts",
    "load_mnist",
    "random_affine",
    "read_font",
    "salt",
    "shared_characters",
    "sticks",
    "templates",
    "watermarks",
]

"""From an image file to a measure: the ink of a drawing, the lines of a watermark in a photograph, or the grey itself.

Three kinds of images are read, each by its own steps (`radoncdt ink FILE --show steps.png` draws them):

"drawing"
    Tracings, prints, rubbings. Uneven light is taken off, ink is what is darker (or brighter) than a threshold, and
    specks are removed. Ink has the mass 1 whatever its grey, but for soft edges.
"watermark"
    Transmitted light, thermograms. Uneven light is taken off, the straight lines of the mould are suppressed, ridges
    are found, and those that are strong, or continue strong ones, are ink. Short ones are removed.
"grey"
    Grey values are mass: nothing is decided, but that paper is what the border of the image shows.
"""

from radoncdt.ink.files import InkError, Picture, image_files, open_picture
from radoncdt.ink.kinds import INKS, KINDS, InkOptions, Step
from radoncdt.ink.reading import find_ink, ink_steps, read_ink

__all__ = [
    "INKS",
    "KINDS",
    "InkError",
    "InkOptions",
    "Picture",
    "Step",
    "find_ink",
    "image_files",
    "ink_steps",
    "open_picture",
    "read_ink",
]

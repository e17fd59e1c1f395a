"""Ink as a measure: from an image file or an array to an array of mass.

Each kind of image is read in its own steps, which `ink_steps` returns:

"drawing"
    Tracings, prints and rubbings, scanned or photographed. The uneven light is divided out, pixels beyond a threshold
    are ink, and specks are removed. Ink has mass 1 whatever its grey value, except at soft edges.
"watermark"
    Watermarks photographed in transmitted light, and thermograms. The uneven light is subtracted, the straight lines of
    the mould are suppressed, and ridges are detected. Strong ridges, and weaker ones that continue them, are ink. Short
    ones are removed.
"grey"
    Grey values are mass. Only the paper is subtracted, as the border of the image shows it.
"""

from radoncdt.ink.extraction import find_ink, ink_steps, read_ink
from radoncdt.ink.files import image_files
from radoncdt.ink.image import InkError
from radoncdt.ink.options import INK_KINDS, POLARITIES, InkOptions

__all__ = ["INK_KINDS", "POLARITIES", "InkError", "InkOptions", "find_ink", "image_files", "ink_steps", "read_ink"]

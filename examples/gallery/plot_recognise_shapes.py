"""
Recognise shapes from one example
=================================

A placeholder.
"""

import numpy as np

import radoncdt

print(radoncdt.max_nrcdt(np.tri(30)).shape)

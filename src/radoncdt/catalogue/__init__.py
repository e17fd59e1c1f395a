"""Catalogues of watermarks, each in one file, and the search for the mark in an image.

>>> from radoncdt.catalogue import Catalogue
>>> with Catalogue("marks.db", create=True) as catalogue:  # doctest: +SKIP
...     catalogue.add("tracings/", metadata="tracings.csv")
...     catalogue.calibrate()
...     for match in catalogue.search("photograph.jpg", kind="watermark").matches:
...         print(match.file, match.score, match.p_value, match.registration)
"""

from radoncdt.catalogue.catalogue import Catalogue
from radoncdt.catalogue.conditions import ConditionError
from radoncdt.catalogue.connection import CatalogueError
from radoncdt.catalogue.export import DamagedEntryWarning
from radoncdt.catalogue.importer import Added
from radoncdt.catalogue.integrity import Problem
from radoncdt.catalogue.metadata import MetadataError
from radoncdt.catalogue.search import DEFAULT_LIMITS, Match, SearchResult

__all__ = [
    "DEFAULT_LIMITS",
    "Added",
    "Catalogue",
    "CatalogueError",
    "ConditionError",
    "DamagedEntryWarning",
    "Match",
    "MetadataError",
    "Problem",
    "SearchResult",
]

"""A catalogue of marks in one file, and the search of it: which entries are the same mark as this photograph?

>>> from radoncdt.catalogue import Catalogue
>>> with Catalogue("marks.db", create=True) as catalogue:  # doctest: +SKIP
...     catalogue.add("tracings/", metadata="tracings.csv")
...     for match in catalogue.search("photograph.jpg", kind="watermark").matches:
...         print(match.file, match.distance, match.chance, match.registration)
"""

from radoncdt.catalogue.catalogue import Catalogue
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.importer import Added
from radoncdt.catalogue.integrity import Problem
from radoncdt.catalogue.metadata import MetadataError
from radoncdt.catalogue.search import Match, Result

__all__ = ["Added", "Catalogue", "CatalogueError", "Match", "MetadataError", "Problem", "Result"]

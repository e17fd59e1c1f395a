"""Errors and warnings of catalogues."""

from radoncdt._validation import ArgumentValueError

__all__ = ["CatalogueError", "ConditionError", "DamagedEntryWarning"]


class CatalogueError(ValueError):
    """A catalogue cannot be read or changed. The message names the file and gives the reason."""


class ConditionError(ArgumentValueError, CatalogueError):
    """The argument `where` is not a valid condition on the metadata."""


class DamagedEntryWarning(UserWarning):
    """A damaged entry was skipped. The message names the entry and gives the reason."""

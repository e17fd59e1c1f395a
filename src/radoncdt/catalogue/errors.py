"""Errors of catalogues."""


class CatalogueError(ValueError):
    """A file that is not a catalogue, or cannot be used as one. The message names the file and says why."""


class DamagedEntryWarning(UserWarning):
    """A damaged entry that was left out. The message names it and says why."""
